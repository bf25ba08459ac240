import math
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest

import purse
from purse.lab.study import summary
from purse.lab.theory import bound, bounds
from purse.worlds.bernoulli import bernoulli

FIXED = bernoulli(rewards=[0.9, 0.6], costs=[0.8, 0.3])  # reward per cost: 1.125 and 2
ARRAY = pl.Array(pl.Int64, 2)
LINEAR = [10.0, 100.0], [np.full(2, 5.0), np.full(2, 50.0)]  # regret that is half the budget
THEOREM_1 = "exp3.bwk", "Theorem 1"


def test_a_row_of_the_table_by_hand() -> None:
    """Four values 1, 2, 3, 6: mean 3, variance 14/3, standard error sqrt(14/12); Student's t with 3
    degrees of freedom is 3.182446.
    """
    runs = {
        "gain": [1.0, 2.0, 3.0, 6.0],
        "regret": [-1.0, 1.0, -1.0, 1.0],
        "left": [0.0, 0.5, 0.5, 0.0],
        "rounds": [4, 6, 8, 8],
        "ended": [True, False, True, True],
    }
    row = summary._table_row(pl.DataFrame(runs))
    half, error = 3.182446305284263 * math.sqrt(14 / 12), math.sqrt(4 / 3 / 4)
    low, high = -3.182446305284263 * error, 3.182446305284263 * error
    expected = [4, 3, 3 - half, 3 + half, 0, error, low, high, 0.25, 6.5, 3]
    names = "n_paths gain gain_low gain_high regret error low high left rounds ended"
    assert list(row.values()) == pytest.approx(expected)
    assert " ".join(row) == names
    assert list(row) == summary.COLUMNS["table"].split()[3:]


def test_shares_are_of_the_pulls_in_each_slice_and_not_up_to_its_end() -> None:
    pulls = np.array([[3, 1], [4, 4], [4, 4], [9, 4]])
    world = replace(FIXED, arms=("0", "cheap"))
    rows = list(summary._share_rows(world, [0.25, 0.5, 0.75, 1.0], pulls))
    assert rows == [
        {"fraction": fraction, "arm": world.arm_names[arm], "share": share}
        for fraction, shares in ((0.25, (0.75, 0.25)), (0.5, (0.25, 0.75)), (1.0, (1.0, 0.0)))
        for arm, share in enumerate(shares)
    ]


def test_groups_are_means_of_neighbours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(summary, "_GROUPS", 3)
    for values, groups in (
        ([1.0, 2, 3], [1, 2, 3]),
        ([1.0, 3, 5, 7, 9, 11], [2, 6, 10]),
        ([1.0, 3, 5, 7, 9], [2, 6]),  # the last has nobody to go with
        ([4.0], [4]),
    ):
        assert summary._in_groups(np.array(values)).tolist() == groups


def test_two_budgets_tell_a_slope_and_three_a_shape() -> None:
    budgets = [100.0, 10_000.0, 1000.0]
    regrets = [np.full(4, math.sqrt(budget)) for budget in budgets]
    slope = {"slope": 0.5, "low": 0.5, "high": 0.5}
    three, two = (
        summary._growth_row(budgets, regrets),
        summary._growth_row(budgets[:2], regrets[:2]),
    )
    assert three == pytest.approx({**slope, "shape": "√B", "misfit": 0.0}, abs=1e-9)
    assert two == pytest.approx({**slope, "shape": None, "misfit": None})
    assert summary._growth_row(*LINEAR)["slope"] == pytest.approx(1)


@pytest.mark.parametrize("regrets", [[0.0, 0.0], [1.0, -1.0]], ids=["none", "none on average"])
def test_no_regret_does_not_grow(regrets: list[float]) -> None:
    row = summary._growth_row([1.0, 2.0, 3.0], [np.array(regrets)] * 3)
    assert all(math.isnan(row[name]) for name in ("slope", "low", "high"))
    assert (row["shape"], row["misfit"]) == (None, None)


def rows_of(
    world: purse.lab.World = FIXED, policies: tuple[str, ...] = ("exp3.bwk", "uniform"), **how: Any
) -> dict[tuple[str, str], dict[str, Any]]:
    rows = summary._bound_rows(world, 100, policies, **{"stop": "exit"} | how)
    return {(row["policy"], row["name"]): row for row in rows}


def test_bounds_are_those_of_the_policies_and_of_every_player() -> None:
    found = rows_of()
    # nothing is proved about `uniform`
    assert {policy for policy, _ in found} == {"exp3.bwk", "every player"}
    stated = bounds.theorem1(2, 100, 0.3, cost_max=0.8, setting=bound.setting_of(FIXED))
    said = {"value": stated.value, "holds": stated.holds, "source": stated.source}
    name = {"policy": "exp3.bwk", "name": "Theorem 1"}
    assert found[THEOREM_1] == {**name, "side": "at most", "applies": True, **said}
    assert ("exp3.bwk", "Proposition A") not in found  # about efficiency, which is another regret
    assert found["exp3.bwk", "Proposition C"]["applies"]
    other = rows_of(policies=("exp3++.bwk",))
    assert {("exp3++.bwk", "Theorem 4, derived"), ("exp3++.bwk", "Proposition C")} <= other.keys()


@pytest.mark.parametrize(
    ("world", "how", "unmet"),
    [
        (replace(FIXED, horizon=50), {}, "the game ends by its budget alone"),
        (replace(FIXED, n_rounds=50), {}, "the game ends by its budget alone"),
        (replace(FIXED, horizon=50, n_rounds=50), {}, "the game ends by its budget alone"),
        (replace(FIXED, reward_range=(-1.0, 1.0)), {}, "the worst reward is 0"),
        (FIXED, {"stop": "retry"}, "the stop rule is exit"),
        (FIXED, {"late": True}, "no report comes late"),
        (FIXED, {"policies": ("exp3.bwk:gamma=0.5",)}, "the policy has no options"),
    ],
)
def test_a_theorem_that_is_about_another_game_does_not_apply_and_says_why(
    world: purse.lab.World, how: dict[str, Any], unmet: str
) -> None:
    found = rows_of(world, **{"policies": ("exp3.bwk", "ucb-bv1", "primal-dual-bwk")} | how)
    proved = rows_of()[THEOREM_1]
    (policy,) = {policy for policy, name in found if policy.startswith("exp3.bwk")}
    row = found[policy, "Theorem 1"]
    low, high = world.reward_range
    assert row["holds"] == f"{proved['holds']}; and {unmet}"
    assert row["value"] == (high - low) * proved["value"]
    # but those about a horizon apply where there is one
    about = {"primal-dual-bwk"} if world.horizon is not None else set()
    assert {policy for (policy, _), row in found.items() if row["applies"]} == about


@pytest.mark.parametrize(
    "world",
    [
        bernoulli(rewards=[1, 1], costs=[[1, 3], [1, 1]]),
        replace(FIXED, cost_min=0 * FIXED.cost_min, costs=None, horizon=10),
        bernoulli(rewards=[1, 1], costs=["0.000000001", 10]),
    ],
    ids=["resources", "free", "all but free"],
)
def test_worlds_that_the_theorems_do_not_know_have_no_bounds(world: purse.lab.World) -> None:
    assert list(summary._bound_rows(world, 10, ["exp3.bwk"], "exit")) == []


def test_references_are_the_best_arm_alone_and_the_linear_program() -> None:
    rows = list(summary._reference_rows(FIXED, 30, np.array([[30.0, 34.0], [58.0, 61.0]])))
    assert rows == [
        {"name": "best arm alone (1)", "gain": 59.5},
        {"name": "LP optimum", "gain": pytest.approx(60)},
    ]
    named = summary._reference_rows(
        replace(FIXED, arms=("dear", "cheap")), 30, np.array([[70.0, 71.0], [58.0, 61.0]])
    )
    assert next(named) == {"name": "best arm alone (dear)", "gain": 70.5}


def test_the_linear_program_is_the_optimum_in_the_unit_of_the_user() -> None:
    """30 buys 37.5 pulls of the first arm or 100 of the second, which are worth 2 r - 1 each: 0.8
    or 0.2; 4 r - 3: 0.6 or -0.6.
    """
    for scale, gain in {(0.0, 2.0): 120, (-1.0, 1.0): 30, (-3.0, 1.0): 22.5}.items():
        world = replace(FIXED, reward_range=scale)
        _, optimum = summary._reference_rows(world, 30, np.zeros((2, 1)))
        assert optimum == {"name": "LP optimum", "gain": pytest.approx(gain)}


def test_the_means_of_arms_that_change_are_measured() -> None:
    world = purse.worlds.make("two_worlds:world=2", 10)
    runs = [
        pl.DataFrame({"gain": [g], "left": [0.0], "pulls": pl.Series([p], dtype=ARRAY)})
        for g, p in ((10.0, [10, 0]), (90.0, [0, 100]))
    ]
    for frame, expected in zip(
        summary._arm_rows(world, 10, runs), [(1.0, 1.0, 1.0), (0.9, 0.1, 9.0)], strict=True
    ):
        found = frame["reward"], frame["cost"], frame["efficiency"]
        assert found == pytest.approx(expected)
        assert frame["best"] == (frame["arm"] == "1")


def test_frames_have_the_same_columns_with_and_without_rows() -> None:
    for name, columns in summary.COLUMNS.items():
        empty = summary._framed(name, [])
        assert empty.columns == columns.split()
        assert len(empty) == 0
    rows = [
        {"world": "w", "budget": 100.0, **row}
        for row in summary._bound_rows(FIXED, 100, ["exp3.bwk"], "exit")
    ]
    schema = summary._framed("bounds", []).schema
    assert (summary._framed("bounds", rows).schema, schema["applies"]) == (schema, pl.Boolean)
    assert summary._framed("table", []).schema["n_paths"] == pl.Int64
