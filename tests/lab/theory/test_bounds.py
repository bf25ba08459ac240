from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

import purse
from purse import worlds
from purse.lab.theory import bounds, published_bounds
from purse.lab.theory.bound import ADVERSARIAL, Bound, Setting, setting_of
from purse.lab.theory.bounds import (
    for_world,
    proposition_c,
    table,
    theorem1,
    theorem2,
    theorem3,
    theorem4,
    theorem5,
    two_worlds,
)
from purse.types import World
from tests.lab.theory import ONE_COST, PER_ARM, RANDOM_COSTS, value


def row_of(world: World | str, name: str, budget: float = 100) -> Bound:
    """The first bound of that name for a world."""
    return next(row for row in for_world(world, budget) if row.name == name)


@pytest.mark.parametrize(
    ("setting", "upper", "linear"),
    [
        (ADVERSARIAL, False, True),
        (Setting(False, "per arm"), False, True),
        (Setting(False, "one"), True, False),
        (RANDOM_COSTS, False, False),
        (PER_ARM, True, False),
        (ONE_COST, True, False),
    ],
)
def test_which_bounds_apply_in_which_setting(setting: Setting, upper: bool, linear: bool) -> None:
    assert theorem1(2, 100, 0.5, setting=setting).applies == upper
    assert theorem4(2, 100, 0.5, constant="proof", setting=setting).applies == upper
    assert theorem4(2, 100, 0.5, constant="derived", setting=setting).applies == upper
    assert not theorem4(2, 100, 0.5, constant="statement", setting=setting).applies
    assert two_worlds(100, 0.5, setting=setting).applies == linear
    for policy in bounds.POLICIES:
        assert proposition_c(2, 100, 0.5, policy=policy, setting=setting).applies == upper
    rows = table(2, 100, 0.5, gaps=[1], setting=setting)
    assert [row.applies for row in rows if row.name == "Proposition A"] == [True] * 2
    useless = {
        "Theorem 2",
        "Theorem 3",
        "Theorem 4, statement",
        *(row.name for row in bounds.TABLE_1),
    }
    assert [row.applies for row in rows if row.name in useless] == [False] * 8


LOWER: dict[str, Callable[..., Bound]] = {
    "theorem2": partial(theorem2, 2, 100, 0.5, form="corrected"),
    "theorem5": partial(theorem5, 100),
    "two_worlds": partial(two_worlds, 100, 0.5),
}


@pytest.mark.parametrize("name", LOWER)
def test_a_lower_bound_applies_to_its_own_world_only(name: str) -> None:
    plain = LOWER[name](setting=ADVERSARIAL)
    assert plain.applies
    for world in (None, *worlds.names(), "my_world.py", ""):
        bound = LOWER[name](setting=Setting(world=world))
        assert bound.applies == (world in (None, name))
        assert bound._replace(applies=True) == plain


def test_a_bound_gives_its_value_where_it_does_not_hold_too() -> None:
    for bound, setting in ((theorem1, ONE_COST), (proposition_c, PER_ARM)):
        elsewhere = bound(2, 8, 0.5, setting=ADVERSARIAL)
        assert bound(2, 8, 0.5, setting=setting).value == elsewhere.value
    assert two_worlds(8, 0.5, setting=ONE_COST).value == two_worlds(8, 0.5).value == 2
    assert two_worlds(8, 1).value == 0
    assert not two_worlds(8, 1).applies


def test_theorem2_corrected_needs_a_gap_below_a_half() -> None:
    assert theorem2(10, 5, 1, form="corrected").applies
    for budget in (2, 0.5):
        too_small = theorem2(10, budget, 1, form="corrected")
        assert (too_small.value, too_small.applies) == (0, False)


def test_a_table_has_every_bound_once() -> None:
    rows = table(3, 100, 0.5)
    assert "; ".join(row.name for row in rows[:13]) == (
        "Theorem 1; Theorem 2; Theorem 2, corrected; Theorem 3; Theorem 4, statement; "
        "Theorem 4, proof; Theorem 4, derived; Theorem 5; κ(c)·B; "
        "Proposition A; Proposition A; Proposition C; Proposition C"
    )
    assert rows[13:] == list(bounds.TABLE_1)
    assert len({(row.name, row.bounds) for row in rows}) == len(rows)
    for row in rows:
        assert row.side in ("at most", "at least", "exactly", "order")
        assert all((row.bounds, row.holds, row.source))
        assert (row.value is None) == (row.name == "Theorem 3" or row in bounds.TABLE_1)


SHIPPED = {
    "atoms": (RANDOM_COSTS, 2, 0.1, 1, [0, 30 / 19 - 10 / 11]),
    "bernoulli": (PER_ARM, 3, 0.2, 0.8, [0.875, 0, 0]),
    "beta": (RANDOM_COSTS, 3, 0.1, 1, [0.5, 0, 7 / 15]),
    "corrupted": (Setting(False, "per arm"), 3, 0.25, 0.8, None),
    "drifting": (Setting(False, "per arm"), 3, 0.4, 0.5, None),
    "misleading_costs": (RANDOM_COSTS, 2, 0.1, 1, [12 / 11, 0]),
    "misleading_ratio": (RANDOM_COSTS, 2, 0.1, 1, [16 / 55, 0]),
    "same_costs": (ADVERSARIAL, 2, 0.1, 1, None),
    "spend_or_save": (ADVERSARIAL, 2, 0.1, 1, None),
    "switching": (Setting(False, "per arm"), 2, 0.2, 0.5, None),
    "table": (ADVERSARIAL, 2, 0.1, 0.5, None),
    "theorem2": (ONE_COST, 5, 0.5, 0.5, [0, *[0.25 * math.sqrt(5 * 0.5 / 100) / 0.5] * 4]),
    "theorem5": (ADVERSARIAL._replace(alpha=0.5), 2, 1, 10, None),
    "two_point": (RANDOM_COSTS, 2, 0.2, 1, [0, 0.5]),
    "two_worlds": (Setting(False, "per arm"), 2, 0.1, 1, None),
}


@pytest.mark.parametrize("name", SHIPPED)
def test_what_a_shipped_world_is_known_to_be_and_its_bounds(name: str) -> None:
    kind, n_arms, cost_min, cost_max, gaps = SHIPPED[name]
    text, setting = worlds.example(name), kind._replace(world=name)
    assert setting_of(worlds.make(text, 100)) == setting
    positive = None if gaps is None else [gap for gap in gaps if gap > 0]
    rows = for_world(text, 100)
    stated = table(n_arms, 100, cost_min, cost_max=cost_max, gaps=positive, setting=setting)
    for made, said in zip(rows, stated, strict=True):
        assert made._replace(value=None) == said._replace(value=None)
        assert made.value == said.value or value(made) == pytest.approx(value(said), rel=1e-9)
    lower = {"Theorem 2, corrected": "theorem2", "Theorem 5": "theorem5", "κ(c)·B": "two_worlds"}
    assert [row.name for row in rows if row.name in lower and row.applies] == [
        bound for bound, world in lower.items() if world == name
    ]


def test_a_world_may_be_a_world_and_alpha_may_be_given() -> None:
    world = worlds.bernoulli(rewards=[0.9, 0.1], costs=[0.5, 0.5])
    setting = Setting(True, "one", "bernoulli")
    assert setting_of(world) == setting
    rows = for_world(world, 1000, alpha=1)
    assert rows == table(2, 1000, 0.5, cost_max=0.5, alpha=1, gaps=[1.6], setting=setting)
    assert rows[7].value == 500
    # the world of Theorem 5 says its power, and a world from its function has its name
    fifth = row_of("theorem5:alpha=.9", "Theorem 5", 1024)
    assert (fifth.value, fifth.applies) == (256, True)
    made_by_function = worlds.two_worlds(100, 0.2, world=2)
    assert setting_of(made_by_function) == Setting(False, "per arm", "two_worlds")


@pytest.mark.parametrize(
    ("world", "iid", "costs"),
    [
        # one arm has one cost, and one segment is no change
        ("bernoulli:rewards=[.5],costs=[.3]", True, "one"),
        ("switching:segments=[7],rewards=[[.5,.1]],costs=[.3,.4]", True, "per arm"),
        ("switching:segments=7,rewards=[[.5,.1],[.1,.5]],costs=[.3,.3]", False, "one"),
        ("two_point:rewards=[.5,.1],costs=[.3,1],cost_min=.3", True, "per arm"),
        # the name of a world is what comes before its options
        ("two_worlds:cost_min=.2,world=2", False, "per arm"),
        # a table ends, so its rounds are not iid
        ("table:rewards=[[.5,.1]],costs=[.3,.4]", False, "per arm"),
        ("table:rewards=[[.5,.1],[.5,.1]],costs=[.3,.4]", False, "per arm"),
        ("table:rewards=[[.5,.1]],costs=[.3,.3]", False, "one"),
        ("table:rewards=[[.5,.1],[.5,.1]],costs=[.3,.3]", False, "one"),
    ],
)
def test_the_setting_of_a_world(world: str, iid: bool, costs: str) -> None:
    name = world.partition(":")[0]
    assert setting_of(worlds.make(world, 100)) == Setting(iid, costs, name)
    if name == "table" and costs == "per arm":
        assert not row_of(world, "Theorem 1").applies
        assert not row_of(world, "Proposition C").applies
    if name == "table" and costs == "one":
        assert row_of(world, "Theorem 3").value is None


def test_a_constant_cost_is_the_one_cost_only_at_the_declared_least() -> None:
    world = worlds.bernoulli(rewards=[0.9, 0.1], costs=[0.5, 0.5])
    assert setting_of(world).costs == "one"
    wider = replace(world, cost_min=world.cost_min // 5)
    assert setting_of(wider).costs == "per arm"
    setting = Setting(True, "per arm", "bernoulli")
    bound = row_of(wider, "Proposition C")
    assert bound == proposition_c(2, 100, 0.1, cost_max=0.5, setting=setting)
    assert bound.applies


def test_arms_that_are_as_good_as_the_best_up_to_rounding_have_no_gap() -> None:
    world = worlds.bernoulli(rewards=[0.9, 0.3, 0.1], costs=[0.3, 0.1, 0.1])
    assert world.efficiencies is not None
    assert 0 < world.efficiencies.max() - world.efficiencies[1] < 1e-12
    third = row_of(world, "Theorem 3")
    assert value(third) == pytest.approx(value(theorem3([2], 100, 0.1, cost_max=0.3)))
    for equal in (worlds.bernoulli([0.5, 0.5], [0.3, 0.3]), worlds.bernoulli([0, 0], [0.3, 0.2])):
        assert row_of(equal, "Theorem 3").value == 0


# other policies


def published(**changes: Any) -> dict[str, Bound]:
    known: dict[str, Any] = {
        "n_arms": 4,
        "budget": 100.0,
        "cost_min": 0.5,
        "gaps": [0.5, 1.0],
        "horizon": 150,
        "setting": Setting(True, "per arm"),
        **changes,
    }
    return {row.name: row for row in published_bounds.table(**known)}


def test_over_two_hundred_rounds_and_four_arms() -> None:
    found, log = published(delta=0.1), math.log
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
    found = published()
    assert set(found) <= set(purse.policies.names())
    assert found["ucb-bv1"].value == pytest.approx(math.log(200) * 3)
    assert found["ucb-bv1"].side == "order"
    assert found["primal-dual-bwk"].value == pytest.approx(2.5 * math.sqrt(4 * 150 * math.log(150)))
    assert published(gaps=None)["kube"].value is None
    assert published(horizon=None)["lagrange-bwk"].value is None


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
    found = published(setting=setting)
    assert (found["kube"].applies, found["ucb-bv2"].applies) == (kube, ucb)
    assert found["exp3.p.bwk"].applies


def test_published_bounds_know_ratios_of_amounts_only() -> None:
    one, ten = published(), published(budget=1000.0, cost_min=5.0, cost_max=10.0, gaps=[0.05, 0.1])
    assert ten["exp3-ix"].value == pytest.approx(one["exp3-ix"].value)
    assert ten["exp3-ix.bwk"].value == pytest.approx(one["exp3-ix.bwk"].value / 10)
    assert ten["omega-ucb"].value == pytest.approx(one["omega-ucb"].value)


def test_measured_efficiency_stays_below_the_bound() -> None:
    for policy in ("exp3.p.bwk", "exp3-ix.bwk"):
        world = "bernoulli:rewards=[.9,.6,.3,.2],costs=[.9,.5,.5,1]"
        regrets = purse.lab.regrets(policy, world, 100, n_paths=20, device="python")
        assert regrets["own_rounds"].high < published()[policy].value


def test_one_arm_and_equal_costs_have_nothing_to_lose() -> None:
    assert published(n_arms=1, gaps=[])["exp3.p"].value == 0
    assert published(cost_min=1.0)["exp3.m.b"].value is None
