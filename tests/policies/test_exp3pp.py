from __future__ import annotations

import math
from typing import Any

import pytest

import purse
from purse import worlds
from tests.support.exp3_learners import (
    blind_to_costs,
    play,
    random_edges,
    same_pulls,
    two_arms,
    world_of,
)
from tests.support.exp3pp_learners import PlainExp3PlusPlus, written
from tests.support.policies import follows, plays_two_resources, refuses, tell_all


def test_rounds_by_hand() -> None:
    # in round t both eta and eps are sqrt(ln 2 / (2 t)) / 2: 0.1471763 in round 4, 0.1316384 in 5,
    # 0.1201689 in 6
    play(
        two_arms("exp3++"),
        ((1, 0.5), 0, 0),
        ((0, 1), 1, 0.5),  # the initial pulls do not enter the weights
        ((0.5, 0.8), 0, 0.4740831),  # L(0) = 0.5 / 0.5 = 1
        ((0, 0.5), 1, 0.5218301),  # L(1) = 1 / p(1) = 1.9014412
        ((0, 1), 0, 0.4768669),  # L(0) += 1 / p(0) = 1.9163326
    )


def test_a_gap_by_hand() -> None:
    live = purse.Policy("exp3++:alpha=0.01,beta=0.1", n_arms=2, budget=1000, cost_min=0.5, seed=0)
    tell_all(live, (1, 0.5), (0, 0.5))
    for _ in range(198):
        ticket = live.ask()
        live.tell(ticket, 1.0 - ticket.arm, 0.5)
    n0, n1 = live.state.pulls
    radius0, radius1 = (math.sqrt((0.01 * math.log(201) + math.log(2)) / (2 * n)) for n in (n0, n1))
    gap = (1 - radius1) - radius0  # mean losses are 0 and 1
    eps0, eps1 = 0.5 * math.sqrt(math.log(2) / 402), 0.1 * math.log(201) / (201 * gap**2)
    assert eps1 < eps0 / 2
    weight = math.exp(-0.5 * math.sqrt(math.log(2) / 402) * live.state.losses[1])
    assert live.probabilities()[1] == pytest.approx(
        (1 - eps0 - eps1) * weight / (1 + weight) + eps1, abs=1e-14
    )


@pytest.mark.parametrize(
    ("n_arms", "options"),
    [(2, {}), (3, {}), (10, {}), (3, {"beta": 0.01}), (3, {"alpha": 0.2, "beta": 0.1})],
)
@pytest.mark.parametrize("out", [1, 200])
def test_follows_the_formula(n_arms: int, options: dict[str, Any], out: int) -> None:
    plain = PlainExp3PlusPlus(n_arms, **options)
    follows(written("exp3++", options), plain, world_of(n_arms), 4000, out=out)
    assert (plain.rounds_with_a_gap > 2000) == bool(options)


def test_regret_over_a_fixed_number_of_rounds_is_within_the_bound() -> None:
    world = worlds.function("bernoulli")([0.5, 0.8, 0.5, 0.5], [1, 1, 1, 1])
    run = purse.simulate("exp3++", world, 10_000, n_paths=50)
    # expected regret is at most 4 sqrt(10^4 4 ln 4) + 4 = 946; learning nothing loses 2250
    error = 5 * run.gain.std(ddof=1) / math.sqrt(50)
    assert 8000 - run.gain.mean() < 946 + error


@pytest.mark.parametrize("options", ["", ":beta=0.01,alpha=0.2"])
def test_edges(options: str) -> None:
    random_edges(f"exp3++{options}")
    blind_to_costs(f"exp3++{options}")
    plays_two_resources(f"exp3++{options}")


def test_is_exp3pp_bwk_where_every_pull_costs_the_most_and_gaps_do_not_matter_yet() -> None:
    same_pulls("exp3++", "exp3++.bwk")


def test_refusals() -> None:
    refuses("exp3++", "beta=-1", "alpha=0", fields=("plays",))
    refuses("exp3++", "beta=x", allowed="must be 'theory' or a positive number", fields=("plays",))
