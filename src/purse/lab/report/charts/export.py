"""Figures as files (PNG, SVG, and CSV of what they show), and the script that draws them in a page.
Equal data give equal files.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from purse.base.files import make_folder, write_atomically, write_text
from purse.base.optional import alt, extra
from purse.errors import PurseError
from purse.lab.report.charts.base import Figure, dark_rules

_SCALE = 2  # pixels of a PNG per unit of its figure
_KINDS = ("png", "svg", "csv")
_ROOM = 1.2  # times as wide as the renderer's may be the font that a reader has
_SIZE = re.compile(r'(?<=font-size=")[\d.]+')
_GROUND = re.compile(r'(<rect [^>]*)fill="#FFFFFF"')  # the first one is the ground
_INK, _SOFT, _RULE = "#E6EDF3", "#9BA5B0", "#3A4149"  # on a dark page
_WORDS = ("axis-title", "title-text", "title-subtitle", "legend-label", "legend-title")
# marks that carry their own ground, such as the cells of a heat map, name their ink otherwise
_BLACK = ("black", "#000", "#000000")


def write_figures(figures: Sequence[Figure], folder: Path) -> list[Path]:
    """Write every figure into a folder, which is made if it is missing; return their paths."""
    make_folder(folder)
    return [path for figure in figures for path in write_figure(figure, folder)]


def write_figure(figure: Figure, folder: Path, kinds: Sequence[str] = _KINDS) -> list[Path]:
    """Write a figure as `name.png`, `name.svg` and `name.csv`, or as some of these."""
    svg = render_svg(figure.spec)
    contents: dict[str, Callable[[], bytes]] = {
        "png": lambda: extra("vl_convert").svg_to_png(svg, scale=_SCALE),
        "svg": svg.encode,
        "csv": lambda: figure.data.write_csv().encode(),
    }
    paths = [folder / f"{figure.name}.{kind}" for kind in kinds]
    for kind, path in zip(kinds, paths, strict=True):
        write_atomically(path, partial(_put, contents[kind]()))
    return paths


def _put(content: bytes, file: Any) -> None:
    """Write the content to an open file."""
    file.write(content)


def render_svg(spec: dict[str, Any]) -> str:
    """Draw a Vega-Lite chart as an SVG document, with room for readers' fonts.

    The renderer measures text in its own font. It gets larger text, and the drawing smaller one.
    """
    svg = str(extra("vl_convert").vegalite_to_svg(_enlarge(spec), vl_version=_version()))
    svg = _SIZE.sub(lambda match: f"{float(match[0]) / _ROOM:g}", svg)
    # the renderer counts on from drawing to drawing, and equal charts are to be equal files
    names = dict.fromkeys(re.findall(r'id="((?:gradient_|clip)\d+)"', svg))
    places = {name: f"{name.rstrip('0123456789')}{place}" for place, name in enumerate(names)}
    return re.sub(r'(?<=id="|rl\(#)\w+', lambda match: places.get(match[0], match[0]), svg)


def _enlarge(part: Any, name: str = "") -> Any:
    """Return a part of a chart with larger text, and larger limits on its width."""
    if isinstance(part, dict):
        return {
            key: value if key == "datasets" else _enlarge(value, key) for key, value in part.items()
        }
    if isinstance(part, list):
        return [_enlarge(item) for item in part]
    return _ROOM * part if name.endswith(("ontSize", "imit")) else part


def _version() -> str:
    """Name the version of Vega-Lite that charts are written for, as the renderer does."""
    return ".".join(alt.SCHEMA_VERSION.removeprefix("v").split(".")[:2])


def javascript() -> str:
    """Give the script that draws charts in a page; it takes seconds to make, so it is cached."""
    renderer = extra("vl_convert")
    folder = Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")) / "purse"
    cached = folder / f"vega-lite-{_version()}-vl-convert-{renderer.__version__}.js"
    with suppress(OSError, UnicodeDecodeError):
        return cached.read_text(encoding="utf-8")
    script = str(renderer.javascript_bundle(vl_version=_version()))
    with suppress(PurseError):  # without a cache it is put together each time
        make_folder(cached.parent)
        write_text(cached, script)
    return script


def themed(svg: str) -> str:
    """Return the drawing without its white ground, and with light ink where the page is dark."""
    words = ", ".join(f".marks .role-{role} text" for role in _WORDS)
    black = ", ".join(f'.marks [fill="{name}"]' for name in _BLACK)
    rules = (
        f"  {words}, {black} {{ fill: {_INK}; }}\n"
        f"  .marks .role-axis-label text {{ fill: {_SOFT}; }}\n"
        f"  .marks .role-axis-grid line {{ stroke: {_RULE}; }}\n"
    )
    start, end = dark_rules().rsplit("}", 1)
    style = f"<style>{start}{rules}}}{end}</style>"
    clear = _GROUND.sub(r'\1fill="none"', svg, count=1)
    return re.sub(r"(<svg [^>]*>)", lambda match: match[1] + style, clear, count=1)
