"""T6: with a price, the least cost leaves the leading term."""

from __future__ import annotations

from purse import worlds
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

ORDER = 350
TITLE = "T6, with a price"
SAYS = (
    "Ours: in i.i.d. worlds with e* ≤ L, `tsallis-inf.coin:price_max=L` has e*B − E G at most "
    "4√(2VK(B+1)) and terms of order K log^2 B/c^2, V = L + 3L^2: c is not in the leading term."
)
COMMANDS = [f"purse lab regret {COIN}:price_max=2.4 -w misleading_ratio -b 1e4"]
PATHS = 20


def study(runner: Runner) -> Finding:
    """Return shortfall over bound with L twice the best efficiency, on i.i.d. worlds."""

    def measure(place: str | World, budget: float) -> tuple[Estimate, float]:
        n_arms, low, high, best = facts(place, budget)
        top = float(f"{2 * best:.3g}")
        bound = coin_bounds.with_price(n_arms, budget, low, top, cost_max=high)
        policy = f"{COIN}:price_max={top}"
        return shortfall(runner, policy, place, budget, PATHS), bound.value or 0.0

    budgets = budgets_of(runner, 1e3, 1e4, 1e5)
    places = [
        (f"`{text}`", text)
        for text in stationary_worlds()
        if worlds.make(text, 1000).efficiencies is not None
    ]
    ratios = hold_against(places, budgets, measure)
    return Finding(
        "true",
        f"{ratios.n_worlds} worlds, B = {budgets[0]:,.0f} … {budgets[-1]:,.0f}, L = 2e*: at most "
        f"{ratios.largest:.2f} of the bound",
        ratios.violations == 0,
        [
            "A block's score X − θ(S − 1) has the same mean for every price θ, so that the "
            "player's own ratio may be charged: it only takes noise away. Unlikely arms are "
            "charged the safe price 1/c. Measured over bound, L twice the best efficiency "
            f"({runner.paths(PATHS)} paths):",
            ratios.table,
        ],
    )
