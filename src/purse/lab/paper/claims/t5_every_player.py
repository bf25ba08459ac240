"""T5: what no player can beat."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from purse.lab.paper.finding import Finding, Table
from purse.lab.paper.guarantees import COIN, budgets_of, facts, hold_against
from purse.lab.paper.runner import Runner
from purse.lab.theory import bounds, coin_bounds
from purse.lab.theory.estimate import Estimate, estimate
from purse.types import World

ORDER = 340
TITLE = "T5, every player"
SAYS = (
    "Ours, and in order Badanidiyuru, Kleinberg and Slivkins': for c ≤ 1/2 and B ≥ max(64, K) "
    "every player has an i.i.d. world with e*B − E G ≥ √(KB)/(165c) − 0.8/c; and for c < 1 one of "
    "two fixed worlds in which it loses κ(c)B − 1 to the best fixed arm."
)
COMMANDS = [
    f"purse compare {COIN} tsallis-inf.price replan -b 1e4 -w similar_costs:n_arms=10,cost_min=.1",
    f"purse compare {COIN} replan -w two_worlds:cost_min=0.1,world=1 -w "
    "two_worlds:cost_min=0.1,world=2",
]
Sizes = tuple[tuple[int, float], ...]  # K and c of each world
PLAYERS: tuple[str, ...] = (COIN, "uniform", "exp3++.price", "tsallis-inf.price", "replan")
SIZES: Sizes = ((2, 0.5), (5, 0.5), (10, 0.5), (2, 0.2), (5, 0.2), (2, 0.1), (5, 0.1), (10, 0.1))
QUICK_SIZES: Sizes = tuple((n_arms, cost) for n_arms in (40, 60, 80, 100) for cost in (0.5, 0.25))
COSTS = (0.05, 0.1, 0.2, 0.25, 0.35, 0.5, 0.6, 0.75)
PATHS = 10


def study(runner: Runner) -> Finding:
    """Return pseudo-regret over its bound, and the larger of the regrets in two worlds."""

    def measure(player: str, place: str | World, budget: float) -> tuple[Estimate, float]:
        n_arms, cost, _, _ = facts(place, budget)
        lost = [
            runner.pseudo_regret(player, f"{place},best={best}", budget, PATHS)
            for best in (0, n_arms - 1)
        ]
        bound = coin_bounds.every_player(n_arms, budget, cost)
        return estimate(np.concatenate(lost)), bound.value or 0.0

    def in_two_worlds(place: str | World, budget: float) -> tuple[Estimate, float]:
        pair = (f"{place},world={world}" for world in (1, 2))
        lost = [runner.fixed_arm_regret(COIN, world, budget, PATHS) for world in pair]
        least = bounds.kappa(facts(place, budget)[1]) * budget - 1
        return max(lost, key=lambda loss: loss.mean), least

    sizes, budgets, players = SIZES, [1e4, 3e4, 1e5], PLAYERS
    if runner.quick:  # of many arms little is enough
        sizes, budgets, players = QUICK_SIZES, [5e2, 1e3, 2e3], PLAYERS[:2]
    rows: list[Sequence[str]] = []
    least, violations = np.inf, 0
    for n_arms, cost in sizes:
        place = f"similar_costs:n_arms={n_arms},cost_min={cost}"
        for player in players:
            ratios = hold_against(
                [(f"K = {n_arms}, c = {cost}: `{player}`", place)],
                budgets,
                partial(measure, player),
                at_least=True,
            )
            rows += ratios.table.rows
            least, violations = min(least, ratios.smallest), violations + ratios.violations
    pairs = [(f"c = {cost}", f"two_worlds:cost_min={cost}") for cost in COSTS]
    two = hold_against(pairs, budgets_of(runner, 1e2, 1e3, 1e4), in_two_worlds, at_least=True)
    return Finding(
        "true",
        f"{len(players)} players on {len(sizes)} worlds `similar_costs`: at least {least:.1f} of "
        f"the lower bound; in the worse of each of {len(COSTS)} pairs of worlds at least "
        f"{two.smallest:.2f} of κ(c)B − 1",
        violations + two.violations == 0,
        [
            "All arms pay 1 and cost 1 with probability c, else c; one arm is dear slightly less "
            "often. Gains are too noisy to show it, so pseudo-regret is compared, which differs "
            "from e*B − E G by at most e* on average; it is averaged over a first and a last best "
            f"arm. Measured over bound ({runner.paths(2 * PATHS)} paths):",
            Table(["world and player", *ratios.table.head[1:]], rows),
            f"The larger of the regrets of `{COIN}` in the two worlds of [Theorem 1](#theorem-1), "
            "over κ(c)B − 1:",
            two.table,
        ],
    )
