"""The score of every policy on every case of a suite.

The score of a run is its normalised regret 1 - G / OPT: 0 is the optimum, 1 is no gain.
`research.leaderboard.optimum` says what OPT is. If an adversary chooses the world, the score is
that of the world in which the policy does worse on average.
"""

import os
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from purse.base import validation
from purse.base.optional import check_lab
from purse.base.progress import Progress, progress
from purse.engine.job import Job
from purse.errors import InvalidInput
from purse.lab.study.executors import play_all
from purse.lab.study.shard import shards_of
from purse.lab.study.store import Store
from purse.types import CPU, DEVICES, Floats
from research.leaderboard.case import Case, find_cheapest, make_alone_jobs, make_case_job, worlds_of
from research.leaderboard.optimum import find_optima
from research.leaderboard.scores import Alone, Leaderboard
from research.leaderboard.suites import LONG_GAMES, SUITES, players_of

QUICK_BUDGET, QUICK_PATHS = 1e3, 4


def leaderboard(
    names: Sequence[str] | None = None,
    *,
    suite: str = LONG_GAMES,
    quick: bool = False,
    seed: int = 0,
    n_workers: int | None = None,
    device: str = CPU,
    folder: str | os.PathLike[str] | None = None,
) -> Leaderboard:
    """Play a suite with these policies, and return the score of each on every case.

    names    names with options, or paths of policy files; None: those that play it by default
    quick    take 4 paths, and in suite 1 budgets of at most 1,000: a look, not for quoting
    folder   a folder that keeps finished parts; a repeat reads them

    Neither `n_workers` nor `device` changes a number; a GPU leaves late reports to the threads.

    Raise `InvalidInput` when there is no such suite, or a policy cannot play any case.
    """
    check_lab("leaderboard", "numba", "polars", "scipy")
    version = validation.choice("suite", suite, tuple(SUITES))
    chosen = tuple(names or players_of(version))
    how: dict[str, Any] = {
        "n_workers": validation.workers(n_workers),
        "device": validation.choice("device", device, DEVICES),
    }
    cases = SUITES[version]
    if quick:
        cases = tuple(shorten(case) if version == LONG_GAMES else thin(case) for case in cases)
    jobs, refusals = make_jobs(chosen, cases, seed)
    store = Store(folder)
    scores = {}
    with progress("leaderboard") as bar:
        bar.part(0.0, 0.1, "each arm alone")
        yardsticks = find_yardsticks(store, cases, seed, bar, **how)
        # policy by policy: each compiles once, and its cases share the threads
        for number, policy in enumerate(chosen):
            bar.part(0.1 + 0.9 * number / len(chosen), 0.9 / len(chosen), policy)
            mine = [case for case in cases if case.name in jobs[policy]]
            games = [(job, case.n_paths) for case in mine for job in jobs[policy][case.name]]
            gains = iter(play_jobs(store, games, bar, **how))
            for case in mine:
                optima = yardsticks[case.name].optima
                scores[policy, case.name] = score([next(gains) for _ in optima], optima)
    alone = {name: yardstick.alone for name, yardstick in yardsticks.items()}
    return Leaderboard(cases, chosen, scores, refusals, version, alone)


Jobs = dict[str, dict[str, list[Job]]]  # policy -> case -> a job for each world


def make_jobs(
    names: Sequence[str], cases: Sequence[Case], seed: int
) -> tuple[Jobs, dict[tuple[str, str], str]]:
    """Return the jobs of every policy, and its refusals; raise if it plays no case."""
    jobs: Jobs = {policy: {} for policy in names}
    refusals = {}
    for case in cases:
        case_worlds = worlds_of(case)
        for policy in names:
            try:
                jobs[policy][case.name] = [
                    make_case_job(policy, case, world, seed) for world in case_worlds
                ]
            except InvalidInput as error:
                refusals[policy, case.name] = str(error)
    for policy in names:
        if not jobs[policy]:
            raise InvalidInput(refusals[policy, cases[0].name])
    return jobs, refusals


class Yardstick(NamedTuple):
    """The references of the gains on a case."""

    optima: list[float]  # of each world of the case
    alone: Alone


def find_yardsticks(
    store: Store, cases: Sequence[Case], seed: int, bar: Progress, **how: Any
) -> dict[str, Yardstick]:
    """Play every arm alone, and return the references of the gains on each case."""
    case_worlds = {case.name: worlds_of(case) for case in cases}
    games = [
        (job, case.n_paths)
        for case in cases
        for world in case_worlds[case.name]
        for job in make_alone_jobs(case, world, seed)
    ]
    gains = iter(play_jobs(store, games, bar, **how))
    yardsticks = {}
    for case in cases:
        alone = [
            np.array([next(gains) for _ in range(world.n_arms)]) for world in case_worlds[case.name]
        ]
        optima = find_optima(case, case_worlds[case.name], alone, seed)
        parts = [
            float(1 - score([by_arm[arm] for by_arm in alone], optima).mean())
            for arm in range(len(alone[0]))
        ]
        cheapest = find_cheapest(case, case_worlds[case.name][0], np.array(parts))
        yardsticks[case.name] = Yardstick(optima, Alone(parts[cheapest], max(parts)))
    return yardsticks


def play_jobs(
    store: Store, games: Sequence[tuple[Job, int]], bar: Progress, **how: Any
) -> list[Floats]:
    """Play all jobs at once, and return the gains of each, (P,).

    games   a job, and its number of paths
    how     `n_workers` and `device`, see `leaderboard`
    """
    shards = [list(shards_of(job, n_paths)) for job, n_paths in games]
    missing = store.missing([shard for of_job in shards for shard in of_job])
    play_all(missing, store.accept, bar, **how)
    return [store.runs(of_job)["gain"].to_numpy() for of_job in shards]


def score(gains: Sequence[Floats], optima: Sequence[float]) -> Floats:
    """Return the normalised regret of each path, (P,), in the world that is worst on average."""
    by_world = [1 - gain / optimum for gain, optimum in zip(gains, optima, strict=True)]
    return max(by_world, key=lambda scores: float(scores.mean()))


def thin(case: Case) -> Case:
    """Return the case with few paths."""
    return case._replace(n_paths=min(case.n_paths, QUICK_PATHS))


def shorten(case: Case) -> Case:
    """Return a case of suite 1 with a small budget and few paths."""
    budget = case.budget
    if isinstance(budget, tuple):
        factor = QUICK_BUDGET / max(budget)
        budget = tuple(amount * factor for amount in budget)
    elif "prompts" not in case.world and "customers" not in case.world:
        budget = min(budget, QUICK_BUDGET)
    return thin(case)._replace(budget=budget)
