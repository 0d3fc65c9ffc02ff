"""The facade lists names, all of them, in order, and each says what it is."""

import ast
import inspect
import subprocess
import sys

import pytest

import bistochastic as bs
from tests.pages import ROOT

FACADE = (ROOT / "src" / "bistochastic" / "__init__.py").read_text(encoding="utf-8")


def homes() -> dict[str, str]:
    """The module of each name, as type checkers read the facade."""
    checked = next(node for node in ast.parse(FACADE).body if isinstance(node, ast.If))
    return {
        alias.name: str(node.module).removeprefix("bistochastic.")
        for node in checked.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


def test_all_is_sorted_and_exact():
    """`__all__`, what checkers import and what is imported when asked for are the same names."""
    assert bs.__all__ == sorted(set(bs.__all__))
    assert sorted(homes()) == bs.__all__
    assert homes() == bs._HOME


def test_names_are_found_where_they_live():
    """Asked for, each comes from its own module and is listed by `dir`."""
    for name, home in homes().items():
        assert getattr(bs, name).__module__ in (f"bistochastic.{home}", "bistochastic.secret"), name
        assert name in dir(bs)
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        bs.nothing  # noqa: B018


def test_a_room_does_not_take_the_name_of_a_function():
    """`bs.verify` is the function, whoever imported the module of that name before."""
    import bistochastic.verify  # noqa: F401

    assert callable(bs.verify)


def test_the_import_of_the_package_is_light():
    """Neither tables nor optimisers are loaded before they are used."""
    program = "import sys, bistochastic; print(*sorted({m.partition('.')[0] for m in sys.modules}))"
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert not {"numpy", "scipy", "polars", "pydantic", "cryptography"} & set(run.stdout.split())


def test_help_loads_nothing_heavy():
    """The command line answers before anything is imported that it does not need."""
    program = (
        "import sys\nfrom bistochastic.cli import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit:\n    pass\n"
        "print(*sorted({m.partition('.')[0] for m in sys.modules}))"
    )
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert not {"numpy", "scipy", "polars", "pydantic", "rich"} & set(run.stdout.split())


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
