"""Formulas: which column is explained by which others, in one line of text."""

import re
from dataclasses import dataclass
from typing import Self, final

from bistochastic.errors import TableError

__all__ = ["Formula"]

NAME = re.compile(r"\s*(?:`([^`]+)`|([^`~+:*]+?))\s*")


@final
@dataclass(frozen=True, slots=True)
class Formula:
    """A response and its terms, each a product of columns.

    >>> Formula.of("income ~ sex + age + sex:age").terms
    (('sex',), ('age',), ('sex', 'age'))
    """

    response: str
    terms: tuple[tuple[str, ...], ...]

    @classmethod
    def of(cls, text: str) -> Self:
        """From "response ~ term + term"; a colon makes products, backticks hold unusual names."""
        masked = _masked(text)
        if masked.count("~") != 1:
            raise TableError(f'A formula reads "response ~ predictor + predictor"; got {text!r}.')
        if "*" in masked:
            raise TableError(
                f'Write products out, "a + b + a:b"; a formula has no asterisk: {text!r}.'
            )
        place = masked.index("~")
        response = _named(text[:place], text)
        terms = [
            tuple(_named(part, text) for part in _split(term, ":"))
            for term in _split(text[place + 1 :], "+")
        ]
        return cls(response, tuple(term for term in terms if term != ("1",)))

    def __post_init__(self) -> None:
        several = [term for term in self.terms if self.terms.count(term) > 1]
        repeated = [term for term in self.terms if len(set(term)) < len(term)]
        if several or repeated:
            raise TableError(f"A formula names {':'.join((several + repeated)[0])!r} twice.")
        if any(self.response in term for term in self.terms):
            raise TableError(f"Column {self.response!r} cannot explain itself.")

    @property
    def columns(self) -> tuple[str, ...]:
        """The predictors, each once."""
        return tuple(dict.fromkeys(name for term in self.terms for name in term))


def _masked(text: str) -> str:
    """The text with what stands between backticks made harmless, place by place."""
    return re.sub(r"`[^`]*`", lambda found: "_" * len(found[0]), text)


def _split(text: str, mark: str) -> list[str]:
    """The text between marks that stand outside backticks."""
    masked = _masked(text)
    ends = [place for place, letter in enumerate(masked) if letter == mark]
    return [
        text[start:end] for start, end in zip([0, *(e + 1 for e in ends)], [*ends, len(text)],
                                              strict=True)
    ]  # fmt: skip


def _named(part: str, text: str) -> str:
    found = NAME.fullmatch(part)
    if found is None:
        raise TableError(f"A term is missing or cannot be read in the formula {text!r}.")
    return str(found[1] or found[2])
