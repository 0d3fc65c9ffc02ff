"""The facade lists names, all of them, in order, and each says what it is."""

import inspect
import re

import pytest

import bistochastic as bs
from tests.pages import ROOT

FACADE = (ROOT / "src" / "bistochastic" / "__init__.py").read_text(encoding="utf-8")


def test_all_is_sorted_and_exact():
    """`__all__` holds what the facade imports: each once, sorted, nothing else."""
    imported = [
        name
        for found in re.findall(r"^from .+ import (\([^)]*\)|.+)$", FACADE, re.MULTILINE)
        for name in re.findall(r"\w+", found)
    ]
    assert bs.__all__ == sorted(set(bs.__all__))
    assert sorted(imported) == bs.__all__


def test_nothing_is_computed_in_the_facade():
    """The facade imports from the package, and says its version."""
    statements = [line for line in FACADE.splitlines() if re.match(r"\S", line)]
    allowed = re.compile(r'from bistochastic\.|__all__ = \[$|[\])]$|__version__ = "|"""')
    assert [line for line in statements if not allowed.match(line)] == []


@pytest.mark.parametrize("name", bs.__all__)
def test_every_public_object_says_what_it_is(name):
    """The first line of each docstring is a sentence."""
    first = (inspect.getdoc(getattr(bs, name)) or "").split("\n")[0]
    assert first.endswith("."), f"{name}: {first!r}"
    assert not first.startswith(f"{name}("), "a dataclass without a docstring shows its signature"


@pytest.mark.parametrize("name", [name for name in bs.__all__ if name[0].isupper()])
def test_every_public_member_says_what_it_is(name):
    """So does each public member, there or where it is declared; fields have only names."""
    thing = getattr(bs, name)
    for member, value in inspect.getmembers(thing):
        ours = getattr(value, "__module__", None) or getattr(
            getattr(value, "fget", None), "__module__", ""
        )
        if member.startswith("_") or not str(ours).startswith("bistochastic"):
            continue
        first = (inspect.getdoc(value) or "").split("\n")[0]
        assert first.endswith((".", ":")), f"{name}.{member}: {first!r}"
