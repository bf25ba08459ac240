"""The check of a live policy's probabilities, and that choosing has no side effects."""

from __future__ import annotations

import math
from typing import Any

from purse.errors import AskRefused, PurseError
from purse.live.policy import Policy
from purse.live.report import wrong_choice
from purse.testing.games import poison
from purse.testing.plain import kernel_errors
from purse.types import SKIP, STOP


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
