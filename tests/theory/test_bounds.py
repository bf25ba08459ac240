from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import pytest

from purse import worlds
from purse.theory import bounds
from purse.theory.bounds import (
    ADVERSARIAL,
    Bound,
    Setting,
    for_world,
    proposition_c,
    setting_of,
    table,
    theorem1,
    theorem2,
    theorem3,
    theorem4,
    theorem5,
    two_worlds,
)
from tests.support.bounds import (
    ONE_COST,
    PER_ARM,
    RANDOM_COSTS,
    value,
)


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
    rows = {
        (bound.name, bound.bounds): bound for bound in table(2, 100, 0.5, gaps=[1], setting=setting)
    }
    always = [bound.applies for (name, _), bound in rows.items() if name == "Proposition A"]
    never = [
        bound.applies
        for (name, _), bound in rows.items()
        if name
        in ("Theorem 2", "Theorem 3", "Theorem 4, statement", *(row.name for row in bounds.TABLE_1))
    ]
    assert (len(always), all(always)) == (2, True)
    assert (len(never), any(never)) == (8, False)


LOWER: dict[str, Callable[[Setting], Bound]] = {
    "theorem2": lambda setting: theorem2(2, 100, 0.5, form="corrected", setting=setting),
    "theorem5": lambda setting: theorem5(100, setting=setting),
    "two_worlds": lambda setting: two_worlds(100, 0.5, setting=setting),
}


@pytest.mark.parametrize("name", LOWER)
def test_a_lower_bound_applies_to_its_own_world_only(
    name: str,
) -> None:
    plain = LOWER[name](ADVERSARIAL)
    assert plain.applies
    for world in (None, *worlds.names(), "my_world.py", ""):
        bound = LOWER[name](Setting(world=world))
        assert bound.applies == (world in (None, name))
        assert bound._replace(applies=True) == plain


def test_an_upper_bound_applies_whatever_the_world_is_called() -> None:
    for world in (None, *worlds.names(), "my_world.py"):
        for setting, proved in (
            (Setting(True, "per arm", world), True),
            (Setting(False, "one", world), True),
            (Setting(True, "any", world), False),
        ):
            rows = [*table(2, 100, 0.5, setting=setting)]
            assert [
                row.applies
                for row in rows
                if row.name
                in ("Theorem 1", "Theorem 4, proof", "Theorem 4, derived", "Proposition C")
            ] == [proved] * 5
            assert [row.applies for row in rows if row.name == "Proposition A"] == [True] * 2


def test_two_worlds_needs_a_world_of_its_kind_whatever_its_name() -> None:
    for setting in (
        Setting(False, "one", "two_worlds"),
        Setting(True, "any", "two_worlds"),
        Setting(True, "per arm", "two_worlds"),
    ):
        assert not two_worlds(100, 0.5, setting=setting).applies
    assert two_worlds(100, 0.5, setting=Setting(False, "per arm", "two_worlds")).applies


def test_a_bound_gives_its_value_where_it_does_not_hold_too() -> None:
    assert (
        theorem1(2, 8, 0.5, setting=ADVERSARIAL).value
        == theorem1(2, 8, 0.5, setting=ONE_COST).value
    )
    assert (
        proposition_c(2, 8, 0.5, setting=ADVERSARIAL).value
        == proposition_c(2, 8, 0.5, setting=PER_ARM).value
    )
    assert two_worlds(8, 0.5, setting=ONE_COST).value == two_worlds(8, 0.5).value == 2
    assert two_worlds(8, 1).value == 0
    assert not two_worlds(8, 1).applies


def test_theorem2_corrected_needs_a_gap_below_a_half() -> None:
    assert theorem2(10, 5, 1, form="corrected").applies
    too_small = theorem2(10, 2, 1, form="corrected")
    assert (too_small.value, too_small.applies) == (0, False)
    nothing = theorem2(10, 0.5, 1, form="corrected")
    assert (nothing.value, nothing.applies) == (0, False)


def test_a_table_has_every_bound_once() -> None:
    rows = table(3, 100, 0.5)
    assert [row.name for row in rows[:13]] == [
        "Theorem 1",
        "Theorem 2",
        "Theorem 2, corrected",
        "Theorem 3",
        "Theorem 4, statement",
        "Theorem 4, proof",
        "Theorem 4, derived",
        "Theorem 5",
        "κ(c)·B",
        "Proposition A",
        "Proposition A",
        "Proposition C",
        "Proposition C",
    ]
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
    for made, said in zip(
        rows,
        table(n_arms, 100, cost_min, cost_max=cost_max, gaps=positive, setting=setting),
        strict=True,
    ):
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
    assert next(row for row in rows if row.name == "Theorem 5").value == 500


def test_one_arm_has_one_cost_and_one_segment_is_no_change() -> None:
    assert setting_of(worlds.bernoulli(rewards=[0.5], costs=[0.3])) == Setting(
        True, "one", "bernoulli"
    )
    assert setting_of(
        worlds.switching(segments=[7], rewards=[[0.5, 0.1]], costs=[0.3, 0.4])
    ) == Setting(True, "per arm", "switching")
    assert setting_of(
        worlds.switching(segments=7, rewards=[[0.5, 0.1], [0.1, 0.5]], costs=[0.3, 0.3])
    ) == Setting(False, "one", "switching")
    assert setting_of(
        worlds.two_point(rewards=[0.5, 0.1], costs=[0.3, 1], cost_min=0.3)
    ) == Setting(True, "per arm", "two_point")


def test_a_table_ends_so_its_rounds_are_not_iid() -> None:
    for n_rounds in (1, 2):
        several = worlds.table(rewards=[[0.5, 0.1]] * n_rounds, costs=[0.3, 0.4])
        assert setting_of(several) == Setting(False, "per arm", "table")
        assert not any(
            row.applies
            for row in for_world(several, 100)
            if row.name in ("Theorem 1", "Proposition C")
        )
        one = worlds.table(rewards=[[0.5, 0.1]] * n_rounds, costs=[0.3, 0.3])
        assert setting_of(one) == Setting(False, "one", "table")
        assert next(row for row in for_world(one, 100) if row.name == "Theorem 3").value is None


def test_a_constant_cost_is_the_one_cost_only_at_the_declared_least() -> None:
    world = worlds.bernoulli(rewards=[0.9, 0.1], costs=[0.5, 0.5])
    assert setting_of(world).costs == "one"
    wider = replace(world, cost_min=world.cost_min // 5)
    assert setting_of(wider).costs == "per arm"
    bound = next(row for row in for_world(wider, 100) if row.name == "Proposition C")
    assert bound == proposition_c(
        2, 100, 0.1, cost_max=0.5, setting=Setting(True, "per arm", "bernoulli")
    )
    assert bound.applies


def test_the_name_of_a_world_is_what_comes_before_its_options() -> None:
    assert setting_of(worlds.make("two_worlds:cost_min=.2,world=2", 100)) == Setting(
        False, "per arm", "two_worlds"
    )
    assert setting_of(worlds.two_worlds(100, 0.2, world=2)) == Setting(
        False, "per arm", "two_worlds"
    )


def test_arms_that_are_as_good_as_the_best_up_to_rounding_have_no_gap() -> None:
    world = worlds.bernoulli(rewards=[0.9, 0.3, 0.1], costs=[0.3, 0.1, 0.1])
    assert world.efficiencies is not None
    assert 0 < world.efficiencies.max() - world.efficiencies[1] < 1e-12
    found = next(row for row in for_world(world, 100) if row.name == "Theorem 3")
    assert value(found) == pytest.approx(value(theorem3([2], 100, 0.1, cost_max=0.3)))


def test_where_all_arms_are_equally_good_there_is_no_gap_at_all() -> None:
    for world in (
        worlds.bernoulli([0.5, 0.5], [0.3, 0.3]),
        worlds.bernoulli([0, 0], [0.3, 0.2]),
    ):
        assert next(row for row in for_world(world, 100) if row.name == "Theorem 3").value == 0


def test_the_world_of_theorem5_says_its_power() -> None:
    rows = {row.name: row for row in bounds.for_world("theorem5:alpha=.9", 1024)}
    assert rows["Theorem 5"].value == 256
    assert rows["Theorem 5"].applies
