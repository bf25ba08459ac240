"""`purse.lab.prior_from_log`: a warm start for policies with a regression, from a log."""

import os
from collections.abc import Sequence

import numpy as np

from purse.base import amounts, validation
from purse.base.optional import check_lab
from purse.errors import InvalidInput
from purse.features import Features
from purse.kernels.prior import Prior, write_prior
from purse.lab.data.frame import Data
from purse.lab.data.log import Log
from purse.lab.data.question import Question, Wanted
from purse.lab.data.rounds import open_rounds
from purse.lab.replay.context_world import RIDGE, regression_of
from purse.worlds._tables import context_rows

_ASIDE = ("data", "path", "ridge")  # no part of the question


def prior_from_log(
    data: Data,
    path: str | os.PathLike[str],
    *,
    features: Wanted | None = None,
    per_arm: bool = False,
    map: str | None = None,
    arms: Sequence[str] | None = None,
    reward_range: tuple[float, float] | None = None,
    ridge: float = RIDGE,
    arm: str = "arm",
    reward: str = "reward",
    cost: str = "cost",
    decimal: str | None = None,
    skip_empty: bool = False,
    empty: str | Sequence[str] = (),
) -> Prior:
    """Write what a log teaches a regression to a file, and return it.

    data       a log as for `purse.replay`; it needs no probabilities
    path       the file, such as "prior.npz"
    features, per_arm, map   as in `purse.replay`; declare the ranges that the policy is to have
    arms       the arms in the order of the policy; None: those in the log, sorted
    reward_range   what rewards of 0 and 1 are; None: as in `purse.replay`
    ridge      of the regression
    arm, reward, cost   the names of the columns
    decimal, skip_empty, empty   as in `purse.replay`

    The arm may have been chosen by the features, and by nothing else that moves its reward or cost:
    the rows count as they are.

    Raise `InvalidInput` when a column is missing or a value is not allowed.
    """
    asked = {name: value for name, value in locals().items() if name not in _ASIDE}
    check_lab("prior_from_log", "numba", "polars")
    log = open_rounds(data, Question(**asked, probability=None))
    if not isinstance(log, Log) or log.budget:
        raise InvalidInput(f"{log.name}: must be a log; it is the export of a campaign")
    contexts = np.ones((len(log), 1, 1))
    if log.contexts is not None:
        contexts = context_rows(log.contexts.inputs, len(log), len(log.arms))
    values = np.column_stack([log.inside, log.cost / amounts.UNIT])
    near = validation.number("ridge", ridge, above=0)
    once = np.ones(len(log), np.int64)
    learnt = regression_of(contexts, log.arm, values, once, len(log.arms), near)
    declared = Features() if log.contexts is None else log.contexts.features
    return write_prior(
        path,
        Prior(learnt, log.arms, declared.as_dict(), per_arm, near, log.reward_range, declared.map),
    )
