"""Pseudonyms: identifiers replaced by texts that only the key connects with them."""

import base64
from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np

from bistochastic.keystream import Key, Records
from bistochastic.scope import Scope, domain_digest

__all__ = ["Pseudonyms"]

NOTHING = "0" * 64  # no matrix is involved
LENGTH = 26  # 128 bits in base 32


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Pseudonyms:
    """The pseudonyms of one column in one release: the same identifier, the same pseudonym.

    128 bits of a keyed function of the identifier. Without the key a pseudonym tells nothing of
    it, and those of two releases cannot be linked; with the key anybody can make them again.
    """

    _records: Records

    @classmethod
    def of(cls, key: Key, *, release: str, column: str) -> Self:
        """The pseudonyms of a column under a key."""
        scope = Scope(
            release=release, column=column, domain=domain_digest(["pseudonyms"]), matrix=NOTHING
        )
        return cls(key.records(scope, purpose="pseudonyms"))

    def of_ids(self, ids: Any) -> list[str]:
        """One pseudonym for each whole number or text.

        >>> names = Pseudonyms.of(Key(bytes(32)), release="2026", column="person")
        >>> names.of_ids(["Ann", "Bob", "Ann"])[0] == names.of_ids(["Ann"])[0]
        True
        """
        count = len(ids)
        if not count:
            return []
        words = self._records.permanent(ids, np.zeros(count, dtype=np.int64))
        halves = np.stack([words(draw, 0, None) for draw in (0, 1)], axis=1).astype(">u8")
        secret = halves.tobytes()
        texts = (
            base64.b32encode(secret[at : at + 16]).decode()[:LENGTH].lower()
            for at in range(0, len(secret), 16)
        )
        return list(texts)

    def __repr__(self) -> str:
        return "<Pseudonyms>"
