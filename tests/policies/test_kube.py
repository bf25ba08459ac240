from __future__ import annotations

import math
from random import Random

import numpy as np
import pytest

import purse
from purse import worlds
from purse.compiler.jit import bind
from purse.kernels import greedy_knapsack
from purse.lab.theory import knapsack
from purse.types import Floats, Ints, Problem
from tests.support.known_costs import (
    COSTS,
    COSTS_10,
    REWARDS,
    PlainKube,
    greedy,
    live_for,
    one_arm,
    play_out,
)
from tests.support.policies import follows, tell_all


def test_rounds_by_hand() -> None:
    live = live_for("kube", [0.4, 0.3], 3)
    assert live.probabilities().tolist() == [1, 0]
    assert tell_all(live, (1, 0.4), (0, 0.3)) == [0, 1]
    # t = 3: 2.3 is left; sqrt(2 ln 2 / 1) = 1.177, D = ((1 + 1.177) / 0.4, 1.177 / 0.3) = (5.44,
    # 3.92): 5 times 0.4 leave 0.3, once 0.3
    assert live.probabilities().tolist() == pytest.approx([5 / 6, 1 / 6], abs=1e-15)
    assert tell_all(live, (0, 0.4)) == [0]
    # t = 4: 1.9 is left; D = ((0.5 + sqrt(2 ln 3 / 2)) / 0.4, sqrt(2 ln 3) / 0.3) = (1.548 / 0.4,
    # 1.482 / 0.3) = (3.87, 4.94): 6 times 0.3 leave 0.1
    assert live.probabilities().tolist() == [0, 1]
    assert tell_all(live, (1, 0.3)) == [1]
    # t = 5: 1.6 is left; the radius is sqrt(2 ln 4 / 2) = 1.177 for both, and so are the means: D =
    # (1.677 / 0.4, 1.677 / 0.3); 5 times 0.3 leave 0.1
    assert live.probabilities().tolist() == [0, 1]
    assert tell_all(live, (0, 0.3)) == [1]
    # t = 6: 1.3 is left; D = ((0.5 + sqrt(2 ln 5 / 2)) / 0.4, (1/3 + sqrt(2 ln 5 / 3)) / 0.3) =
    # (1.769 / 0.4, 1.369 / 0.3) = (4.42, 4.56): 4 times 0.3
    assert live.probabilities().tolist() == [0, 1]
    assert tell_all(live, (0, 0.3)) == [1]
    # t = 7: 1 is left; D = ((0.5 + sqrt(2 ln 6 / 2)) / 0.4, (1/4 + sqrt(2 ln 6 / 4)) / 0.3) =
    # (1.839 / 0.4, 1.197 / 0.3) = (4.60, 3.99): twice 0.4, 0.2 stay
    assert live.probabilities().tolist() == [1, 0]
    assert tell_all(live, (0, 0.4)) == [0]
    # t = 8: 0.6 is left; D = ((1/3 + sqrt(2 ln 7 / 3)) / 0.4, (1/4 + sqrt(2 ln 7 / 4)) / 0.3) =
    # (1.472 / 0.4, 1.236 / 0.3) = (3.68, 4.12): twice 0.3
    assert tell_all(live, (0, 0.3)) == [1]
    # t = 9: 0.3 is left: only arm 1 fits
    assert tell_all(live, (0, 0.3)) == [1]
    assert live.probabilities().tolist() == [0, 0]
    with pytest.raises(purse.AskRefused, match="kube has ended the game after 9 rounds"):
        live.ask()


@pytest.mark.parametrize("out", [1, 30])
@pytest.mark.parametrize(("costs", "budget"), [(COSTS, 2800.01), (COSTS_10, 3000)])
def test_follows_the_formula(costs: list[float], budget: float, out: int) -> None:
    world = worlds.function("bernoulli")(np.linspace(0.9, 0.3, len(costs)).tolist(), costs)
    follows("kube", PlainKube(costs, budget), world, 3000, out=out, budget=budget, costs=costs)


@pytest.mark.parametrize("seed", range(5))
def test_follows_the_formula_until_nothing_can_be_paid_for(seed: int) -> None:
    live = live_for("kube", COSTS_10, 60.01, seed=seed, stop="exit")
    rounds = play_out(live, PlainKube(COSTS_10, 60.01), COSTS_10, seed)
    assert sum(chances.max() < 1 for chances in rounds) > 20


def rank_and_fill(
    known: greedy_knapsack.KnownCosts,
    scores: Floats,
    order: Ints,
    pulls: Floats,
    left: int,
    counts: Floats,
) -> float:
    greedy_knapsack.rank(scores, order)
    return greedy_knapsack.fill(known, order, pulls, left, counts)


@pytest.mark.parametrize("capped", [False, True])
def test_the_filling_is_the_greedy_knapsack_wherever_the_sorting_starts(capped: bool) -> None:
    work, seen = bind(rank_and_fill), set()
    for seed in range(300):
        random = Random(seed)
        n_arms, left = random.randint(1, 12), random.randint(1, 10**12)
        costs = [random.randint(1, 10**9) for _ in range(n_arms)]
        scores = [random.randint(0, 5) / 4 for _ in range(n_arms)]  # many ties
        caps = [random.choice([0, 3, 100, 10**4, 10**18]) for _ in range(n_arms)]
        pulls = [random.choice([0, 1, 3, 200]) for _ in range(n_arms)]
        told = {"costs": [cost / 1e9 for cost in costs], "caps": caps if capped else None}
        known = greedy_knapsack.known_costs(
            Problem.of(n_arms=n_arms, budget=1, cost_min=1e-9, **told), "a test"
        )
        assert known.units.tolist() == costs
        room = [cap - pulled if capped else 10**18 for cap, pulled in zip(caps, pulls, strict=True)]
        for _ in range(3):
            order, counts = np.array(random.sample(range(n_arms), n_arms)), np.ones(n_arms)
            total = work(known, np.array(scores), order, np.array(pulls, float), left, counts)
            assert order.tolist() == sorted(range(n_arms), key=lambda i: (-scores[i], i))
            assert counts.tolist() == greedy(scores, costs, room, left)
            assert total == counts.sum()
            seen.add(int((counts > 0).sum()))
    assert {1, 2, 3, 4} <= seen


def test_amounts_are_exact() -> None:
    live = live_for("kube", [0.3, 0.1], 0.7, stop="exit")
    for reward in (0.9, 0.1):
        ticket = live.ask()
        live.tell(ticket, reward, [0.3, 0.1][ticket.arm])
    # 0.3 is left: in floats 0.3 / 0.1 = 2.9999999999999996. D_1 = 1.277 / 0.1 is larger: three
    # times, and nothing stays
    assert live.probabilities().tolist() == [0, 1]
    assert [live.tell(live.ask(), 1, 0.1) for _ in range(3)] == [True] * 3
    assert live.left_units == [0]


def test_arms_come_as_often_as_their_probabilities_say() -> None:
    world = worlds.function("bernoulli")([1, 0], [0.4, 0.3])
    # the third round by hand above: 5/6 and 1/6
    run = purse.simulate("kube", world, 3, horizon=3, n_paths=5000)
    assert abs((run.pulls[:, 0] == 2).sum() - 5000 * 5 / 6) < 4 * np.sqrt(5000 * 5 / 36)


@pytest.mark.parametrize(
    ("rewards", "costs", "budget"),
    [(REWARDS, COSTS, 10_000), ([0.9, 0.6, 0.5], [0.7, 0.5, 0.9], 3000)],
)
def test_comes_near_what_the_best_knapsack_gains(
    rewards: list[float], costs: list[float], budget: float
) -> None:
    run = purse.simulate("kube", worlds.function("bernoulli")(rewards, costs), budget, n_paths=20)
    # the bound of an index rule with this radius: sum_i 8 ln T / (e* c(i) - r(i)); what one
    # knapsack loses to the next is far less
    best = max(reward / cost for reward, cost in zip(rewards, costs, strict=True))
    bound = sum(
        8 * math.log(budget / min(costs)) / (best * c - r)
        for r, c in zip(rewards, costs, strict=True)
        if best * c - r > 1e-9
    )
    assert knapsack.exact(rewards, costs, budget) - run.gain.mean() < bound


def test_an_arm_without_a_report_comes_first() -> None:
    live = live_for("kube", [1, 0.5, 0.5], 10)
    tickets = [live.ask() for _ in range(3)]
    assert live.probabilities() == pytest.approx([1 / 3] * 3)
    live.tell(tickets[1], 1, 0.5)
    assert live.probabilities().tolist() == [0.5, 0, 0.5]
    live.tell(tickets[0], 0, 1)
    assert live.probabilities().tolist() == [0, 0, 1]


def test_an_arm_without_a_report_that_cannot_be_paid_for_is_left_out() -> None:
    live = live_for("kube", [1, 0.5], 2)
    tickets = [live.ask(), live.ask()]  # hold 1.5, and 0.5 is left
    assert live.probabilities().tolist() == [0, 1]
    live.tell(tickets[1], 1, 0.5)
    assert live.probabilities().tolist() == [0, 1]


def test_one_arm() -> None:
    one_arm("kube")
