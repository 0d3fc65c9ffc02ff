"""The reference of the commands as `--help` tells it; `python docs/commands.py` writes it."""

import re
from collections.abc import Iterator
from pathlib import Path

import click

from bistochastic.cli import main

__all__ = ["PAGE", "reference", "written"]

PAGE = Path(__file__).parent / "commands.md"
PLACE = re.compile(r"(<!-- commands -->\n).*?(\n<!-- end of commands -->)", re.DOTALL)
WIDTH = 80


def reference() -> str:
    """A heading and the help of each command, in the order of the work."""
    context = main.make_context("bistochastic", [], resilient_parsing=True)
    return "\n".join(f"## {name}\n\n```text\n{told}\n```\n" for name, told in helps(context))


def helps(context: click.Context) -> Iterator[tuple[str, str]]:
    """The name of each command and what it says of itself."""
    for name in main.list_commands(context):
        below = click.Context(main.commands[name], context, name, terminal_width=WIDTH)
        yield name, main.commands[name].get_help(below)


def written(text: str) -> str:
    """The page with the reference at its place."""
    return PLACE.sub(lambda found: f"{found[1]}\n{reference()}{found[2]}", text)


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
