"""What a log says about policies: estimates with intervals, or why there is none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from purse.base import amounts, html
from purse.base.text import align_columns, format_gain
from purse.offline.log import Log
from purse.report.data import LogFacts
from purse.theory.notions import Estimate

if TYPE_CHECKING:
    import polars as pl

NUMBERS = ("estimate", "error", "low", "high")
SPENT = ("spent", "spent_low", "spent_high")


class LogEstimate(NamedTuple):
    """One method's estimate of a policy's gain with a budget."""

    policy: str
    budget: float
    method: str
    estimate: Estimate
    ess: float  # effective sample size of the rows behind it
    refused: str | None  # why the log cannot tell
    spent: Estimate  # of the first resource


@dataclass(frozen=True, eq=False)
class LogResult:
    """What each policy would have gained with each budget, by each method."""

    log: Log
    estimates: tuple[LogEstimate, ...]
    facts: LogFacts

    @property
    def warnings(self) -> tuple[str, ...]:
        """A line for each reason to doubt all of it."""
        return self.log.warnings

    @property
    def notes(self) -> tuple[str, ...]:
        """A line for each thing that a reader of the estimates has to know."""
        return self.log.notes

    def frame(self) -> pl.DataFrame:
        """A row for each policy, budget and method: estimate, standard error, 95% interval,
        effective sample size, what would be spent of the first resource with its 95% interval;
        where refused, nulls and the reason.
        """
        import polars as pl

        rows = []
        for answer in self.estimates:
            numbers = [None] * len(NUMBERS) if answer.refused else answer.estimate
            spent = answer.spent
            used = [None] * len(SPENT) if answer.refused else (spent.mean, spent.low, spent.high)
            rows.append((*answer[:3], *numbers, answer.ess, answer.refused, *used))
        types: dict[str, Any] = {"policy": pl.String, "budget": pl.Float64, "method": pl.String}
        types |= dict.fromkeys((*NUMBERS, "ess"), pl.Float64) | {"refused": pl.String}
        types |= dict.fromkeys(SPENT, pl.Float64)
        return pl.DataFrame(rows, types, orient="row")

    def arms(self) -> pl.DataFrame:
        """A row for each arm: rows, effective sample size, weighted means, and sum of 1/probability
        over all rounds in which it could be chosen, which should be about 1.

        With several resources there is a column for the mean cost of each, such as `cost_tokens`.
        """
        import polars as pl

        log = self.log
        total = log.sums(log.weight)
        with np.errstate(invalid="ignore"):
            reward = log.sums(log.weight * log.reward) / total
            costs = {
                "cost" if len(log.resources) == 1 else f"cost_{name}": log.sums(log.weight * units)
                / total
                / amounts.UNIT
                for name, units in zip(log.resources, log.cost.T, strict=True)
            }
        columns = {
            "arm": log.arms,
            "rows": log.rows,
            "ess": log.ess,
            "reward": reward,
            **costs,
            "weight": total / np.maximum(log.chances, 1),
            "doubt": log.doubts,
        }
        return pl.DataFrame(columns).with_columns(pl.col("reward", *costs).fill_nan(None))

    def publish(self, folder: Path) -> list[Path]:
        """Write the report to a folder, and its figure and tables; the page comes first."""
        from purse.report.log_page import publish

        return publish(self, folder)

    def grid(self) -> tuple[list[list[str]], list[str]]:
        """A line for each policy and budget, a column for each method; and the reasons why
        something is missing, by their numbers from 1.
        """
        methods = list(dict.fromkeys(answer.method for answer in self.estimates))
        cells: dict[tuple[str, float], dict[str, str]] = {}
        reasons: dict[str, int] = {}
        for answer in self.estimates:
            number = reasons.setdefault(answer.refused, len(reasons) + 1) if answer.refused else 0
            gain = format_gain(answer.estimate.mean, answer.estimate.high)
            text = f"[{number}]" if number else f"{gain} ({answer.ess:,.0f})"
            cells.setdefault((answer.policy, answer.budget), {})[answer.method] = text
        lines = [
            [policy, f"{budget:g}", *texts.values()] for (policy, budget), texts in cells.items()
        ]
        return [["policy", "budget", *methods], *lines], list(reasons)

    @property
    def summary(self) -> str:
        """What was asked of which log, in a line."""
        return (
            f"{self.log.name}: {len(self.log):,} rounds of {len(self.log.arms)} arms; gain ± "
            "95% (effective sample size)"
        )

    def __repr__(self) -> str:
        """What was asked of which log, in a line."""
        return f"<LogResult {self.summary}>"

    def _repr_html_(self) -> str:
        """The table, and below it why something is missing or doubtful, for notebooks."""
        (head, *rows), notes = self.grid()
        return html.table(head, rows, title=self.summary) + "".join(
            map(html.paragraph, self.remarks(notes))
        )

    def remarks(self, reasons: Sequence[str]) -> list[str]:
        """A line for each reason, by its number, for each note and for each warning."""
        return [
            *(f"[{number}] {reason}" for number, reason in enumerate(reasons, 1)),
            *self.notes,
            *(f"warning: {line}" for line in self.warnings),
        ]

    def __str__(self) -> str:
        """The table as plain text, and below it why something is missing or doubtful."""
        grid, reasons = self.grid()
        lines = ["  ".join(row) for row in align_columns(grid)]
        return "\n".join([self.summary, *lines, *self.remarks(reasons)])
