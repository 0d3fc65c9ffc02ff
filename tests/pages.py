"""Pages are run like programs: their Python and their commands, against the output they show.

A block of `text` right after a block of `python` or `console` is what that block prints, where an
ellipsis stands for anything. All blocks of a page share their names and their folder, as they do in
a reader's mind.
"""

import contextlib
import io
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
FENCE = re.compile(
    r"^```python\n(?P<code>.*?)^```\n(?:\n```text\n(?P<shown>.*?)^```\n)?", re.MULTILINE | re.DOTALL
)
CONSOLE = re.compile(FENCE.pattern.replace("python", "console"), FENCE.flags)


class Block(NamedTuple):
    """Python that stands on a page, the line it starts at, and the output shown below it."""

    code: str
    line: int
    shown: str | None


def blocks(page: Path, fence: re.Pattern[str] = FENCE) -> list[Block]:
    """The blocks of a page in order."""
    text = page.read_text(encoding="utf-8")
    return [
        Block(found["code"], text.count("\n", 0, found.start()) + 2, found["shown"])
        for found in fence.finditer(text)
    ]


def type_in(page: Path, folder: Path) -> None:
    """Type the commands of a page into a shell, one block after the other, in an empty folder."""
    bin_ = Path(sys.executable).parent
    search = f"{bin_}{os.pathsep}{os.environ['PATH']}"
    for code, line, shown in blocks(page, CONSOLE):
        where = f"{page.relative_to(ROOT)}, line {line}"
        typed = subprocess.run(
            ["sh", "-ec", code], cwd=folder, env=os.environ | {"PATH": search},
            capture_output=True, text=True, timeout=120,
        )  # fmt: skip
        assert typed.returncode == 0, f"{where} ends with {typed.returncode}: {typed.stderr}"
        if shown is not None:
            told = "\n".join(text.rstrip() for text in typed.stdout.strip("\n").split("\n")) + "\n"
            pattern = ".*?".join(map(re.escape, shown.split("…")))
            assert re.fullmatch(pattern, told, re.DOTALL), f"{where} prints something else:\n{told}"


def run(page: Path) -> None:
    """Run a page; what its blocks print must be what it shows, and nothing may go unshown."""
    names: dict[str, object] = {"__name__": "__page__"}
    for code, line, shown in blocks(page):
        where = f"{page.relative_to(ROOT)}, line {line}"
        padded = "\n" * (line - 1) + code  # so that a traceback names the line of the page
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(padded, str(page), "exec"), names)
        assert printed.getvalue() == (shown or ""), f"{where} prints something else"
