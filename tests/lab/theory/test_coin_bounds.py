from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from purse import worlds
from purse.lab.theory import coin_bounds
from purse.lab.theory.bound import ADVERSARIAL, Setting, setting_of
from purse.worlds.similar_costs import gap_of
from tests.lab.theory import value

IID, ONE = Setting(iid=True), Setting(costs="one")


def test_by_hand() -> None:
    # sqrt 2 / 0.5 (4 * 2 - 2) sqrt 9 + 2
    root = 2 * math.sqrt(2) * 6 * 3 + 2
    for bound in (coin_bounds.own_clock, coin_bounds.stationary, coin_bounds.equal_costs):
        assert value(bound(4, 8, 0.5)) == pytest.approx(root)
    assert value(coin_bounds.stationary(4, 8, 0.5, deviation=3)) == pytest.approx(root + 6)
    assert value(coin_bounds.bounded_efficiency(90, 0.5, 4, 8, 0.5)) == pytest.approx(60 - root)
    gaps = (22.3 * math.log(9) + 46.6) * 4 * (1 / 0.5 + 1 / 0.25) + 212
    assert value(coin_bounds.with_gaps([0.5, 0.25], 8, 0.5)) == pytest.approx(gaps)
    moved = coin_bounds.with_gaps([0.5, 0.25], 8, 0.5, deviation=3)
    assert value(moved) == pytest.approx(gaps + 3 * 7)
    assert value(coin_bounds.every_player(4, 250_000, 0.5)) == pytest.approx(2000 / 165 - 1.6)
    # l = 1: V = 4, s = 3
    expected = (
        4 * math.sqrt(8 * 4 * 9)
        + 10 * 0.75 * (1 + math.log(9)) ** 2 * 4
        + 4 * 2 * 2
        + 1.91 * 4 * 3 * 3
        + 2
    )
    assert value(coin_bounds.with_price(4, 8, 0.5, 1)) == pytest.approx(expected)


def test_only_ratios_of_amounts_matter() -> None:
    for bound in (coin_bounds.own_clock, coin_bounds.stationary, coin_bounds.equal_costs):
        assert value(bound(3, 500, 1, cost_max=5)) == pytest.approx(value(bound(3, 100, 0.2)))


def test_prices_and_gaps_are_in_the_users_unit() -> None:
    one, five = (
        coin_bounds.with_price(3, 100, 0.2, 2),
        coin_bounds.with_price(3, 500, 1, 0.4, cost_max=5),
    )
    assert value(one) == pytest.approx(value(five))
    gaps = coin_bounds.with_gaps([0.5], 100, 0.2), coin_bounds.with_gaps([0.1], 500, 1, cost_max=5)
    assert value(gaps[0]) == pytest.approx(value(gaps[1]))
    known = coin_bounds.own_clock(3, 500, 1, cost_max=5, efficiency_max=0.4)
    assert value(known) == pytest.approx(value(coin_bounds.own_clock(3, 100, 0.2)) * 2 / 5)


def test_where_they_apply() -> None:
    def applying(setting: Setting) -> list[str]:
        rows = coin_bounds.table(2, 20_000, 0.5, gaps=[0.5], setting=setting)
        return [row.name for row in rows if row.applies]

    assert applying(ADVERSARIAL) == ["T1", "T5, random costs"]
    assert applying(IID) == ["T1", "T2", "T4, gaps", "T5, random costs"]
    assert applying(ONE) == ["T1", "T3, equal costs"]
    for world, more in (
        ("same_costs", "T3, equal costs"),
        ("similar_costs:n_arms=3,cost_min=.1", "T5, random costs"),
    ):
        setting = setting_of(worlds.make(world, 100))
        assert more in applying(setting)
        assert ("T5, random costs" in applying(setting)) == world.startswith("similar")


def test_gaps_need_one_best_arm() -> None:
    known: dict[str, Any] = {"gaps": [0.5], "setting": IID}
    for n_arms, applies in ((2, True), (3, False)):
        rows = coin_bounds.table(n_arms, 1_000, 0.5, **known)
        assert {row.name: row.applies for row in rows}["T4, gaps"] == applies


@pytest.mark.parametrize(
    ("changes", "applies"),
    [
        ({}, True),
        ({"n_arms": 1}, False),
        ({"cost_min": 0.6}, False),
        ({"budget": 63}, False),
        ({"n_arms": 20_001}, False),
        ({"budget": 100}, False),  # where it says nothing
    ],
)
def test_the_lower_bound_needs_what_its_proof_needs(changes: dict[str, Any], applies: bool) -> None:
    known: dict[str, Any] = {"n_arms": 3, "budget": 20_000, "cost_min": 0.5, **changes}
    assert coin_bounds.every_player(**known).applies == applies


def test_the_constants_of_the_proofs() -> None:
    b = np.arange(1.0, 200_001)
    x = np.sqrt(b) / 4
    squares = np.minimum(2, np.exp(1 - x) * (x * x + 2 * x + 2))
    assert 52.3 < (squares / np.sqrt(b)).sum() / math.sqrt(2) < 52.4  # 2 * 52.4 + 1 <= 106
    zeta3 = float((1 / b**3).sum())
    assert 200 / 9 < 22.3
    assert 2 * (100 / 9 + 20 / 3 * math.pi**2 / 6 + zeta3) < 46.6
    part = np.linspace(0, 1, 10_001)
    assert (1 - np.sqrt(1 - part) <= part / 2 + part**2 / 2 + 1e-15).all()
    sums = np.cumsum((1 + 2 * np.log(b)) / b)
    assert (sums <= (1 + np.log(b)) ** 2 + 1e-9).all()
    # sum_b (2 + 2 ln b) / (e b^2): the rest after n is at most (4 + 2 ln n) / n
    n = len(b)
    assert ((2 + 2 * np.log(b)) / (math.e * b**2)).sum() + (4 + 2 * math.log(n)) / n < 1.91


@pytest.mark.parametrize("n_arms", [2, 5, 30])
@pytest.mark.parametrize("cost", [0.5, 0.1, 0.02])
def test_the_lower_bound_is_below_what_its_proof_has_before_rounding(
    n_arms: int, cost: float
) -> None:
    for budget in (64, 1000, 1e6):
        rounds, gap = math.floor(budget / (4 * cost)), gap_of(n_arms, budget, cost)
        assert gap <= cost / 2
        dear = cost * (2 - cost)
        good = dear - gap * (1 - cost)
        loss = gap * (1 - cost) / good
        whole = loss * rounds * (1 - 1 / n_arms - 0.25 - 2 / budget) - 1 / good
        bound = math.sqrt(n_arms * budget) / (165 * cost) - 0.8 / cost
        assert bound <= whole
        assert value(coin_bounds.every_player(n_arms, budget, cost)) == pytest.approx(bound)
