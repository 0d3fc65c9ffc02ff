"""Pages are run like programs: their blocks of Python in order, against the output they show.

A block of `text` right after a block of `python` is what that block prints. All blocks of a page
share their names, as they do in a reader's mind.
"""

import contextlib
import io
import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
FENCE = re.compile(
    r"^```python\n(?P<code>.*?)^```\n(?:\n```text\n(?P<shown>.*?)^```\n)?", re.MULTILINE | re.DOTALL
)


class Block(NamedTuple):
    """Python that stands on a page, the line it starts at, and the output shown below it."""

    code: str
    line: int
    shown: str | None


def blocks(page: Path) -> list[Block]:
    """The blocks of a page in order."""
    text = page.read_text(encoding="utf-8")
    return [
        Block(found["code"], text.count("\n", 0, found.start()) + 2, found["shown"])
        for found in FENCE.finditer(text)
    ]


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
