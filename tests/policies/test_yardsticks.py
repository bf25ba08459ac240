"""The yardsticks: `uniform`, `fixed` and `oracle`."""

from typing import Any

import pytest

import purse
from purse import worlds
from purse.engine.job import make_job
from tests.support.knapsack_learners import pairs_come_equally_often


@pytest.mark.parametrize(
    ("policy", "chances"),
    [("uniform", [0.25] * 4), ("fixed:arm=1", [0, 1, 0, 0]), ("fixed", [1, 0, 0, 0])],
)
def test_three_rounds_by_hand(policy: str, chances: list[float]) -> None:
    live = purse.Policy(policy, n_arms=4, budget=10, cost_min=0.5)
    for reward in (1, 0, 0.5):
        assert live.probabilities().tolist() == chances
        ticket = live.ask()
        assert ticket.probability == chances[ticket.arm]
        live.tell(ticket, reward, 0.5)


def test_every_pair_of_arms_is_equally_likely_with_two_plays() -> None:
    live = purse.Policy("uniform", n_arms=4, budget=10, cost_min=0.5, plays=2, stop="exit")
    assert live.probabilities().tolist() == [0.5, 0.5, 0.5, 0.5]
    pairs_come_equally_often(live)


def test_all_arms_as_plays() -> None:
    live = purse.Policy("uniform", n_arms=2, budget=100, cost_min=0.5, plays=2)
    assert [live.ask().arms for _ in range(20)] == [(0, 1)] * 20


def test_with_several_plays_the_next_arms_round_the_circle() -> None:
    live = purse.Policy("fixed:arm=3", n_arms=4, budget=10, cost_min=0.5, plays=2)
    ticket = live.ask()
    assert ticket.arms == (3, 0)
    assert ticket.probabilities == (1.0, 1.0)
    assert live.probabilities().tolist() == [1.0, 0.0, 0.0, 1.0]


def ranked(world: purse.lab.World, budget: Any = 10) -> list[int]:
    return make_job("oracle", world, budget=budget).params.arms.tolist()


@pytest.mark.parametrize(
    ("rewards", "costs", "budget", "told", "pulls"),
    [
        # efficiencies 1.125, 2 and 0.8
        ([0.9, 0.6, 0.4], [0.8, 0.3, 0.5], 0.9, {}, [0, 3, 0]),
        ([0.9, 0.6, 0.4], [0.8, 0.3, 0.5], 3.3, {"plays": 2}, [3, 3, 0]),
        # rule `fit` masks arms that the rest cannot pay: 1.1 after arm 1 is 0.4, after arm 0 it is
        # 0.1
        ([0.3, 1, 0.05], [0.3, 0.7, 0.1], 1.1, {"stop": "fit"}, [1, 1, 1]),
        ([1], [0.5], 2, {}, [4]),
    ],
)
def test_rounds_by_hand(
    rewards: list[float], costs: list[float], budget: float, told: Any, pulls: list[int]
) -> None:
    world = worlds.function("bernoulli")(rewards, costs)
    run = purse.simulate("oracle", world, budget, n_paths=5, **told)
    assert run.pulls.tolist() == [pulls] * 5


def test_ranks_by_mean_reward_per_mean_cost_and_of_equal_arms_the_first() -> None:
    assert ranked(worlds.function("misleading_ratio")()) == [1, 0]
    assert ranked(worlds.function("bernoulli")([0.9, 0.6, 0.4], [0.8, 0.3, 0.5])) == [1, 0, 2]
    assert ranked(worlds.function("bernoulli")([0.2, 0.6, 0.6], [0.5, 0.5, 0.5])) == [1, 2, 0]


@pytest.mark.parametrize(("budget", "best"), [([10, 1], 0), ([1, 10], 1)])
def test_with_two_resources_the_one_counts_that_a_pull_takes_most_of_its_budget_of(
    budget: list[float], best: int
) -> None:
    world = worlds.function("bernoulli")([1, 1], [[0.5, 0.1], [0.1, 0.5]])
    assert ranked(world, budget) == [best, 1 - best]


@pytest.mark.parametrize(
    "world",
    [
        "two_worlds:cost_min=0.5",
        "switching:segments=10,rewards=[[1,0],[0,1]],costs=[.5,.5]",
        "table:rewards=[[1,0],[0,1]],costs=[.5,.5]",
    ],
)
def test_refuses_a_world_whose_means_change(world: str) -> None:
    with pytest.raises(
        purse.InvalidInput,
        match=r"^oracle needs the true mean efficiency of each arm, which only a simulated "
        r"world .* can tell$",
    ):
        purse.simulate("oracle", world, budget=10)


def test_refuses_a_live_problem() -> None:
    with pytest.raises(purse.InvalidInput, match=r"^oracle needs the true mean efficiency"):
        purse.Policy("oracle", n_arms=2, budget=10, cost_min=0.5)
