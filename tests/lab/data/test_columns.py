from __future__ import annotations

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


def test_the_refusal_of_a_table_names_its_beginnings_and_cuts_no_name() -> None:
    arms = ("gpt_4", "gpt_5", "claude")
    words = ("latency", "score", "usd")
    names = ["length", *(f"{word}_{arm}" for word in words for arm in arms), "a" * 30, "b" * 30]
    said = str(name_them(read(columns(*names)), WANTED))
    assert said.endswith("usd_gpt_4, usd_gpt_5 and 3 more; name them: --reward score --cost usd")


def test_the_refusal_has_the_options_ready_to_paste() -> None:
    data = read(columns("timestamp", "model", "clicked", "in dollars", "propensity"))
    assert str(name_them(data, WANTED)).endswith(
        "it has timestamp, model, clicked, in dollars, propensity; name them: --arm model "
        "--reward clicked --cost 'in dollars' --probability propensity"
    )
    without = str(name_them(read(columns("model", "score")), WANTED))
    assert without.endswith("name them: --arm model --reward score --cost NAME")
