"""Randomise: a categorical column meets a channel, each cell with a word of its own.

The word of a cell follows from the key, from what the column is and from where the cell stands, so
batches may be of any size and come in any order, in threads and on other machines.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bistochastic.errors import MaskingError, MatrixError
from bistochastic.keystream import MOST_BLOCKS, Key, Names, Records, Rows
from bistochastic.matrices.base import Channel
from bistochastic.matrices.checks import as_codes
from bistochastic.matrices.exact import Exact, report_dtype
from bistochastic.matrices.words import Words
from bistochastic.scope import Scope, domain_digest, encoded

__all__ = ["Randomiser", "randomise"]

Labels = Sequence[Any] | NDArray[Any]
Ids = Names | ArrayLike | Sequence[Any]

CHUNK = 1 << 17  # cells at a time, whose words and slots stay near the processor


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Randomiser:
    """A channel, the column it is for and the words of that column: what a worker holds.

    Nothing in it changes, so threads may share it. It holds keys derived for this column, and the
    one that names record ids, but not the key itself; it shows none of them and is not pickled: a
    worker in another process makes its own.
    """

    form: Exact
    scope: Scope
    _rows: Rows
    _records: Records

    @classmethod
    def of(
        cls,
        channel: Channel | Exact,
        key: Key,
        *,
        release: str,
        column: str | tuple[str, ...],
        domain: Labels,
    ) -> Self:
        """The channel of one column, or of several that it treats together, in one release.

        Args:
            channel: Any channel, or the exact form of one.
            key: The secret; whoever has it can take the randomisation back.
            release: The name of the release: another one has unrelated words.
            column: The name of the column, or a tuple of names for a joint channel.
            domain: The labels in the order of their codes, or a list of such lists, one a column.

        Raises:
            MaskingError: The labels are not as many as the categories of the channel.
            KeystreamError: A name or a label has no fixed spelling.
            ExactnessError: The channel is not held by integers as declared.
        """
        if not isinstance(key, Key):
            raise MaskingError(
                f"Column {column!r} needs a Key; got {type(key).__name__}. Key.new() makes one, "
                f"Key.read(path) reads one; there is no seed."
            )
        form = _form(channel)
        _check_domain(column, domain, form.size)
        scope = Scope(
            release=release,
            column=column,
            domain=domain_digest(domain),
            matrix=form.digest(),
            word_bits=form.word_bits,
        )
        return cls(form, scope, key.rows(scope), key.records(scope))

    def rows(self, codes: ArrayLike, start: int = 0) -> NDArray[Any]:
        """Reports of the rows from number `start` on, with the words of those numbers.

        They have the dtype of the codes, unless that is too narrow for some report.
        """
        true = self._true(codes)
        first = _first_row(start, true.size)
        return self._filled(true, lambda at, end: self._rows.words(first + at, first + end))

    def at(self, rows: NDArray[np.int64], codes: ArrayLike) -> NDArray[Any]:
        """Reports of rows in any order: those that `rows` gives where they follow each other."""
        true = self._true(codes)
        if len(rows) != true.size:
            raise MaskingError(
                f"Column {self.scope.column!r} has {true.size} codes, but there are {len(rows)} "
                f"row numbers. Give one for each."
            )
        return self._filled(true, lambda at, end: self._rows.at(rows[at:end]))

    def records(self, ids: Ids, codes: ArrayLike) -> NDArray[Any]:
        """Permanent reports: the same id with the same true code has the same report for ever.

        Ids are whole numbers of at most 64 bits, texts, bytes, or what `Key.names` made of them.
        """
        true = self._true(codes)
        named = self._named(ids)
        if len(named) != true.size:
            raise MaskingError(
                f"Column {self.scope.column!r} has {true.size} codes, but there are {len(named)} "
                f"record ids. Give one for each."
            )
        return self._filled(
            true, lambda at, end: self._records.permanent(named[at:end], true[at:end])
        )

    def _true(self, codes: ArrayLike) -> NDArray[Any]:
        if isinstance(codes, np.ma.MaskedArray):  # its mask would silently be lost
            raise MaskingError(
                f"Column {self.scope.column!r} is a masked array. A missing value is a category of "
                f"its own: give it a label and a code, and a plain array of codes."
            )
        try:
            return as_codes(codes, self.form.size)
        except MatrixError as error:
            raise MaskingError(
                f"Column {self.scope.column!r}: {error} A missing value is a category of its own: "
                f"give it a label and a code."
            ) from None

    def _named(self, ids: Ids) -> Names | NDArray[Any]:
        """Ids of which any part shows what kind all of them are, so that they can be cut."""
        if isinstance(ids, Names):
            return ids
        if isinstance(ids, np.ndarray) and ids.ndim == 1 and ids.dtype.kind != "O":
            return ids
        return self._records.names(ids)

    def _filled(self, true: NDArray[Any], words: Callable[[int, int], Words]) -> NDArray[Any]:
        """Reports chunk by chunk, so that what is computed on the way stays small."""
        reports = np.empty(true.size, report_dtype(true.dtype, self.form.size))
        for at in range(0, max(true.size, 1), CHUNK):
            end = min(at + CHUNK, true.size)
            reports[at:end] = self.form.draw(true[at:end], words(at, end))
        return reports

    def __repr__(self) -> str:
        return f"<Randomiser of {self.scope.column!r} in {self.scope.release!r}, {self.form!r}>"


def randomise(
    codes: ArrayLike,
    channel: Channel | Exact,
    key: Key,
    *,
    release: str,
    column: str | tuple[str, ...],
    domain: Labels,
    start: int = 0,
    records: Ids | None = None,
) -> NDArray[Any]:
    """Reports of a column of true codes, exactly as the channel declares.

    Args:
        codes: The true codes, 0 … n-1; of several columns, what `fold` made of them.
        channel: Any channel, or the exact form of one.
        key: The secret; whoever has it can take the randomisation back.
        release: The name of the release: another one has unrelated words.
        column: The name of the column, or a tuple of names for a joint channel.
        domain: The labels in the order of their codes, or a list of such lists, one a column.
        start: The number of the first row, where this is a batch of a longer column.
        records: Ids, one a row, for answers that are the same for ever; rows are then not counted.

    >>> import bistochastic as bs
    >>> key, smokes = bs.Key.new(), [0, 1, 1, 0, 1]
    >>> channel = bs.randomised_response(2, epsilon=1)
    >>> where = {"release": "2026", "column": "smoker", "domain": ["no", "yes"]}
    >>> whole = bs.randomise(smokes, channel, key, **where)
    >>> part = bs.randomise(smokes[3:], channel, key, start=3, **where)
    >>> bool((whole[3:] == part).all())
    True
    """
    worker = Randomiser.of(channel, key, release=release, column=column, domain=domain)
    if records is None:
        return worker.rows(codes, start)
    if start != 0:
        raise MaskingError(
            f"Column {column!r} has record ids and a first row: answers that follow their records "
            f"do not depend on rows. Give one or the other."
        )
    return worker.records(records, codes)


def _form(channel: Channel | Exact) -> Exact:
    if not isinstance(channel, Channel | Exact):
        raise MaskingError(
            f"A column meets a channel; got {type(channel).__name__}. Make one of an array with "
            f"Dense or Stochastic."
        )
    return channel if isinstance(channel, Exact) else channel.exact()


def _first_row(start: Any, size: int) -> int:
    if isinstance(start, bool) or not isinstance(start, int | np.integer):
        raise MaskingError(f"start is the whole number of a row; got {type(start).__name__}.")
    if not 0 <= start <= 2 * MOST_BLOCKS - size:
        raise MaskingError(
            f"{size} rows from number {start} on are not all from 0 to 2^41. Split the table."
        )
    return int(start)


def _check_domain(column: str | tuple[str, ...], domain: Labels, size: int) -> None:
    """As many labels as categories, of each column, and none of them twice."""
    _check_list(column, domain)
    joint = isinstance(column, tuple)
    if joint and len(domain) != len(column):
        raise MaskingError(
            f"{column!r} are {len(column)} columns, but there are {len(domain)} domains. "
            f"Give a list of labels for each."
        )
    named = zip(column, domain, strict=True) if joint else [(column, domain)]
    cells = 1
    for name, labels in named:
        _check_list(name, labels)
        cells *= len(labels)
        twice = len(labels) - len(set(map(encoded, labels)))
        if twice:
            raise MaskingError(f"The domain of {name!r} has {twice} labels more than once.")
    if cells != size:
        raise MaskingError(
            f"The domain of {column!r} has {cells} labels, but the channel has {size} categories. "
            f"Give one label for each category, in the order of the codes."
        )


def _check_list(name: Any, labels: Any) -> None:
    if not isinstance(labels, list | tuple | range | np.ndarray):
        raise MaskingError(
            f"The domain of {name!r} is a list of labels; got {type(labels).__name__}."
        )
