"""Bytes that nobody sees: the 32 of a key, and of the subkeys that are derived from it."""

import hmac
from typing import NoReturn, final

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers import Cipher, CipherContext, algorithms, modes
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from bistochastic.errors import SecretError

__all__ = ["KEY_BYTES", "Secret"]

KEY_BYTES = 32


@final
class Secret:
    """Bytes that show up in no text: not in a repr, a traceback with its variables or a pickle."""

    __slots__ = ("_bytes",)

    def __init__(self, secret: bytes) -> None:
        self._bytes = secret

    def reveal(self) -> bytes:
        return self._bytes

    def derived(self, info: bytes) -> "Secret":
        """The subkey for what the info says, by HKDF-SHA256 (RFC 5869)."""
        hkdf = HKDF(algorithm=hashes.SHA256(), length=KEY_BYTES, salt=None, info=info)
        return Secret(hkdf.derive(self._bytes))

    def encryptor(self, mode: modes.CTR | modes.ECB) -> CipherContext:
        return Cipher(algorithms.AES(self._bytes), mode).encryptor()

    def __eq__(self, other: object) -> bool:  # there is no hash: it would tell something of them
        return isinstance(other, Secret) and hmac.compare_digest(self._bytes, other._bytes)

    def __repr__(self) -> str:
        return "<hidden>"

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise SecretError(
            "A key, or what was derived from it, is not pickled: it might be written somewhere. "
            "Let a worker call Key.read(path), or send key.secret() and let it call Key(secret)."
        )
