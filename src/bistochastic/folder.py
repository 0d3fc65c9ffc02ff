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
ATTEMPTS = 5  # another run that sweeps may take a folder between its making and its lock


@contextmanager
def appearing(folder: str | Path) -> Iterator[Path]:
    """A hidden folder to fill, which becomes the given one when the block ends without an error."""
    final = Path(folder).absolute()
    refuse_occupied(final)
    parent = final.parent
    if not parent.is_dir():
        raise ReleaseError(f"There is no folder {str(parent)!r} to write {final.name!r} into.")
    sweep(final)
    try:
        hidden, lock = _begun(final)
    except OSError as error:
        raise _unwritable(final, error) from None
    try:
        yield hidden
        for path in hidden.iterdir():
            _reach_disk(path)
        hidden.chmod(0o777 & ~_umask())
        _reach_disk(hidden)
        refuse_occupied(final)
        os.rename(hidden, final)
        with suppress(OSError):  # it is published, even where its parent cannot be waited for
            _reach_disk(parent)
    except OSError as error:
        if error.errno in (errno.ENOTEMPTY, errno.EEXIST):
            refuse_occupied(final)
        raise _unwritable(final, error) from None
    finally:
        shutil.rmtree(hidden, ignore_errors=True)
        if lock is not None:
            os.close(lock)


def refuse_occupied(final: Path) -> None:
    """Refuse a place where something is already: a release is never written over."""
    try:
        _refuse_something(final)
    except OSError as error:
        raise _unwritable(final, error) from None


def _refuse_something(final: Path) -> None:
    if not os.path.lexists(final):
        return  # asked first: what appears from now on is met by the last step
    if final.is_symlink() or not final.is_dir():
        raise ReleaseError(f"{str(final)!r} exists and is no empty folder. Choose another name.")
    if any(final.iterdir()):
        raise ReleaseError(
            f"The folder {str(final)!r} is not empty. A release is never written over: choose "
            f"another name, or move it away."
        )


def sweep(final: Path) -> None:
    """Remove what killed runs for the same place left behind."""
    for left in final.absolute().parent.glob(f".{_literal(final.name)}.*{ENDING}"):
        lock = _locked(left)
        if lock is None and os.name == "posix":
            continue  # somebody is still writing
        shutil.rmtree(left, ignore_errors=True)
        if lock is not None:
            os.close(lock)


def _begun(final: Path) -> tuple[Path, int | None]:
    """A new hidden folder and its lock, which nobody took for a killed run's before it was."""
    for _ in range(ATTEMPTS):
        hidden = Path(tempfile.mkdtemp(prefix=f".{final.name}.", suffix=ENDING, dir=final.parent))
        lock = _locked(hidden)
        if hidden.is_dir() and (lock is not None or os.name != "posix"):
            break
    return hidden, lock


def _unwritable(final: Path, error: OSError) -> ReleaseError:
    return ReleaseError(
        f"{str(final)!r} cannot be written: {error.strerror}. Nothing was published. Make room "
        f"there, or choose another place."
    )


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
