"""Specialists for digits: three cheap classifiers know some of the digits each, and a dear one all.
What is a context worth?

The data are scikit-learn's 1,797 pictures of digits. The arms learn one half, and the game is
played on the other. The context is what a glance shows: 12 numbers that summarise the pixels. The
reward is 1 where the answer is right, and a picture with more ink costs more. Run it: python
examples/digit_specialists.py
"""

from __future__ import annotations

import sys
from importlib.util import find_spec
from typing import Any

import numpy as np
import numpy.typing as npt

import purse

KNOWN = [
    (0, 1, 2, 3),
    (4, 5, 6),
    (7, 8, 9),
    tuple(range(10)),
]  # digits that each arm has learnt
PRICES = [0.06, 0.05, 0.05, 0.6]  # of a picture that is all ink
N_TRAIN, N_FEATURES = 900, 12
TIMES = 3  # that each picture is met
BUDGETS = [0.05, 0.1, 0.2, 0.5]  # parts of what the dearest arm costs in all rounds
POLICIES = ["lin-ucb.price", "lin-ts.price", "lin-ucb.resolve", "replan"]  # the last is blind
Floats = npt.NDArray[np.float64]


def specialists() -> tuple[Floats, Floats, Floats]:
    """Return the context of each picture (N, 12), and the reward and the cost of each arm on it (N,
    4).
    """
    if find_spec("sklearn") is None:
        print("the digits need scikit-learn: pip install scikit-learn", file=sys.stderr)
        raise SystemExit(2)
    from sklearn.datasets import load_digits
    from sklearn.decomposition import PCA
    from sklearn.linear_model import LogisticRegression
    from sklearn.svm import SVC

    pixels, digits = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(digits))
    train, test = order[:N_TRAIN], order[N_TRAIN:]
    right = []
    for own in KNOWN:
        mine = train[np.isin(digits[train], own)]
        model: Any = SVC(gamma=0.001) if len(own) == 10 else LogisticRegression(max_iter=2_000)
        answers = model.fit(pixels[mine], digits[mine]).predict(pixels[test])
        right.append(answers == digits[test])
    glance = PCA(N_FEATURES, whiten=True).fit(pixels[train]).transform(pixels[test])
    ink = pixels[test].sum(axis=1, keepdims=True) / 320
    return np.clip(glance / 2, -1.5, 1.5), np.stack(right, axis=1).astype(float), ink * PRICES


def repeated(
    features: Floats, rewards: Floats, costs: Floats, times: int = TIMES
) -> purse.lab.World:
    """Return the world in which every picture comes this often, in a random order."""
    return purse.worlds.table(
        rewards=np.tile(rewards, (times, 1)),
        costs=np.tile(costs, (times, 1)),
        features=np.tile(features, (times, 1)),
        shuffle=True,
        horizon=times * len(rewards),
    )


def show(features: Floats, rewards: Floats, costs: Floats, n_paths: int = 20) -> None:
    """Print how many pictures each player reads rightly with each budget."""
    world = repeated(features, rewards, costs)
    dearest = float(costs.sum(axis=0).max()) * TIMES
    budgets = [round(part * dearest, 6) for part in BUDGETS]
    lines = {"right answers, budget": [f"{part:.0%}" for part in BUDGETS]}
    for name, optimum in (
        ("LP without contexts", purse.lab.theory.contexts.lp_without_contexts),
        ("best linear policy", purse.lab.theory.contexts.best_linear_policy),
    ):
        lines[name] = [f"{optimum(world, budget):,.0f}" for budget in budgets]
    for policy in POLICIES:
        runs = [
            purse.simulate(policy, world, budget, n_paths=n_paths, stop="retry")
            for budget in budgets
        ]
        lines[policy] = [f"{run.gain.mean():,.0f}" for run in runs]
    for name, cells in lines.items():
        print(f"{name:<24}" + "".join(f"{cell:>9}" for cell in cells))


def main() -> None:
    """Play, and print the table."""
    show(*specialists())


if __name__ == "__main__":
    main()
