"""Masks seen: an allowed arm that depends on the masks of earlier rounds and on their counts."""

from typing import Any, NamedTuple

import numpy as np

from purse.kernels import count_allowed, kernel, nth_allowed
from purse.types import Floats, Now, Play, Problem

NAME, SEEN, PLAYS = "masks-seen", True, 1


class MasksSeenParams(NamedTuple):
    n_arms: int


class MasksSeenState(NamedTuple):
    rewards: Floats  # (K,)


def params(problem: Problem) -> MasksSeenParams:
    return MasksSeenParams(problem.n_arms)


def init(params: MasksSeenParams, problem: Problem) -> MasksSeenState:
    return MasksSeenState(np.zeros(params.n_arms))


@kernel
def find_arm(params: MasksSeenParams, now: Now) -> int:
    total = 0
    for c in range(now.seen.shape[0]):
        for i in range(params.n_arms):
            if now.seen[c] > 0 and now.masks[c, i]:
                total += now.seen[c] * (7 * c + i + 1)
    return nth_allowed(now, total % count_allowed(now, params.n_arms))


@kernel
def choose(params: MasksSeenParams, state: Any, scratch: Any, now: Now, play: Play) -> None:
    play.arms[0] = find_arm(params, now)
    play.probs[0] = 1.0


@kernel
def probabilities(params: MasksSeenParams, state: Any, scratch: Any, now: Now, out: Floats) -> None:
    for i in range(params.n_arms):
        out[i] = i == find_arm(params, now)


@kernel
def update(params: Any, state: MasksSeenState, scratch: Any, now: Now, play: Play) -> None:
    state.rewards[play.arms[0]] += play.rewards[0]
