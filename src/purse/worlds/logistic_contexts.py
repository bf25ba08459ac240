"""Contexts in which success is logistic and cost exponential: no linear policy fits them."""

import numpy as np

from purse.types import Floats, World
from purse.worlds._contexts import contextual_world, cube_with_weights, middles

EXAMPLE = "logistic_contexts:rows=1024,horizon=4000"
LEAST_FACTOR, MOST_FACTOR = 2 / 3, 4 / 3  # of a cost relative to its mean
FACTORS = middles(LEAST_FACTOR, MOST_FACTOR)
GROWTH = 0.8  # a cost is proportional to exp(GROWTH times the first feature)
STEEPNESS = 2.0  # of the logits
# of each arm, the constant last
LOGITS = np.array(
    [
        [-2.0, 0.5, 0.0, 0.0, 0.0, 0.2],
        [-1.5, 1.5, 0.5, 0.0, 0.0, 1.0],
        [-0.5, 0.0, 2.0, -1.0, 0.0, 1.6],
        [-0.3, 0.3, 0.0, 1.0, 0.5, 2.4],
    ]
)
MOST = np.array([0.02, 0.10, 0.25, 0.80])  # no cost of the arm is above


def logistic_contexts(
    arms: int | None = None,
    features: int | None = None,
    rows: int = 4096,
    horizon: int | None = 10_000,
    seed: int = 0,
) -> World:
    """Return a world in which success is logistic in the context, and cost exponential.

        arms, features   their numbers, for which weights are drawn; None: the fixed weights of
                         a world with 4 arms and 5 features
        rows             the contexts, of which each round draws one, all equally likely
        horizon          the number of rounds; None: only the budget ends the game
        seed             of contexts and drawn weights

    Features are uniform in [-1, 1]. The reward is 1 with probability 1 / (1 + exp(-2 w.x)), else 0.
    The mean cost of an arm is its own times exp(0.8 x), where x is the first feature, the length of
    a prompt for example. The cost itself is between 2/3 and 4/3 of that: the middles of eight equal
    parts, equally likely. Linear policies can only approximate both.

    >>> world = logistic_contexts(rows=256)
    >>> world.n_arms, world.n_features, world.horizon
    (4, 5, 10000)
    """
    contexts, (logits, largest) = cube_with_weights(
        rows, arms, features, seed, (LOGITS, MOST), draw_weights
    )
    augmented = np.hstack([contexts, np.ones((len(contexts), 1))])
    longest = MOST_FACTOR * np.exp(GROWTH)
    return contextual_world(
        "logistic_contexts",
        contexts,
        1 / (1 + np.exp(-STEEPNESS * augmented @ logits.T)),
        np.exp(GROWTH * contexts[:, :1]) * largest / longest,
        factors=FACTORS,
        horizon=horizon,
    )


def draw_weights(
    n_arms: int, n_features: int, chance: np.random.Generator
) -> tuple[Floats, Floats]:
    """Return logits, (K, F + 1), and largest costs, (K,): dearer arms are better on average."""
    slopes = chance.normal(size=(n_arms, n_features))
    constants = chance.uniform(0, 2.5, n_arms)
    largest = 10 ** chance.uniform(-1.7, -0.1, n_arms)
    return np.hstack([slopes, np.sort(constants)[:, None]]), np.sort(largest)
