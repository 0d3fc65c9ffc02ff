r"""Everything the package can say no with, as one tree.

::

    BistochasticError
    ├── MatrixError            (ValueError)  an array or a parameter that makes no channel
    │   ├── NotBistochasticError             rows or columns do not sum to one
    │   ├── SingularMatrixError              the channel cannot be undone
    │   ├── SupportError                     zeros stand where no scaling or matching can avoid them
    │   └── TooLargeError                    the answer would need an array of the whole matrix
    ├── TargetError            (ValueError)  a privacy target no parameter of the family reaches
    └── ExactnessError         (ValueError)  integers cannot hold what was declared

A message says what was wrong, what was found and what to do. It names structures, parameters,
counts and positions, never a value from the data.
"""

__all__ = [
    "BistochasticError",
    "ExactnessError",
    "MatrixError",
    "NotBistochasticError",
    "SingularMatrixError",
    "SupportError",
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


class ExactnessError(BistochasticError, ValueError):
    """A channel that integers cannot hold as declared."""
