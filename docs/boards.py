"""Write the leaderboard's page, pictures and tables from its stored numbers: `python
docs/boards.py`. They are committed, because the README links to them, and no game is played.
"""

from __future__ import annotations

from pathlib import Path

from purse.base.files import write_text
from purse.lab.figure import render_svg
from purse.lab.page.charts.base import themed
from research.leaderboard.page import PAGES, leaderboard_page
from research.leaderboard.record import Record, read_record
from research.leaderboard.suites import SUITES, name_file
from research.leaderboard.tables import cases_csv, heat_figure

FOLDER = Path(__file__).parent / "leaderboard"


def read(suite: str) -> Record:
    """Return the stored numbers of a suite."""
    return read_record(FOLDER / f"suite-{suite}.json", SUITES)


def texts() -> dict[Path, str]:
    """Return the page, and the tables of scores and of cases of each suite, by their paths."""
    records = [read(suite) for suite in PAGES]
    page = leaderboard_page(records, f"{FOLDER.name}/", "policies")
    files = {FOLDER.with_suffix(".md"): page}
    for record in records:
        tables = {"scores": record.frame().write_csv(), "cases": cases_csv(record.cases)}
        for kind, text in tables.items():
            files[FOLDER / f"{name_file(kind, record.suite)}.csv"] = text
    return files


def write() -> None:
    """Write everything."""
    for suite in PAGES:
        figure = heat_figure(read(suite))
        write_text(FOLDER / f"{figure.name}.svg", themed(render_svg(figure.spec)))
    for path, text in texts().items():
        write_text(path, text)


if __name__ == "__main__":
    write()
