from typing import Any

import numpy as np
import pytest

from purse.compiler.jit import bind
from purse.kernels.regression import Regression, add_report, leverage, new_regression
from purse.types import Floats


def learn(known: Any, arms: Any, contexts: Any, room: Any, rewards: Any, costs: Any) -> None:
    for t in range(arms.shape[0]):
        add_report(known, arms[t], contexts[t], room, rewards[t], costs[t])


def taught(contexts: Floats, rewards: Floats, costs: Floats, ridge: float = 1.0) -> Regression:
    """What one arm has learnt from these reports, in order."""
    n = contexts.shape[1]
    known = new_regression(1, 2, n, ridge)
    arms = np.zeros(len(contexts), np.int64)
    bind(learn)(known, arms, contexts, np.zeros(n), rewards, costs[:, None])
    return known


def data(n_reports: int, n_features: int, seed: int = 0) -> tuple[Floats, Floats, Floats]:
    rng = np.random.default_rng(seed)
    contexts = np.concatenate(
        [rng.uniform(-1, 1, (n_reports, n_features)), np.ones((n_reports, 1))], axis=1
    )
    return contexts, rng.random(n_reports), rng.uniform(0.1, 0.9, n_reports)


def solved(contexts: Floats, values: Floats, prior: float, ridge: float = 1.0) -> Floats:
    """The coefficients of ridge regression around a prior for the constant."""
    start = np.zeros(contexts.shape[1])
    start[-1] = prior
    gram = ridge * np.eye(len(start)) + contexts.T @ contexts
    return start + np.linalg.solve(gram, contexts.T @ (values - contexts @ start))


@pytest.mark.parametrize(("n_features", "ridge"), [(0, 1.0), (7, 1.0), (7, 0.1)])
def test_a_thousand_reports_agree_with_least_squares(n_features: int, ridge: float) -> None:
    contexts, rewards, costs = data(1000, n_features, seed=1)
    known = taught(contexts, rewards, costs, ridge)
    assert known.sums[0].tolist() == pytest.approx([rewards.sum(), costs.sum()])
    assert (known.tops[0, 1], known.reports[0]) == (costs.max(), 1000)
    inverse = np.linalg.inv(ridge * np.eye(n_features + 1) + contexts.T @ contexts)
    assert np.abs(known.inverse[0] - inverse).max() < 1e-9
    assert np.abs(known.coefficients[0, 0] - solved(contexts, rewards, 0.5, ridge)).max() < 1e-9
    assert np.abs(known.coefficients[0, 1] - solved(contexts, costs, costs[0], ridge)).max() < 1e-9
    x = contexts[3]
    assert leverage(known, 0, x) == pytest.approx(x @ inverse @ x, abs=1e-9)


def test_two_features_that_are_nearly_equal_lose_no_digits() -> None:
    contexts, rewards, costs = data(100_000, 4, seed=2)
    contexts[:, 1] = contexts[:, 0] + 1e-3 * contexts[:, 1]
    known = taught(contexts, rewards, costs)
    inverse = np.linalg.inv(np.eye(5) + contexts.T @ contexts)
    assert np.abs(known.inverse[0] / inverse - 1).max() < 1e-8
    assert (known.inverse[0] == known.inverse[0].T).all()
    assert np.linalg.eigvalsh(known.inverse[0]).min() > 0
    assert np.abs(known.coefficients[0, 0] - solved(contexts, rewards, 0.5)).max() < 1e-8
