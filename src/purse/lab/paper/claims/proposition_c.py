"""Proposition C: where reward regret of order sqrt(B) is proved."""

from __future__ import annotations

from purse.lab.paper.finding import Finding, Table, heads
from purse.lab.paper.runner import FIVE, PLAYERS, TEN, Runner
from purse.lab.theory.bound import problem_of
from purse.lab.theory.bounds import proposition_c

ORDER = 220
TITLE = "Proposition C"
SAYS = (
    "Not in the paper: reward regret of order √B where all costs are one constant, or "
    "rewards are i.i.d. and each arm's cost is constant."
)
COMMANDS = [
    "purse lab bounds -b 1e4 --world "
    '"switching:segments=[3000,1000],rewards=[[.8,.5,.2],[.1,.5,.9]],costs=[.5,.5,.5]"',
    "purse compare exp3.bwk -w same_costs -b 1e3 -b 1e4 -b 1e5",
]
PLACES = {
    "one cost, rewards that switch": "switching:segments=[3000,1000],"
    "rewards=[[.8,.5,.2],[.1,.5,.9]],costs=[.5,.5,.5]",
    "one cost, `theorem2`": "theorem2:n_arms=10,cost_min=0.5",
    "five arms, constant costs": FIVE,
    "ten arms, constant costs": TEN,
}


def study(runner: Runner) -> Finding:
    """Return regret over its bound in settings of the proposition; and regret on `same_costs`, in
    which costs are equal for all arms but change in time.
    """
    budgets = runner.budgets(1e3, 1e4, 1e5)
    rows, worst = [], 0.0
    for label, world in PLACES.items():
        for player in PLAYERS:
            cells = []
            for budget in budgets:
                problem = problem_of(world, budget)
                del problem["gaps"]
                bound = proposition_c(budget=budget, policy=player, **problem)
                assert bound.applies
                seen = runner.regrets(player, world, budget, 20)["best_fixed_arm"]
                worst = max(worst, seen.high / (bound.value or 1.0))
                cells.append(f"{seen.mean / (bound.value or 1.0):.3f}")
            rows.append([label, f"`{player}`", *cells])
    failing = runner.estimates("exp3.bwk", "same_costs", budgets, 20)
    return Finding(
        "true",
        f"upper end of the interval at most {worst:.2f} of the bound where it applies; on "
        "`same_costs`, where it does not, "
        f"{failing[-1].mean / budgets[-1]:.3f}·B at B = {budgets[-1]:,.0f}",
        worst < 1 and failing[-1].low > failing[0].low,
        [
            "(i) All costs are one constant c: everybody plays ⌊B/c⌋ rounds, and reward is c times "
            "efficiency: regret ≤ 2√((e−1)BK log K/c) for EXP3.BwK, 4√(BK log K/c) + K for "
            "EXP3++.BwK. (ii) Rewards i.i.d. and each arm's cost constant (or, more generally, "
            "E[r/c] = μ/ρ for each arm): e*B − G ≤ Σ ρ(i)Δ(i) E N_σ(i) + 1 ≤ Σ Δ(i) E N_σ(i) + 1, "
            "and that sum is the efficiency regret over the player's own rounds up to σ, which "
            "[Proposition A](#proposition-a) bounds. Regret divided by the bound:",
            Table(["instance", "player", *heads(budgets)], rows),
            "Two weaker conditions are not enough: constant costs per arm against an adversary "
            "([Theorem 1](#theorem-1)), and costs that are equal for all arms in each round but "
            "change in time: on `same_costs` EXP3.BwK's regret per unit of budget is "
            + ", ".join(
                f"{regret.mean / budget:.3f} at B = {budget:,.0f}"
                for regret, budget in zip(failing, budgets, strict=True)
            )
            + ", towards 0.4545. There, feed rewards instead of efficiencies to EXP3: the "
            "number of rounds is the same for all.",
        ],
    )
