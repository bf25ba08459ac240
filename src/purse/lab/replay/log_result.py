"""The result of a log's replay: estimates with intervals, or why the log cannot tell."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from purse.base import amounts
from purse.base.optional import pl
from purse.base.text import plain
from purse.lab.data.log import Log
from purse.lab.replay import log_words
from purse.lab.replay.answer import Answer
from purse.lab.replay.bootstrap import Resampled
from purse.lab.replay.references import describe_mixture
from purse.lab.study.manifest import Facts, Recording
from purse.lab.study.results import page_of
from purse.lab.theory.estimate import Estimate
from purse.types import Floats

_NUMBERS = ("estimate", "error", "low", "high")
_SPENT = ("spent", "spent_low", "spent_high")
_MOST_NAMED, _LEAST_SHARE = 5, 0.01  # of the arms that a player pulls
_LONGER = 1.1  # times the rounds of the log: longer games get a warning
UNKNOWN = Estimate(*[float("nan")] * 4)


class LogEstimate(NamedTuple):
    """One method's estimate of a policy's gain with a budget."""

    policy: str  # or the name of a reference
    budget: float
    method: str
    estimate: Estimate
    ess: float  # effective sample size of the rows behind it
    refused: str | None  # why the log cannot tell
    spent: Estimate  # of the first resource
    rounds: float  # of a game, on average
    kind: str = "policy"  # policy, arm (alone) or log (what it gained itself)
    pulls: Floats = np.zeros(0)  # (K,) of each arm in a game, on average
    gains: Resampled | None = None  # what the estimate is from


@dataclass(frozen=True, kw_only=True)
class LogFacts(Facts):
    """The facts about the replay of a log."""

    replay: Recording
    replicates: int  # logs that were drawn again from it


@dataclass(frozen=True, eq=False, repr=False)
class LogResult(Answer):
    """The gain that each policy would have had with each budget, by each method."""

    gap = ("",)

    log: Log
    estimates: tuple[LogEstimate, ...]
    facts: LogFacts

    @property
    def warnings(self) -> tuple[str, ...]:
        """A line for each reason to doubt all of it."""
        return (*self.log.warnings, *self.long_games())

    def long_games(self) -> list[str]:
        """Return a line if games have more rounds than the log."""
        n = len(self.log)
        longest = max(self.estimates, key=lambda estimate: estimate.rounds)
        if longest.rounds <= _LONGER * n:
            return []
        return [
            f"{self.log.name}: the log has {n:,} rounds, and games of {longest.policy} with a "
            f"budget of {longest.budget:g} have {longest.rounds:,.0f}: such an estimate supposes "
            f"that rounds like these go on; limit them with a horizon of {n}"
        ]

    @property
    def notes(self) -> tuple[str, ...]:
        """A line for each thing that a reader of the estimates has to know."""
        return self.log.notes

    def frame(self) -> pl.DataFrame:
        """Return a row for each player, budget and method: estimate, standard error, 95% interval,
        effective sample size, what would be spent of the first resource with its 95% interval;
        where refused, nulls and the reason. Then the rounds of a game, what the player is: a
        policy, an arm alone, or the log itself; and its arms with their parts of the pulls.
        """
        rows = []
        for answer in self.estimates:
            numbers = [None] * len(_NUMBERS) if answer.refused else answer.estimate
            spent = answer.spent
            used = [None] * len(_SPENT) if answer.refused else (spent.mean, spent.low, spent.high)
            who, game = answer[:3], (answer.rounds, answer.kind, self.parts(answer.pulls))
            rows.append((*who, *numbers, answer.ess, answer.refused, *used, *game))
        types: dict[str, Any] = {"policy": pl.String, "budget": pl.Float64, "method": pl.String}
        types |= dict.fromkeys((*_NUMBERS, "ess"), pl.Float64) | {"refused": pl.String}
        types |= dict.fromkeys((*_SPENT, "rounds"), pl.Float64)
        types |= dict.fromkeys(("kind", "pulls"), pl.String)
        return pl.DataFrame(rows, types, orient="row")

    def parts(self, pulls: Floats) -> str:
        """Return the arms that are pulled most, with their parts of the pulls."""
        total = float(pulls.sum())
        if not total:
            return "nothing"
        shares = pulls / total
        least = max(_LEAST_SHARE, float(np.sort(shares)[-_MOST_NAMED:][0]))
        return describe_mixture(self.log.arms, np.where(shares < least, 0, shares), "others")

    def arms(self) -> pl.DataFrame:
        """Return a row for each arm: rows, effective sample size, weighted means, and sum of
        1/probability over all rounds in which it could be chosen, which should be about 1.

        With several resources there is a column for the mean cost of each, such as `cost_tokens`.
        """
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
        return page_of(self).publish(folder)

    @property
    def summary(self) -> str:
        """What was asked of which log, in a line."""
        horizon = self.log.horizon
        games = "no limit on rounds" if horizon is None else f"games of at most {horizon:,} rounds"
        rounds = f"{len(self.log):,} logged rounds of {len(self.log.arms)} arms"
        return f"{self.log.name}: {rounds}; {games}"

    def findings(self) -> dict[str, str]:
        """For each budget the answer in words, in Markdown."""
        gains = {
            (row.policy, row.budget, row.method): row.gains
            for row in self.estimates
            if row.gains is not None
        }
        return log_words.findings(self.frame(), gains, self.log)

    def grids(self) -> Iterator[list[list[str]]]:
        """Yield a table for each budget as text, the largest estimate first."""
        frame = self.frame()
        for budget in log_words.budgets_of(frame):
            yield log_words.grid(frame.filter(budget=budget), budget)

    def remarks(self) -> list[str]:
        """Return a line for each refusal, each confidence, each note and each warning."""
        return [
            *map(plain, log_words.short_reasons(self.frame())),
            plain(log_words.precision(self.facts.replicates)),
            *self.notes,
            *(f"warning: {line}" for line in self.warnings),
        ]
