"""How often a certificate is ever wrong, and how much it says: `python -m
research.evidence.certificates`.

Ten worlds, four policies, four budgets, 1,000 paths each. On each path the sums of the reports are
kept at 30 points of the money; a certificate is wrong on a path if at any of them the best way
gains more on average than it says.
"""

from collections import namedtuple
from itertools import combinations
from types import ModuleType
from typing import Any

import click
import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.instance import say
from purse import worlds
from purse.base import amounts
from purse.cli import execute
from purse.engine import cpu
from purse.engine.job import find_policy, make_job
from purse.identification.certify import most_gain
from purse.kernels import kernel
from purse.types import Floats, Now, Play, Problem, World
from research.commands import quick_option

PATHS, QUICK_PATHS, SEED, CONFIDENCE = 1_000, 10, 5, 0.95
BUDGETS = (30, 300, 3_000, 10_000)  # dearest pulls
PARTS = np.geomspace(1 / 30, 0.97, 29)  # (M,) of the budget
POLICIES = ("replan", "primal-dual-bwk", "exp3++.prices", "uniform")
HORIZON = 1.25  # rounds for each of the dearest pulls, if they are limited

WORLDS = (
    "bernoulli:rewards=[.3,.5,.7],costs=[.2,.4,.9]",
    "two_point:rewards=[.3,.5,.7],costs=[.2,.4,.8],cost_min=.05",
    "bernoulli:rewards=[.03,.02,.01],costs=[.5,.3,.4]",
    "bernoulli:rewards=[.5,.48],costs=[.5,.5]",
    "bernoulli:rewards=[.9,.6,.3],costs=[1,.2,.05]",
    "bernoulli:rewards=[.8,.6,.55,.5,.4,.4,.3,.3,.2,.1],costs=[.5,.3,.4,.6,.2,.7,.3,.4,.5,.6]",
    "two_point:rewards=[.1,.02],costs=[.3,.06],cost_min=.05",
    "beta:rewards=[.7,.5,.3],costs=[.6,.3,.25],concentration=4,cost_min=.1",
    "bernoulli:rewards=[.9,.6,.4],costs=[[.8,.2],[.3,.6],[.2,.3]]",
    "bernoulli:rewards=[.9,.5,.2],costs=[.9,.3,.1]",
)
LIMITED = WORLDS[-1]  # its rounds are limited, too


def counted(name: str) -> ModuleType:
    """Return a policy that also keeps the sums of its reports at each part of the budget."""
    base = find_policy(name)[0]
    module = ModuleType("counted")
    vars(module).update(vars(base), NAME=f"counted-{base.NAME}")
    own = ("own_marks", "own_mark", "own_sums", "own_copies")
    kind: Any = None
    learn = base.update

    def init(params: Any, problem: Problem) -> Any:
        nonlocal kind
        inner = base.init(params, problem)
        kind = kind or namedtuple("Counted", (*inner._fields, *own))
        k, d = problem.cost_max.shape
        # of each arm: reports, rewards, costs, squares of the first cost
        copies = np.zeros((len(PARTS), k, 3 + d))
        marks = PARTS * problem.budget[0] / problem.cost_max[:, 0].max()
        return kind(*inner, marks, np.zeros(1, np.int64), copies[0].copy(), copies)

    @kernel
    def update(params: Any, state: Any, scratch: Any, now: Now, play: Play) -> None:
        learn(params, state, scratch, now, play)
        i = play.arms[0]
        state.own_sums[i, 0] += 1
        state.own_sums[i, 1] += play.rewards[0]
        for j in range(play.costs.shape[1]):
            state.own_sums[i, 2 + j] += play.costs[0, j]
        state.own_sums[i, 2 + play.costs.shape[1]] += play.costs[0, 0] * play.costs[0, 0]
        paid = 0.0
        for k in range(state.own_sums.shape[0]):
            paid += state.own_sums[k, 2]
        mark = state.own_mark[0]
        while mark < state.own_marks.shape[0] and paid >= state.own_marks[mark]:
            for k in range(state.own_sums.shape[0]):
                for f in range(state.own_sums.shape[1]):
                    state.own_copies[mark, k, f] = state.own_sums[k, f]
            mark += 1
        state.own_mark[0] = mark

    vars(module).update(init=init, update=update)
    return module


def play(name: str, policy: str, dearest: int, paths: int) -> tuple[World, Any, Floats]:
    """Return a world, its problem with money for so many of the dearest pulls, and the sums of all
    paths at all parts and at the end, (P, M + 1, K, 3 + d), with costs in the largest cost.
    """
    world = worlds.make(name, dearest)
    largest = np.asarray(world.cost_max).max(axis=0) / amounts.UNIT
    horizon = int(HORIZON * dearest) if name == LIMITED else None
    budget = (dearest * largest).tolist()
    job = make_job(counted(policy), world, budget, seed=SEED, stop="retry", horizon=horizon)
    _, states = cpu.play_block(job, paths)
    return world, job.problem, np.concatenate([states.own_copies, states.own_sums[:, None]], axis=1)


def measure(name: str, policy: str, dearest: int, paths: int) -> tuple[int, float, float]:
    """Return on how many paths a certificate is ever wrong, and the medians of the certified and
    of the true share at the end.
    """
    world, problem, sums = play(name, policy, dearest, paths)
    scale = problem.cost_max.max(axis=0)
    ranges = (np.stack([problem.cost_min, problem.cost_max], axis=2) / scale[:, None]).tolist()
    counts, rewards, costs, squares = sums[..., 0], sums[..., 1], sums[..., 2:-1], sums[..., -1]
    paid, gains, limited = costs.sum(axis=2), rewards.sum(axis=2), problem.horizon is not None
    rounds = counts.sum(axis=2)
    certified = np.full(gains.shape, np.nan)
    for at in zip(*rounds.nonzero(), strict=True):
        certified[at] = most_gain(
            counts[at].tolist(),
            rewards[at].tolist(),
            costs[at].tolist(),
            cost_squares=squares[at].tolist(),
            paid=paid[at].tolist(),
            rounds=int(rounds[at]) if limited else None,
            cost_ranges=ranges,
            confidence=CONFIDENCE,
        )
    limits = np.concatenate([paid, rounds[..., None]], axis=2) if limited else paid
    means = np.asarray(world.cost_means) * amounts.UNIT / scale
    uses = np.c_[means, np.ones(len(means))] if limited else means
    best = best_gain(np.asarray(world.reward_means), uses, limits)
    wrong = (certified < best * (1 - 1e-9)).any(axis=1)
    shares = [float(np.median(gains[:, -1] / whole[:, -1])) for whole in (certified, best)]
    return int(wrong.sum()), shares[0], shares[1]


def best_gain(gains: Floats, uses: Floats, limits: Floats) -> Floats:
    """Return the most that any way gains on average, from the true means (K,) and (K, d), for
    limits (..., d): the best of all bases.
    """
    d = uses.shape[1]
    columns, worth = np.r_[uses, np.eye(d)], np.r_[gains, np.zeros(d)]
    best = np.zeros(limits.shape[:-1])
    for basis in map(list, combinations(range(len(columns)), d)):
        if abs(np.linalg.det(columns[basis])) > 1e-12:
            pulls = limits @ np.linalg.inv(columns[basis])
            fits = (pulls >= -1e-9).all(axis=-1)
            best = np.maximum(best, np.where(fits, pulls @ worth[basis], 0))
    return best


@click.command()
@quick_option
def main(quick: bool) -> None:
    """Print for each world and policy how often a certificate is wrong at most, and medians."""
    games = [(name, policy) for name in WORLDS for policy in POLICIES]
    budgets, paths = BUDGETS[: 1 if quick else None], QUICK_PATHS if quick else PATHS
    table = Table("world", "policy", "ever wrong", *(f"{budget:,}" for budget in budgets))
    for name, policy in games[-1:] if quick else games:
        rows = [measure(name, policy, dearest, paths) for dearest in budgets]
        wrong = max(count for count, *_ in rows)
        shares = [f"{certified:.0%} of {true:.0%}" for _, certified, true in rows]
        say(f"{name} {policy}: {wrong} {shares}")
        table.add_row(name, policy, f"{wrong} of {paths:,}", *shares)
    Console(width=200).print(table)


if __name__ == "__main__":
    execute(main, "python -m research.evidence.certificates")
