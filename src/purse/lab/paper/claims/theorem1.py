"""Theorem 1: the adversarial upper bound of EXP3.BwK."""

from __future__ import annotations

import math

import numpy as np

from purse.lab.paper.finding import Finding, Picture, Table, growth_table, measured_curve
from purse.lab.paper.runner import WORLD_1, WORLD_2, Runner
from purse.lab.report.charts.lines import Curve
from purse.lab.theory import bounds
from purse.lab.theory.estimate import Estimate

ORDER = 60
TITLE = "Theorem 1"
SAYS = (
    "Against every adversary the expected regret of EXP3.BwK is at most 2√(((e−1) + "
    "(e−2)K/B)·BK log K/c³)."
)
COMMANDS = [
    "purse compare exp3.bwk exp3++.bwk uniform -w two_worlds:cost_min=0.1,world=1 -w "
    "two_worlds:cost_min=0.1,world=2",
    "purse lab bounds --arms 2 --budget 13000 --cost-min 0.1",
    "purse compare exp3.bwk -w spend_or_save:later=0 -w spend_or_save:later=1 -b 500 -b "
    "2000 -b 8000",
]
COST, PATHS = 0.1, 40
PLAYERS = ("exp3.bwk", "exp3++.bwk", "exp3++.price", "uniform", "fixed:arm=0", "fixed:arm=1")


def in_two_worlds(
    runner: Runner, policy: str, budgets: list[float]
) -> tuple[list[list[Estimate]], list[Curve], Table]:
    """Return the regrets of a policy in both worlds, their curves per unit of budget, and their
    growth.
    """
    regrets, curves, growths = [], [], {}
    for number, world in enumerate((WORLD_1, WORLD_2), 1):
        regrets.append(runner.estimates(policy, world, budgets, PATHS))
        label = f"measured, world {number}"
        curves.append(measured_curve(label, budgets, regrets[-1], per_budget=True))
        growths[f"world {number}"] = runner.regret_growth(policy, world, budgets, PATHS)
    return regrets, curves, growth_table(f"regret of `{policy}` in", growths)


def study(runner: Runner) -> Finding:
    """Return regret of several players in the two worlds, beside the bound and the lower bound
    kappa(c) B.
    """
    kappa, crossing = bounds.kappa(COST), bounds.refuted_from(COST)
    budgets = runner.budgets(1e3, 3e3, 1e4, 3e4, 1e5)
    bound = [bounds.theorem1(2, budget, COST).value or 0.0 for budget in budgets]
    regrets, lines, growth = in_two_worlds(runner, "exp3.bwk", budgets)
    lower = "κ(c): what every player loses in one of them"
    lines += [
        Curve("Theorem 1", budgets, np.array(bound) / budgets, theory=True),
        Curve(lower, budgets, [kappa] * len(budgets), theory=True),
    ]
    beyond = 1000 * np.ceil(crossing / 1000)
    limit = bounds.theorem1(2, beyond, COST).value or 0.0
    worst = {}
    for player in PLAYERS:
        pair = [runner.regrets(player, world, beyond, 8) for world in (WORLD_1, WORLD_2)]
        worst[player] = [regret["best_fixed_arm"].mean for regret in pair]
    rows = []
    for player, (one, two) in worst.items():
        verdict = "exceeded" if max(one, two) > limit else "kept"
        rows.append([f"`{player}`", f"{one / beyond:.3f}", f"{two / beyond:.3f}", verdict])
    head = [f"player, B = {beyond:,.0f}", "regret / B, world 1", "regret / B, world 2"]
    players = Table([*head, f"Theorem 1 / B = {limit / beyond:.3f}"], rows)
    rows = []
    for budget in (500, 2000, 8000):
        both = [
            runner.regrets("exp3.bwk", f"spend_or_save:later={later}", budget, PATHS)
            for later in (0, 1)
        ]
        most = bounds.theorem1(2, budget, COST).value or 0.0
        parts = [*(regret["best_fixed_arm"].mean for regret in both), most]
        rows.append([f"{budget:,.0f}", *(f"{part / budget:.2f}" for part in parts)])
    head = ["nothing pays later: regret / B", "both pay 1 later: regret / B", "Theorem 1 / B"]
    saving = Table(["`spend_or_save`, B", *head], rows)
    last = regrets[1][-1]
    refuted = last.low > bound[-1] and all(
        max(pair) > limit and max(pair) >= kappa * beyond * (1 - 1e-9) for pair in worst.values()
    )
    return Finding(
        "false",
        f"regret of EXP3.BwK in world 2: {last.mean / budgets[-1]:.2f}·B at B = "
        f"{budgets[-1]:,.0f}, bound {bound[-1] / budgets[-1]:.2f}·B; all {len(PLAYERS)} players "
        f"exceed it at B = {beyond:,.0f}",
        refuted,
        [
            "**Counterexample, for every algorithm.** Two worlds with two arms: arm 0 costs 1, arm "
            "1 costs c. What they pay:",
            Table(
                ["rounds", "arm 0, at cost 1", "arm 1, at cost c"],
                [
                    ["1 … B, in both worlds", "r₁ = min(1, (1−c)/(2c))", "0"],
                    ["after B, in world 1", "0", "0"],
                    ["after B, in world 2", "0", "1"],
                ],
            ),
            "1. Each round costs at most 1, so nobody runs out of money before round B, and "
            "everybody sees the same B rounds in both worlds.\n"
            "2. Let x be the expected part of these rounds spent on arm 0. The regret is at least "
            "r₁(1−x)B in world 1, and xB((1−c)/c − r₁) in world 2: there each unit is worth 1/c "
            "after round B, and x(1−c)B fewer units are left than arm 1 alone would have.\n"
            "3. The larger of the two is at least κ(c)·B for every x (up to one reward where B/c "
            "is not whole), with κ(c) = (1−2c)/(1−c) for c ≤ 1/3 and (1−c)/(4c) above.",
            f"For two arms and c = {COST} that is {kappa:.3f}·B, more than the theorem allows from "
            f"B = 4(e−1)·2 log 2/(c³κ²) = {math.ceil(crossing):,} on, whoever plays.",
            "The theorem speaks of regret as eq. (5) defines it, which changes nothing: in both "
            "worlds line 1 equals the regret, and line 2 is at least as large as the same bound "
            "(in world 1 z = 1 and the difference of the sums is r₁(1−x)B; in world 2 z ≥ c and it "
            "is at least xB((1−c)/c² − r₁)).",
            Picture(
                "theorem1",
                f"Measured regret of EXP3.BwK in the two worlds ({runner.paths(PATHS)} "
                "paths, 95% bands), the theorem, and the lower bound for every player.",
                "regret of EXP3.BwK per unit of budget",
                ("budget B", "regret / B"),
                lines,
            ),
            growth,
            players,
            "A second pair, in which saving pays or does not (`spend_or_save`, regret at "
            "least 0.44·B for every player at c = 0.1):",
            saving,
            "**Where the proof breaks.** It concludes from nearly equal money spent that the best "
            "arm and the player have nearly equal numbers of rounds ([Equation "
            "(9)](#equation-9)); both lie between B and B/c. It also counts the best arm's "
            "estimated efficiencies beyond the player's last round, where they are zero; it "
            "takes E[zX] ≤ E[X] from z ≤ 1, which needs X ≥ 0; and it takes line 1 ≤ line 2 "
            "([Equation (5)](#equation-5)). What remains true is [Proposition "
            "A](#proposition-a) and, for reward, [Proposition C](#proposition-c).",
        ],
    )
