from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from purse import InvalidInput, PurseError, Ticket, TicketError
from tests.support.live_policies import STOP_RULES, amounts_in, make, refusal, standing


@pytest.mark.parametrize("stop", STOP_RULES)
@pytest.mark.parametrize(
    "reward",
    [
        -1e-9,
        1.0000001,
        2,
        10**400,
        True,
        math.nan,
        math.inf,
        None,
        "high",
        "0.5",
        {},
        0.5j,
        np.complex128(0.5),
        [0.5, 0.5],
        [[0.5], [0.5, 0.5]],
        [],
        np.array([np.nan]),
    ],
    ids=repr,
)
def test_a_bad_reward_changes_nothing(reward: Any, stop: str) -> None:
    policy = make(stop=stop)
    policy.tell(policy.ask(), 1, 0.5)
    ticket = policy.ask()
    before = standing(policy)
    assert "reward" in refusal(InvalidInput, policy.tell, ticket, reward, 0.5)
    assert standing(policy) == before
    assert policy.tell(ticket, 0.5, 0.5)


@pytest.mark.parametrize("stop", STOP_RULES)
@pytest.mark.parametrize(
    "cost",
    [
        0,
        -0.5,
        "0.099999999",
        "1.000000001",
        math.nan,
        math.inf,
        "NaN",
        None,
        "free",
        "",
        "0.1234567891",
        Decimal("0.1234567891"),
        "0.5000000000000000000000000000000000001",
        10**30,
        True,
        np.float64(1e305),
        [0.5, 0.5],
        [[0.5], [0.5, 0.5]],
        [],
        {},
    ],
    ids=repr,
)
def test_a_bad_cost_changes_nothing(cost: Any, stop: str) -> None:
    policy = make(stop=stop)
    policy.tell(policy.ask(), 1, 0.5)
    ticket = policy.ask()
    before = standing(policy)
    assert "cost" in refusal(InvalidInput, policy.tell, ticket, 0.5, cost)
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


@pytest.mark.parametrize("play", [0, 1, 2])
def test_of_several_rewards_the_one_outside_its_range_is_named(play: int) -> None:
    policy = make("uniform", plays=3)
    ticket, rewards = policy.ask(), [0.25, 0.5, 0.75]
    rewards[play] += 1
    assert f"reward={rewards[play]}: must lie between 0 and 1" in refusal(
        InvalidInput, policy.tell, ticket, rewards, [0.5, 0.5, 0.5]
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
    "change",
    [
        {"id": 99},
        {"id": 0},
        {"id": -1},
        {"t": 2},
        {"arms": (7,)},
        {"probabilities": (1e-9,)},
        {"held_units": (0,)},
        {"held_units": (10**10,)},
    ],
)
def test_a_forged_ticket_changes_nothing(change: dict[str, Any]) -> None:
    policy = make()
    ticket = policy.ask()
    before = standing(policy)
    refusal(TicketError, policy.tell, ticket._replace(**change), 1, 0.5)
    refusal(TicketError, policy.void, ticket._replace(**change))
    assert standing(policy) == before


def test_a_ticket_may_be_a_copy() -> None:
    policy = make()
    ticket = policy.ask()
    assert policy.tell(
        Ticket(
            np.int64(ticket.id).item(),
            ticket.t,
            tuple(map(float, ticket.arms)),
            ticket.probabilities,
            ticket.held_units,
        ),
        1,
        0.5,
    )


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
    ("field", "value"),
    [
        ("n_arms", 0),
        ("n_arms", -1),
        ("n_arms", 2.5),
        ("n_arms", "3"),
        ("n_arms", None),
        ("budget", 0),
        ("budget", -1),
        ("budget", math.nan),
        ("budget", math.inf),
        ("budget", None),
        ("budget", "lots"),
        ("budget", "1.0000000001"),
        ("budget", [1, 2]),
        ("budget", 1e30),
        ("cost_min", 0),
        ("cost_min", -0.1),
        ("cost_min", math.nan),
        ("cost_min", None),
        ("cost_min", 1.1),
        ("cost_min", [0.1, 0.2]),
        ("cost_min", [0.1, 0, 0.1]),
        ("cost_max", 0.05),
        ("cost_max", [1, 0.05, 1]),
        ("cost_max", "dear"),
        ("n_resources", 0),
        ("plays", 0),
        ("plays", 4),
        ("plays", 2),
        ("n_resources", 2),
        ("horizon", 0),
        ("horizon", 1.5),
        ("costs", [0.1]),
        ("caps", -1),
        ("caps", [1, 2]),
        ("seed", -1),
        ("seed", 2**64),
        ("seed", "x"),
        ("stop", "x"),
        ("stop", None),
    ],
    ids=repr,
)
def test_a_bad_problem_is_refused_by_the_name_of_its_field(field: str, value: Any) -> None:
    assert field in refusal(InvalidInput, make, **{field: value})


def test_a_bad_stop_rule_is_told_the_good_ones() -> None:
    message = refusal(InvalidInput, make, stop="x")
    assert all(rule in message for rule in STOP_RULES)


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("exp3.bkw", "exp3.bwk"),
        ("unifrm", "uniform"),
        ("exp3+.bwk", "exp3++.bwk"),
        ("zzz", "exp3++.bwk"),
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
    ],
)
def test_a_bad_option_is_refused(spec: str, hint: str) -> None:
    assert hint in refusal(InvalidInput, make, spec)


def test_the_oracle_does_not_play_live() -> None:
    assert "oracle" in refusal(InvalidInput, make, "oracle")


def test_a_number_out_of_nowhere_is_a_value_error_too() -> None:
    with pytest.raises(ValueError, match="budget"):
        make(budget=0)


def test_caps_are_refused_by_policies_that_do_not_keep_to_them() -> None:
    assert "does not keep to caps" in refusal(InvalidInput, make, caps=5)
