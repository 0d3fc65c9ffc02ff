r"""What every channel states, and what follows from it.

The convention, said once: $p_{uv}$ is the probability that a true value $u$ is *reported* as $v$.
Rows are truth, columns are reports. A distribution $\pi$ of true values is reported as
$P^\top\pi$, so `rmatvec` pushes distributions forward and `rsolve` estimates them back.

A structure states its primitives as formulas in its own file. What follows from them is stated
here once, is final, and is never overridden.
"""

import math
from abc import ABC, abstractmethod
from typing import Any, NamedTuple, Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bistochastic.errors import MatrixError, SingularMatrixError
from bistochastic.matrices.checks import LINE_LENGTH, as_codes, guard_cells
from bistochastic.matrices.entries import Entries
from bistochastic.matrices.exact import Exact, check_word_bits, refuse_excess, refuse_vanished
from bistochastic.matrices.line import Line
from bistochastic.matrices.words import Words

__all__ = ["Bistochastic", "Channel", "Truthfulness"]

Vector = NDArray[np.floating[Any]]

# Beyond this condition number no digit of a solution in doubles means anything.
HOPELESS = 1 / np.finfo(np.float64).eps


class Truthfulness(NamedTuple):
    """The diagonal in two numbers: how likely a true value is to be reported as it is."""

    min: float
    mean: float

    @classmethod
    def of(cls, diagonal: Vector) -> Self:
        """Both numbers of a diagonal."""
        return cls(float(diagonal.min()), float(diagonal.mean()))


class Channel(ABC):
    """A right-stochastic matrix: each true value is reported as one of n, at random."""

    __slots__ = ()

    @property
    @abstractmethod
    def size(self) -> int:
        """The number of categories, n."""

    @abstractmethod
    def entry(self, u: ArrayLike, v: ArrayLike) -> Vector:
        """$p_{uv}$ for any positions u and v, which broadcast against each other."""

    @abstractmethod
    def matvec(self, x: ArrayLike) -> Vector:
        """$Px$ for one vector, or for several side by side: the mean of x after each value."""

    @abstractmethod
    def rmatvec(self, x: ArrayLike) -> Vector:
        r"""$P^\top x$: how the reports are distributed if the true values are distributed as x."""

    @abstractmethod
    def solve(self, y: ArrayLike) -> Vector:
        """The x with $Px = y$."""

    @abstractmethod
    def rsolve(self, y: ArrayLike) -> Vector:
        r"""The x with $P^\top x = y$: the true distribution behind a reported one."""

    @abstractmethod
    def diagonal(self) -> Vector:
        """$p_{uu}$, the probability that u is reported as it is."""

    @abstractmethod
    def entries(self) -> Entries:
        """Which values stand in the matrix and how often, by kind of row."""

    @property
    @abstractmethod
    def bits(self) -> float:
        r"""Mean uncertainty of a report: $H(P) = \frac1n\sum_{uv} -p_{uv}\log_2 p_{uv}$."""

    @property
    @abstractmethod
    def min_row_bits(self) -> float:
        """Uncertainty of the report of the worst protected value."""

    @property
    @abstractmethod
    def epsilon(self) -> float:
        r"""$\ln\max_v(\max_u p_{uv}/\min_u p_{uv})$: the local differential privacy of a report.

        Infinite when some report is possible under one true value and impossible under another.
        """

    @property
    @abstractmethod
    def truthfulness(self) -> Truthfulness:
        """The least and the mean probability that a reported value is the true one."""

    @property
    @abstractmethod
    def condition(self) -> float:
        """The 2-norm condition number: how much `solve` can magnify an error; ∞ if singular."""

    @abstractmethod
    def integers(self, word_bits: int) -> tuple[Exact, int]:
        """The integer form for words of so many bits, and how many positive entries vanished."""

    @final
    def exact(
        self,
        *,
        word_bits: int = 64,
        allow_zeros: bool = False,
        max_epsilon: float | None = None,
    ) -> Exact:
        """The channel in whole numbers, as it is actually sampled, with its certificate.

        Args:
            word_bits: The size of a random word; 64 on the way of a row, less in proofs.
            allow_zeros: Whether an entry too small for the integers may become an impossible
                report, though that makes epsilon infinite.
            max_epsilon: An epsilon the integers must not exceed; otherwise they are refused.

        >>> from bistochastic import Mixture
        >>> Mixture(3, truth=0.5).exact().integer_row(0)[0] == [2**63, 2**62, 2**62]
        True
        """
        check_word_bits(word_bits)
        form, vanished = self.integers(word_bits)
        if vanished and not allow_zeros:
            refuse_vanished(form, vanished, self.epsilon)
        if max_epsilon is not None:
            refuse_excess(form, max_epsilon)
        return form

    @property
    @final
    def max_bits(self) -> float:
        r"""$\log_2 n$, what perfect secrecy costs."""
        return math.log2(self.size)

    @property
    @final
    def beta(self) -> float:
        """Bits spent out of the bits possible; 1 for a single category, where nothing is hidden.

        >>> from bistochastic import Blocks
        >>> Blocks([2, 2]).beta
        0.5
        """
        if self.size == 1:
            return 1.0
        bits = self.bits
        return type(bits)(min(bits / self.max_bits, 1.0))

    @property
    @final
    def singular(self) -> bool:
        """Whether no estimator can undo the channel."""
        return math.isinf(self.condition)

    @final
    def row(self, u: int) -> "Vector | Line":
        """How the true value u is reported; beyond 2·10^8 categories a `Line`, entry by entry."""
        u = self._position(u)
        return self._line(lambda v: self.entry(u, v))

    @final
    def column(self, v: int) -> "Vector | Line":
        """How likely each true value is to be reported as v."""
        v = self._position(v)
        return self._line(lambda u: self.entry(u, v))

    @final
    def to_dense(self) -> Vector:
        """The whole matrix as an array, refused where it would not fit."""
        guard_cells(self.size**2, f"A dense {type(self).__name__} of size {self.size}")
        codes = np.arange(self.size)
        return self.entry(codes[:, None], codes[None, :])

    @final
    def sample(self, codes: ArrayLike, words: Words | ArrayLike) -> NDArray[Any]:
        """Reports for true codes, drawn from the exact integer form.

        Who samples often keeps `exact()` and asks that.
        """
        return self.exact().sample(codes, words)

    @final
    def __matmul__(self, other: "Channel") -> "Channel":
        """First this channel, then the other: the product of the matrices."""
        # Composition is itself a Channel; the algebra cannot close without one import inward.
        from bistochastic.matrices.composition import compose

        if not isinstance(other, Channel):
            return NotImplemented
        return compose(self, other)

    @final
    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.size}×{self.size}>"

    def _position(self, u: int) -> int:
        return int(as_codes(np.asarray([u]), self.size)[0])

    def _line(self, at: Any) -> "Vector | Line":
        if self.size > LINE_LENGTH:
            return Line(self.size, at)
        line: Vector = at(np.arange(self.size))
        return line


class Bistochastic(Channel):
    """A channel whose columns sum to one too: it never lowers uncertainty, and it has bits to pay.

    It is a mixture of permutations (Birkhoff and von Neumann), and its transpose is again one.
    """

    __slots__ = ()

    @property
    @abstractmethod
    def T(self) -> "Bistochastic":
        """The transpose, which is again bistochastic."""

    @final
    def rmatvec(self, x: ArrayLike) -> Vector:
        r"""$P^\top x$: how the reports are distributed if the true values are distributed as x."""
        return self.T.matvec(x)

    @final
    def rsolve(self, y: ArrayLike) -> Vector:
        r"""The x with $P^\top x = y$: the true distribution behind a reported one."""
        return self.T.solve(y)

    @final
    def ergodic(self, gamma: float) -> "Bistochastic":
        r"""$(1-n\gamma)P + \gamma J$: every entry at least γ, and still exactly bistochastic.

        >>> from bistochastic import identity
        >>> identity(4).ergodic(0.05).epsilon < float("inf")
        True
        """
        from bistochastic.matrices.ergodic import Ergodic  # the algebra closes on itself

        return Ergodic(self, gamma)


def refuse_singular(matrix: Channel, condition: float | None = None) -> None:
    """Refuse to undo a channel that cannot be undone, or not with a single digit left."""
    condition = matrix.condition if condition is None else condition
    if condition < HOPELESS:
        return
    found = "singular" if math.isinf(condition) else f"of condition {condition:.2g}"
    raise SingularMatrixError(
        f"{matrix!r} is {found}: it cannot be undone in double precision. "
        f"Estimate what is identifiable (block sums, say), or choose a more truthful matrix."
    )


def same_size(matrices: tuple[Channel, ...], name: str) -> int:
    """The common size of several matrices."""
    sizes = {matrix.size for matrix in matrices}
    if len(sizes) != 1:
        raise MatrixError(f"{name} needs matrices of one size; got sizes {sorted(sizes)}.")
    return sizes.pop()
