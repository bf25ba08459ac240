"""The cost of a guarantee: regret against the budget, on five worlds."""

from __future__ import annotations

from purse.lab.paper.finding import Finding, Picture, Table, heads, measured_curve
from purse.lab.paper.guarantees import COIN, CORRUPTED, facts
from purse.lab.paper.runner import FIVE, PLAYERS, Runner
from purse.lab.report.charts.lines import Curve
from purse.lab.theory import coin_bounds
from purse.lab.theory.estimate import Estimate, estimate

ORDER = 360
TITLE = "What a guarantee costs"
SAYS = (
    "Ours: `tsallis-inf.coin` loses a vanishing share of the budget where the paper's algorithms "
    "lose a constant one, and more than policies of which less is proved."
)
SIMILAR = "similar_costs:n_arms=5,cost_min=.1"
N_FALSE = 1000
FALSE_ROUNDS = CORRUPTED.format(N_FALSE, "[.9,0,.4]")
PLACES = {
    "random costs: misleading_ratio": "misleading_ratio",
    "an adversary, equal costs: same_costs": "same_costs",
    "five Bernoulli arms": FIVE,
    "the best arm pays nothing in 1,000 rounds: corrupted": FALSE_ROUNDS,
    "the lower bound: similar_costs, K = 5": SIMILAR,
}
POLICIES = (*PLAYERS, "exp3++.price", "tsallis-inf.price", "replan", COIN)
COMMANDS = [
    f"purse compare {' '.join(POLICIES)} -b 1e3 -b 1e4 -w misleading_ratio -w same_costs "
    f"-w {SIMILAR}"
]
PATHS = 20


def study(runner: Runner) -> Finding:
    """Return regret of six policies on five worlds, for a quick look of three, and the bound."""
    budgets = [1e2, 1e3] if runner.quick else [1e2, 1e3, 1e4, 1e5]
    panels, rows, last = [], [], {}
    for title, place in PLACES.items():
        curves = []
        for policy in (*PLAYERS, COIN) if runner.quick else POLICIES:
            seen = [regret(runner, policy, place, budget) for budget in budgets]
            curves.append(measured_curve(policy, budgets, seen))
            rows.append([title, f"`{policy}`", *(f"{regret.mean:,.0f}" for regret in seen)])
            last[policy, place] = seen[-1].mean / budgets[-1]
        n_arms, low, high, _ = facts(place, budgets[0])
        deviation = 0.6 * N_FALSE if place == FALSE_ROUNDS else 0.0
        bounds = [
            coin_bounds.stationary(n_arms, budget, low, cost_max=high, deviation=deviation)
            for budget in budgets
        ]
        upper = [bound.value or 0.0 for bound in bounds]
        curves.append(Curve("proved for tsallis-inf.coin", budgets, upper, theory=True))
        panels.append((title, curves))
    wrong = [last[PLAYERS[0], place] for place in ("misleading_ratio", "same_costs")]
    ours = [last[COIN, place] for place in ("misleading_ratio", "same_costs")]
    return Finding(
        "true",
        f"at B = {budgets[-1]:,.0f} on `misleading_ratio` and `same_costs`: {COIN} loses "
        f"{ours[0]:.3f}·B and {ours[1]:.3f}·B, EXP3.BwK {wrong[0]:.3f}·B and {wrong[1]:.3f}·B",
        all(mine < other for mine, other in zip(ours, wrong, strict=True)),
        [
            "Regret against the best fixed arm; on the world of the lower bound pseudo-regret, and "
            f"with false rounds e*B − G, for which the bound is R(B) + C/c ({runner.paths(PATHS)} "
            "paths). The policies in between lose less than the one with the proof: what is proved "
            "about them is less, or nothing.",
            Picture(
                "guarantees",
                "Regret against the budget on five worlds: the paper's two algorithms, three "
                "policies that do well, and the one with the guarantee; dashed its bound.",
                "",
                ("budget B", "regret"),
                (),
                panels,
            ),
            Table(["world", "policy", *heads(budgets)], rows),
        ],
    )


def regret(runner: Runner, policy: str, place: str, budget: float) -> Estimate:
    """Return regret against the best fixed arm.

    Return pseudo-regret on `SIMILAR`, whose gains are too noisy. Return e*B - G, e* = 2, on
    `FALSE_ROUNDS`, because false rounds hurt the best arm alone more than a player.
    """
    if place == SIMILAR:
        return estimate(runner.pseudo_regret(policy, place, budget, PATHS))
    if place == FALSE_ROUNDS:
        return estimate(2 * budget - runner.runs(policy, place, budget, PATHS)["gain"].to_numpy())
    return runner.fixed_arm_regret(policy, place, budget, PATHS)
