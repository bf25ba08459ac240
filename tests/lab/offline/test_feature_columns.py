from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.optimize import linprog

import purse
from purse.lab.offline.full_table import read_table, world_of_table
from purse.lab.offline.question import Question
from purse.lab.offline.references import lp_by_context, references
from purse.lab.offline.table_replay import default_policies, replay_table
from purse.lab.study.facts import StudyFacts, TableFacts
from purse.lab.theory.fluid import hindsight
from purse.types import Floats, Ints
from tests.support import greedy_contexts

GREEDY = str(Path(greedy_contexts.__file__))
WIDE = {
    "reward_s": [1.0, 0.0, 1.0, 0.0],
    "cost_s": [1, 1, 1, 1],
    "reward_l": [0.0, 1.0, 0.0, 1.0],
    "cost_l": [1, 1, 1, 1],
    "length": [0, 10, 0, 5],
    "kind": ["a", "b", "a", "b"],
}
LONG = pl.DataFrame(
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
    return pl.DataFrame(WIDE | changes, strict=False)


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
    table = read_table(wide().rename({"length": "x_1", "kind": "x_2"}), Question(features="x_*"))
    assert table.contexts is not None
    assert table.contexts.features.names == ("x_1", "x_2")
    everything = read_table(wide(), Question(features=["*"])).contexts
    assert everything is not None
    assert everything.features.names == ("length", "kind")


def test_empty_cells_are_refused_unless_the_feature_is_optional() -> None:
    holes = wide(length=[0, None, 5, 10])
    with pytest.raises(purse.InvalidInput, match="row 2, column 'length': an empty cell must be a"):
        read_table(holes, Question(features="length"))
    values, _ = seen(holes, {"length": {"optional": True}})
    assert values[:, 0].tolist() == [[-1, 0], [0, 1], [0, 0], [1, 0]]


def test_long_tables_have_the_features_of_a_round_or_of_each_arm() -> None:
    values, _ = seen(LONG, "length")
    assert values.tolist() == [[[-1]], [[1]]]
    shuffled, _ = seen(LONG[[3, 0, 2, 1]], "length")
    assert shuffled.tolist() == [[[1]], [[-1]]]
    values, note = seen(LONG, "ratio", per_arm=True)
    np.testing.assert_allclose(values[..., 0], [[-1 / 3, 1], [-1, -1 / 3]], rtol=1e-6)
    assert note.startswith("features of each arm: ratio (0.25 to 1")
    spread = wide(ratio_s=[0.5, 0.25, 0.5, 0.5], ratio_l=[1.0, 0.5, 0.5, 0.5])
    values, _ = seen(spread, "ra*", per_arm=True)
    np.testing.assert_allclose(values[:2, :, 0], [[-1 / 3, 1], [-1, -1 / 3]], rtol=1e-6)
    assert world_of_table(read_table(spread, Question(features="ratio", per_arm=True))).per_arm


@pytest.mark.parametrize(
    ("data", "features", "message"),
    [
        (LONG, "ratio", "frame, row 2, column 'ratio': 1.0 must be 0.5, as in the other rows of "
                        "round '0', unless each arm has features of its own (per_arm)"),
        (wide(), "size", "frame has no column 'size'; it has reward_s, cost_s, reward_l, cost_l, "
                         "length, kind"),
        (wide(), "x_*", "features: no column of frame fits 'x_*'; it has reward_s, cost_s, "
                        "reward_l, cost_l, length, kind"),
        (wide(), [], "features=[]: must name at least one column"),
        (wide(), 3, "features=3: must be names of columns, or a mapping from them"),
        (wide(length=2), "length", "frame, column 'length': is 2 in every row; leave this feature "
                                   "out"),
        (wide(kind="a"), "kind", "frame, column 'kind': is 'a' in every row; leave this feature "
                                 "out"),
        (wide(length=[1, 2, 3, np.inf]), "length", "frame, row 4, column 'length': inf must be a "
                                                   "finite number"),
        (wide(), {"kind": (0, 1)}, "frame, row 1, column 'kind': 'a' must be a finite number"),
        (wide(), {"length": (5, 1)}, "features['length']=[5, 1]: must have a low below its high"),
    ],
)  # fmt: skip
def test_what_is_no_feature_is_refused_in_one_line(
    data: pl.DataFrame, features: Any, message: str
) -> None:
    with pytest.raises(purse.InvalidInput) as refused:
        replay_table(data, budgets=2, features=features)
    assert str(refused.value) == message


def test_too_many_classes_are_refused_with_the_first_text_and_per_arm_needs_features() -> None:
    frame = pl.concat([wide(length=["4", "n/a", "5", "6"], kind="z")] * 100).with_columns(
        length=pl.when(pl.int_range(pl.len()) == 1).then(pl.lit("n/a"))
        .otherwise(pl.int_range(pl.len()).cast(pl.String))
    )  # fmt: skip
    with pytest.raises(purse.InvalidInput, match=(
        "row 2, column 'length': 'n/a' is no number, and as classes the column has 400: at most 256"
    )):  # fmt: skip
        read_table(frame, Question(features="length"))
    with pytest.raises(purse.InvalidInput, match="per_arm=True: needs features"):
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
    known = linprog(-weights[0], rows, [1, 1, 1, budget])
    gain, spent, pulls = lp_by_context(contexts, rewards, units, budget, 30)
    assert gain == pytest.approx(-known.fun, abs=1e-9)
    assert spent <= budget + 1e-9
    assert gain <= hindsight(rewards, units, budget)[0] + 1e-9
    # half the rounds with half the budget: half of everything
    halves = lp_by_context(contexts, rewards, units, budget / 2, 15)
    assert halves == pytest.approx((gain / 2, spent / 2, pulls / 2))


def test_where_every_round_has_its_own_context_the_lp_is_hindsight() -> None:
    contexts, rewards, units = classes(3)
    own = contexts + np.arange(30)[:, None, None] * [1, 0, 0, 0]
    known = hindsight(rewards, units, 3)
    assert lp_by_context(own, rewards, units, 3, 30) == pytest.approx(known)


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


def test_references_of_a_shorter_horizon(tmp_path: Path) -> None:
    world = world_of_table(read_table(wide(), Question(features="kind")), horizon=2)
    found = references(world, [1.0], n_paths=2)
    gains = dict(zip(found["player"], found["gain"], strict=True))
    assert gains["LP with contexts"] == pytest.approx(1)
    assert gains["LP without contexts"] == pytest.approx(0.5)


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
    assert command(policies=[purse.policies.load("uniform")]) == (
        "purse.replay('t.csv', budgets=[3], policies=[purse.policies.uniform])"
    )


def test_where_there_are_features_a_policy_that_sees_them_is_played_by_default() -> None:
    assert default_policies(None) == ("replan", "exp3++.prices", "uniform")
    assert default_policies(["x"]) == ("lin-ucb.price", "replan", "exp3++.prices", "uniform")
