"""Five thousand people who do not exist: the built-in data of the demonstration.

They are drawn from words under a public key, so they are the same everywhere. Who they are follows
from a few rules below: schooling rises with later birth, pay with schooling, hours and age, smoking
falls with schooling, and long illness rises with age, smoking and low pay.
"""

from collections.abc import Sequence
from typing import Any, final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from bistochastic.keystream import Key
from bistochastic.scope import Scope, domain_digest

__all__ = ["PLAN", "people"]

SIZE = 5000
PUBLIC = Key(b"nobody-here-is-real-and-all-know")  # 32 bytes, no secret

SEX = ("female", "male")
AGE = ("16-24", "25-34", "35-44", "45-54", "55-64", "65-74", "75+")
REGION = ("coast", "delta", "hills", "lakes", "north", "plain", "port city", "valley")
SCHOOL = ("none", "primary", "lower secondary", "upper secondary", "degree")
WORK = ("employed", "self-employed", "unemployed", "student", "at home", "retired")
MARITAL = ("single", "married", "divorced", "widowed")
YES = ("no", "yes")

PLAN = """\
# What each column is, and what is done to it. Read it aloud; change a number; explain it again.
release = "people who do not exist"
rows = 5000

[columns.person]
role = "identifier"          # dropped

[columns.household]
role = "household"
pseudonym = true             # the same household, another name

[columns.sex]
role = "key"
kind = "nominal"
domain = ["female", "male"]
missing = "refuse"
matrix = "mixture"           # the truth, or any other value
beta = 0.3                   # three tenths of the bits there are

[columns.age]
role = "key"
kind = "ordinal"
domain = ["16-24", "25-34", "35-44", "45-54", "55-64", "65-74", "75+"]
missing = "refuse"
matrix = "diffusion"         # mostly to a neighbouring age
bits = 1.0

[columns.region]
role = "key"
kind = "nominal"
domain = ["coast", "delta", "hills", "lakes", "north", "plain", "port city", "valley"]
missing = "refuse"
matrix = "mixture"
beta = 0.3

[columns.school]
role = "key"
kind = "ordinal"
domain = ["none", "primary", "lower secondary", "upper secondary", "degree"]
missing = "refuse"
matrix = "optimal"           # as near as the bits allow
bits = 0.8

[columns.work]
role = "key"
kind = "nominal"
domain = ["employed", "self-employed", "unemployed", "student", "at home", "retired"]
missing = "refuse"
matrix = "mixture"
truth = 0.8                  # told true in four of five cases

[columns.marital]
role = "key"
kind = "nominal"
domain = ["single", "married", "divorced", "widowed"]
missing = "refuse"
matrix = "mixture"
beta = 0.3

[columns.smoker]
role = "confidential"
kind = "nominal"
domain = ["no", "yes"]
missing = "refuse"

[columns.illness]
role = "confidential"
kind = "nominal"
domain = ["no", "yes"]       # those who gave no answer are a category of the channel

[columns.hours]
role = "confidential"
kind = "numeric"
how = "permute"              # nobody keeps his own, but every number is still there once
matrix = "blocks"
k = 10

[columns.income]
role = "confidential"
kind = "numeric"
how = "permute"
matrix = "blocks"            # among the hundred nearest incomes
k = 100

[columns.weight]
role = "weight"              # passes

[[together]]                 # one channel for both, so that their dependence can be estimated
columns = ["smoker", "illness"]
matrix = "mixture"
epsilon = 2.0
"""


def people() -> pl.DataFrame:
    """The people, a row each."""
    draw = Uniform(SIZE)
    household = np.sort((draw("household") * SIZE / 2.3).astype(np.int64)) + 1
    sex = (draw("sex") < 0.49).astype(np.int64)
    years = 16 + (74 * draw("age") ** 1.25).astype(np.int64)
    age = np.where(years < 25, 0, np.minimum((years - 15) // 10, 6))
    region = picked(draw("region"), [0.16, 0.09, 0.07, 0.10, 0.08, 0.15, 0.24, 0.11])
    school = schooling(draw("school"), age, region)
    work = working(draw("work"), years, sex, school)
    marital = married(draw("marital"), years)
    hours = worked(draw("hours"), work, sex)
    income = paid(draw("luck"), draw("more luck"), years, school, hours, region)
    smoker = draw("smoker") < 0.34 - 0.06 * school + 0.06 * (age < 5) + 0.03 * sex
    poor = income < 900
    ill = draw("illness") < 0.04 + 0.055 * age + 0.10 * smoker + 0.07 * poor
    silent = draw("silence") < 0.03
    return pl.DataFrame(
        {
            "person": [f"P{number:05d}" for number in range(1, SIZE + 1)],
            "household": household,
            "sex": named(SEX, sex),
            "age": named(AGE, age),
            "region": named(REGION, region),
            "school": named(SCHOOL, school),
            "work": named(WORK, work),
            "marital": named(MARITAL, marital),
            "smoker": named(YES, smoker.astype(np.int64)),
            "illness": named(YES, ill.astype(np.int64)).set(pl.Series(silent), None),
            "hours": hours,
            "income": income,
            "weight": (0.6 + 0.8 * draw("weight")).round(2),
        }
    )


@final
class Uniform:
    """Numbers between 0 and 1, a column for each name."""

    def __init__(self, size: int) -> None:
        self.size = size

    def __call__(self, name: str) -> NDArray[np.float64]:
        scope = Scope(release="demo", column=name, domain=domain_digest(["people"]), matrix=None)
        words = PUBLIC.rows(scope, purpose="people").words(0, self.size)(0, 0, None)
        return np.asarray((words >> np.uint64(11)) / float(1 << 53))


def named(labels: Sequence[str], codes: Any) -> pl.Series:
    """Labels for codes."""
    return pl.Series(labels).gather(pl.Series(np.asarray(codes, dtype=np.uint32)))


def picked(uniform: Any, shares: Any) -> Any:
    """One of several codes with these shares, the same for all rows or a line for each."""
    steps = np.cumsum(np.asarray(shares), axis=-1)
    steps = steps / steps[..., -1:]
    return (uniform[:, None] >= np.broadcast_to(steps, (uniform.size, steps.shape[-1]))).sum(axis=1)


def schooling(uniform: Any, age: Any, region: Any) -> Any:
    """Later birth and the port city mean longer schooling."""
    pull = 1.4 - 0.28 * age + 0.5 * (region == 6)
    levels = np.arange(5)
    return picked(uniform, np.exp(pull[:, None] * (levels - 2) / 2 - 0.35 * (levels - 2.4) ** 2))


def working(uniform: Any, years: Any, sex: Any, school: Any) -> Any:
    """Study first, a pension at last, and between them more work with longer schooling."""
    young, old = years < 22, years >= 65
    shares = np.stack(
        [
            0.50 + 0.06 * school - 0.04 * (sex == 0),
            np.full(years.size, 0.11),
            0.12 - 0.02 * school,
            np.where(young, 1.1, 0.02),
            0.07 + 0.10 * (sex == 0),
            np.where(old, 0.1, 0.01),
        ],
        axis=1,
    ).clip(0.005)
    shares[old] = [0.05, 0.05, 0.0, 0.0, 0.05, 0.85]
    return picked(uniform, shares)


def married(uniform: Any, years: Any) -> Any:
    """Nobody is widowed at twenty."""
    shares = np.stack(
        [
            np.exp(-(years - 16) / 14.0),
            0.75 * (1 - np.exp(-(years - 16) / 10.0)),
            0.14 * (1 - np.exp(-(years - 16) / 18.0)),
            np.exp((years - 95) / 12.0),
        ],
        axis=1,
    )
    return picked(uniform, shares)


def worked(uniform: Any, work: Any, sex: Any) -> Any:
    """Hours in a week, around forty for those who work."""
    full = 42 - 6 * (sex == 0) + np.rint(16 * (uniform - 0.5))
    return np.where(work <= 1, full, 0).astype(np.int64)


def paid(luck: Any, more: Any, years: Any, school: Any, hours: Any, region: Any) -> Any:
    """A month's income: hours, schooling, some years at work, a city, and a long tail of luck."""
    spread = np.sqrt(-2 * np.log1p(-luck)) * np.cos(2 * np.pi * more)  # Box and Muller
    level = 6.45 + 0.17 * school + 0.012 * hours + 0.008 * np.minimum(years, 60)
    return np.rint(np.exp(level + 0.12 * (region == 6) + 0.38 * spread) / 10).astype(np.int64) * 10
