"""Checks of what the file of a saved policy says, before anything compiled trusts it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from purse.base import validation
from purse.base.array_file import DAMAGE as DAMAGE
from purse.errors import InvalidInput
from purse.live.account import Account, Round
from purse.types import Problem


def is_policy_file(policy: str) -> bool:
    """Return whether a policy is a file, which is code, and not one that purse ships.

    >>> is_policy_file("/srv/mine.py:beta=1"), is_policy_file("exp3++.bwk:beta=1")
    (True, False)
    """
    return policy.partition(":")[0].strip().endswith(".py")


def check_problem(problem: Problem) -> None:
    """Refuse a problem whose arrays do not fit its numbers of arms, plays and resources.

    A problem that passes is about as large as the file that holds it.
    """
    arms = validation.integer("n_arms", problem.n_arms, low=1)
    validation.integer("plays", problem.plays, low=1, high=arms)
    table = (arms, problem.n_resources)
    shapes = {
        "budget": table[1:],
        "cost_min": table,
        "cost_max": table,
        "costs": table,
        "caps": table[:1],
        "reward_means": table[:1],
        "cost_means": table,
    }
    for name, shape in shapes.items():
        array = getattr(problem, name)
        if array is not None and (
            array.shape != shape or (array.dtype != np.int64 and not name.endswith("_means"))
        ):
            raise InvalidInput(f"its {name} does not fit {arms} arms")


def check_numbers(facts: dict[str, Any]) -> None:
    """Refuse counts that no policy can have."""
    for name, low in (("t", 0), ("_next_id", 1)):
        validation.integer(name, facts[name], low=low)
    validation.number("gain", facts["gain"], low=0)
    if not isinstance(facts["over"], str):
        raise InvalidInput("its reason for the end of the game is not text")


def check_account(account: Account) -> None:
    """Refuse a budget of which more, or less than nothing, is spent, held or left."""
    holds = [ticket.held_units for ticket in account.tickets]
    if min(min(units) for units in (account.left_units, account.spent_units, *holds)) < 0:
        budget, left, held = account.problem.budget.tolist(), account.left_units, account.held_units
        raise InvalidInput(f"it says that {left} is left and {held} is held of {budget} units")


def check_round(problem: Problem, again: Round) -> None:
    """Refuse a round to be asked for again whose arms the compiled steps cannot take."""
    if (
        not 1 <= len(again.arms) <= problem.plays
        or len(again.probabilities) != len(again.arms)
        or not all(arm in range(problem.n_arms) for arm in (*again.arms, *again.excluded))
    ):
        raise InvalidInput("it holds a round that does not fit its problem")


def check_context(problem: Problem, seen: Sequence[Any]) -> tuple[float, ...]:
    """Return the context of a ticket; refuse one that does not fit the problem."""
    rows, numbers = problem.context_shape
    if len(seen) != rows * (numbers - 1):
        raise InvalidInput("it holds a context that does not fit its problem")
    return tuple(validation.number("context", value) for value in seen)
