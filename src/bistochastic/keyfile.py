"""A key in a file: one line, its owner's alone, never written over anything, checked when read.

The line is `bistochastic-key-1:`, the key in 64 hexadecimal digits, a colon, and the first eight
digits of the SHA-256 of what stands before the colon, which tell when it was mistyped.
"""

import hashlib
import os
import re
import stat
from pathlib import Path

from bistochastic.errors import KeyFileError
from bistochastic.scope import FORMAT
from bistochastic.secret import KEY_BYTES, Secret

__all__ = ["PathLike", "read", "write"]

PathLike = str | os.PathLike[str]

FILE_PREFIX = f"bistochastic-key-{FORMAT}:".encode()
FILE_LENGTH = len(FILE_PREFIX) + 2 * KEY_BYTES + 1 + 8


def read(path: PathLike) -> Secret:
    """The key in a file that `write` made; a link, or what others may read, is refused."""
    key, fault = _parsed(_content(path))
    if fault:
        raise KeyFileError(f"Key file {os.fspath(path)!r} {fault}. Restore it from a copy.")
    return key


def write(path: PathLike, secret: Secret) -> None:
    """A new file with the key, on the disk before this returns, or none at all."""
    where, line = f"Key file {os.fspath(path)!r}", _line(secret)
    try:
        descriptor = _opened(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    except OSError as error:
        raise KeyFileError(f"{where} cannot be created: {error.strerror}.") from error
    try:
        with open(descriptor, "wb") as file:
            if os.name == "posix":
                os.fchmod(descriptor, 0o600)  # whatever the umask took away
            file.write(line.reveal() + b"\n")
            file.flush()
            os.fsync(descriptor)
        _settle(Path(path).parent)
    except BaseException as error:  # an interrupted write, too, leaves no half of a key
        os.unlink(path)  # O_EXCL made it, so it is ours
        if isinstance(error, OSError):
            raise KeyFileError(f"{where} cannot be written: {error.strerror}.") from error
        raise


def _settle(folder: Path) -> None:
    """Wait until the disk has the new name too, where a folder can be waited for."""
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _opened(path: PathLike, flags: int) -> int:
    """A descriptor of the very file, never of one that a link points to."""
    for name in ("O_NOFOLLOW", "O_CLOEXEC", "O_BINARY", "O_NONBLOCK"):  # where they exist
        flags |= getattr(os, name, 0)
    return os.open(path, flags, 0o600)


def _content(path: PathLike) -> Secret:
    """The line in a key file that nobody else can read or change."""
    where = f"Key file {os.fspath(path)!r}"
    try:
        if stat.S_ISLNK(os.lstat(path).st_mode):  # O_NOFOLLOW refuses it too, but not on Windows
            raise KeyFileError(f"{where} is a symbolic link. Give the file itself.")
        descriptor = _opened(path, os.O_RDONLY)
        try:
            mode = os.fstat(descriptor).st_mode  # of what is read, whatever its name means by now
            if not stat.S_ISREG(mode):
                raise KeyFileError(f"{where} is not a regular file.")
            if os.name == "posix" and mode & 0o077:
                raise KeyFileError(f"{where} is open to others. Run `chmod 600` on it.")
            content = Secret(os.read(descriptor, 4 * FILE_LENGTH))
        finally:
            os.close(descriptor)
        return Secret(content.reveal().removesuffix(b"\n").removesuffix(b"\r"))
    except OSError as error:
        raise KeyFileError(f"{where} cannot be read: {error.strerror}.") from error


def _parsed(line: Secret) -> tuple[Secret, str]:
    """The key in the line of a key file, and what is wrong, in words that show none of it."""
    length, key = len(line.reveal()), Secret(line.reveal()[len(FILE_PREFIX) :])
    if not line.reveal().startswith(FILE_PREFIX[:length]):
        return key, "does not hold a key, or one of another version"
    if length != FILE_LENGTH:
        return key, f"is cut short or too long: {length} characters, not {FILE_LENGTH}"
    if not re.fullmatch(rb"[0-9a-f]{64}:[0-9a-f]{8}", key.reveal()):
        return key, "holds characters that a key does not have"
    key = Secret(bytes.fromhex(key.reveal()[: 2 * KEY_BYTES].decode()))
    return key, "" if line == _line(key) else "does not fit its checksum: it was changed"


def _line(secret: Secret) -> Secret:
    """The line of a key file: version, key and eight digits that tell when it was mistyped."""
    start = Secret(FILE_PREFIX + secret.reveal().hex().encode())
    checksum = hashlib.sha256(start.reveal()).hexdigest()[:8]
    return Secret(start.reveal() + b":" + checksum.encode())
