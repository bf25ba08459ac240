import polars as pl
import pytest

from purse.lab.data.columns import _by_words, aligned, name_them
from purse.lab.data.reading import read

WANTED = {name: name for name in ("arm", "reward", "cost", "round", "probability")}


def columns(*names: str) -> pl.DataFrame:
    return pl.DataFrame({name: [1] for name in names})


@pytest.mark.parametrize(
    ("names", "found"),
    [
        ("Arm|REWARD| cost |Probability", "arm|reward|cost|probability"),
        ("Reward_Small|cost_Small|note", "reward_Small|cost_Small|note"),
        ("arm|Arm|reward", "arm|Arm|reward"),  # the exact one is taken
        ("Arm|ARM|reward", "Arm|ARM|reward"),  # nobody knows which
    ],
)
def test_other_case_and_blanks_do_not_matter(names: str, found: str) -> None:
    source = aligned(read(columns(*names.split("|"))), WANTED)
    assert source.frame.columns == found.split("|")
    assert bool(source.notes) == (names != found)


@pytest.mark.parametrize(
    ("names", "found"),
    [
        ("model score usd", "model score usd"),
        ("ts variant click_prob conversions_success total_cost", "variant conversions_success"),
        ("promptId modelName priceUsd", "modelName priceUsd"),
        ("x y", ""),
    ],
)
def test_names_are_recognised_by_their_words(names: str, found: str) -> None:
    assert set(found.split()) <= set(_by_words(names.split()).values())


def test_the_refusal_lists_columns_and_says_how_to_name_them() -> None:
    said = str(name_them(read(columns("model", "score", "cost")), WANTED))
    assert said.endswith("it has model, score, cost; name them: --arm NAME --reward NAME")
