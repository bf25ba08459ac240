"""T3: an adversary, against the best fixed arm: equal costs, and efficiencies within a factor."""

from __future__ import annotations

from functools import partial

from purse.lab.paper.finding import Finding
from purse.lab.paper.guarantees import COIN, budgets_of, cycle, facts, hold_against
from purse.lab.paper.runner import Runner
from purse.lab.theory import coin_bounds
from purse.lab.theory.estimate import Estimate, estimate
from purse.types import World

ORDER = 320
TITLE = "T3, an adversary"
SAYS = (
    "Ours: against the best fixed arm, `tsallis-inf.coin` loses at most R(B) where in each round "
    "all arms cost the same; and where each arm's efficiency stays within a factor 1 + φ, it gains "
    "at least G(i)/(1 + φ) − R(B) for every arm i."
)
COMMANDS = [f"purse lab regret {COIN} -w same_costs -b 1e4"]
PATHS, SEEDS = 20, 8


def study(runner: Runner) -> Finding:
    """Return regret over bound on worlds of both kinds."""

    def against_fixed(place: str | World, budget: float) -> tuple[Estimate, float]:
        n_arms, low, high, _ = facts(place, budget)
        bound = coin_bounds.equal_costs(n_arms, budget, low, cost_max=high)
        return runner.fixed_arm_regret(COIN, place, budget, PATHS), bound.value or 0.0

    def part_of_fixed(phi: float, place: str | World, budget: float) -> tuple[Estimate, float]:
        n_arms, low, high, _ = facts(place, budget)
        gain = runner.runs(COIN, place, budget, PATHS)["gain"].to_numpy()
        best = float(runner.arms_alone(place, budget, PATHS).mean(axis=1).max())
        least = coin_bounds.bounded_efficiency(best, phi, n_arms, budget, low, cost_max=high)
        whole = best / (1 + phi)
        return estimate(whole - gain), whole - (least.value or 0.0)

    budgets = budgets_of(runner, 3e2, 1e3, 1e4)
    same: list[tuple[str, str | World]] = [("`same_costs`", "same_costs")]
    same += [(world.name, world) for seed in range(SEEDS) for world in [cycle(seed, equal=True)]]
    equal = hold_against(same, budgets, against_fixed)
    within = [
        hold_against(
            [(f"{world.name}, φ = {phi:g}", world)],
            budgets,
            partial(part_of_fixed, phi),
        )
        for seed, phi in enumerate((0.1, 0.25, 0.5, 1.0) * (SEEDS // 4))
        for world in [cycle(seed, equal=False, phi=phi)]
    ]
    rows = [row for ratios in within for row in ratios.table.rows]
    return Finding(
        "true; where costs are equal, not the best rate",
        f"{equal.n_worlds} and {len(rows)} worlds, B = {budgets[0]:,.0f} … {budgets[-1]:,.0f}: at "
        f"most {equal.largest:.2f} and {max(ratios.largest for ratios in within):.2f} of the bound",
        equal.violations + sum(ratios.violations for ratios in within) == 0,
        [
            "Where all arms cost the same in each round, everybody plays the same rounds, and "
            "`tsallis-inf`, which is blind to costs, has (4√K − 2)√(B/c): better by √(2/c). What "
            "counts is that the same algorithm has T2. "
            f"Regret over bound ({runner.paths(PATHS)} paths, fixed rows in a cycle):",
            equal.table,
            "G(i)/(1 + φ) − E G for the best fixed arm over R(B); below 0, the player has more:",
            within[0].table._replace(rows=rows),
        ],
    )
