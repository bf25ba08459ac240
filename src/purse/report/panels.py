"""A figure as a page holds it: its panels in groups, each drawn once already for readers without
scripts.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Sequence
from copy import deepcopy
from typing import Any

from purse.base.optional import extra
from purse.report.charts.areas import arms_of
from purse.report.charts.base import Figure
from purse.report.charts.export import version
from purse.report.charts.palette import arm_colours
from purse.report.frames import OTHERS
from purse.report.shell import inline

PANEL = 440  # the width of a panel before the page has measured its own
SMALL = 180


def describe(
    figure: Figure, label: str, caption: str, dashes: Sequence[dict[str, str]] = ()
) -> dict[str, Any]:
    """A figure as the template needs it. `label` says in a few words what it shows, `caption`, in
    Markdown, how to read it, `dashes` what its dashes mean.
    """
    spec = figure.spec()
    by_world = figure.panels[0].policy is not None
    groups: list[dict[str, Any]] = [] if by_world else [{"panels": []}]
    for index, panel in enumerate(figure.panels):
        if by_world and (not groups or groups[-1]["title"] != panel.world):
            arms = arms_of(figure.data, panel.world)
            swatches = [
                {"name": arm, "colour": colour}
                for arm, colour in zip(arms, arm_colours(arms, OTHERS), strict=True)
            ]
            groups.append({"title": panel.world, "arms": swatches, "panels": []})
        about = panel.world if panel.policy is None else f"{panel.policy} in {panel.world}"
        groups[-1]["panels"].append(
            {
                "title": panel.policy or panel.world,
                "label": about,
                "index": index,
                "svg": still(spec, figure.name, index, SMALL if by_world else PANEL),
            }
        )
    return {
        "name": figure.name,
        "label": label,
        "caption": inline(caption),
        "groups": groups,
        "dashes": dashes,
        "csv": "data:text/csv;charset=utf-8;base64,"
        + b64encode(figure.data.write_csv().encode()).decode(),
        "spec": spec,
    }


def still(spec: dict[str, Any], name: str, index: int, width: int) -> Any:
    """One panel as SVG, as the page's script draws it."""
    panel = {key: value for key, value in deepcopy(spec["concat"][index]).items() if key != "title"}
    for layer in panel.get("layer", [panel]):
        for channel in layer["encoding"].values():
            if "legend" in channel:
                channel["legend"] = None
    # data stand there where all layers share them
    shared = {key: spec[key] for key in ("$schema", "params", "datasets", "data") if key in spec}
    size = {"width": width, "autosize": {"type": "fit-x", "contains": "padding"}}
    drawn = extra("vl_convert").vegalite_to_svg(
        panel | shared | size | {"config": spec["config"] | {"background": None}},
        vl_version=version(),
    )
    return extra("markupsafe").Markup(re.sub(r'(id="|url\(#)', rf"\g<1>{name}-{index}-", drawn))
