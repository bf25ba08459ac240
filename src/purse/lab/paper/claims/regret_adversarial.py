"""Eq. (5): R <= line 1 <= line 2."""

from __future__ import annotations

from purse.lab.paper.finding import Finding, Table
from purse.lab.paper.runner import CHEAP_ARM, CHEAPER_ARM, WORLD_2, Runner

ORDER = 30
TITLE = "Equation (5)"
SAYS = "Regret ≤ (B/T(i*)) Σ e_t(i*) − G (line 1) ≤ E[z·(Σ e_t(i*) − Σ e_t(i_t))] (line 2)."
COMMANDS = [
    "purse lab regret exp3.bwk -w same_costs -b 1e4",
    "purse lab regret fixed:arm=1 -b 1e4 -w "
    '"atoms:probabilities=[[1],[1]],rewards=[[1],[.005]],costs=[[1],[.1]]"',
]
# 1 at cost 1 in odd rounds, nothing at 0.1 in even ones
ONE_ARM = "switching:segments=1,rewards=[[1],[0]],costs=[[1],[.1]]"
CASES = (
    ("constant arms (1, 1), (0.05, 0.1)", CHEAP_ARM, "fixed:arm=1"),
    ("constant arms (1, 1), (0.05, 0.1)", CHEAP_ARM, "exp3.bwk"),
    ("constant arms (1, 1), (0.005, 0.1)", CHEAPER_ARM, "fixed:arm=1"),
    ("one arm: 1 at cost 1, then 0 at cost 0.1", ONE_ARM, "fixed:arm=0"),
    ("`same_costs`", "same_costs", "exp3.bwk"),
    ("`same_costs`", "same_costs", "exp3++.bwk"),
    ("`two_worlds`, world 2", WORLD_2, "exp3.bwk"),
)


def study(runner: Runner) -> Finding:
    """Return the regret and both lines for players on small instances."""
    budget = 1e4
    rows, first, second = [], 0, 0
    for label, world, player in CASES:
        regrets = runner.regrets(player, world, budget, 20)
        regret, line_1, line_2 = (
            regrets[name].mean / budget for name in ("best_fixed_arm", "line_1", "line_2")
        )
        wrong = regret > line_1 + 1e-3, line_1 > line_2 + 1e-3
        first += wrong[0]
        second += wrong[1]
        numbers = [f"{part:.3f}" for part in (regret, line_1, line_2)]
        verdicts = ["fails" if fails else "holds" for fails in wrong]
        rows.append([label, f"`{player}`", *numbers, *verdicts])
    head = ["instance", "player", "regret", "line 1", "line 2", "R ≤ line 1", "line 1 ≤ line 2"]
    return Finding(
        "both inequalities false in general",
        f"R ≤ line 1 fails in {first} and line 1 ≤ line 2 in {second} of {len(CASES)} "
        f"cases at B = {budget:,.0f}",
        first >= 2 and second >= 1,
        [
            "`line_1`, `line_2` and the regret are therefore three different numbers, "
            "and `purse lab regret` reports each under its own name. All divided by B:",
            Table(head, rows),
            "The first inequality fails because i* maximises a sum over *rounds* of reward per "
            "cost, which favours cheap arms, and because (B/T)Σe is not Σr unless cost and "
            "efficiency are uncorrelated in time. The second fails because z, the larger of two "
            "costs per round, multiplies a difference. Costs that are equal for all arms in each "
            "round do not help: on `same_costs` everybody plays equally many rounds, and a learner "
            "of efficiencies settles on the arm with the smaller reward.",
        ],
    )
