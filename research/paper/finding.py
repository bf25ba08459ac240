"""Findings: the verdict on a claim, one line of measurements, and the blocks of its section."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from purse.lab.figure import Figure
from purse.lab.theory.estimate import Estimate
from purse.lab.theory.growth import Growth
from research.paper.curves import Curve, line_figure, panel_figure

if TYPE_CHECKING:
    from research.paper.runner import Runner


class Table(NamedTuple):
    """Rows of text under a head."""

    head: Sequence[str]
    rows: Sequence[Sequence[str]]


def measured_curve(
    label: str, budgets: Sequence[float], estimates: Sequence[Estimate], per_budget: bool = False
) -> Curve:
    """Make the curve of estimates over budgets, with its band; `per_budget` divides by them."""
    scale = np.array(budgets) if per_budget else np.ones(len(budgets))
    mean, low, high = (
        np.array([getattr(estimate, part) for estimate in estimates]) / scale
        for part in ("mean", "low", "high")
    )
    return Curve(label, budgets, mean, low, high)


class Picture(NamedTuple):
    """Curves over common axes, both logarithmic; the picture lies in a file of its name."""

    name: str
    caption: str
    title: str
    axes: tuple[str, str]  # the titles of x and y
    curves: Sequence[Curve]
    # several panels with a title each, instead of curves
    panels: Sequence[tuple[str, Sequence[Curve]]] = ()

    def draw(self) -> Figure:
        """Draw it as a figure of a report."""
        if self.panels:
            return panel_figure(self.name, self.axes, self.panels)
        return line_figure(self.name, self.title, self.axes, self.curves)


class Finding(NamedTuple):
    """The outcome of one claim's study."""

    verdict: str  # in a few words
    measured: str  # in a line
    agrees: bool  # whether what was measured is what the verdict says
    blocks: Sequence[str | Table | Picture]  # the section: Markdown, tables and pictures


class Claim(NamedTuple):
    """A claim: what the paper says, in our words, and how to see it for oneself."""

    title: str
    says: str
    commands: Sequence[str]
    study: "Callable[[Runner], Finding]"  # measures it


def claim(
    title: str, says: str, commands: Sequence[str]
) -> "Callable[[Callable[[Runner], Finding]], Claim]":
    """Make a claim of the function that measures it."""
    return lambda study: Claim(title, says, commands, study)


def growth_cells(growth: Growth) -> list[str]:
    """Return cells: slope with interval, slopes between budgets, best shape, misfits."""
    shape = growth.shape if growth.misfits[growth.shape] < FITS else "none"
    left = ", ".join(f"{name} {error:.0%}" for name, error in growth.misfits.items())
    slope = f"{growth.slope:.2f} [{growth.low:.2f}, {growth.high:.2f}]"
    return [slope, ", ".join(f"{step:.2f}" for step in growth.slopes), shape, left]


def growth_table(what: str, growths: Mapping[str, Growth]) -> Table:
    """Write a row for each label, under a head that says what grows."""
    rows = [[label, *growth_cells(growth)] for label, growth in growths.items()]
    return Table([what, *GROWTH_HEAD], rows)


def heads(budgets: Iterable[float]) -> list[str]:
    """Write the heads of columns, one for each budget."""
    return [f"B = {budget:,.0f}" for budget in budgets]


FITS = 0.05  # a shape describes the growth if it leaves less than this, relatively
GROWTH_HEAD = [
    "log–log slope [95%]",
    "from budget to budget",
    "shape that fits within 5%",
    "misfit of each shape a + b·f(B)",
]


def scientific(number: float) -> str:
    """Write a large number as people do: 6.1·10⁹."""
    digits, exponent = f"{number:.1e}".split("e")
    raised = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")
    return f"{digits}·10{str(int(exponent)).translate(raised)}"
