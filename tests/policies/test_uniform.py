from __future__ import annotations

import numpy as np

import purse
from purse import worlds
from tests.support.knapsack_learners import pairs_come_equally_often


def test_three_rounds_by_hand() -> None:
    live = purse.Policy("uniform", n_arms=4, budget=10, cost_min=0.5)
    for reward in (1, 0, 0.5):
        assert live.probabilities().tolist() == [0.25, 0.25, 0.25, 0.25]
        ticket = live.ask()
        assert ticket.probability == 0.25
        live.tell(ticket, reward, 0.5)


def test_arms_come_equally_often() -> None:
    world = worlds.function("bernoulli")([0.9, 0.1, 0.5], [0.5, 0.5, 0.5])
    run = purse.simulate("uniform", world, budget=5000, n_paths=4)
    n = run.pulls.sum()
    assert n == 40_000
    assert (np.abs(run.pulls.sum(axis=0) - n / 3) < 4 * np.sqrt(n * (1 / 3) * (2 / 3))).all()


def test_every_pair_of_arms_is_equally_likely_with_two_plays() -> None:
    live = purse.Policy("uniform", n_arms=4, budget=10, cost_min=0.5, plays=2, stop="exit")
    assert live.probabilities().tolist() == [0.5, 0.5, 0.5, 0.5]
    pairs_come_equally_often(live)


def test_all_arms_as_plays() -> None:
    live = purse.Policy("uniform", n_arms=2, budget=100, cost_min=0.5, plays=2)
    assert [live.ask().arms for _ in range(20)] == [(0, 1)] * 20
