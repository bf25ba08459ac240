"""Contexts in which mean rewards and mean costs are linear."""

import numpy as np

from purse.base import validation
from purse.types import Floats, World
from purse.worlds._contexts import contextual_world, cube_with_weights, middles

EXAMPLE = "linear_contexts:rows=1024,horizon=4000"
FACTORS = middles(0.5, 1.5)  # of a cost relative to its mean
# weights of each arm, the constant last: the dearer arms are better on average, and the features
# tell which one is worth its cost
REWARDS = np.array(
    [
        [0.05, -0.05, 0.00, 0.00, 0.20],
        [0.25, 0.00, -0.05, 0.00, 0.40],
        [-0.25, 0.10, 0.00, 0.05, 0.45],
        [0.00, 0.25, 0.15, 0.00, 0.55],
        [0.05, -0.10, 0.20, 0.20, 0.60],
    ]
)
COSTS = np.array(
    [
        [0.00, 0.00, 0.00, 0.01, 0.05],
        [0.00, 0.05, 0.00, 0.00, 0.15],
        [0.05, 0.00, 0.05, 0.00, 0.20],
        [0.00, 0.10, 0.00, -0.10, 0.40],
        [0.10, 0.00, -0.15, 0.00, 0.65],
    ]
)


def linear_contexts(
    arms: int | None = None,
    features: int | None = None,
    rows: int = 4096,
    horizon: int | None = 10_000,
    seed: int = 0,
    strength: float = 1.0,
) -> World:
    """Return a world in which mean reward and mean cost of each arm are linear in the context.

        arms, features   their numbers, for which weights are drawn; None: the fixed weights of
                         a world with 5 arms and 4 features
        rows             the contexts, of which each round draws one, all equally likely
        horizon          the number of rounds; None: only the budget ends the game
        seed             of contexts and drawn weights
        strength         the weights of features are multiplied by it; 0: contexts tell nothing

    Features are uniform in [-1, 1]. The reward is 1 or 0; the fixed weights put its mean above 1 in
    a few corners, which is cut to 1. The cost is its mean times a number between 0.5 and 1.5: the
    middles of eight equal parts, equally likely. Drawn mean costs differ between arms by up to two
    orders of magnitude.

    >>> world = linear_contexts(rows=256)
    >>> world.n_arms, world.n_features, world.reward_means.round(2)
    (5, 4, array([0.2 , 0.4 , 0.45, 0.55, 0.6 ]))
    """
    contexts, (rewards, costs) = cube_with_weights(
        rows, arms, features, seed, (REWARDS, COSTS), draw_weights
    )
    factor = validation.number("strength", strength, low=0, high=1)
    augmented = np.hstack([factor * contexts, np.ones((len(contexts), 1))])
    return contextual_world(
        "linear_contexts",
        contexts,
        np.clip(augmented @ rewards.T, 0, 1),
        augmented @ costs.T,
        factors=FACTORS,
        horizon=horizon,
    )


def draw_weights(
    n_arms: int, n_features: int, chance: np.random.Generator
) -> tuple[Floats, Floats]:
    """Return weights of rewards and costs, each (K, F + 1), the constant last.

    Features shift a mean by at most what keeps rewards in [0, 1] and costs above a tenth of their
    constant.
    """
    rewards, costs = chance.uniform(0.1, 0.9, n_arms), 10 ** chance.uniform(-2, 0, n_arms) / 2
    weights = []
    for middle, room in ((rewards, np.minimum(rewards, 1 - rewards)), (costs, 0.9 * costs)):
        slopes = chance.normal(size=(n_arms, n_features))
        slopes /= np.abs(slopes).sum(axis=1, keepdims=True)
        slopes *= (room * chance.random(n_arms))[:, None]
        weights.append(np.hstack([slopes, middle[:, None]]))
    return weights[0], weights[1]
