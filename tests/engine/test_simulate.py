from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import purse
from purse import policies
from purse.engine import cpu
from purse.engine.job import make_job, single_arm_jobs
from purse.testing.games import suitable
from purse.worlds.bernoulli import bernoulli
from purse.worlds.misleading_ratio import misleading_ratio
from purse.worlds.two_point import two_point
from tests.support.paths import EPSILON_GREEDY
from tests.support.policies import scripted
from tests.support.soak import SOAK

WORLD = two_point(rewards=[0.9, 0.6, 0.3, 0.5], costs=[0.6, 0.3, 0.9, 0.5], cost_min=0.2)

# gain, rounds and spent units of two paths at budget 100 and seed 2024. These numbers are a
# promise: a change of any of them
# is a change of behaviour, for which the changelog needs an entry.
GOLDEN: dict[str, list[tuple[float, int, int]]] = {
    "exp3++.bwk": [(97, 164, 100_000_000_000), (121, 195, 99_800_000_000)],
    "exp3++.price": [(108, 164, 100_000_000_000), (127, 208, 100_000_000_000)],
    "exp3.bwk": [(104, 160, 99_200_000_000), (129, 214, 99_600_000_000)],
    "fixed": [(137, 155, 99_800_000_000), (164, 180, 100_000_000_000)],
    "oracle": [(185, 312, 100_000_000_000), (210, 332, 100_000_000_000)],
    "tsallis-inf.coin": [(120, 204, 100_000_000_000), (149, 224, 100_000_000_000)],
    "uniform": [(98, 160, 100_000_000_000), (117, 184, 100_000_000_000)],
}


LEARNERS = ["exp3.bwk", "exp3++.bwk", "exp3++.price"]  # whose loops are compiled here


def needed(policy: str) -> int | None:
    """A horizon beyond what the budget affords, for policies that need one."""
    return None if suitable(policy, 1, None)[1] is None else 1000


@pytest.mark.parametrize("policy", GOLDEN)
def test_golden_numbers_have_not_changed(policy: str) -> None:
    run = purse.simulate(policy, WORLD, 100, n_paths=2, seed=2024, device="python")
    assert [
        (float(run.gain[j]), int(run.rounds[j]), int(run.spent_units[j, 0])) for j in range(2)
    ] == GOLDEN[policy]


@cache
def alone(policy: str, stop: str, horizon: int | None = None) -> purse.lab.Run:
    """A policy with one arm."""
    world = bernoulli(rewards=[0.6], costs=[0.5])
    how: dict[str, Any] = {"n_paths": 2, "seed": 3, "stop": stop, "device": "python"}
    return purse.simulate(policy, world, 20, horizon=horizon, **how)


@pytest.mark.parametrize("policy", policies.names())
def test_with_a_single_arm_all_policies_play_the_same_game(policy: str) -> None:
    horizon = 40 if needed(policy) else None  # a policy that keeps a pace would skip in more rounds
    for stop in ("exit", "hold", "retry"):
        run, plain = alone(policy, stop, horizon), alone("fixed", stop)
        assert (run.pulls[:, 0] == run.rounds).all()
        assert (run.gain == plain.gain).all()
        assert (run.spent_units == plain.spent_units).all()
        assert len(np.unique(run.gain)) > 1


@pytest.mark.parametrize(
    ("policy", "low", "high"),
    [("exp3.bwk", 0.26, 0.3), ("exp3++.bwk", 0.26, 0.3), ("exp3++.price", -1, 0.01)],
)
def test_averaging_reward_per_cost_loses_a_fixed_part_of_the_budget(
    policy: str, low: float, high: float
) -> None:
    run = purse.simulate(policy, misleading_ratio(), budget=100_000, n_paths=20, seed=0)
    assert low < 1.2 - run.gain.mean() / 100_000 < high


@pytest.mark.parametrize(
    "policy", [name for name in policies.names() if name != "oracle"] if SOAK else LEARNERS
)
def test_no_policy_does_well_in_both_of_the_two_worlds(policy: str) -> None:
    budget, n_paths = 10_000, 20
    regrets, errors = [], []
    for world in (1, 2):
        text = f"two_worlds:cost_min=0.1,world={world}"
        best = max(
            purse.simulate(f"fixed:arm={arm}", text, budget=budget, n_paths=1).gain[0]
            for arm in (0, 1)
        )
        assert best == [budget, 9 * budget][world - 1]
        horizon = 10 * budget if needed(policy) else None
        gain = purse.simulate(policy, text, budget, n_paths=n_paths, seed=0, horizon=horizon).gain
        regrets.append(best - gain.mean())
        errors.append(gain.std(ddof=1) / np.sqrt(n_paths))
    worse = int(np.argmax(regrets))
    assert regrets[worse] >= 8 / 9 * budget - 4 * errors[worse]


def test_a_run_tells_what_was_played() -> None:
    world = "bernoulli:rewards=[1,1],costs=[.5,.25]"
    run = purse.simulate("fixed:arm=1", world, budget="10.5", n_paths=3, seed=7, stop="hold")
    facts = (run.policy, run.world, run.stop, run.seed, run.n_paths)
    assert facts == ("fixed:arm=1", world, "hold", 7, 3)
    assert run.budget.tolist() == [10.5]
    assert run.gain.tolist() == run.rounds.tolist() == [42, 42, 42]
    assert run.pulls.tolist() == [[0, 42]] * 3
    assert run.spent.tolist() == [[10.5]] * 3
    assert run.spent_units.dtype == np.int64


@pytest.mark.parametrize(
    ("policy", "told", "horizon", "untold"),
    [
        ("replan", False, None, 20),
        ("replan", False, 20, None),
        ("replan", True, None, None),
        ("uniform", False, None, None),
    ],
)
def test_a_run_knows_whether_a_planner_was_told_the_number_of_rounds(
    policy: str, told: bool, horizon: int | None, untold: int | None
) -> None:
    world = purse.worlds.requests(WORLD, 20, told=told)
    run = purse.simulate(policy, world, 10, n_paths=1, horizon=horizon, device="python")
    assert run.untold == untold


@pytest.mark.parametrize(
    ("stop", "played"), [("exit", "exit"), ("hold", "hold"), ("retry", "exit")]
)
def test_yardsticks_are_the_arms_one_by_one_and_no_other_steps_in(stop: str, played: str) -> None:
    jobs = single_arm_jobs(WORLD, 37.3, seed=3, stop=stop)
    assert [job.name for job in jobs] == [f"fixed:arm={arm}" for arm in range(4)]
    for arm, job in enumerate(jobs):
        alone, _ = cpu.play_block(job, 5)
        run = purse.simulate(f"fixed:arm={arm}", WORLD, 37.3, n_paths=5, seed=3, stop=played)
        assert alone.gain.tolist() == run.gain.tolist()
        assert alone.pulls[:, arm].tolist() == alone.rounds.tolist() == run.rounds.tolist()


def test_a_policy_may_be_a_module() -> None:
    by_name, by_module = (
        purse.simulate(policy, WORLD, budget=20, n_paths=2, device="python")
        for policy in ("uniform", policies.load("uniform"))
    )
    assert by_module.policy == "uniform"
    assert (by_name.gain == by_module.gain).all()


def test_options_and_a_wider_cost_min_reach_the_policy() -> None:
    params = [
        make_job(f"exp3.bwk:gamma={gamma}", WORLD, 200, cost_min=cost_min).params
        for gamma, cost_min in ((0.2, None), (1, None), (0.2, 0.01))
    ]
    assert len({repr(each) for each in params}) == 3


class Ran(Exception):
    pass


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"budget": 0}, "budget=0: must be positive"),
        ({"budget": [1, 2]}, "budget=[1, 2]: must be one positive number"),
        ({"budget": np.ones((2, 2))}, "budget="),
        ({"n_paths": 0}, "n_paths=0: must be a whole number from 1 up"),
        ({"n_paths": "many"}, "n_paths='many': must be a whole number"),
        ({"policy": "exp3.bwkk"}, "unknown policy 'exp3.bwkk'; did you mean 'exp3.bwk'?"),
        ({"policy": "fixed:arm=4"}, "arm=4: must be a whole number from 0 to 3"),
        ({"policy": "nowhere.py"}, "policy file 'nowhere.py' does not exist"),
        ({"policy": purse}, f"{purse.__file__} is not a policy: it has no NAME"),
        ({"policy": 3}, "policy"),
        (
            {"world": "bernuli:rewards=[1],costs=[1]"},
            "unknown world 'bernuli'; did you mean 'bernoulli'?",
        ),
        ({"world": 3}, "world"),
        ({"stop": "x"}, "stop='x': must be one of 'exit', 'hold', 'retry'"),
        ({"device": "tpu"}, "device='tpu': must be one of"),
        ({"plays": 5}, "plays=5: must be a whole number from 1 to 4"),
        ({"policy": "exp3.bwk", "plays": 2}, "exp3.bwk plays problems with plays=1"),
        ({"horizon": 0}, "horizon=0: must be a whole number from 1 up"),
        ({"cost_min": 0.25}, "cost_min=0.25: must not exceed what the world's arms may cost"),
        ({"cost_min": 0}, "cost_min=0: must be positive"),
        ({"cost_min": np.full((2, 2), 0.1)}, "cost_min="),
        ({"cost_max": 0.9}, "cost_max=0.9: must not be less than what the world's arms may cost"),
        ({"cost_max": 0.1}, "cost_max="),
        ({"seed": -1}, "seed=-1: must be a whole number from 0 to"),
        ({"seed": 2**63}, "seed=9223372036854775808: must be"),
        ({"checkpoints": -1}, "checkpoints=-1: must be a whole number"),
        (
            {"n_paths": 10_000, "checkpoints": 10_000},
            "checkpoints=10000: would need 6 GB for 10000 paths and 4 arms",
        ),
        ({"n_workers": 0}, "n_workers=0: must be a whole number from 1 up"),
        ({"block": 0}, "block=0: must be a whole number from 1 up"),
    ],
    ids=str,
)
def test_bad_input_is_refused_in_one_line_before_anything_runs(
    options: dict[str, Any], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(*args: Any) -> None:
        raise Ran

    monkeypatch.setattr(cpu, "simulate", run)
    with pytest.raises(purse.InvalidInput) as caught:
        purse.simulate(**{"policy": "fixed", "world": WORLD, "budget": 100} | options)
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith(message)


WRONG_INDEX = ("+= play.costs[0, 0]", "+= play.costs[0]")
NO_ARM = r"chose (no )?arm"


def test_a_policy_file_that_does_not_compile_is_one_line_and_no_numbers(tmp_path: Path) -> None:
    path = tmp_path / "wrong.py"
    path.write_text(EPSILON_GREEDY.read_text().replace(*WRONG_INDEX))
    is_refused(str(path), "does not compile")


@pytest.mark.parametrize("arm", [2, -3, -9], ids=["too large", "negative", "none"])
def test_a_policy_file_that_chooses_no_arm_is_one_line_and_no_numbers(arm: int) -> None:
    is_refused(scripted([[0], [arm]]), NO_ARM, "python")


def is_refused(policy: str, message: str, device: str = "cpu") -> None:
    """A policy gets no further in the engine and live, and one line says why."""
    for _ in range(2):  # what was compiled in vain is not taken for compiled
        with pytest.raises(purse.PurseError, match=message) as caught:
            purse.simulate(policy, "misleading_ratio", 10, n_paths=2, device=device)
        assert "\n" not in str(caught.value)
    with pytest.raises(purse.PurseError, match=f"{message}|fails as plain Python"):
        ask_often(policy)


def ask_often(policy: str) -> None:
    live = purse.Policy(policy, n_arms=2, budget=10, cost_min=0.1)
    for _ in range(5):
        live.tell(live.ask(), 0.5, 0.5)
