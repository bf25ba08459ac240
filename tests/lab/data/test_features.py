"""Features of tables, as files have them."""

from typing import Any

import numpy as np
import polars as pl
import pytest

import purse
from purse.errors import InvalidInput
from purse.lab.data.question import Question
from purse.lab.data.rounds import _open_source, _without_empty, open_rounds
from purse.lab.data.table import FullTable, read_table, world_of_table
from purse.types import Floats

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
    table = open_rounds(holes, asked)
    assert isinstance(table, FullTable)
    assert len(table.rewards) == 3
    asked = Question(features={"length": {"optional": True}}, skip_empty=True)
    assert _without_empty(_open_source(holes, asked), asked, log=False).frame.height == 4
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
        purse.replay(data, budgets=2, features=features)
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
        purse.replay(wide(), budgets=2, per_arm=True)
