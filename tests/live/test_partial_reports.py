"""Reports of a live policy in parts: `settle`, `reward` and `fail`, in any order."""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from purse import (
    BudgetExhausted,
    Conflict,
    InvalidInput,
    Policy,
    Ticket,
    TicketError,
)
from purse.campaign.local.campaign import LocalCampaign as Campaign
from purse.types import STOP_RULES
from tests.support.live_policies import LIVE, make, refusal, standing
from tests.support.paths import LEAST_PENDING

HOLDING = ("hold", "fit")
NOT_HOLDING = ("exit", "retry")


def money(policy: Policy) -> tuple[Any, Any, Any]:
    return policy.left, policy.held, policy.spent


def bits(policy: Policy) -> list[bytes]:
    """All that a policy has learnt."""
    return [array.tobytes() for array in policy.state]


def everything(policy: Policy) -> Any:
    return standing(policy), bits(policy), dict(policy._parts), list(policy._again)


def refused(policy: Policy, error: type[Exception], call: Callable[..., Any], *given: Any) -> str:
    before = everything(policy)
    message = refusal(error, call, *given)
    assert everything(policy) == before
    return message


# money and learning


@pytest.mark.parametrize("stop", STOP_RULES)
def test_settle_spends_the_cost_and_releases_the_rest_at_once(stop: str) -> None:
    policy = make(stop=stop)
    ticket, chances = policy.ask(), policy.probabilities()
    assert policy.settle(ticket, "0.3") is True
    assert money(policy) == (9.7, 0.0, 0.3)
    assert (policy.tickets, policy.gain) == ([ticket], 0.0)
    assert policy.probabilities().tobytes() == chances.tobytes()
    policy.reward(ticket, 0.75)
    assert money(policy) == (9.7, 0.0, 0.3)
    assert (policy.tickets, policy.gain) == ([], 0.75)
    assert policy.probabilities().tobytes() != chances.tobytes()
    refusal(TicketError, policy.settle, ticket, "0.3")
    refusal(TicketError, policy.reward, ticket, 0.75)


@pytest.mark.parametrize("stop", STOP_RULES)
def test_a_reward_that_comes_first_waits_for_the_cost(stop: str) -> None:
    policy = make(stop=stop)
    ticket = policy.ask()
    before = standing(policy)
    policy.reward(ticket, 0.75)
    assert standing(policy) == before
    assert policy.settle(ticket, "0.3") is True
    assert money(policy) == (9.7, 0.0, 0.3)
    assert (policy.tickets, policy.gain) == ([], 0.75)


@pytest.mark.parametrize("stop", STOP_RULES)
@pytest.mark.parametrize("name", LIVE)
def test_parts_teach_what_a_whole_report_teaches_bit_for_bit(name: str, stop: str) -> None:
    whole, apart = make(name, budget=40, stop=stop), make(name, budget=40, stop=stop)
    for turn in range(25):
        pair = whole.ask(), apart.ask()
        assert pair[0] == pair[1]
        reward, cost = turn % 3 / 2, (turn % 9 + 1) / 10
        whole.tell(pair[0], reward, cost)
        first, second = (apart.settle, cost), (apart.reward, reward)
        for report, value in (first, second) if turn % 2 else (second, first):
            report(pair[1], value)
        assert (standing(whole), bits(whole)) == (standing(apart), bits(apart))
    assert apart._parts == {}


def test_parts_may_come_in_any_order() -> None:
    """Six parts of three tickets; a ticket is learnt from when its second part comes."""
    for order in permutations(range(6)):
        whole, apart = (make("exp3.bwk", cost_min=0.5, cost_max=2) for _ in range(2))
        tickets = [apart.ask() for _ in range(3)]
        assert tickets == [whole.ask() for _ in range(3)]
        seen: set[int] = set()
        for step in order:
            ticket = tickets[step // 2]
            reward, cost = 0.2 + 0.3 * (step // 2), 0.5 + 0.5 * (step // 2)
            _ = apart.settle(ticket, cost) if step % 2 else apart.reward(ticket, reward)
            if ticket.id in seen:
                whole.tell(ticket, reward, cost)
            seen.add(ticket.id)
        assert everything(whole) == everything(apart), order


@pytest.mark.parametrize("order", ["settle", "reward"])
def test_several_plays_and_resources_are_reported_in_parts(order: str) -> None:
    whole, apart = (make("uniform", plays=2, n_resources=2, budget=[10, 5]) for _ in range(2))
    ticket, _ = apart.ask(), whole.ask()
    costs = np.array([[0.1, 0.2], [0.3, 0.4]], np.float32)
    if order == "settle":
        apart.settle(ticket, costs)
        assert money(apart) == ([9.6, 4.4], [0, 0], [0.4, 0.6])
    apart.reward(ticket, [1, 0.5])
    if order == "reward":
        apart.settle(ticket, costs)
    whole.tell(ticket, [1, 0.5], costs)
    assert everything(whole) == everything(apart)


def test_a_ticket_with_fewer_plays_is_reported_in_parts() -> None:
    policy = make("uniform", plays=2, budget="1.5", stop="fit")
    ticket = policy.ask()
    assert len(ticket.arms) == 1
    message = refusal(InvalidInput, policy.settle, ticket, [0.1, 0.2])
    assert "must have the shape (1, 1), not (2,)" in message
    message = refusal(InvalidInput, policy.reward, ticket, [0.5, 1])
    assert "must be 1 rewards, not 2" in message
    policy.settle(ticket, 0.5)
    policy.reward(ticket, 1)
    assert (policy.spent, policy.gain) == (0.5, 1.0)


@pytest.mark.parametrize("cost", [np.float32(0.3), "0.3", [0.3], np.array(0.3), [[0.3]]], ids=repr)
@pytest.mark.parametrize("first", ["settle", "reward"])
def test_a_part_may_be_written_in_several_ways(first: str, cost: Any) -> None:
    policy = make()
    ticket = policy.ask()
    if first == "reward":
        policy.reward(ticket, np.float64(1))
    policy.settle(ticket, cost)
    if first == "settle":
        policy.reward(ticket, np.array([1.0]))
    assert (policy.gain, policy.spent_units, policy.tickets) == (1.0, [300_000_000], [])


def test_what_a_settle_releases_can_be_held_again() -> None:
    policy = make(budget="1.5")
    ticket = policy.ask()
    assert "open tickets: 1, holding 1" in refusal(BudgetExhausted, policy.ask)
    policy.settle(ticket, "0.5")
    assert policy.ask().t == 2
    policy.settle(policy.tickets[1], 1)
    message = refusal(BudgetExhausted, policy.ask)
    assert message.endswith("and 0 is left")  # settled tickets hold nothing
    for each in policy.tickets:
        policy.reward(each, 1)
    assert money(policy) == (0.0, 0.0, 1.5)


def test_a_refusal_under_fit_counts_the_tickets_that_hold_something() -> None:
    policy = make("uniform", budget=5, cost_max=5, stop="fit")
    ticket = policy.ask()
    assert "open tickets: 1" in refusal(BudgetExhausted, policy.ask)
    policy.settle(ticket, 4)
    assert refusal(BudgetExhausted, policy.ask) == "no allowed arm fits: 1 is left"


def test_a_settled_ticket_counts_as_pending_until_its_reward(tmp_path: Path) -> None:
    policy = make(LEAST_PENDING)
    first, second, _ = (policy.ask() for _ in range(3))
    policy.settle(first, 0.5)
    policy.save(tmp_path / "saved.npz")
    for live in (policy, Policy.load(tmp_path / "saved.npz", allow_policy_file=True)):
        assert live._game.workspace.pending.tolist() == [1, 1, 1]
        live.fail(second, 0.2)
        assert live.ask().arm == 1
        live.reward(first, 1)
        assert live._game.workspace.pending.tolist() == [0, 1, 1]


# what was said first


@pytest.mark.parametrize("stop", STOP_RULES)
def test_a_repeat_changes_nothing_and_another_value_is_a_conflict(stop: str) -> None:
    policy = make(stop=stop)
    settled, rewarded = policy.ask(), policy.ask()
    policy.settle(settled, 0.3)
    policy.reward(rewarded, 0.75)
    before = everything(policy)
    assert policy.settle(settled, "0.30") is True
    policy.reward(rewarded, 0.75)
    assert everything(policy) == before
    message = refused(policy, Conflict, policy.settle, settled, 0.4)
    assert message == (
        "ticket 1 was settled before: cost 0.3; the first report stands, and this one is refused: "
        "cost 0.4"
    )
    assert "rewarded before: reward 0.75; the first report stands" in refused(
        policy, Conflict, policy.reward, rewarded, 0.5
    )
    assert "refused: reward 1.0, cost 0.4" in refused(
        policy, Conflict, policy.tell, settled, 1, 0.4
    )
    refused(policy, Conflict, policy.tell, rewarded, 0.5, 0.4)
    assert policy.tell(settled, 1, 0.3)
    assert policy.tell(rewarded, 0.75, 0.4)
    assert (policy.spent, policy.gain, policy.tickets, policy._parts) == (0.7, 1.75, [], {})


def test_a_whole_report_on_a_part_teaches_the_same() -> None:
    whole, apart = make("exp3++.bwk"), make("exp3++.bwk")
    for turn in range(8):
        ticket, _ = apart.ask(), whole.ask()
        _ = apart.settle(ticket, 0.4) if turn % 2 else apart.reward(ticket, turn / 10)
        assert apart.tell(ticket, turn / 10, 0.4)
        assert whole.tell(ticket, turn / 10, 0.4)
    assert everything(whole) == everything(apart)


def test_a_settled_ticket_is_not_voided_and_does_not_fail() -> None:
    policy = make()
    ticket = policy.ask()
    policy.settle(ticket, 0.3)
    assert refused(policy, Conflict, policy.void, ticket).endswith("is refused: void")
    assert refused(policy, Conflict, policy.fail, ticket, 0.3).endswith("failed, cost 0.3")
    policy.reward(ticket, 1)
    refused(policy, TicketError, policy.fail, ticket)


@pytest.mark.parametrize("end", ["fail", "void"])
def test_nothing_is_learnt_from_a_rewarded_ticket_that_ends_without_a_pull(end: str) -> None:
    policy = make("exp3.bwk")
    ticket = policy.ask()
    before = bits(policy)
    policy.reward(ticket, 1)
    _ = policy.fail(ticket, 0.05) if end == "fail" else policy.void(ticket)
    assert (bits(policy), policy.gain, policy.tickets, policy._parts) == (before, 0.0, [], {})
    assert policy.spent == (0.05 if end == "fail" else 0)


# bad values


@pytest.mark.parametrize("stop", STOP_RULES)
@pytest.mark.parametrize("known", ["nothing", "cost", "reward"])
def test_bad_values_are_named_and_change_nothing(known: str, stop: str) -> None:
    policy = make(stop=stop)
    ticket = policy.ask()
    if known == "cost":
        policy.settle(ticket, 0.5)
    elif known == "reward":
        policy.reward(ticket, 0.5)
    rewards: list[Any] = [-1e-9, 1.5, math.nan, math.inf, None, "0.5", {}, [0.5, 0.5], []]
    for reward in rewards:
        message = refused(policy, InvalidInput, policy.reward, ticket, reward)
        assert message.startswith("reward=")
        assert "must" in message
    for cost in ("1.000000001", -0.5, math.nan, None, True, "free", "0.1234567891", [0.5, 0.5], []):
        for call in (policy.settle, policy.fail):
            message = refused(policy, InvalidInput, call, ticket, cost)
            assert message.startswith("cost=")
            assert "must" in message
    for cost in (0, "0.099999999"):
        assert refused(policy, InvalidInput, policy.settle, ticket, cost) == (
            f"cost={cost!r}: must lie between 0.1 and 1 for arm {ticket.arm}"
        )
    assert refused(policy, InvalidInput, policy.fail, ticket, 2) == (
        f"cost=2: must lie between 0 and 1 for arm {ticket.arm}"
    )
    for report in ((2, 0.5), (math.nan, 0.5), (0.5, 0.05), (0.5, 2)):
        refused(policy, InvalidInput, policy.tell, ticket, *report)
    assert policy.tell(ticket, 0.5, 0.5)


def test_what_is_no_open_ticket_is_refused() -> None:
    policy = make()
    ticket = policy.ask()
    finished = policy.ask()
    policy.tell(finished, 1, 0.5)
    others: list[Any] = [finished, ticket._replace(t=7), ticket._replace(id=9), 1, None]
    for wrong in others:
        refused(policy, TicketError, policy.settle, wrong, 0.5)
        refused(policy, TicketError, policy.reward, wrong, 0.5)
        refused(policy, TicketError, policy.fail, wrong)


# failures


@pytest.mark.parametrize("stop", STOP_RULES)
@pytest.mark.parametrize("cost", [0, "0.000000001", 0.05, 1])
def test_a_failure_pays_its_cost_and_teaches_nothing(cost: Any, stop: str) -> None:
    policy = make(stop=stop)
    ticket = policy.ask()
    before = bits(policy)
    assert policy.fail(ticket, cost) is True
    assert (policy.spent, policy.held, policy.left) == (float(cost), 0, 10 - float(cost))
    assert (bits(policy), policy.gain, policy.tickets, policy.t) == (before, 0.0, [], 1)
    assert policy.ask().t == 2


def test_a_failure_may_cost_something_in_each_play_and_resource() -> None:
    policy = make("uniform", plays=2, n_resources=2, budget=[10, 5])
    policy.fail(policy.ask(), [[0.1, 0], [0, 0.4]])
    assert (policy.spent, policy.held) == ([0.1, 0.4], [0, 0])
    policy.fail(policy.ask())
    assert policy.spent == [0.1, 0.4]
    ticket = policy.ask()
    refused(policy, InvalidInput, policy.fail, ticket, 0.1)
    refused(policy, InvalidInput, policy.fail, ticket, [[0.1, 0], [0, 1.1]])


@pytest.mark.parametrize("stop", STOP_RULES)
def test_an_initial_pull_that_failed_is_asked_for_again(stop: str) -> None:
    policy = make("exp3++.bwk", stop=stop)
    first = [policy.ask() for _ in range(3)]
    policy.fail(first[1], 0.05)
    again = policy.ask()
    assert again[1:4] == first[1][1:4]
    assert again.id == 4
    policy.settle(again, 0.5)  # its cost is known: it waits for its reward, and does not come again
    assert policy.ask().t == 4


# rules that hold nothing


@pytest.mark.parametrize("verb", ["settle", "reward and settle", "fail"])
def test_exit_ends_the_game_at_a_part_that_does_not_fit(verb: str) -> None:
    policy, told = make(budget=1, stop="exit"), make(budget=1, stop="exit")
    for each in (policy, told):
        each.tell(each.ask(), 1, 0.6)
    ticket = policy.ask()
    assert not told.tell(told.ask(), 1, 0.6)
    if verb == "reward and settle":
        policy.reward(ticket, 1)
    assert (policy.fail if verb == "fail" else policy.settle)(ticket, 0.6) is False
    assert everything(policy) == everything(told)
    assert refusal(BudgetExhausted, policy.ask) == policy.over
    refusal(TicketError, policy.reward, ticket, 1)


@pytest.mark.parametrize("verb", ["settle", "reward and settle", "fail"])
def test_retry_brings_another_arm_for_a_part_that_does_not_fit(verb: str) -> None:
    policy, told = (make("uniform", n_arms=4, plays=2, budget=1, stop="retry") for _ in range(2))
    ticket, _ = policy.ask(), told.ask()
    if verb == "reward and settle":
        policy.reward(ticket, [1, 1])
    report = policy.fail if verb == "fail" else policy.settle
    assert report(ticket, [0.3, 0.9]) is False
    assert not told.tell(ticket, [1, 1], [0.3, 0.9])
    assert everything(policy) == everything(told)
    again, _ = policy.ask(), told.ask()
    assert again.arms[0] == ticket.arms[0]
    assert policy.settle(again, [0.3, 0.7])
    assert policy.left == 0
    policy.reward(again, [1, 1])
    assert told.tell(again, [1, 1], [0.3, 0.7])
    assert everything(policy) == everything(told)


@pytest.mark.parametrize("stop", NOT_HOLDING)
def test_a_settled_cost_is_gone_before_its_reward_comes(stop: str) -> None:
    policy = make(budget=1, stop=stop)
    settled, late = policy.ask(), policy.ask()
    assert policy.settle(settled, 0.6)
    assert policy.tell(late, 1, 0.5) is False
    policy.reward(settled, 1)
    assert (policy.spent, policy.gain) == (0.6, 1.0)


# the durable sibling


@pytest.mark.parametrize("stop", HOLDING)
@pytest.mark.parametrize("name", ["exp3++.bwk", "exp3.bwk", "uniform", "ucb-bv1"])
def test_a_campaign_with_the_same_calls_draws_the_same(name: str, stop: str) -> None:
    policy = make(name, budget=30, cost_max=[1, 2, 1], seed=7, stop=stop)
    campaign = Campaign.create(
        "twin",
        arms=["a", "b", "c"],
        budget=30,
        cost_min=0.1,
        cost_max=[1, 2, 1],
        policy=name,
        seed=7,
        stop=stop,
        cooldown=None,
        storage=f"memory:live-{name}-{stop}",
    )
    late: list[Ticket] = []
    for turn in range(30):
        ticket, twin = policy.ask(), campaign.ask()
        assert (ticket.id, ticket.t, ticket.probabilities) == (twin.id, twin.t, twin.probabilities)
        assert campaign.terms.arms[ticket.arm] == twin.arm
        verbs: dict[int, list[tuple[str, tuple[Any, ...]]]] = {
            0: [("settle", (0.5,))],
            1: [("reward", (0.25,)), ("settle", ("0.75",))],
            2: [("fail", (0.05,))],
            3: [("settle", (0.3,)), ("reward", (1,))],
            4: [("reward", (0.5,)), ("tell", (0.5, 0.2))],
            5: [("fail", ())],
            6: [("settle", (0.9,)), ("tell", (0.75, 0.9))],
            7: [("void", ())],
        }
        for verb, values in verbs[turn % 8]:
            for live in (policy, campaign):
                getattr(live, verb)(ticket if live is policy else twin, *values)
        late += [ticket] if turn % 8 == 0 else []
        if turn % 8 == 5:
            waiting = late.pop(0)
            policy.reward(waiting, 0.8)
            campaign.reward(waiting.id, 0.8)
        (purse,) = campaign.status().purses
        assert [str(purse.spent), str(purse.held)] == [
            f"{units / 10**9:.9f}".rstrip("0").rstrip(".")
            for units in (policy.spent_units[0], policy.held_units[0])
        ]


# files


@pytest.mark.parametrize("stop", STOP_RULES)
@pytest.mark.parametrize("name", LIVE)
def test_a_file_keeps_the_parts(name: str, stop: str, tmp_path: Path) -> None:
    policy = make(name, stop=stop)
    settled, rewarded, plain = (policy.ask() for _ in range(3))
    policy.settle(settled, 0.3)
    policy.reward(rewarded, 0.1 + 0.2)
    path = tmp_path / "policy.npz"
    policy.save(path)
    loaded = Policy.load(path)
    assert everything(loaded) == everything(policy)
    for live in (policy, loaded):
        refused(live, Conflict, live.settle, settled, 0.4)
        refused(live, Conflict, live.reward, rewarded, 0.3)
        refused(live, Conflict, live.void, settled)
        live.reward(settled, 0.9)
        live.settle(rewarded, 0.7)
        live.tell(plain, 1, 0.5)
    assert everything(loaded) == everything(policy)
    assert loaded.spent == 1.5


def test_several_plays_and_resources_survive_a_file(tmp_path: Path) -> None:
    policy = make("uniform", plays=2, n_resources=2, budget=[10, 5])
    ticket = policy.ask()
    policy.settle(ticket, [[0.1, 0.2], [0.3, 0.4]])
    policy.save(tmp_path / "policy.npz")
    loaded = Policy.load(tmp_path / "policy.npz")
    assert everything(loaded) == everything(policy)
    loaded.reward(ticket, [1, 0])
    assert (loaded.spent, loaded.gain) == ([0.4, 0.6], 1.0)


# threads


@pytest.mark.parametrize("stop", STOP_RULES)
def test_threads_may_report_in_parts(stop: str) -> None:
    policy = make("exp3++.bwk", budget=60, stop=stop)

    def play(kind: int) -> None:
        for turn in range(30):
            ticket = policy.ask()
            match (kind + turn) % 4:
                case 0:
                    policy.settle(ticket, 0.5)
                    policy.reward(ticket, 1)
                case 1:
                    policy.reward(ticket, 1)
                    policy.settle(ticket, 0.5)
                case 2:
                    policy.tell(ticket, 1, 0.5)
                case 3:
                    policy.fail(ticket, 0.25)
            assert min(policy.spent_units[0], policy.held_units[0], policy.left_units[0]) >= 0

    with ThreadPoolExecutor(4) as pool:
        for future in [pool.submit(play, kind) for kind in range(4)]:
            future.result()
    assert policy.tickets == []
    assert policy._parts == {}
    assert (policy.gain, policy.spent) == (90.0, 52.5)


def test_two_threads_that_bring_one_part_each_tell_once() -> None:
    policy = make("exp3++.bwk", budget=200)
    tickets = [policy.ask() for _ in range(200)]
    with ThreadPoolExecutor(2) as pool:
        costs = pool.submit(lambda: [policy.settle(ticket, 0.5) for ticket in tickets])
        rewards = pool.submit(lambda: [policy.reward(ticket, 1) for ticket in reversed(tickets)])
        costs.result()
        rewards.result()
    assert (policy.tickets, policy._parts) == ([], {})
    assert (policy.gain, policy.spent) == (200.0, 100.0)
