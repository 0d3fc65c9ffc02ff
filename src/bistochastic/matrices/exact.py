r"""The channel in whole numbers: what is declared is what is sampled.

Entries are $M_{uv}/N$ with whole $M$, and every row and column of $M$ sums to $N$ exactly. The
epsilon and the bits told of a channel are those of the integers, rounded against whoever publishes:
epsilon up, bits down.
"""

import hashlib
import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bistochastic.errors import ExactnessError
from bistochastic.matrices.checks import as_codes, guard_cells
from bistochastic.matrices.entries import Entries, Part
from bistochastic.matrices.words import Words, as_words

__all__ = ["Certificate", "Exact", "Extremes", "report_dtype"]

DIGITS = 60  # far beyond the 17 that tell two doubles apart
DEFECT = 1e-12  # how far from bistochastic an input may be that is to be declared exactly
CLOSE = 1e-12  # ratios this close to the largest one, in doubles, are compared exactly


class Extremes(NamedTuple):
    """Least and greatest integer weight of each kind of column."""

    low: list[int] | NDArray[np.uint64]
    high: list[int] | NDArray[np.uint64]


@final
@dataclass(frozen=True, slots=True)
class Certificate:
    """What is promised of an integer channel; every number can be recomputed from the integers."""

    structure: str
    size: int
    word_bits: int
    draws: int
    denominators: tuple[int, ...]
    epsilon: float
    bits: float
    beta: float
    min_row_bits: float
    digest: str


class Exact(ABC):
    """A channel of whole numbers, and how it is sampled.

    Not a matrix to calculate with: the proof beside one.
    """

    __slots__ = ()

    word_bits: int  # the size of a random word

    @property
    @abstractmethod
    def size(self) -> int:
        """The number of categories."""

    @property
    @abstractmethod
    def draws(self) -> int:
        """How many words the report of one cell consumes."""

    @property
    @abstractmethod
    def denominators(self) -> tuple[int, ...]:
        """N, or the several N of a block structure."""

    @abstractmethod
    def integer_row(self, u: int) -> tuple[list[int], int]:
        """The whole row u of M, and its N: for proofs and for small matrices."""

    @abstractmethod
    def entries(self) -> Entries:
        """The entries M/N in doubles, each correctly rounded to a unit or two in the last place."""

    @abstractmethod
    def entropy_range(self) -> tuple[float, float]:
        """Mean and least row entropy of the integers, never more than the truth."""

    @abstractmethod
    def log_ratio(self) -> float:
        """The epsilon of the integers, never less than the truth."""

    @abstractmethod
    def ingredients(self) -> tuple[Any, ...]:
        """What determines the integer matrix: strings, whole numbers and integer arrays."""

    @abstractmethod
    def draw(self, codes: NDArray[Any], words: Words) -> NDArray[Any]:
        """Reports for codes that are known to be valid."""

    @final
    def sample(self, codes: ArrayLike, words: Words | ArrayLike) -> NDArray[Any]:
        """Reports for a column of true codes: a pure function of the words.

        They have the dtype of the codes, unless that is too narrow for some report.

        >>> import numpy as np
        >>> from bistochastic import Mixture
        >>> channel = Mixture(3, truth=0.5).exact()
        >>> channel.sample(np.array([0, 1, 2]), np.array([0, 2**63, 2**64 - 1], dtype=np.uint64))
        array([0, 0, 1])
        """
        true = as_codes(codes, self.size)
        dtype = report_dtype(true.dtype, self.size)
        return self.draw(true, as_words(words, true.size)).astype(dtype, copy=False)

    @property
    @final
    def epsilon(self) -> float:
        """The epsilon of the integer matrix, rounded up."""
        return self.log_ratio()

    @property
    @final
    def bits(self) -> float:
        """The bits of the integer matrix, rounded down."""
        return self.entropy_range()[0]

    @property
    @final
    def min_row_bits(self) -> float:
        """The bits of its least uncertain row, rounded down."""
        return self.entropy_range()[1]

    @property
    @final
    def beta(self) -> float:
        """Bits out of the bits possible, rounded down; exactly 1 for perfect secrecy."""
        if self.epsilon == 0.0:
            return 1.0
        return max(math.nextafter(self.bits / math.log2(self.size), 0.0), 0.0)

    @property
    @final
    def certificate(self) -> Certificate:
        """Everything that is promised, with a digest of the integers it is promised of."""
        return Certificate(
            structure=type(self).__name__.removesuffix("Form"),
            size=self.size,
            word_bits=self.word_bits,
            draws=self.draws,
            denominators=self.denominators,
            epsilon=self.epsilon,
            bits=self.bits,
            beta=self.beta,
            min_row_bits=self.min_row_bits,
            digest=self.digest(),
        )

    @final
    def digest(self) -> str:
        """SHA-256 of the integer matrix, the same on every machine."""
        state = hashlib.sha256()
        for part in (type(self).__name__, self.size, self.word_bits, *self.ingredients()):
            _absorb(state, part)
        return state.hexdigest()

    @final
    def __repr__(self) -> str:
        name = type(self).__name__.removesuffix("Form")
        return f"<{name} {self.size}×{self.size} in {self.word_bits}-bit words>"


def report_dtype(given: np.dtype[Any], size: int) -> np.dtype[Any]:
    """The type of reports: that of the true codes, unless it is too narrow for some report."""
    return np.min_scalar_type(size - 1) if np.iinfo(given).max < size - 1 else given


def _absorb(state: Any, part: Any) -> None:
    """Add one ingredient with its kind and length, so that no two lists of them can collide."""
    if isinstance(part, np.ndarray):
        data = part.astype("<u8").tobytes()
        kind = b"array"
    else:
        data = str(part).encode()
        kind = b"word"
    state.update(kind + b":" + str(len(data)).encode() + b":" + data)


def units(value: float, word_bits: int) -> Fraction:
    """A probability in units of the word, without rounding: a double is a fraction."""
    return Fraction(value) * (1 << word_bits)


def nearest(value: Fraction) -> int:
    """The nearest whole number, halves up."""
    return math.floor(value + Fraction(1, 2))


def bits_below(entries: Entries) -> tuple[float, float]:
    """Mean and least row entropy of entries that are right to two units in the last place."""
    rows = entries.row_bits()
    mean = float(np.dot(rows, entries.repeats / entries.size))
    return below(mean, float(rows.min()), entries.size)


def below(mean: float, least: float, n: int) -> tuple[float, float]:
    """Mean and least row entropy of an n-row matrix, less what rounding may have added.

    Each -p log p is right to a few units in the last place, and pairwise sums over n terms add
    log₂ n more. The margin is some four times what that amounts to.
    """
    margin = 4 * np.finfo(np.float64).eps * (8 + math.log2(n)) * (1 + math.log2(n))
    return _below(mean, margin), _below(least, margin)


def _below(bits: float, margin: float) -> float:
    return max(bits - margin, 0.0)


def log_up(ratio: Fraction) -> float:
    """Ln of a ratio of at least one, as the next double that is not smaller."""
    if ratio == 1:
        return 0.0
    with localcontext() as context:
        context.prec = DIGITS
        log = (Decimal(ratio.numerator) / Decimal(ratio.denominator)).ln()
        nearest_double = float(log)
        if Decimal(nearest_double) < log:
            return math.nextafter(nearest_double, math.inf)
        return nearest_double


def largest_log_ratio(extremes: Extremes) -> float:
    """Ln of the largest ratio within a column, rounded up: doubles find it, integers decide it."""
    low = np.asarray(extremes.low, dtype=np.float64)
    high = np.asarray(extremes.high, dtype=np.float64)
    alive = high > 0
    if (low[alive] == 0).any():
        return math.inf
    with np.errstate(over="ignore"):
        ratios = high[alive] / low[alive]
    where = np.flatnonzero(alive)[ratios >= ratios.max() * (1 - CLOSE)]
    pairs = {(int(extremes.high[i]), int(extremes.low[i])) for i in where[:100_000]}
    if where.size > 100_000:  # so many near-ties that a margin is cheaper than comparing them
        return float(np.log(ratios.max()) * (1 + CLOSE) + 2 * CLOSE)
    return log_up(max(Fraction(high, low) for high, low in pairs))


def refuse_vanished(exact: Exact, vanished: int, epsilon: float) -> None:
    """Refuse an integer form in which possible reports became impossible and epsilon infinite."""
    if not math.isinf(epsilon):
        raise ExactnessError(
            f"{exact!r}: {vanished} positive entries are too small for {exact.word_bits}-bit "
            f"integers and would become 0, which makes epsilon infinite. Make the matrix "
            f"ergodic(gamma), choose a noisier one, or accept it with allow_zeros=True."
        )


def refuse_excess(exact: Exact, max_epsilon: float) -> None:
    """Refuse an integer form that exceeds the epsilon it was asked to keep."""
    if not exact.epsilon <= max_epsilon:
        raise ExactnessError(
            f"{exact!r}: the integers have epsilon {exact.epsilon:.17g}, above the "
            f"{max_epsilon!r} asked for. Calibrate to a slightly smaller epsilon."
        )


def check_word_bits(word_bits: int) -> None:
    """Accept a size of words that tables and 64-bit arithmetic can serve."""
    if word_bits not in range(8, 65):
        raise ExactnessError(f"Words have 8 to 64 bits; got {word_bits!r}.")


def dense_floats(exact: Exact) -> NDArray[np.float64]:
    """The integer matrix over its denominators, each entry correctly rounded; small ones only."""
    guard_cells(exact.size**2, "The integer matrix as an array")
    rows = []
    for u in range(exact.size):
        weights, whole = exact.integer_row(u)
        rows.append([weight / whole for weight in weights])
    return np.array(rows)


def dense_below(array: NDArray[np.floating[Any]]) -> tuple[float, float]:
    """Mean and least row entropy of an array multiplied out in doubles, rounded down."""
    n = len(array)
    entries = Entries((Part(array, np.ones((1, 1))),), np.ones(n, dtype=np.int64))
    # A product of n terms is right to n units; -p log p moves by at most (log₂ n + 2) times that.
    margin = 2 * n * np.finfo(np.float64).eps * (math.log2(n) + 2)
    mean, least = bits_below(entries)
    return _below(mean, margin), _below(least, margin)


def dense_log_ratio(array: NDArray[np.floating[Any]]) -> float:
    """Ln of the largest ratio within a column of such an array, rounded up."""
    low, high = array.min(axis=0), array.max(axis=0)
    if (low[high > 0] == 0).any():
        return math.inf
    alive = high > 0
    margin = 4 * (len(array) + 4) * np.finfo(np.float64).eps
    return float((np.log(high[alive]) - np.log(low[alive])).max()) + margin


def rational_product(forms: tuple[Exact, ...]) -> tuple[int, ...]:
    """Every denominator that a product of such forms can have."""
    products = {1}
    for form in forms:
        products = {a * b for a in products for b in form.denominators}
    return tuple(sorted(products))
