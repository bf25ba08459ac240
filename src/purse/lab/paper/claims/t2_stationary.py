"""T2: random costs, and costs that move while efficiencies stay."""

from __future__ import annotations

from purse.lab.paper.finding import Finding
from purse.lab.paper.guarantees import (
    COIN,
    budgets_of,
    facts,
    hold_against,
    shortfall,
    stationary_worlds,
)
from purse.lab.paper.runner import Runner
from purse.lab.theory import coin_bounds
from purse.lab.theory.estimate import Estimate
from purse.types import World

ORDER = 310
TITLE = "T2, random costs"
SAYS = (
    "Ours: where each arm's mean reward is a constant e(i) times its mean cost whatever happened "
    "before, in i.i.d. worlds in particular, e*B − E G of `tsallis-inf.coin` is at most R(B)."
)
COMMANDS = [f"purse lab regret {COIN} -w misleading_ratio -b 1e4"]
PATHS = 20


def study(runner: Runner) -> Finding:
    """Return shortfall over bound, on worlds with stationary efficiencies."""

    def measure(place: str | World, budget: float) -> tuple[Estimate, float]:
        n_arms, low, high, _ = facts(place, budget)
        bound = coin_bounds.stationary(n_arms, budget, low, cost_max=high)
        return shortfall(runner, COIN, place, budget, PATHS), bound.value or 0.0

    budgets = budgets_of(runner, 1e3, 1e4, 1e5)
    ratios = hold_against(((f"`{text}`", text) for text in stationary_worlds()), budgets, measure)
    return Finding(
        "true",
        f"{ratios.n_worlds} worlds, B = {budgets[0]:,.0f} … {budgets[-1]:,.0f}: at most "
        f"{ratios.largest:.2f} of the bound",
        ratios.violations == 0,
        [
            "No price of the budget is learnt: a block of pulls costs 1 on average whatever the "
            "arm, and earns e(i). This is what Theorem 3 and Theorem 1 want for random costs, "
            "where both algorithms of the paper lose a share of the budget. "
            f"Measured over bound ({runner.paths(PATHS)} paths):",
            ratios.table,
        ],
    )
