import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from purse.kernels.confidence import GapBounds, gap_bounds, gap_rates, quiet_until
from purse.types import Floats


def bounds_of(
    c_min: float,
    *,
    alpha: float = 3.0,
    beta: float | str = "theory",
    lam: float | None = None,
    width: str = "printed",
) -> GapBounds:
    return gap_bounds(c_min, alpha=alpha, beta=beta, lam=lam, width=width)


def cap_of(t: int, n_arms: int, spread: float) -> float:
    return min(1 / (2 * n_arms), spread * math.sqrt(math.log(n_arms) / (t * n_arms)))


def rates_of(bounds: GapBounds, t: int, cap: float, pulls: Any, rewards: Any, costs: Any) -> Floats:
    rates = np.zeros(len(pulls))
    total = gap_rates(
        bounds,
        t,
        cap,
        np.array(pulls, float),
        np.array(rewards, float),
        np.array(costs, float),
        rates,
    )
    assert total == pytest.approx(rates.sum(), rel=1e-14)
    return rates


def plain_rates(
    bounds: GapBounds,
    t: int,
    cap: float,
    pulls: list[float],
    rewards: list[float],
    costs: list[float],
) -> list[float]:
    n_arms, highest = len(pulls), 1 / bounds.c_min
    ucb, lcb = [highest] * n_arms, [0.0] * n_arms
    for i, n in enumerate(pulls):
        if n == 0:
            continue
        mean_reward, mean_cost = rewards[i] / n, costs[i] / n
        eta = math.sqrt(bounds.alpha * math.log(n_arms ** (1 / bounds.alpha) * t) / (2 * n))
        if bounds.direct:
            width = (1 + 1 / bounds.lam) * eta / mean_cost
        elif eta < bounds.lam:
            width = (1 + 1 / bounds.lam) * eta / (bounds.lam - eta)
        else:
            continue
        ucb[i] = min(highest, mean_reward / mean_cost + width)
        lcb[i] = max(0.0, mean_reward / mean_cost - width)
    rates = []
    for i in range(n_arms):
        gap = max(0.0, max(lcb[j] for j in range(n_arms) if j != i) - ucb[i])
        rates.append(min(cap, bounds.beta * math.log(t) / (t * gap**2)) if gap > 0 else cap)
    return rates


@given(st.data())
@settings(max_examples=300, deadline=None, derandomize=True)
def test_rates_are_the_plain_ones(data: st.DataObject) -> None:
    draw = data.draw
    n_arms = draw(st.integers(2, 6))
    c_min = draw(st.floats(0.05, 1.0))
    bounds = bounds_of(
        c_min,
        alpha=draw(st.floats(0.01, 4)),
        beta=10 ** draw(st.floats(-8, 1)),
        lam=c_min * draw(st.floats(0.5, 1)),
        width=draw(st.sampled_from(["printed", "direct"])),
    )
    pulls = [
        float(draw(st.sampled_from([0, 10, 1000, 10**5, 10**7, 10**9]))) for _ in range(n_arms)
    ]
    costs = [n * draw(st.floats(c_min, 1.0)) for n in pulls]
    rewards = [n * draw(st.floats(0.0, 1.0)) for n in pulls]
    t = draw(st.integers(n_arms + 1, 10**8))
    cap = cap_of(t, n_arms, 0.5)
    assert rates_of(bounds, t, cap, pulls, rewards, costs) == pytest.approx(
        plain_rates(bounds, t, cap, pulls, rewards, costs), rel=1e-9
    )


@given(
    st.integers(1, 40),
    st.floats(0.02, 1.0),
    st.floats(1e-4, 10.0),
    st.sampled_from(["lemma", "printed", "cmin"]),
)
@settings(max_examples=200, deadline=None, derandomize=True)
def test_quiet_until_is_the_first_round_in_which_the_widest_gap_binds(
    n_arms: int, c_min: float, beta: float, epsilon: str
) -> None:
    spread = {"lemma": 0.5, "printed": 0.5 * math.sqrt(n_arms), "cmin": 0.5 * c_min}[epsilon]
    quiet = quiet_until(n_arms, bounds_of(c_min, beta=beta), spread)
    assert quiet > n_arms
    t = np.arange(n_arms + 1, min(quiet, 200_000) + 1)
    widest = 1 / c_min
    cap = np.minimum(1 / (2 * n_arms), spread * np.sqrt(np.log(n_arms) / (t * n_arms)))
    binds = beta * np.log(t) / (t * widest**2) < cap * (1 - 1e-12)
    assert not binds[t < quiet].any()
    if quiet <= 200_000:
        assert beta * math.log(quiet) / (quiet * widest**2) < cap[-1] * (1 + 1e-12)


def test_quiet_until_with_the_theorys_beta() -> None:
    quiet = quiet_until(3, bounds_of(0.5), 0.5)
    assert 256 * math.log(quiet) / quiet < cap_of(quiet, 3, 0.5)
    assert 256 * math.log(quiet - 1) / (quiet - 1) >= cap_of(quiet - 1, 3, 0.5)


def test_constants_default_to_the_papers() -> None:
    assert bounds_of(0.5) == GapBounds(alpha=3.0, beta=1024.0, c_min=0.5, lam=0.5, direct=False)
    assert bounds_of(0.5, width="direct", lam=0.25, beta=2, alpha=1) == GapBounds(
        alpha=1.0, beta=2.0, c_min=0.5, lam=0.25, direct=True
    )
