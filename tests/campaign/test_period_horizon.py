"""What a policy sees of the rounds of a period."""

from __future__ import annotations

from pathlib import Path

from tests.campaign.test_period_money import HOUR, begun, is_whole
from tests.support.storages import MemoryHarness

# plays the first arm in the first two rounds of a horizon, and then the second
POLICY = '''
"""A policy that shows how many rounds it sees."""

from typing import Any, NamedTuple

import numpy as np

from purse.kernels import kernel
from purse.types import Floats, Now, Play, Problem

NAME = "counting"


class Params(NamedTuple):
    horizon: float


class State(NamedTuple):
    nothing: Floats


def params(problem: Problem) -> Params:
    """No options."""
    return Params(float(problem.horizon or 0))


def init(params: Params, problem: Problem) -> State:
    return State(np.zeros(1))


@kernel
def choose(params: Params, state: State, scratch: Any, now: Now, play: Play) -> None:
    play.arms[0] = 0 if now.rounds_left > params.horizon - 2 else 1
    play.probs[0] = 1.0


@kernel
def update(params: Params, state: State, scratch: Any, now: Now, play: Play) -> None:
    pass


@kernel
def probabilities(params: Params, state: State, scratch: Any, now: Now, out: Floats) -> None:
    out[:] = 0.0
    out[0 if now.rounds_left > params.horizon - 2 else 1] = 1.0
'''


def test_the_policy_sees_the_rounds_left_in_the_period(tmp_path: Path) -> None:
    path = tmp_path / "counting.py"
    path.write_text(POLICY)
    harness = MemoryHarness()
    campaign = begun(harness, horizon=3, policy=str(path))
    for _ in range(3):
        seen = []
        for _ in range(3):
            foreseen = campaign.probabilities()
            seen.append(campaign.ask().arm)
            assert foreseen[seen[-1] or ""] == 1.0
        assert seen == ["red", "red", "green"]
        harness.clock += 6 * HOUR
    campaign = harness.open("test")  # another process
    assert campaign.ask().arm == "red"
    assert is_whole(campaign)
