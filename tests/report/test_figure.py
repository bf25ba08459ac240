from __future__ import annotations

from pathlib import Path

import pytest

import purse
from purse.report.figure import COLOURS, regret_figure

WORLDS = {"a": "misleading_ratio", "b": "two_worlds", "c": "two_worlds:world=2"}


@pytest.fixture(scope="module")
def table():  # type: ignore[no-untyped-def]
    return purse.compare(["uniform", "oracle"], {"a": WORLDS["a"]}, budgets=[10, 30, 100], n_paths=4).table()


def test_png_and_svg_are_written_and_equal_results_give_equal_files(table, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    first = regret_figure(table, tmp_path, "one")
    second = regret_figure(table, tmp_path, "two")
    assert [path.suffix for path in first] == [".png", ".svg"]
    assert first[0].read_bytes().startswith(b"\x89PNG")
    for one, two in zip(first, second, strict=True):
        assert one.read_bytes() == two.read_bytes()


def test_the_svg_names_policies_and_worlds(table, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    _, svg = regret_figure(table, tmp_path)
    for text in ("uniform", "oracle", "regret against the best fixed arm", "budget B"):
        assert f"<!-- {text} -->" in svg.read_text()


def test_any_number_of_worlds_and_a_single_budget(tmp_path: Path) -> None:
    table = purse.compare("uniform", WORLDS, budgets=[10], n_paths=1).table()
    assert all(path.stat().st_size > 0 for path in regret_figure(table, tmp_path))


def test_colours_differ() -> None:
    assert len(set(COLOURS)) == len(COLOURS) == 8
