"""Routing of prompts to models, with a known difficulty of each prompt."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from purse.base import amounts, validation
from purse.types import World
from purse.worlds._contexts import contextual_world, sizes
from purse.worlds._tables import costs_per_arm, per_arm
from purse.worlds.routing import LENGTHS

EXAMPLE = "routing_contexts:strengths=[.3,.6,.9],prices=[.02,.1,.6],prompts=4000"


def routing_contexts(
    strengths: ArrayLike, prices: Any, prompts: int, steepness: float = 10, rows: int = 1024
) -> World:
    """Return a world in which arm i sends a prompt of known difficulty to model i.

        strengths   of the models, from 0 to 1, shape (K,)
        prices      of a mean answer, shape (K,)
        prompts     the horizon
        steepness   how sharply success falls if a prompt is harder than the model is strong
        rows        the difficulties, evenly spread over [0, 1]; each round draws one

    The context is the difficulty. The answer is worth 1 with probability 1 / (1 + exp(steepness
    (difficulty - strength))), else 0. Its price is `prices[i]` times its relative length, which is
    0.5, 0.75, 1, 1.25 or 1.5, equally likely. Easy prompts need no dear model.

    >>> routing_contexts(strengths=[0.5, 0.9], prices=[0.1, 0.5], prompts=100).n_features
    1
    """
    strength = per_arm("strengths", strengths)
    money = costs_per_arm(prices, len(strength))[:, 0] / amounts.UNIT
    slope = validation.number("steepness", steepness, low=0, high=100)
    n_rows, _, _ = sizes(rows, len(strength), 1)
    difficulty = (np.arange(n_rows)[:, None] + 0.5) / n_rows
    return contextual_world(
        "routing_contexts",
        difficulty,
        1 / (1 + np.exp(slope * (difficulty - strength))),
        np.broadcast_to(money, (n_rows, len(strength))),
        factors=LENGTHS,
        horizon=validation.integer("prompts", prompts, low=1),
    )
