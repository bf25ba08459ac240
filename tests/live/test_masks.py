"""Masks in a live policy: `ask(arms=...)`, initial pulls, voids, pending tickets."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import purse
from tests.support.live_policies import make
from tests.support.paths import LEAST_PENDING


def test_probabilities_are_those_of_the_allowed_arms() -> None:
    live = make()
    assert live.probabilities([0, 2]).tolist() == [0.5, 0, 0.5]
    assert live.probabilities().tolist() == pytest.approx([1 / 3] * 3)
    ticket = live.ask(arms=[1])
    assert (ticket.arm, ticket.probability) == (1, 1.0)


@pytest.mark.parametrize("arms", [[], [3], [-1], ["a"], [0.5]])
def test_a_bad_list_is_refused_and_nothing_changes(arms: list[object]) -> None:
    live = make()
    with pytest.raises(purse.InvalidInput, match="arms="):
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
    with pytest.raises(purse.BudgetExhausted, match="no allowed arm fits: 1 is left"):
        live.ask()
    assert arms == [0, 0]
    assert live.spent == 8


def test_a_held_fit_is_refused_until_something_comes_back() -> None:
    live = make("uniform", budget=5, cost_max=5, stop="fit")
    ticket = live.ask()
    with pytest.raises(purse.BudgetExhausted, match="no allowed arm fits: 0 is left; open tickets"):
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
    loaded = purse.Policy.load(saved, allow_policy_file=True)
    assert loaded.ask().arm == live.ask().arm == 2


def test_a_masked_game_survives_a_file(tmp_path: Path) -> None:
    live, saved = make("c-ucb", stop="retry", budget=3), tmp_path / "saved.npz"
    live.ask([1])
    live.save(saved)
    again = purse.Policy.load(saved)
    assert [again.ask().arm for _ in range(2)] == [live.ask().arm for _ in range(2)] == [0, 2]
    assert np.array_equal(again.probabilities([1, 2]), live.probabilities([1, 2]))
