"""The common part of all figures: panels side by side, one for each world or budget; policies by
colour and shape, arms by colour, theorems and references by dash.

Policies have Okabe and Ito's hues, arms Tol's muted ones: colour-blind readers can tell both apart.
Those of policies are darkened or lightened until each has a contrast of 3 against the page, light
or dark. A figure is drawn in the light ones; on a dark page rules replace them.

Channels are objects everywhere: of a text or a mapping Altair takes milliseconds to make one.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

from purse.base.optional import alt, pl
from purse.lab.figure import Panel

NUMBER = ",.9~r"  # 1,000 and 0.25, never 1e+03
PERCENT = ".3~%"
_MOST_TICKS = 6
WIDE = 20  # values that differ by more than this factor get a logarithmic axis
LIGHT = ("#0072B2", "#D55E00", "#009E73", "#C2659B", "#B57B00", "#3C98CE", "#1B1F24", "#8C8400")
_DARK = ("#4A9FE3", "#F07A2E", "#2EBF92", "#E39AC4", "#E69F00", "#A5DBFA", "#E6EDF3", "#F0E442")
_GROUND = re.compile(r'(<rect [^>]*)fill="#FFFFFF"')  # the first one is the ground
_INK, _SOFT, _RULE = "#E6EDF3", "#9BA5B0", "#3A4149"  # on a dark page
_WORDS = ("axis-title", "title-text", "title-subtitle", "legend-label", "legend-title")
# marks that carry their own ground, such as the cells of a heat map, name their ink otherwise
_BLACK = ("black", "#000", "#000000")
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
_SHAPES = tuple(GLYPHS)
_ARMS_LIGHT = ("#88CCEE", "#332288", "#DDCC77", "#CC6677",
              "#44AA99", "#882255", "#999933", "#AA4499")  # fmt: skip
_ARMS_DARK = ("#88CCEF", "#7465D8", "#DDCC78", "#CC6678",
              "#44AA9A", "#BC4A86", "#999934", "#C26BB3")  # fmt: skip
_BEST, _BEST_DARK = "#117733", "#2F9E57"  # of the best arm, and of nothing else
_OTHERS, _OTHERS_DARK = "#BBBBBB", "#6B737C"
NEUTRAL, _NEUTRAL_DARK = "#6A737D", "#9BA5B0"
DASHES: tuple[list[int], ...] = ([5, 3], [2, 2], [9, 3, 2, 3], [9, 3], [2, 4], [5, 2, 2, 2, 2, 2])


def colours(policies: Sequence[str]) -> list[str]:
    """Return one colour per policy; after eight they come again."""
    return [LIGHT[index % len(LIGHT)] for index in range(len(policies))]


def shapes(policies: Sequence[str]) -> list[str]:
    """Return one shape per policy; a colour that comes again has another shape."""
    return [_SHAPES[(index + index // len(LIGHT)) % len(_SHAPES)] for index in range(len(policies))]


def arm_colours(arms: Sequence[str], others: str, best: str | None = None) -> list[str]:
    """Return one colour per arm: the reserved one for the best arm, and grey for the others."""
    plain = [arm for arm in arms if arm not in (others, best)]
    own = {arm: _ARMS_LIGHT[index % len(_ARMS_LIGHT)] for index, arm in enumerate(plain)}
    return [own.get(arm, _BEST if arm == best else _OTHERS) for arm in arms]


def dashes(names: Sequence[str]) -> list[list[int]]:
    """Return one dash per theorem or reference."""
    return [DASHES[index % len(DASHES)] for index in range(len(names))]


def dark_rules() -> str:
    """Return the style rules that give every colour of a figure its counterpart on a dark page."""
    pairs = [
        *zip(LIGHT, _DARK, strict=True),
        *zip(_ARMS_LIGHT, _ARMS_DARK, strict=True),
        (_BEST, _BEST_DARK),
        (_OTHERS, _OTHERS_DARK),
        (NEUTRAL, _NEUTRAL_DARK),
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
    ticks = _decades(low / room, high * room)
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


def _decades(low: float, high: float) -> list[float]:
    """Return the powers of ten in between, with threes, or twos and fives, if there are few of
    them; not too many.

    >>> _decades(900, 110_000)
    [1000.0, 10000.0, 100000.0]
    >>> _decades(90, 1_100)
    [100.0, 300.0, 1000.0]
    """
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    values: list[float] = []
    for multiples in ((1,), (1, 3), (1, 2, 5)):
        every = [float(f"{digit}e{power}") for power in powers for digit in multiples]
        values = [value for value in every if low <= value <= high]
        if len(values) > 2:
            break
    return values[:: -(-len(values) // _MOST_TICKS)] if values else values


WIDTH, HEIGHT = 400, 260  # of a panel
STEP = 30  # of a row
# `chosen` are the policies that a reader has picked out; at first the list is empty
_CHOSEN = "!length(chosen) || indexof(chosen, datum.policy) >= 0"
_FAINT = 0.15


def layered(title: str, layers: Sequence[Any], height: int = HEIGHT) -> Panel:
    """Return the layers as one panel."""
    return Panel(title, alt.layer(*layers, title=title, width=WIDTH, height=height))


def policy_colour(policies: Sequence[str]) -> Any:
    """Return the colour of a policy."""
    scale = alt.Scale(domain=list(policies), range=colours(policies))
    return alt.Color("policy:N", scale=scale, legend=alt.Legend(title=None))


def policy_shape(policies: Sequence[str]) -> Any:
    """Return the shape of a policy's points."""
    scale = alt.Scale(domain=list(policies), range=shapes(policies))
    return alt.Shape("policy:N", scale=scale, legend=alt.Legend(title=None))


def dash(names: Sequence[str]) -> Any:
    """Return the dash of a theorem or a reference."""
    scale = alt.Scale(domain=list(names), range=dashes(names))
    legend = alt.Legend(title=None, symbolSize=300, symbolStrokeWidth=1.5)
    return alt.StrokeDash("name:N", scale=scale, legend=legend)


def visible(full: float = 1.0) -> Any:
    """Return the opacity of a policy's marks: faint if a reader has picked out others."""
    return alt.OpacityValue(_FAINT * full, condition={"test": _CHOSEN, "value": full})


def tips(**fields: str) -> list[Any]:
    """Return the tooltip of a point: fields by their titles, numbers in full."""
    shown: list[Any] = []
    for title, what in fields.items():
        column, _, digits = what.partition("|")
        how = {"format": digits or NUMBER} if ":Q" in what else {}
        shown.append(alt.Tooltip(column, title=title.replace("_", " "), **how))
    return shown


def _entries_of(column: str, table: pl.DataFrame) -> list[str]:
    """Return the entries of a column, each once, in the order in which they were given."""
    return table[column].unique(maintain_order=True).to_list()


policies_of, worlds_of = partial(_entries_of, "policy"), partial(_entries_of, "world")
names_of = partial(_entries_of, "name")  # of theorems or references


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
