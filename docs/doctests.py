"""Examples in docstrings become blocks of code on the pages: `>>>` alone is not Markdown."""

import re
from typing import Any

from griffe import Extension, Object

EXAMPLE = re.compile(r"^>>> .*(?:\n.*\S.*)*", re.MULTILINE)


class Doctests(Extension):
    """Fences each run of lines that starts with a prompt."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        """Fence the examples of one docstring, before it is parsed."""
        if obj.docstring is not None:
            fenced = EXAMPLE.sub(lambda found: f"```pycon\n{found[0]}\n```", obj.docstring.value)
            obj.docstring.value = fenced
