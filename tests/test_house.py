"""The house keeps its rules: where randomness comes from, what nobody takes, how long a room is."""

import ast
import inspect
import re

import pytest

import bistochastic as bs
from tests.pages import ROOT

SOURCES = sorted((ROOT / "src").rglob("*.py"))
TEXTS = [
    path
    for folder in (".", "docs", "src", "tests", "changelog.d", "requirements", ".ci")
    for path in ((ROOT / folder).glob("*") if folder == "." else (ROOT / folder).rglob("*"))
    if path.is_file()
    and path.suffix not in {".pyc", ".lock"}
    and path.name not in {"LICENSE", ".git"}
]
SEED = re.compile(r"seed|random_state|\brng\b|generator", re.IGNORECASE)


def name_of(path) -> str:
    """How a file is called in the output of the tests."""
    return str(path.relative_to(ROOT))


def imports(tree: ast.AST) -> set[str]:
    """All modules that a file imports, wherever in it."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= {f"{node.module}.{alias.name}" for alias in node.names} | {str(node.module)}
        elif isinstance(node, ast.Attribute):
            found.add(ast.unparse(node))
    return found


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_no_generator_of_simulations_is_near_the_data(path):
    """Neither `random` nor `numpy.random` is imported or reached anywhere in the package."""
    reached = imports(ast.parse(path.read_text(encoding="utf-8")))
    unsafe = {"random", "numpy.random", "np.random"}
    assert not {name for name in reached if name in unsafe or name.startswith("numpy.random.")}


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_no_room_is_too_long(path):
    """A file beyond 500 lines is usually two rooms."""
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 500


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_every_file_says_what_it_holds(path):
    """A module without a docstring is a room without a name on its door."""
    assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))


def test_nobody_takes_a_seed():
    """No public function, constructor or method has a parameter that is a seed by any name."""
    for name in bs.__all__:
        thing = getattr(bs, name)
        callables = [thing]
        if inspect.isclass(thing):
            callables += [f for _, f in inspect.getmembers(thing, inspect.isfunction)]
        for function in callables:
            try:
                parameters = inspect.signature(function).parameters
            except ValueError:  # a class that is built in C, as a subclass of float may be
                continue
            assert not [p for p in parameters if SEED.search(p)], f"{name}: {function}"


@pytest.mark.parametrize("path", sorted((ROOT / "requirements").glob("*.lock")), ids=name_of)
def test_a_lock_names_versions_and_hashes_only(path):
    """No lock names a host, and every requirement has a hash."""
    text = path.read_text(encoding="utf-8")
    assert "://" not in text
    assert "index" not in text
    requirements = re.split(r"\n(?=\S)", text.strip())
    assert [r.split()[0] for r in requirements if "--hash=sha256:" not in r] == []


def test_locks_agree():
    """A package has the same versions in every lock, so that installing one changes no other."""
    versions: dict[str, set[tuple[str, ...]]] = {}
    for path in (ROOT / "requirements").glob("*.lock"):
        lines = re.findall(r"^(\S+)==(\S+) ", path.read_text(encoding="utf-8"), re.MULTILINE)
        for package in {package for package, _ in lines}:
            pinned = tuple(sorted({version for name, version in lines if name == package}))
            versions.setdefault(package, set()).add(pinned)
    assert {package: pinned for package, pinned in versions.items() if len(pinned) > 1} == {}


def test_nothing_points_to_one_machine():
    """No text holds a path of somebody's machine."""
    paths = re.compile(r"(?<![\w.<])/(home|root|Users|work|tmp|opt)/")
    found = [
        name_of(path)
        for path in TEXTS
        if path.name != "test_house.py" and paths.search(path.read_text("utf-8", errors="ignore"))
    ]
    assert found == []
