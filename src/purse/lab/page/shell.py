"""Parts of pages, and the templates that hold them. A figure stands in a page as panels in groups,
each drawn once already for readers without scripts.
"""

import os
import re
from base64 import b64encode
from collections.abc import Mapping, Sequence
from contextlib import suppress
from copy import deepcopy
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

from purse.base.files import make_folder, write_text
from purse.base.optional import extra
from purse.errors import PurseError
from purse.lab.figure import Figure, render_svg, vega_lite_version
from purse.lab.page.charts.study import swatches

Part = tuple[str, Any]  # what it is, such as "figure", "table" or "h3", and the thing itself

_PANEL = 440  # the width of a panel before the page has measured its own
_SMALL = 180


class Section(NamedTuple):
    """A section of a page."""

    name: str
    title: str
    parts: Sequence[Part]


class Content(NamedTuple):
    """The content of a page, beside the facts of its result. Texts are Markdown."""

    short: str  # what was asked
    findings: Mapping[str, str]
    series: Sequence[str]  # the policies, which colours and shapes tell apart
    sections: Sequence[Section]
    details: Sequence[Mapping[str, Any]]  # what was run
    overview: Sequence[Part] = ()
    remarks: Sequence[Part] = ()
    warnings: Sequence[str] = ()
    toml: str | None = None
    answer_first: bool = True  # whether findings come before what was asked
    contents: bool = True  # whether the page has a list of its sections


def render_text(title: str, body: str) -> str:
    """Put the HTML of a page that is mostly text into the common shell."""
    return fill("shell.html", title=title, style=safe(asset("page.css")), body=safe(body))


def fill(template: str, **content: Any) -> str:
    """Fill a template of this package; what is not `safe` is escaped."""
    jinja2 = extra("jinja2")
    environment = jinja2.Environment(autoescape=True, loader=jinja2.FunctionLoader(asset))
    return str(environment.get_template(template).render(**content))


def safe(html: str) -> Any:
    """Mark a text as HTML that is to stand as it is."""
    return extra("markupsafe").Markup(html)


def inline(text: str) -> Any:
    """Turn Markdown within a paragraph into HTML; tags in it are shown and not obeyed."""
    from markdown_it import MarkdownIt

    return safe(MarkdownIt("commonmark", {"html": False}).renderInline(text))


def asset(name: str) -> str:
    """Read a file of the folder `templates`."""
    return files("purse.lab.page").joinpath("templates", name).read_text(encoding="utf-8")


def describe(
    figure: Figure, label: str, caption: str, dashes: Sequence[dict[str, str]] = ()
) -> dict[str, Any]:
    """Give a figure as the templates need it. `label` says in a few words what it shows, `caption`,
    in Markdown, how to read it, `dashes` what its dashes mean.
    """
    spec, axes = figure.spec, figure.axes
    by_world = figure.panels[0].policy is not None
    groups: list[dict[str, Any]] = [] if by_world else [{"panels": []}]
    for index, panel in enumerate(figure.panels):
        if by_world and (not groups or groups[-1]["title"] != panel.world):
            groups.append(
                {"title": panel.world, "arms": swatches(figure.data, panel.world), "panels": []}
            )
        about = panel.world if panel.policy is None else f"{panel.policy} in {panel.world}"
        names = {"title": panel.policy or panel.world, "label": about}
        svg = _draw_panel(spec, axes, figure.name, index, _SMALL if by_world else _PANEL)
        groups[-1]["panels"].append({**names, "index": index, "svg": svg})
    rows = b64encode(figure.data.write_csv().encode()).decode()
    return {
        "name": figure.name,
        "label": label,
        "caption": inline(caption),
        "groups": groups,
        "axes": axes,
        "dashes": dashes,
        "csv": f"data:text/csv;charset=utf-8;base64,{rows}",
        "spec": spec,
    }


def _draw_panel(
    spec: dict[str, Any], axes: dict[str, str], name: str, index: int, width: int
) -> Any:
    """Draw one panel as SVG, as the page's script does: without the titles `axes`."""
    panel = {key: value for key, value in deepcopy(spec["concat"][index]).items() if key != "title"}
    for layer in panel.get("layer", [panel]):
        for which, channel in layer["encoding"].items():
            if "legend" in channel:
                channel["legend"] = None
            if which in axes and channel["axis"]["title"] == axes[which]:
                channel["axis"]["title"] = None
    default = panel.get("data", spec.get("data"))  # it stands there where all layers share it
    used = {layer.get("data", default)["name"] for layer in panel.get("layer", [panel])}
    shared: dict[str, Any] = {
        **{key: spec[key] for key in ("$schema", "params", "data") if key in spec},
        # those of other panels would be read for nothing
        "datasets": {name: rows for name, rows in spec["datasets"].items() if name in used},
    }
    size = {"width": width, "autosize": {"type": "fit-x", "contains": "padding"}}
    svg = render_svg(panel | shared | size | {"config": spec["config"] | {"background": None}})
    return safe(prefix_ids(svg, f"{name}-{index}"))


def prefix_ids(svg: str, prefix: str) -> str:
    """Begin every id in a drawing with a prefix, so that one page may hold several drawings."""
    return re.sub(r'(id="|url\(#)', rf"\g<1>{prefix}-", svg)


def javascript() -> str:
    """Give the script that draws charts in a page; it takes seconds to make, so it is cached."""
    renderer = extra("vl_convert")
    folder = Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")) / "purse"
    cached = folder / f"vega-lite-{vega_lite_version()}-vl-convert-{renderer.__version__}.js"
    with suppress(OSError, UnicodeDecodeError):
        return cached.read_text(encoding="utf-8")
    script = str(renderer.javascript_bundle(vl_version=vega_lite_version()))
    with suppress(PurseError):  # without a cache it is put together each time
        make_folder(cached.parent)
        write_text(cached, script)
    return script
