from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

import purse
from purse.engine.draws import draws
from purse.errors import InvalidInput
from purse.lab.offline.full_table import FullTable, read_table, world_of_table
from purse.lab.offline.question import Question
from purse.lab.offline.references import play_mixture, references
from purse.lab.offline.table_replay import replay_table
from purse.lab.theory.fluid import hindsight
from purse.worlds.table import table as table_world

WIDE = "reward_small,cost_small,reward_large,cost_large\n" + "1,1,3,2\n" * 4
LONG = "round,arm,reward,cost\n" + "".join(f"{t},small,1,1\n{t},large,3,2\n" for t in range(4))
LARGE, SMALL = ", line 6, column 'reward_large'", ", line 6, column 'cost_small'"
FREE = pl.DataFrame({"reward_a": [1], "cost_a": [0], "reward_b": [1], "cost_b": [0]})


def written(folder: Path, text: str) -> Path:
    path = folder / "data.csv"
    path.write_text(text)
    return path


def random_table(seed: int, n_rounds: int = 40, n_arms: int = 3) -> FullTable:
    rng = np.random.default_rng(seed)
    rewards = np.round(rng.uniform(-0.5 if seed % 2 else 0, 5, (n_rounds, n_arms)), 2)
    return FullTable(
        "random", tuple("abc"[:n_arms]), rewards, rng.integers(0, 10, (n_rounds, n_arms)) * 10**8
    )


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
            "has x, y; name them: --arm NAME --reward NAME --cost NAME. A log without "
            "probabilities needs --probability uniform, if every arm was as likely in every round, "
            "or --probability frequency, if the choice had nothing to do with the round",
        ),
        (
            "reward_a,cost_a,cost_b\n1,1,1\n",
            " has no column 'reward_b'; it has reward_a, cost_a, cost_b; did you mean 'reward_a'?",
        ),
        (WIDE + "1,1,nan,2\n", f"{LARGE}: 'nan' must be a finite number"),
        (
            WIDE + "1,1,,2\n",
            f"{LARGE}: is empty; give a number, or drop such rows with --skip-empty",
        ),
        (WIDE + "1,1,good,2\n", f"{LARGE}: 'good' must be a finite number"),
        (WIDE + "1,-0.5,1,2\n", f"{SMALL}: -0.5 must be a number at least 0"),
        (WIDE + "1,1e10,1,2\n", f"{SMALL}: 10000000000.0 must be at most 4,611,686,018"),
        (
            WIDE + "1,2e-10,1,2\n",
            f"{SMALL}: 2e-10 must be 0 or at least 1e-9; give costs, and the budget, in a smaller "
            "unit",
        ),
        (LONG + "4,small,1,1\n", ": round '4' has no row for arm 'large'"),
        (LONG + "2,large,1,1\n", ", line 10: round '2' has arm 'large' already"),
        (
            LONG + "4,,1,1\n",
            ", line 10, column 'arm': is empty; give a text, or drop such rows with --skip-empty",
        ),
        ("reward_a,cost_a\n1,1\n", " has one arm, 'a': there is nothing to choose"),
    ],
)
def test_what_is_no_table_is_refused_in_one_line(tmp_path: Path, text: str, message: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(InvalidInput) as refused:
        replay_table(path, budgets=5)
    assert str(refused.value) == f"{path}{message}"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"policies": "unifrom"}, "unknown policy 'unifrom'; did you mean 'uniform'"),
        ({"horizon": 5}, "horizon=5: must be a whole number from 1 to 4"),
        ({"budgets": -1}, "budgets=-1: must be a number above 0"),
        ({"data": FREE}, "costs=0: must be positive for at least one arm"),
    ],
)
def test_what_cannot_be_played_is_refused(
    changes: dict[str, Any], message: str, tmp_path: Path
) -> None:
    with pytest.raises(InvalidInput, match=message):
        replay_table(**{"data": written(tmp_path, WIDE), "budgets": 5, **changes})


@pytest.mark.parametrize(
    ("rewards", "expected"),
    [
        ([[2, 4], [0.5, 1]], (0, 4)),
        ([[-1, 4], [0, 1]], (-1, 4)),
        ([[-3, -1], [-2, -2]], (-3, 0)),
        ([[2, 2], [2, 2]], (0, 2)),
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


def test_a_table_by_hand(tmp_path: Path) -> None:
    found = replay_table(
        written(tmp_path, WIDE), policies=["uniform"], budgets=[6, 100], n_paths=5, seed=0
    )
    frame = found.frame()
    rows = {(row["budget"], row["player"]): row for row in frame.iter_rows(named=True)}

    def told(budget: float, player: str) -> tuple[float, float, float]:
        row = rows[budget, player]
        return row["gain"], row["spent"], row["pulls"]

    best = "always large (largest reward a pull)"
    assert told(6, "always small (cheapest)") == (4, 4, 4)
    assert {told(6, name) for name in (best, "LP optimum", "hindsight optimum")} == {(9, 6, 3)}
    rich = {told(100, name) for name in (best, "hindsight optimum", "best fixed mixture")}
    assert rich == {(12, 8, 4)}
    assert rows[6, "always small (cheapest)"]["share"] == pytest.approx(4 / 9)
    assert 4 <= rows[6, "uniform"]["gain"] <= 9
    assert frame["kind"].unique().sort().to_list() == ["arm", "bound", "mixture", "policy"]
    first, answer, *rest = str(found).splitlines()
    _, head, *lines = rest[rest.index("") :]
    assert answer.startswith("B = 6: uniform gains") or answer.startswith("B = 6: Buy large in ev")
    assert first == "data.csv: 4 of 4 rounds in 5 random orders, 2 arms, stop=retry"
    assert " ".join(head.split()) == "budget 6 gain ± 95% of the LP spent pulls"
    assert " ".join(lines[0].split()) == "always large (largest reward a pull) 9 100.0% 6 3"


def test_the_mixture_keeps_to_the_budget_under_each_rule() -> None:
    rewards, costs = np.tile([1.0, 3.0], (50, 1)), np.tile([10**9, 2 * 10**9], (50, 1))
    world = world_of_table(FullTable("t", ("a", "b"), rewards, costs))
    gain, spent, pulls = play_mixture(world, np.array([0.0, 1.0]), 21, 3, 0, "exit")
    assert (gain.tolist(), spent.tolist(), pulls.tolist()) == ([30] * 3, [20] * 3, [10] * 3)
    gain, spent, pulls = play_mixture(world, np.array([0.0, 1.0]), 21, 3, 0, "retry")
    assert (gain.tolist(), spent.tolist(), pulls.tolist()) == ([31] * 3, [21] * 3, [11] * 3)
    gain, spent, pulls = play_mixture(world, np.array([0.0, 0.5]), 1000, 200, 0, "hold")
    assert np.array_equal(spent, 2 * pulls)
    assert abs(pulls.mean() - 25) < 4 * np.sqrt(50 / 4 / 200)


@pytest.mark.parametrize("seed", range(6))
def test_the_bounds_are_the_optima_of_their_linear_programs(seed: int) -> None:
    table = random_table(seed)
    n_rounds, n_arms = table.rewards.shape
    budget = [1.0, 5.0, 12.0][seed % 3]
    costs = table.costs / 1e9
    per_row = np.repeat(np.eye(n_rounds), n_arms, axis=1)
    known = linprog(
        -table.rewards.ravel(), np.vstack([per_row, costs.ravel()]), [*np.ones(n_rounds), budget]
    )
    gain, spent, pulls = hindsight(table.rewards, table.costs, budget)
    assert gain == pytest.approx(-known.fun, abs=1e-6)
    assert spent <= budget + 1e-9
    assert pulls <= n_rounds
    means = linprog(
        -table.rewards.mean(axis=0),
        np.vstack([np.ones(n_arms), costs.mean(axis=0)]),
        [n_rounds, budget],
    )
    world = world_of_table(table)
    found = references(world, [budget], n_paths=4, seed=seed)
    gains = dict(zip(found["player"], found["gain"], strict=True))
    assert gains["LP optimum"] == pytest.approx(-means.fun, abs=1e-6)
    assert gains["hindsight optimum"] == pytest.approx(gain, rel=1e-12)
    assert max(found["gain"]) == pytest.approx(gain, rel=1e-12)


def test_with_features_the_best_linear_policy_is_a_reference() -> None:
    rewards = [[1, 0], [0, 1]] * 4
    world = table_world(rewards, [1, 1], features=rewards, horizon=8)
    found = references(world, [6.0], n_paths=1).filter(player="best linear policy").to_dicts()
    assert [(row["kind"], row["spent"], row["pulls"]) for row in found] == [
        ("bound", pytest.approx(6), pytest.approx(6))
    ]
    assert found[0]["gain"] == pytest.approx(6)


def test_with_a_shorter_horizon_hindsight_knows_the_rows_of_each_path() -> None:
    table = random_table(2)
    world = world_of_table(table, horizon=10)
    found = references(world, [2.0], n_paths=3, seed=1).row(
        by_predicate=pl.col("player") == "hindsight optimum", named=True
    )
    paths = (draws(world, 10, seed=1, path=path) for path in range(3))
    top = table.rewards.max()
    expected = [hindsight(rewards * top, costs[:, :, 0], 2.0)[0] for rewards, costs in paths]
    assert found["gain"] == pytest.approx(np.mean(expected))
    assert found["gain_low"] < found["gain"] < found["gain_high"]


@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 10**6),
    st.integers(1, 12),
    st.sampled_from(["exit", "hold", "retry"]),
    st.sampled_from(["uniform", "fixed:arm=1"]),
    st.integers(1, 60),
)
def test_a_path_is_what_the_rows_say(
    seed: int, horizon: int, stop: str, policy: str, tenths: int
) -> None:
    table = random_table(seed, n_rounds=12)
    world = world_of_table(table, horizon=horizon)
    run = purse.simulate(
        policy, world, tenths / 10, n_paths=2, seed=seed, stop=stop, checkpoints=200
    )
    assert run.by_round is not None
    assert run.by_round.checkpoints.tolist() == list(range(1, horizon + 1))
    low, high = world.reward_range
    recorded = sorted(np.hstack([table.rewards, table.costs]).tolist())
    for path in range(2):
        inside, units = draws(world, horizon, seed=seed, path=path)
        rewards = low + (high - low) * inside
        rows = np.hstack([np.round(rewards, 2), units[:, :, 0]]).tolist()
        assert all(row in recorded for row in rows)
        assert horizon < 12 or sorted(rows) == recorded
        pulls = np.diff(run.by_round.pulls[path], axis=0, prepend=0)
        assert run.gain[path] == pytest.approx((pulls * rewards).sum())
        assert run.spent_units[path, 0] == (pulls * units[:, :, 0]).sum() <= tenths * 10**8
        assert run.pulls[path].sum() <= horizon
        assert run.gain[path] <= hindsight(rewards, units[:, :, 0], tenths / 10)[0] + 1e-9


def test_the_same_seed_gives_the_same_numbers_whatever_the_threads_and_a_folder_keeps_them(
    tmp_path: Path,
) -> None:
    path, there = written(tmp_path, WIDE), tmp_path / "kept"
    game: dict[str, Any] = {"policies": "uniform", "budgets": [5], "n_paths": 8, "seed": 3}
    one, two, kept = (
        replay_table(path, **game, n_workers=workers, folder=folder).frame()
        for workers, folder in ((1, None), (2, there), (1, there))
    )
    assert one.equals(two)
    assert one.equals(kept)
