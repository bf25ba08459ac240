from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from purse.lab.theory.notions import NOTIONS, RunEvidence, against_best_fixed_arm, best_arm


def test_the_arm_is_best_on_average_and_the_difference_is_paired() -> None:
    fixed = np.array([[10.0, 0.0, 2.0], [5.0, 5.0, 5.0]])
    assert best_arm(fixed) == 1
    # of arms that are equally good the first
    assert best_arm(np.array([[1.0, 2.0], [0.0, 4.0], [4.0, 0.0]])) == 1
    assert against_best_fixed_arm(np.array([4.0, 5.0, 7.0]), fixed).tolist() == [1.0, 0.0, -2.0]


# One budget of 12, two paths, three arms. On each path another arm is best, in gain, in efficiency
# and over the player's own rounds.
SEEN = RunEvidence(
    budget=12.0,
    gain=np.array([10.0, 14.0]),
    rounds=np.array([30, 30]),
    left=np.array([4.0, 0.0]),
    efficiency=np.array([30.0, 40.0]),
    pulls=np.array([[10, 12, 8], [5, 15, 10]]),
    fixed_gain=np.array([[24.0, 4.0], [16.0, 18.0], [2.0, 30.0]]),  # means 14, 17, 16: arm 1
    fixed_rounds=np.array([[24, 40], [12, 15], [60, 60]]),
    # means 60, 55, 55: arm 0, which is i*
    fixed_efficiency=np.array([[50.0, 70.0], [90.0, 20.0], [10.0, 100.0]]),
    counterfactual=np.array([[35.0, 41.0], [60.0, 10.0], [31.0, 49.0]]),  # means 38, 35, 40: arm 2
    reward_means=np.array([0.5, 0.9, 0.2]),
    cost_means=np.array([0.25, 0.6, 0.8]),  # efficiencies 2, 1.5, 0.25; gaps 0, 0.5, 1.75
    own_clock=np.array([[19.0, 14.0], [12.0, 25.0], [20.0, 15.0]]),  # means 16.5, 18.5, 17.5
    greedy=20.0,
    knapsack=21.0,
    optimum=22.5,
)
BY_HAND = {
    "best_fixed_arm": [16 - 10, 18 - 14],
    "paper_arm": [24 - 10, 4 - 14],
    "line_1": [12 / 24 * 50 - 10, 12 / 40 * 70 - 14],
    # z: 12/24 beats 8/30, then 12/30 beats 12/40
    "line_2": [12 / 24 * (50 - 30), 12 / 30 * (70 - 40)],
    "efficiency_sums": [50 - 30, 70 - 40],
    "own_rounds": [31 - 30, 49 - 40],
    "own_clock": [12 - 10, 25 - 14],
    "round_gap": [30 - 24, 40 - 30],
    "best_efficiency": [12 * 2 - 10, 12 * 2 - 14],
    "pseudo_regret": [12 * 0.6 * 0.5 + 8 * 0.8 * 1.75, 15 * 0.6 * 0.5 + 10 * 0.8 * 1.75],
    "paper_pseudo_regret": [12 * 0.5 + 8 * 1.75, 15 * 0.5 + 10 * 1.75],
    "greedy": [20 - 10, 20 - 14],
    "knapsack": [21 - 10, 21 - 14],
    "optimum": [22.5 - 10, 22.5 - 14],
    "leftover": [4, 0],
}


def test_every_notion_is_what_one_gets_by_hand_and_has_a_line_that_says_what_it_is() -> None:
    assert list(NOTIONS) == list(BY_HAND)
    for name, notion in NOTIONS.items():
        values = notion(SEEN)
        assert values is not None
        assert values.dtype == np.float64
        assert values.tolist() == pytest.approx(BY_HAND[name])
        first = (notion.__doc__ or "").partition("\n\n")[0]  # a paragraph of its own
        assert first.strip().endswith(".")


NEED_MEANS = ["best_efficiency", "pseudo_regret", "paper_pseudo_regret"]


@pytest.mark.parametrize(
    ("changes", "missing"),
    [
        ({"reward_means": None, "cost_means": None}, NEED_MEANS),
        ({"reward_means": None}, NEED_MEANS),
        ({"cost_means": None}, NEED_MEANS),
        *(({name: None}, [name]) for name in ("greedy", "knapsack", "optimum", "own_clock")),
        ({"greedy": 0.0}, []),
    ],
)
def test_a_notion_without_what_it_needs_is_none(
    changes: dict[str, Any], missing: list[str]
) -> None:
    seen = replace(SEEN, **changes)
    assert [name for name, notion in NOTIONS.items() if notion(seen) is None] == missing


def test_paths_and_arms_without_a_round_have_every_notion() -> None:
    none = {"gain": np.zeros(2), "rounds": np.zeros(2, np.int64), "left": np.full(2, 12.0)}
    pulls = {"efficiency": np.zeros(2), "pulls": np.zeros((2, 3), np.int64)}
    nothing = replace(SEEN, **none, **pulls)
    values = {name: notion(nothing) for name, notion in NOTIONS.items()}
    assert all(value is not None and np.isfinite(value).all() for value in values.values())
    assert values["line_2"].tolist() == [12 / 24 * 50, 12 / 40 * 70]
    assert values["leftover"].tolist() == [12, 12]
    # on the second path T(i*) = 0, and so the arm's sum of efficiencies: B / T(i*) counts as B
    unpaid = replace(
        SEEN,
        fixed_rounds=np.array([[24, 0], [12, 15], [60, 60]]),
        fixed_efficiency=np.array([[150.0, 0.0], [90.0, 20.0], [10.0, 100.0]]),
    )
    assert NOTIONS["line_1"](unpaid).tolist() == [12 / 24 * 150 - 10, -14]
    assert NOTIONS["line_2"](unpaid).tolist() == [12 / 24 * (150 - 30), 12 * (0 - 40)]
    alone = {"fixed_gain": np.zeros((3, 2)), "fixed_efficiency": np.zeros((3, 2))}
    poor = replace(nothing, fixed_rounds=np.zeros((3, 2), np.int64), **alone)
    for notion in ("line_1", "line_2"):
        assert NOTIONS[notion](poor).tolist() == [0, 0]
