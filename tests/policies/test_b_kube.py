from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import purse
from purse import worlds
from purse.kernels import greedy_knapsack
from purse.lab.theory import knapsack
from purse.testing import check_policy
from tests.support.known_costs import (
    COSTS,
    REWARDS,
    WORLD,
    PlainKube,
    caps_hold,
    live_for,
    play_out,
    random_game,
)
from tests.support.policies import follows, tell_all


def test_rounds_by_hand() -> None:
    live = live_for("b-kube", [0.4, 0.3, 0.1], 3, [3, 4, 0], seed=4)
    assert live.probabilities().tolist() == [1, 0, 0]
    assert tell_all(live, (1, 0.4), (0, 0.3)) == [0, 1]
    # t = 3: 2.3 is left; sqrt(2 ln 2) = 1.177, D = (2.177 / 0.4, 1.177 / 0.3) = (5.44, 3.92): arm 0
    # twice, as its cap allows, then three times arm 1
    assert live.probabilities() == pytest.approx([2 / 5, 3 / 5, 0], abs=1e-15)
    assert tell_all(live, (0, 0.3)) == [1]
    # t = 4: 2 is left; D = ((1 + sqrt(2 ln 3)) / 0.4, sqrt(2 ln 3 / 2) / 0.3) = (2.482 / 0.4, 1.048
    # / 0.3): twice each
    assert live.probabilities().tolist() == [0.5, 0.5, 0]
    assert tell_all(live, (1, 0.4)) == [0]
    # t = 5: 1.6 is left; D = ((1 + sqrt(2 ln 4 / 2)) / 0.4, sqrt(2 ln 4 / 2) / 0.3) = (2.177 / 0.4,
    # 1.177 / 0.3): arm 0 once, arm 1 twice
    assert live.probabilities() == pytest.approx([1 / 3, 2 / 3, 0], abs=1e-15)
    assert tell_all(live, (0, 0.3)) == [1]
    # t = 6: one pull of each is left, 1.3 would buy more
    assert live.probabilities().tolist() == [0.5, 0.5, 0]
    assert tell_all(live, (1, 0.3)) == [1]
    assert live.probabilities().tolist() == [1, 0, 0]
    assert tell_all(live, (1, 0.4)) == [0]
    with pytest.raises(purse.AskRefused, match="b-kube has ended the game after 7 rounds"):
        live.ask()
    assert live.left == pytest.approx(0.6)


@pytest.mark.parametrize("out", [1, 30])
@pytest.mark.parametrize("caps", [[2000, 900, 10, 0, 10**6], [1, 10**9, 1, 1, 500]])
def test_follows_the_formula(caps: list[int], out: int) -> None:
    plain, told = PlainKube(COSTS, 2400.01, caps), {"costs": COSTS, "caps": caps}
    follows("b-kube", plain, WORLD, 2600, out=out, budget=2400.01, **told)


@pytest.mark.parametrize("seed", range(8))
def test_follows_the_formula_until_nothing_can_be_pulled(seed: int) -> None:
    costs, budget, caps = random_game(seed)
    live = live_for("b-kube", costs, budget, caps, seed=seed, stop="exit")
    play_out(live, PlainKube(costs, budget, caps), costs, seed)


def test_without_caps_it_is_kube() -> None:
    kube = purse.simulate("kube", WORLD, 100, n_paths=20)
    for caps in (None, 10**6, 10**30):
        run = purse.simulate("b-kube", WORLD, 100, n_paths=20, caps=caps)
        assert (run.pulls == kube.pulls).all()


def test_caps_hold_and_all_that_they_allow_is_spent() -> None:
    caps_hold("b-kube")


def test_initial_pulls_leave_out_what_cannot_be_paid_for() -> None:
    live = live_for("b-kube", [1, 0.5, 0.2], 0.7, 9)
    # arm 0 is too dear: round 1 is for one of the others, round 2 for arm 1 if it is not too dear
    # then
    assert live.probabilities().tolist() == [0, 0.5, 0.5]
    run = purse.simulate(
        "b-kube", worlds.function("bernoulli")([1, 1, 1], [1, 0.5, 0.2]), 0.7, caps=9
    )
    assert (run.pulls[:, 0] == 0).all()
    assert (0.7 - run.spent < 0.2).all()


def test_a_voided_initial_pull_comes_again() -> None:
    live = live_for("b-kube", [1, 0.5], 10, 9)
    live.void(live.ask())
    live.tell(live.ask(), 1, 0.5)
    assert live.probabilities().tolist() == [1, 0]


def test_comes_near_what_the_caps_allow() -> None:
    caps, budget = [48_000, 64_000, 10**6, 10**6, 10**6], 40_000
    run = purse.simulate("b-kube", WORLD, budget, n_paths=20, caps=caps)
    best = knapsack.bounded(REWARDS, COSTS, caps, budget)
    assert best == pytest.approx(48_000 * 0.42 + 51_200 * 0.5)  # all of arm 0, the rest for arm 1
    assert (run.pulls[:, 0] == 48_000).all()
    # against arm 1 the others lose 1 c - r = (0.2, 0.1, 0.3) a pull, in at most 8 ln T / loss^2
    # pulls each: 8 * 11.5 * 18.3 = 1,690 in all
    assert best - run.gain.mean() < 1690


@pytest.mark.parametrize("caps", [5, [40, 30, 20, 0]])
def test_passes_the_checks_with_caps(caps: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    known = greedy_knapsack.known_costs
    monkeypatch.setattr(
        "purse.policies.b_kube.known_costs",
        lambda problem, name: known(problem, name)._replace(caps=np.resize(caps, problem.n_arms)),
    )
    check_policy("b-kube", quick=True)


def test_caps_survive_a_file(tmp_path: Any) -> None:
    live = live_for("b-kube", [0.5, 0.5], 10, [1, 2])
    tell_all(live, (1, 0.5), (1, 0.5))
    live.save(tmp_path / "policy.npz")
    again = purse.Policy.load(tmp_path / "policy.npz")
    assert tell_all(again, (1, 0.5)) == [1]
    with pytest.raises(purse.AskRefused):
        again.ask()
