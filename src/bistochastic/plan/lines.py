"""Where in a TOML text a key stands, so that a mistake can be pointed at."""

import re

__all__ = ["line_of", "lines_of"]

Path = tuple[str | int, ...]

HEADER = re.compile(r"^\s*(\[\[|\[)\s*(?P<name>.+?)\s*\]{1,2}\s*(#.*)?$")
KEY = re.compile(
    r"""^\s*(?P<name>(?:"[^"]*"|'[^']*'|[\w-]+)(?:\s*\.\s*(?:"[^"]*"|'[^']*'|[\w-]+))*)\s*="""
)
PART = re.compile(r""""([^"]*)"|'([^']*)'|([\w-]+)""")
STRING = re.compile(r'"""|\'\'\'|"(?:[^"\\]|\\.)*"|\'[^\']*\'|#.*|[\[\]{}]')


def lines_of(text: str) -> dict[Path, int]:
    r"""The line, counted from one, of every table header and every key that starts a line.

    >>> lines_of('release = "r"\n[columns.sex]\nrole = "key"')[("columns", "sex", "role")]
    3
    """
    found: dict[Path, int] = {}
    table: Path = ()
    tables: dict[Path, int] = {}
    depth, quote = 0, ""
    for number, line in enumerate(text.splitlines(), start=1):
        if not depth and not quote:
            header = HEADER.match(line)
            if header:
                table = _parts(header["name"])
                if header[1] == "[[":
                    tables[table] = tables.get(table, -1) + 1
                    table = (*table, tables[table])
                found.setdefault(table, number)
                continue
            key = KEY.match(line)
            if key:
                found.setdefault((*table, *_parts(key["name"])), number)
        depth, quote = _after(line, depth, quote)
    return found


def line_of(lines: dict[Path, int], path: Path) -> int | None:
    """The line of a key or, where it does not start one, of the nearest thing that holds it."""
    for length in range(len(path), 0, -1):
        if path[:length] in lines:
            return lines[path[:length]]
    return None


def _parts(name: str) -> Path:
    return tuple(double or single or bare for double, single, bare in PART.findall(name))


def _after(line: str, depth: int, quote: str) -> tuple[int, str]:
    """How many brackets, and which long string, are open after a line."""
    at = 0
    while at < len(line):
        if quote:
            end = line.find(quote, at)
            if end < 0:
                return depth, quote
            at, quote = end + 3, ""
            continue
        mark = STRING.search(line, at)
        if not mark or mark[0].startswith("#"):
            return depth, quote
        at = mark.end()
        if mark[0] in ('"""', "'''"):
            quote = mark[0]
        elif mark[0] in "[{":
            depth += 1
        elif mark[0] in "]}":
            depth -= 1
    return depth, quote
