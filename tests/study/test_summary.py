from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import purse
from purse.study import summary
from purse.theory import bounds
from purse.theory.growth import fit_growth
from purse.worlds.bernoulli import bernoulli
from purse.worlds.misleading_ratio import misleading_ratio
from purse.worlds.two_point import two_point
from purse.worlds.two_worlds import two_worlds

FIXED = bernoulli(rewards=[0.9, 0.6], costs=[0.8, 0.3])  # reward per cost: 1.125 and 2
ONE_COST = bernoulli(rewards=[0.9, 0.6], costs=[0.5, 0.5])
RANDOM = two_point(rewards=[0.9, 0.6], costs=[0.6, 0.3], cost_min=0.2)


def test_a_row_of_the_table_by_hand() -> None:
    """Four values 1, 2, 3, 6: mean 3, variance 14/3, standard error sqrt(14/12); Student's t with 3
    degrees of freedom is 3.182446.
    """
    runs = pl.DataFrame(
        {
            "gain": [1.0, 2.0, 3.0, 6.0],
            "regret": [-1.0, 1.0, -1.0, 1.0],
            "left": [0.0, 0.5, 0.5, 0.0],
            "rounds": [4, 6, 8, 8],
        }
    )
    row = summary.table_row(runs.with_columns(ended=pl.Series([True, False, True, True])))
    half, error = 3.182446305284263 * math.sqrt(14 / 12), math.sqrt(4 / 3 / 4)
    expected = {
        "n_paths": 4,
        "gain": 3,
        "gain_low": 3 - half,
        "gain_high": 3 + half,
        "regret": 0,
        "error": error,
    }
    expected |= {
        "low": -3.182446305284263 * error,
        "high": 3.182446305284263 * error,
        "left": 0.25,
        "rounds": 6.5,
        "ended": 3,
    }
    assert row == pytest.approx(expected)
    assert list(row) == summary.COLUMNS["table"].split()[3:]


def test_one_path_has_means_and_no_intervals() -> None:
    row = summary.table_row(
        pl.DataFrame(
            {"gain": [2.0], "regret": [1.0], "left": [0.5], "rounds": [4], "ended": [False]}
        )
    )
    assert (row["gain"], row["regret"], row["left"], row["rounds"], row["ended"]) == (
        2,
        1,
        0.5,
        4,
        0,
    )
    assert all(math.isnan(row[name]) for name in ("gain_low", "gain_high", "error", "low", "high"))


def test_shares_are_of_the_pulls_in_each_slice_and_not_up_to_its_end() -> None:
    pulls = np.array([[3, 1], [4, 4], [4, 4], [9, 4]])
    rows = list(summary.share_rows(FIXED, [0.25, 0.5, 0.75, 1.0], pulls))
    assert rows == [
        {"fraction": 0.25, "arm": "0", "share": 0.75},
        {"fraction": 0.25, "arm": "1", "share": 0.25},
        {"fraction": 0.5, "arm": "0", "share": 0.25},
        {"fraction": 0.5, "arm": "1", "share": 0.75},
        {"fraction": 1.0, "arm": "0", "share": 1.0},
        {"fraction": 1.0, "arm": "1", "share": 0.0},
    ]


def test_shares_have_the_names_of_the_arms() -> None:
    world = replace(FIXED, arms=("dear", "cheap"))
    assert [
        (row["arm"], row["share"]) for row in summary.share_rows(world, [1.0], np.array([[1, 3]]))
    ] == [("dear", 0.25), ("cheap", 0.75)]
    assert list(summary.share_rows(world, [0.5, 1.0], np.zeros((2, 2), np.int64))) == []


@given(
    arrays.arrays(np.int64, st.tuples(st.integers(1, 5), st.just(2)), elements=st.integers(0, 50))
)
def test_the_shares_of_a_slice_add_up_to_one(slices: Any) -> None:
    rows = list(summary.share_rows(FIXED, np.arange(len(slices)).tolist(), slices.cumsum(axis=0)))
    sums = [
        sum(row["share"] for row in rows if row["fraction"] == number)
        for number in range(len(slices))
    ]
    assert sums == pytest.approx([float(each.sum() > 0) for each in slices])


def test_groups_are_means_of_neighbours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(summary, "GROUPS", 3)
    assert summary.in_groups(np.array([1.0, 2, 3])).tolist() == [1, 2, 3]
    assert summary.in_groups(np.array([1.0, 3, 5, 7, 9, 11])).tolist() == [2, 6, 10]
    # the last has nobody to go with
    assert summary.in_groups(np.array([1.0, 3, 5, 7, 9])).tolist() == [2, 6]
    assert summary.in_groups(np.array([4.0])).tolist() == [4]


@given(st.integers(1, 5000))
def test_there_are_at_most_so_many_groups_and_few_paths_are_left_out(n_paths: int) -> None:
    groups = summary.in_groups(np.full(n_paths, 2.0))
    assert len(groups) <= summary.GROUPS
    assert len(groups) == n_paths or len(groups) > summary.GROUPS / 2 - 1
    assert (groups == 2).all()


def test_two_budgets_tell_a_slope_and_three_a_shape() -> None:
    budgets, regrets = (
        [100.0, 10_000.0, 1000.0],
        [np.full(4, 10.0), np.full(4, 100.0), np.full(4, math.sqrt(1000))],
    )
    assert summary.growth_row(budgets, regrets) == pytest.approx(
        {"slope": 0.5, "low": 0.5, "high": 0.5, "shape": "√B", "misfit": 0.0}, abs=1e-9
    )
    assert summary.growth_row(budgets[:2], regrets[:2]) == pytest.approx(
        {"slope": 0.5, "low": 0.5, "high": 0.5, "shape": None, "misfit": None}
    )
    assert summary.growth_row([10.0, 100.0], [np.full(2, 5.0), np.full(2, 50.0)])[
        "slope"
    ] == pytest.approx(1)


def test_the_order_of_the_budgets_does_not_matter() -> None:
    regrets = np.random.default_rng(5).gamma(2.0, size=(3, 20)) * np.array([[10.0], [20.0], [30.0]])
    rows = [
        summary.growth_row([budgets[i] for i in order], [regrets[i] for i in order])
        for budgets in [[1e2, 1e3, 1e4]]
        for order in ([0, 1, 2], [2, 0, 1])
    ]
    assert rows[0] == rows[1]
    found = fit_growth(np.array([1e2, 1e3, 1e4]), regrets)
    assert rows[0] == {
        "slope": found.slope,
        "low": found.low,
        "high": found.high,
        "shape": found.shape,
        "misfit": found.misfits[found.shape],
    }
    assert found.low < found.slope < found.high


@pytest.mark.parametrize(
    "regrets", [[[0.0, 0.0]] * 3, [[1.0, -1.0]] * 3], ids=["none", "none on average"]
)
def test_no_regret_does_not_grow(regrets: list[list[float]]) -> None:
    row = summary.growth_row([1.0, 2.0, 3.0], [np.array(each) for each in regrets])
    assert all(math.isnan(row[name]) for name in ("slope", "low", "high"))
    assert (row["shape"], row["misfit"]) == (None, None)


def test_regret_that_is_not_positive_everywhere_has_no_slope() -> None:
    row = summary.growth_row([1.0, 2.0], [np.array([0.0, 0.0]), np.array([1.0, 2.0])])
    assert math.isnan(row["slope"])


def rows_of(
    world: purse.World,
    budget: float = 100,
    policies: tuple[str, ...] = ("exp3.bwk", "uniform"),
    stop: str = "exit",
) -> dict[tuple[str, str], dict[str, Any]]:
    return {
        (row["policy"], row["name"]): row
        for row in summary.bound_rows(world, budget, policies, stop)
    }


def test_bounds_are_those_of_the_policies_and_of_every_player() -> None:
    found = rows_of(FIXED)
    # nothing is proved about `uniform`
    assert {policy for policy, _ in found} == {"exp3.bwk", "every player"}
    first = found["exp3.bwk", "Theorem 1"]
    stated = bounds.theorem1(2, 100, 0.3, cost_max=0.8, setting=bounds.setting_of(FIXED))
    assert first == {
        "policy": "exp3.bwk",
        "name": "Theorem 1",
        "side": "at most",
        "value": stated.value,
        "applies": True,
        "holds": stated.holds,
        "source": stated.source,
    }
    assert ("exp3.bwk", "Proposition A") not in found  # about efficiency, which is another regret
    assert found["exp3.bwk", "Proposition C"]["applies"]
    assert {
        name for policy, name in rows_of(FIXED, policies=("exp3++.bwk",)) if policy == "exp3++.bwk"
    } >= {"Theorem 4, derived", "Proposition C"}


@pytest.mark.parametrize(
    ("world", "applies"),
    [
        (FIXED, True),
        (ONE_COST, True),
        (RANDOM, False),
        (misleading_ratio(), False),
        (two_worlds(100, world=2), False),
    ],
    ids=lambda x: str(x)[:20],
)
def test_a_bound_applies_only_where_it_is_proved(world: purse.World, applies: bool) -> None:
    found = rows_of(world)
    assert found["exp3.bwk", "Theorem 1"]["applies"] is applies
    assert found["every player", "Theorem 2"]["applies"] is False


def test_the_lower_bound_of_the_two_worlds_applies_there() -> None:
    applying = {key for key, row in rows_of(two_worlds(100, world=2)).items() if row["applies"]}
    assert applying
    assert all(policy == "every player" for policy, _ in applying)


@pytest.mark.parametrize(
    "limit", [{"horizon": 50}, {"n_rounds": 50}, {"horizon": 50, "n_rounds": 50}], ids=str
)
def test_where_rounds_run_out_only_theorems_about_a_horizon_apply(limit: dict[str, int]) -> None:
    found = rows_of(replace(FIXED, **limit), policies=("exp3.bwk", "ucb-bv1", "primal-dual-bwk"))
    assert {policy for (policy, _), row in found.items() if row["applies"]} == (
        {"primal-dual-bwk"} if "horizon" in limit else set()
    )
    assert found["exp3.bwk", "Theorem 1"]["holds"].endswith(
        "; and the game ends by its budget alone"
    )


def test_bounds_are_in_the_unit_of_the_user() -> None:
    plain, dollars = rows_of(FIXED), rows_of(replace(FIXED, reward_range=(0.0, 50.0)))
    assert plain.keys() == dollars.keys()
    for key, row in plain.items():
        assert dollars[key] == {**row, "value": 50 * row["value"]}


def test_no_theorem_applies_where_the_worst_reward_is_not_0() -> None:
    found = rows_of(replace(FIXED, reward_range=(-1.0, 1.0)))
    assert not any(row["applies"] for row in found.values())
    assert (
        found["exp3.bwk", "Theorem 1"]["value"]
        == 2 * rows_of(FIXED)["exp3.bwk", "Theorem 1"]["value"]
    )
    assert found["exp3.bwk", "Theorem 1"]["holds"].endswith("; and the worst reward is 0")


def test_what_is_proved_is_about_the_policy_as_it_is_published() -> None:
    found = rows_of(FIXED, policies=("exp3.bwk", "exp3.bwk:gamma=0.5"))
    assert found["exp3.bwk", "Theorem 1"]["applies"]
    assert not found["exp3.bwk:gamma=0.5", "Theorem 1"]["applies"]
    assert found["exp3.bwk:gamma=0.5", "Theorem 1"]["holds"].endswith(
        "; and the policy has no options"
    )
    assert (
        found["exp3.bwk:gamma=0.5", "Theorem 1"]["value"] == found["exp3.bwk", "Theorem 1"]["value"]
    )


@pytest.mark.parametrize(
    "world",
    [
        bernoulli(rewards=[1, 1], costs=[[1, 3], [1, 1]]),
        replace(FIXED, cost_min=0 * FIXED.cost_min, costs=None, horizon=10),
        bernoulli(rewards=[1, 1], costs=["0.000000001", 10]),
    ],
    ids=["resources", "free", "all but free"],
)
def test_worlds_that_the_theorems_do_not_know_have_no_bounds(world: purse.World) -> None:
    assert list(summary.bound_rows(world, 10, ["exp3.bwk"], "exit")) == []


def test_references_are_the_best_arm_alone_and_the_linear_program() -> None:
    rows = list(summary.reference_rows(FIXED, 30, np.array([[30.0, 34.0], [58.0, 61.0]])))
    assert rows == [
        {"name": "best arm alone (1)", "gain": 59.5},
        {"name": "LP optimum", "gain": pytest.approx(60)},
    ]
    named = summary.reference_rows(
        replace(FIXED, arms=("dear", "cheap")), 30, np.array([[70.0, 71.0], [58.0, 61.0]])
    )
    assert next(named) == {"name": "best arm alone (dear)", "gain": 70.5}


def test_the_linear_program_is_the_optimum_in_the_unit_of_the_user() -> None:
    """30 buys 37.5 pulls of the first arm or 100 of the second, which are worth 2 r - 1 each: 0.8
    or 0.2; 4 r - 3: 0.6 or -0.6.
    """
    alone = np.zeros((2, 1))
    gains = {
        scale: list(summary.reference_rows(replace(FIXED, reward_range=scale), 30, alone))[1][
            "gain"
        ]
        for scale in ((0.0, 2.0), (-1.0, 1.0), (-3.0, 1.0))
    }
    assert gains == pytest.approx({(0.0, 2.0): 120, (-1.0, 1.0): 30, (-3.0, 1.0): 22.5})


def test_a_world_whose_means_change_has_no_linear_program() -> None:
    world = purse.worlds.make(
        "switching:segments=[30,10],rewards=[[.8,.5],[.1,.9]],costs=[.5,.5]", 10
    )
    assert [row["name"] for row in summary.reference_rows(world, 10, np.ones((2, 3)))] == [
        "best arm alone (0)"
    ]


def test_frames_have_the_same_columns_with_and_without_rows() -> None:
    for name, columns in summary.COLUMNS.items():
        empty = summary.framed(name, [])
        assert empty.columns == columns.split()
        assert len(empty) == 0
    growth = {
        "world": "w",
        "policy": "p",
        **summary.growth_row([10.0, 100.0], [np.full(2, 5.0), np.full(2, 50.0)]),
    }
    assert summary.framed("growth", [growth]).schema == summary.framed("growth", []).schema
    rows = [
        {"world": "w", "budget": 100.0, **row}
        for row in summary.bound_rows(FIXED, 100, ["exp3.bwk"], "exit")
    ]
    assert summary.framed("bounds", rows).schema == summary.framed("bounds", []).schema
    assert summary.framed("bounds", rows).schema["applies"] == pl.Boolean
    assert summary.framed("table", []).schema["n_paths"] == pl.Int64


def test_theorems_are_about_the_stop_rule_exit_and_say_so() -> None:
    proved = rows_of(FIXED)["exp3.bwk", "Proposition C"]
    other = rows_of(FIXED, stop="retry")["exp3.bwk", "Proposition C"]
    assert (proved["applies"], other["applies"]) == (True, False)
    assert other["holds"] == f"{proved['holds']}; and the stop rule is exit"
