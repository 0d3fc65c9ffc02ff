"""What only the original tells: for readers inside."""

from bistochastic.report.drawing.numbers import decimal
from bistochastic.report.drawing.sheet import Table
from bistochastic.report.material import Material
from bistochastic.report.page import Part

__all__ = ["inside"]

SHOWN = 20  # pairs that are listed


def inside(material: Material) -> list[Part]:
    """Risks and losses measured against the original; none in a public report."""
    if not material.internal:
        return []
    return [_pairs(material)] if material.pairs else []


def _pairs(material: Material) -> Part:
    """The pairs of columns whose relation changed most."""
    worst = sorted(material.pairs, key=lambda pair: pair.reported - pair.original)
    lines = tuple(
        (f"{pair.first}, {pair.second}", decimal(pair.original), decimal(pair.reported),
         decimal(pair.reported - pair.original))
        for pair in worst[:SHOWN]
    )  # fmt: skip
    return Part(
        "Pairs most changed",
        texts=(
            "How strongly two columns go together (Cramér’s V, 0 for not at all, 1 for as one). "
            "Nearer to the original is better for analysts. Reported columns go together less than "
            "the true ones, and an estimate takes that back.",
        ),
        table=Table(("pair", "original", "reported", "change"), lines, len(worst) - len(lines)),
    )
