"""The report of a result: one HTML page that needs nothing else, its figures, and its tables."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from purse.base.files import make_folder, write_atomically, write_text
from purse.base.optional import pl
from purse.lab.figure import Figure, write_figures
from purse.lab.page import content
from purse.lab.page.charts.base import GLYPHS, NEUTRAL, colours, dark_rules, shapes
from purse.lab.page.shell import Content, asset, fill, inline, javascript, safe
from purse.lab.replay.log_result import LogResult
from purse.lab.replay.savings_result import SavingsResult
from purse.lab.study.results import Study

if TYPE_CHECKING:
    from purse.lab.study.manifest import Facts


@dataclass(frozen=True)
class _ResultPage:
    """A page: its figures are drawn, and its content is made when it is written."""

    facts: "Facts"
    figures: Sequence[Figure]  # in the order of the page
    content: Callable[[Sequence[Figure]], Content]
    tables: "Mapping[str, pl.DataFrame]" = field(default_factory=dict)  # published as CSV

    def html(self) -> str:
        """Write the page."""
        facts, shown = self.facts, self.content(self.figures)
        series = shown.series
        looks = [
            {"name": name, "colour": colour, "glyph": GLYPHS[shape]}
            for name, colour, shape in zip(series, colours(series), shapes(series), strict=True)
        ]
        whole: dict[str, Any] = shown._asdict() | {
            "short": inline(shown.short),
            "findings": {name: inline(says) for name, says in shown.findings.items()},
            "series": looks,
        }
        version = f"purse {facts.versions['purse']}" if "purse" in facts.versions else ""
        date = (facts.made or "").replace("T", " ").replace("+00:00", " UTC")
        return fill(
            "page.html",
            title=facts.title,
            made=" · ".join(filter(None, (version, date))),
            command=facts.command,
            neutral=NEUTRAL,
            style=safe(asset("page.css") + asset("study.css") + dark_rules()),
            bundle=safe(javascript()),
            script=safe(asset("study.js")),
            **whole,
        )

    def publish(self, folder: Path) -> list[Path]:
        """Write the page, its figures as PNG, SVG and CSV, and its tables as CSV to a folder.

        Return the files, the page first.
        """
        text, page = self.html(), make_folder(folder) / "report.html"
        write_text(page, text)
        drawn = write_figures(self.figures, folder / "figures")
        tables = [folder / "figures" / f"{name}.csv" for name in self.tables]
        for path, table in zip(tables, self.tables.values(), strict=True):
            write_atomically(path, table.write_csv)
        return [page, *drawn, *tables]


def page_of(result: Study | LogResult | SavingsResult) -> _ResultPage:
    """Return the page of a result."""
    figures = content.figures_of(result)
    tables = {}
    if isinstance(result, SavingsResult):
        tables["choices"] = result.frame()
    elif isinstance(result, LogResult):
        tables["arms"] = result.arms()
        if not figures:
            tables["estimates"] = result.frame()
    return _ResultPage(result.facts, figures, partial(content.content, result), tables)
