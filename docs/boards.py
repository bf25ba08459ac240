"""Write the leaderboard's page, pictures and tables from its stored numbers: `python
docs/boards.py`. They are committed, because the README links to them, and no game is played.
"""

from __future__ import annotations

import json
from pathlib import Path

from purse import policies
from purse.base.files import write_text
from purse.lab.figure import render_svg
from purse.lab.page.charts.base import themed
from research.leaderboard.domination import dominated
from research.leaderboard.page import PAGES, leaderboard_page
from research.leaderboard.record import Record, read_record
from research.leaderboard.suites import SUITES, name_file
from research.leaderboard.tables import cases_csv, heat_figure

FOLDER = Path(__file__).parent / "leaderboard"


def played() -> list[str]:
    """Return the suites with stored numbers, in the order of the page."""
    return [suite for suite in PAGES if (FOLDER / f"suite-{suite}.json").exists()]


def read(suite: str) -> Record:
    """Return the stored numbers of a suite."""
    return read_record(FOLDER / f"suite-{suite}.json", SUITES)


def texts() -> dict[Path, str]:
    """Return the page, the dominated policies, and the tables of scores and of cases of each suite,
    by their paths.
    """
    records = [read(suite) for suite in played()]
    page = leaderboard_page(records, f"{FOLDER.name}/", "policies")
    names = json.dumps(dominated(records), indent=1) + "\n"
    files = {FOLDER.with_suffix(".md"): page, policies.DOMINATED: names}
    for record in records:
        tables = {"scores": record.frame().write_csv(), "cases": cases_csv(record.cases)}
        for kind, text in tables.items():
            files[FOLDER / f"{name_file(kind, record.suite)}.csv"] = text
    return files


def write() -> None:
    """Write everything."""
    for suite in played():
        figure = heat_figure(read(suite))
        write_text(FOLDER / f"{figure.name}.svg", themed(render_svg(figure.spec)))
    for path, text in texts().items():
        write_text(path, text)


if __name__ == "__main__":
    write()
