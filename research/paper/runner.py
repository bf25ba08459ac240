"""Simulations of the claims, kept in a store, and the instances that several try."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from purse import worlds
from purse.base import amounts
from purse.base.optional import pl
from purse.base.progress import Progress
from purse.engine.job import Job, make_job
from purse.lab.study.compare import DEFAULT_WORLDS
from purse.lab.study.regrets import Regrets, measure
from purse.lab.study.store import Store
from purse.lab.theory.bounds import proposition_a
from purse.lab.theory.estimate import Estimate, estimate
from purse.lab.theory.growth import Growth, fit_growth
from purse.lab.theory.notions import against_best_fixed_arm, best_arm, best_fixed_arm
from purse.types import CPU, Floats, World

# five arms, i.i.d. rewards, a constant cost each; the best efficiency is 1.4
FIVE = str(DEFAULT_WORLDS["stochastic"])
TEN = "bernoulli:rewards=[.42,.5,.4,.3,.6,.3,.35,.45,.5,.2],costs=[.3,.5,.6,.4,.9,.5,.6,.7,.8,.4]"
# constant arms (1, 1) and (0.05, 0.1)
CHEAP_ARM = "atoms:probabilities=[[1],[1]],rewards=[[1],[.05]],costs=[[1],[.1]]"
# constant arms (1, 1) and (0.005, 0.1)
CHEAPER_ARM = "atoms:probabilities=[[1],[1]],rewards=[[1],[.005]],costs=[[1],[.1]]"
WORLD_1, WORLD_2 = (f"two_worlds:cost_min=0.1,world={number}" for number in (1, 2))
PLAYERS = ("exp3.bwk", "exp3++.bwk")

QUICK_BUDGET, QUICK_PATHS = 1e4, 8


class Runner:
    """The simulations of claims; with `quick`, only budgets up to 10,000 and a few paths."""

    def __init__(
        self, store: Store, bar: Progress, n_workers: int | None, quick: bool, device: str = CPU
    ) -> None:
        self.store, self.bar, self.n_workers, self.quick = store, bar, n_workers, quick
        self.device = device
        self.done, self.title = 0.0, ""

    def begin(self, done: float, title: str) -> None:
        """Note the share of all claims that is done, and the title of the next."""
        self.done, self.title = done, title

    def say(self, policy: str, budget: float) -> None:
        """Show what is running; the bar moves at the end of a claim."""
        self.bar.part(self.done, 0.0, f"{self.title}: {policy}, B = {budget:,.0f}")

    def budgets(self, *sizes: float) -> list[float]:
        """Return the budgets to use: all of them, or those for a quick look."""
        return [size for size in sizes if not self.quick or size <= QUICK_BUDGET]

    def paths(self, count: int) -> int:
        """Return the number of paths to use, which is smaller for a quick look."""
        return min(count, QUICK_PATHS) if self.quick else count

    def runs(
        self, policy: str, world: str | World, budget: float, n_paths: int, stop: str = "exit"
    ) -> pl.DataFrame:
        """Return the runs of a policy, a row for each path."""
        self.say(policy, budget)
        job = make_job(policy, world, budget, stop=stop)
        return self.play(job, n_paths)

    def play(self, job: Job, n_paths: int) -> pl.DataFrame:
        """Return the runs of a job, a row for each path."""
        return self.store.run(job, self.paths(n_paths), self.n_workers, self.bar, self.device)

    def regrets(self, policy: str, world: str, budget: float, n_paths: int) -> Regrets:
        """Return every notion of regret."""
        self.say(policy, budget)
        how: dict[str, Any] = {"n_workers": self.n_workers, "device": self.device, "bar": self.bar}
        return measure(self.store, policy, world, budget, n_paths=self.paths(n_paths), **how)

    def estimates(
        self,
        policy: str,
        world: str,
        budgets: Sequence[float],
        n_paths: int,
        notion: str = "best_fixed_arm",
    ) -> list[Estimate]:
        """Return a notion of regret at each budget."""
        return [self.regrets(policy, world, budget, n_paths)[notion] for budget in budgets]

    def pseudo_regret(self, policy: str, world: str, budget: float, n_paths: int) -> Floats:
        """(P,) sum_i rho(i) Delta(i) N(i), from runs of the policy alone."""
        instance = worlds.make(world, budget)
        assert instance.efficiencies is not None
        assert instance.cost_means is not None
        loss = (instance.efficiencies.max() - instance.efficiencies) * instance.cost_means[:, 0]
        return self.runs(policy, world, budget, n_paths)["pulls"].to_numpy() @ loss

    def arms_alone(self, world: str | World, budget: float, n_paths: int) -> Floats:
        """(K, P) The gain of each arm alone."""
        n_arms = worlds.make(world, budget).n_arms
        alone = (f"fixed:arm={arm}" for arm in range(n_arms))
        return np.array(
            [self.runs(arm, world, budget, n_paths)["gain"].to_numpy() for arm in alone]
        )

    def fixed_arm_regret(
        self, policy: str, world: str | World, budget: float, n_paths: int
    ) -> Estimate:
        """Return regret against the best fixed arm, without other notions."""
        gain = self.runs(policy, world, budget, n_paths)["gain"].to_numpy()
        alone = self.arms_alone(world, budget, n_paths)
        return estimate(against_best_fixed_arm(gain, alone))

    def own_clock(self, policy: str, world: str | World, budget: float, n_paths: int) -> Estimate:
        """Return own-clock regret, without other notions."""
        job = make_job(policy, world, budget)
        runs = self.runs(policy, world, budget, n_paths)
        credit = self.store.own_clock(job, runs, self.n_workers, self.bar)
        assert credit is not None
        lead = credit - runs["gain"].to_numpy()
        return estimate(lead[best_arm(lead)])

    def own_rounds(
        self, policy: str, world: str, budget: float, n_paths: int
    ) -> tuple[Estimate, float]:
        """Return efficiency regret over the player's own rounds, and its bound by Proposition A."""
        self.say(policy, budget)
        job = make_job(policy, world, budget)
        runs = self.play(job, n_paths)
        others = self.store.counterfactuals(job, runs, self.n_workers, self.bar)
        lead = others["shadow"].to_numpy().T - runs["efficiency"].to_numpy()
        low = float(job.world.cost_min.min() / amounts.UNIT)
        high = float(job.world.cost_max.max() / amounts.UNIT)
        bound = proposition_a(job.world.n_arms, budget, low, cost_max=high, policy=policy)
        return estimate(lead[best_arm(lead)]), float(bound.value or np.nan)

    def regret_growth(
        self, policy: str, world: str, budgets: Sequence[float], n_paths: int
    ) -> Growth:
        """Return how a policy's regret against the best fixed arm grows with the budget."""
        evidence = [self.regrets(policy, world, budget, n_paths).evidence for budget in budgets]
        return fit_growth(np.array(budgets), np.array([best_fixed_arm(runs) for runs in evidence]))

    def growth(
        self, policy: str, world: str, budgets: Sequence[float], n_paths: int
    ) -> tuple[Growth, Floats]:
        """Return the growth of a policy's pseudo-regret with the budget, and its values (M, P)."""
        values = np.array([self.pseudo_regret(policy, world, size, n_paths) for size in budgets])
        return fit_growth(np.array(budgets), values), values
