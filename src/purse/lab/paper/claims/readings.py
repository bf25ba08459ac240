"""Printed against corrected readings of the two algorithms."""

from __future__ import annotations

from purse.base.text import format_mean
from purse.lab.paper.finding import Finding, Table, heads
from purse.lab.paper.runner import FIVE, TEN, Runner
from purse.lab.theory.estimate import estimate

ORDER = 120
TITLE = "Readings"
SAYS = "The two algorithms as printed, where text and proofs contradict each other."
COMMANDS = [
    "purse compare exp3++.bwk exp3++.bwk:epsilon=printed,mixing=printed "
    f'exp3++.bwk:epsilon=cmin -b 1e4 -b 1e5 -w "{FIVE}"'
]
PATHS = 40
VARIANTS = {
    "`exp3.bwk`: γ of the theorem (default)": "exp3.bwk",
    "`gamma=proof`": "exp3.bwk:gamma=proof",
    "`exp3++.bwk`: the proofs' readings (default)": "exp3++.bwk",
    "`epsilon=printed`": "exp3++.bwk:epsilon=printed",
    "`mixing=printed`": "exp3++.bwk:mixing=printed",
    "`epsilon=printed,mixing=printed`": "exp3++.bwk:epsilon=printed,mixing=printed",
    "`epsilon=cmin`": "exp3++.bwk:epsilon=cmin",
    "`width=direct`": "exp3++.bwk:width=direct",
}


def study(runner: Runner) -> Finding:
    """Return the pseudo-regret of every reading on five and on ten arms."""
    budgets = runner.budgets(1e3, 1e4, 1e5)
    rows, last = [], {}
    for label, policy in VARIANTS.items():
        estimates = [
            estimate(runner.pseudo_regret(policy, world, budget, PATHS))
            for world in (FIVE, TEN)
            for budget in budgets
        ]
        last[label] = estimates[-1]
        rows.append([label, *(format_mean(seen.mean, seen.high, ",.0f") for seen in estimates)])
    default = last["`exp3++.bwk`: the proofs' readings (default)"]
    printed = last["`epsilon=printed,mixing=printed`"]
    head = [f"{arms}, {budget}" for arms in ("five", "ten") for budget in heads(budgets)]
    return Finding(
        "the printed ε costs up to a factor √K; the other readings hardly matter here",
        f"ten arms, B = {budgets[-1]:,.0f}: as printed {printed.mean:,.0f}, as the proofs "
        f"need it {default.mean:,.0f}",
        printed.mean > default.mean,
        [
            "Pseudo-regret with half its 95% interval, five arms and ten arms with "
            f"constant costs ({runner.paths(PATHS)} paths):",
            Table(["reading", *head], rows),
            "The relative difference between the two γ is of order K/B; the printed ε explores √K "
            "times as much; `mixing=printed` and `width=direct` change next to nothing before δ "
            "binds; `epsilon=cmin` explores less, by c.",
        ],
    )
