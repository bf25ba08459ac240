"""Regret in worlds with contexts: what each optimum of `purse.lab.theory.contexts` gains, less G.

They are apart from other notions of regret, because they exist where there are features only.
"""

from __future__ import annotations

from collections.abc import Callable

from purse.lab.theory.contexts import LINEAR, WITH, WITHOUT
from purse.lab.theory.notions import RunEvidence
from purse.types import Floats


def lp_without_contexts(seen: RunEvidence) -> Floats | None:
    """LP without contexts - G: against the best mixture of arms for all contexts; who uses contexts
    well is below 0.
    """
    return against(seen, WITHOUT)


def best_linear_policy(seen: RunEvidence) -> Floats | None:
    """best linear policy - G: against ridge regression on the true means with the right price."""
    return against(seen, LINEAR)


def lp_with_contexts(seen: RunEvidence) -> Floats | None:
    """LP with contexts - G: against the best mixture of arms in each context, which no policy
    exceeds in expectation by more than one reward.
    """
    return against(seen, WITH)


def against(seen: RunEvidence, name: str) -> Floats | None:
    """(P,) What an optimum gains more than the policy did; None where the world has none."""
    return seen.context_optima[name] - seen.gain if name in seen.context_optima else None


EVERY: tuple[Callable[[RunEvidence], Floats | None], ...] = (
    lp_without_contexts,
    best_linear_policy,
    lp_with_contexts,
)
CONTEXT_NOTIONS = {notion.__name__: notion for notion in EVERY}
