from __future__ import annotations

import math

import pytest

import purse
from purse import worlds
from purse.kernels.horizon import rounds_of
from purse.policies import exp3
from tests.support.exp3_learners import (
    UNBOUNDED,
    PlainExp3,
    blind_to_costs,
    play,
    problem,
    random_edges,
    same_pulls,
    two_arms,
    world_of,
)
from tests.support.policies import follows, plays_two_resources, refuses


def test_rounds_by_hand() -> None:
    # T = 100 / 0.5 = 200, gamma = sqrt(2 ln 2 / ((e - 1) 200)) = 0.0635134
    play(
        two_arms("exp3"),
        ((1, 0.5), 1, 0.4851351),  # log w(1) = gamma / 2 * 1 / 0.5 = 0.0635134
        ((0.5, 0.8), 0, 0.4927934),  # log w(0) = gamma / 2 * 0.5 / p(0) = 0.0327298, blind to 0.8
        ((0, 1), 0, 0.4927934),  # a reward of 0 changes nothing
        ((1, 1), 1, 0.4781502),  # log w(1) += gamma / 2 * 1 / p(1) = 0.0626110
    )


@pytest.mark.parametrize(("n_arms", "gamma"), [(3, None), (10, None), (7, 0.5), (4, 1.0)])
@pytest.mark.parametrize("out", [1, 40])
def test_follows_the_formula(n_arms: int, gamma: float | None, out: int) -> None:
    # T = 2000 / 0.2
    ours = math.sqrt(n_arms * math.log(n_arms) / ((math.e - 1) * 10_000))
    policy, plain = f"exp3:gamma={gamma}" if gamma else "exp3", PlainExp3(n_arms, gamma or ours)
    follows(policy, plain, world_of(n_arms), 2000, out=out, budget=2000)


@pytest.mark.parametrize(
    ("changes", "rounds"),
    [
        ({}, 200),
        ({"budget": 10, "cost_min": 0.1}, 100),  # floats give 99.99 or 100.01 as easily
        ({"budget": 10.05, "cost_min": 0.1}, 101),
        ({"budget": 400, "cost_min": 2, "cost_max": 4}, 200),
        ({"horizon": 30}, 30),
        ({"horizon": 3000}, 3000),
        # the second resource runs out first
        ({"budget": [100, 60], "cost_min": [[0.5, 1], [1, 0.5]], "n_resources": 2}, 120),
        # and does not count where it may be left untouched
        ({"budget": [100, 60], "cost_min": [[0.5, 1], [1, 0]], "n_resources": 2}, 200),
    ],
)
def test_rounds_are_the_horizon_or_what_the_budget_pays_for(
    changes: dict[str, object], rounds: int
) -> None:
    assert rounds_of(problem(**changes), "exp3") == rounds


def test_refuses_where_no_number_of_rounds_is_known() -> None:
    with pytest.raises(
        purse.InvalidInput,
        match=r"^exp3 needs to know how many rounds there are: pass horizon=\.\.\.",
    ):
        exp3.params(problem(**UNBOUNDED))
    assert exp3.params(problem(**UNBOUNDED, horizon=200)) == exp3.params(problem())
    assert exp3.params(problem(**UNBOUNDED), gamma=0.25).gamma == 0.25


@pytest.mark.parametrize(
    ("changes", "gamma"),
    [
        ({}, 0.0635134),
        ({"budget": 0.5}, math.sqrt(2 * math.log(2) / (math.e - 1))),
        ({"n_arms": 10, "horizon": 3}, 1),
        ({"n_arms": 1}, 0),
    ],
)
def test_gamma_as_numbers(changes: dict[str, object], gamma: float) -> None:
    assert exp3.params(problem(**changes)).gamma == pytest.approx(gamma, abs=1e-7)


def test_regret_over_a_fixed_number_of_rounds_is_within_the_bound() -> None:
    world = worlds.function("bernoulli")([0.5, 0.8, 0.5, 0.5], [1, 1, 1, 1])
    run = purse.simulate("exp3", world, 10_000, n_paths=50)
    # expected regret is at most 2 sqrt((e - 1) 10^4 4 ln 4) = 617; learning nothing loses 2250
    error = 5 * run.gain.std(ddof=1) / math.sqrt(50)
    assert 8000 - run.gain.mean() < 617 + error


def test_edges_and_refusals() -> None:
    random_edges("exp3:gamma=0.3")
    blind_to_costs("exp3")
    same_pulls("exp3", "exp3.bwk")
    plays_two_resources("exp3")
    refuses(
        "exp3",
        *("gamma=2", "gamma=-0.1", "gamma=x", "gamma=True"),
        allowed="must be a number at least 0 and at most 1",
        fields=("plays",),
    )
