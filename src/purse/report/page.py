"""A study as one HTML page that needs nothing else: figures that answer to pointing, the numbers behind them, and how to run it again."""

from __future__ import annotations

import re
from base64 import b64encode
from copy import deepcopy
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from purse.files import write_text
from purse.report import captions, tables, words
from purse.report.areas import arms_of
from purse.report.charts import Figure, names_of, policies_of, worlds_of
from purse.report.export import figures_of, version
from purse.report.extra import extra
from purse.report.frames import OTHERS, bounds, references
from purse.report.palette import GLYPHS, NEUTRAL, arm_colours, colours, dark_rules, dashes, shapes

if TYPE_CHECKING:
    from purse.study import Study

PANEL = 440  # the width of a panel before the page has measured its own
SMALL = 180


def write_page(study: Study, path: Path) -> Path:
    """Write the report of a study; returns where."""
    write_text(path, html(study))
    return path


def html(study: Study) -> str:
    """The page."""
    jinja2, renderer, safe = extra("jinja2"), extra("vl_convert"), extra("markupsafe").Markup
    table, drawn = study.table(), figures_of(study)
    policies = policies_of(table)
    looks = zip(policies, colours(policies), shapes(policies), strict=True)
    template = jinja2.Environment(autoescape=True, trim_blocks=False).from_string(asset("page.html"))
    return str(
        template.render(
            title=study.facts["title"],
            made=made(study),
            short=inline(words.in_short(study)),
            findings=[{"world": world, "says": inline(words.finding(study, world))} for world in worlds_of(table)],
            policies=[{"name": policy, "colour": colour, "glyph": GLYPHS[shape]} for policy, colour, shape in looks],
            figures={figure.name: described(figure, study) for figure in drawn},
            theorems=[inline(remark) for remark in words.theorems(study)],
            ended=[inline(remark) for remark in words.ended(study)],
            regrets=tables.regrets(study),
            regrets_caption=tables.CAPTION if study.facts["n_paths"] > 1 else tables.SINGLE,
            growth=tables.growth(study),
            growth_caption=tables.GROWTH,
            details=tables.details(study),
            command=study.facts["command"],
            toml=study.facts.get("study"),
            neutral=NEUTRAL,
            style=safe(asset("page.css") + asset("study.css") + dark_rules()),
            bundle=safe(renderer.javascript_bundle(vl_version=version())),
            script=safe(asset("study.js")),
        )
    )


def described(figure: Figure, study: Study) -> dict[str, Any]:
    """A figure as the template needs it: its panels in groups, drawn once already for readers without scripts."""
    spec = figure.spec()
    by_world = figure.panels[0].policy is not None
    groups: list[dict[str, Any]] = [] if by_world else [{"panels": []}]
    for index, panel in enumerate(figure.panels):
        if by_world and (not groups or groups[-1]["title"] != panel.world):
            arms = arms_of(figure.data, panel.world)
            swatches = [{"name": arm, "colour": colour} for arm, colour in zip(arms, arm_colours(arms, OTHERS), strict=True)]
            groups.append({"title": panel.world, "arms": swatches, "panels": []})
        label = panel.world if panel.policy is None else f"{panel.policy} in {panel.world}"
        groups[-1]["panels"].append(
            {"title": panel.policy or panel.world, "label": label, "index": index, "svg": still(spec, figure.name, index, SMALL if by_world else PANEL)}
        )
    return {
        "name": figure.name,
        "label": captions.LABELS[figure.name],
        "caption": inline(captions.caption(figure, study)),
        "groups": groups,
        "dashes": dash_keys(figure, study),
        "csv": "data:text/csv;charset=utf-8;base64," + b64encode(figure.data.write_csv().encode()).decode(),
        "spec": spec,
    }


def dash_keys(figure: Figure, study: Study) -> list[dict[str, str]]:
    """What the dashes of a figure mean."""
    known = bounds(study).drawn if figure.name == "regret" else references(study) if figure.name == "gain" else None
    if known is None:
        return []
    names = names_of(known)
    if figure.name == "regret" and figure.data["budget"].n_unique() == 1:  # there the bound of a policy is a line in its own row
        known = known.filter(policy=words.EVERY)
    return [{"name": name, "dash": " ".join(map(str, dash))} for name, dash in zip(names, dashes(names), strict=True) if name in known["name"]]


def still(spec: dict[str, Any], name: str, index: int, width: int) -> Any:
    """One panel as SVG, as the page's script draws it."""
    panel = {key: value for key, value in deepcopy(spec["concat"][index]).items() if key != "title"}
    for layer in panel.get("layer", [panel]):
        for channel in layer["encoding"].values():
            if "legend" in channel:
                channel["legend"] = None
    shared = {key: spec[key] for key in ("$schema", "params", "datasets")}
    size = {"width": width, "autosize": {"type": "fit-x", "contains": "padding"}}
    drawn = extra("vl_convert").vegalite_to_svg(panel | shared | size | {"config": spec["config"] | {"background": None}}, vl_version=version())
    return extra("markupsafe").Markup(re.sub(r'(id="|url\(#)', rf"\g<1>{name}-{index}-", drawn))


def inline(text: str) -> Any:
    """Markdown within a paragraph as HTML; tags in it are shown and not obeyed."""
    from markdown_it import MarkdownIt

    return extra("markupsafe").Markup(MarkdownIt("commonmark", {"html": False}).renderInline(text))


def made(study: Study) -> str:
    """When and with what the page was made."""
    parts = [
        f"purse {study.facts['versions']['purse']}" if "purse" in study.facts["versions"] else "",
        (study.facts.get("made") or "").replace("T", " ").replace("+00:00", " UTC"),
    ]
    return " · ".join(part for part in parts if part)


def asset(name: str) -> str:
    """A file that lies beside this one."""
    return files("purse.report").joinpath(name).read_text(encoding="utf-8")
