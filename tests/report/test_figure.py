from __future__ import annotations

from pathlib import Path

import pytest
from matplotlib import rc_context
from matplotlib.figure import Figure

from purse.report.figure import COLOURS, STYLE, save


@pytest.mark.parametrize(("ending", "begins"), [("png", b"\x89PNG"), ("svg", b"<?xml")])
def test_equal_figures_are_equal_files(ending: str, begins: bytes, tmp_path: Path) -> None:
    for name in ("one", "two"):
        with rc_context(STYLE):
            figure = Figure()
            figure.subplots().plot([1, 2, 3], color=COLOURS[0])
            save(figure, tmp_path / f"{name}.{ending}")
    one, two = (tmp_path / f"{name}.{ending}" for name in ("one", "two"))
    assert one.read_bytes().startswith(begins)
    assert one.read_bytes() == two.read_bytes()


def test_colours_differ() -> None:
    assert len(set(COLOURS)) == len(COLOURS) == 8
