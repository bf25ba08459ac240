"""Eq. (8): the efficiency regret over two different numbers of rounds."""

from __future__ import annotations

from purse.lab.paper.finding import Finding, Table, heads
from purse.lab.paper.runner import CHEAP_ARM, PLAYERS, WORLD_2, Runner
from purse.lab.theory import bounds

ORDER = 50
TITLE = "Equation (8)"
SAYS = "E[Σ_{t ≤ T(i*)} e_t(i*) − Σ_{t ≤ τ} e_t(i_t)] ≤ 2√(((e−1)B + (e−2)K)·K log K/c³)."
COMMANDS = [
    "purse lab regret exp3.bwk -b 1e5 -w "
    '"atoms:probabilities=[[1],[1]],rewards=[[1],[.05]],costs=[[1],[.1]]"'
]
PATHS = 40


def study(runner: Runner) -> Finding:
    """Return the difference of the two sums per unit of budget; the right side of (8) vanishes."""
    budgets = runner.budgets(1e3, 1e4, 1e5)
    limits = [(bounds.theorem1(2, budget, 0.1).value or 0.0) / budget for budget in budgets]
    rows, worst = [], []
    places = {"constant arms (1, 1), (0.05, 0.1)": CHEAP_ARM, "`two_worlds`, world 2": WORLD_2}
    for label, world in places.items():
        for player in PLAYERS:
            sums = runner.estimates(player, world, budgets, PATHS, "efficiency_sums")
            parts = [total.mean / budget for total, budget in zip(sums, budgets, strict=True)]
            rows.append([label, f"`{player}`", *(f"{part:.2f}" for part in parts)])
            worst.append(sums[-1].low - limits[-1] * budgets[-1])
    rows.append(["claimed at most", "", *(f"{limit:.2f}" for limit in limits)])
    return Finding(
        "false, already for two constant arms",
        f"{rows[0][-1]}·B for EXP3.BwK on two constant arms at B = {budgets[-1]:,.0f}; "
        f"claimed at most {limits[-1]:.2f}·B",
        min(worst) > 0,
        [
            "Take two arms that never change: one pays 1 at cost 1, the other 0.05 at cost 0.1. "
            "The second has half the efficiency, but ten times as many rounds, so its efficiencies "
            "sum to 5B against B: it is the paper's i*. EXP3.BwK rightly goes to the first arm, "
            "and the difference of the sums tends to 4B, while its true regret per unit of budget "
            "vanishes. The left side, divided by B (the claim is about EXP3.BwK):",
            Table(["instance", "player", *heads(budgets)], rows),
            "What the proof bounds is the difference over the *same* rounds: "
            "[Proposition A](#proposition-a). The two differ by what i* earns "
            "between the two last rounds: [Proposition B](#proposition-b).",
        ],
    )
