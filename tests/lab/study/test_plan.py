import json
import tomllib
from itertools import chain
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import purse
from purse import policies
from purse import worlds as known_worlds
from purse.base.text import first_paragraph
from purse.lab.study import shard
from purse.lab.study.plan import _CHECKPOINTS, Plan
from purse.lab.study.shard import JobSpec, key_of
from purse.worlds.bernoulli import bernoulli

WORLD = bernoulli(rewards=[0.9, 0.6, 0.4], costs=[0.8, 0.3, 0.25])
TEXT = "bernoulli:rewards=[.9,.6,.4],costs=[.8,.3,.25]"


def plan(policies: Any = "uniform", world: Any = TEXT, **changes: Any) -> Plan:
    given = {"budgets": [20, 50], "n_paths": 6, "seed": 3, "stop": "exit", "title": "A title"}
    return Plan.of(policies, world, **(given | changes))


def test_one_thing_or_several_of_each() -> None:
    one, module = plan(world=WORLD, budgets=20), policies.load("fixed")
    assert (one.policies, one.worlds) == ({"uniform": "uniform"}, {"bernoulli": WORLD})
    several = plan(["uniform", module], [TEXT, WORLD, two_arms], budgets=(50, 20), n_paths=1e3)
    assert several.policies == {"uniform": "uniform", "fixed": module}
    assert several.worlds == {TEXT: TEXT, "bernoulli": WORLD, "two_arms": two_arms}
    assert (one.budgets, several.budgets) == ((20.0,), (50.0, 20.0))
    assert several.n_paths == 1000
    named = {"shop": two_arms, "market": WORLD}
    assert plan(world=named).worlds == named


def two_arms(budget: float) -> purse.lab.World:
    return bernoulli(rewards=[0.5, 0.5], costs=[0.5, min(1, budget / 100)])


NO_POLICY = "must be a name, the path of a policy file or a module"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"policies": []},
            "nothing to compare: give at least one policy, one world and one budget",
        ),
        ({"world": {}}, "nothing to compare"),
        ({"budgets": []}, "nothing to compare"),
        ({"budgets": [10, 0]}, "budgets=0: must be a number above 0"),
        ({"budgets": "20"}, "budgets='20': must be a number above 0"),
        ({"budgets": [[10, 20]]}, r"budgets=\[10, 20\]: must be a number above 0"),
        ({"budgets": [10, 20, 10.0]}, r"budget 10\.0 appears twice"),
        ({"policies": ["uniform", "fixed", "uniform"]}, "policy 'uniform' appears twice"),
        ({"policies": ["uniform", policies.load("uniform")]}, "policy 'uniform' appears twice"),
        ({"policies": ["uniform", 5]}, f"policy=5: {NO_POLICY}"),
        ({"policies": None}, f"policy=None: {NO_POLICY}"),
        ({"policies": ModuleType("nameless")}, "is not a policy: it has no NAME"),
        (
            {"world": [WORLD, WORLD]},
            r"world 'bernoulli' appears twice; give them names of their own: \{'one': "
            r"world, 'two': world\}",
        ),
        ({"world": {1: WORLD}}, "world=1: the name of a world must be text"),
        ({"n_paths": 0}, "n_paths=0: must be a whole number from 1 up"),
        ({"seed": 2**63}, f"seed={2**63}: must be a whole number from 0 to {2**63 - 1}"),
        ({"stop": "never"}, "stop='never': must be one of 'exit', 'hold', 'retry'"),
        ({"delay": -1}, "delay=-1: must be a whole number of rounds from 0 to 10000, or "),
    ],
    ids=str,
)
def test_a_bad_plan_is_refused_in_one_line(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(purse.InvalidInput, match=message) as caught:
        plan(**changes)
    assert "\n" not in str(caught.value)


def test_a_cell_for_each_world_and_budget() -> None:
    cells = list(
        plan(["uniform", "exp3.bwk"], {"shop": TEXT, "small": two_arms}, budgets=[50, 20]).cells({})
    )
    assert [(cell.label, cell.budget) for cell in cells] == [
        ("shop", 50),
        ("shop", 20),
        ("small", 50),
        ("small", 20),
    ]
    assert [cell.world.n_arms for cell in cells] == [3, 3, 2, 2]
    assert [float(cell.world.cost_max[1, 0]) / 1e9 for cell in cells] == [0.3, 0.3, 0.5, 0.2]
    for cell in cells:
        assert list(cell.policies) == ["uniform", "exp3.bwk"]
        n_arms, shards = cell.world.n_arms, [*cell.policies.values(), *cell.alone]
        jobs = [shard.job for (shard,) in shards]
        assert {(shard.first, shard.n_paths) for (shard,) in shards} == {(0, 6)}
        alone = [(f"fixed:arm={arm}", 0) for arm in range(n_arms)]
        assert [(job.name, len(job.checkpoints.left)) for job in jobs[2:]] == alone
        assert {job.game.seed for job in jobs} == {3}
        assert len({id(job.world.tables) for job in jobs}) == 1


def test_of_many_arms_the_share_of_each_is_not_counted() -> None:
    for n_arms, marks in ((100, _CHECKPOINTS), (101, 0)):
        world = bernoulli(rewards=[0.5] * n_arms, costs=[0.5] * n_arms)
        (cell,) = plan(world=world, budgets=20).cells({})
        assert len(cell.policies["uniform"][0].job.checkpoints.left) == marks


@pytest.mark.parametrize(("stop", "alone"), [("exit", 0), ("hold", 1), ("retry", 0), ("fit", 1)])
def test_alone_means_that_no_other_arm_steps_in(stop: str, alone: int) -> None:
    (cell,) = plan(budgets=20, stop=stop).cells({})
    assert cell.policies["uniform"][0].job.game.rule == ["exit", "hold", "retry", "fit"].index(stop)
    assert {shards[0].job.game.rule for shards in cell.alone} == {alone}


def test_recipes_make_the_job_of_every_shard(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shard, "_WORK", 3e3)
    recipes: dict[str, JobSpec] = {}
    worlds = {"text": TEXT, "made": WORLD, "depends": two_arms}
    made = plan(["uniform", "exp3.bwk:gamma=0.5"], worlds, budgets=[20, 5])
    groups = ((*cell.policies.values(), *cell.alone) for cell in made.cells(recipes))
    shards = [each for group in groups for each in chain.from_iterable(group)]
    assert max(each.first for each in shards) > 0
    assert recipes.keys() == {each.key for each in shards}
    assert all(key_of(recipe.make()) == key for key, recipe in recipes.items())
    sent = {recipe.world for recipe in recipes.values()}
    assert WORLD in sent or TEXT in sent  # they are the same world, so either may be sent
    assert not any(callable(world) for world in sent)
    recipes.clear()
    list(plan(world=TEXT).cells(recipes))
    assert {recipe.world for recipe in recipes.values()} == {TEXT}


def test_policies_have_labels_where_they_are_given_some() -> None:
    given = {"bold": "exp3.bwk:gamma=0.9", "shy": "exp3.bwk:gamma=0.1"}
    made = plan(given)
    assert made.facts["policies"] == ["bold", "shy"]
    assert list(next(made.cells({})).policies) == ["bold", "shy"]
    assert made.toml is not None
    assert tomllib.loads(made.toml)["policies"] == given


def test_a_file_of_the_users_own_keeps_its_label_and_is_found_from_anywhere() -> None:
    text = plan(["uniform", "mine.py:word=1"]).toml
    assert text is not None
    assert tomllib.loads(text)["policies"] == {
        "uniform": "uniform",
        "mine.py:word=1": f"{Path('mine.py').resolve()}:word=1",
    }


def test_the_study_file_of_a_plan() -> None:
    made = plan(
        ["uniform", 'mine:word="x"'],
        {'a "shop"': TEXT, "plain": "misleading_ratio"},
        budgets=[1e3, 0.1, 1e-9, 1e17],
        seed=2**63 - 1,
        stop="hold",
    )
    assert (
        made.toml
        == f'''title = "A title"
policies = [
    "uniform",
    "mine:word=\\"x\\"",
]
budgets = [1000, 0.1, 1e-09, 1e+17]
paths = 6
seed = 9223372036854775807
stop = "hold"

[worlds]
"a \\"shop\\"" = "{TEXT}"
"plain" = "misleading_ratio"
'''
    )


@pytest.mark.parametrize(("delay", "line"), [(3, "3"), (("geometric", 2.5), '"geometric:2.5"')])
def test_a_delay_is_in_the_study_file_and_not_in_the_arms_alone(delay: Any, line: str) -> None:
    made = plan(delay=delay)
    assert f'stop = "exit"\ndelay = {line}\n' in made.toml
    assert made.facts["delay"] == tomllib.loads(made.toml)["delay"] == made.delay.value
    (late, *_), (prompt, *_) = made.cells({}), plan().cells({})
    assert late.policies["uniform"][0].name != prompt.policies["uniform"][0].name
    assert [alone[0].name for alone in late.alone] == [alone[0].name for alone in prompt.alone]
    assert (late.delay, prompt.delay.is_late) == (made.delay, False)


WORDS = st.text(max_size=12) | st.text("\"'\\#=[]\n\r\t\x00\x1f\x7f\x85\u2028é😀", max_size=8)
AMOUNTS = st.floats(min_value=0, exclude_min=True, allow_infinity=False)


@given(
    st.fixed_dictionaries(
        {
            "title": WORDS,
            "policies": st.lists(WORDS, min_size=1, max_size=4, unique=True),
            "budgets": st.lists(AMOUNTS, min_size=1, max_size=4, unique=True),
            "paths": st.integers(1, 10**9),
            "seed": st.integers(0, 2**63 - 1),
            "stop": st.sampled_from(["exit", "hold", "retry"]),
            "worlds": st.dictionaries(WORDS, WORDS, min_size=1, max_size=4),
        }
    )
)
def test_the_study_file_says_exactly_what_the_plan_does(asked: dict[str, Any]) -> None:
    given = dict(asked)
    chosen, worlds = given.pop("policies"), given.pop("worlds")
    text = Plan.of(chosen, worlds, n_paths=given.pop("paths"), **given).toml
    assert text is not None
    found = tomllib.loads(text)
    assert found == asked
    assert list(found["worlds"]) == list(worlds)


def test_the_facts_are_json() -> None:
    made = plan(
        ["uniform", policies.load("fixed")],
        {"text": TEXT, "made": WORLD, "depends": two_arms},
        budgets=np.array([20, 50]),
    )
    facts = json.loads(json.dumps(made.facts))
    assert facts == {
        "title": "A title",
        "policies": ["uniform", "fixed"],
        "worlds": {"text": TEXT, "made": "bernoulli", "depends": "bernoulli"},
        "budgets": [20.0, 50.0],
        "n_paths": 6,
        "seed": 3,
        "stop": "exit",
        "delay": 0,
        "study": None,
        "command": "purse.compare(...), with policies or worlds that are Python objects",
        "about": {
            name: {"spec": name, "says": first_paragraph(policies.load(name).__doc__)}
            for name in ("uniform", "fixed")
        },
    }
    assert known_worlds.make(TEXT, 20).name == plan().facts["worlds"][TEXT]
    assert plan().facts["study"] == plan().toml
    assert plan().facts["command"] == "purse lab run study.toml"
