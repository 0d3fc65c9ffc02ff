"""The picture at the top of the README: `python docs/hero.py` writes it anew.

Nothing in it is drawn by lot: reports are what the matrix makes of the shares, and intervals are
those that five thousand respondents give.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import bistochastic as bs
from bistochastic.report.drawing.bars import Guess, Shares, posterior, shares
from bistochastic.report.drawing.heat import heat
from bistochastic.report.drawing.sheet import COLOURS, WIDTH

PICTURE = Path(__file__).parent / "assets" / "hero.svg"
LABELS = ["none", "primary", "lower sec.", "upper sec.", "degree"]
TRUTH = np.array([0.04, 0.11, 0.26, 0.35, 0.24])
ROWS = 5000
DARK = {"ink": "#e6edf3", "soft": "#9da7b1", "line": "#3d444d", "accent": "#4fb8b1",
        "second": "#e08c4a", "third": "#b392f0", "paper": "#0d1117"}  # fmt: skip
HEADINGS = (
    ("1", "A matrix says what is reported"),
    ("2", "An intruder learns this much"),
    ("3", "An analyst gets the shares back"),
)
SAID = (
    (),
    (
        "Of 100 people reported without schooling,",
        "about 31 have none: a report can be denied.",
        "The mark is what was known before.",
    ),
    (
        "From 5,000 reports and the public matrix,",
        "without bias, with intervals that hold",
        "the truth 19 times of 20.",
    ),
)
GAP, TOP, HEIGHT = 24, 40, 320
BELOW = 232  # where what is said of a drawing begins


def drawings(channel: bs.Bistochastic) -> Iterator[str]:
    """The matrix, what it hides, and what it gives back."""
    yield heat(channel, LABELS, name="schooling").svg
    told = bs.disclosure(channel, TRUTH)
    after = told.posterior.to_dense().T
    yield posterior(
        [
            Guess(label, float(TRUTH[v]), float(after[v, v]), LABELS[int(after[v].argmax())],
                  float(after[v].max()), float(told.deniability[v]))
            for v, label in enumerate(LABELS)
        ],
        name="schooling", prior="shares are as they are",
    ).svg  # fmt: skip
    reported = channel.rmatvec(TRUTH)
    spread = np.diag(reported) - np.outer(reported, reported)
    errors = np.sqrt(np.diag(channel.rsolve(channel.rsolve(spread).T)) / ROWS)
    yield shares(
        [
            Shares(label, float(reported[v]), float(TRUTH[v]),
                   float(TRUTH[v] - 1.96 * errors[v]), float(TRUTH[v] + 1.96 * errors[v]),
                   float(TRUTH[v]))
            for v, label in enumerate(LABELS)
        ],
        name="schooling",
    ).svg  # fmt: skip


def hero() -> str:
    """The three of them side by side, in the light and in the dark."""
    channel = bs.calibrate("mixture", 5, beta=0.6)
    wide = 3 * WIDTH + 2 * GAP
    panels = []
    for place, (drawing, (number, said)) in enumerate(
        zip(drawings(channel), HEADINGS, strict=True)
    ):
        x = place * (WIDTH + GAP)
        tall = float(re.search(r'viewBox="0 0 \S+ (\S+)"', drawing)[1])
        panels.append(
            f'<text x="{x}" y="22" font-size="17" font-weight="600" fill="var(--ink)">'
            f'<tspan fill="var(--accent)">{number}</tspan>  {said}</text>'
            + drawing.replace(
                "<svg ", f'<svg x="{x}" y="{TOP}" width="{WIDTH}" height="{tall:g}" ', 1
            )
            + "".join(
                f'<text x="{x + 8}" y="{BELOW + 21 * line}" font-size="14" fill="var(--soft)">'
                f"{sentence}</text>"
                for line, sentence in enumerate(SAID[place])
            )
        )
    light, dark = (
        "".join(f"--{name}:{colour};" for name, colour in colours.items())
        for colours in (COLOURS, DARK)
    )
    style = f":root{{{light}}}@media(prefers-color-scheme:dark){{:root{{{dark}}}}}"
    said = (
        "A column of schooling through a matrix that spends six tenths of the bits there are: "
        "how truths are reported, how likely a report is true, and what an analyst estimates."
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {HEIGHT}" role="img" '
        f'font-family="system-ui, -apple-system, Segoe UI, Helvetica, Arial, sans-serif">'
        f"<title>One column, three readers</title><desc>{said}</desc><style>{style}</style>"
        f"{''.join(panels)}</svg>\n"
    )


if __name__ == "__main__":
    PICTURE.write_text(hero(), encoding="utf-8")
