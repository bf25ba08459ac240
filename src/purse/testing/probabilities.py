"""Checks of a policy's probabilities: in one round, and against the arms that come.

Importance weights and estimates from logs rest on them. To count arms, the policy plays one game;
at some of its rounds it chooses with many keys and the same state.
"""

import math
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from purse.engine.draws import contexts, draws
from purse.engine.job import make_job
from purse.engine.steps import make_steps
from purse.errors import AskRefused, PurseError
from purse.live.policy import Policy
from purse.live.report import read_choice, wrong_choice
from purse.testing.code import kernel_errors
from purse.testing.games import answer, context_of, live_policy, next_round, poison
from purse.types import SKIP, STOP, Floats, World

_KEYS = 120  # choices at each round that is looked at
_LOOK_AT = (1, 6, 7, 20, 21, 50, 51, 90)  # rounds; masks change every 7
_SIGMAS = 5  # how far a count may be off: by chance in 2 of a million


def check_probabilities(
    live: Policy, allowed: list[int] | None = None, context: Any = None
) -> None:
    """Check the probabilities of the next round, with this mask and this context.

    They lie in [0, 1], sum to `plays`, and are positive for the chosen arm. Asking twice gives the
    same arm and changes no state.
    """
    before = [array.tobytes() for array in live.state]
    masked = live._mask(allowed)
    live._see(live.features.encode(context))
    try:
        poison(live)
        first = live._peek(masked)
        poison(live, math.nan)
        live._mask(allowed)  # rule `fit` may have taken more arms away
        second = live._peek(masked)
    except AskRefused:
        return
    except PurseError as error:
        if "NaN" not in str(error):
            raise
        raise AssertionError(
            f"{live.name}: choosing reads what an earlier call left in scratch, in round {live.t}"
        ) from error
    assert before == [array.tobytes() for array in live.state], (
        f"{live.name}: choosing changed the state in round {first.t}"
    )
    if first.arms[0] in (SKIP, STOP):
        return
    for arm, chance in zip(first.arms, first.probabilities, strict=True):
        assert 0 <= arm < live.problem.n_arms, (
            f"{live.name} {wrong_choice((arm,), live.problem.n_arms, first.t)}"
        )
        assert 0 < chance <= 1 + 1e-12, (
            f"{live.name}: chose arm {arm} with probability {chance} in round {first.t}"
        )
    assert first == second, (
        f"{live.name}: asked twice in round {first.t}, it chose {first.arms} and {second.arms}"
    )
    if live._steps.look is None:
        return
    with kernel_errors(live.name):
        chances = live.probabilities(allowed, context)
    assert ((chances >= 0) & (chances <= 1 + 1e-12)).all(), (
        f"{live.name}: probabilities outside [0, 1] in round {first.t}: {chances}"
    )
    plays = live.problem.plays if allowed is None else min(live.problem.plays, len(allowed))
    missing = plays - chances.sum()  # the chance that the round passes without a pull
    loose = live.problem.horizon is not None or live.stop == "fit"
    assert -1e-9 < missing < (plays + 1e-9 if loose else 1e-9), (
        f"{live.name}: probabilities sum to {chances.sum()} in round {first.t}"
    )
    for arm, chance in zip(first.arms, first.probabilities, strict=True):
        assert live._again or abs(chances[arm] - chance) < 1e-9, (
            f"{live.name}: arm {arm} came with {chance}, its probability was {chances[arm]}"
        )


class _Tally(NamedTuple):
    """The counts of arms that came and should have come, each of shape (K,)."""

    counts: Floats
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
    job = make_job(policy, world, budget, stop="hold", plays=plays, horizon=horizon)
    live = live_policy(policy, job)
    n_rounds = min(_LOOK_AT[-1], world.n_rounds or _LOOK_AT[-1])
    rewards, costs = draws(world, n_rounds)
    shown = contexts(world, n_rounds)
    asks = [
        make_steps(live._module, live._game._replace(game=game)).ask
        for game in (live._game.game._replace(seed=seed) for seed in range(1, _KEYS + 1))
    ]
    tallies = [_Tally(*np.zeros((3, world.n_arms))) for _ in range(2)]  # without masks, with masks
    for t in range(1, len(rewards) + 1):
        context = context_of(world, shown, next_round(live))
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
        off = np.abs(tally.counts - tally.expected)
        assert (off <= _SIGMAS * np.sqrt(tally.variance) + 1e-6).all(), (
            f"{policy}: {how}arms came {tally.counts.astype(int)} times, their probabilities sum "
            f"to {tally.expected.round(1)}"
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
    counts, stated = np.zeros_like(chances), np.zeros_like(chances)
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
                counts[arm] += 1
                stated[arm] += chance
    if not knows:
        # 1 says that the arm is sure, or that the policy cannot tell
        tells = (counts > 0) & (stated < counts)
        chances = np.divide(stated, counts, out=np.zeros_like(counts), where=tells)
        counts = np.where(tells, counts, 0)
    tally.counts[:] += counts
    tally.expected[:] += _KEYS * chances
    tally.variance[:] += _KEYS * chances * (1 - chances)
