"""A finished study: its data, its tables as text, and its report."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from purse.base import html
from purse.base.files import make_folder
from purse.errors import MissingExtra, PurseError
from purse.report.data import StudyData
from purse.study import manifest, summary
from purse.theory.notions import brief

if TYPE_CHECKING:
    pass

RESULTS = "results.parquet"
ROW_GROUP = 1 << 17  # rows of the results that are read at once


@dataclass(frozen=True, eq=False)
class Study(StudyData):
    """The results of a comparison, with their tables and their report."""

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> Study:
        """The finished study in a folder."""
        import polars as pl

        target, facts = Path(folder), manifest.load(Path(folder))
        if facts["made"] is None:
            raise PurseError(
                f"the study in {str(target)!r} is not finished: "
                f"{manifest.standing(target)}; run it again to continue"
            )
        frames = {name: pl.read_parquet(target / f"{name}.parquet") for name in summary.COLUMNS}
        return cls(pl.scan_parquet(target / RESULTS), frames, facts)

    def report(self, path: str | os.PathLike[str]) -> Path:
        """Write the study as one HTML file."""
        from purse.report.study_page import write_page

        return write_page(self, Path(path))

    def publish(self, folder: Path) -> list[Path]:
        """Write the report to a folder, and each of its figures as PNG, SVG and CSV; the page comes
        first.
        """
        from purse.report.charts.export import export

        return [
            self.report(make_folder(folder) / "report.html"),
            *export(self, make_folder(folder / "figures")),
        ]

    def grids(self) -> Iterator[tuple[str, list[list[str]]]]:
        """For each world, its name and the table of regrets for people: a row per policy, a column
        per budget.
        """
        for (world,), part in self.table().group_by(["world"], maintain_order=True):
            budgets = part["budget"].unique().sort().to_list()
            grid = [["regret, mean ± 95%", *(f"B = {budget:g}" for budget in budgets)]]
            for (policy,), row in part.group_by(["policy"], maintain_order=True):
                cells = {
                    cell["budget"]: with_error(cell["regret"], cell["high"])
                    for cell in row.iter_rows(named=True)
                }
                grid.append([str(policy), *(cells[budget] for budget in budgets)])
            yield str(world), grid

    def _repr_html_(self) -> str:
        """The tables of regrets, for notebooks."""
        return "".join(html.table(head, rows, title=world) for world, (head, *rows) in self.grids())

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any] | None:
        """The chart of regrets, for notebooks that draw it, and the tables for those that do not;
        None where nothing is installed that makes charts.
        """
        from purse.report.charts.export import notebook

        try:
            return {**notebook(self), "text/html": self._repr_html_(), "text/plain": str(self)}
        except MissingExtra:
            return None

    def __str__(self) -> str:
        """The tables of regrets as plain text."""
        lines = []
        for world, grid in self.grids():
            widths = [max(map(len, column)) for column in zip(*grid, strict=True)]
            lines += [f"{world}: regret against the best fixed arm on the same draws"]
            lines += [
                "  "
                + "  ".join(
                    [
                        row[0].ljust(widths[0]),
                        *(
                            cell.rjust(width)
                            for cell, width in zip(row[1:], widths[1:], strict=True)
                        ),
                    ]
                )
                for row in grid
            ]
        return "\n".join(lines)


def with_error(mean: float, high: float) -> str:
    """A mean with half its interval, where it has one."""
    return brief(mean) if np.isnan(high) else f"{brief(mean)} ± {brief(high - mean)}"
