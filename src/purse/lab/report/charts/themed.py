"""A figure that stands by itself on light and dark pages: no ground of its own, and rules for its
colours inside. A browser applies them to a picture as to a page.
"""

from __future__ import annotations

import re

from purse.lab.report.charts.style import dark_rules

GROUND = re.compile(r'(<rect [^>]*)fill="#FFFFFF"')  # the first one is the ground
INK, SOFT, RULE = "#E6EDF3", "#9BA5B0", "#3A4149"  # on a dark page
WORDS = ("axis-title", "title-text", "title-subtitle", "legend-label", "legend-title")
# marks that carry their own ground, such as the cells of a heat map, name their ink otherwise
BLACK = ("black", "#000", "#000000")


def themed(svg: str) -> str:
    """Return the drawing without its white ground, and with light ink where the page is dark."""
    words = ", ".join(f".marks .role-{role} text" for role in WORDS)
    black = ", ".join(f'.marks [fill="{name}"]' for name in BLACK)
    rules = (
        f"  {words}, {black} {{ fill: {INK}; }}\n"
        f"  .marks .role-axis-label text {{ fill: {SOFT}; }}\n"
        f"  .marks .role-axis-grid line {{ stroke: {RULE}; }}\n"
    )
    start, end = dark_rules().rsplit("}", 1)
    style = f"<style>{start}{rules}}}{end}</style>"
    clear = GROUND.sub(r'\1fill="none"', svg, count=1)
    return re.sub(r"(<svg [^>]*>)", lambda match: match[1] + style, clear, count=1)
