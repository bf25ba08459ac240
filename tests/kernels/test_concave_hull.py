from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

from purse.kernels.concave_hull import best_mixture, draw_shares
from purse.types import SKIP, Floats
from tests.support.rounds import new_now, new_play


def solved(limit: float, costs: list[float], rewards: list[float]) -> Floats:
    shares = np.full(len(costs), np.nan)
    every = best_mixture(limit, np.array(costs, float), np.array(rewards, float), shares)
    assert every == pytest.approx(shares.sum(), abs=1e-15)
    return shares


def optimum(limit: float, costs: Floats, rewards: Floats) -> float:
    found = linprog(
        -rewards, A_ub=np.vstack([costs, np.ones(len(costs))]), b_ub=[limit, 1], method="highs"
    )
    return float(-found.fun)


@pytest.mark.parametrize("grain", [None, 20, 4])
@pytest.mark.parametrize("n_arms", [1, 2, 5, 12, 40])
def test_linear_programs_of_all_kinds(n_arms: int, grain: int | None) -> None:
    """With a coarse grain many points coincide, lie on one line, or cost or pay nothing."""
    order = np.random.default_rng([n_arms, grain or 0])
    for _ in range(40):
        costs, rewards = (
            order.random((2, n_arms))
            if order.random() < 0.5
            else np.clip(order.normal(0.3, 0.5, (2, n_arms)), 0, 1)
        )
        if grain:
            costs, rewards = np.round(costs * grain) / grain, np.round(rewards * grain) / grain
        limit = float(order.choice([order.random() + 1e-9, 0.25, 1.0, costs[0] + 1e-300, 2.0]))
        shares = solved(limit, costs, rewards)
        assert (shares >= 0).all()
        assert shares.sum() <= 1 + 1e-15
        assert costs @ shares <= limit + 1e-15
        assert rewards @ shares == pytest.approx(optimum(limit, costs, rewards), abs=1e-12)
        assert len({(costs[i], rewards[i]) for i in np.flatnonzero(shares)}) <= 2


def test_arms_on_an_arc_all_lie_on_the_hull() -> None:
    angles = np.linspace(0.01, np.pi / 2, 200)
    costs, rewards = 1 - np.cos(angles), np.sin(angles)
    for limit in (0.001, 0.3, 0.999, 1.5):
        shares = solved(limit, costs, rewards)
        assert rewards @ shares == pytest.approx(optimum(limit, costs, rewards), abs=1e-12)
        around = np.searchsorted(costs, limit)
        assert set(np.flatnonzero(shares)) <= {around - 1, around}


def test_two_arms_are_mixed_so_that_the_limit_is_just_met() -> None:
    # 0.4 lies a third of the way from 0.2 to 0.8
    assert solved(0.4, [0.2, 0.8], [0.5, 0.9]) == pytest.approx([2 / 3, 1 / 3])


def test_one_arm_beyond_the_limit_is_mixed_with_nothing() -> None:
    assert solved(0.2, [0.8], [0.9]) == pytest.approx([0.25])


def test_a_limit_that_does_not_bind_leaves_the_cheapest_of_the_best() -> None:
    assert solved(0.9, [0.2, 0.5, 0.8], [0.5, 1, 1]).tolist() == [0, 1, 0]


def test_arms_at_one_point_share_it() -> None:
    assert solved(0.1, [0, 0, 0, 0], [1, 1, 0.5, 1]) == pytest.approx([1 / 3, 1 / 3, 0, 1 / 3])
    # the upper end has weight 1/4, for nothing is at cost 0.1 and 0.4 lies three quarters further
    assert solved(0.175, [0.1, 0.4, 0.4, 0.1], [0.5, 0.9, 0.9, 0.5]) == pytest.approx(
        [3 / 8, 1 / 8, 1 / 8, 3 / 8]
    )


def test_a_point_below_the_hull_is_left_out() -> None:
    # from (0.1, 0.5) to (0.9, 0.9) the hull is at 0.7 where arm 1 has 0.6
    assert solved(0.5, [0.1, 0.5, 0.9], [0.5, 0.6, 0.9]) == pytest.approx([0.5, 0, 0.5])


def test_arms_that_pay_nothing_are_not_worth_their_cost() -> None:
    assert solved(0.5, [0.3, 0.6], [0, 0]).tolist() == [0, 0]


def test_a_limit_at_a_corner_is_that_corner() -> None:
    assert solved(0.5, [0.25, 0.5, 0.75], [0.5, 0.75, 0.8]).tolist() == [0, 1, 0]


def drawn(skips: bool, shares: list[float], n: int) -> tuple[Floats, set[tuple[int, float]]]:
    play = new_play()
    counts, seen = np.zeros(len(shares) + 1), set()
    for t in range(1, n + 1):
        draw_shares(new_now(t, len(shares), seed=7), skips, np.array(shares), play)
        counts[play.arms[0]] += 1
        seen.add((int(play.arms[0]), float(play.probs[0])))
    return counts / n, seen


def test_what_is_missing_to_one_lets_rounds_pass() -> None:
    frequencies, seen = drawn(True, [0.25, 0, 0.5], 20_000)
    assert frequencies == pytest.approx([0.25, 0, 0.5, 0.25], abs=4 * np.sqrt(0.25 / 20_000))
    assert seen == {(0, 0.25), (2, 0.5), (SKIP, 0.25)}


def test_where_rounds_may_not_pass_it_is_drawn_again() -> None:
    frequencies, seen = drawn(False, [0.25, 0, 0.5], 20_000)
    assert frequencies == pytest.approx([1 / 3, 0, 2 / 3, 0], abs=4 * np.sqrt(0.25 / 20_000))
    assert seen == {(0, 0.25 / 0.75), (2, 0.5 / 0.75)}
