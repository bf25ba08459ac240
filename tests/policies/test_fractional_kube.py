from __future__ import annotations

import numpy as np
import pytest

import purse
from purse import worlds
from tests.support.known_costs import COSTS, WORLD, PlainFractionalKube, live_for, one_arm, play_out
from tests.support.policies import EXACT, largest_deviation, make_live, tell_all


def test_rounds_by_hand() -> None:
    live = live_for("fractional-kube", [1, 0.5], 4)
    assert live.probabilities().tolist() == [1, 0]
    assert tell_all(live, (1, 1), (0, 0.5)) == [0, 1]
    # t = 3: sqrt(2 ln 2 / 1) = 1.177, D = ((1 + 1.177) / 1, (0 + 1.177) / 0.5) = (2.177, 2.355)
    assert live.probabilities().tolist() == [0, 1]
    assert tell_all(live, (0, 0.5)) == [1]
    # t = 4: D = (1 + sqrt(2 ln 3), sqrt(2 ln 3 / 2) / 0.5) = (1 + 1.482, 2.096) = (2.482, 2.096)
    assert live.probabilities().tolist() == [1, 0]
    assert tell_all(live, (1, 1)) == [0]
    # t = 5: D = (1 + sqrt(2 ln 4 / 2), sqrt(2 ln 4 / 2) / 0.5) = (2.177, 2.355); 1 is left
    assert tell_all(live, (1, 0.5)) == [1]
    # t = 6: 0.5 is left, which arm 0 is too dear for, whatever its index
    assert live.probabilities().tolist() == [0, 1]
    assert tell_all(live, (1, 0.5)) == [1]
    with pytest.raises(purse.AskRefused, match="fractional-kube has ended the game after 6 rounds"):
        live.ask()
    assert live.left == 0


@pytest.mark.parametrize(("seed", "out"), [(0, 1), (1, 30)])
def test_follows_the_formula(seed: int, out: int) -> None:
    live = make_live(WORLD, "fractional-kube", budget=3600, costs=COSTS, seed=seed)
    plain = PlainFractionalKube(COSTS, 3600)
    assert largest_deviation(live, plain, WORLD, 4000, out=out, seed=seed) < EXACT


def test_follows_the_formula_until_nothing_can_be_paid_for() -> None:
    live = live_for("fractional-kube", COSTS, 40.3, stop="exit")
    assert len(play_out(live, PlainFractionalKube(COSTS, 40.3), COSTS)) > 60


def test_ties_are_broken_evenly() -> None:
    world = worlds.function("bernoulli")([1, 1, 1], [0.5, 0.5, 0.5])
    # three initial pulls and one among three that have done equally well
    run = purse.simulate("fractional-kube", world, 2, n_paths=3000)
    assert (np.abs(run.pulls.sum(axis=0) - 4000) < 4 * np.sqrt(3000 * (1 / 3) * (2 / 3))).all()


def test_spends_all_that_buys_an_arm() -> None:
    run = purse.simulate("fractional-kube", WORLD, 100, n_paths=50)
    assert (run.spent > 100 - min(COSTS) - 1e-9).all()
    assert (run.spent <= 100).all()


def test_learns_which_arm_pays_most_per_unit() -> None:
    run = purse.simulate("fractional-kube", WORLD, 10_000, n_paths=10)
    assert (run.pulls.argmax(axis=1) == 0).all()
    # an index rule with this radius pulls arm i at most 8 ln T / (c Delta)^2 times and loses c
    # Delta each time; ln 33,000 = 10.4 and
    # c Delta = e* c - r = (0, 0.2, 0.44, 0.26, 0.66), so 416 + 189 + 320 + 126 = 1,051
    assert 10_000 * 1.4 - run.gain.mean() < 1051


def test_an_arm_without_a_report_comes_first() -> None:
    live = live_for("fractional-kube", [1, 0.5], 10)
    tickets = [live.ask(), live.ask()]
    assert live.tell(tickets[1], 1, 0.5)
    assert live.probabilities().tolist() == [1, 0]
    assert live.tell(tickets[0], 0, 1)
    assert live.probabilities().tolist() == [0, 1]


def test_one_arm() -> None:
    one_arm("fractional-kube")
