from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import purse
from purse import worlds
from purse.testing import check_world

EXAMPLES = {name: worlds.example(name) for name in worlds.names()}


@pytest.mark.parametrize("text", EXAMPLES.values(), ids=EXAMPLES.keys())
def test_every_shipped_world_passes_the_check(text: str) -> None:
    world = worlds.make(text, budget=100)
    assert world.name == text
    check_world(world)


def test_a_check_fails_for_a_world_that_declares_a_wrong_mean() -> None:
    from dataclasses import replace

    world = worlds.bernoulli(rewards=[0.5], costs=[1])
    with pytest.raises(AssertionError, match="mean reward"):
        check_world(replace(world, reward_means=np.array([0.6])))


def test_names_are_functions_of_the_package() -> None:
    for name in worlds.names():
        assert getattr(worlds, name) is worlds.function(name)
    with pytest.raises(AttributeError, match="beta9"):
        worlds.beta9  # noqa: B018


def test_text_and_call_make_the_same_world() -> None:
    text, call = (
        worlds.make(EXAMPLES["bernoulli"], budget=1),
        worlds.bernoulli(rewards=[0.9, 0.6, 0.4], costs=[0.8, 0.3, 0.2]),
    )
    assert all(
        np.array_equal(ours, theirs) for ours, theirs in zip(text.tables, call.tables, strict=True)
    )


def test_a_world_is_taken_as_it_is() -> None:
    world = worlds.misleading_ratio()
    assert worlds.make(world, budget=5) is world


def test_the_budget_is_filled_in_where_the_world_depends_on_it() -> None:
    assert worlds.make("two_worlds", budget=7).tables.last[0] == 7
    assert worlds.make("two_worlds:budget=5", budget=7).tables.last[0] == 5


def test_a_function_of_the_budget() -> None:
    world = worlds.make(lambda budget: worlds.two_worlds(budget, cost_min=0.5), budget=9)
    assert world.tables.last[0] == 9
    assert purse.simulate(
        "fixed", lambda budget: worlds.two_worlds(budget, cost_min=0.5), budget=9, n_paths=1
    ).gain.tolist() == [4.5]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("bernouli:rewards=[.5],costs=[1]", "unknown world 'bernouli'; did you mean 'bernoulli'?"),
        ("qqqqq", "unknown world 'qqqqq'; known: ad_slots, atoms"),
        ("draw", "unknown world 'draw'"),
        (
            "bernoulli:reward=[.5],costs=[1]",
            "unknown option of bernoulli 'reward'; did you mean 'rewards'?",
        ),
        ("bernoulli:rewards=[.5]", "bernoulli needs costs; write bernoulli:costs=..."),
        ("table", "table needs rewards, costs; write table:rewards=...,costs=..."),
        ("misleading_ratio:x=1", "unknown option of misleading_ratio 'x'; there are none"),
        (
            "two_worlds:world=",
            "cannot read 'two_worlds:world='; write name or name:option=value,option=value",
        ),
        ("two_worlds:world=1+1", "cannot read 'two_worlds:world=1+1'"),
        ("two_worlds:2", "cannot read 'two_worlds:2'"),
    ],
    ids=str,
)
def test_text_that_cannot_be_used_says_what_to_write(text: str, message: str) -> None:
    with pytest.raises(purse.InvalidInput) as caught:
        worlds.make(text, budget=10)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    "text",
    [
        f"switching:segments={10**19},rewards=[[.5]],costs=[1]",
        f"corrupted:rewards=[.5],costs=[1],rounds={5 * 10**18},fake_rewards=[.5]",
        f"drifting:rounds={10**16},rewards=[[0],[1]],costs=[1]",
        "spend_or_save:budget=1e19",
        "two_worlds:budget=1e19",
        "theorem2:n_arms=5,cost_min=.5,scale=1e200",
    ],
)
def test_what_is_too_large_is_refused_by_name(text: str) -> None:
    with pytest.raises(
        purse.InvalidInput, match=r"^(segments|rounds|budget|scale)=1?5?e?\S+: must be "
    ):
        worlds.make(text, budget=10)


@pytest.mark.parametrize(
    ("field", "text"),
    [
        ("segments", "switching:segments={},rewards=[[.5],[.1]],costs=[1]"),
        ("segments", "switching:segments=[3,{}],rewards=[[.5],[.1]],costs=[1]"),
        ("rounds", "corrupted:rewards=[.5],costs=[1],rounds={},fake_rewards=[.1]"),
        ("rounds", "drifting:rounds={},rewards=[[0],[1]],costs=[1]"),
        ("budget", "spend_or_save:budget={}"),
        ("budget", "two_worlds:budget={}"),
    ],
)
def test_a_million_million_rounds_are_possible_and_one_more_is_not(field: str, text: str) -> None:
    world = worlds.make(text.format(10**12), budget=10)
    assert purse.simulate("uniform", world, budget=3, n_paths=2).rounds.min() >= 3
    with pytest.raises(
        purse.InvalidInput,
        match=rf"^{field}=1000000000001: must be a whole number from [12] to 1000000000000$",
    ):
        worlds.make(text.format(10**12 + 1), budget=10)


@pytest.mark.parametrize(
    "text",
    [
        "theorem2:n_arms=2,cost_min=1e-12",
        "spend_or_save:cost_min=1e-12",
        "two_worlds:cost_min=1e-12",
    ],
)
def test_a_cost_that_rounds_to_nothing_is_refused_by_name(text: str) -> None:
    with pytest.raises(purse.InvalidInput, match=r"^cost_min=1e-12: must be at least 1e-9"):
        worlds.make(text, budget=100)


def test_a_world_may_be_a_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(
        "import purse\n\ndef mine(pay=0.5):\n    return "
        "purse.worlds.bernoulli(rewards=[pay, 0.1], costs=[1, 1])\n"
    )
    world = worlds.make(f"{path}:pay=0.7", budget=10)
    assert world.reward_means.tolist() == [0.7, 0.1]
    assert world.name == f"{path}:pay=0.7"
    path.write_text(path.read_text().replace("0.1]", "0.2]"))
    assert worlds.make(str(path), budget=10).reward_means.tolist() == [0.5, 0.2]


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("x = 1\n", "is not a world: it has no function 'mine'"),
        ("def mine():\n    return 3\n", "returned int, and not a World"),
        ("def mine(:\n", "does not load: SyntaxError"),
    ],
)
def test_a_file_that_is_no_world_is_refused(tmp_path: Path, source: str, message: str) -> None:
    path = tmp_path / "mine.py"
    path.write_text(source)
    with pytest.raises(purse.InvalidInput, match=message):
        worlds.make(str(path), budget=10)
    with pytest.raises(purse.InvalidInput, match="does not exist"):
        worlds.make(str(tmp_path / "other.py"), budget=10)
