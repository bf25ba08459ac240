"""A finished study: its data, its tables as text, and its report."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from purse.base import html
from purse.base.files import make_folder, write_text
from purse.base.optional import needs
from purse.base.text import align_columns, count_in_words, format_mean
from purse.errors import InvalidInput, PurseError, unknown
from purse.lab.report.data import StudyData, StudyFacts, TableData, TableFacts
from purse.lab.report.prose.optimum import optimum_tables
from purse.lab.study import manifest, summary

if TYPE_CHECKING:
    from purse.lab.report.charts.base import Figure

RESULTS = "results.parquet"
ROW_GROUP = 1 << 17  # rows of the results that are read at once


@dataclass(frozen=True, eq=False)
class Study(StudyData):
    """The results of a comparison of policies, with their tables and their report."""

    @staticmethod
    def load(folder: str | os.PathLike[str]) -> Study:
        """Return the finished study in a folder; for the replay of a table it is a `TableStudy`.

        Raise `PurseError` when the study is not finished, and `InvalidInput` when the folder holds
        none that this version of purse has made.
        """
        with needs("a study", "lab"):
            import polars as pl

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

    def report(self, path: str | os.PathLike[str]) -> Path:
        """Write the study as one HTML file and return its path.

        Raise `MissingExtra` when the extra `lab` is not installed.
        """
        write_text(Path(path), self.html())
        return Path(path)

    def html(self) -> str:
        """Return the report as the text of an HTML page."""
        return str(self._page.html(self, self._figures))

    def figures(self) -> list[Figure]:
        """Return the figures of the report, in the order of the page."""
        return list(self._figures)

    @cached_property
    def _figures(self) -> Sequence[Figure]:
        """The figures, drawn once."""
        return tuple(self._page.figures_of(self))

    @property
    def _page(self) -> ModuleType:
        """The module that writes the report."""
        from purse.lab.report import study_page

        return study_page

    def publish(self, folder: Path) -> list[Path]:
        """Write the report and its figures (PNG, SVG, CSV) to a folder, and return the files.

        The page comes first among the files.
        """
        from purse.lab.report.charts.export import write_figures

        page = self.report(make_folder(folder) / "report.html")
        return [page, *write_figures(self.figures(), folder / "figures")]

    def grids(self) -> Iterator[tuple[str, list[list[str]]]]:
        """Yield the name of each world and its table of regrets as text.

        A table has a row per policy and a column per budget.
        """
        for (world,), part in self.table().group_by(["world"], maintain_order=True):
            budgets = part["budget"].unique().sort().to_list()
            grid = [["regret, mean ± 95%", *(f"B = {budget:g}" for budget in budgets)]]
            for (policy,), row in part.group_by(["policy"], maintain_order=True):
                cells = {
                    cell["budget"]: format_mean(cell["regret"], cell["high"])
                    for cell in row.iter_rows(named=True)
                }
                grid.append([str(policy), *(cells[budget] for budget in budgets)])
            yield str(world), grid

    def optimum_grids(self) -> Iterator[tuple[str, list[list[str]]]]:
        """Yield the name of each world with contexts and its table of gains as text.

        A table has a row per policy and reference and a column per budget: the regret against the
        LP with contexts, and the share of it.
        """
        for table in optimum_tables(self):
            head = ["regret (share) against the LP with contexts", *table["head"][1:]]
            yield table["title"], [head, *(row["cells"] for row in table["rows"])]

    def plot(self, name: str | None = None) -> Figure:
        """Return a figure of the report, which a notebook draws; by default the first one.

        name   "regret", "gain", "left", "shares", "runs" or "growth"; not every study has all

        Raise `InvalidInput` when the study has no such figure, and `MissingExtra` when the extra
        `lab` is not installed.
        """
        drawn = {figure.name: figure for figure in self._figures}
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
class TableStudy(Study, TableData):
    """The study that replays a full table; its report shows gains before regrets."""

    facts: TableFacts

    @property
    def _page(self) -> ModuleType:
        """The module that writes the report."""
        from purse.lab.report import table_page

        return table_page
