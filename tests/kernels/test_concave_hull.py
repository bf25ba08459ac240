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


@pytest.mark.parametrize(
    ("limit", "costs", "rewards", "shares"),
    [
        # 0.4 lies a third of the way from 0.2 to 0.8
        (0.4, [0.2, 0.8], [0.5, 0.9], [2 / 3, 1 / 3]),
        # one arm beyond the limit is mixed with nothing
        (0.2, [0.8], [0.9], [0.25]),
        # a limit that does not bind leaves the cheapest of the best
        (0.9, [0.2, 0.5, 0.8], [0.5, 1, 1], [0, 1, 0]),
        # arms at one point share it
        (0.1, [0, 0, 0, 0], [1, 1, 0.5, 1], [1 / 3, 1 / 3, 0, 1 / 3]),
        # the upper end has weight 1/4: of what is at 0.1 and at 0.4, 0.175 lies a quarter further
        (0.175, [0.1, 0.4, 0.4, 0.1], [0.5, 0.9, 0.9, 0.5], [3 / 8, 1 / 8, 1 / 8, 3 / 8]),
        # from (0.1, 0.5) to (0.9, 0.9) the hull is at 0.7 where arm 1 has 0.6
        (0.5, [0.1, 0.5, 0.9], [0.5, 0.6, 0.9], [0.5, 0, 0.5]),
        # arms that pay nothing are not worth their cost
        (0.5, [0.3, 0.6], [0, 0], [0, 0]),
        # a limit at a corner is that corner
        (0.5, [0.25, 0.5, 0.75], [0.5, 0.75, 0.8], [0, 1, 0]),
    ],
)
def test_shares_by_hand(
    limit: float, costs: list[float], rewards: list[float], shares: list[float]
) -> None:
    found = solved(limit, costs, rewards)
    assert found == pytest.approx(shares)
    assert (found == 0).tolist() == [share == 0 for share in shares]


def drawn(skips: bool, shares: list[float], n: int) -> tuple[Floats, set[tuple[int, float]]]:
    play = new_play()
    counts, seen = np.zeros(len(shares) + 1), set()
    for t in range(1, n + 1):
        draw_shares(new_now(t, len(shares), seed=7), skips, np.array(shares), play)
        counts[play.arms[0]] += 1
        seen.add((int(play.arms[0]), float(play.probs[0])))
    return counts / n, seen


@pytest.mark.parametrize(
    ("skips", "chances"),
    [(True, {0: 0.25, 2: 0.5, SKIP: 0.25}), (False, {0: 0.25 / 0.75, 2: 0.5 / 0.75})],
)
def test_what_is_missing_to_one_lets_rounds_pass_or_is_drawn_again(
    skips: bool, chances: dict[int, float]
) -> None:
    frequencies, seen = drawn(skips, [0.25, 0, 0.5], 20_000)
    expected = [chances.get(arm, 0) for arm in (0, 1, 2, SKIP)]
    assert frequencies == pytest.approx(expected, abs=4 * np.sqrt(0.25 / 20_000))
    assert seen == set(chances.items())
