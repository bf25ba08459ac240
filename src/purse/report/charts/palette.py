"""Colours, shapes and dashes: policies by colour and shape, arms by colour, theorems and references
by dash.

Policies have Okabe and Ito's hues, arms Tol's muted ones: colour-blind readers can tell both apart.
Those of policies are darkened or lightened until each has a contrast of 3 against the page, light
or dark. A figure is drawn in the light ones; on a dark page rules replace them.
"""

from __future__ import annotations

from collections.abc import Sequence

LIGHT = ("#0072B2", "#D55E00", "#009E73", "#C2659B", "#B57B00", "#3C98CE", "#1B1F24", "#8C8400")
DARK = ("#4A9FE3", "#F07A2E", "#2EBF92", "#E39AC4", "#E69F00", "#A5DBFA", "#E6EDF3", "#F0E442")
SHAPES = (
    "circle",
    "square",
    "diamond",
    "triangle-up",
    "triangle-down",
    "cross",
    "triangle-right",
    "triangle-left",
)
GLYPHS = {
    "circle": "M-4,0a4,4,0,1,1,8,0a4,4,0,1,1,-8,0Z",
    "square": "M-3.6,-3.6h7.2v7.2h-7.2Z",
    "diamond": "M0,-5L4,0L0,5L-4,0Z",
    "triangle-up": "M0,-4.5L4.5,3.5H-4.5Z",
    "triangle-down": "M0,4.5L4.5,-3.5H-4.5Z",
    "cross": "M-1.6,-4.6h3.2v3h3v3.2h-3v3h-3.2v-3h-3v-3.2h3Z",
    "triangle-right": "M4.5,0L-3.5,4.5V-4.5Z",
    "triangle-left": "M-4.5,0L3.5,4.5V-4.5Z",
}  # as paths, for the legend
ARMS_LIGHT = (
    "#88CCEE",
    "#332288",
    "#DDCC77",
    "#117733",
    "#CC6677",
    "#44AA99",
    "#882255",
    "#999933",
)
ARMS_DARK = ("#88CCEF", "#7465D8", "#DDCC78", "#2F9E57", "#CC6678", "#44AA9A", "#BC4A86", "#999934")
OTHERS, OTHERS_DARK = "#BBBBBB", "#6B737C"
NEUTRAL, NEUTRAL_DARK = "#6A737D", "#9BA5B0"
SOLID: list[int] = []
DASHES: tuple[list[int], ...] = ([5, 3], [2, 2], [9, 3, 2, 3], [9, 3], [2, 4], [5, 2, 2, 2, 2, 2])


def colours(policies: Sequence[str]) -> list[str]:
    """One colour per policy; after eight they come again."""
    return [LIGHT[place % len(LIGHT)] for place in range(len(policies))]


def shapes(policies: Sequence[str]) -> list[str]:
    """One shape per policy; where a colour comes again, it comes with another shape."""
    return [SHAPES[(place + place // len(LIGHT)) % len(SHAPES)] for place in range(len(policies))]


def arm_colours(arms: Sequence[str], others: str) -> list[str]:
    """One colour per arm, and grey for the others."""
    return [
        OTHERS if arm == others else ARMS_LIGHT[place % len(ARMS_LIGHT)]
        for place, arm in enumerate(arms)
    ]


def dashes(names: Sequence[str]) -> list[list[int]]:
    """One dash per theorem or reference."""
    return [DASHES[place % len(DASHES)] for place in range(len(names))]


def dark_rules() -> str:
    """The style rules that give every colour of a figure its counterpart on a dark page."""
    pairs = [
        *zip(LIGHT, DARK, strict=True),
        *zip(ARMS_LIGHT, ARMS_DARK, strict=True),
        (OTHERS, OTHERS_DARK),
        (NEUTRAL, NEUTRAL_DARK),
    ]
    rules = (
        f'  [fill="{light}"] {{ fill: {dark}; }} [stroke="{light}"] {{ stroke: {dark}; }}'
        for light, dark in pairs
    )
    return "@media screen and (prefers-color-scheme: dark) {\n" + "\n".join(rules) + "\n}\n"
