"""What words are for, spelled so that two different things never have the same spelling."""

import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from bistochastic.errors import KeystreamError

__all__ = ["FORMAT", "Scope", "domain_digest", "encoded"]

FORMAT = 1  # of everything that is derived from a key
BELOW_MICRO = {"ns", "ps", "fs", "as"}  # units of times that NumPy gives out as bare numbers


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """What words are for; whatever differs here, they are unrelated."""

    release: str  # permanent answers last while it stays the same
    column: str | tuple[str, ...]  # its name, or those of several that one channel treats together
    domain: str  # `domain_digest` of the labels
    matrix: str | None  # `digest()` of the exact channel; None for words that no channel consumes
    word_bits: int = 64  # the `word_bits` of the exact channel

    def __post_init__(self) -> None:
        names = self.column if isinstance(self.column, tuple) else (self.column,)
        if not names or not all(type(name) is str and name for name in (self.release, *names)):
            raise KeystreamError("A Scope names its release and its columns by texts, none empty.")
        for digest in (self.domain, "0" * 64 if self.matrix is None else self.matrix):
            if type(digest) is not str or not re.fullmatch("[0-9a-f]{64}", digest):
                raise KeystreamError(
                    "A Scope has digests of 64 hexadecimal digits: domain_digest(labels) for its "
                    "domain, exact.digest() for its matrix."
                )
        if type(self.word_bits) is not int or self.word_bits not in range(8, 65):
            raise KeystreamError(f"Words have 8 to 64 bits; got word_bits={self.word_bits!r}.")

    def info(self, kind: str, purpose: str) -> bytes:
        """What the subkey is derived over; public, and different for every difference."""
        named = (self.release, self.column, self.domain, self.matrix, self.word_bits)
        return encoded((FORMAT, kind, purpose, *named))


def domain_digest(labels: Sequence[Any] | NDArray[Any]) -> str:
    """SHA-256 of a domain: of its labels, their types and their order.

    The domain of several columns is the list of their domains. 1, 1.0, True and "1" are four
    labels, and texts that look alike but are spelled differently are two.

    >>> domain_digest(["no", "yes"]) == domain_digest(["yes", "no"])
    False
    """
    if not isinstance(labels, list | tuple | range | np.ndarray):
        raise KeystreamError(f"A domain is a list of labels; got {type(labels).__name__}.")
    return hashlib.sha256(encoded(labels)).hexdigest()


def encoded(value: Any) -> bytes:
    """A value with its kind and length, so that no two values or lists have the same bytes."""
    array = isinstance(value, np.generic | np.ndarray)
    plain = value.tolist() if array else value
    bare = array and value.dtype.kind in "mM" and np.datetime_data(value.dtype)[0] in BELOW_MICRO
    if bare or type(plain) not in SPELLINGS:
        named = str(value.dtype) if bare else type(plain).__name__
        raise KeystreamError(
            f"A label of type {named} has no fixed spelling. "
            f"Use texts, numbers, dates, times or None."
        )
    kind, spelled = SPELLINGS[type(plain)]
    content = spelled(plain)
    return kind + len(content).to_bytes(8, "big") + content


SPELLINGS: dict[type, tuple[bytes, Callable[[Any], bytes]]] = {
    type(None): (b"n", lambda value: b""),
    bool: (b"b", lambda value: str(int(value)).encode()),
    int: (b"i", lambda value: str(value).encode()),
    float: (b"f", lambda value: value.hex().encode()),
    str: (b"s", lambda value: value.encode("utf-8", "surrogatepass")),
    bytes: (b"y", lambda value: value),
    **dict.fromkeys((date, datetime, time), (b"d", lambda value: value.isoformat().encode())),
    **dict.fromkeys((list, tuple, range), (b"l", lambda value: b"".join(map(encoded, value)))),
}
