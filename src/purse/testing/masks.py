"""Check that a policy honours masks with the probabilities that it states."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np

from purse.engine.draws import contexts, draws
from purse.errors import AskRefused
from purse.testing.games import answer, live_policy, next_round, told
from purse.types import World

MASK_SEEDS, MASK_ROUNDS = 8, 100  # games, and rounds in each, in which arms are counted


def check_masks(
    policy: str | ModuleType, world: World, *, budget: Any, plays: int, horizon: int | None
) -> None:
    """Check that arms come as often as their probabilities say, under masks that change."""
    seeds = MASK_SEEDS if world.n_arms > 1 else 1  # an arm alone is never drawn
    tables = world.n_arms, seeds
    seen, expected, variance = np.zeros(tables), np.zeros(tables), np.zeros(tables)
    for seed in range(seeds):
        live = live_policy(policy, world, budget, "hold", seed, plays, horizon)
        if live._steps.look is None:
            return
        n_rounds = min(MASK_ROUNDS, world.n_rounds or MASK_ROUNDS)
        rewards, costs = draws(world, n_rounds, seed=seed)
        shown = contexts(world, n_rounds, seed=seed)
        for t in range(1, len(rewards) + 1):
            allowed = [arm for arm in range(world.n_arms) if arm % 2 == (t // 7) % 2] or [0]
            context = told(world, shown, next_round(live))
            try:
                chances = live.probabilities(allowed, context)
                ticket = live.ask(allowed, context)
            except AskRefused:
                break
            expected[:, seed] += chances
            variance[:, seed] += chances * (1 - chances)
            if not ticket.skipped:
                seen[list(ticket.arms), seed] += 1
                answer(live, ticket, rewards[t - 1], costs[t - 1])
    off = np.abs(seen.sum(axis=1) - expected.sum(axis=1))
    assert (off <= 5 * np.sqrt(variance.sum(axis=1)) + 1e-6).all(), (
        f"{policy}: under masks arms came {seen.sum(axis=1)} times, their probabilities sum to "
        f"{expected.sum(axis=1)}"
    )
