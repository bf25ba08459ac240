"""The style of all figures: axes with whole decades and separated thousands; policies by colour and
shape, arms by colour, theorems and references by dash.

Policies have Okabe and Ito's hues, arms Tol's muted ones: colour-blind readers can tell both apart.
Those of policies are darkened or lightened until each has a contrast of 3 against the page, light
or dark. A figure is drawn in the light ones; on a dark page rules replace them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from purse.base.optional import alt

NUMBER = ",.9~r"  # 1,000 and 0.25, never 1e+03
PERCENT = ".3~%"
MOST_TICKS = 6
WIDE = 20  # values that differ by more than this factor get a logarithmic axis
CONFIG: dict[str, Any] = {
    "background": "#FFFFFF",
    "aria": False,  # the page describes a panel as a whole
    "font": "Liberation Sans, Arial, Helvetica, sans-serif",
    "view": {"stroke": None},
    "concat": {"spacing": 28},
    "title": {"anchor": "start", "fontSize": 14, "fontWeight": 600, "offset": 14, "limit": 360},
    "axis": {"labelFontSize": 11.5, "labelPadding": 6, "titleFontSize": 12,
             "titleFontWeight": "normal", "gridColor": "#E4E8EC", "domain": False},
    "axisX": {"ticks": False, "titlePadding": 8, "labelFlush": True},
    "axisY": {"ticks": False, "labelLimit": 140,
              "titleAngle": 0, "titleAlign": "left", "titleAnchor": "end",
              "titleBaseline": "bottom", "titleX": 0, "titleY": -9},
    "legend": {"orient": "top", "title": None, "labelFontSize": 12, "labelLimit": 260,
               "columns": 4, "symbolSize": 70, "symbolOpacity": 1, "offset": 18},
}  # fmt: skip
LIGHT = ("#0072B2", "#D55E00", "#009E73", "#C2659B", "#B57B00", "#3C98CE", "#1B1F24", "#8C8400")
DARK = ("#4A9FE3", "#F07A2E", "#2EBF92", "#E39AC4", "#E69F00", "#A5DBFA", "#E6EDF3", "#F0E442")
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
SHAPES = tuple(GLYPHS)
ARMS_LIGHT = ("#88CCEE", "#332288", "#DDCC77", "#CC6677",
              "#44AA99", "#882255", "#999933", "#AA4499")  # fmt: skip
ARMS_DARK = ("#88CCEF", "#7465D8", "#DDCC78", "#CC6678", "#44AA9A", "#BC4A86", "#999934", "#C26BB3")
BEST, BEST_DARK = "#117733", "#2F9E57"  # of the best arm, and of nothing else
OTHERS, OTHERS_DARK = "#BBBBBB", "#6B737C"
NEUTRAL, NEUTRAL_DARK = "#6A737D", "#9BA5B0"
DASHES: tuple[list[int], ...] = ([5, 3], [2, 2], [9, 3, 2, 3], [9, 3], [2, 4], [5, 2, 2, 2, 2, 2])


def colours(policies: Sequence[str]) -> list[str]:
    """Return one colour per policy; after eight they come again."""
    return [LIGHT[place % len(LIGHT)] for place in range(len(policies))]


def shapes(policies: Sequence[str]) -> list[str]:
    """Return one shape per policy; a colour that comes again has another shape."""
    return [SHAPES[(place + place // len(LIGHT)) % len(SHAPES)] for place in range(len(policies))]


def arm_colours(arms: Sequence[str], others: str, best: str | None = None) -> list[str]:
    """Return one colour per arm: the reserved one for the best arm, and grey for the others."""
    plain = [arm for arm in arms if arm not in (others, best)]
    own = {arm: ARMS_LIGHT[place % len(ARMS_LIGHT)] for place, arm in enumerate(plain)}
    return [own.get(arm, BEST if arm == best else OTHERS) for arm in arms]


def dashes(names: Sequence[str]) -> list[list[int]]:
    """Return one dash per theorem or reference."""
    return [DASHES[place % len(DASHES)] for place in range(len(names))]


def dark_rules() -> str:
    """Return the style rules that give every colour of a figure its counterpart on a dark page."""
    pairs = [
        *zip(LIGHT, DARK, strict=True),
        *zip(ARMS_LIGHT, ARMS_DARK, strict=True),
        (BEST, BEST_DARK),
        (OTHERS, OTHERS_DARK),
        (NEUTRAL, NEUTRAL_DARK),
    ]
    rules = (
        f'  [fill="{light}"] {{ fill: {dark}; }} [stroke="{light}"] {{ stroke: {dark}; }}'
        for light, dark in pairs
    )
    return "@media screen and (prefers-color-scheme: dark) {\n" + "\n".join(rules) + "\n}\n"


def logarithmic(values: Iterable[float | None], title: str) -> dict[str, Any]:
    """Scale and axis for positive values, with a little room at both ends."""
    positive = [value for value in values if value is not None and value > 0]
    low, high = (min(positive), max(positive)) if positive else (1.0, 10.0)
    room = (high / low) ** 0.04 if high > low else 2.0
    ticks = decades(low / room, high * room)
    scale = alt.Scale(type="log", domain=[low / room, high * room], nice=False)
    where = {"values": ticks} if len(ticks) > 1 else {"tickCount": 3}
    return {"scale": scale, "axis": alt.Axis(title=title, format=NUMBER, **where)}


def budgets(values: Iterable[float]) -> dict[str, Any]:
    """Return the axis of budgets."""
    return logarithmic(values, "budget B")


def linear(title: str, format: str = NUMBER, **scale: Any) -> dict[str, Any]:
    """Scale and axis in equal steps."""
    return {"scale": alt.Scale(**scale), "axis": alt.Axis(title=title, format=format, tickCount=5)}


def either(values: Iterable[float | None], title: str) -> dict[str, Any]:
    """Return a logarithmic axis if values are positive and differ by orders, else a linear one."""
    numbers = [value for value in values if value is not None]
    wide = bool(numbers) and min(numbers) > 0 and max(numbers) > WIDE * min(numbers)
    if wide:
        return logarithmic(numbers, title)
    return linear(title, zero=not numbers or min(numbers) <= 0 or max(numbers) > 2 * min(numbers))


def digits(values: Iterable[float | None]) -> str:
    """Return the format of numbers: whole where some are large, else four digits."""
    return ",.0f" if any(abs(value) >= 1000 for value in values if value) else ",.4~r"


def decades(low: float, high: float) -> list[float]:
    """Return the powers of ten in between, with threes, or twos and fives, if there are few of
    them; not too many.

    >>> decades(900, 110_000)
    [1000.0, 10000.0, 100000.0]
    >>> decades(90, 1_100)
    [100.0, 300.0, 1000.0]
    """
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    values: list[float] = []
    for multiples in ((1,), (1, 3), (1, 2, 5)):
        every = [float(f"{digit}e{power}") for power in powers for digit in multiples]
        values = [value for value in every if low <= value <= high]
        if len(values) > 2:
            break
    return values[:: -(-len(values) // MOST_TICKS)] if values else values
