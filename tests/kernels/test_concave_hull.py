import numpy as np
import pytest
from scipy.optimize import linprog

from purse.kernels.concave_hull import best_mixture
from purse.types import Floats


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
