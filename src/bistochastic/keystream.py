r"""Where random words come from: a secret key and a place give the same words everywhere.

Nothing here advances. A word is a function of the key, of what it is for (a `Scope`) and of where
it is wanted, so partitions, threads, forked and spawned workers and another machine get the same
words, and two places never share one.

**Subkeys.** HKDF-SHA256 of the 32 secret bytes, without salt, over the encoding of the list (format
1, kind, purpose, release, column, domain, matrix, word bits). Each value is encoded as a letter for
its kind, the length of what follows in 8 big-endian bytes, and its content; a list is encoded as
its encoded values. No two lists have the same encoding, and any change gives unrelated words.

**Rows.** Word $i$ of draw $d$, attempt $a$ is the half $i \bmod 2$ of the AES-256 encryption of the
block ($d$ in 4 bytes, $a$ in 4, $\lfloor i/2 \rfloor$ in 8, big-endian): counter mode, so rows that
follow each other are one stretch of keystream. At most $2^{40}$ blocks are read under one subkey,
where AES is told from perfect randomness with an advantage below $2^{-45}$.

**Permanent answers.** With $E$ the encryption under the subkey, the word of record $r$ with true
code $c$ is the first half of $E(E(\text{name of } r) \oplus (c, d, a))$, $c$ in 8 bytes, $d$ and
$a$ in 4 each, little-endian: CBC-MAC of exactly two blocks. The name of a whole number is the
number itself, modulo $2^{64}$ in 8 little-endian bytes, then 1 if negative and 0 if not in 8 more;
the name of a text or of bytes is its BLAKE2b of 16 bytes, under a key that is derived too.

Words are read little-endian on every machine; of one, the top `word_bits` bits are used.
"""

import hashlib
import hmac
import os
import re
import stat
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, time
from decimal import Decimal
from pathlib import Path
from typing import Any, ClassVar, NoReturn, Self, final

import numpy as np
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers import Cipher, CipherContext, algorithms, modes
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from numpy.typing import ArrayLike, NDArray

from bistochastic.errors import EntropyError, KeyFileError, KeystreamError, SecretError

__all__ = ["Key", "Names", "Records", "Rows", "Scope", "domain_digest"]

Unsigned = NDArray[np.uint64]
Blocks = NDArray[np.uint64]  # (records, 2), little-endian: one cipher block each

FORMAT = 1
KEY_BYTES = 32
BLOCK_BYTES = 16
MOST_BLOCKS = 1 << 40  # read under one subkey
FIELD = 1 << 32  # draws and attempts that have a place
ZEROS = memoryview(bytes(1 << 18))  # encrypted, it is the keystream; fits a second level cache
CHUNK = 1 << 13  # records whose blocks stay in that cache, before and after encryption

FILE_MARK = "bistochastic-key"
FILE_PREFIX = f"{FILE_MARK}-{FORMAT}"
FILE_LENGTH = len(FILE_PREFIX) + 1 + 2 * KEY_BYTES + 1 + 8
HEX_DIGEST = re.compile(r"[0-9a-f]{64}")

Label = str | bytes | int | float | Decimal | date | time | None


@final
class Secret:
    """Bytes that show up in no text: not in a repr, a traceback with its variables or a pickle."""

    __slots__ = ("_bytes",)
    __hash__: ClassVar[None]  # type: ignore[assignment]  # a hash would tell something of them

    def __init__(self, secret: bytes) -> None:
        self._bytes = secret

    def reveal(self) -> bytes:
        """The bytes themselves."""
        return self._bytes

    def derived(self, info: bytes) -> "Secret":
        """The subkey for what the info says, by HKDF-SHA256 (RFC 5869)."""
        hkdf = HKDF(algorithm=hashes.SHA256(), length=KEY_BYTES, salt=None, info=info)
        return Secret(hkdf.derive(self._bytes))

    def encryptor(self, mode: modes.CTR | modes.ECB) -> CipherContext:
        """AES-256 under these bytes."""
        return Cipher(algorithms.AES(self._bytes), mode).encryptor()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Secret):
            return NotImplemented
        return hmac.compare_digest(self._bytes, other._bytes)

    def __repr__(self) -> str:
        return "<hidden>"

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise SecretError(
            "A key, or what was derived from it, is not pickled, so that it is never written "
            "somewhere by accident. Send a worker the path of the key file and let it call "
            "Key.read(path), or send key.secret() and let it call Key(secret)."
        )


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """What words are for; whatever differs here, they are unrelated.

    Attributes:
        release: The name of the release. Permanent answers last as long as it stays the same.
        column: The column, or the names of those that one channel treats together, in order.
        domain: `domain_digest` of the labels, in order.
        matrix: `digest()` of the exact channel, or None for words that no channel consumes.
        word_bits: The size of a word, the `word_bits` of the exact channel.
    """

    release: str
    column: str | tuple[str, ...]
    domain: str
    matrix: str | None
    word_bits: int = 64

    def __post_init__(self) -> None:
        if not isinstance(self.release, str) or not self.release:
            raise KeystreamError("A Scope needs the name of its release, a text that is not empty.")
        names = self.column if isinstance(self.column, tuple) else (self.column,)
        if not names or not all(isinstance(name, str) and name for name in names):
            raise KeystreamError("Scope.column must be a name, or a tuple of names; none is empty.")
        for name, digest in (("domain", self.domain), ("matrix", self.matrix)):
            if name == "matrix" and digest is None:
                continue
            if not isinstance(digest, str) or not HEX_DIGEST.fullmatch(digest):
                raise KeystreamError(
                    f"Scope.{name} must be a SHA-256 digest of 64 hexadecimal digits, as "
                    f"domain_digest(labels) and exact.digest() give."
                )
        if type(self.word_bits) is not int or self.word_bits not in range(8, 65):
            raise KeystreamError(f"Words have 8 to 64 bits; got word_bits={self.word_bits!r}.")

    def info(self, kind: str, purpose: str) -> bytes:
        """What the subkey is derived over; public, and different for every difference."""
        if not isinstance(purpose, str) or not purpose:
            raise KeystreamError("A purpose must be a text that is not empty.")
        named = (self.release, self.column, self.domain, self.matrix, self.word_bits)
        return encoded((FORMAT, kind, purpose, *named))


def domain_digest(labels: Iterable[Any]) -> str:
    """SHA-256 of a domain: of its labels, their types and their order.

    The joint domain of several columns is the tuple of their domains. A label is a text, bytes,
    a whole number, a float, a decimal, a truth value, a date, a time or None; 1, 1.0, True and "1"
    are four labels, and texts are compared letter by letter, without any normalisation.

    >>> domain_digest(["no", "yes"]) == domain_digest(["yes", "no"])
    False
    """
    if isinstance(labels, str | bytes):
        raise KeystreamError("A domain is a list of labels, not a single text.")
    return hashlib.sha256(encoded(list(labels))).hexdigest()


def encoded(value: Any) -> bytes:
    """A value with its kind and length, so that no two values or lists have the same bytes."""
    match value:
        case np.generic():
            return encoded(value.item())
        case np.ndarray():
            return encoded(value.tolist())
        case None:
            kind, content = b"n", b""
        case bool():
            kind, content = b"b", str(int(value)).encode()
        case int():
            kind, content = b"i", str(value).encode()
        case float():
            kind, content = b"f", value.hex().encode()
        case Decimal():
            kind, content = b"c", str(value).encode()
        case str():
            kind, content = b"s", value.encode("utf-8", "surrogatepass")
        case bytes():
            kind, content = b"y", value
        case date() | time():
            kind, content = b"d", value.isoformat().encode()
        case list() | tuple() | range():
            kind, content = b"l", b"".join([encoded(item) for item in value])
        case _:
            raise KeystreamError(
                f"A label of type {type(value).__name__} has no fixed spelling. "
                f"Use texts, numbers, dates or None."
            )
    return kind + len(content).to_bytes(8, "big") + content


@final
class Key:
    """The one secret of a release: 256 random bits.

    Whoever has it can take the randomisation back: it is as confidential as the data. It shows in
    no repr, is not pickled and has no hash; it cannot be erased from the memory of Python.

    >>> key = Key.new()
    >>> key
    <Key, hidden>
    >>> key == Key(key.secret())
    True
    """

    __slots__ = ("_secret",)
    __hash__: ClassVar[None]  # type: ignore[assignment]  # a hash would tell something of it

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
        """A fresh key from the operating system's source for keys, or a refusal.

        Raises:
            EntropyError: If the source fails or gives less than was asked for.
        """
        return cls(_entropy(KEY_BYTES).reveal())

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Self:
        """The key of a file that `write` made.

        Symbolic links are refused, since whoever may change one chooses the key; folders above
        the file may be links. On POSIX systems a file that its group or others can read or write
        is refused; on Windows who may read it is not examined.

        Raises:
            KeyFileError: If the file is missing, open to others, cut short, mistyped or no key.
        """
        content = _content(path)
        fault = _fault(content)
        if fault:
            raise KeyFileError(
                f"Key file {os.fspath(path)!r} {fault}. Restore it from a copy: without the right "
                f"key the same release cannot be made again."
            )
        return cls(bytes.fromhex(content.reveal().decode("ascii").split(":")[1]))

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the key to a new file that only its owner can read, and wait for the disk.

        Raises:
            KeyFileError: If something is there already, or the file cannot be written.
        """
        hexadecimal = Secret(self.secret().hex().encode("ascii"))
        line = Secret(
            f"{FILE_PREFIX}:{hexadecimal.reveal().decode()}:{_checksum(hexadecimal)}\n".encode()
        )
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
        try:
            descriptor = _opened(path, flags)
        except OSError as error:
            raise KeyFileError(
                f"Key file {os.fspath(path)!r} cannot be created: {error.strerror}. "
                f"A key is never written over a file; choose a new name."
            ) from error
        try:
            with os.fdopen(descriptor, "wb") as file:
                if os.name == "posix":
                    os.fchmod(file.fileno(), 0o600)
                file.write(line.reveal())
                file.flush()
                os.fsync(file.fileno())
            _settle_folder(path)
        except OSError as error:
            os.unlink(path)  # ours alone: O_EXCL made it
            raise KeyFileError(
                f"Key file {os.fspath(path)!r} cannot be written: {error.strerror}. "
                f"Nothing was left behind."
            ) from error

    def secret(self) -> bytes:
        """The bytes, for a worker that makes the key again with `Key(secret)`.

        They are the key: whatever holds them (a task queue, a closure, an environment) can undo
        the release. Where workers see the file, send its path instead.
        """
        return self._secret.reveal()

    def rows(self, scope: Scope, *, purpose: str = "rows") -> "Rows":
        """Words addressed by row number, for reports or, say, for a purpose "shuffle"."""
        if scope.matrix is None and purpose == "rows":
            raise KeystreamError(
                "Reports need the digest of their matrix in the scope: a word that serves two "
                "matrices can tell the true value. Without a matrix, name another purpose."
            )
        return Rows(self._secret.derived(scope.info("rows", purpose)), scope.word_bits)

    def records(self, scope: Scope, *, purpose: str = "records") -> "Records":
        """Words addressed by record id and true code: answers that are permanent."""
        if scope.matrix is None:
            raise KeystreamError("Permanent answers need the digest of their matrix in the scope.")
        subkey = self._secret.derived(scope.info("records", purpose))
        return Records(subkey, self._naming(), scope.word_bits)

    def names(self, ids: ArrayLike | Sequence[Any]) -> "Names":
        """The names of record ids, made once for all columns and releases."""
        return Names(_named(self._naming(), ids))

    def _naming(self) -> Secret:
        return self._secret.derived(encoded((FORMAT, "names")))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Key):
            return NotImplemented
        return self._secret == other._secret

    def __repr__(self) -> str:
        return "<Key, hidden>"


def _entropy(count: int) -> Secret:
    try:
        drawn = Secret(os.urandom(count))
    except (OSError, NotImplementedError) as error:
        raise EntropyError(
            "The operating system gave no randomness for a key. Nothing was released."
        ) from error
    if len(drawn.reveal()) != count:
        raise EntropyError(
            f"The operating system gave {len(drawn.reveal())} bytes for a key instead of {count}. "
            f"Nothing was released."
        )
    return drawn


def _opened(path: str | os.PathLike[str], flags: int) -> int:
    """A descriptor of the very file, never of one that a link points to."""
    for name in ("O_NOFOLLOW", "O_CLOEXEC", "O_BINARY", "O_NONBLOCK"):  # where they exist
        flags |= getattr(os, name, 0)
    return os.open(path, flags, 0o600)


def _content(path: str | os.PathLike[str]) -> Secret:
    """What a key file holds, if nobody else can read or change it."""
    where = os.fspath(path)
    try:
        if os.path.islink(where):  # O_NOFOLLOW refuses too, but not on Windows, nor as clearly
            raise KeyFileError(f"Key file {where!r} is a symbolic link. Give the file itself.")
        with os.fdopen(_opened(path, os.O_RDONLY), "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise KeyFileError(f"Key file {where!r} is not a regular file.")
            if os.name == "posix" and status.st_mode & 0o077:
                raise KeyFileError(
                    f"Key file {where!r} is open to others (mode {status.st_mode & 0o777:04o}). "
                    f"Run `chmod 600` on it, and ask who may have read it."
                )
            return Secret(file.read(4 * FILE_LENGTH))
    except OSError as error:
        raise KeyFileError(f"Key file {where!r} cannot be read: {error.strerror}.") from error


def _fault(content: Secret) -> str:
    """What is wrong with the content of a key file, in words that show none of it."""
    text = Secret(content.reveal().removesuffix(b"\n").removesuffix(b"\r"))
    prefix = f"{FILE_PREFIX}:".encode()
    length = len(text.reveal())
    if not length:
        return "is empty"
    if not text.reveal().startswith(prefix[:length]):
        mark = f"{FILE_MARK}-".encode()
        other = text.reveal().startswith(mark)
        return "was written by another version" if other else "is not a key of this package"
    if length != FILE_LENGTH:
        return (
            f"is {'cut short' if length < FILE_LENGTH else 'too long'}: it has {length} characters "
            f"and a key has {FILE_LENGTH}"
        )
    if not re.fullmatch(rb"[0-9a-f]{64}:[0-9a-f]{8}", text.reveal()[len(prefix) :]):
        return "holds characters that a key does not have"
    hexadecimal, checksum = map(Secret, text.reveal()[len(prefix) :].split(b":"))
    if _checksum(hexadecimal).encode() != checksum.reveal():
        return "does not fit its checksum: at least one character was changed"
    return ""


def _checksum(hexadecimal: Secret) -> str:
    """Eight digits that tell a mistyped key; they stand in the key file only."""
    return hashlib.sha256(FILE_PREFIX.encode() + b":" + hexadecimal.reveal()).hexdigest()[:8]


def _settle_folder(path: str | os.PathLike[str]) -> None:
    """Wait until the folder, too, has the new name on disk."""
    if os.name == "posix":
        descriptor = os.open(Path(path).parent, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
