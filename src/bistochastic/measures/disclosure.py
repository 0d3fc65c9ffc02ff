r"""What an intruder learns from a report: the posterior, and what can still be denied.

The intruder knows the channel and has a prior $\pi$; she sees v. By Bayes,
$\hat p(u\mid v) = p_{uv}\pi_u/\lambda_v$ with $\lambda = P^\top\pi$, the reported distribution
(Domingo-Ferrer & Soria-Comas 2018, expression 3). A report that nobody gives, $\lambda_v=0$, has no
posterior: what is asked of it is NaN.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from bistochastic.errors import MatrixError
from bistochastic.matrices.base import Channel
from bistochastic.matrices.checks import LINE_LENGTH, guard_cells
from bistochastic.matrices.line import Line
from bistochastic.measures.columns import legible
from bistochastic.measures.posterior import Knowledge, Prior, knowledge

__all__ = ["Disclosure", "Posterior", "disclosure"]

Floats = NDArray[np.floating[Any]]
Labels = Sequence[Any] | Callable[[int], str]

SAME = 1e-12  # an epsilon, or a difference in bits, that is nothing but rounding


def disclosure(channel: Channel, prior: Prior = None) -> "Disclosure":
    r"""What an intruder with a prior learns from reports through a channel.

    Args:
        channel: Any channel, of any size its structure can be read at.
        prior: How likely each true value is beforehand; equally likely if not given. For a
            `Kronecker` also a list with one prior for each factor: independent columns.

    >>> import bistochastic as bs
    >>> told = bs.disclosure(bs.randomised_response(3, epsilon=2), [0.7, 0.2, 0.1])
    >>> told.deniability.round(6)
    array([0.356876, 1.126056, 1.41268 ])
    >>> told.sentence(1, labels=["married", "divorced", "widowed"])
    'Of 100 people reported as *divorced*, about 65 are.'
    """
    return Disclosure(channel, knowledge(channel, prior))


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Disclosure:
    """A channel as an intruder with a prior reads it.

    Per report: `reported`, `deniability`, `sides`, `guess`, `misinformative`; beyond 2·10^8
    categories these are lines that answer entry by entry. As one number: the others.
    """

    channel: Channel
    _known: Knowledge

    @property
    def size(self) -> int:
        """The number of categories."""
        return self.channel.size

    @property
    def prior(self) -> "Floats | Line":
        """What the intruder believes before she sees a report."""
        return self._line(self._known.prior)

    @property
    def reported(self) -> "Floats | Line":
        r"""How reports are distributed, $\lambda = P^\top\pi$."""
        return self._line(self._known.reported)

    @property
    def posterior(self) -> "Posterior":
        r"""$\hat p(u\mid v)$ as `posterior[u, v]`: entries, rows and columns by formula."""
        return Posterior(self._known)

    @property
    def deniability(self) -> "Floats | Line":
        r"""$H(X\mid Y=v)$, the bits of doubt that each report leaves."""
        return self._line(self._known.deniability)

    @property
    def sides(self) -> "Floats | Line":
        """The sides of the fair die that leaves as much doubt, 2 to the deniability."""
        return self._line(lambda v: np.exp2(self._known.deniability(v)))

    @property
    def guess(self) -> "Floats | Line":
        r"""$\max_u\hat p(u\mid v)$, how often the best guess behind each report is right."""
        return self._line(self._known.guess)

    @property
    def most_telling(self) -> int:
        """The report behind which the best guess is right most often."""
        return self._known.telling()

    @property
    def misinformative(self) -> "NDArray[Any] | Line":
        """Whether a report leaves more doubt than there was without it."""
        least = self.prior_bits + SAME * max(1.0, self.prior_bits)
        return self._line(lambda v: self._known.deniability(v) > least)

    @property
    def prior_bits(self) -> float:
        """The doubt about the truth before any report, H(X)."""
        return self._known.prior_bits

    @property
    def mutual_information(self) -> float:
        """The bits of it that a report takes on average, I(X; Y)."""
        return 0.0 if self.size == 1 else self._known.mutual_information

    @property
    def remaining_bits(self) -> float:
        """The doubt that a report leaves on average, H(X|Y)."""
        return max(self.prior_bits - self.mutual_information, 0.0)

    @property
    def prior_vulnerability(self) -> float:
        """How often the best guess is right before any report."""
        return self._known.prior_vulnerability

    @property
    def posterior_vulnerability(self) -> float:
        """How often the best guess is right after a report: the mean of `guess` over reports."""
        return max(self._known.posterior_vulnerability, self.prior_vulnerability)

    @property
    def secret(self) -> bool:
        """Whether no report ever says anything: all rows of the channel are the same.

        This is a property of the channel and not of the prior, under which a report may say
        nothing only because nothing was left to say.
        """
        if self.size == 1 or float(self.channel.epsilon) <= SAME:
            return True
        if type(self.channel.epsilon) is float:
            return False
        return float(legible(self.channel).epsilon) <= SAME  # it was a bound

    @property
    def summary(self) -> str:
        """What reports change for the intruder on the whole, as a sentence."""
        if self.secret:
            return "A report says nothing about the truth, whatever is believed beforehand."
        before, after = _count(self.prior_vulnerability), _count(self.posterior_vulnerability)
        return (
            f"Before a report the best guess is right for {before} of 100 people, after it for "
            f"{after}."
        )

    def sentence(self, v: int, labels: Labels | None = None) -> str:
        """What one report means, in words.

        Args:
            v: The report.
            labels: What the categories are called, or how to call each; their numbers if not given.
        """
        names = self._names(labels)
        own = float(self._known.posterior(np.asarray(v), np.asarray(v)))
        if math.isnan(own):
            return f"Under this prior nobody is reported as *{names(v)}*."
        told = f"Of 100 people reported as *{names(v)}*, {_are(own)}"
        best = float(self._known.guess(np.asarray(v)))
        if best <= own * (1 + 1e-9) or self.size > LINE_LENGTH:
            return f"{told}."
        likeliest = int(np.nanargmax(self._known.posterior(np.arange(self.size), np.asarray(v))))
        return f"{told}; {_count(best)} are *{names(likeliest)}*."

    def sentences(self, labels: Labels | None = None) -> Iterator[str]:
        """What each report means, one sentence after another."""
        return (self.sentence(v, labels) for v in range(self.size))

    def __repr__(self) -> str:
        return f"<Disclosure of {self.channel!r}>"

    def _names(self, labels: Labels | None) -> Callable[[int], str]:
        if labels is None:
            return str
        if callable(labels):
            return labels
        if len(labels) != self.size:
            raise MatrixError(f"{self.size} categories need as many labels; got {len(labels)}.")
        return lambda v: str(labels[v])

    def _line(self, at: Callable[[NDArray[Any]], Any]) -> Any:
        return Line(self.size, at) if self.size > LINE_LENGTH else at(np.arange(self.size))


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Posterior:
    """All posteriors as one matrix that is never formed: rows are truths, columns are reports."""

    _known: Knowledge

    @property
    def shape(self) -> tuple[int, int]:
        """As many rows and columns as there are categories."""
        return self._known.size, self._known.size

    def __getitem__(self, at: Any) -> Any:
        """Entries at positions that broadcast; slices give rows, columns and parts of both."""
        if not isinstance(at, tuple) or len(at) != 2:
            raise IndexError("A posterior is asked for a truth and a report: posterior[u, v].")
        u, v = (self._positions(one) for one in at)
        if u.ndim == v.ndim == 1 and any(isinstance(one, slice) for one in at):
            u, v = u[:, None], v[None, :]
        guard_cells(math.prod(np.broadcast_shapes(u.shape, v.shape)), "This part of a posterior")
        found = self._known.posterior(u, v)
        return float(found) if found.ndim == 0 else found

    def to_dense(self) -> Floats:
        """All of it as an array, refused where that would not fit."""
        found: Floats = self[:, :]
        return found

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return self.to_dense().astype(dtype or np.float64)

    def __repr__(self) -> str:
        return f"<Posterior {self.shape[0]}×{self.shape[1]}>"

    def _positions(self, at: Any) -> NDArray[np.int64]:
        size = self._known.size
        if isinstance(at, slice):
            chosen = range(*at.indices(size))
            guard_cells(len(chosen), "This part of a posterior")
            return np.arange(chosen.start, chosen.stop, chosen.step)
        where = np.asarray(at)
        if not np.issubdtype(where.dtype, np.integer):
            raise IndexError(f"Positions must be whole numbers or slices; got {where.dtype}.")
        if where.size and (int(where.min()) < -size or int(where.max()) >= size):
            raise IndexError(f"Positions lie outside 0 … {size - 1}.")
        return np.where(where < 0, where + size, where).astype(np.int64)


def _are(share: float) -> str:
    count = _count(share)
    return f"{count} {'is' if count in ('none', 'fewer than 1', 'about 1') else 'are'}"


def _count(share: float) -> str:
    """So many of a hundred, in words that claim no more than they know."""
    of_hundred = round(100 * share)
    if share in (0.0, 1.0):
        return "all" if share else "none"
    if of_hundred in (0, 100):
        return "more than 99" if of_hundred else "fewer than 1"
    return f"about {of_hundred}"
