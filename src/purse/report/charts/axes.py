"""Axes that people read: whole decades, separated thousands, titles that lie flat, and one look for
all figures.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from purse.base.optional import extra

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


def logarithmic(values: Iterable[float | None], title: str) -> dict[str, Any]:
    """Scale and axis for positive values, with a little room at both ends."""
    alt = extra("altair")
    known = [value for value in values if value is not None and value > 0]
    low, high = (min(known), max(known)) if known else (1.0, 10.0)
    room = (high / low) ** 0.04 if high > low else 2.0
    ticks = decades(low / room, high * room)
    scale = alt.Scale(type="log", domain=[low / room, high * room], nice=False)
    return {
        "scale": scale,
        "axis": alt.Axis(
            title=title,
            format=NUMBER,
            **({"values": ticks} if len(ticks) > 1 else {"tickCount": 3}),
        ),
    }


def budgets(values: Iterable[float]) -> dict[str, Any]:
    """The axis of budgets."""
    return logarithmic(values, "budget B")


def linear(title: str, format: str = NUMBER, **scale: Any) -> dict[str, Any]:
    """Scale and axis in equal steps."""
    alt = extra("altair")
    return {"scale": alt.Scale(**scale), "axis": alt.Axis(title=title, format=format, tickCount=5)}


def either(values: Iterable[float | None], title: str) -> dict[str, Any]:
    """Logarithmic where values are positive and differ by orders, linear where not."""
    known = [value for value in values if value is not None]
    wide = bool(known) and min(known) > 0 and max(known) > WIDE * min(known)
    return (
        logarithmic(known, title)
        if wide
        else linear(title, zero=not known or min(known) <= 0 or max(known) > 2 * min(known))
    )


def decades(low: float, high: float) -> list[float]:
    """The powers of ten in between, with threes, or twos and fives, where there are few of them;
    not too many.

    >>> decades(900, 110_000)
    [1000.0, 10000.0, 100000.0]
    >>> decades(90, 1_100)
    [100.0, 300.0, 1000.0]
    """
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    values: list[float] = []
    for multiples in ((1,), (1, 3), (1, 2, 5)):
        values = [
            float(f"{digit}e{power}")
            for power in powers
            for digit in multiples
            if low <= float(f"{digit}e{power}") <= high
        ]
        if len(values) > 2:
            break
    return values[:: -(-len(values) // MOST_TICKS)] if values else values
