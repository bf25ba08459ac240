"""What the tests of the live object share."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import pytest

from purse import BudgetExhausted, Policy, PurseError
from purse.lab import Ticket

# each kind once; `check_policy` holds all of them to the same
LIVE = ["exp3++.bwk", "exp3.bwk", "ucb-bv1", "uniform"]
STOP_RULES = ("exit", "hold", "retry")


def make(policy: Any = "exp3.bwk", **changes: Any) -> Policy:
    return Policy(policy, **{"n_arms": 3, "budget": 10, "cost_min": 0.1, **changes})


def refusal(error: type[Exception], call: Callable[..., Any], *arguments: Any, **named: Any) -> str:
    with pytest.raises(error) as caught:
        call(*arguments, **named)
    message = str(caught.value)
    assert isinstance(caught.value, PurseError)
    assert message
    assert "\n" not in message
    return message


def standing(policy: Policy) -> Any:
    chances = policy.probabilities().tolist()
    return (
        chances,
        policy.left_units,
        policy.spent_units,
        policy.held,
        policy.tickets,
        policy.t,
        policy.gain,
        policy.over,
    )


def amounts_in(message: str) -> list[str]:
    return re.findall(r"\d+(?:\.\d+)?", message)


def rounds_paid(policy: Policy, reward: float, cost: Any) -> int:
    paid = 0
    while True:
        try:
            ticket = policy.ask()
        except BudgetExhausted:
            return paid
        paid += policy.tell(ticket, reward, cost)


def exp3(
    reports: list[tuple[Ticket, float, float]],
    *,
    n_arms: int,
    gamma: float,
    c_min: float,
    cost_max: float,
) -> list[float]:
    weights = [1.0] * n_arms
    for ticket, reward, cost in reports:
        weights[ticket.arm] *= math.exp(
            gamma * c_min / n_arms * reward / (ticket.probability * cost / cost_max)
        )
    return [(1 - gamma) * weight / sum(weights) + gamma / n_arms for weight in weights]
