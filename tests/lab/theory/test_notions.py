from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from purse.lab.theory.notions import NOTIONS, RunEvidence, against_best_fixed_arm, best_arm
from purse.types import Floats


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


@pytest.mark.parametrize("notion", NOTIONS)
def test_every_notion_is_what_one_gets_by_hand(notion: str) -> None:
    values = NOTIONS[notion](SEEN)
    assert values is not None
    assert values.dtype == np.float64
    assert values.tolist() == pytest.approx(BY_HAND[notion])


def test_every_notion_has_a_name_and_a_line_that_says_what_it_is() -> None:
    assert list(NOTIONS) == list(BY_HAND)
    assert len({tuple(values) for values in BY_HAND.values()}) == len(BY_HAND)
    for name, notion in NOTIONS.items():
        assert notion.__name__ == name
        first = (notion.__doc__ or "").partition("\n\n")[0]  # a paragraph of its own
        assert first.strip().endswith(".")


@pytest.mark.parametrize(
    ("notion", "table", "ours"),
    [
        ("best_fixed_arm", SEEN.fixed_gain, SEEN.gain),
        ("own_rounds", SEEN.counterfactual, SEEN.efficiency),
    ],
)
def test_an_arm_is_the_same_on_all_paths_though_each_path_has_a_better_one(
    notion: str, table: Floats, ours: Floats
) -> None:
    values = NOTIONS[notion](SEEN)
    assert values is not None
    assert values.mean() == table.mean(axis=1).max() - ours.mean()
    assert values.mean() < (table.max(axis=0) - ours).mean()


def test_the_papers_arm_has_the_largest_mean_sum_of_efficiencies() -> None:
    assert SEEN.paper_arm == 0
    assert replace(SEEN, fixed_efficiency=SEEN.fixed_efficiency[::-1]).paper_arm == 2
    tied = np.array([[0.0, 3.0], [2.0, 2.0], [4.0, 0.0]])
    assert replace(SEEN, fixed_efficiency=tied).paper_arm == 1


@pytest.mark.parametrize(
    "missing", [("reward_means", "cost_means"), ("reward_means",), ("cost_means",)]
)
def test_where_the_world_has_no_means_what_needs_them_is_none(missing: tuple[str, ...]) -> None:
    seen = replace(SEEN, **dict.fromkeys(missing))
    assert seen.gaps is None
    without = {name for name, notion in NOTIONS.items() if notion(seen) is None}
    assert without == {"best_efficiency", "pseudo_regret", "paper_pseudo_regret"}


@pytest.mark.parametrize("benchmark", ["greedy", "knapsack", "optimum"])
def test_a_benchmark_that_could_not_be_computed_is_none(benchmark: str) -> None:
    seen = replace(SEEN, **{benchmark: None})
    assert [name for name, notion in NOTIONS.items() if notion(seen) is None] == [benchmark]


def test_a_benchmark_that_gains_nothing_is_a_number() -> None:
    values = NOTIONS["greedy"](replace(SEEN, greedy=0.0))
    assert values is not None
    assert values.tolist() == [-10, -14]


NOTHING = replace(
    SEEN,
    gain=np.zeros(2),
    rounds=np.zeros(2, np.int64),
    left=np.full(2, 12.0),
    efficiency=np.zeros(2),
    pulls=np.zeros((2, 3), np.int64),
)


def test_a_path_without_a_round_has_every_notion() -> None:
    values = {name: notion(NOTHING) for name, notion in NOTIONS.items()}
    assert all(value is not None and np.isfinite(value).all() for value in values.values())
    assert values["line_2"].tolist() == [12 / 24 * 50, 12 / 40 * 70]
    assert values["leftover"].tolist() == [12, 12]


def test_both_lines_are_numbers_where_the_papers_arm_cannot_be_paid() -> None:
    """On the second path T(i*) = 0, and so the arm's sum of efficiencies is 0 too: B / T(i*) counts
    as B.
    """
    unpaid = replace(
        SEEN,
        fixed_rounds=np.array([[24, 0], [12, 15], [60, 60]]),
        fixed_efficiency=np.array([[150.0, 0.0], [90.0, 20.0], [10.0, 100.0]]),
    )
    assert unpaid.paper_arm == 0
    assert NOTIONS["line_1"](unpaid).tolist() == [12 / 24 * 150 - 10, -14]
    assert NOTIONS["line_2"](unpaid).tolist() == [12 / 24 * (150 - 30), 12 * (0 - 40)]


def test_where_nothing_can_be_paid_for_both_lines_are_zero() -> None:
    nothing = replace(
        NOTHING,
        fixed_gain=np.zeros((3, 2)),
        fixed_rounds=np.zeros((3, 2), np.int64),
        fixed_efficiency=np.zeros((3, 2)),
    )
    for notion in ("line_1", "line_2"):
        assert NOTIONS[notion](nothing).tolist() == [0, 0]
