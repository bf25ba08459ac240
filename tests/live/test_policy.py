from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest

from purse import BudgetExhausted, InvalidInput, Policy
from purse.errors import HorizonReached
from tests.support.live_policies import LIVE, exp3, make, refusal
from tests.support.paths import LEAST_PENDING

# the face of it


def test_a_ticket_says_what_was_drawn_and_what_is_held() -> None:
    policy = make(cost_max=2.5)
    chances = policy.probabilities()
    ticket = policy.ask()
    assert (ticket.t, ticket.arms) == (1, (ticket.arm,))
    assert ticket.probabilities == (ticket.probability,)
    assert ticket.probability == chances[ticket.arm]
    assert (ticket.held, ticket.held_units) == (2.5, (2_500_000_000,))
    assert policy.tickets == [ticket]
    assert (policy.left, policy.held, policy.spent) == (7.5, 2.5, 0.0)


def test_a_report_releases_the_hold_and_pays_the_cost() -> None:
    policy = make()
    assert policy.tell(policy.ask(), reward=0.75, cost="0.3") is True
    assert (policy.left, policy.held, policy.spent, policy.gain) == (9.7, 0.0, 0.3, 0.75)
    assert policy.tickets == []
    assert (policy.left_units, policy.spent_units) == ([9_700_000_000], [300_000_000])


@pytest.mark.parametrize("stop", ["exit", "retry"])
def test_nothing_is_held_where_the_rule_is_not_hold(stop: str) -> None:
    policy = make(stop=stop)
    assert policy.ask().held_units == (0,)
    assert (policy.held, policy.left) == (0.0, 10.0)


@pytest.mark.parametrize("name", LIVE)
def test_probabilities_are_those_of_the_tickets_and_sum_to_one(name: str) -> None:
    policy = make(name, budget=40)
    for turn in range(30):
        chances = policy.probabilities()
        assert chances.sum() == pytest.approx(1, abs=1e-12)
        assert (chances >= 0).all()
        ticket = policy.ask()
        assert ticket.probability == pytest.approx(chances[ticket.arm], rel=1e-12)
        policy.tell(ticket, reward=turn % 3 / 2, cost=(turn % 9 + 1) / 10)


def test_looking_at_probabilities_changes_nothing() -> None:
    looked_at, left_alone = make("exp3++.bwk"), make("exp3++.bwk")
    for _ in range(8):
        looked_at.probabilities()
        looked_at.probabilities()[:] = 0
        tickets = looked_at.ask(), left_alone.ask()
        assert tickets[0] == tickets[1]
        assert looked_at.tell(tickets[0], 1, 0.5)
        assert left_alone.tell(tickets[1], 1, 0.5)


def test_the_seed_decides_the_arms() -> None:
    def arms(seed: int) -> list[int]:
        policy = make("uniform", n_arms=4, budget=100, seed=seed)
        return [policy.ask().arm for _ in range(50)]

    assert arms(3) == arms(3)
    assert arms(3) != arms(4)


@pytest.mark.parametrize("name", LIVE)
def test_one_arm_is_always_pulled(name: str) -> None:
    policy = make(name, n_arms=1, budget=3, cost_min=1)
    assert policy.probabilities().tolist() == [1.0]
    for t in (1, 2, 3):
        ticket = policy.ask()
        assert (ticket.t, ticket.arm, ticket.probability) == (t, 0, 1.0)
        assert policy.tell(ticket, 0.5, 1)
    refusal(BudgetExhausted, policy.ask)


# late reports


@pytest.mark.parametrize("order", list(permutations(range(4))), ids=str)
def test_reports_in_any_order_teach_the_same(order: tuple[int, ...]) -> None:
    policy = make("exp3.bwk:gamma=0.4", cost_min=0.5, cost_max=2)
    tickets = [policy.ask() for _ in order]
    reports = [(ticket, 0.2 + 0.2 * i, 0.5 + 0.5 * i) for i, ticket in enumerate(tickets)]
    for i in order:
        assert policy.tell(*reports[i])
    assert policy.probabilities().tolist() == pytest.approx(
        exp3(reports, n_arms=3, gamma=0.4, c_min=0.25, cost_max=2), rel=1e-12
    )


def test_each_report_learns_with_the_probability_that_its_ticket_was_drawn_with() -> None:
    policy = make("exp3.bwk:gamma=0.5", cost_min=1, budget=100)
    reports = []
    early = [policy.ask() for _ in range(6)]
    for ticket in early[::2]:
        reports.append((ticket, 1.0, 1.0))
        policy.tell(*reports[-1])
    late = [policy.ask() for _ in range(6)]
    assert {ticket.probability for ticket in early}.isdisjoint(
        ticket.probability for ticket in late
    )
    for ticket in [*reversed(late), *early[1::2]]:
        reports.append((ticket, 0.8, 1.0))
        policy.tell(*reports[-1])
    assert policy.probabilities().tolist() == pytest.approx(
        exp3(reports, n_arms=3, gamma=0.5, c_min=1, cost_max=1), rel=1e-12
    )


def test_what_is_asked_between_two_reports_does_not_matter() -> None:
    quiet, busy = make(cost_min=0.5, budget=100), make(cost_min=0.5, budget=100)
    pairs = [(quiet.ask(), busy.ask()) for _ in range(6)]
    for i in (4, 0, 5, 2, 1, 3):
        busy.ask()
        busy.void(busy.ask())
        for policy, ticket in zip((quiet, busy), pairs[i], strict=True):
            assert policy.tell(ticket, i / 5, 0.5 + i / 10)
        assert quiet.probabilities().tobytes() == busy.probabilities().tobytes()


def test_a_late_report_to_exp3pp_adds_its_loss_over_its_own_probability() -> None:
    policy = make("exp3++.bwk", n_arms=2, cost_min=0.5, budget=100)
    for _ in range(2):
        policy.tell(policy.ask(), 0.5, 1)
    early, losses = policy.ask(), [0.0, 0.0]
    for _ in range(20):
        ticket = policy.ask()
        policy.tell(ticket, float(ticket.arm), 0.5)
        losses[ticket.arm] += (2 - ticket.arm / 0.5) / ticket.probability
    assert early.probability != policy.probabilities()[early.arm]
    policy.tell(early, 0.25, 0.5)
    losses[early.arm] += (2 - 0.5) / early.probability
    root = math.sqrt(math.log(2) / (2 * (policy.t + 1)))
    weights = [math.exp(-0.25 * root * loss) for loss in losses]
    expected = [(1 - root) * weight / sum(weights) + root / 2 for weight in weights]
    assert policy.probabilities().tolist() == pytest.approx(expected, rel=1e-9)


# voids


def test_voided_initial_pulls_are_asked_for_again() -> None:
    policy = make("exp3++.bwk")
    first = [policy.ask() for _ in range(3)]
    facts = [(ticket.t, ticket.arm, ticket.probability) for ticket in first]
    assert facts == [(1, 0, 1.0), (2, 1, 1.0), (3, 2, 1.0)]
    for ticket in (first[2], first[0]):
        policy.void(ticket)
    assert policy.probabilities().max() == 1.0
    again = [policy.ask() for _ in range(2)]
    assert {(ticket.t, ticket.arm, ticket.probability) for ticket in again} == {*facts[::2]}
    assert {ticket.id for ticket in again}.isdisjoint(ticket.id for ticket in first)
    assert policy.t == 3
    for ticket in [first[1], *again]:
        policy.tell(ticket, 0.5, 0.5)
    later = policy.ask()
    assert (later.t, later.probability < 1) == (4, True)


@pytest.mark.parametrize("name", ["exp3++.bwk", "exp3++.price"])
def test_a_voided_initial_pull_comes_again_until_it_is_told(name: str) -> None:
    policy, told = make(name), []
    for voids in (3, 0, 2):
        for _ in range(voids):
            policy.void(policy.ask())
        ticket = policy.ask()
        policy.tell(ticket, 0.5, 0.5)
        told.append(ticket.arm)
    assert told == [0, 1, 2]
    assert policy.t == 3


@pytest.mark.parametrize("name", LIVE)
def test_a_voided_later_pull_is_dropped(name: str) -> None:
    policy = make(name, budget=20)
    for _ in range(5):
        policy.tell(policy.ask(), 0.5, 0.3)
    ticket = policy.ask()
    chances, left = policy.probabilities(), policy.left_units[0]
    policy.void(ticket)
    assert policy.probabilities().tobytes() == chances.tobytes()
    assert policy.left_units == [left + ticket.held_units[0]]
    assert policy.gain == 2.5
    assert policy.ask().t == ticket.t + 1


def test_a_voided_initial_pull_can_be_asked_for_after_the_horizon() -> None:
    policy = make("exp3++.bwk", n_arms=2, horizon=2)
    ticket = policy.ask()
    policy.ask()
    refusal(HorizonReached, policy.ask)
    policy.void(ticket)
    assert (policy.ask().t, policy.t) == (1, 2)
    refusal(HorizonReached, policy.ask)


def test_threads_may_ask_and_tell_at_once() -> None:
    policy = make(budget="50")

    def spend() -> int:
        paid = 0
        while True:
            try:
                ticket = policy.ask()
            except BudgetExhausted:
                if not policy.tickets:
                    return paid
                continue
            paid += policy.tell(ticket, 0.5, 0.5)

    with ThreadPoolExecutor(4) as pool:
        paid = sum(future.result() for future in [pool.submit(spend) for _ in range(4)])
    assert paid * 500_000_000 == policy.spent_units[0] <= 50_000_000_000
    assert paid == policy.t == 99
    assert policy.tickets == []


def test_a_policy_shows_what_it_has() -> None:
    assert repr(make()) == "<Policy exp3.bwk: round 0, spent 0.0, held 0.0, left 10.0, stop=hold>"


# masks


def test_probabilities_are_those_of_the_allowed_arms() -> None:
    live = make()
    assert live.probabilities([0, 2]).tolist() == [0.5, 0, 0.5]
    assert live.probabilities().tolist() == pytest.approx([1 / 3] * 3)
    ticket = live.ask(arms=[1])
    assert (ticket.arm, ticket.probability) == (1, 1.0)


@pytest.mark.parametrize("arms", [[], [3], [-1], ["a"], [0.5]])
def test_a_bad_list_is_refused_and_nothing_changes(arms: list[object]) -> None:
    live = make()
    with pytest.raises(InvalidInput, match="arms="):
        live.ask(arms)
    assert (live.t, live.left) == (0, 10)


def test_an_arm_that_is_not_allowed_keeps_its_initial_pull() -> None:
    live = make("c-ucb")
    tickets = [live.ask([1, 2]), live.ask([1, 2]), live.ask([1, 2]), live.ask(), live.ask()]
    assert [ticket.arm for ticket in tickets[:2]] == [1, 2]
    assert tickets[2].arm in (1, 2)
    assert tickets[3].arm == 0


def test_a_voided_initial_pull_comes_again_when_its_arm_is_allowed() -> None:
    live = make("c-ucb")
    live.void(live.ask())
    assert live.probabilities([1, 2]).tolist() == [0, 1, 0]
    assert live.ask([1, 2]).arm == 1
    again = live.ask()
    assert (again.arm, again.t) == (0, 1)


def test_fit_leaves_out_what_does_not_fit_and_ends_when_nothing_does() -> None:
    live = make("fixed:arm=0", budget=9, cost_max=[5, 3, 2], stop="fit")
    arms = []
    while live.left > 1:
        ticket = live.ask()
        arms.append(ticket.arm)
        live.tell(ticket, 1, [4, 3, 2][ticket.arm])
    with pytest.raises(BudgetExhausted, match="no allowed arm fits: 1 is left"):
        live.ask()
    assert arms == [0, 0]
    assert live.spent == 8


def test_a_held_fit_is_refused_until_something_comes_back() -> None:
    live = make("uniform", budget=5, cost_max=5, stop="fit")
    ticket = live.ask()
    with pytest.raises(BudgetExhausted, match="no allowed arm fits: 0 is left; open tickets"):
        live.ask()
    live.void(ticket)
    assert live.ask().held == 5


def test_pending_counts_open_tickets(tmp_path: Path) -> None:
    live = make(LEAST_PENDING)
    first, second, third = (live.ask() for _ in range(3))
    assert [ticket.arm for ticket in (first, second, third)] == [0, 1, 2]
    live.void(second)
    assert live.ask().arm == 1
    live.tell(third, 1, 0.5)
    saved = tmp_path / "saved.npz"
    live.save(saved)
    loaded = Policy.load(saved, allow_policy_file=True)
    assert loaded.ask().arm == live.ask().arm == 2


def test_a_masked_game_survives_a_file(tmp_path: Path) -> None:
    live, saved = make("c-ucb", stop="retry", budget=3), tmp_path / "saved.npz"
    live.ask([1])
    live.save(saved)
    again = Policy.load(saved)
    assert [again.ask().arm for _ in range(2)] == [live.ask().arm for _ in range(2)] == [0, 2]
    assert np.array_equal(again.probabilities([1, 2]), live.probabilities([1, 2]))
