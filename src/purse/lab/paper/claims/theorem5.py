"""Theorem 5: costs that grow with the budget."""

from __future__ import annotations

import numpy as np

from purse import worlds
from purse.lab.paper.finding import Finding, Picture, Table
from purse.lab.paper.runner import Runner
from purse.lab.report.charts.lines import Curve
from purse.worlds.theorem5 import stakes

ORDER = 110
TITLE = "Theorem 5"
SAYS = "With costs up to B^α, every player has expected regret Ω(B^α) against some adversary."
COMMANDS = [
    "purse compare exp3.bwk exp3++.bwk -b 1024 -b 4096 -w theorem5:alpha=0.5,best=0 -w "
    "theorem5:alpha=0.5,best=1"
]
ALPHAS, PATHS = (0.0, 0.3, 0.5, 0.7, 0.9, 1.0), 40
PLAYERS = ("exp3.bwk", "exp3++.bwk", "exp3++.price", "uniform")


def study(runner: Runner) -> Finding:
    """Return regret in both cases of the instance, for whole and for broken budgets and powers."""
    budgets = runner.budgets(1000, 1024, 4096.5, 10_000, 65_536, 100_000)
    rows, exact, curves = [], True, []
    for alpha in ALPHAS:
        means = []
        for budget in budgets:
            at_stake = stakes(budget, alpha).late_rounds
            for player in PLAYERS:
                pair = []
                for best in (0, 1):
                    world = f"theorem5:alpha={alpha},best={best}"
                    alone = runner.runs(f"fixed:arm={best}", world, budget, 1)["gain"][0]
                    gains = runner.runs(player, world, budget, PATHS)["gain"].to_numpy()
                    pair.append(float(alone) - gains)
                regrets = np.array(pair)
                exact &= bool(np.isin(regrets, (0, at_stake)).all())
                exact &= bool((regrets.sum(axis=0) == at_stake).all())
                if player == "exp3.bwk":
                    means.append(regrets.mean())
                    sizes = [f"{alpha:g}", f"{budget:,g}", f"{budget**alpha:,.6g}", f"{at_stake:,}"]
                    values = ", ".join(f"{value:,.0f}" for value in np.unique(regrets))
                    rows.append([*sizes, values, f"{regrets.mean():,.1f}"])
        if alpha in (0.3, 0.5, 0.7, 0.9):
            curves += [
                Curve(f"measured, α = {alpha:g}", budgets, means),
                Curve(f"½B^{alpha:g}", budgets, 0.5 * np.array(budgets) ** alpha, theory=True),
            ]
    assert worlds.make("theorem5", 100).n_arms == 2
    return Finding(
        "true, and exact",
        f"{len(PLAYERS)} players, {len(budgets)} budgets, {len(ALPHAS)} values of α: regret is 0 "
        "or M on every path, and M/2 on average over both cases, exactly",
        exact,
        [
            "Both arms pay 0 at cost 1 up to round t* = ⌊B − B^α⌋. Then one pays 1 at cost 1; the "
            "other takes B^α in round t* + 1, all that is left. Until then both cases look the "
            "same, so whoever plays takes the wrong arm in exactly one of them: regret 0 or M = ⌊B "
            "− t*⌋, and M/2 on average, without any slack. B^α need not be a whole number; then t* "
            f"is rounded down, and less than 1 is left over. EXP3.BwK, {runner.paths(PATHS)} paths "
            "in each case:",
            Table(["α", "B", "B^α", "M", "values of the regret", "mean over both cases"], rows),
            Picture(
                "theorem5",
                "Mean regret over both cases, and half of B^α.",
                "large costs",
                ("budget B", "mean regret"),
                curves,
            ),
            "It is right, but not what separates small from large costs: [the two "
            "worlds](#theorem-1) give regret of order B for every constant c < 1.",
        ],
    )
