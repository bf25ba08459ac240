from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import purse
from purse.base.html import paragraph, table
from purse.engine.run import Run


class Cells(HTMLParser):
    """The texts of all cells, row by row, with the side to which each is set."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.sides: list[str] = []
        self.tags: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        if tag == "tr":
            self.rows.append([])
        elif tag in ("th", "td"):
            self.rows[-1].append("")
            self.sides.append(str(dict(attrs)["style"]))

    def handle_data(self, data: str) -> None:
        if self.rows:
            self.rows[-1][-1] += data


def test_a_table_has_a_head_and_rows_and_numbers_to_the_right() -> None:
    head, rows = ["policy", "gain", "note"], [["uniform", "3", "fine"], ["fixed", "4", ""]]
    found = Cells(table(head, rows, texts=(0, 2)))
    assert found.rows == [head, *rows]
    assert found.sides == ["text-align:left", "text-align:right", "text-align:left"] * 3
    assert found.tags == {"table", "thead", "tbody", "tr", "th", "td"}


def test_a_title_stands_above_and_what_is_empty_does_not() -> None:
    assert table(["a"], [], title="x < y").startswith("<p>x &lt; y</p><table>")
    assert table(["a"], []).startswith("<table>")
    assert paragraph("") == ""


@given(
    cells=st.lists(st.text(st.characters(exclude_categories=["Cs", "Cc"])), min_size=2, max_size=2),
    title=st.text(alphabet="<>&\"'a", min_size=1),
)
def test_whatever_the_cells_hold_is_shown_and_never_run(cells: list[str], title: str) -> None:
    found = Cells(table(["one", "two"], [cells], title=title))
    assert found.rows == [["one", "two"], cells]
    assert found.tags == {"p", "table", "thead", "tbody", "tr", "th", "td"}


def test_a_row_that_is_too_short_is_a_mistake() -> None:
    with pytest.raises(ValueError, match="longer"):
        table(["one", "two"], [["1"]])


@pytest.mark.parametrize("dark", [False, True])
def test_results_take_the_colours_of_the_page(dark: bool, opened: Any, tmp_path: Path) -> None:
    run = purse.simulate("uniform", "bernoulli:rewards=[.9,.6],costs=[.8,.3]", 20, n_paths=3)
    colours = "color:#eee;background:#111" if dark else "color:#111;background:#fff"
    page = tmp_path / "cell.html"
    page.write_text(
        f"<!doctype html><meta charset=utf-8><body style='{colours}'>{run._repr_html_()}"
    )
    with opened(page, width=390, dark=dark) as (view, complaints):
        assert complaints == []
        style = "getComputedStyle(document.querySelector('{}')).{}"
        for tag in ("p", "th", "td"):
            assert view.evaluate(style.format(tag, "color")) == view.evaluate(
                style.format("body", "color")
            )
            assert view.evaluate(style.format(tag, "backgroundColor")) == "rgba(0, 0, 0, 0)"
        assert view.evaluate("document.querySelectorAll('tr').length") == 6
        assert view.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_names_of_worlds_are_escaped() -> None:
    rounds, empty = np.zeros(1, np.int64), np.zeros((1, 1), np.int64)
    run = Run(
        "<i>", "a&b", np.ones(1), "exit", 0, np.zeros(1), rounds, empty, empty, np.zeros(1, bool)
    )
    assert run._repr_html_().startswith("<p>&lt;i&gt; on a&amp;b: 1 paths")
