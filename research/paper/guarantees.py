"""Worlds of each kind, and tables of measured over bound, for the claims of our own."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from purse import worlds
from purse.base import amounts
from purse.lab.theory.bound import Bound
from purse.lab.theory.estimate import Estimate, estimate
from purse.lab.theory.own_clock import block_values
from purse.types import World
from purse.worlds._tables import make_world
from research.paper.finding import Finding, Table, heads
from research.paper.runner import FIVE, TEN, Runner

COIN = "tsallis-inf.coin"
QUICK_BUDGETS = (1e2, 3e2, 1e3)
ERRORS = 4  # standard errors by which a mean may be beyond its bound
PLAIN_BANDIT = "bernoulli:rewards=[.6,.5,.5],costs=[1,1,1]"
NOTHING_TO_LEARN = "two_point:rewards=[.5,.5],costs=[.5,.5],cost_min=.1"
SMALL_COSTS = "two_point:rewards=[.9,.5,.4,.2],costs=[.8,.3,.5,.25],cost_min=.05"
CORRUPTED = "corrupted:rewards=[.9,.6,.4],costs=[.8,.3,.25],rounds={},fake_rewards={}"
Spec = str | World
Measured = tuple[Estimate, float]  # a mean, and its bound


class Ratios(NamedTuple):
    """Measured over bound for each world and budget."""

    budgets: Sequence[float]
    table: Table
    largest: float
    smallest: float
    violations: int  # means beyond their bound by more than `ERRORS` standard errors
    n_worlds: int

    def finding(self, text: str, more: str = "") -> Finding:
        """Return the finding that means keep to their bound, with words on it."""
        return Finding(
            "true",
            f"{self.n_worlds} worlds, B = {self.budgets[0]:,.0f} … {self.budgets[-1]:,.0f}{more}: "
            f"at most {self.largest:.2f} of the bound",
            self.violations == 0,
            [text, self.table],
        )


def budgets_of(runner: Runner, *sizes: float) -> list[float]:
    """Return these budgets, or three small ones for a quick look."""
    return list(QUICK_BUDGETS) if runner.quick else list(sizes)


def hold_against(
    places: Iterable[tuple[str, Spec]],
    budgets: Sequence[float],
    measure: Callable[[Spec, float], Measured],
    *,
    at_least: bool = False,
) -> Ratios:
    """Compare measured means with their bounds.

    places     worlds, with their labels
    measure    returns a mean and its bound
    at_least   the bound is a lower one
    """
    rows, ratios, violations = [], [], 0
    for label, spec in places:
        cells = []
        for budget in budgets:
            measured, bound = measure(spec, budget)
            error = 0.0 if np.isnan(measured.error) else measured.error
            beyond = bound - measured.mean if at_least else measured.mean - bound
            violations += beyond > ERRORS * error
            ratios.append(measured.mean / bound)
            cells.append(f"{ratios[-1]:.3f}")
        rows.append([label, *cells])
    table = Table(["world", *heads(budgets)], rows)
    return Ratios(budgets, table, max(ratios), min(ratios), violations, len(rows))


def in_code(texts: Iterable[str]) -> list[tuple[str, Spec]]:
    """Return worlds, each with its text as a label."""
    return [(f"`{text}`", text) for text in texts]


def value_at(bound: Callable[..., Bound], spec: Spec, budget: float, **more: Any) -> float:
    """Return the value of a bound with the K and the costs of a world."""
    n_arms, low, high, _ = facts(spec, budget)
    return bound(n_arms, budget, low, cost_max=high, **more).value or 0.0


def facts(spec: Spec, budget: float) -> tuple[int, float, float, float]:
    """Return K, the least and the largest cost, and the best efficiency at the start."""
    world = worlds.make(spec, budget)
    low, high = (
        float(units) / amounts.UNIT for units in (world.cost_min.min(), world.cost_max.max())
    )
    return world.n_arms, low, high, float(block_values(world, 0)[0].max()) / high


def shortfall(runner: Runner, policy: str, spec: Spec, budget: float, paths: int) -> Estimate:
    """Return max e(i) B - E G."""
    gains = runner.runs(policy, spec, budget, paths)["gain"].to_numpy()
    return estimate(facts(spec, budget)[3] * budget - gains)


def costly_worlds() -> list[str]:
    """Return an example of each shipped world with efficiencies, without masks and contexts."""

    def is_costly(text: str) -> bool:
        world = worlds.make(text, 1000)
        pays = world.n_resources == 1 and bool((world.cost_min > 0).all())
        return pays and world.outages is None and world.n_features == 0

    return [text for text in map(worlds.example, worlds.names()) if is_costly(text)]


def plain_worlds() -> list[str]:
    """Return those of them that only a budget ends, so that they have own-clock regret."""
    by_text = {text: worlds.make(text, 1000) for text in costly_worlds()}
    return [text for text, world in by_text.items() if world.horizon is world.n_rounds is None]


def stationary_worlds() -> list[str]:
    """Return worlds in which each arm's mean reward is a constant times its mean cost."""
    shipped = [
        text
        for text in plain_worlds()
        if worlds.make(text, 1000).efficiencies is not None or text.startswith("moving_costs")
    ]
    return [*shipped, FIVE, TEN, PLAIN_BANDIT, NOTHING_TO_LEARN, SMALL_COSTS]


def cycle(seed: int, *, equal: bool, phi: float = 0.0) -> World:
    """Return a world of fixed rows that repeat without end.

    equal   in each row all arms cost the same, and rewards are any
    phi     if costs are not equal: efficiencies lie within a factor 1 + phi of each other
    """
    chance = np.random.default_rng(seed)
    n_arms, n_rows = int(chance.integers(2, 6)), int(chance.integers(2, 40))
    if equal:
        costs = np.repeat(chance.uniform(0.1, 1, (n_rows, 1)), n_arms, axis=1)
        rewards = chance.random((n_rows, n_arms)) ** chance.uniform(0.5, 3, n_arms)
    else:
        costs = chance.uniform(0.1, 1, (n_rows, n_arms))
        lowest = chance.uniform(0.2, 1, n_arms) / (1 + phi)
        rewards = lowest * chance.uniform(1, 1 + phi, (n_rows, n_arms)) * costs
    units = np.rint(costs * amounts.UNIT).astype(np.int64)
    return make_world(
        f"cycle of {n_rows} rows, K = {n_arms}",
        np.ones((n_rows, n_arms, 1)),
        rewards[:, :, None],
        units[:, :, None, None],
        last=np.arange(1, n_rows + 1),
        period=n_rows,
    )
