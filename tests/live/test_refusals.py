from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from purse import InvalidInput, PurseError
from purse.errors import TicketError
from purse.lab import Ticket
from tests.support.live_policies import STOP_RULES, amounts_in, make, refusal, standing


@pytest.mark.parametrize("stop", STOP_RULES)
@pytest.mark.parametrize(
    ("field", "values"),
    [
        ("reward", [-1e-9, 1.0000001, 2, 10**400, math.nan, math.inf, np.array([np.nan])]),
        ("reward", [None, "high", "0.5", {}, 0.5j, np.complex128(0.5)]),
        ("reward", [[0.5, 0.5], [[0.5], [0.5, 0.5]], []]),
        ("cost", [0, -0.5, math.nan, math.inf, 10**30, np.float64(1e305), Decimal("0.1234567891")]),
        ("cost", ["0.099999999", "1.000000001", "0.1234567891", f"0.5{'0' * 35}1", "NaN"]),
        ("cost", [True, None, "free", "", {}]),
        ("cost", [[0.5, 0.5], [[0.5], [0.5, 0.5]], []]),
    ],
    ids=repr,
)
def test_a_bad_report_changes_nothing(field: str, values: list[Any], stop: str) -> None:
    policy = make(stop=stop)
    policy.tell(policy.ask(), 1, 0.5)
    ticket = policy.ask()
    before = standing(policy)
    for value in values:
        report = {"reward": 0.5, "cost": 0.5, field: value}
        assert field in refusal(InvalidInput, policy.tell, ticket, **report)
        assert standing(policy) == before
    assert policy.tell(ticket, 0.5, "0.5")


def test_a_cost_outside_its_range_is_told_the_range() -> None:
    policy = make("fixed", cost_min="0.25", cost_max="0.75")
    message = refusal(InvalidInput, policy.tell, policy.ask(), 0.5, 0.8)
    assert {"0.8", "0.25", "0.75"} <= set(amounts_in(message))


@pytest.mark.parametrize("resource", [0, 1])
@pytest.mark.parametrize("play", [0, 1])
def test_of_several_costs_the_one_outside_its_range_is_told_its_range(
    play: int, resource: int
) -> None:
    low, high = [["0.11", "0.12"], ["0.21", "0.22"]], [["0.61", "0.62"], ["0.71", "0.72"]]
    policy = make("uniform", n_arms=2, plays=2, n_resources=2, cost_min=low, cost_max=high)
    ticket = policy.ask()
    arm = ticket.arms[play]
    for bound, beyond in ((low, -1), (high, 1)):
        costs = [[Decimal(bound[arm][m]) for m in range(2)] for arm in ticket.arms]
        costs[play][resource] += beyond * Decimal("0.000000001")
        message = refusal(InvalidInput, policy.tell, ticket, [1, 1], costs)
        assert (
            f"must lie between {low[arm][resource]} and {high[arm][resource]} for arm {arm}"
            in message
        )
    assert policy.tell(ticket, [1, 1], [high[arm] for arm in ticket.arms])


@pytest.mark.parametrize("play", [0, 1])
def test_of_several_rewards_the_one_outside_its_range_is_named(play: int) -> None:
    policy = make("uniform", plays=2)
    ticket, rewards = policy.ask(), [0.25, 0.75]
    rewards[play] += 1
    assert f"reward={rewards[play]}: must lie between 0 and 1" in refusal(
        InvalidInput, policy.tell, ticket, rewards, [0.5, 0.5]
    )


def test_a_ticket_keeps_its_place_when_a_report_is_refused() -> None:
    policy = make()
    tickets = [policy.ask() for _ in range(3)]
    refusal(InvalidInput, policy.tell, tickets[0], 0.5, 2)
    assert policy.tickets == tickets


@pytest.mark.parametrize("end", ["tell", "void"])
@pytest.mark.parametrize("stop", STOP_RULES)
def test_a_finished_ticket_is_finished(end: str, stop: str) -> None:
    policy = make(stop=stop)
    ticket = policy.ask()
    _ = policy.tell(ticket, 1, 0.5) if end == "tell" else policy.void(ticket)
    policy.ask()
    before = standing(policy)
    for message in (
        refusal(TicketError, policy.tell, ticket, 1, 0.5),
        refusal(TicketError, policy.void, ticket),
    ):
        assert "finished" in message
        assert str(ticket.id) in message
    assert standing(policy) == before


@pytest.mark.parametrize(
    ("field", "values"),
    [
        ("id", [99, 0, -1]),
        ("t", [2]),
        ("arms", [(7,)]),
        ("probabilities", [(1e-9,)]),
        ("held_units", [(0,), (10**10,)]),
    ],
)
def test_a_forged_ticket_changes_nothing(field: str, values: list[Any]) -> None:
    policy = make()
    ticket = policy.ask()
    before = standing(policy)
    for value in values:
        forged = ticket._replace(**{field: value})
        refusal(TicketError, policy.tell, forged, 1, 0.5)
        refusal(TicketError, policy.void, forged)
    assert standing(policy) == before


def test_a_ticket_may_be_a_copy() -> None:
    policy = make()
    ticket = policy.ask()
    copy = Ticket(*ticket)._replace(arms=tuple(map(float, ticket.arms)))
    assert copy is not ticket
    assert policy.tell(copy, 1, 0.5)


def test_a_ticket_of_another_policy_changes_nothing() -> None:
    policy, other = make(), make(cost_max=2)
    policy.ask()
    before = standing(policy)
    for ticket in (other.ask(), other.ask()):
        refusal(TicketError, policy.tell, ticket, 1, 0.5)
        refusal(TicketError, policy.void, ticket)
    assert standing(policy) == before


@pytest.mark.parametrize("thing", [None, 1, "ticket", (1, 1, (0,), (1.0,), (10**9,))], ids=repr)
def test_what_is_no_ticket_changes_nothing(thing: Any) -> None:
    policy = make()
    policy.ask()
    before = standing(policy)
    refusal(PurseError, policy.tell, thing, 1, 0.5)
    refusal(PurseError, policy.void, thing)
    assert standing(policy) == before


@pytest.mark.parametrize(
    ("field", "values"),
    [
        ("n_arms", [0, -1, 2.5, "3", None]),
        ("budget", [0, -1, math.nan, math.inf, None, "lots", "1.0000000001", [1, 2], 1e30]),
        ("cost_min", [0, -0.1, math.nan, None, 1.1, [0.1, 0.2], [0.1, 0, 0.1]]),
        ("cost_max", [0.05, [1, 0.05, 1], "dear"]),
        ("n_resources", [0, 2]),
        ("plays", [0, 2, 4]),
        ("horizon", [0, 1.5]),
        ("costs", [[0.1]]),
        ("caps", [-1, [1, 2]]),
        ("seed", [-1, 2**64, "x"]),
        ("stop", ["x", None]),
    ],
)
def test_a_bad_problem_is_refused_by_the_name_of_its_field(field: str, values: list[Any]) -> None:
    for value in values:
        assert field in refusal(InvalidInput, make, **{field: value})


def test_a_bad_stop_rule_is_told_the_good_ones() -> None:
    message = refusal(InvalidInput, make, stop="x")
    assert all(rule in message for rule in STOP_RULES)


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("exp3.bkw", "exp3.bwk"),
        ("unifrm", "uniform"),
        *((n, "exp3++.bwk") for n in ("exp3+.bwk", "zzz")),
    ],
)
def test_an_unknown_policy_is_told_the_nearest(name: str, hint: str) -> None:
    message = refusal(InvalidInput, make, name)
    assert repr(name) in message
    assert hint in message


@pytest.mark.parametrize("thing", [None, 7], ids=repr)
def test_what_is_no_policy_is_refused(thing: Any) -> None:
    refusal(PurseError, make, thing)


@pytest.mark.parametrize(
    ("spec", "hint"),
    [
        ("exp3.bwk:gama=0.5", "gamma"),
        ("exp3.bwk:gamma=2", "gamma"),
        ("exp3.bwk:gamma=many", "gamma"),
        ("uniform:speed=1", "speed"),
        ("fixed:arm=3", "arm"),
        ("fixed:arm=", "fixed:arm="),
        ("fixed:1", "fixed:1"),
        ("oracle", "oracle"),  # which knows the means, does not play live
    ],
)
def test_a_bad_option_is_refused(spec: str, hint: str) -> None:
    assert hint in refusal(InvalidInput, make, spec)


def test_caps_are_refused_by_policies_that_do_not_keep_to_them() -> None:
    assert "does not keep to caps" in refusal(InvalidInput, make, caps=5)
