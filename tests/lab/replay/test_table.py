from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.optimize import linprog

import purse
from purse.base import amounts
from purse.engine.draws import draws
from purse.errors import InvalidInput
from purse.lab.data.question import Question
from purse.lab.data.reading import open_source, without_empty
from purse.lab.data.table import FullTable, read_table, world_of_table
from purse.lab.replay.lead_over_rival import Rows
from purse.lab.replay.references import _lp_by_context, _play_mixture, references
from purse.lab.replay.table_replay import default_policies, replay_table
from purse.lab.study.manifest import StudyFacts, TableFacts
from purse.lab.theory.fluid import hindsight, mix
from purse.types import Floats, Ints
from tests.support import greedy_contexts

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
            "has x, y; name them: --arm NAME --reward y --cost x. A log without "
            "probabilities needs probability (--probability) uniform, if every arm was as likely "
            "in every round, or frequency, if the choice had nothing to do with the round",
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
    assert answer.startswith("B = 6: On these 4 rows uniform gains")
    assert first == "data.csv: 4 of 4 rounds in 5 random orders, 2 arms, stop=retry"
    assert " ".join(head.split()) == "budget 6 gain ± 95% of the LP spent pulls less"
    assert " ".join(lines[0].split()) == "always large (largest reward a pull) 9 100.0% 6 3"


@pytest.mark.parametrize(("better", "told"), [(1, False), (20, True)])
def test_an_answer_counts_the_chance_in_the_rows(better: int, told: bool) -> None:
    right = [1.0] * 10 + [0.0] * 15
    rewards = {"reward_a": right[::-1], "reward_b": [1.0] * better + right[better:]}
    frame = pl.DataFrame(rewards | {"cost_a": 1, "cost_b": 1})
    result = replay_table(frame, policies="uniform", budgets=25, n_paths=20)
    differences = (frame["reward_b"] - frame["reward_a"]).to_numpy()
    row = result.frame().row(by_predicate=pl.col("player").str.starts_with("always b"), named=True)
    assert row["rival"] == "a"
    assert row["ahead"] == pytest.approx(differences.sum())
    assert row["ahead_error"] == pytest.approx(5 * differences.std(ddof=1))
    says = " ".join(str(result).split())
    ((outcome, sentence),) = result.verdicts().values()
    assert ("On these 25 rows **buy `b` in every round**" in sentence) == told
    assert outcome == "best"
    assert ("other rows may well turn it round" in says) != told
    assert "not that of other rows" in says


@pytest.mark.parametrize("budget", [3.0, 12.0, 40.0])
def test_the_error_over_rows_is_that_of_tables_drawn_again(budget: float) -> None:
    table = random_table(4, n_rounds=200)
    costs, rng = table.costs / amounts.UNIT, np.random.default_rng(1)
    rows = Rows(table.arms, table.rewards, costs, budget, 60)
    for plays in (mix(costs.mean(axis=0), table.rewards.mean(axis=0), budget, 60), rows.alone(2)):
        rival, ahead, error = rows.ahead(plays)
        again = []
        for _ in range(600):
            drawn = rng.integers(200, size=200)
            other = Rows(table.arms, table.rewards[drawn], costs[drawn], budget, 60)
            means = other.costs.mean(axis=0), other.rewards.mean(axis=0)
            best = mix(*means, budget, 60) if (plays > 0).sum() > 1 else None
            arm = other.alone(int(plays.argmax())) if best is None else best
            gains = means[1] @ arm - means[1] @ other.alone(table.arms.index(str(rival)))
            again.append(gains)
        assert error is not None
        assert error == pytest.approx(np.std(again), rel=0.2)
        assert ahead == pytest.approx(np.mean(again), abs=0.3 * error)


def test_the_mixture_keeps_to_the_budget_under_each_rule() -> None:
    rewards, costs = np.tile([1.0, 3.0], (50, 1)), np.tile([10**9, 2 * 10**9], (50, 1))
    world = world_of_table(FullTable("t", ("a", "b"), rewards, costs))
    for stop, sums in (("exit", (30, 20, 10)), ("retry", (31, 21, 11))):
        played = _play_mixture(world, np.array([0.0, 1.0]), 21, 3, 0, stop)
        assert [values.tolist() for values in played] == [[value] * 3 for value in sums]
    _, spent, pulls = _play_mixture(world, np.array([0.0, 0.5]), 1000, 200, 0, "hold")
    assert np.array_equal(spent, 2 * pulls)
    assert abs(pulls.mean() - 25) < 4 * np.sqrt(50 / 4 / 200)


def test_the_bounds_are_the_optima_of_means_and_of_all_rows() -> None:
    table = random_table(1)
    world = world_of_table(table)
    gains = dict(references(world, [5.0], n_paths=4, seed=1).select("player", "gain").rows())
    means = linprog(
        -table.rewards.mean(axis=0), [[1] * 3, table.costs.mean(axis=0) / 1e9], [40, 5.0]
    )
    assert gains["LP optimum"] == pytest.approx(-means.fun, abs=1e-6)
    assert gains["hindsight optimum"] == hindsight(table.rewards, table.costs, 5.0)[0]
    assert max(gains.values()) == gains["hindsight optimum"]


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


# features


GREEDY = str(Path(greedy_contexts.__file__))
COLUMNS = {
    "reward_s": [1.0, 0.0, 1.0, 0.0],
    "cost_s": [1, 1, 1, 1],
    "reward_l": [0.0, 1.0, 0.0, 1.0],
    "cost_l": [1, 1, 1, 1],
    "length": [0, 10, 0, 5],
    "kind": ["a", "b", "a", "b"],
}
ROWS = pl.DataFrame(
    {
        "round": [0, 0, 1, 1],
        "arm": ["s", "l"] * 2,
        "reward": [1.0, 0.0, 0.0, 1.0],
        "cost": [1.0] * 4,
        "length": [3, 3, 7, 7],
        "ratio": [0.5, 1.0, 0.25, 0.5],
    }
)


def wide(**changes: Any) -> pl.DataFrame:
    return pl.DataFrame(COLUMNS | changes, strict=False)


def seen(data: pl.DataFrame, features: Any, **options: Any) -> tuple[Floats, str]:
    found = read_table(data, Question(features=features, **options)).contexts
    assert found is not None
    return found.values, found.note


def test_numbers_have_the_range_of_the_table_and_texts_its_classes() -> None:
    values, note = seen(wide(), ["length", "kind"])
    assert values[:, 0].tolist() == [[-1, 1, 0], [1, 0, 1], [-1, 1, 0], [0, 0, 1]]
    assert note == "features: length (0 to 10, the data's own); kind (2 classes, the data's own)"
    declared = {"length": (0, 20), "kind": ["b", "c"], "bool": None}
    values, note = seen(wide(bool=[True, False, True, True]), declared)
    assert values[:, 0].tolist() == [[-1, 0, 0, 1], [0, 1, 0, -1], [-1, 0, 0, 1], [-0.5, 1, 0, 1]]
    assert note == "features: length (0 to 20); kind (2 classes); bool (0 to 1, the data's own)"
    as_text, _ = seen(wide().cast(pl.String), "length, kind")
    assert (as_text == seen(wide(), ["length", "kind"])[0]).all()


def test_patterns_find_columns_and_leave_out_what_is_something_else() -> None:
    renamed = wide().rename({"length": "x_1", "kind": "x_2"})
    for data, wanted in ((renamed, "x_*"), (renamed, ["*"])):
        contexts = read_table(data, Question(features=wanted)).contexts
        assert contexts is not None
        assert contexts.features.names == ("x_1", "x_2")


def test_empty_cells_are_refused_unless_the_feature_is_optional() -> None:
    holes = wide(length=[0, None, 5, 10])
    says = r"row 2 \(from 1\), column 'length': is empty; give a number, or drop such rows with "
    says += r"skip_empty \(--skip-empty\), "
    with pytest.raises(
        InvalidInput, match=says + r'or declare .*: {"length": {"optional": true}}$'
    ):
        read_table(holes, Question(features="length"))
    asked = Question(features="length", skip_empty=True)
    source = without_empty(open_source(holes, asked), asked, log=False)
    assert len(read_table(source, asked).rewards) == 3
    asked = Question(features={"length": {"optional": True}}, skip_empty=True)
    assert without_empty(open_source(holes, asked), asked, log=False).frame.height == 4
    values, _ = seen(holes, {"length": {"optional": True}})
    assert values[:, 0].tolist() == [[-1, 0], [0, 1], [0, 0], [1, 0]]


def test_long_tables_have_the_features_of_a_round_or_of_each_arm() -> None:
    values, _ = seen(ROWS, "length")
    assert values.tolist() == [[[-1]], [[1]]]
    shuffled, _ = seen(ROWS[[3, 0, 2, 1]], "length")
    assert shuffled.tolist() == [[[1]], [[-1]]]
    values, note = seen(ROWS, "ratio", per_arm=True)
    np.testing.assert_allclose(values[..., 0], [[-1 / 3, 1], [-1, -1 / 3]], rtol=1e-6)
    assert note.startswith("features of each arm: ratio (0.25 to 1")
    spread = wide(ratio_s=[0.5, 0.25, 0.5, 0.5], ratio_l=[1.0, 0.5, 0.5, 0.5])
    values, _ = seen(spread, "ra*", per_arm=True)
    np.testing.assert_allclose(values[:2, :, 0], [[-1 / 3, 1], [-1, -1 / 3]], rtol=1e-6)
    assert world_of_table(read_table(spread, Question(features="ratio", per_arm=True))).per_arm


@pytest.mark.parametrize(
    ("data", "features", "message"),
    [
        (ROWS, "ratio", "frame, row 2 (from 1), column 'ratio': 1.0 must be 0.5, as in the other "
                        "rows of round '0', unless each arm has features of its own (per_arm)"),
        (wide(), "size", "frame has no column 'size'; it has reward_s, cost_s, reward_l, cost_l, "
                         "length, kind"),
        (wide(), "x_*", "features: no column of frame fits 'x_*'; it has reward_s, cost_s, "
                        "reward_l, cost_l, length, kind"),
        (wide(), [], "features=[]: must name at least one column"),
        (wide(), 3, "features=3: must be names of columns, or a mapping from them"),
        (wide(length=2), "length", "frame, column 'length': is 2 in every row; leave this feature "
                                   "out"),
        (wide(length=[1, 2, 3, np.inf]), "length", "frame, row 4 (from 1), column 'length': inf "
                                                   "must be a finite number"),
        (wide(), {"kind": (0, 1)}, "frame, row 1 (from 1), column 'kind': 'a' must be a finite "
                                   "number"),
        (wide(), "length,reward_s", "features='reward_s': must be known before an arm is chosen; "
                                    "it is an arm, reward, cost or probability"),
        (wide(), {"length": (5, 1)}, "features['length']=[5, 1]: must have a low below its high"),
    ],
)  # fmt: skip
def test_what_is_no_feature_is_refused_in_one_line(
    data: pl.DataFrame, features: Any, message: str
) -> None:
    with pytest.raises(InvalidInput) as refused:
        replay_table(data, budgets=2, features=features)
    assert str(refused.value) == message


def test_too_many_classes_are_refused_with_the_first_text_and_per_arm_needs_features() -> None:
    frame = pl.concat([wide(length=["4", "few", "5", "6"], kind="z")] * 100).with_columns(
        length=pl.when(pl.int_range(pl.len()) == 1).then(pl.lit("few"))
        .otherwise(pl.int_range(pl.len()).cast(pl.String))
    )  # fmt: skip
    with pytest.raises(InvalidInput, match=(
        r"row 2 \(from 1\), column 'length': 'few' is no number, and as classes the column has "
        "400: at most 256"
    )):  # fmt: skip
        read_table(frame, Question(features="length"))
    with pytest.raises(InvalidInput, match="per_arm=True: needs features"):
        replay_table(wide(), budgets=2, per_arm=True)


def classes(seed: int) -> tuple[Floats, Floats, Ints]:
    """Contexts of three classes, rewards and units."""
    rng = np.random.default_rng(seed)
    contexts = np.eye(4)[rng.integers(3, size=30)] + [0, 0, 0, 1]
    return contexts[:, None], rng.random((30, 3)), rng.integers(1, 9, (30, 3)) * 10**8


@pytest.mark.parametrize("seed", range(3))
def test_optima_with_contexts(seed: int) -> None:
    contexts, rewards, units = classes(seed)
    budget = 4.0
    group = contexts[:, 0, :3].argmax(axis=1)
    sizes = np.bincount(group)
    means = [
        np.array([values[group == number].mean(axis=0) for number in range(3)])
        for values in (rewards, units / 1e9)
    ]
    weights = [(mean * sizes[:, None]).ravel() for mean in means]
    rows = np.vstack([np.repeat(np.eye(3), 3, axis=1), weights[1]])
    optimum = linprog(-weights[0], rows, [1, 1, 1, budget])
    gain, spent, pulls = _lp_by_context(contexts, rewards, units, budget, 30)
    assert gain == pytest.approx(-optimum.fun, abs=1e-9)
    assert spent <= budget + 1e-9
    # half the rounds with half the budget: half of everything
    halves = _lp_by_context(contexts, rewards, units, budget / 2, 15)
    assert halves == pytest.approx((gain / 2, spent / 2, pulls / 2))
    # where every round has a context of its own, it is hindsight
    own = contexts + np.arange(30)[:, None, None] * [1, 0, 0, 0]
    known = hindsight(rewards, units, budget)
    assert _lp_by_context(own, rewards, units, budget, 30) == pytest.approx(known)


def test_contextual_policies_see_the_table_and_blind_ones_do_not(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    x = rng.uniform(0, 100, 200).round(3)
    frame = pl.DataFrame(
        {
            "reward_s": (x < 50).astype(float),
            "cost_s": 1.0,
            "reward_l": (x >= 50).astype(float),
            "cost_l": 1.0,
            "x": x,
        }
    )
    game: dict[str, Any] = {"budgets": [100], "n_paths": 5}
    players = [GREEDY, "uniform"]
    with_x = replay_table(frame, policies=players, **game, features=["x"], folder=tmp_path)
    rows = {row["player"]: row for row in with_x.frame().rows(named=True)}
    without = replay_table(frame, policies="uniform", **game).frame()
    blind = {row["player"]: row for row in without.rows(named=True)}
    assert rows["uniform"] == blind["uniform"]
    assert rows[GREEDY]["gain"] > 85 > 65 > blind["uniform"]["gain"]
    lp = blind["LP optimum"]["gain"]
    assert rows["LP without contexts"]["gain"] == lp
    assert rows[GREEDY]["share"] == pytest.approx(rows[GREEDY]["gain"] / lp)
    assert rows["LP with contexts"]["gain"] == rows["hindsight optimum"]["gain"] == 100
    assert 90 < rows["best linear policy"]["gain"] <= 100
    note = f"features: x ({x.min():g} to {x.max():g}, the data's own)"
    assert with_x.notes == (note,)
    assert str(with_x).endswith(note)
    facts = StudyFacts.from_json(json.loads(json.dumps(with_x.study.facts.to_json())))
    assert isinstance(facts, TableFacts)
    assert facts.replay.features == note


def test_the_command_says_what_was_asked_and_python_what_no_command_can_say() -> None:
    def command(path: str = "t.csv", **asked: Any) -> str:
        return Question(**{"policies": "uniform", "budgets": 3} | asked).command(Path(path))

    assert command(features=["a", "b"], per_arm=True) == (
        "purse replay t.csv --budget 3 uniform --features a,b --per-arm"
    )
    assert command(features="x_*", per_arm=False).endswith(" --features 'x_*'")
    assert command(features={"a": (0, 1)}).startswith("purse.replay('t.csv'")
    assert command("my data.csv", horizon=50, stop="hold", reward="my score") == (
        "purse replay 'my data.csv' --budget 3 uniform --horizon 50 --stop hold --reward 'my score'"
    )
    assert command(cost_max=np.array([0.5, 1])).endswith(", cost_max=[0.5, 1.0])")
    assert command(policies=[purse.policies.load("uniform")]) == (
        "purse.replay('t.csv', budgets=[3], policies=[purse.policies.uniform])"
    )


def test_where_there_are_features_a_policy_that_sees_them_is_played_by_default() -> None:
    assert default_policies(None) == ("replan", "exp3++.prices", "uniform")
    assert default_policies(["x"]) == ("lin-ucb.price", "replan", "exp3++.prices", "uniform")
