from pathlib import Path
from typing import Any

import numpy as np
import pytest

import purse
from purse import worlds
from purse.base.spec import parse
from purse.testing import check_world
from purse.types import World

ATOMS = (
    "atoms:probabilities=[[.5,.25,.25],[1,0,0]],rewards=[[1,.5,0],[.2,0,0]],"
    "costs=[[.4,.2,1],[.7,9,0]]"
)
BETA = "beta:rewards=[.5,.2],costs=[.3,1.5],concentration=50,cost_min=.1,cost_max=2"
CORRUPTED = "corrupted:rewards=[.9,.1],costs=[.5,.25],rounds=20,fake_rewards=[.1,.9]"
ONE_COST = "rewards=[.5],costs=[.3],cost_min=.3,cost_max=.3"
TWO_PHASES = "rewards=[[1,0],[0,1]],costs=[[1,.25],[.5,.25]]"
EXAMPLES = {name: worlds.example(name) for name in worlds.names()}


def same_tables(one: World, other: World) -> bool:
    """Whether two worlds draw from equal tables."""
    return all(
        np.array_equal(ours, theirs) for ours, theirs in zip(one.tables, other.tables, strict=True)
    )


@pytest.mark.parametrize("text", EXAMPLES.values(), ids=EXAMPLES.keys())
def test_every_shipped_world_passes_the_check(text: str) -> None:
    world = worlds.make(text, budget=100)
    assert world.name == text
    check_world(world)


def test_names_are_functions_of_the_package() -> None:
    for name in worlds.names():
        assert getattr(worlds, name) is worlds.function(name)
    with pytest.raises(AttributeError, match="beta9"):
        worlds.beta9  # noqa: B018


@pytest.mark.parametrize("kind", [np.float64, np.float32])
@pytest.mark.parametrize(
    "text",
    [
        "bernoulli:rewards=[.75,.5],costs=[.8,.3]",
        "beta:rewards=[.5,.25],costs=[.3,.6],concentration=4.0,cost_min=.1,cost_max=1",
        "corrupted:rewards=[.75,.5],costs=[.3,.2],rounds=20,fake_rewards=[.25,1]",
        "drifting:rounds=3,rewards=[[.75,.5],[.25,1]],costs=[[.3,.2],[.1,.2]]",
        "spend_or_save:budget=100,cost_min=.25,later=.5",
        "theorem2:n_arms=4,budget=100.0,cost_min=.25,scale=.25,best=1",
        "theorem5:budget=100,alpha=.5,best=1",
        "theorem5:budget=100.0,alpha=.5,best=1",
    ],
)
def test_numpy_inputs_and_text_make_the_same_world(text: str, kind: type) -> None:
    name, options = parse(text)
    arrays: dict[str, Any] = {
        field: np.array(value, np.int64 if isinstance(value, int) else kind)[()]
        for field, value in options.items()
    }
    world = worlds.function(name)(**arrays)
    for array in arrays.values():
        if array.ndim:
            array[...] = 0
    assert same_tables(world, worlds.make(text, budget=1))


@pytest.mark.parametrize(
    ("text", "low", "high", "rewards", "costs"),
    [
        (ATOMS, [0.2, 0.7], [1, 0.7], [0.625, 0.2], [0.5, 0.7]),
        ("bernoulli:rewards=[.9,.6],costs=[.8,.3]", *[[0.8, 0.3]] * 2, [0.9, 0.6], [0.8, 0.3]),
        (BETA, [0.1, 0.1], [2, 2], [0.5, 0.2], [0.3, 1.5]),
        (CORRUPTED, [0.5, 0.25], [0.5, 0.25], None, None),
        (f"drifting:rounds=4,{TWO_PHASES}", [0.5, 0.25], [1, 0.25], None, None),
        ("misleading_ratio", [0.1, 0.5], [1, 0.5], [0.5, 0.6], [0.55, 0.5]),
        ("spend_or_save:later=1", [0.1, 0.1], [0.1, 1], None, None),
        (f"switching:segments=[1,2],{TWO_PHASES}", [0.5, 0.25], [1, 0.25], None, None),
        ("theorem2:n_arms=2,cost_min=.5,best=1", [0.5] * 2, [0.5] * 2, [0.5, 0.525], [0.5] * 2),
        (
            "two_point:rewards=[.5,1],costs=[.55,.1],cost_min=.1",
            [0.1, 0.1],
            [1, 0.1],
            [0.5, 1],
            [0.55, 0.1],
        ),
        (f"two_point:{ONE_COST}", [0.3], [0.3], [0.5], [0.3]),
        ("two_worlds", [1, 0.1], [1, 0.1], None, None),
    ],
)
def test_declares_bounds_and_means(
    text: str, low: list[float], high: list[float], rewards: Any, costs: Any
) -> None:
    world = worlds.make(text, budget=100)
    assert (world.n_resources, world.n_rounds, world.horizon) == (1, None, None)
    assert world.cost_min.tolist() == [[round(cost * 1e9)] for cost in low]
    assert world.cost_max.tolist() == [[round(cost * 1e9)] for cost in high]
    assert np.array_equal(world.costs, world.cost_min) == (low == high)
    assert (world.costs is None) == (low != high)
    if rewards is None:
        assert world.reward_means is world.cost_means is world.efficiencies is None
    else:
        np.testing.assert_allclose(world.reward_means, rewards, rtol=1e-15)
        assert world.cost_means is not None
        np.testing.assert_allclose(world.cost_means[:, 0], costs, rtol=1e-8)
        np.testing.assert_allclose(world.efficiencies, np.divide(rewards, costs), rtol=1e-8)


@pytest.mark.parametrize(
    "text",
    ["spend_or_save:later=0,", "theorem2:n_arms=4,cost_min=.25,", "theorem5:", "two_worlds:"],
)
def test_the_budget_is_filled_in_where_the_world_depends_on_it(text: str) -> None:
    whole = worlds.make(f"{text}budget=40", budget=400)
    assert same_tables(worlds.make(text, budget=40), whole)
    assert same_tables(worlds.make(text, budget="40"), whole)
    assert not same_tables(worlds.make(text, budget=400), whole)


def test_a_function_of_the_budget_and_a_world() -> None:
    world = worlds.make(lambda budget: worlds.two_worlds(budget, cost_min=0.5), budget=9)
    assert world.tables.last[0] == 9
    assert worlds.make(world, budget=5) is world


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
