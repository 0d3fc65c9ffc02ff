"""What happens to a page while it is built: pictures are drawn, formulas become MathML.

Both happen here, at build time, so that a page needs no script and nothing from the network.
"""

import html
import re
import sys
from pathlib import Path
from typing import Any

from latex2mathml.converter import convert
from mkdocs.structure.files import File

sys.path.insert(0, str(Path(__file__).parent))
import pictures  # a neighbour of this file, which mkdocs loads by its path

MARK = re.compile(r"^<!-- (picture|gallery)(?:: (\w+))? -->$", re.MULTILINE)
FORMULA = re.compile(
    r'<(?P<tag>span|div) class="arithmatex">\\(?P<kind>[\(\[])(?P<tex>.*?)\\[\)\]]</(?P=tag)>',
    re.DOTALL,
)


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Put pictures where a page asks for them."""
    return MARK.sub(lambda mark: drawn(mark[1], mark[2]), markdown)


def on_files(files: Any, *, config: Any) -> Any:
    """Make the report of the demonstration, which a page links to."""
    files.append(File.generated(config, "demo-report.html", content=pictures.demonstration()))
    return files


def drawn(kind: str, name: str | None) -> str:
    """The HTML that a mark stands for."""
    return pictures.gallery() if kind == "gallery" else pictures.figure(str(name))


def on_page_content(content: str, **_: Any) -> str:
    """Turn the formulas of a page, docstrings included, into MathML."""
    return FORMULA.sub(lambda found: mathml(found["tex"], found["kind"]), content)


def mathml(tex: str, kind: str) -> str:
    """One formula, on a line of its own or within a sentence."""
    return convert(html.unescape(tex).strip(), display="block" if kind == "[" else "inline")
