"""`python -m research.evidence.coverage`: how often the intervals of replayed logs hold the truth.
Logs of known worlds, where the truth is known.

A world has a hidden context, on which rewards, costs and the choice of the logging policy may
depend; a log shows nothing of it but the probability. A policy meets the mixture over contexts, in
which it is simulated on many paths: that is the truth. `--rare` measures logs with rare rewards, of
policies that do not learn, whose truth is a sum.
"""

import itertools
from typing import Any, NamedTuple

import click
import numpy as np
import polars as pl
from rich.console import Console
from rich.table import Table

import purse
from benchmarks.instance import say
from purse.cli import execute
from purse.cli.options import option
from purse.lab.data.log import Log
from purse.lab.data.question import NO_LIMIT, Question
from purse.lab.data.rounds import open_rounds
from purse.lab.replay.off_policy import estimate
from purse.types import Floats
from research.commands import quick_option

POLICIES = ("uniform", "fixed:arm=1", "exp3.bwk", "exp3++.price", "primal-dual-bwk", "ucb-bv1")
LOGS, QUICK_LOGS = 210, 15
# rows of a log, and by how much budget and horizon are larger than what `SETTINGS` says
SIZES = ((2_000, 1), (3_500, 1), (5_000, 2))
# what a pull returns: the second with the probability that `Setting.means` says
REWARDS = (-2.0, 8.0)
LOGGERS = {
    "uniform": np.full((2, 3), 1 / 3),
    "skewed": np.array([[0.55, 0.25, 0.2]] * 2),
    "confounded": np.array([[0.6, 0.2, 0.2], [0.2, 0.5, 0.3]]),
}  # (2, 3) the probability of each arm in each context


# rare rewards: the mean of eight arms, which lie between 0.8 and 1.2 of it, and rows of a log
RARE, RARE_ROWS, RARE_LOGS = (0.3, 0.03, 0.01), (2_000, 10_000), 500
SPREAD = np.linspace(0.8, 1.2, 8)


class Effort(NamedTuple):
    """How many paths are played."""

    paths: int = 200
    truth_paths: int = 10_000
    replicates: int = 200  # logs that are drawn again from each log
    policies: tuple[str, ...] = POLICIES


QUICK = Effort(10, 100, 5, POLICIES[:2])


class Setting(NamedTuple):
    """Three arms in two contexts that are equally likely."""

    name: str
    means: Floats  # (2, 3) probability of the larger reward in each context
    # (2, 3, 2) in each context, of each arm, with the smaller and with the larger reward
    costs: Floats
    budget: float
    horizon: int | None = None


def fixed(*costs: float) -> Floats:
    """(2, 3, 2) The same cost of each arm whatever happens."""
    return np.broadcast_to(np.array(costs)[None, :, None], (2, 3, 2))


SETTINGS = (
    Setting("fixed costs", np.array([[0.4, 0.5, 0.6]] * 2), fixed(0.3, 0.5, 0.9), 100),
    Setting(
        "context moves rewards",
        np.array([[0.8, 0.5, 0.2], [0.2, 0.4, 0.9]]),
        fixed(0.5, 0.4, 0.5),
        80,
    ),
    Setting(
        "costs follow rewards",
        np.array([[0.7, 0.5, 0.6], [0.3, 0.6, 0.2]]),
        np.array([[[0.2, 0.9], [0.6, 0.5], [1.0, 0.2]], [[0.3, 1.0], [0.5, 0.4], [0.8, 0.3]]]),
        100,
    ),
    Setting(
        "nearly equal arms",
        np.array([[0.5, 0.52, 0.48], [0.5, 0.5, 0.5]]),
        np.array([[[0.5, 0.5], [0.5, 0.5], [0.5, 0.5]], [[0.6, 0.4], [0.5, 0.5], [0.4, 0.6]]]),
        100,
    ),
    Setting(
        "with a horizon",
        np.array([[0.8, 0.5, 0.7], [0.2, 0.5, 0.9]]),
        fixed(0.2, 0.4, 0.8),
        80,
        180,
    ),
)


def larger(setting: Setting, factor: int) -> Setting:
    """Return the same place with so much more to spend."""
    return setting._replace(
        budget=factor * setting.budget, horizon=setting.horizon and factor * setting.horizon
    )


def truth(setting: Setting, policy: str, n_paths: int) -> float:
    """Return the mean gain of the policy in the mixture over contexts."""
    chances = np.stack([1 - setting.means, setting.means], axis=2) / 2
    world = purse.worlds.atoms(
        *(
            table.transpose(1, 0, 2).reshape(3, 4)
            for table in (chances, np.broadcast_to([0.0, 1.0], (2, 3, 2)), setting.costs)
        )
    )
    stop = "exit" if setting.horizon is None else "retry"
    run = purse.simulate(
        policy, world, setting.budget, n_paths=n_paths, seed=1, horizon=setting.horizon, stop=stop
    )
    low, high = REWARDS
    return float((low * run.pulls.sum(axis=1) + (high - low) * run.gain).mean())


def sample(setting: Setting, logger: Floats, n_rows: int, rng: np.random.Generator) -> pl.DataFrame:
    """Return a log of the logging policy."""
    context = rng.integers(2, size=n_rows)
    arm = (rng.random(n_rows)[:, None] > logger[context].cumsum(axis=1)[:, :2]).sum(axis=1)
    large = (rng.random(n_rows) < setting.means[context, arm]).astype(np.int64)
    return pl.DataFrame(
        {
            "arm": arm,
            "reward": np.array(REWARDS)[large],
            "cost": setting.costs[context, arm, large],
            "probability": logger[context, arm],
        }
    )


def replay_log(data: pl.DataFrame, **fields: Any) -> pl.DataFrame:
    """Return the gains of the policies of a question, without references."""
    question = Question(**fields)
    log = open_rounds(data, question)
    assert isinstance(log, Log)
    return estimate(log, question).frame()


def campaign(numbers: range, effort: Effort) -> pl.DataFrame:
    """Return a row for each log and policy: the estimate, its interval and the truth."""
    cases = list(itertools.product(SETTINGS, LOGGERS))
    settings = [
        larger(game, factor)
        for game in SETTINGS
        for factor in sorted({factor for _, factor in SIZES})
    ]
    truths = {
        (game.name, game.budget, policy): truth(game, policy, effort.truth_paths)
        for game in settings
        for policy in effort.policies
    }
    parts = []
    for number in numbers:
        smallest, logger = cases[number % len(cases)]
        n_rows, factor = SIZES[number // len(cases) % len(SIZES)]
        game = larger(smallest, factor)
        log = sample(game, LOGGERS[logger], n_rows, np.random.default_rng(number))
        terms: dict[str, Any] = {
            "cost_min": game.costs.min(axis=(0, 2)),
            "cost_max": game.costs.max(axis=(0, 2)),
            "reward_range": REWARDS,
        }
        estimates = replay_log(
            log,
            policies=effort.policies,
            budgets=game.budget,
            horizon=game.horizon or NO_LIMIT,
            n_paths=effort.paths,
            replicates=effort.replicates,
            seed=number,
            **terms,
        )
        true = pl.Series(
            "truth", [truths[game.name, game.budget, policy] for policy in estimates["policy"]]
        )
        parts.append(
            estimates.with_columns(
                true, place=pl.lit(game.name), logger=pl.lit(logger), rows=pl.lit(f"{n_rows:,}")
            )
        )
        if len(parts) % len(cases) == 0:
            say(f"{len(parts)} of {len(numbers)} logs")
    return pl.concat(parts)


def rare_campaign(n_logs: int) -> pl.DataFrame:
    """Return a row for each log with rare rewards and each policy, as `campaign` does."""
    parts = []
    for (mean, n_rows), number in itertools.product(
        itertools.product(RARE, RARE_ROWS), range(n_logs)
    ):
        rng = np.random.default_rng((number, n_rows))
        arm = rng.integers(len(SPREAD), size=n_rows)
        reward = (rng.random(n_rows) < mean * SPREAD[arm]).astype(np.float64)
        log = pl.DataFrame({"arm": arm, "reward": reward, "cost": 1.0, "probability": 1 / 8})
        estimates = replay_log(
            log,
            policies=["uniform", "fixed:arm=1"],
            budgets=n_rows,
            horizon=n_rows,
            seed=number,
            reward_range=(0, 1),
        )
        truth = pl.Series("truth", [n_rows * mean, n_rows * mean * SPREAD[1]])
        case = f"rewards near {mean:g}, {n_rows:,} rows, "
        parts.append(estimates.with_columns(truth, case=case + pl.col("policy")))
        if (number + 1) % n_logs == 0:
            say(case)
    return pl.concat(parts)


def summary(estimates: pl.DataFrame, by: str) -> pl.DataFrame:
    """Return for each group the number of estimates, how many were not refused and hold
    the truth, and their mean width and bias as parts of the truth.
    """
    width, bias = pl.col("high") - pl.col("low"), pl.col("estimate") - pl.col("truth")
    return estimates.group_by(by, maintain_order=True).agg(
        estimates=pl.len(),
        answered=pl.col("estimate").count(),
        coverage=pl.col("truth").is_between("low", "high").mean(),
        width=(width / pl.col("truth")).mean(),
        bias=(bias / pl.col("truth")).mean(),
    )


def table(estimates: pl.DataFrame, by: str) -> Table:
    """Return the summary for people."""
    grid = Table()
    for column in (
        by,
        "estimates",
        "answered",
        "95% intervals that hold the truth",
        "mean width",
        "bias",
    ):
        grid.add_column(column, justify="left" if column == by else "right")
    for name, count, answered, coverage, width, bias in summary(estimates, by).rows():
        shares = (f"{coverage:.1%}", f"{width:.1%}", f"{bias:+.2%}") if answered else ()
        grid.add_row(name, f"{count:,}", f"{answered:,}", *shares)
    return grid


@click.command()
@click.argument("logs", type=int, required=False)
@option("--rare", "Logs with rare rewards.", is_flag=True)
@quick_option
def main(logs: int | None, rare: bool, quick: bool) -> None:
    """Print how often intervals hold the truth, in so many logs."""
    if rare:
        n_logs = 1 if quick else logs or RARE_LOGS
        Console(width=120).print(table(rare_campaign(n_logs), "case"))
        return
    n_logs = QUICK_LOGS if quick else logs or LOGS
    estimates = campaign(range(n_logs), QUICK if quick else Effort())
    for by in ("policy", "place", "logger", "rows"):
        Console(width=120).print(table(estimates, by))


if __name__ == "__main__":
    execute(main, "python -m research.evidence.coverage")
