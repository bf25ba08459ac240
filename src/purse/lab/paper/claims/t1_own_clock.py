"""T1: own-clock regret of the policy with a coin."""

from __future__ import annotations

from purse.lab.paper.finding import Finding
from purse.lab.paper.guarantees import COIN, budgets_of, facts, hold_against, plain_worlds
from purse.lab.paper.runner import Runner
from purse.lab.theory import coin_bounds
from purse.lab.theory.estimate import Estimate
from purse.types import World

ORDER = 300
TITLE = "T1, every table"
SAYS = (
    "Ours: in every table of rewards and costs that is fixed in advance, own-clock regret of "
    "`tsallis-inf.coin` is at most R(B) = √2(4√K − 2)√(B + 1)/c + 1/c."
)
COMMANDS = [
    f"purse lab regret {COIN} -w two_worlds:world=2 -b 1e3",
    "purse lab bounds -w same_costs -b 1e3 --all",
]
PATHS = 20


def study(runner: Runner) -> Finding:
    """Return own-clock regret over its bound, on every shipped world that has one."""

    def measure(place: str | World, budget: float) -> tuple[Estimate, float]:
        n_arms, low, high, _ = facts(place, budget)
        bound = coin_bounds.own_clock(n_arms, budget, low, cost_max=high)
        return runner.own_clock(COIN, place, budget, PATHS), bound.value or 0.0

    budgets = budgets_of(runner, 3e2, 1e3, 1e4)
    ratios = hold_against(((f"`{text}`", text) for text in plain_worlds()), budgets, measure)
    return Finding(
        "true",
        f"{ratios.n_worlds} worlds, B = {budgets[0]:,.0f} … {budgets[-1]:,.0f}: at most "
        f"{ratios.largest:.2f} of the bound",
        ratios.violations == 0,
        [
            "The proof of this and of the following claims is on the page *What is true*. "
            "Own-clock regret credits an arm, for each unit of budget that the player spends, with "
            "what the arm would earn with the next one. "
            f"Measured over bound ({runner.paths(PATHS)} paths):",
            ratios.table,
        ],
    )
