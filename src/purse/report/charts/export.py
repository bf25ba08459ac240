"""Figures as files: PNG, SVG, and CSV of what they show. Equal studies give equal files."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from purse.base.files import make_folder, write_atomically
from purse.base.optional import extra
from purse.report.charts import areas, curves, players, rows
from purse.report.charts.base import Figure

if TYPE_CHECKING:
    from purse.report.data import StudyData

SCALE = 2  # pixels of a PNG per unit of its figure


def export(study: StudyData, folder: Path) -> list[Path]:
    """Write every figure of a study into a folder; returns their paths."""
    return [
        path for figure in figures_of(study) for path in write_figure(figure, make_folder(folder))
    ]


def write_figure(figure: Figure, folder: Path) -> list[Path]:
    """Write a figure as `name.png`, `name.svg` and `name.csv`."""
    renderer = extra("vl_convert")
    drawn = renderer.vegalite_to_svg(figure.spec(), vl_version=version())
    kinds = {
        "png": renderer.svg_to_png(drawn, scale=SCALE),
        "svg": drawn.encode(),
        "csv": figure.data.write_csv().encode(),
    }
    for kind, content in kinds.items():
        write_atomically(folder / f"{figure.name}.{kind}", partial(put, content))
    return [folder / f"{figure.name}.{kind}" for kind in kinds]


def put(content: bytes, file: Any) -> None:
    """Write the content to an open file."""
    file.write(content)


def figures_of(study: StudyData) -> list[Figure]:
    """All figures that a study has, in the order of its page."""
    if "replay" in study.facts:
        drawn = [
            players.gain(study),
            areas.shares(study),
            rows.runs(study),
            curves.left(study),
            curves.regret(study),
        ]
    else:
        drawn = [
            curves.regret(study),
            curves.gain(study),
            curves.left(study),
            areas.shares(study),
            rows.runs(study),
            rows.growth(study),
        ]
    return [figure for figure in drawn if figure is not None]


def chart(study: StudyData) -> Any:
    """Regret against the budget as an Altair chart, which a notebook shows."""
    return curves.regret(study).chart()


def notebook(study: StudyData) -> dict[str, Any]:
    """The same by its type for notebooks that draw Vega-Lite themselves."""
    spec = curves.regret(study).spec()
    return {f"application/vnd.vegalite.v{version().partition('.')[0]}+json": spec}


def version() -> str:
    """The version of Vega-Lite that charts are written for, as the renderer names it."""
    return ".".join(extra("altair").SCHEMA_VERSION.removeprefix("v").split(".")[:2])
