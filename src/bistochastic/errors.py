r"""Everything the package can say no with, as one tree.

::

    BistochasticError
    ├── MatrixError            (ValueError)  an array or a parameter that makes no channel
    │   ├── NotBistochasticError             rows or columns do not sum to one
    │   ├── SingularMatrixError              the channel cannot be undone
    │   ├── SupportError                     zeros stand where no scaling or matching can avoid them
    │   └── TooLargeError                    the answer would need an array of the whole matrix
    ├── TargetError            (ValueError)  a privacy target no parameter of the family reaches
    ├── MaskingError           (ValueError)  a column that cannot be masked as asked
    ├── MeasureError           (ValueError)  records or settings that a measure cannot take
    ├── ExactnessError         (ValueError)  integers cannot hold what was declared
    ├── PlanError              (ValueError)  a plan that says something it cannot mean
    ├── TableError             (ValueError)  a table that cannot be read, or does not fit its plan
    │   └── DomainError                      cells outside the declared domain
    ├── ReleaseError           (ValueError)  a release that is not whole, or may not be written
    ├── KeystreamError         (ValueError)  a key, scope, row or record that has no words
    │   └── KeyFileError                     a key file that is missing, damaged or open to others
    ├── SecretError            (TypeError)   a key on its way out of the process, unasked
    └── EntropyError           (OSError)     the operating system gave no randomness

A message says what was wrong, what was found and what to do. It names structures, parameters,
counts and positions, never a value from the data.
"""

__all__ = [
    "BistochasticError",
    "DomainError",
    "EntropyError",
    "ExactnessError",
    "KeyFileError",
    "KeystreamError",
    "MaskingError",
    "MatrixError",
    "MeasureError",
    "NotBistochasticError",
    "PlanError",
    "ReleaseError",
    "SecretError",
    "SingularMatrixError",
    "SupportError",
    "TableError",
    "TargetError",
    "TooLargeError",
]


class BistochasticError(Exception):
    """Any refusal of this package."""


class MatrixError(BistochasticError, ValueError):
    """An array or a parameter that does not make a channel."""


class NotBistochasticError(MatrixError):
    """Rows or columns that do not sum to one."""


class SingularMatrixError(MatrixError):
    """A channel whose effect cannot be undone."""


class SupportError(MatrixError):
    """Zeros that no bistochastic scaling or perfect matching can avoid."""


class TooLargeError(MatrixError):
    """A request whose answer would need an array of the whole matrix."""


class TargetError(BistochasticError, ValueError):
    """A privacy target that no parameter of the family reaches."""


class MaskingError(BistochasticError, ValueError):
    """Records, a column or settings that a masking method cannot take."""


class MeasureError(BistochasticError, ValueError):
    """Records, distances or settings that a measure cannot take."""


class ExactnessError(BistochasticError, ValueError):
    """A channel that integers cannot hold as declared."""


class PlanError(BistochasticError, ValueError):
    """A plan that says something it cannot mean."""


class TableError(BistochasticError, ValueError):
    """A table that cannot be read, or does not fit its plan."""


class DomainError(TableError):
    """Cells that hold what the declared domain does not."""


class ReleaseError(BistochasticError, ValueError):
    """A release that is not whole, or may not be written there."""


class KeystreamError(BistochasticError, ValueError):
    """A key, a scope, a row or a record that has no random words."""


class KeyFileError(KeystreamError):
    """A key file that is missing, damaged, open to others or in the way."""


class SecretError(BistochasticError, TypeError):
    """A key that would have left the process without anybody asking."""


class EntropyError(BistochasticError, OSError):
    """An operating system that gave no randomness, or too little."""
