"""Other libraries, asked the way that their users ask them: one arm at a time, from Python."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.instance import SECONDS, best, world

RIVER, MABWISER = "river EXP3", "mabwiser UCB1"
MOST = 5_000  # rounds: with many more the weights of river's EXP3 overflow


def river_rate(n_arms: int) -> float:
    """Return the rounds per second of river's EXP3: pull, a Bernoulli reward, update."""
    from river import bandit

    arms = list(range(n_arms))

    def once() -> float:
        policy: Any = bandit.Exp3(gamma=0.1, seed=1)
        return rate(n_arms, lambda: policy.pull(arms), policy.update)

    return best(once)


def mabwiser_rate(n_arms: int) -> float:
    """Return the rounds per second of mabwiser's UCB1 (it has no EXP3).

    A round is predict, a Bernoulli reward, partial_fit.
    """
    from mabwiser.mab import MAB, LearningPolicy

    arms = list(range(n_arms))

    def once() -> float:
        policy: Any = MAB(arms, LearningPolicy.UCB1(), seed=1)
        policy.fit(arms, [1.0] * n_arms)
        return rate(n_arms, policy.predict, lambda arm, reward: policy.partial_fit([arm], [reward]))

    return best(once)


def rate(n_arms: int, ask: Callable[[], int], tell: Callable[[int, float], Any]) -> float:
    """Return the rounds per second of processor time of an object, asked and told for a while."""
    means = np.asarray(world(n_arms).reward_means).tolist()
    draw = random.Random(1).random
    rounds, start = 0, time.process_time()
    while rounds == 0 or (rounds < MOST and time.process_time() < start + SECONDS):
        arm = ask()
        tell(arm, float(draw() < means[arm]))
        rounds += 1
    return rounds / (time.process_time() - start)
