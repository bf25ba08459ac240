"""What a log expects of each arm in each context: the ridge regression that policies learn with.

A row is predicted by a model that has not seen it: the rows are cut into folds, and each fold is
predicted from the others. So where a row's own luck is corrected by the model, the model has not
followed that luck.
"""

from __future__ import annotations

import numpy as np

from purse.compiler.jit import bind
from purse.kernels.regression import Regression, add_report, new_regression
from purse.types import Floats, Ints

FOLDS = 5
RIDGE = 1.0


def learn_rows(
    known: Regression,
    contexts: Floats,
    arm: Ints,
    values: Floats,
    counts: Ints,
    z: Floats,
) -> None:
    """Add each row as many reports as it counts; `z` is room to work in, (numbers,)."""
    for t in range(arm.shape[0]):
        x = contexts[t, min(arm[t], contexts.shape[1] - 1)]
        for _ in range(counts[t]):
            add_report(known, arm[t], x, z, values[t, 0], values[t, 1:])


def regression_of(
    contexts: Floats, arm: Ints, values: Floats, counts: Ints, n_arms: int, ridge: float = RIDGE
) -> Regression:
    """Return what the rows teach.

    contexts   (n, A, numbers of a context), the last number is 1
    values     (n, 1 + d) reward from 0 to 1, and costs in largest costs
    counts     (n,) how often each row counts
    """
    known = new_regression(n_arms, values.shape[1], contexts.shape[2], ridge)
    bind(learn_rows)(known, contexts, arm, values, counts, np.zeros(contexts.shape[2]))
    return known


def cross_fitted(contexts: Floats, arm: Ints, values: Floats, counts: Ints, n_arms: int) -> Floats:
    """(n, K, 1 + d) What is expected of each arm in the context of each row, from other folds."""
    fold = np.arange(len(arm)) % FOLDS
    expected = np.zeros((len(arm), n_arms, values.shape[1]))
    for number in range(FOLDS):
        here = fold == number
        known = regression_of(contexts, arm, values, np.where(here, 0, counts), n_arms)
        seen = np.broadcast_to(contexts[here], (int(here.sum()), n_arms, contexts.shape[2]))
        expected[here] = np.einsum("tkn,ksn->tks", seen, known.coefficients)
    return expected
