"""`purse.leaderboard`: the score of every policy on every case of the suite.

The score of a run is its normalised regret 1 - G / OPT: 0 is the optimum, 1 is no gain. OPT is the
larger of two gains on the same draws: that of the best fixed arm, and that of a player who knows
the means and always pulls the arm that is most efficient at the time. With a horizon or several
resources, OPT is the value of the linear program (`purse.theory.fluid`).
"""

from __future__ import annotations

import os
from collections.abc import Sequence

import numpy as np

from purse import policies, worlds
from purse.base import amounts, validation
from purse.base.progress import progress
from purse.engine.draws import draws
from purse.engine.job import Job, make_job, single_arm_jobs
from purse.errors import InvalidInput
from purse.ranking.scores import Leaderboard
from purse.ranking.suite import CASES, VARIANTS, Case
from purse.study.store import Store
from purse.theory.fluid import lp_optimum
from purse.theory.notions import best_arm
from purse.types import World

YARDSTICKS = ("fixed", "oracle")  # which know what a policy must learn
QUICK_BUDGET, QUICK_PATHS = 1e3, 4


def leaderboard(
    names: Sequence[str] | None = None,
    *,
    quick: bool = False,
    seed: int = 0,
    n_workers: int | None = None,
    folder: str | os.PathLike[str] | None = None,
) -> Leaderboard:
    """Play the suite with these policies, and return the score of each on every case.

    names       names with options, or paths of policy files; None: all policies that purse ships
    quick       take budgets of at most 1,000 and 4 paths: a look, not for quoting
    n_workers   threads; their number changes no result
    folder      a folder that keeps finished parts; a repeat reads them

    Raise `InvalidInput` when a policy cannot play any case.
    """
    shipped = [name for name in policies.names() if name not in YARDSTICKS]
    chosen = tuple(names or sorted([*shipped, *VARIANTS]))
    workers = validation.workers(n_workers)
    cases = tuple(small(case) for case in CASES) if quick else CASES
    store = Store(folder)
    jobs: dict[tuple[str, str], Job] = {}
    refusals: dict[tuple[str, str], str] = {}
    for case in cases:
        place = worlds.make(case.world, case.budget)
        for policy in chosen:
            try:
                jobs[policy, case.name] = make_job(policy, place, case.budget, seed=seed)
            except InvalidInput as error:
                refusals[policy, case.name] = str(error)
    for policy in chosen:
        if not any((policy, case.name) in jobs for case in cases):
            raise InvalidInput(refusals[policy, cases[0].name])
    scores = {}
    with progress("leaderboard") as bar:
        optima: dict[str, float] = {}
        for number, case in enumerate(cases):
            place = worlds.make(case.world, case.budget)
            if place.horizon is not None or place.n_resources > 1:
                optima[case.name] = lp_optimum(place, case.budget).value
            else:
                bar.part(0.1 * number / len(cases), 0.0, f"{case.name}: each arm alone")
                fixed = single_arm_jobs(place, case.budget, seed=seed)
                runs = [store.run(job, case.n_paths, workers, bar) for job in fixed]
                alone = np.array([each["gain"].to_numpy() for each in runs])
                best = float(alone[best_arm(alone)].mean())
                optima[case.name] = max(best, moving_oracle(place, case, seed))
        by_name = {case.name: case for case in cases}
        # policy by policy: each compiles once
        for number, ((policy, name), job) in enumerate(sorted(jobs.items())):
            bar.part(0.1 + 0.9 * number / len(jobs), 0.9 / len(jobs), f"{policy}: {name}")
            played = store.run(job, by_name[name].n_paths, workers, bar)
            scores[policy, name] = 1 - played["gain"].to_numpy() / optima[name]
    return Leaderboard(cases, chosen, scores, refusals)


def moving_oracle(world: World, case: Case, seed: int) -> float:
    """Return the mean gain of always pulling the phase's most efficient arm, for one resource."""
    tables = world.tables
    chances = np.diff(tables.below / 2.0**53, axis=2, prepend=0.0, append=1.0)
    means = (chances * tables.rewards).sum(axis=2)
    best = (means / (chances * tables.costs[..., 0]).sum(axis=2)).argmax(axis=1)
    budget = int(amounts.budget_array(case.budget, 1)[0])
    rounds = np.arange(budget // int(world.cost_min.min()) + 1)
    phases = np.searchsorted(tables.last, (rounds % tables.period if tables.period else rounds) + 1)
    arms = best[phases]
    gains = []
    for path in range(case.n_paths):
        rewards, costs = draws(world, len(rounds), seed=seed, path=path)
        paid = np.cumsum(costs[rounds, arms, 0]) <= budget
        gains.append(rewards[rounds, arms][paid].sum())
    return float(np.mean(gains))


def small(case: Case) -> Case:
    """Return the case with a small budget and few paths, for a quick look."""
    budget = case.budget
    if isinstance(budget, tuple):
        factor = QUICK_BUDGET / max(budget)
        budget = tuple(each * factor for each in budget)
    elif "prompts" not in case.world and "customers" not in case.world:
        budget = min(budget, QUICK_BUDGET)
    return case._replace(budget=budget, n_paths=min(case.n_paths, QUICK_PATHS))
