"""A finished study: its data, and its tables as text."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from purse.base import html
from purse.base.files import write_text
from purse.base.optional import check_lab, pl
from purse.base.text import MISSING, align_columns, count_in_words, format_budget, format_mean
from purse.errors import InvalidInput, PurseError, unknown
from purse.lab.study import manifest, summary
from purse.lab.study.manifest import StudyFacts, TableFacts
from purse.lab.theory.contexts import LINEAR, WITH, WITHOUT

if TYPE_CHECKING:
    from purse.lab.report.charts.base import Figure
    from purse.lab.report.page import Page

OPTIMA = (WITHOUT, LINEAR)  # beside the LP with contexts
RESULTS = "results.parquet"
ROW_GROUP = 1 << 17  # rows of the results that are read at once


@dataclass(frozen=True, eq=False, repr=False)
class Study:
    """The results of a comparison of policies: its runs, the frames made from them, and the facts
    about it.

    The runs are read when a method needs them. The report is made by `purse.lab.report`.
    """

    outcome: ClassVar[str] = "regret"  # what single runs are measured by

    data: pl.LazyFrame
    frames: Mapping[str, pl.DataFrame]
    facts: StudyFacts

    @staticmethod
    def load(folder: str | os.PathLike[str]) -> Study:
        """Return the finished study in a folder; for the replay of a table it is a `TableStudy`.

        Raise `PurseError` when the study is not finished, and `InvalidInput` when the folder holds
        none that this version of purse has made.
        """
        check_lab("a study", "polars")
        target, stored = Path(folder), manifest.load(Path(folder))
        if stored["made"] is None:
            raise PurseError(
                f"the study in {str(target)!r} is not finished: "
                f"{manifest.standing(target)}; run it again to continue"
            )
        facts, files = StudyFacts.from_json(stored), [f"{name}.parquet" for name in summary.COLUMNS]
        if missing := [name for name in (RESULTS, *files) if not (target / name).is_file()]:
            raise InvalidInput(
                f"the study in {str(target)!r} has no file {missing[0]!r}; make the study again"
            )
        frames = {name: pl.read_parquet(target / f"{name}.parquet") for name in summary.COLUMNS}
        runs = pl.scan_parquet(target / RESULTS)
        if isinstance(facts, TableFacts):
            return TableStudy(runs, frames, facts)
        return Study(runs, frames, facts)

    def lazy(self) -> pl.LazyFrame:
        """Return the runs of `frame()` as a lazy frame, for results that do not fit into memory."""
        return self.data

    def frame(self) -> pl.DataFrame:
        """Return a row per world, budget, policy and path.

        Its columns are gain, rounds, the part of the budget that was used, and regret.
        """
        return self.data.collect()

    def table(self) -> pl.DataFrame:
        """Return a row per world, budget and policy.

        Its columns are mean gain and mean regret with 95% intervals, the rest of the budget, and
        rounds.
        """
        return self.frames["table"]

    def shares(self) -> pl.DataFrame:
        """Return each arm's share of the pulls: a row per arm and slice of the budget.

        The rows are grouped by world, budget and policy.
        """
        return self.frames["shares"]

    def growth(self) -> pl.DataFrame:
        """Return the growth of regret with the budget: a row per world and policy.

        Its columns are the slope of log regret against log budget, and the shape that fits best.
        """
        return self.frames["growth"]

    def bounds(self) -> pl.DataFrame:
        """Return the bounds on each policy's regret: a row per world, budget, policy and theorem.

        Its columns are the value of the bound and whether it applies there.
        """
        return self.frames["bounds"]

    def references(self) -> pl.DataFrame:
        """Return the gains of the yardsticks: a row per world, budget and yardstick."""
        return self.frames["references"]

    def arms(self) -> pl.DataFrame:
        """Return what each arm is: a row per world, budget and arm.

        Its columns are the mean reward and cost of a pull, reward per cost, what the arm gains
        alone, and whether it is the best arm alone.
        """
        return self.frames["arms"]

    @cached_property
    def _page(self) -> Page:
        """The page; its figures are drawn once."""
        return page_of(self)

    def report(self, path: str | os.PathLike[str]) -> Path:
        """Write the study as one HTML file and return its path.

        Raise `MissingExtra` when the extra `lab` is not installed.
        """
        write_text(Path(path), self.html())
        return Path(path)

    def html(self) -> str:
        """Return the report as the text of an HTML page."""
        return self._page.html()

    def figures(self) -> list[Figure]:
        """Return the figures of the report, in the order of the page."""
        return list(self._page.figures)

    def publish(self, folder: Path) -> list[Path]:
        """Write the report and its figures (PNG, SVG, CSV) to a folder, and return the files.

        The page comes first among the files.
        """
        return self._page.publish(folder)

    def grids(self) -> Iterator[tuple[str, list[list[str]]]]:
        """Yield the name of each world and its table of regrets as text.

        A table has a row per policy and a column per budget.
        """
        for (world,), part in self.table().group_by(["world"], maintain_order=True):
            budgets = sorted(part["budget"].unique())
            head = ["regret, mean ± 95%", *(f"B = {budget:g}" for budget in budgets)]
            rows = _policy_rows(part, lambda row: format_mean(row["regret"], row["high"]))
            yield str(world), [head, *rows]

    def optimum_grids(self) -> Iterator[tuple[str, list[list[str]]]]:
        """Yield the name of each world with contexts and its table of gains as text.

        A table has a row per policy and reference and a column per budget: the regret against the
        LP with contexts, and the share of it.
        """
        for (world,), part in self.table().group_by(["world"], maintain_order=True):
            optima = self.references().filter(world=world)
            if WITH not in optima["name"]:
                continue
            gains = {(row["name"], row["budget"]): row["gain"] for row in optima.to_dicts()}
            budgets = sorted(part["budget"].unique())
            head = (f"B = {format_budget(budget)}" for budget in budgets)
            grid = [["regret (share) against the LP with contexts", *head]]
            grid += _policy_rows(part, partial(_against_optimum, gains))
            for name in OPTIMA:
                if name in optima["name"]:
                    pairs = ((gains[WITH, budget], gains[name, budget]) for budget in budgets)
                    grid.append([name, *(_against(whole, part, part) for whole, part in pairs)])
            yield str(world), grid

    def plot(self, name: str | None = None) -> Figure:
        """Return a figure of the report, which a notebook draws; by default the first one.

        name   "regret", "gain", "left", "shares", "runs" or "growth"; not every study has all

        `.chart()` of the figure is an Altair chart, to change it; Altair loads scripts from the
        network to show it, and the figure needs none.

        Raise `InvalidInput` when the study has no such figure, and `MissingExtra` when the extra
        `lab` is not installed.
        """
        drawn = {figure.name: figure for figure in self._page.figures}
        name = next(iter(drawn)) if name is None else name
        if name not in drawn:
            raise unknown("figure of this study", str(name), drawn)
        return drawn[name]

    def __repr__(self) -> str:
        """Return the study in a line."""
        facts = self.facts
        parts = [
            count_in_words(len(facts.policies), "policy", "policies"),
            count_in_words(len(facts.worlds), "world"),
            count_in_words(len(facts.budgets), "budget"),
            count_in_words(facts.n_paths, "path"),
        ]
        return f"<{type(self).__name__} {facts.title!r}: {', '.join(parts)}>"

    def _repr_html_(self) -> str:
        """Return the first figure and the tables of regrets, for notebooks."""
        return self.plot()._repr_html_() + "".join(
            html.table(head, rows, title=world)
            for world, (head, *rows) in (*self.grids(), *self.optimum_grids())
        )

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        """Return what notebooks show, and the tables as text for terminals.

        No notebook knows every version of Vega-Lite, so the figure is a picture.
        """
        return {"text/html": self._repr_html_(), "text/plain": str(self)}

    def __str__(self) -> str:
        """Return the tables of regrets as plain text."""
        lines = []
        for world, grid in self.grids():
            lines += [f"{world}: regret against the best fixed arm on the same draws"]
            lines += ["  " + "  ".join(row) for row in align_columns(grid)]
        for world, grid in self.optimum_grids():
            lines += [f"{world}: against what one can expect at most who sees contexts"]
            lines += ["  " + "  ".join(row) for row in align_columns(grid)]
        return "\n".join(lines)


@dataclass(frozen=True, eq=False, repr=False)
class TableStudy(Study):
    """The replay of a full table: a study of one world, whose report shows gains before regrets."""

    outcome: ClassVar[str] = "gain"

    facts: TableFacts


def page_of(result: Any) -> Page:
    """Return the page of a result. Nothing else here knows that there are pages."""
    from purse.lab.report import page

    return page.page_of(result)


def _policy_rows(part: pl.DataFrame, write: Callable[[dict[str, Any]], str]) -> list[list[str]]:
    """Return the rows of a grid: a policy, and its cell for each budget of the table, sorted."""
    budgets = sorted(part["budget"].unique())
    grid = []
    for (policy,), rows in part.group_by(["policy"], maintain_order=True):
        cells = {row["budget"]: write(row) for row in rows.iter_rows(named=True)}
        grid.append([str(policy), *(cells.get(budget, MISSING) for budget in budgets)])
    return grid


def _against_optimum(gains: Mapping[tuple[str, float], float], row: dict[str, Any]) -> str:
    """Write the regret of a row of the table against the LP with contexts."""
    return _against(gains[WITH, row["budget"]], row["gain"], row["gain_high"])


def _against(optimum: float, gain: float, high: float) -> str:
    """Write the regret of a gain with its interval, and its share of the optimum.

    >>> _against(1000, 950, 960), against(1000, 729, 729), against(1, 1 + 1e-15, 1)
    ('50 ± 10 (95.0%)', '271 (72.9%)', '0 (100.0%)')
    """
    regret = round(optimum - gain, 9) + 0.0  # no rounding error is a regret, and no zero negative
    text = format_mean(regret, regret + (high - gain) if high > gain else float("nan"))
    return f"{text} ({gain / optimum:.1%})" if optimum > 0 else text
