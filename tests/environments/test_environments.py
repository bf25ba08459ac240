from __future__ import annotations

import numpy as np
import pytest

import purse
from purse import environments
from purse.testing import check_world

EXAMPLES = {name: environments.example(name) for name in environments.names()}


@pytest.mark.parametrize("text", EXAMPLES.values(), ids=EXAMPLES.keys())
def test_every_shipped_world_passes_the_check(text: str) -> None:
    world = environments.make(text, budget=100)
    assert world.name == text
    check_world(world)


def test_a_check_fails_for_a_world_that_declares_a_wrong_mean() -> None:
    from dataclasses import replace

    world = environments.bernoulli(rewards=[0.5], costs=[1])
    with pytest.raises(AssertionError, match="mean reward"):
        check_world(replace(world, reward_means=np.array([0.6])))


def test_names_are_functions_of_the_package() -> None:
    for name in environments.names():
        assert getattr(environments, name) is environments.function(name)
    with pytest.raises(AttributeError, match="beta9"):
        environments.beta9  # noqa: B018


def test_text_and_call_make_the_same_world() -> None:
    text, call = environments.make(EXAMPLES["bernoulli"], budget=1), environments.bernoulli(rewards=[0.9, 0.6, 0.4], costs=[0.8, 0.3, 0.2])
    assert all(np.array_equal(ours, theirs) for ours, theirs in zip(text.tables, call.tables, strict=True))


def test_a_world_is_taken_as_it_is() -> None:
    world = environments.misleading_ratio()
    assert environments.make(world, budget=5) is world


def test_the_budget_is_filled_in_where_the_world_depends_on_it() -> None:
    assert environments.make("two_worlds", budget=7).tables.last[0] == 7
    assert environments.make("two_worlds:budget=5", budget=7).tables.last[0] == 5


def test_a_function_of_the_budget() -> None:
    world = environments.make(lambda budget: environments.two_worlds(budget, cost_min=0.5), budget=9)
    assert world.tables.last[0] == 9
    assert purse.simulate("fixed", lambda budget: environments.two_worlds(budget, cost_min=0.5), budget=9, n_paths=1).gain.tolist() == [4.5]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("bernouli:rewards=[.5],costs=[1]", "unknown world 'bernouli'; did you mean 'bernoulli'?"),
        ("qqqqq", "unknown world 'qqqqq'; known: atoms, bernoulli"),
        ("draw", "unknown world 'draw'"),
        ("bernoulli:reward=[.5],costs=[1]", "unknown option of bernoulli 'reward'; did you mean 'rewards'?"),
        ("bernoulli:rewards=[.5]", "bernoulli needs costs; write bernoulli:costs=..."),
        ("table", "table needs rewards, costs; write table:rewards=...,costs=..."),
        ("misleading_ratio:x=1", "unknown option of misleading_ratio 'x'; there are none"),
        ("two_worlds:world=", "cannot read 'two_worlds:world='; write name or name:option=value,option=value"),
        ("two_worlds:world=1+1", "cannot read 'two_worlds:world=1+1'"),
        ("two_worlds:2", "cannot read 'two_worlds:2'"),
    ],
    ids=str,
)
def test_text_that_cannot_be_used_says_what_to_write(text: str, message: str) -> None:
    with pytest.raises(purse.InvalidInput) as caught:
        environments.make(text, budget=10)
    assert str(caught.value).startswith(message)
