"""The figures of a study as files: PNG, SVG, and CSV of what they show. Equal studies give equal files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from purse.files import make_folder, write_atomically
from purse.report import areas, curves, rows
from purse.report.charts import Figure
from purse.report.extra import extra

if TYPE_CHECKING:
    from purse.study import Study

SCALE = 2  # pixels of a PNG per unit of its figure


def export(study: Study, folder: Path) -> list[Path]:
    """Write every figure as `name.png`, `name.svg` and `name.csv` into a folder; returns their paths."""
    renderer = extra("vl_convert")
    make_folder(folder)
    paths = []
    for figure in figures_of(study):
        spec = figure.spec()
        kinds = {
            "png": renderer.vegalite_to_png(spec, vl_version=version(), scale=SCALE),
            "svg": renderer.vegalite_to_svg(spec, vl_version=version()).encode(),
            "csv": figure.data.write_csv().encode(),
        }
        for kind, content in kinds.items():
            paths.append(folder / f"{figure.name}.{kind}")
            write_atomically(paths[-1], lambda file, content=content: file.write(content))  # type: ignore[misc]
    return paths


def figures_of(study: Study) -> list[Figure]:
    """All figures that a study has."""
    drawn = [curves.regret(study), curves.gain(study), curves.left(study), areas.shares(study), rows.runs(study), rows.growth(study)]
    return [figure for figure in drawn if figure is not None]


def chart(study: Study) -> Any:
    """Regret against the budget as an Altair chart, which a notebook shows."""
    return curves.regret(study).chart()


def version() -> str:
    """The version of Vega-Lite that charts are written for, as the renderer names it."""
    return ".".join(extra("altair").SCHEMA_VERSION.removeprefix("v").split(".")[:2])
