"""Theorem 1: the adversarial upper bound of EXP3.BwK."""

from __future__ import annotations

import math

import numpy as np

from purse.paper.finding import (
    GROWTH_HEAD,
    Finding,
    Picture,
    Table,
    growth_cells,
    measured_curve,
)
from purse.paper.instances import WORLD_1, WORLD_2
from purse.paper.runner import Runner
from purse.report.charts.lines import Curve
from purse.theory import bounds

ORDER = 60
TITLE = "Theorem 1"
SAYS = (
    "Against every adversary the expected regret of EXP3.BwK is at most 2√(((e−1) + "
    "(e−2)K/B)·BK log K/c³)."
)
COMMANDS = [
    "purse compare exp3.bwk exp3++.bwk uniform -w two_worlds:cost_min=0.1,world=1 -w "
    "two_worlds:cost_min=0.1,world=2",
    "purse bounds --arms 2 --budget 13000 --cost-min 0.1",
    "purse compare exp3.bwk -w spend_or_save:later=0 -w spend_or_save:later=1 -b 500 -b "
    "2000 -b 8000",
]
COST, PATHS = 0.1, 40
PLAYERS = ("exp3.bwk", "exp3++.bwk", "exp3++.price", "uniform", "fixed:arm=0", "fixed:arm=1")


def study(runner: Runner) -> Finding:
    """Regret of several players in the two worlds, beside the bound and the lower bound kappa(c)
    B.
    """
    kappa, crossing = bounds.kappa(COST), bounds.refuted_from(COST)
    budgets = runner.budgets(1e3, 3e3, 1e4, 3e4, 1e5)
    bound = [bounds.theorem1(2, budget, COST).value or 0.0 for budget in budgets]
    curves = {
        world: [
            runner.regrets("exp3.bwk", world, budget, PATHS)["best_fixed_arm"] for budget in budgets
        ]
        for world in (WORLD_1, WORLD_2)
    }
    lines = [
        *(
            measured_curve(f"measured, world {number}", budgets, regrets, per_budget=True)
            for number, regrets in enumerate(curves.values(), 1)
        ),
        Curve("Theorem 1", budgets, np.array(bound) / budgets, theory=True),
        Curve(
            "κ(c): what every player loses in one of them",
            budgets,
            [kappa] * len(budgets),
            theory=True,
        ),
    ]
    beyond = 1000 * np.ceil(crossing / 1000)
    limit = bounds.theorem1(2, beyond, COST).value or 0.0
    worst = {
        player: [
            runner.regrets(player, world, beyond, 8)["best_fixed_arm"].mean
            for world in (WORLD_1, WORLD_2)
        ]
        for player in PLAYERS
    }
    players = Table(
        [
            f"player, B = {beyond:,.0f}",
            "regret / B, world 1",
            "regret / B, world 2",
            f"Theorem 1 / B = {limit / beyond:.3f}",
        ],
        [
            [
                f"`{player}`",
                f"{one / beyond:.3f}",
                f"{two / beyond:.3f}",
                "exceeded" if max(one, two) > limit else "kept",
            ]
            for player, (one, two) in worst.items()
        ],
    )
    saving = Table(
        [
            "`spend_or_save`, B",
            "nothing pays later: regret / B",
            "both pay 1 later: regret / B",
            "Theorem 1 / B",
        ],
        [
            [
                f"{budget:,.0f}",
                *(
                    f"{regrets['best_fixed_arm'].mean / budget:.2f}"
                    for regrets in (
                        runner.regrets("exp3.bwk", f"spend_or_save:later={later}", budget, PATHS)
                        for later in (0, 1)
                    )
                ),
                f"{(bounds.theorem1(2, budget, COST).value or 0.0) / budget:.2f}",
            ]
            for budget in (500, 2000, 8000)
        ],
    )
    seen = curves[WORLD_2][-1].low
    refuted = seen > bound[-1] and all(
        max(pair) > limit and max(pair) >= kappa * beyond * (1 - 1e-9) for pair in worst.values()
    )
    return Finding(
        "false",
        f"regret of EXP3.BwK in world 2: {curves[WORLD_2][-1].mean / budgets[-1]:.2f}·B "
        f"at B = {budgets[-1]:,.0f}, bound "
        f"{bound[-1] / budgets[-1]:.2f}·B; all {len(PLAYERS)} players exceed it at B = "
        f"{beyond:,.0f}",
        refuted,
        [
            "**Counterexample, for every algorithm.** Arm 0 costs 1, arm 1 costs c. In "
            "rounds 1 … B arm 0 pays r₁ = min(1, (1−c)/(2c)), arm 1 "
            "nothing. Then either nothing pays any more (world 1), or arm 1 pays 1 "
            "(world 2). Each round costs at most 1, so nobody runs out "
            "before round B, and everybody sees the same B rounds in both worlds. If x "
            "is the expected part of them spent on arm 0, the regret is "
            "at least r₁(1−x)B in world 1 and xB((1−c)/c − r₁) in world 2, where after "
            "round B each unit is worth 1/c, and x(1−c)B fewer units are "
            "left than arm 1 alone would have. The larger of the two is at least κ(c)·B "
            "(up to one reward where B/c is not whole), with κ(c) = "
            f"(1−2c)/(1−c) for c ≤ 1/3 and (1−c)/(4c) above. For two arms and c = {COST} "
            f"that is {kappa:.3f}·B, more than the theorem allows from B "
            f"= 4(e−1)·2 log 2/(c³κ²) = {math.ceil(crossing):,} on, whoever plays. The "
            "theorem speaks of regret as eq. (regretAdv) defines it, "
            "which changes nothing: in both worlds line 1 equals the regret, and line 2 "
            "is at least as large as the same bound (in world 1 z = 1 "
            "and the difference of the sums is r₁(1−x)B; in world 2 z ≥ c and it is at "
            "least xB((1−c)/c² − r₁)).",
            Picture(
                "theorem1",
                f"Measured regret of EXP3.BwK in the two worlds ({runner.paths(PATHS)} "
                "paths, 95% bands), the theorem, and the lower bound for every player.",
                "regret of EXP3.BwK per unit of budget",
                ("budget B", "regret / B"),
                lines,
            ),
            Table(
                ["regret of `exp3.bwk` in", *GROWTH_HEAD],
                [
                    [
                        f"world {number}",
                        *growth_cells(runner.regret_growth("exp3.bwk", world, budgets, PATHS)),
                    ]
                    for number, world in enumerate((WORLD_1, WORLD_2), 1)
                ],
            ),
            players,
            "A second pair, in which saving pays or does not (`spend_or_save`, regret at "
            "least 0.44·B for every player at c = 0.1):",
            saving,
            "**Where the proof breaks.** It concludes from nearly equal money spent that "
            "the best arm and the player have nearly equal numbers of "
            "rounds ([Equation (StopRule)](#equation-stoprule)); both lie between B and "
            "B/c. It also counts the best arm's estimated efficiencies "
            "beyond the player's last round, where they are zero; it takes E[zX] ≤ E[X] "
            "from z ≤ 1, which needs X ≥ 0; and it takes line 1 ≤ line "
            "2 ([Equation (regretAdv)](#equation-regretadv)). What remains true is "
            "[Proposition A](#proposition-a) and, for reward, [Proposition "
            "C](#proposition-c).",
        ],
    )
