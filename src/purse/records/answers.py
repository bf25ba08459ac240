"""What a log says about policies: estimates with intervals, or why there is none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from purse import amount
from purse.records.log import Log
from purse.records.table import digits
from purse.regret import Estimate

if TYPE_CHECKING:
    import polars as pl

NUMBERS = ("estimate", "error", "low", "high")


class Answer(NamedTuple):
    """One method's estimate of a policy's gain with a budget."""

    policy: str
    budget: float
    method: str
    found: Estimate
    ess: float  # effective sample size of the rows behind it
    refused: str | None  # why the log cannot tell


@dataclass(frozen=True, eq=False)
class LogReplay:
    """What each policy would have gained with each budget, by each method."""

    log: Log
    answers: tuple[Answer, ...]

    @property
    def warnings(self) -> tuple[str, ...]:
        """A line for each reason to doubt all of it."""
        return self.log.warnings

    def frame(self) -> pl.DataFrame:
        """A row for each policy, budget and method: estimate, standard error, 95% interval, effective sample size; where refused, nulls and the reason."""
        import polars as pl

        rows = []
        for answer in self.answers:
            numbers = dict.fromkeys(NUMBERS) if answer.refused else dict(zip(NUMBERS, answer.found, strict=True))
            rows.append({"policy": answer.policy, "budget": answer.budget, "method": answer.method, **numbers, "ess": answer.ess, "refused": answer.refused})
        types = {"policy": pl.String, "budget": pl.Float64, "method": pl.String} | dict.fromkeys((*NUMBERS, "ess"), pl.Float64) | {"refused": pl.String}
        return pl.DataFrame(rows, types)

    def arms(self) -> pl.DataFrame:
        """A row for each arm: rows, effective sample size, weighted means, and sum of 1/probability over all rows, which should be about 1."""
        import polars as pl

        log = self.log
        total = log.sums(log.weight)
        with np.errstate(invalid="ignore"):
            reward, cost = log.sums(log.weight * log.reward) / total, log.sums(log.weight * log.cost) / total / amount.UNIT
        columns = {"arm": log.arms, "rows": log.rows, "ess": log.ess, "reward": reward, "cost": cost, "weight": total / len(log), "doubt": log.doubts}
        return pl.DataFrame(columns).with_columns(pl.col("reward", "cost").fill_nan(None))

    def __str__(self) -> str:
        """A line for each policy and budget, a column for each method, and below why something is missing or doubtful."""
        methods = list(dict.fromkeys(answer.method for answer in self.answers))
        cells: dict[tuple[str, float], dict[str, str]] = {}
        reasons: dict[str, int] = {}
        for answer in self.answers:
            number = reasons.setdefault(answer.refused, len(reasons) + 1) if answer.refused else 0
            text = f"[{number}]" if number else f"{digits(answer.found.mean)} ± {answer.found.high - answer.found.mean:.2g} ({answer.ess:,.0f})"
            cells.setdefault((answer.policy, answer.budget), {})[answer.method] = text
        grid = [["policy", "budget", *methods], *([policy, f"{budget:g}", *found.values()] for (policy, budget), found in cells.items())]
        widths = [max(map(len, column)) for column in zip(*grid, strict=True)]
        lines = [f"{self.log.name}: {len(self.log):,} rounds of {len(self.log.arms)} arms; gain ± 95% (effective sample size)"]
        lines += [
            "  ".join(f"{cell:{'<' if number == 0 else '>'}{width}}" for number, (cell, width) in enumerate(zip(row, widths, strict=True))) for row in grid
        ]
        return "\n".join([*lines, *(f"[{number}] {reason}" for reason, number in reasons.items()), *(f"warning: {line}" for line in self.warnings)])
