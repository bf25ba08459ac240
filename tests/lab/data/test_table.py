from pathlib import Path

import numpy as np
import polars as pl
import pytest

from purse.engine.draws import draws
from purse.errors import InvalidInput
from purse.lab.data.question import Question
from purse.lab.data.table import FullTable, read_table, world_of_table
from tests.support.replays import random_table, written

WIDE = "reward_small,cost_small,reward_large,cost_large\n" + "1,1,3,2\n" * 4
LONG = "round,arm,reward,cost\n" + "".join(f"{t},small,1,1\n{t},large,3,2\n" for t in range(4))
LARGE, SMALL = ", line 6, column 'reward_large'", ", line 6, column 'cost_small'"


def test_wide_and_long_are_the_same_table(tmp_path: Path) -> None:
    wide, long = (read_table(written(tmp_path, text)) for text in (WIDE, LONG))
    for table in (wide, long):
        assert table.arms == ("small", "large")
        assert table.rewards.tolist() == [[1, 3]] * 4
        assert table.costs.tolist() == [[10**9, 2 * 10**9]] * 4
    shuffled = (
        pl.read_csv(written(tmp_path, LONG))
        .sample(fraction=1, shuffle=True, seed=5)
        .rename({"round": "prompt", "arm": "model", "reward": "score", "cost": "usd"})
    )
    again = read_table(shuffled, Question(round="prompt", arm="model", reward="score", cost="usd"))
    order = [again.arms.index(arm) for arm in wide.arms]
    assert again.rewards[:, order].tolist() == wide.rewards.tolist()
    assert again.costs[:, order].tolist() == wide.costs.tolist()
    renamed = pl.DataFrame({"score_a": [1], "usd_a": [2], "score_b_c": [3], "usd_b_c": [4]})
    assert read_table(renamed, Question(reward="score", cost="usd")).arms == ("a", "b_c")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("arm,reward,cost\na,1,1\n", " has no column 'round'; it has arm, reward, cost"),
        ("round,arm,reward,x\n1,a,1,1\n", " has no column 'cost'; it has round, arm, reward, x"),
        (
            "reward_a,cost_a,reward_b\n1,1,1\n",
            " has no column 'cost_b'; it has reward_a, cost_a, reward_b; did you mean 'cost_a'?",
        ),
        (
            "x,y\n1,1\n",
            " has no column 'arm', 'reward', 'cost', nor reward_ARM and cost_ARM for each arm; it "
            "has x, y; name them: --arm NAME --reward NAME --cost NAME",
        ),
        (
            WIDE + "1,1,nan,2\n",
            f"{LARGE}: 'nan' is empty; give a number, or drop such rows with "
            "skip_empty (--skip-empty)",
        ),
        (
            WIDE + "1,1,,2\n",
            f"{LARGE}: is empty; give a number, or drop such rows with skip_empty (--skip-empty)",
        ),
        (WIDE + "1,1e10,1,2\n", f"{SMALL}: 10000000000.0 must be at most 4,611,686,018"),
        (
            WIDE + "1,2e-10,1,2\n",
            f"{SMALL}: 2e-10 must be 0 or at least 1e-9; give costs, and the budget, in a smaller "
            "unit",
        ),
        (LONG + "4,small,1,1\n", ": round '4' has no row for arm 'large'"),
        (LONG + "2,large,1,1\n", ", line 10: round '2' has arm 'large' already"),
        ("reward_a,cost_a\n1,1\n", " has one arm, 'a': there is nothing to choose"),
    ],
)
def test_what_is_no_table_is_refused_in_one_line(tmp_path: Path, text: str, message: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(InvalidInput) as refused:
        read_table(path)
    assert str(refused.value) == f"{path}{message}"


@pytest.mark.parametrize(
    ("rewards", "expected"),
    [
        ([[2, 4], [0.5, 1]], (0, 4)),
        ([[-1, 4], [0, 1]], (-1, 4)),
        ([[-3, -1], [-2, -2]], (-3, 0)),
        ([[0, 0], [0, 0]], (0, 1)),
    ],
)
def test_zero_stays_in_the_range_of_rewards(
    rewards: list[list[float]], expected: tuple[float, float]
) -> None:
    world = world_of_table(
        FullTable("t", ("a", "b"), np.array(rewards, float), np.full((2, 2), 10**9))
    )
    assert world.reward_range == expected
    low, high = expected
    assert (low + (high - low) * world.tables.rewards[:, :, 0]).tolist() == rewards
    assert (world.arms, world.horizon, world.n_rounds) == (("a", "b"), 2, 2)


@pytest.mark.parametrize("horizon", [1, 7, 12])
def test_a_path_meets_rows_of_the_table_each_at_most_once(horizon: int) -> None:
    table = random_table(horizon, n_rounds=12)
    world = world_of_table(table, horizon=horizon)
    low, high = world.reward_range
    recorded = np.hstack([table.rewards, table.costs]).tolist()
    for path in range(3):
        inside, units = draws(world, horizon, seed=5, path=path)
        rows = np.hstack([np.round(low + (high - low) * inside, 2), units[:, :, 0]]).tolist()
        assert {(recorded.count(row), rows.count(row)) for row in rows} == {(1, 1)}
