"""T4: gaps, and rounds that an adversary has changed."""

from __future__ import annotations

from purse import worlds
from purse.lab.paper.finding import Finding
from purse.lab.paper.guarantees import (
    COIN,
    CORRUPTED,
    PLAIN_BANDIT,
    SMALL_COSTS,
    budgets_of,
    facts,
    hold_against,
)
from purse.lab.paper.runner import FIVE, TEN, Runner
from purse.lab.theory import coin_bounds
from purse.lab.theory.estimate import Estimate, estimate
from purse.types import Floats, World

ORDER = 330
TITLE = "T4, gaps and corruption"
SAYS = (
    "Ours: with independent rounds, one best arm, gaps Δ(i) and a total deviation C from E r = "
    "e(i)·E c, e*B − E G of `tsallis-inf.coin` is at most Σ (22.3 log(B+1) + 46.6)/(c^2 Δ(i)) + "
    "106/c + C(3 + 2/c), and at most R(B) + C/c."
)
COMMANDS = [f'purse lab regret {COIN} -b 1e4 -w "{CORRUPTED.format(100, "[.1,.1,.9]")}"']
PATHS = 20
PLACES = (
    "misleading_ratio",
    FIVE,
    TEN,
    PLAIN_BANDIT,
    SMALL_COSTS,
    CORRUPTED.format(10, "[.1,.1,.9]"),
    CORRUPTED.format(100, "[.1,.1,.9]"),
    CORRUPTED.format(1000, "[.1,.1,.9]"),
    CORRUPTED.format(100, "[.9,.0,.9]"),
)


def truth(place: str | World, budget: float) -> tuple[Floats, float]:
    """Return the efficiencies, in the user's unit, and the total deviation from them."""
    world = worlds.make(place, budget)
    if world.efficiencies is not None:
        return world.efficiencies, 0.0
    tables, costs = world.tables, world.costs
    assert costs is not None
    chances = tables.below[:, :, 0] / 2.0**53  # the first phase is false, the second true
    return chances[1] / (costs[:, 0] / 1e9), float(
        tables.last[0] * abs(chances[0] - chances[1]).max()
    )


def study(runner: Runner) -> Finding:
    """Return shortfall over both bounds, on worlds with one best arm."""

    def lost(place: str | World, budget: float) -> Estimate:
        gains = runner.runs(COIN, place, budget, PATHS)["gain"].to_numpy()
        return estimate(truth(place, budget)[0].max() * budget - gains)

    def with_gaps(place: str | World, budget: float) -> tuple[Estimate, float]:
        (efficiencies, deviation), (_, low, high, _) = truth(place, budget), facts(place, budget)
        gaps = [gap for gap in (efficiencies.max() - efficiencies).tolist() if gap > 0]
        bound = coin_bounds.with_gaps(gaps, budget, low, cost_max=high, deviation=deviation)
        return lost(place, budget), bound.value or 0.0

    def without(place: str | World, budget: float) -> tuple[Estimate, float]:
        n_arms, low, high, _ = facts(place, budget)
        deviation = truth(place, budget)[1]
        bound = coin_bounds.stationary(n_arms, budget, low, cost_max=high, deviation=deviation)
        return lost(place, budget), bound.value or 0.0

    budgets = budgets_of(runner, 1e3, 1e4, 1e5)
    places = [(f"`{text}`", text) for text in PLACES]
    logarithmic, plain = (
        hold_against(places, budgets, measure) for measure in (with_gaps, without)
    )
    return Finding(
        "true; with gaps only asymptotic",
        f"{plain.n_worlds} worlds, B = {budgets[0]:,.0f} … {budgets[-1]:,.0f}: at most "
        f"{logarithmic.largest:.3f} of the bound with gaps, {plain.largest:.2f} of the other",
        logarithmic.violations + plain.violations == 0,
        [
            "The bound with gaps is below R(B) only from B = 6·10⁴ (K = 2, c = Δ = 0.5) to 7·10⁶ "
            "(c = 0.1, Δ = 0.29) on. Measured over the bound with gaps "
            f"({runner.paths(PATHS)} paths):",
            logarithmic.table,
            "Measured over R(B) + C/c:",
            plain.table,
        ],
    )
