"""What a claim's study returns: a verdict, one line of what was measured, and the blocks of its
section.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from purse.theory.growth import Growth
from purse.theory.notions import Estimate
from purse.types import Floats


class Table(NamedTuple):
    """Rows of text under a head."""

    head: Sequence[str]
    rows: Sequence[Sequence[str]]


class Curve(NamedTuple):
    """A line of a picture; measured ones have markers and, where there is an interval, a band."""

    label: str
    x: Sequence[float] | Floats
    y: Sequence[float] | Floats
    low: Sequence[float] | Floats | None = None
    high: Sequence[float] | Floats | None = None
    theory: bool = False


def measured(
    label: str, budgets: Sequence[float], estimates: Sequence[Estimate], per_budget: bool = False
) -> Curve:
    """The curve of estimates over budgets, with its band; divided by the budgets on request."""
    scale = np.array(budgets) if per_budget else np.ones(len(budgets))
    mean, low, high = (
        np.array([getattr(each, part) for each in estimates]) / scale
        for part in ("mean", "low", "high")
    )
    return Curve(label, budgets, mean, low, high)


class Panel(NamedTuple):
    """Curves over common axes, both logarithmic."""

    title: str
    x_label: str
    y_label: str
    curves: Sequence[Curve]


class Picture(NamedTuple):
    """A figure: its file name, what it shows, and its panels side by side."""

    name: str
    caption: str
    panels: Sequence[Panel]


class Finding(NamedTuple):
    """The outcome of one claim's study."""

    verdict: str  # in a few words
    measured: str  # in a line
    agrees: bool  # whether what was measured is what the verdict says
    blocks: Sequence[str | Table | Picture]  # the section: Markdown, tables and pictures


def growth_cells(growth: Growth) -> list[str]:
    """Slope with its interval, slopes from budget to budget, best shape and what each shape leaves,
    for a row of a table.
    """
    shape = growth.shape if growth.misfits[growth.shape] < FITS else "none"
    left = ", ".join(f"{name} {error:.0%}" for name, error in growth.misfits.items())
    return [
        f"{growth.slope:.2f} [{growth.low:.2f}, {growth.high:.2f}]",
        ", ".join(f"{step:.2f}" for step in growth.slopes),
        shape,
        left,
    ]


FITS = 0.05  # a shape describes the growth if it leaves less than this, relatively
GROWTH_HEAD = [
    "log–log slope [95%]",
    "from budget to budget",
    "shape that fits within 5%",
    "misfit of each shape a + b·f(B)",
]


def scientific(number: float) -> str:
    """A large number as people write it: 6.1·10⁹."""
    digits, exponent = f"{number:.1e}".split("e")
    return f"{digits}·10" + str(int(exponent)).translate(
        str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")
    )
