"""A folder that appears whole or not at all.

What is written goes into a hidden folder beside the place where it shall be, and takes its name in
one step when all of it has reached the disk. A process that is killed leaves the hidden folder,
which the next one for the same place removes; a lock tells it from one still being written.
"""

import errno
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from bistochastic.errors import ReleaseError

__all__ = ["appearing"]

ENDING = ".partial"


@contextmanager
def appearing(folder: str | Path) -> Iterator[Path]:
    """A hidden folder to fill, which becomes the given one when the block ends without an error."""
    final = Path(folder)
    refuse_occupied(final)
    parent = final.absolute().parent
    if not parent.is_dir():
        raise ReleaseError(f"There is no folder {str(parent)!r} to write {final.name!r} into.")
    sweep(final)
    try:
        hidden = Path(tempfile.mkdtemp(prefix=f".{final.name}.", suffix=ENDING, dir=parent))
    except OSError as error:
        raise ReleaseError(f"{str(final)!r} cannot be written: {error.strerror}.") from None
    lock = _locked(hidden)
    try:
        yield hidden
        for path in hidden.iterdir():
            _reach_disk(path)
        hidden.chmod(0o777 & ~_umask())
        _reach_disk(hidden)
        refuse_occupied(final)
        os.rename(hidden, final)
        _reach_disk(parent)
    except OSError as error:
        if error.errno in (errno.ENOTEMPTY, errno.EEXIST):
            refuse_occupied(final)
        raise ReleaseError(
            f"{str(final)!r} cannot be written: {error.strerror}. Nothing was published."
        ) from None
    finally:
        shutil.rmtree(hidden, ignore_errors=True)
        if lock is not None:
            os.close(lock)


def refuse_occupied(final: Path) -> None:
    """Refuse a place where something is already: a release is never written over."""
    if final.is_dir() and not final.is_symlink():
        if any(final.iterdir()):
            raise ReleaseError(
                f"The folder {str(final)!r} is not empty. A release is never written over: choose "
                f"another name, or move it away."
            )
    elif final.exists() or final.is_symlink():
        raise ReleaseError(f"{str(final)!r} exists and is no empty folder. Choose another name.")


def sweep(final: Path) -> None:
    """Remove what killed runs for the same place left behind."""
    for left in final.absolute().parent.glob(f".{_literal(final.name)}.*{ENDING}"):
        lock = _locked(left)
        if lock is None and os.name == "posix":
            continue  # somebody is still writing
        shutil.rmtree(left, ignore_errors=True)
        if lock is not None:
            os.close(lock)


def _literal(name: str) -> str:
    """A name whose special characters mean themselves in a pattern."""
    return "".join(f"[{mark}]" if mark in "*?[" else mark for mark in name)


def _locked(folder: Path) -> int | None:
    """A lock on a folder, which the system releases when its process ends; none if it is taken."""
    if os.name != "posix":
        return None
    import fcntl

    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(descriptor)
        else:
            return descriptor
    return None


def _reach_disk(path: Path) -> None:
    if os.name != "posix" and path.is_dir():
        return  # where a folder cannot be waited for
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
