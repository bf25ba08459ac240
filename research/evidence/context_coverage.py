"""`python -m research.evidence.context_coverage`: how often the intervals of replayed logs hold
the truth for policies that see contexts. Logs of known worlds, where the truth is known.

A world is a table of contexts, each with the mean reward and the cost of every arm; a round draws
a row. A log is written by a policy that looks at the context. The truth is a simulation in the
table on many paths.
"""

import sys
from typing import Any, NamedTuple

import click
import numpy as np
import polars as pl
from rich.console import Console

import purse
from benchmarks.instance import say
from purse.base import amounts
from purse.cli import execute
from purse.types import Floats, World
from purse.worlds._tables import bernoulli_atoms, make_world
from research.commands import quick_option
from research.evidence.coverage import Effort, replay_log, table
from tests.support import greedy_contexts

LOGS, QUICK_LOGS = 1_000, 9
ROWS = 1_200
WHOLE, QUICK = Effort(truth_paths=40_000), Effort(10, 100, 5)
HORIZON, BUDGET = 60, 22.0
BAND = 0.93, 0.97  # of the intervals, the part that must hold the truth
CONTEXTS = 2_048
REWARDS = (
    -2.0,
    8.0,
)  # what a pull returns: the second with the probability that `Setting.means` says
FEATURES = {"length": (-1, 1), "code": (-1, 1)}
# by the sign of the first feature, the probability of each arm
LOGGERS = {
    "uniform": np.full((2, 3), 1 / 3),
    "skewed": np.array([[0.5, 0.3, 0.2]] * 2),
    "contextual": np.array([[0.6, 0.2, 0.2], [0.2, 0.3, 0.5]]),
}


class Setting(NamedTuple):
    """Three arms in many contexts, which are equally likely. N contexts."""

    name: str
    features: Floats  # (N, 2)
    means: Floats  # (N, 3) probability of the larger reward
    costs: Floats  # (N, 3)


def settings() -> list[Setting]:
    """Return a world that regressions describe, one that they do not, and one where contexts say
    nothing of rewards.
    """
    features = np.random.default_rng(7).uniform(-1, 1, (CONTEXTS, 2)).astype(np.float32)
    x = features.astype(np.float64)
    slopes = np.array([[0.3, 0.0], [-0.3, 0.1], [0.0, 0.3]])
    curved = 1 / (1 + np.exp(-4 * x @ slopes.T - np.array([0.0, 0.5, 1.0]) * x[:, :1] ** 2))
    prices = np.array([0.4, 0.35, 0.6])
    flat = np.tile([0.4, 0.5, 0.6], (CONTEXTS, 1))
    return [
        Setting("linear", x, 0.5 + x @ slopes.T, prices * (1 + 0.3 * x[:, 1:])),
        Setting("curved", x, curved, prices * np.exp(0.4 * x[:, :1])),
        Setting("blind", x, flat, np.broadcast_to(prices, flat.shape)),
    ]


def world_of(setting: Setting) -> World:
    units = amounts.unit_array("costs", setting.costs)
    atoms = bernoulli_atoms(setting.means, units[:, :, None])
    last = np.arange(1, len(units) + 1)
    return make_world(
        setting.name, *atoms, last=last, sample=True, features=setting.features, horizon=HORIZON
    )


def truth(setting: Setting, n_paths: int) -> float:
    """Return the mean gain of the policy in all contexts."""
    world = world_of(setting)
    run = purse.simulate(greedy_contexts, world, BUDGET, n_paths=n_paths, seed=1, stop="retry")
    low, high = REWARDS
    return float((low * run.pulls.sum(axis=1) + (high - low) * run.gain).mean())


def sample(setting: Setting, logger: Floats, n_rows: int, rng: np.random.Generator) -> pl.DataFrame:
    """Return a log of the logging policy."""
    row = rng.integers(len(setting.means), size=n_rows)
    chances = logger[(setting.features[row, 0] > 0).astype(np.int64)]
    arm = (rng.random(n_rows)[:, None] > chances.cumsum(axis=1)[:, :2]).sum(axis=1)
    large = (rng.random(n_rows) < setting.means[row, arm]).astype(np.int64)
    return pl.DataFrame(
        {
            **{name: setting.features[row, k] for k, name in enumerate(FEATURES)},
            "arm": arm,
            "reward": np.array(REWARDS)[large],
            "cost": setting.costs[row, arm],
            "probability": chances[np.arange(n_rows), arm],
        }
    )


def estimates_of(setting: Setting, log: pl.DataFrame, seed: int, effort: Effort) -> pl.DataFrame:
    """Return the estimates from a log, if the policy is told what holds in the world."""
    units = amounts.unit_array("costs", setting.costs)
    terms: dict[str, Any] = {
        "cost_min": units.min(axis=0) / amounts.UNIT,
        "cost_max": units.max(axis=0) / amounts.UNIT,
        "reward_range": REWARDS,
    }
    game: dict[str, Any] = {"budgets": BUDGET, "horizon": HORIZON, "features": FEATURES}
    game |= {"n_paths": effort.paths, "policies": (greedy_contexts,)}
    return replay_log(log, **terms, **game, seed=seed, replicates=effort.replicates)


def campaign(numbers: range, effort: Effort) -> pl.DataFrame:
    """Return a row for each log: the estimate, its interval and the truth."""
    cases = [(setting, logger) for setting in settings() for logger in LOGGERS]
    truths: dict[str, float] = {}
    parts = []
    for number in numbers:
        setting, logger = cases[number % len(cases)]
        log = sample(setting, LOGGERS[logger], ROWS, np.random.default_rng(number))
        if setting.name not in truths:
            truths[setting.name] = truth(setting, effort.truth_paths)
        columns = {"truth": truths[setting.name], "place": setting.name, "logger": logger}
        literals = {name: pl.lit(value) for name, value in columns.items()}
        parts.append(estimates_of(setting, log, number, effort).with_columns(**literals))
        if len(parts) % 50 == 0:
            say(f"{len(parts)} of {len(numbers)} logs")
    return pl.concat(parts)


@click.command()
@click.argument("logs", type=int, default=LOGS)
@quick_option
def main(logs: int, quick: bool) -> None:
    """Print how often intervals hold the truth, in so many logs. With all logs, a part outside the
    band is an error.
    """
    n_logs, effort = (QUICK_LOGS, QUICK) if quick else (logs, WHOLE)
    estimates = campaign(range(n_logs), effort)
    for by in ("policy", "place", "logger"):
        Console(width=120).print(table(estimates, by))
    inside = pl.col("truth").is_between("low", "high").mean()
    parts = estimates.group_by("policy").agg(coverage=inside)
    low, high = BAND
    if n_logs >= LOGS and not parts["coverage"].is_between(low, high).all():
        sys.exit(f"a part of the intervals is not between {low:.0%} and {high:.0%}: {parts.rows()}")


if __name__ == "__main__":
    execute(main, "python -m research.evidence.context_coverage")
