"""Plant a fault in the running package: one piece of one function's source is another for a while.

The code of the function itself is exchanged, so whoever holds it, under whatever name, runs the
faulty one; afterwards it is put back.
"""

import importlib
import inspect
import tempfile
import textwrap
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from bistochastic import BistochasticError


@dataclass(frozen=True)
class Fault:
    """A fault, what it does to which functions, and the ordinary test that must catch it."""

    name: str
    patches: tuple[tuple[str, str, str], ...]  # where (module:function), what stands there, instead
    killer: object  # a test function
    arguments: tuple = ()


def function_at(where):
    """A function or method, without what a decorator made of it."""
    module, _, path = where.partition(":")
    found = importlib.import_module(f"bistochastic.{module}")
    for name in path.split("."):
        found = inspect.getattr_static(found, name)
    found = getattr(found, "__func__", found)
    return getattr(found, "fget", found)


def rewritten(function, old, new):
    """The code of a function with another piece of source; the piece stands there exactly once."""
    source = textwrap.dedent(inspect.getsource(function))
    assert source.count(old) == 1, f"{old!r} stands {source.count(old)} times in {function}"
    lines = source.replace(old, new).splitlines()
    start = next(at for at, line in enumerate(lines) if line.startswith("def "))
    names = {}
    exec("\n".join(lines[start:]), dict(function.__globals__), names)
    (made,) = names.values()
    return made.__code__


@contextmanager
def planted(fault):
    """The package with the fault in it."""
    before = []
    try:
        for where, old, new in fault.patches:
            function = function_at(where)
            before.append((function, function.__code__))
            function.__code__ = rewritten(function, old, new)
        yield
    finally:
        for function, code in reversed(before):
            function.__code__ = code


def run(test, arguments):
    """Run a test as pytest would, with the two fixtures that such tests ask for."""
    asked = inspect.signature(test).parameters
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as folder:
        fixtures = {"monkeypatch": patch, "tmp_path": Path(folder)}
        wanted = {name: thing for name, thing in fixtures.items() if name in asked}
        given = [name for name in asked if name not in wanted]
        test(**wanted, **dict(zip(given, arguments, strict=True)))


def caught(fault):
    """Whether the test that must catch the fault does: it fails, or the package refuses.

    Any other exception goes on its way: a fault that cannot run is no fault.
    """
    with planted(fault):
        try:
            run(fault.killer, fault.arguments)
        except (AssertionError, BistochasticError, pytest.fail.Exception):
            return True
        except ExceptionGroup as several:  # as laws over random inputs raise that fail in two ways
            return not several.split(AssertionError)[1]
    return False
