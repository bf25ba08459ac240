"""Contexts that are one of several classes, such as the source of a prompt."""

import numpy as np

from purse.types import World
from purse.worlds._contexts import contextual_world, generator, middles, sizes

EXAMPLE = "class_contexts:classes=6,arms=4,horizon=4000"
FACTORS = middles(0.5, 1.5)  # of a cost relative to its mean
SPREAD = 0.25  # of mean rewards between classes


def class_contexts(
    classes: int, arms: int = 4, rows: int = 1024, horizon: int | None = 10_000, seed: int = 0
) -> World:
    """Return a world in which each round belongs to a class, and means depend on class and arm.

        classes, arms   how many there are; means are drawn for each pair
        rows            the contexts, of which each round draws one, all equally likely
        horizon         the number of rounds; None: only the budget ends the game
        seed            of the means

    The context has one feature for each class: 1 for the class of the round, and 0 for all others.
    Class z = 1, 2, ... has a part of the rows in proportion to 1/z, and at least one. The reward is
    1 or 0. The cost is its mean times a number between 0.5 and 1.5: the middles of eight equal
    parts, equally likely. The dearer arms are better on average.

    >>> world = class_contexts(classes=3, rows=11)
    >>> world.n_features, world.tables.features[:, 0, :3].sum(axis=0).tolist()
    (3, [6.0, 3.0, 2.0])
    """
    n_rows, n_arms, n_classes = sizes(rows, arms, classes, "classes")
    chance = generator(seed)
    levels = np.linspace(0.3, 0.7, n_arms)
    success = np.clip(levels + SPREAD * chance.normal(size=(n_classes, n_arms)), 0.02, 0.98)
    base = np.sort(10 ** chance.uniform(-1.5, 0, n_arms))
    costs = base * chance.uniform(0.5, 1.5, (n_classes, n_arms))
    parts = 1 / np.arange(1, n_classes + 1)
    counts = np.maximum(1, np.rint(n_rows * parts / parts.sum())).astype(np.int64)
    label = np.repeat(np.arange(n_classes), counts)
    return contextual_world(
        "class_contexts",
        np.eye(n_classes)[label],
        success[label],
        costs[label],
        factors=FACTORS,
        horizon=horizon,
    )
