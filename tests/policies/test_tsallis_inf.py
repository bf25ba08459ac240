from __future__ import annotations

import pytest

import purse
from purse import worlds
from tests.support.exp3_learners import PlainTsallis, play, random_edges, two_arms, world_of
from tests.support.policies import follows, plays_two_resources, refuses, tell_all


def test_rounds_by_hand() -> None:
    # 1 / sqrt w(0) - 1 / sqrt w(1) = (eta / 2) (L(0) - L(1)), and eta / 2 = 1 / sqrt t
    play(
        two_arms("tsallis-inf"),
        ((0.2, 1), 1, 0.8021062),  # t = 2: L = (0, 0.8 / 0.5), the roots differ by 1.6 / sqrt 2
        ((0.5, 0.5), 0, 0.6823930),  # t = 3: L(0) = 0.5 / 0.802 = 0.6233588
        ((1, 0.5), 0, 0.6612282),  # t = 4: a reward of 1 is no loss, but eta / 2 is now 1 / 2
    )


def test_rounds_with_reduced_variance_by_hand() -> None:
    live = two_arms("tsallis-inf:estimator=rv")
    # up to t = 16 eta^2 = 16 / t is above any weight, so b = 0 and only the rate is another,
    # eta / 2 = 2 / sqrt t: the roots differ by 1.6 * 2 / sqrt 2
    play(live, ((0.2, 1), 1, 0.9088207))
    tell_all(live, *[(1, 0.5)] * 20)
    play(
        live,
        # rewards of 1 are no loss: t = 23 has L = (0, 1.6), and is the first with a weight above
        # 16 / t = 0.696
        ((1, 0.5), 0, 0.7092744),
        # so b = (1/2, 0): L = (0.5, 1.6 + 0.25 / 0.291) = (0.5, 2.4599174)
        ((0.75, 0.5), 1, 0.7403175),
        # t = 24: w(0) is above 16 / 24 again, so L(0) += (0 - 0.5) / 0.740 + 0.5, a step back of
        # 0.1753859
        ((1, 0.5), 0, 0.7518415),
    )


@pytest.mark.parametrize("estimator", ["iw", "rv"])
@pytest.mark.parametrize(("n_arms", "out"), [(2, 1), (3, 40), (10, 1)])
def test_follows_the_formula(estimator: str, n_arms: int, out: int) -> None:
    plain = PlainTsallis(n_arms, estimator)
    follows(f"tsallis-inf:estimator={estimator}", plain, world_of(n_arms), 2000, out=out)
    assert estimator == "iw" or 1000 < plain.below < 2000 * n_arms - 1000


@pytest.mark.parametrize("estimator", ["iw", "rv"])
def test_regret_is_within_the_bound(estimator: str) -> None:
    # T = 4,000 rounds at cost 0.5, gaps 0.2: 4 sqrt(K T) + 1 = 438, and measured far less; the
    # standard error over 50 paths is below 10
    world = worlds.function("bernoulli")([0.7, 0.5, 0.5], [0.5, 0.5, 0.5])
    run = purse.simulate(f"tsallis-inf:estimator={estimator}", world, budget=2000, n_paths=50)
    assert 0 < 0.2 * run.pulls[:, 1:].sum(axis=1).mean() < 438 / 2


@pytest.mark.parametrize("estimator", ["iw", "rv"])
def test_edges(estimator: str) -> None:
    random_edges(f"tsallis-inf:estimator={estimator}")


def test_plays_several_resources_and_refuses_several_plays() -> None:
    plays_two_resources("tsallis-inf")
    refuses("tsallis-inf", "estimator=x", allowed="must be one of 'iw', 'rv'", fields=("plays",))
