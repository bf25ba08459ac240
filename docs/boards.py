"""Write the leaderboard's pages, pictures and tables from its stored numbers: `python
docs/boards.py`. They are committed, because the README links to them, and no game is played.
"""

from __future__ import annotations

from pathlib import Path

from purse.base.files import write_text
from purse.lab.ranking.page import PAGES, markdown
from purse.lab.ranking.record import Record, read_record
from purse.lab.ranking.suites import SUITES, name_file
from purse.lab.ranking.tables import heat_figure
from purse.lab.report.charts.export import render_svg, themed

FOLDER = Path(__file__).parent / "leaderboard"
POLICIES = "../policies"  # the folder of their pages, seen from the leaderboard's


def read(suite: str) -> Record:
    """Return the stored numbers of a suite."""
    return read_record(FOLDER / f"suite-{suite}.json", SUITES)


def texts(suite: str) -> dict[str, str]:
    """Return the page of a suite and its table of scores, by the names of their files."""
    record = read(suite)
    picture = f"{name_file('leaderboard', suite)}.svg"
    return {
        f"{PAGES[suite].name}.md": markdown(record, picture, POLICIES),
        f"{name_file('scores', suite)}.csv": record.frame().write_csv(),
    }


def write() -> None:
    """Write everything."""
    for suite in PAGES:
        figure = heat_figure(read(suite))
        write_text(FOLDER / f"{figure.name}.svg", themed(render_svg(figure.spec)))
        for name, text in texts(suite).items():
            write_text(FOLDER / name, text)


if __name__ == "__main__":
    write()
