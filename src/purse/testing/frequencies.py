"""Check that arms come as often as their probabilities say, with and without masks.

Importance weights and estimates from logs rest on these probabilities. The policy plays one game;
at some of its rounds it chooses with many keys and the same state, and the arms are counted.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from purse.engine.draws import contexts, draws
from purse.engine.steps import make_steps
from purse.errors import AskRefused
from purse.live.policy import Policy
from purse.live.report import read_choice
from purse.testing.games import answer, live_policy, next_round, told
from purse.types import STOP, Floats, World

_KEYS = 120  # choices at each round that is looked at
_LOOK_AT = (1, 6, 7, 20, 21, 50, 51, 90)  # rounds; masks change every 7
_SIGMAS = 5  # how far a count may be off: by chance in 2 of a million


class _Tally(NamedTuple):
    """The counts of arms that came and should have come, each of shape (K,)."""

    seen: Floats
    expected: Floats
    variance: Floats


def check_frequencies(
    policy: str | ModuleType, world: World, *, budget: Any, plays: int, horizon: int | None
) -> None:
    """Check that arms come as often as their probabilities say, with and without masks.

    A policy without `probabilities` is held to those of its choices that are below 1. One arm
    leaves nothing to count.
    """
    if world.n_arms == 1:
        return
    live = live_policy(policy, world, budget, "hold", 0, plays, horizon)
    n_rounds = min(_LOOK_AT[-1], world.n_rounds or _LOOK_AT[-1])
    rewards, costs = draws(world, n_rounds)
    shown = contexts(world, n_rounds)
    asks = [
        make_steps(live._module, live._game._replace(game=game)).ask
        for game in (live._game.game._replace(seed=seed) for seed in range(1, _KEYS + 1))
    ]
    tallies = [_Tally(*np.zeros((3, world.n_arms))) for _ in range(2)]  # without masks, with masks
    for t in range(1, len(rewards) + 1):
        context = told(world, shown, next_round(live))
        half = [arm for arm in range(world.n_arms) if arm % 2 == (t // 7) % 2] or [0]
        try:
            if t in _LOOK_AT:
                for tally, allowed in zip(tallies, (None, half), strict=True):
                    _count_choices(live, asks, tally, allowed, context)
            ticket = live.ask(half if t % 3 == 0 else None, context)
        except AskRefused:
            break
        if not ticket.skipped:
            answer(live, ticket, rewards[t - 1], costs[t - 1])
    for tally, how in zip(tallies, ("", "under masks "), strict=True):
        off = np.abs(tally.seen - tally.expected)
        assert (off <= _SIGMAS * np.sqrt(tally.variance) + 1e-6).all(), (
            f"{policy}: {how}arms came {tally.seen.astype(int)} times, their probabilities sum to "
            f"{tally.expected.round(1)}"
        )


def _count_choices(
    live: Policy, asks: list[Any], tally: _Tally, allowed: list[int] | None, context: Any
) -> None:
    """Add what the policy chooses in the next round with each key, and what it should."""
    masked = live._mask(allowed)
    if live._peek(masked).initial:
        return
    knows = live._steps.look is not None
    chances = live.probabilities(allowed, context) if knows else np.zeros(live.problem.n_arms)
    seen, stated = np.zeros_like(chances), np.zeros_like(chances)
    space = live._game.workspace
    live._see(live.features.encode(context))
    left, owed = space.left_units.copy(), space.owed.copy()
    for ask in asks:
        live._mask(allowed)
        ask(live.t + 1, masked)
        space.left_units[:], space.owed[:] = left, owed
        arms, probs = read_choice(space)
        if arms[0] == STOP:
            return  # the game ends here
        for arm, chance in zip(arms, probs, strict=True):
            if arm >= 0:
                seen[arm] += 1
                stated[arm] += chance
    if not knows:
        # 1 says that the arm is sure, or that the policy cannot tell
        tells = (seen > 0) & (stated < seen)
        chances = np.divide(stated, seen, out=np.zeros_like(seen), where=tells)
        seen = np.where(tells, seen, 0)
    tally.seen[:] += seen
    tally.expected[:] += _KEYS * chances
    tally.variance[:] += _KEYS * chances * (1 - chances)
