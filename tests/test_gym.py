import sys
from dataclasses import replace
from importlib import import_module
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from hypothesis import given, settings
from hypothesis import strategies as st

import purse
import purse.gym
from purse.gym import KnapsackEnv
from purse.worlds import example, make
from purse.worlds.bernoulli import bernoulli
from purse.worlds.table import table
from tests.support.paths import SCRIPTED

PLAIN = "bernoulli:rewards=[.9,.6],costs=[.8,.3]"
RANDOM = "two_point:rewards=[.9,.6,.3],costs=[.6,.3,.9],cost_min=.2"
LONG_TABLE = table(rewards=np.linspace(0, 1, 80).reshape(40, 2), costs=[0.5, 0.25])
TWO_RESOURCES = "bernoulli:rewards=[.9,.6],costs=[[.8,.1],[.3,.7]]"
ID = "purse.gym:purse/Knapsack-v0"


def played(env: Any, script: list[int], **start: Any) -> tuple[float, int, Any, list[int]]:
    """Gain, rounds, spending and pulls of an episode in which the arms of a script are pulled over
    and over.
    """
    _, info = env.reset(**start)
    gain, pulls, over = 0.0, [0] * env.problem.n_arms, False
    while not over:
        before, arm = info["t"], script[info["t"] % len(script)]
        _, reward, terminated, truncated, info = env.step(arm)
        gain += reward
        pulls[arm] += info["t"] - before
        over = terminated or truncated
    return gain, info["t"], info["spent"], pulls


@pytest.mark.parametrize("stop", ["exit", "hold"])
@pytest.mark.parametrize(
    ("world", "budget", "horizon"),
    [
        (PLAIN, 20, None),
        (PLAIN, 20, 30),
        (RANDOM, 20, None),
        (RANDOM, "0.1", None),
        (LONG_TABLE, 5, None),
        (LONG_TABLE, 500, None),
        ("two_worlds:cost_min=.1,world=2", 10, None),
        (example("drifting"), 15, None),
        (TWO_RESOURCES, [12, 9], None),
        (TWO_RESOURCES, [12, 9], 8),
        *((make(example(name), 20), 20, None) for name in ("routing", "pricing", "ad_slots")),
    ],
)
def test_the_same_arms_bring_what_they_bring_in_a_simulation_to_the_bit(
    world: Any, budget: Any, horizon: int | None, stop: str
) -> None:
    how: dict[str, Any] = {"n_paths": 4, "seed": 7, "stop": stop, "device": "python"}
    run = purse.simulate(f"{SCRIPTED}:script=[0,1,1]", world, budget, horizon=horizon, **how)
    env = KnapsackEnv(world, budget, horizon=horizon, stop=stop)
    for path in (0, 3):
        gain, rounds, spent, pulls = played(env, [0, 1, 1], seed=7, options={"path": path})
        assert (gain, rounds, pulls) == (run.gain[path], run.rounds[path], run.pulls[path].tolist())
        assert np.atleast_1d(spent).tolist() == run.spent[path].tolist()
    limited = env.problem.horizon is not None
    assert env.observation_space.shape == (env.problem.n_resources + limited,)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"horizon": 50},
        {"stop": "hold"},
        {"world": TWO_RESOURCES, "horizon": 9},
        {"world": make(RANDOM, 10)},
    ],
)
def test_gymnasium_finds_nothing_to_complain_about(options: dict[str, Any]) -> None:
    check_env(gymnasium.make(ID, **{"world": PLAIN, "budget": 10} | options).unwrapped)


def test_a_pull_that_cannot_be_paid_ends_the_game_and_does_not_count() -> None:
    env = KnapsackEnv("bernoulli:rewards=[1,1],costs=[.8,.3]", 1.2)
    with pytest.raises(purse.AskRefused, match=r"^no episode is running: call reset\(\)$"):
        env.step(0)
    observation, info = env.reset(seed=3)
    assert observation.tolist() == [1]
    assert info == {"cost": 0, "spent": 0, "left": 1.2, "t": 0, "seed": 3, "path": 0}
    observation, *found = env.step(0)
    assert observation.tolist() == [pytest.approx(1 / 3)]
    assert found == [1, False, False, {"cost": 0.8, "spent": 0.8, "left": 0.4, "t": 1}]
    _, *found = env.step(0)
    assert found == [0, True, False, {"cost": 0, "spent": 0.8, "left": 0.4, "t": 1}]
    with pytest.raises(purse.AskRefused):
        env.step(1)


def test_the_game_is_over_with_the_pull_after_which_no_arm_can_be_paid() -> None:
    env = KnapsackEnv("bernoulli:rewards=[1,1],costs=[.8,.3]", 1)
    env.reset(seed=0)
    _, reward, terminated, _, info = env.step(0)
    assert (reward, terminated, info["left"]) == (1, True, 0.2)
    env = KnapsackEnv("bernoulli:rewards=[1],costs=[.1]", 1000)
    assert played(env, [0])[:3] == (10_000, 10_000, 1000)


def test_under_hold_the_most_that_the_arm_may_cost_must_fit() -> None:
    world = table(rewards=[[1, 1]] * 3, costs=[[0.5, 0.25], [0.5, 0.25], [1.0, 0.25]])
    for stop, rounds in (("exit", 2), ("hold", 1)):
        assert played(KnapsackEnv(world, 1.25, stop=stop), [0], seed=0)[1] == rounds


def test_a_horizon_and_the_end_of_the_world_truncate() -> None:
    env = KnapsackEnv(PLAIN, 100, horizon=2)
    assert env.reset(seed=0)[0].tolist() == [1, 1]
    for left, part, over in ((0.997, 0.5, False), (0.994, 0, True)):
        observation, _, terminated, truncated, _ = env.step(1)
        assert observation.tolist() == [pytest.approx(left), part]
        assert (terminated, truncated) == (False, over)
    with pytest.raises(purse.AskRefused):
        env.step(1)
    env = KnapsackEnv(LONG_TABLE, 100)
    env.reset(seed=0)
    assert [env.step(0)[2:4] for _ in range(40)] == [(False, False)] * 39 + [(False, True)]


def test_without_a_seed_the_next_path_is_played() -> None:
    env = KnapsackEnv(RANDOM, 20)
    first = [played(env, [0, 1, 2], seed=4), played(env, [0, 1, 2]), played(env, [0, 1, 2])]
    again = [played(env, [0, 1, 2], seed=4, options={"path": path}) for path in range(3)]
    assert first == again
    assert len({gain for gain, *_ in first}) > 1
    seeds = [KnapsackEnv(RANDOM, 20).reset()[1] for _ in range(2)]
    assert seeds[0]["seed"] != seeds[1]["seed"]
    assert seeds[0]["path"] == 0
    assert env.reset(options={"path": 9})[1]["path"] == 9
    assert env.reset()[1]["path"] == 10


@pytest.mark.parametrize("block", [1, 7])
def test_how_many_draws_are_made_at_once_changes_nothing(
    block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    env = KnapsackEnv(RANDOM, 20)
    whole = played(env, [0, 1, 2], seed=4)
    monkeypatch.setattr(purse.gym, "_BLOCK", block)
    assert played(env, [0, 1, 2], seed=4) == whole


def test_rewards_are_in_the_unit_of_the_user() -> None:
    place = replace(bernoulli(rewards=[0.5, 0.5], costs=[0.5, 0.5]), reward_range=(-1.0, 3.0))
    env = KnapsackEnv(place, 10)
    env.reset(seed=0)
    assert {env.step(0)[1] for _ in range(15)} == {-1, 3}
    run = purse.simulate("fixed:arm=0", place, 10, n_paths=1, seed=0, device="python")
    assert played(env, [0], seed=0)[0] == run.gain[0]
    assert played(KnapsackEnv(place, 0.25), [0])[0] == 0


def test_several_environments_at_once() -> None:
    several = gymnasium.make_vec(ID, num_envs=3, vectorization_mode="sync", world=RANDOM, budget=20)
    several.reset(seed=4)
    _, rewards, _, _, info = several.step(np.array([0, 1, 2]))
    for number in range(3):
        env = KnapsackEnv(RANDOM, 20)
        env.reset(seed=4 + number)
        _, reward, _, _, alone = env.step(number)
        assert (rewards[number], info["cost"][number]) == (reward, alone["cost"])
    several.close()


@settings(deadline=None)
@given(
    actions=st.lists(st.integers(0, 2), max_size=60),
    budget=st.integers(1, 12),
    stop=st.sampled_from(["exit", "hold"]),
    seed=st.integers(0, 2**63 - 1),
)
def test_nothing_is_spent_that_is_not_there(
    actions: list[int], budget: int, stop: str, seed: int
) -> None:
    env = KnapsackEnv(RANDOM, budget, stop=stop, horizon=50)
    observation, _ = env.reset(seed=seed)
    spent = 0
    for rounds, action in enumerate(actions, 1):
        observation, reward, terminated, truncated, info = env.step(np.int64(action))
        spent += round(info["cost"] * 1e9)
        assert observation in env.observation_space
        assert 0 <= spent == round(info["spent"] * 1e9) <= budget * 10**9
        assert spent + round(info["left"] * 1e9) == budget * 10**9
        assert info["t"] == rounds or (terminated and reward == 0 and info["t"] == rounds - 1)
        assert truncated == (info["t"] == 50 and not terminated)
        if terminated or truncated:
            break


@pytest.mark.parametrize("action", [-1, 2, 0.5, "0", None, [0]])
def test_an_action_that_is_no_arm_is_refused(action: Any) -> None:
    env = KnapsackEnv(PLAIN, 10)
    env.reset(seed=0)
    with pytest.raises(purse.InvalidInput) as caught:
        env.step(action)
    assert str(caught.value) == f"action={action!r}: must be an arm, a whole number from 0 to 1"
    assert env.step(np.array(1))[4]["t"] == 1  # as agents give it


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"world": "bernuli"}, "unknown world 'bernuli'; did you mean 'bernoulli'?"),
        ({"budget": 0}, "budget=0: must be positive, at least 1e-9"),
        ({"horizon": 0}, "horizon=0: must be a whole number from 1 up"),
        ({"stop": "retry"}, "stop='retry': must be one of 'exit', 'hold'"),
    ],
)
def test_a_bad_environment_is_refused_in_one_line(options: dict[str, Any], message: str) -> None:
    with pytest.raises(purse.InvalidInput) as caught:
        KnapsackEnv(**{"world": PLAIN, "budget": 10} | options)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("start", "message"),
    [
        ({"seed": -1}, f"seed=-1: must be a whole number from 0 to {2**63 - 1}"),
        ({"options": {"path": -1}}, f"path=-1: must be a whole number from 0 to {2**63 - 1}"),
        ({"options": {"paths": 1}}, "unknown option 'paths'; did you mean 'path'?"),
    ],
)
def test_a_bad_reset_is_refused_in_one_line_and_changes_nothing(
    start: dict[str, Any], message: str
) -> None:
    env = KnapsackEnv(PLAIN, 10)
    env.reset(seed=6)
    with pytest.raises(purse.InvalidInput) as caught:
        env.reset(**start)
    assert str(caught.value) == message
    _, info = env.reset()
    assert (info["seed"], info["path"]) == (6, 1)


def test_gymnasium_is_said_to_be_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gymnasium", None)
    monkeypatch.delitem(sys.modules, "purse.gym")
    with pytest.raises(
        purse.PurseError, match=r"^purse\.gym needs gymnasium: pip install 'purse-bandits\[gym\]'$"
    ):
        import_module("purse.gym")
