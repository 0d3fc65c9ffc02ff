r"""Where random words come from: a secret key and a place give the same words everywhere.

Nothing here advances. A word is a function of the key, of what it is for (a `Scope`) and of where
it is wanted, so partitions, threads, forked and spawned workers and another machine get the same
words, and two places never share one.

**Subkeys.** HKDF-SHA256 of the 32 secret bytes, without salt, over the encoding of the list (format
1, kind, purpose, release, column, domain, matrix, word bits). A value is encoded as a letter for
its kind, the length of what follows in 8 big-endian bytes, and its spelling; a list is spelled as
its encoded values. No two lists have the same encoding, and any change gives unrelated words.

**Rows.** Word $i$ of draw $d$, attempt $a$ is the half $i \bmod 2$ of the AES-256 encryption of the
block ($d$ in 4 bytes, $a$ in 4, $\lfloor i/2 \rfloor$ in 8, big-endian): counter mode, so rows that
follow each other are one stretch of keystream. At most $2^{40}$ blocks are read under one subkey,
where AES is told from perfect randomness with an advantage below $2^{-45}$.

**Permanent answers.** With $E$ the encryption under the subkey, the word of record $r$ with true
code $c$ is the first half of $E(E(\text{name of } r) \oplus (c, d, a))$, $c$ in 8 bytes, $d$ and
$a$ in 4 each, little-endian: CBC-MAC of exactly two blocks. The name of a whole number is the
number modulo $2^{64}$ in 8 little-endian bytes, then 1 if negative and 0 if not in 8 more; that of
a text or of bytes is its BLAKE2b of 16 bytes, personalised `text` or `bytes`, under the subkey of
the list (1, "names"). Words are little-endian everywhere; their top `word_bits` bits are used.
"""

import hashlib
import operator
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np
from cryptography.hazmat.primitives.ciphers import CipherContext, modes
from numpy.typing import ArrayLike, NDArray

from bistochastic import keyfile
from bistochastic.errors import EntropyError, KeystreamError
from bistochastic.scope import FORMAT, Scope, domain_digest, encoded
from bistochastic.secret import KEY_BYTES, Secret

__all__ = ["Key", "Names", "Records", "Rows", "Scope", "domain_digest"]

Unsigned = NDArray[np.uint64]
Blocks = NDArray[np.uint64]  # (cells, 2), little-endian: one cipher block each
Words = Callable[[int, int, NDArray[Any] | None], Unsigned]  # as in bistochastic.matrices.words

BLOCK_BYTES = 16
MOST_BLOCKS = 1 << 40  # read under one subkey
PLACES = 1 << 32  # for draws, and for attempts
ZEROS = memoryview(bytes(1 << 18))  # encrypted, it is the keystream; fits a second level cache
CHUNK = 1 << 13  # cells whose blocks stay in that cache, before and after encryption


@final
class Key:
    """The one secret of a release: 256 random bits.

    Whoever has it can take the randomisation back: it is as confidential as the data. It shows in
    no repr, is not pickled and has no hash; it cannot be erased from the memory of Python.

    >>> Key.new()
    <Key, hidden>
    """

    __slots__ = ("_secret",)

    def __init__(self, secret: bytes) -> None:
        if type(secret) is not bytes or len(secret) != KEY_BYTES:
            found = f"{len(secret)} bytes" if type(secret) is bytes else type(secret).__name__
            del secret  # a traceback may show variables
            raise KeystreamError(
                f"A key is made from {KEY_BYTES} secret bytes; got {found}. "
                f"Key.new() draws them from the operating system; there is no seed."
            )
        self._secret = Secret(secret)

    @classmethod
    def new(cls) -> Self:
        """A fresh key from the operating system, or an `EntropyError`: nothing else will do."""
        try:
            drawn = Secret(os.urandom(KEY_BYTES))
        except (OSError, NotImplementedError) as error:
            raise EntropyError("The operating system gave no randomness for a key.") from error
        if len(drawn.reveal()) != KEY_BYTES:
            raise EntropyError("The operating system gave too little randomness for a key.")
        return cls(drawn.reveal())

    @classmethod
    def read(cls, path: keyfile.PathLike) -> Self:
        """The key in a file that `write` made, or a `KeyFileError`.

        A symbolic link is refused, since whoever may change it chooses the key; folders may be
        links. So is, on POSIX systems, a file that is open to its group or to others.
        """
        return cls(keyfile.read(path).reveal())

    def write(self, path: keyfile.PathLike) -> None:
        """Write the key to a new file, its owner's alone, and wait until the disk has it.

        Never over what is there already, and never through a link: that is a `KeyFileError`.
        """
        keyfile.write(path, self._secret)

    def secret(self) -> bytes:
        """The bytes, for a worker's `Key(secret)`: whatever holds them can undo the release."""
        return self._secret.reveal()

    def rows(self, scope: Scope, *, purpose: str = "rows") -> "Rows":
        """Words addressed by row number: for reports or, with a purpose of its own, for others."""
        if scope.matrix is None and purpose == "rows":
            raise KeystreamError(
                "Reports need the digest of their matrix in the scope; give other words a purpose."
            )
        return Rows(self._secret.derived(scope.info("rows", purpose)), scope.word_bits)

    def records(self, scope: Scope, *, purpose: str = "records") -> "Records":
        """Words addressed by record id and true code: for permanent answers."""
        if scope.matrix is None:
            raise KeystreamError("Permanent answers need the digest of their matrix in the scope.")
        subkey = self._secret.derived(scope.info("records", purpose))
        return Records(subkey, self._naming(), scope.word_bits)

    def names(self, ids: ArrayLike | Sequence[Any]) -> "Names":
        """The names of record ids, made once for all columns: a text takes a microsecond."""
        return Names(_named(self._naming(), ids))

    def _naming(self) -> Secret:
        return self._secret.derived(encoded((FORMAT, "names")))

    def __eq__(self, other: object) -> bool:
        return self._secret == other._secret if isinstance(other, Key) else NotImplemented

    def __repr__(self) -> str:
        return "<Key, hidden>"


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Rows:
    """Words addressed by row number: the source for one column of a release."""

    _subkey: Secret
    word_bits: int

    def words(self, start: int, stop: int) -> Words:
        """The words of the rows from `start` up to, not including, `stop`."""
        first, last = _span(start, stop)

        def run(draw: int, attempt: int, cells: NDArray[Any] | None, /) -> Unsigned:
            if cells is None:
                return self._stretch(draw, attempt, first, last)
            places = np.asarray(cells, np.int64)
            if places.size and not 0 <= places.min() <= places.max() < last - first:
                raise KeystreamError(f"A position lies outside the {last - first} rows here.")
            return self._scattered(draw, attempt, first + places)

        return run

    def at(self, rows: ArrayLike) -> Words:
        """The words of rows in any order; several times as fast where they follow each other."""
        given = np.asarray(rows)
        if given.ndim != 1 or (given.size and given.dtype.kind not in "iu"):
            raise KeystreamError(
                f"Row numbers are a line of whole numbers; got {given.dtype}, shape {given.shape}."
            )
        first, last = _span(int(given.min()), int(given.max()) + 1) if given.size else (0, 0)
        places = given.astype(np.int64)
        if last - first == places.size and bool((np.diff(places) == 1).all()):
            return self.words(first, last)

        def scattered(draw: int, attempt: int, cells: NDArray[Any] | None, /) -> Unsigned:
            return self._scattered(draw, attempt, places if cells is None else places[cells])

        return scattered

    def _stretch(self, draw: int, attempt: int, start: int, stop: int) -> Unsigned:
        """Counter mode, into an array that is the caller's own."""
        first, last = start >> 1, (stop + 1) >> 1
        counter = _place(draw, attempt, last) << 64 | first
        encryptor = self._subkey.encryptor(modes.CTR(counter.to_bytes(BLOCK_BYTES, "big")))
        size = BLOCK_BYTES * (last - first)
        stretch = np.empty(size + BLOCK_BYTES, np.uint8)  # update_into wants room to spare
        for at in range(0, size, len(ZEROS)):
            step = min(len(ZEROS), size - at)
            encryptor.update_into(ZEROS[:step], stretch.data[at : at + step + BLOCK_BYTES - 1])
        return _cut(stretch.view("<u8")[start & 1 :][: stop - start], self.word_bits)

    def _scattered(self, draw: int, attempt: int, rows: NDArray[np.int64]) -> Unsigned:
        """The same words block by block: counter mode is the encryption of the addresses."""
        place = _place(draw, attempt, (int(rows.max(initial=0)) >> 1) + 1)
        encryptor = self._subkey.encryptor(modes.ECB())
        words = np.empty(rows.size, "<u8")
        addresses = np.empty((min(CHUNK, rows.size), 2), ">u8")
        addresses[:, 0] = place
        first_halves = 2 * np.arange(len(addresses))
        for at in range(0, rows.size, CHUNK):
            part = rows[at : at + CHUNK]
            addresses[: part.size, 1] = part >> 1
            halves = _encrypted(encryptor, addresses[: part.size]).reshape(-1)
            words[at : at + CHUNK] = halves[first_halves[: part.size] + (part & 1)]
        return _cut(words, self.word_bits)


def _span(start: int, stop: int) -> tuple[int, int]:
    first, last = operator.index(start), operator.index(stop)
    if not 0 <= first <= last <= 2 * MOST_BLOCKS:
        raise KeystreamError(f"Rows are numbered upwards from 0 to 2^41; got {first} to {last}.")
    return first, last


def _place(draw: int, attempt: int, blocks: int) -> int:
    """The first half of a block's address, if the subkey may still be read there."""
    if not (0 <= draw < PLACES and 0 <= attempt < PLACES):
        raise KeystreamError(f"Draw {draw}, attempt {attempt} has no place: both end below 2^32.")
    if (draw + 1) * blocks > MOST_BLOCKS:  # words are rejected less than half of the time
        raise KeystreamError(
            f"Draw {draw} has no row {2 * blocks - 1}: a subkey has 2^40 blocks. Split the table."
        )
    return draw << 32 | attempt


def _encrypted(encryptor: CipherContext, blocks: NDArray[Any]) -> Blocks:
    given = blocks.reshape(-1).view(np.uint8)
    result = np.empty(given.size + BLOCK_BYTES, np.uint8)  # update_into wants room to spare
    encryptor.update_into(given.data, result.data)
    return result[: given.size].view("<u8").reshape(-1, 2)


def _cut(words: Unsigned, word_bits: int) -> Unsigned:
    """The top bits of words, in the byte order of the machine."""
    native = words.astype(np.uint64, copy=False)
    return native if word_bits == 64 else native >> np.uint64(64 - word_bits)


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Names:
    """Record ids under a key: where their permanent answers are, in 16 bytes each."""

    _blocks: Blocks

    def __len__(self) -> int:
        return len(self._blocks)

    def __getitem__(self, part: slice) -> "Names":
        return Names(self._blocks[part])


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Records:
    """Words addressed by record id and true code: permanent answers for one column.

    The same id, true code and scope have the same words for ever: repeating the question tells
    nothing new, while an answer that changes tells that the true code did. The release is part of
    the scope: answers outlast it only under its name. Two records under one id are one record.
    """

    _subkey: Secret
    _naming: Secret
    word_bits: int

    def names(self, ids: ArrayLike | Sequence[Any]) -> Names:
        """The names of record ids, as `Key.names` makes them."""
        return Names(_named(self._naming, ids))

    def permanent(self, ids: Names | ArrayLike | Sequence[Any], codes: ArrayLike) -> Words:
        """The words of the answers of these records with these true codes.

        Ids are whole numbers that fit 64 bits, texts, bytes, or what `Key.names` made of them.
        """
        names = ids._blocks if isinstance(ids, Names) else _named(self._naming, ids)
        true = np.asarray(codes)
        if true.shape != (len(names),) or (true.size and true.dtype.kind not in "iu"):
            raise KeystreamError(
                f"Each of {len(names)} record ids needs one whole number as its true code; "
                f"got {true.dtype} of shape {true.shape}."
            )
        if true.size and true.min() < 0:
            raise KeystreamError(f"{int((true < 0).sum())} of the true codes are negative.")
        encryptor = self._subkey.encryptor(modes.ECB())
        chained = np.empty(names.shape, "<u8")
        for at in range(0, len(names), CHUNK):
            chained[at : at + CHUNK] = _encrypted(encryptor, names[at : at + CHUNK])
            chained[at : at + CHUNK, 0] ^= true[at : at + CHUNK].astype(np.uint64)

        def answers(draw: int, attempt: int, cells: NDArray[Any] | None, /) -> Unsigned:
            _place(draw, attempt, blocks=0)
            encryptor = self._subkey.encryptor(modes.ECB())
            asked = chained if cells is None else chained[cells]
            words = np.empty(len(asked), "<u8")
            for at in range(0, len(asked), CHUNK):
                blocks = asked[at : at + CHUNK].copy()
                blocks[:, 1] ^= np.uint64(attempt << 32 | draw)
                words[at : at + CHUNK] = _encrypted(encryptor, blocks)[:, 0]
            return _cut(words, self.word_bits)

        return answers


def _named(naming: Secret, ids: ArrayLike | Sequence[Any]) -> Blocks:
    """The first block of each record: its number, or a keyed hash of its text."""
    given: Any = ids if isinstance(ids, list | tuple) else np.asarray(ids)
    if isinstance(given, np.ndarray) and given.ndim == 1 and given.dtype.kind in "iu":
        blocks = np.empty((given.size, 2), "<u8")
        blocks[:, 0], blocks[:, 1] = given.astype(np.uint64), given < 0
        return blocks
    items = given.tolist() if isinstance(given, np.ndarray) else given
    kinds = set(map(type, items)) if isinstance(items, list | tuple) else {type(ids)}
    if isinstance(items, list | tuple) and bool not in kinds:
        if all(issubclass(kind, str) for kind in kinds):
            return _hashed(naming, b"text", (id.encode("utf-8", "surrogatepass") for id in items))
        if all(issubclass(kind, bytes) for kind in kinds):
            return _hashed(naming, b"bytes", items)
        if all(issubclass(kind, int | np.integer) for kind in kinds):
            numbers = [int(number) for number in items]
            if all(-(1 << 63) <= number < 1 << 64 for number in numbers):
                return np.array([(number % (1 << 64), number < 0) for number in numbers], "<u8")
    raise KeystreamError(
        f"Record ids are a list of whole numbers of at most 64 bits, of texts or of bytes, none "
        f"missing; got {', '.join(sorted(kind.__name__ for kind in kinds))}."
    )


def _hashed(naming: Secret, kind: bytes, contents: Iterable[bytes]) -> Blocks:
    """BLAKE2b under a key; a copied state spares hashing the key's own block each time."""
    keyed = hashlib.blake2b(digest_size=BLOCK_BYTES, key=naming.reveal(), person=kind)
    names = []
    for content in contents:
        state = keyed.copy()
        state.update(content)
        names.append(state.digest())
    return np.frombuffer(b"".join(names), "<u8").reshape(-1, 2)
