from __future__ import annotations

import math
from typing import Any

import pytest

import purse
from purse.lab.theory.bound import Bound, Setting
from purse.lab.theory.published_bounds import table


def rows(**changes: Any) -> dict[str, Bound]:
    known: dict[str, Any] = {
        "n_arms": 4,
        "budget": 100.0,
        "cost_min": 0.5,
        "gaps": [0.5, 1.0],
        "horizon": 150,
        "setting": Setting(True, "per arm"),
        **changes,
    }
    return {row.name: row for row in table(**known)}


def test_every_row_is_of_a_shipped_policy() -> None:
    assert set(rows()) <= set(purse.policies.names())


def test_over_two_hundred_rounds_and_four_arms() -> None:
    found, log = rows(delta=0.1), math.log
    expected = {
        "exp3": 2 * math.sqrt((math.e - 1) * 800 * log(4)),
        "exp3.p": 5.15 * math.sqrt(800 * log(40)),
        "exp3.p.bwk": 2 * 5.15 * math.sqrt(800 * log(40)) + 2,
        "exp3-ix": 2 * math.sqrt(1600 * log(4)) + (math.sqrt(1600 / log(4)) + 1) * log(20),
        "tsallis-inf": 4 * math.sqrt(800) + 1,
        "tsallis-inf.bwk": 2 * (4 * math.sqrt(800) + 1) + 2,
    }
    assert {name: found[name].value for name in expected} == pytest.approx(expected)


def test_logarithms_and_roots_are_orders_of_the_problem() -> None:
    found = rows()
    assert found["ucb-bv1"].value == pytest.approx(math.log(200) * 3)
    assert found["ucb-bv1"].side == "order"
    assert found["primal-dual-bwk"].value == pytest.approx(2.5 * math.sqrt(4 * 150 * math.log(150)))
    assert rows(gaps=None)["kube"].value is None
    assert rows(horizon=None)["lagrange-bwk"].value is None


@pytest.mark.parametrize(
    ("setting", "kube", "ucb"),
    [
        (Setting(True, "per arm"), True, True),
        (Setting(True), False, True),
        (Setting(False, "per arm"), False, False),
        (Setting(), False, False),
    ],
)
def test_they_apply_where_they_were_proved(setting: Setting, kube: bool, ucb: bool) -> None:
    found = rows(setting=setting)
    assert (found["kube"].applies, found["ucb-bv2"].applies) == (kube, ucb)
    assert found["exp3.p.bwk"].applies


def test_only_ratios_of_amounts_matter() -> None:
    one, ten = rows(), rows(budget=1000.0, cost_min=5.0, cost_max=10.0, gaps=[0.05, 0.1])
    assert ten["exp3-ix"].value == pytest.approx(one["exp3-ix"].value)
    assert ten["exp3-ix.bwk"].value == pytest.approx(one["exp3-ix.bwk"].value / 10)
    assert ten["omega-ucb"].value == pytest.approx(one["omega-ucb"].value)


def test_measured_efficiency_stays_below_the_bound() -> None:
    for policy in ("exp3.p.bwk", "exp3-ix.bwk"):
        found = purse.lab.regrets(
            policy, "bernoulli:rewards=[.9,.6,.3,.2],costs=[.9,.5,.5,1]", 100, n_paths=20
        )
        assert found["own_rounds"].high < rows()[policy].value


def test_one_arm_and_equal_costs_have_nothing_to_lose() -> None:
    assert rows(n_arms=1, gaps=[])["exp3.p"].value == 0
    assert rows(cost_min=1.0)["exp3.m.b"].value is None


def test_bad_input_is_refused_by_name() -> None:
    with pytest.raises(purse.InvalidInput, match=r"^delta=0: must be a number above 0"):
        rows(delta=0)
    with pytest.raises(purse.InvalidInput, match=r"^horizon=0: must be a whole number from 1"):
        rows(horizon=0)
