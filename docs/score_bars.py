"""A small picture of a policy's regrets by situation: bars as HTML, drawn while the site is built.

A chart of the report takes a fifth of a second to draw, and there are fifty policies.
"""

from __future__ import annotations

import math
from html import escape
from typing import NamedTuple

ROW, LABEL, WIDTH, BAR = 30, 190, 430, 9  # pixels
MINE, USUAL = "#0072b2", "#e69f00"  # seen on light and on dark pages


class Bars(NamedTuple):
    """The mean regrets of one situation, in [0, 1]."""

    situation: str
    mine: float
    usual: float | None  # of the default policy; None: it cannot play
    best: float


def place_of(regret: float) -> float:
    """Return where a regret lies, in pixels, on a root scale: most regrets are small."""
    return WIDTH * math.sqrt(min(1.0, max(0.0, regret)))


def draw(name: str, default: str, rows: list[Bars]) -> str:
    """Return the picture as HTML that MyST keeps as it is."""
    height = ROW * len(rows) + 24
    parts = [
        f'<svg viewBox="0 0 {LABEL + WIDTH + 60} {height}" role="img" style="max-width:44rem" '
        f'aria-label="Mean regret of {escape(name)} by situation" font-size="12" '
        'fill="currentColor">'
    ]
    drawn = [(MINE, name), *([(USUAL, default)] if default != name else [])]
    for index, (colour, title) in enumerate(drawn):
        x = LABEL + index * 150
        parts.append(f'<rect x="{x}" y="4" width="10" height="10" fill="{colour}"/>')
        parts.append(f'<text x="{x + 15}" y="13">{escape(title)}</text>')
    parts.append(f'<text x="{LABEL + 290}" y="13">| the best of all (root scale)</text>')
    for number, row in enumerate(rows):
        y = 24 + ROW * number
        parts.append(
            f'<text x="{LABEL - 8}" y="{y + 13}" text-anchor="end">{escape(row.situation)}</text>'
        )
        values = [row.mine, *([row.usual] if default != name and row.usual is not None else [])]
        for index, value in enumerate(values):
            colour, top = drawn[index][0], y + index * (BAR + 1)
            wide = max(1.0, place_of(value))
            parts.append(
                f'<rect x="{LABEL}" y="{top}" width="{wide:.1f}" height="{BAR}" fill="{colour}">'
                f"<title>{escape(drawn[index][1])}: {value:.1%}</title></rect>"
            )
        parts.append(f'<text x="{LABEL + WIDTH + 8}" y="{y + 13}">{row.mine:.1%}</text>')
        mark = LABEL + place_of(row.best)
        parts.append(
            f'<path d="M{mark:.1f},{y - 2}v{2 * BAR + 5}" stroke="currentColor" stroke-width="2"/>'
        )
    return "```{raw} html\n" + "".join(parts) + "</svg>\n```"
