"""`purse.leaderboard`: every policy on the suite; who wins where, by how much, and how badly one
can do.

The score of a run is its normalised regret 1 - G / OPT: 0 is the optimum, 1 is nothing gained. OPT
is the gain of the best fixed arm on the same draws or, where that is more, of a player who knows
the means and always takes the arm that is most efficient at the time; with a horizon or several
resources it is the value of the linear program (`purse.theory.fluid`).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from purse import policies, worlds
from purse.base import amounts, html, validation
from purse.base.progress import progress
from purse.engine.draws import draws
from purse.engine.job import Job, make_job, single_arm_jobs
from purse.errors import InvalidInput
from purse.ranking.suite import CASES, VARIANTS, VERSION, Case
from purse.study.store import Store
from purse.theory.fluid import lp_optimum
from purse.theory.notions import Estimate, best_arm, estimate
from purse.types import Floats, World

if TYPE_CHECKING:
    import polars as pl

YARDSTICKS = ("fixed", "oracle")  # which know what a policy must learn
QUICK_BUDGET, QUICK_PATHS = 1e3, 4


@dataclass(frozen=True, eq=False)
class Leaderboard:
    """The scores of every policy on every case that it can play, path by path."""

    cases: tuple[Case, ...]
    policies: tuple[str, ...]
    scores: dict[tuple[str, str], Floats]  # (policy, case) -> (P,)
    refusals: dict[tuple[str, str], str]  # why a policy cannot play a case

    def score(self, policy: str, case: str) -> Estimate | None:
        """Mean normalised regret with its interval; None where the policy cannot play."""
        found = self.scores.get((policy, case))
        return None if found is None else estimate(found)

    def ranks(self, case: str) -> dict[str, float]:
        """Rank of each policy that plays the case, 1 for the best; equal means share a rank."""
        means = {
            policy: float(self.scores[policy, case].mean())
            for policy in self.policies
            if (policy, case) in self.scores
        }
        return {
            policy: 1 + sum(other < mean for other in means.values())
            for policy, mean in means.items()
        }

    def frame(self) -> pl.DataFrame:
        """A row for each policy and case: mean score, interval, rank; null where it cannot play."""
        import polars as pl

        rows = []
        for case in self.cases:
            ranks = self.ranks(case.name)
            for policy in self.policies:
                found = self.score(policy, case.name)
                facts = {"case": case.name, "situation": case.situation, "policy": policy}
                numbers = (
                    dict(zip(("score", "error", "low", "high"), found, strict=True))
                    if found
                    else dict.fromkeys(("score", "error", "low", "high"))
                )
                rows.append(
                    {
                        **facts,
                        **numbers,
                        "rank": ranks.get(policy),
                        "refused": self.refusals.get((policy, case.name)),
                    }
                )
        return pl.DataFrame(rows, infer_schema_length=None)

    def standings(self) -> pl.DataFrame:
        """A row for each policy: over the cases that it plays mean score and its standard error,
        mean rank, worst score, and how many it plays.
        """
        import polars as pl

        rows = []
        for policy in self.policies:
            mine = [case.name for case in self.cases if (policy, case.name) in self.scores]
            if mine:
                means = [float(self.scores[policy, case].mean()) for case in mine]
                error = float(
                    np.sqrt(sum(estimate(self.scores[policy, case]).error ** 2 for case in mine))
                ) / len(mine)
                ranks = [self.ranks(case)[policy] for case in mine]
                totals = {
                    "score": float(np.mean(means)),
                    "error": error,
                    "rank": float(np.mean(ranks)),
                    "worst": max(means),
                }
                rows.append(
                    {
                        "policy": policy,
                        "cases": len(mine),
                        **totals,
                        "worst_case": mine[int(np.argmax(means))],
                    }
                )
        return pl.DataFrame(rows).sort("cases", "score", descending=[True, False])

    def wins(self) -> Floats:
        """(N, N) In how many cases the policy of the row is better than that of the column beyond
        doubt: paired, 95% interval.
        """
        table = np.zeros((len(self.policies), len(self.policies)))
        for i, one in enumerate(self.policies):
            for j, other in enumerate(self.policies):
                for case in self.cases:
                    mine, theirs = (
                        self.scores.get((one, case.name)),
                        self.scores.get((other, case.name)),
                    )
                    if (
                        i != j
                        and mine is not None
                        and theirs is not None
                        and estimate(mine - theirs).high < 0
                    ):
                        table[i, j] += 1
        return table

    def __str__(self) -> str:
        """The standings as plain text."""
        lines = [
            f"suite {VERSION}: {len(self.cases)} cases, {len(self.policies)} policies; "
            "normalised regret 1 - G/OPT, smaller is better"
        ]
        width = max(map(len, self.policies))
        lines.append(f"{'policy':{width}}  cases  mean score ± 95%  mean rank  worst score")
        for row in self.standings().iter_rows(named=True):
            numbers = (
                f"{row['cases']:5}  {row['score']:8.3f} ± {1.96 * row['error']:5.3f}  "
                f"{row['rank']:9.1f}  {row['worst']:11.3f}"
            )
            lines.append(f"{row['policy']:{width}}  {numbers}  {row['worst_case']}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """The standings as a table, for notebooks."""
        rows = [
            (
                row["policy"],
                str(row["cases"]),
                f"{row['score']:.3f} ± {1.96 * row['error']:.3f}",
                f"{row['rank']:.1f}",
                f"{row['worst']:.3f}",
                row["worst_case"],
            )
            for row in self.standings().iter_rows(named=True)
        ]
        return html.table(
            ["policy", "cases", "mean score ± 95%", "mean rank", "worst score", "on"],
            rows,
            title=str(self).splitlines()[0],
            texts=(0, 5),
        )


def leaderboard(
    names: Sequence[str] | None = None,
    *,
    quick: bool = False,
    seed: int = 0,
    n_workers: int | None = None,
    folder: str | os.PathLike[str] | None = None,
) -> Leaderboard:
    """Play the suite with these policies, or with all that purse ships; with `folder`, finished
    parts are kept and found again.

    `quick` takes budgets of at most 1,000 and a few paths: a look, not for quoting.
    """
    chosen = (
        tuple(names)
        if names
        else tuple(
            sorted([name for name in policies.names() if name not in YARDSTICKS] + list(VARIANTS))
        )
    )
    workers = None if n_workers is None else validation.integer("n_workers", n_workers, low=1)
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
    with progress("leaderboard") as shown:
        optima: dict[str, float] = {}
        for number, case in enumerate(cases):
            place = worlds.make(case.world, case.budget)
            if place.horizon is not None or place.n_resources > 1:
                optima[case.name] = lp_optimum(place, case.budget).value
            else:
                shown.part(0.1 * number / len(cases), 0.0, f"{case.name}: each arm alone")
                alone = np.array(
                    [
                        store.run(job, case.n_paths, workers, shown)["gain"].to_numpy()
                        for job in single_arm_jobs(place, case.budget, seed=seed)
                    ]
                )
                optima[case.name] = max(
                    float(alone[best_arm(alone)].mean()), moving_oracle(place, case, seed)
                )
        by_name = {case.name: case for case in cases}
        # policy by policy: each compiles once
        for number, ((policy, name), job) in enumerate(sorted(jobs.items())):
            shown.part(0.1 + 0.9 * number / len(jobs), 0.9 / len(jobs), f"{policy}: {name}")
            runs = store.run(job, by_name[name].n_paths, workers, shown)
            scores[policy, name] = 1 - runs["gain"].to_numpy() / optima[name]
    return Leaderboard(cases, chosen, scores, refusals)


def moving_oracle(world: World, case: Case, seed: int) -> float:
    """The mean gain of always taking the arm that is most efficient in its phase of the world; for
    one resource.
    """
    tables = world.tables
    chances = np.diff(tables.below / 2.0**53, axis=2, prepend=0.0, append=1.0)
    best = (
        (chances * tables.rewards).sum(axis=2) / (chances * tables.costs[..., 0]).sum(axis=2)
    ).argmax(axis=1)
    budget = int(amounts.budget_array(case.budget, 1)[0])
    rounds = np.arange(budget // int(world.cost_min.min()) + 1)
    arms = best[
        np.searchsorted(tables.last, (rounds % tables.period if tables.period else rounds) + 1)
    ]
    gains = []
    for path in range(case.n_paths):
        rewards, costs = draws(world, len(rounds), seed=seed, path=path)
        paid = np.cumsum(costs[rounds, arms, 0]) <= budget
        gains.append(rewards[rounds, arms][paid].sum())
    return float(np.mean(gains))


def small(case: Case) -> Case:
    """The case for a quick look."""
    budget = case.budget
    if isinstance(budget, tuple):
        factor = QUICK_BUDGET / max(budget)
        budget = tuple(each * factor for each in budget)
    elif "prompts" not in case.world and "customers" not in case.world:
        budget = min(budget, QUICK_BUDGET)
    return case._replace(budget=budget, n_paths=min(case.n_paths, QUICK_PATHS))
