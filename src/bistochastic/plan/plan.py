"""A plan: read from TOML or written in Python, checked as a whole, and made into channels."""

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self, TypeVar, final

from pydantic import ValidationError

from bistochastic.errors import BistochasticError, PlanError
from bistochastic.manifest import Explanation
from bistochastic.plan.checks import mistakes
from bistochastic.plan.lines import Path as KeyPath
from bistochastic.plan.lines import lines_of
from bistochastic.plan.mistakes import Mistake, from_validation, refuse
from bistochastic.plan.model import Column, PlanModel, Together
from bistochastic.plan.treatments import Treated, of_columns

__all__ = ["Plan"]

Treats = TypeVar("Treats", Column, Together)


@final
class Plan:
    """What each column is, and what is done to it: everything that is decided before any data.

    In Python it is written as in TOML, with dictionaries for tables.

    >>> plan = Plan(
    ...     release="survey 2026",
    ...     columns={
    ...         "smoker": dict(role="confidential", kind="nominal", domain=["no", "yes"],
    ...                        missing="refuse", matrix="mixture", epsilon=1.0),
    ...     },
    ... )
    >>> round(plan.treated["smoker"].matrix.truthfulness.mean, 3)
    0.731
    """

    __slots__ = ("_lines", "_name", "said", "treated")

    said: PlanModel
    treated: Mapping[str, Treated]  # by column, or by the columns of a group joined with ×

    def __init__(
        self,
        *,
        release: str,
        columns: Mapping[str, Mapping[str, Any]],
        together: Sequence[Mapping[str, Any]] = (),
        records: str | None = None,
        rows: int | None = None,
        file: Mapping[str, Any] | None = None,
    ) -> None:
        said: dict[str, Any] = {"release": release, "columns": columns, "together": list(together)}
        optional = {"records": records, "rows": rows, "file": file}
        said |= {name: value for name, value in optional.items() if value is not None}
        self._take(said, "The plan", {}, Path())

    @classmethod
    def read(cls, path: str | Path) -> Self:
        """The plan in a TOML file, or all its mistakes with their lines."""
        where = Path(path)
        try:
            text = where.read_text(encoding="utf-8")
        except OSError as error:
            raise PlanError(f"Plan {str(where)!r} cannot be read: {error.strerror}.") from None
        except UnicodeDecodeError:
            raise PlanError(f"Plan {str(where)!r} is not UTF-8, as TOML must be.") from None
        return cls.from_text(text, name=where.name, folder=where.parent)

    @classmethod
    def from_text(cls, text: str, *, name: str = "The plan", folder: Path = Path()) -> Self:
        """The plan in a TOML text."""
        try:
            said = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise PlanError(f"{name} is not valid TOML: {error}.") from None
        plan = cls.__new__(cls)
        plan._take(said, name, lines_of(text), folder)
        return plan

    def _take(self, said: Any, name: str, lines: dict[KeyPath, int], folder: Path) -> None:
        self._name, self._lines = name, lines
        try:
            model = PlanModel.model_validate(said)
        except ValidationError as error:
            refuse(from_validation(error), name, lines)
            raise  # refuse has raised
        refuse(mistakes(model), name, lines)
        self.said = self._with_files(model, folder)
        made, failed = of_columns(self.said)
        refuse(failed, name, lines)
        self.treated = made

    def _with_files(self, model: PlanModel, folder: Path) -> PlanModel:
        """The domains and joint tables that stand in files of their own, read."""
        columns: dict[str, Column] = {}
        for name, column in model.columns.items():
            if column.domain_file is not None:
                place = ("columns", name, "domain_file")
                given = column.model_dump(exclude_unset=True) | {
                    "domain": self._labels(folder / column.domain_file, place),
                    "domain_file": None,
                }
                try:
                    columns[name] = Column.model_validate(given)
                except ValidationError as error:
                    says = error.errors()[0]["msg"].removeprefix("Value error, ")
                    refuse([Mistake(place, f"{says}.")], self._name, self._lines)
            column = columns.get(name, column)
            if column.joint_file is not None:
                columns[name] = self._with_joint(column, folder, ("columns", name))
        together = tuple(
            group
            if group.joint_file is None
            else self._with_joint(group, folder, ("together", place))
            for place, group in enumerate(model.together)
        )
        if not columns and together == model.together:
            return model
        return model.model_copy(update={"columns": model.columns | columns, "together": together})

    def _with_joint(self, said: Treats, folder: Path, place: KeyPath) -> Treats:
        """A treatment with the numbers of its joint table, which stand in a CSV without header."""
        place = (*place, "joint_file")
        lines = self._labels(folder / str(said.joint_file), place)
        try:
            numbers = tuple(tuple(map(float, line.split(","))) for line in lines if line.strip())
        except ValueError:
            refuse([Mistake(place, "must hold numbers only.")], self._name, self._lines)
            raise  # refuse has raised
        return said.model_copy(update={"joint": numbers, "joint_file": None})

    def _labels(self, path: Path, place: KeyPath) -> list[str]:
        try:
            return path.read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError):
            refuse([Mistake(place, "cannot be read as a text.")], self._name, self._lines)
            raise  # refuse has raised

    @property
    def columns(self) -> Mapping[str, Column]:
        """What is said of each column, in the order of the plan."""
        return self.said.columns

    def refused(self, path: KeyPath, error: BistochasticError) -> PlanError:
        """A refusal of the algebra that shows only with the data, at its place in the plan."""
        return PlanError(f"{self._name}, {Mistake(path, str(error)).told(self._lines)}")

    def explain(self, *, rows: int | None = None) -> Explanation:
        """What the plan guarantees; numeric columns need the number of rows to be told in full."""
        from bistochastic.plan.explain import explain  # which explains plans, so it knows them

        return explain(self, rows=rows)

    def dump(self) -> dict[str, Any]:
        """What the plan says, as JSON; `Plan(**dump)` is the same plan."""
        said = self.said.model_dump(mode="json", exclude_defaults=True)
        return said

    def __repr__(self) -> str:
        return f"<Plan {self.said.release!r}, {len(self.columns)} columns>"
