"""R1: what breaks the default policy without looks, and how far they cure it."""

import math

from purse.base.text import format_mean
from research.paper.finding import Finding, Table, claim
from research.paper.guarantees import ERRORS, facts, shortfall
from research.paper.runner import Runner

MANY = 200
DEAR, CHEAPLY = 0.117, 0.0502  # the chance of a cost of 1, and else the cost, of the best arm
LOCK = (
    f"atoms:probabilities=[[{DEAR},{1 - DEAR}],[1,0]],rewards=[[1,1],[{{0}},{{0}}]],"
    f"costs=[[1,{CHEAPLY}],[{{1}},{{1}}]]"
)
RIVALS = {LOCK.format(0.31, 0.1): (1e3, 1e4), LOCK.format(0.0031, 0.001): (1e2, 1e3)}


@claim(
    "R1, no looks",
    "Ours: `replan:looks=0` loses at least p(e* − e′)(B − 2) − e* where the best arm's first pull "
    "is dear with chance p and a rival has the efficiency e′: 5.9% of the optimum up to B = 10⁶.",
    [f'purse compare replan:looks=0 replan -b 1e3 -w "{LOCK.format(0.31, 0.1)}"'],
)
def no_looks(runner: Runner) -> Finding:
    rows, holds = [], True
    shares: dict[str, float] = {}
    for spec, budgets in RIVALS.items():
        for budget in runner.budgets(*budgets):
            best = facts(spec, budget)[3]
            bound = DEAR * (best - 3.1) * (budget - 2) - best
            # of the mean over paths; a few of them may all be lucky, and then say nothing of it
            spread = (best - 3.1) * budget * math.sqrt(DEAR * (1 - DEAR) / runner.paths(MANY))
            cells = [f"{bound:,.0f}"]
            for policy in ("replan:looks=0", "replan"):
                loss = shortfall(runner, policy, spec, budget, MANY)
                cells.append(format_mean(loss.mean, loss.high, ",.0f"))
                shares[policy] = loss.mean / (best * budget)
                if policy == "replan:looks=0":
                    holds &= loss.mean + ERRORS * max(loss.error, spread) >= bound
            rows.append([f"`{spec}`", f"{budget:,.0f}", *cells, f"{shares['replan']:.1%}"])
    return Finding(
        "true; looks cure it, slowly if the rival is cheap",
        f"a rival of cost 0.001, B = 1,000: {shares['replan:looks=0']:.1%} of the optimum lost "
        f"without looks, {shares['replan']:.1%} with them",
        holds,
        [
            "After a first pull that cost 1 the best arm's bounds, u ≤ 1 and l = 1/(1 + √(L/8) + "
            "L/6), are worse than what the rival surely brings, and no report changes them. Looks "
            "at an arm that seems dear are as rare as the plan is cheap. e*B − E G "
            f"({runner.paths(MANY)} paths):",
            Table(
                ["world", "B", "lower bound", "looks=0", "`replan`", "lost of the optimum"], rows
            ),
        ],
    )
