"""What a release does to a file and to each column, in plain words with the numbers."""

import math
from collections import Counter
from collections.abc import Sequence

from bistochastic.manifest import Group, Guarantee, Manifest, Published
from bistochastic.report.drawing.numbers import counted, decimal, epsilon, share
from bistochastic.report.page import Fact, Sentence

__all__ = ["DONE", "RANKED", "facts", "listed", "of_columns", "of_file", "of_ranks", "recovery"]

RANKED = ("permuted", "drawn", "averaged")
DONE = {
    "randomised": "randomised",
    "together": "randomised together",
    "permuted": "permuted",
    "drawn": "drawn anew",
    "averaged": "averaged",
    "untouched": "published as it is",
    "pseudonyms": "replaced by pseudonyms",
    "dropped": "left out",
}


def of_file(manifest: Manifest, rows: int) -> str:
    """The whole in one sentence or two."""
    many: Counter[str] = Counter(column.treatment for column in manifest.columns)
    told = [f"{many[name]} {says}" for name, says in DONE.items() if many[name]]
    whole = (
        f"{counted(rows)} rows and {plural(len(manifest.columns), 'column')} were treated: "
        f"{listed(told)}."
    )
    totals = manifest.totals
    if not totals.max_bits:
        return f"{whole} No category was randomised."
    spent = (
        f" Of what one person’s categories tell, {decimal(totals.bits)} of "
        f"{decimal(totals.max_bits)} bits are left open ({share(totals.joint_beta)} of perfect "
        f"secrecy)"
    )
    if math.isinf(totals.epsilon):
        return f"{whole}{spent}; epsilon in total is infinite, so it limits nothing."
    return f"{whole}{spent}; epsilon adds up to {decimal(totals.epsilon)}."


def of_columns(manifest: Manifest, rows: int) -> list[Sentence]:
    """A sentence for each column, in the order of the file."""
    return [_of_column(column, manifest, rows) for column in manifest.columns]


def _of_column(column: Published, manifest: Manifest, rows: int) -> Sentence:
    group = manifest.group(column.name)
    if column.treatment == "untouched":
        return Sentence(column.name, "is published as it is: it is not protected.")
    if column.treatment == "dropped":
        return Sentence(column.name, "is left out.")
    if column.treatment == "pseudonyms":
        return Sentence(
            column.name,
            "is replaced by pseudonyms: the same value has the same pseudonym, and only the key "
            "leads back.",
        )
    if group is not None:
        others = [name for name in group.columns if name != column.name]
        return Sentence(
            column.name,
            f"is randomised together with {listed(others)}, as one: "
            f"{_randomised(group.guarantee, 'combination')}",
        )
    if column.treatment in RANKED:
        return Sentence(column.name, of_ranks(column, rows))
    if column.guarantee is None:
        return Sentence(column.name, "is randomised.")
    return Sentence(column.name, f"is randomised: {_randomised(column.guarantee, 'label')}")


def _randomised(given: Guarantee, what: str) -> str:
    """What a channel does to a category, and what an intruder and a law of privacy may say."""
    if given.truth_mean >= 1:
        return "every report is the truth, so it protects nothing."
    told = f"{share(given.truth_mean)} of the time"
    if given.truth_min < given.truth_mean - 5e-4:
        told += f" ({share(given.truth_min)} where it is told least)"
    die = ""
    if given.sides is not None:
        die = (
            f"; even the report that tells most leaves a die of {given.sides:.1f} sides to guess"
            if given.deniable_bits
            else "; some report leaves no doubt"
        )
    return (
        f"of {counted(given.categories)} {what}s, the true one is reported {told}. A report "
        f"leaves {decimal(given.bits)} of {decimal(given.max_bits)} bits open{die}. Epsilon is "
        f"{epsilon(given.epsilon)}."
    )


def of_ranks(column: Published, rows: int) -> str:
    """What was done to a column of numbers."""
    given = column.guarantee
    if given is None:
        return f"is {DONE[column.treatment]}, but nobody has a number in it."
    alike = f"about {decimal(float(f'{2**given.bits:.3g}'))}" if given.bits < 40 else "very many"
    missing = rows - (column.individuals or 0)
    said = {
        "permuted": f"keeps every number, once each, but at another row: it may come from any of "
        f"{alike} rows as far as the file tells ({decimal(given.bits)} bits each)",
        "drawn": f"has in each row the number of somebody drawn at random, one of {alike} near by "
        f"({decimal(given.bits)} bits each)",
        "averaged": f"has in each row a mean over {alike} people near by "
        f"({decimal(given.bits)} bits each)",
    }[column.treatment]
    if missing > 0:
        said += (
            f"; {plural(missing, 'missing value')} {'stays' if missing == 1 else 'stay'} missing"
        )
    return f"{said}. Who is near is told by {_order(column)}."


def _order(column: Published) -> str:
    if column.by in (None, "value"):
        return "the values themselves"
    return "the order of the file" if column.by == "position" else f"the column {column.by}"


def facts(given: Guarantee, matrix: str, says: str, *, ranks: bool = False) -> list[Fact]:
    """What a channel guarantees, number by number."""
    bound = "at worst, " if given.bounded else ""
    found = [
        Fact("matrix", matrix, says),
        Fact("bits", f"{decimal(given.bits)} of {decimal(given.max_bits)}",
             "left open by a report, on average"),
        Fact("beta", decimal(given.beta), "of 1, which is perfect secrecy"),
        Fact("least bits", decimal(given.min_row_bits), "of the value that is protected worst"),
        Fact("index epsilon" if ranks else "epsilon",
             decimal(given.epsilon) if ranks else epsilon(given.epsilon),
             "about who has a number, not about the number" if ranks
             else "limits what any reader can learn; smaller is stricter"),
        Fact("told true", share(given.truth_mean),
             "whatever the truth is" if given.truth_min == given.truth_mean
             else f"{bound}{share(given.truth_min)} where it is told least"),
    ]  # fmt: skip
    if given.sides is not None and not ranks:
        found.append(
            Fact("sides of the die", f"{given.sides:.1f}",
                 "for the report that tells most, all truths equally likely before")
        )  # fmt: skip
    if not ranks:
        undone = f"× {decimal(given.condition)}" if given.recoverable else "never"
        found.append(
            Fact("errors of estimates", undone,
                 "grow so much at most" if given.recoverable else "shares are lost for good")
        )  # fmt: skip
    return found


def recovery(manifest: Manifest) -> list[Sentence]:
    """What an analyst can and cannot get back of each column."""
    found = []
    for column in manifest.columns:
        group = manifest.group(column.name)
        given = group.guarantee if group else column.guarantee
        if column.treatment in ("dropped", "pseudonyms"):
            continue
        found.append(Sentence(column.name, _recovered(column, group, given)))
    return found


def _recovered(column: Published, group: Group | None, given: Guarantee | None) -> str:
    if column.treatment == "untouched":
        return "can be used as it is."
    if column.treatment == "permuted":
        return (
            "has every number once, so its distribution, sum, mean and quantiles are exact. How it "
            "goes together with other columns is weakened, and is lost among those near by."
        )
    if column.treatment == "drawn":
        return (
            "has its distribution on average, not exactly. How it goes together with other columns "
            "is weakened."
        )
    if column.treatment == "averaged":
        return "has its sum and mean exactly; its spread, extremes and quantiles are too small."
    if given is None:
        return "cannot be said of: nobody has a value."
    if not given.recoverable:
        return (
            "cannot be estimated in full: only sums over labels that are treated alike can, as "
            "over a whole block. Single shares are lost for good."
        )
    how = " jointly with the columns it was treated with" if group else ""
    return (
        f"can be estimated without bias{how}: shares, and tables with other columns. Errors grow "
        f"up to {decimal(given.condition)} times. What one person’s truth is stays open."
    )


def listed(words: Sequence[str]) -> str:
    """Words as a sentence lists them.

    >>> listed(["a", "b", "c"])
    'a, b and c'
    """
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} and {words[-1]}"


def plural(number: int, word: str) -> str:
    """A number of things.

    >>> plural(1, "row"), plural(2, "row")
    ('1 row', '2 rows')
    """
    return f"{counted(number)} {word}{'' if number == 1 else 's'}"
