"""Reports to look at, and how a page is read."""

from html.parser import HTMLParser

import numpy as np
import polars as pl

import bistochastic as bs

KEY = bs.Key(bytes(range(32)))
VOID = {"meta", "br", "hr", "img", "link", "input", "path", "rect", "circle", "line"}


class Read(HTMLParser):
    """A page as its elements: tags that are open, texts in them, ids and links."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.ids, self.links, self.tags = [], [], [], []
        self.headings, self.outside, self.texts = [], [], []
        self.labelled = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        said = dict(attrs)
        self.tags.append((tag, said))
        if "id" in said:
            self.ids.append(said["id"])
        for name in ("href", "src", "srcset", "action", "data", "poster", "xlink:href"):
            if name in said:
                self.links.append(said[name])
        if "aria-labelledby" in said:
            self.labelled.append(said["aria-labelledby"])
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)
        if self.open and self.open[-1] in ("h1", "h2", "h3", "h4"):
            self.headings.append((int(self.open[-1][1]), data))

    @property
    def text(self):
        """All that is said, in one line."""
        return " ".join(" ".join(self.texts).split())


def survey(rows=2000):
    """A table with every kind of column, of people who do not exist."""
    choose = np.random.default_rng(5)
    return pl.DataFrame(
        {
            "person": [f"p{row}" for row in range(rows)],
            "house": [f"h{row // 3}" for row in range(rows)],
            "region": choose.choice(["coast", "hills", "plain"], rows, p=[0.5, 0.3, 0.2]),
            "school": choose.choice(["none", "some", "degree"], rows, p=[0.2, 0.5, 0.3]),
            "smoker": choose.choice(["no", "yes"], rows, p=[0.8, 0.2]),
            "ill": pl.Series(["no", "yes", None]).gather(choose.choice(3, rows, p=[0.7, 0.2, 0.1])),
            "income": np.exp(choose.normal(7.5, 0.5, rows)).round(),
            "hours": choose.integers(0, 60, rows),
            "rent": choose.normal(700, 100, rows).round(),
            "weight": choose.uniform(0.5, 1.5, rows).round(3),
        }
    )


def plan(**more):
    """What is done to it: every treatment there is."""
    label = {"kind": "nominal", "role": "confidential"}
    return bs.Plan(
        release="a survey of 2026",
        columns={
            "person": {"role": "identifier"},
            "house": {"role": "household", "pseudonym": True},
            "region": label | {"domain": ["coast", "hills", "plain"], "missing": "refuse",
                               "matrix": "mixture", "beta": 0.4},
            "school": label | {"kind": "ordinal", "domain": ["none", "some", "degree"],
                               "missing": "refuse", "matrix": "blocks", "sizes": [2, 1]},
            "smoker": label | {"domain": ["no", "yes"], "missing": "refuse"},
            "ill": label | {"domain": ["no", "yes"]},
            "income": {"role": "confidential", "kind": "numeric", "how": "permute",
                       "matrix": "blocks", "k": 50},
            "hours": {"role": "key", "kind": "numeric", "how": "draw", "matrix": "window",
                      "width": 40},
            "rent": {"role": "key", "kind": "numeric", "how": "average", "matrix": "blocks",
                     "k": 5},
            "weight": {"role": "weight"},
        } | more,
        together=[{"columns": ["smoker", "ill"], "matrix": "mixture", "epsilon": 2.0}],
    )  # fmt: skip


def released(table=None):
    """The release of that table."""
    return bs.protect(survey() if table is None else table, plan(), KEY)
