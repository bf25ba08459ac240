"""R1 to R5: what is proved of the default policy, what that is worth, and what breaks it."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

import purse
from purse import worlds
from purse.base.text import format_mean
from purse.lab.theory.estimate import Estimate, estimate
from research.paper.finding import Finding, Table, claim, heads, scientific
from research.paper.guarantees import ERRORS, PLAIN_BANDIT, SMALL_COSTS, facts, shortfall
from research.paper.runner import FIVE, Runner

PATHS, MANY, SEEDS = 20, 200, 8
PLACES = ("misleading_ratio", FIVE, PLAIN_BANDIT, SMALL_COSTS)
PLAIN = "replan:change=0,guard=0"
Bound = Callable[[int, float, float, float], float]  # of n_arms, c, the best efficiency, rounds
EASIEST, FEW_CHOICES, MORE_CHOICES = (2, 1.0, 1.0), (5, 1 / 3, 3.0), (5, 0.1, 10.0)


def errors(n_arms: int, c: float, n: float, changes: float) -> tuple[float, float, float]:
    """Return Lambda, P and H of the page *What is true*, for one resource."""
    sure = math.log(5 * n_arms * n * n * (n + 1))
    level = math.log(1 + n / n_arms) / 2
    beta = math.sqrt(sure / 2) + math.sqrt((1 + changes) * level / 2) + level / 3
    pulled = 2 * math.sqrt(2) * beta * (1.15 + 2 * changes) * math.sqrt(n_arms * n) + n_arms
    looks = n_arms**0.25 * math.sqrt(sure / c)
    if changes == 0:
        return sure, pulled, looks * (6.73 * n**0.75 + 640 * n**0.25) + 40
    looks *= math.sqrt(changes + 2) * (56.8 * n**0.75 + 680 * n**0.5 + 1350 * n**0.25)
    return sure, pulled, looks + 2 * changes + 2


def most_changes(n: float) -> float:
    """Return the largest number of changes that are believed in n rounds."""
    return 9 + math.log(n) ** 2


def any_world(n_arms: int, c: float, best: float, n: float, changes: float) -> float:
    """Return the bound of R1 without a guard."""
    _, pulled, looks = errors(n_arms, c, n, changes)
    looked = 0.4 * best * math.sqrt(n_arms * n)
    return best + looked + (1 + best) * (2 / c + pulled + looks / c)


def with_guard(n_arms: int, c: float, best: float, n: float) -> float:
    """Return the bound of R1 as shipped."""
    changes = most_changes(n)
    sure, pulled, looks = errors(n_arms, c, n, changes)
    root = math.sqrt(n_arms * n)
    held = 227 * (1 + best) * math.sqrt(sure) / c * (1.15 + 2 * changes) * root
    lost = (1 + best) * (pulled + looks / c + 2 * root * math.sqrt(sure / 2)) + held
    lost += best * (0.8 * root + sure + n_arms)
    if lost <= best * (0.026 * n * c - 1.03):
        return any_world(n_arms, c, best, n, changes) + held + n_arms * best
    return 39 * lost + 40 * best


def square_root(n_arms: int, c: float, best: float, n: float) -> float:
    """Return the bound of R1 with change=0 and guard=0 that grows like a square root."""
    sure, pulled, _ = errors(n_arms, c, n, 0)
    level, log = max(1.0, math.log(1 + n * c / n_arms)), math.log(n)
    root = math.sqrt(n_arms * n)
    peeled = 61 / c**2 * (1 + 0.522 * log * level) * level * log * root * math.sqrt(c)
    looks = 65 * sure * math.sqrt(n_arms) * (math.sqrt(n) + 1310) / c + 40
    looks *= (2.3 + 2.6 * best / c) / c
    ends = (1 + best) * (2 / c + pulled + (2 * n_arms / c + math.log2(n) + 3) / c)
    spread = (1 + best) / 2  # no variance is larger than 1/4
    return best * (1 + 0.4 * root) + ends + peeled * spread + looks


def without_guard(n_arms: int, c: float, best: float, n: float) -> float:
    """Return the bound of R1 without a guard, with as many changes as are believed."""
    return any_world(n_arms, c, best, n, most_changes(n))


def without_changes(n_arms: int, c: float, best: float, n: float) -> float:
    """Return the bound of R1 with change=0 and guard=0."""
    return any_world(n_arms, c, best, n, 0)


def says_something_from(bound: Bound, n_arms: int, c: float, best: float) -> float:
    """Return the power of ten from which the bound is below `best * c` a round."""
    tens = (10.0**power for power in range(1, 60))
    return next(n for n in tens if bound(n_arms, c, best, n) < best * c * n)


def threshold_rows() -> tuple[list[list[str]], float]:
    """Return a row for each K, c and best efficiency, and the least threshold of all."""
    rows, fewest = [], math.inf
    for n_arms, c, best in (EASIEST, FEW_CHOICES, MORE_CHOICES):
        rounds = [
            says_something_from(bound, n_arms, c, best)
            for bound in (with_guard, without_guard, without_changes, square_root)
        ]
        rows.append([str(n_arms), f"{c:.2g}", *map(scientific, rounds)])
        fewest = min(fewest, *rounds)
    return rows, fewest


@claim(
    "R1 to R3, the default",
    "Ours: in i.i.d. rounds with costs of at least c the regret of `replan` per budget goes to 0; "
    f"of `{PLAIN}` it is at most 0.4√(K e*μB) for large B, the price of looks, if one arm alone is "
    "best and has the mean reward μ.",
    [f"purse compare replan {PLAIN} -b 1e3 -b 1e4 -w misleading_ratio"],
)
def vanishing(runner: Runner) -> Finding:
    """Return from which round the bounds say something, and what is measured beside them."""
    rows, fewest = threshold_rows()
    budgets = runner.budgets(1e3, 1e4, 1e5)
    world_rows, largest, below = [], 0.0, True
    for spec in PLACES:
        n_arms, low, high, best = facts(spec, budgets[-1])
        world = worlds.make(spec, budgets[-1])
        assert world.efficiencies is not None
        assert world.cost_means is not None
        top = world.efficiencies.argmax()
        pay = float(world.efficiencies[top] * world.cost_means[top, 0])
        lost = [estimate(runner.pseudo_regret("replan", spec, budget, PATHS)) for budget in budgets]
        plain = estimate(runner.pseudo_regret(PLAIN, spec, budgets[-1], PATHS))
        leading = 0.4 * math.sqrt(n_arms * best * pay * budgets[-1])
        below &= plain.mean <= leading + ERRORS * plain.error
        n = budgets[-1] / low
        largest = max(largest, lost[-1].mean / with_guard(n_arms, low / high, best * high, n))
        cells = [format_mean(loss.mean, loss.high, ",.0f") for loss in (*lost, plain)]
        world_rows.append([f"`{spec}`", *cells, f"{leading:,.0f}"])
    last = f"B = {budgets[-1]:,.0f}"
    return Finding(
        "true, and empty at real budgets",
        f"K = 2, c = 1: below the trivial e*B from {scientific(fewest)} rounds on at best; "
        f"measured at {last}: at most {scientific(largest)} of R1's bound",
        below and largest < 1 and fewest > 1e6,
        [
            "The proofs of R1 to R5 are on the page *What is true*. The first round (a power of "
            "ten) from which the bounds of R1 are below e*B, e* = 1/c:",
            Table(["K", "c", "as shipped", "guard=0", PLAIN, "the same, square root"], rows),
            "So what is measured is no evidence for them, and they do not explain it. "
            f"Pseudo-regret ({runner.paths(PATHS)} paths), and 0.4√(K e*μB), which is R2's leading "
            "term:",
            Table(["world", *heads(budgets), f"`{PLAIN}`, {last}", f"R2, {last}"], world_rows),
        ],
    )


DEAR, CHEAPLY = 0.117, 0.0502  # the chance of a cost of 1, and else the cost, of the best arm
LOCK = (
    f"atoms:probabilities=[[{DEAR},{1 - DEAR}],[1,0]],rewards=[[1,1],[{{0}},{{0}}]],"
    f"costs=[[1,{CHEAPLY}],[{{1}},{{1}}]]"
)
RIVALS = {LOCK.format(0.31, 0.1): (1e3, 1e4), LOCK.format(0.0031, 0.001): (1e2, 1e3)}


@claim(
    "R4, no looks",
    "Ours: `replan:looks=0` loses at least p(e* − e′)(B − 2) − e* where the best arm's first pull "
    "is dear with chance p and a rival has the efficiency e′: 5.9% of the optimum up to B = 10⁶.",
    [f'purse compare replan:looks=0 replan -b 1e3 -w "{LOCK.format(0.31, 0.1)}"'],
)
def no_looks(runner: Runner) -> Finding:
    """Return the loss with and without looks beside the lower bound, with a cheap rival, too."""
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
            "After a first pull that cost 1 the best arm's bounds, u = 1 and l = 1/(1 + √(L/8) + "
            "L/6), are worse than what the rival surely brings, and no report changes them. Looks "
            "at an arm that seems dear are as rare as the plan is cheap. e*B − E G "
            f"({runner.paths(MANY)} paths):",
            Table(
                ["world", "B", "lower bound", "looks=0", "`replan`", "lost of the optimum"], rows
            ),
        ],
    )


def against(policy: str, n_rivals: int, budget: float, safe: tuple[float, float], good: int,
            falls: bool = False, seed: int = 0) -> float:  # fmt: skip
    """Return the gain of a policy as a part of what arm 0 alone brings, if the rivals react.

    All rivals cost 1. The one that is pulled first pays 0.9 in `good` pulls, then 0.4 while its
    mean is above 0.62 if it `falls`, then nothing; the others pay nothing.

    safe   reward and cost of arm 0
    """
    reward, cost = safe
    costs = [cost] + [1.0] * n_rivals
    live = purse.Policy(
        policy, n_arms=1 + n_rivals, budget=budget, cost_min=costs, cost_max=costs, stop="exit",
        seed=seed,
    )  # fmt: skip
    gain, pulls, favourite, earned = 0.0, 0, 0, 0.0
    while True:
        ticket = live.ask()
        paid = reward
        if ticket.arm > 0:
            favourite = favourite or ticket.arm
            paid = 0.9 if pulls < good else 0.4 * (falls and earned > 0.62 * pulls)
            paid *= ticket.arm == favourite
        if not live.tell(ticket, paid, costs[ticket.arm]):
            return gain / (reward * budget / cost)
        gain += paid
        if ticket.arm > 0 and ticket.arm == favourite:
            pulls, earned = pulls + 1, earned + paid


def promised(budget: float, safe: tuple[float, float]) -> float:
    """Return R5 for two arms, in the mean over looks, as a part of what the safe arm brings."""
    reward, cost = safe
    sure = min(reward, (reward + 0.25) / 2)
    looks = 0.2 * math.sqrt(2 * budget * cost)
    return (0.95 * sure * budget - sure * (1 + looks) - 2 * cost) / (reward * budget)


SAFE = ((0.05, 0.1), (0.5, 0.1))
UNPAID = 20
DECOYS = (
    f"atoms:probabilities={[[1]] * (1 + UNPAID)},rewards={[[0.005]] + [[0]] * UNPAID},"
    f"costs={[[0.01]] + [[1]] * UNPAID}"
).replace(" ", "")


@claim(
    "R5, the guard",
    "Ours: whatever one rival does, `replan` gains 0.95r'B/c − r'(1 + X)/c − 2 if the safe arm "
    "always pays r and costs c, X the money of looks. For more rivals nothing of the kind holds.",
    ["purse policies replan"],
)
def guard(runner: Runner) -> Finding:
    """Return gains against rivals that react, beside what is promised, and what breaks it."""
    games, violations = [], 0
    for safe in SAFE:
        for budget in (30.0, 100.0) if runner.quick else (30.0, 100.0, 300.0):
            for good in (0, 3, 30):
                parts = np.array(
                    [against("replan", 1, budget, safe, good, seed=seed) for seed in range(SEEDS)]
                )
                share, minimum = estimate(parts), promised(budget, safe)
                violations += share.mean + ERRORS * np.nan_to_num(share.error) < minimum
                row = [f"{safe[0]:g}", f"{safe[1]:g}", f"{budget:,.0f}", str(good)]
                games.append([*row, f"{share.mean:.3f}", f"{minimum:.3f}"])
    rows, broken = [], []
    for policy in ("replan:looks=0,change=0", "replan:looks=0", "replan"):
        cells = [
            against(policy, rivals, budget, SAFE[0], good, True)
            for rivals, budget, good in ((1, 400.0, 100), (59, 400.0, 100), (149, 1000.0, 250))
        ]
        broken.append(min(cells[1:]))
        rows.append([f"`{policy}`", *(f"{part:.3f}" for part in cells)])
    decoys = []
    budgets = runner.budgets(30, 100, 300)
    for policy in ("replan", "replan:guard=0"):
        parts_of = [part_of_safe(runner, policy, budget) for budget in budgets]
        decoys.append([f"`{policy}`", *(f"{part.mean:.3f}" for part in parts_of)])
    return Finding(
        "true for two arms; for more 95% is not proved, and false without the test for changes",
        f"{len(games)} games of two arms: no violation; with 59 and 149 rivals and "
        f"`looks=0,change=0` down to {broken[0]:.1%} of what the safe arm alone brings",
        violations == 0 and broken[0] < 0.95,
        [
            "Gains as a part of what the safe arm alone brings; r' = min{r, (r + 1/4)/2}. Two "
            "arms; the rival costs 1, pays 0.9 in its first pulls and then nothing "
            f"({SEEDS} seeds):",
            Table(["r", "c", "B", "good pulls", "`replan`", "promised"], games),
            "More rivals, r = 0.05, c = 0.1. The first one pays 0.9 in 100 or 250 pulls, then 0.4 "
            "while its mean is above 0.62, then nothing; the others pay nothing, and lose on its "
            "credit. The test for changes finds the fall:",
            Table(["policy", "1, B = 400", "59, B = 400", "149, B = 1,000"], rows),
            f"{UNPAID} rivals that never pay, r = 0.005, c = 0.01 ({runner.paths(PATHS)} paths):",
            Table(["policy", *heads(budgets)], decoys),
        ],
    )


def part_of_safe(runner: Runner, policy: str, budget: float) -> Estimate:
    """Return the gain among `DECOYS` as a part of what the safe arm alone brings."""
    gains = runner.runs(policy, DECOYS, budget, PATHS)["gain"].to_numpy()
    return estimate(gains / (0.5 * budget))
