"""Policies as plain Python: kernels with `device="python"`, and classes."""

import logging
import subprocess
import sys
from pathlib import Path
from threading import current_thread, main_thread
from typing import Any, ClassVar

import numpy as np
import pytest

import purse
from purse import worlds
from purse.engine import cpu
from purse.engine.run import Run
from purse.errors import InvalidInput
from purse.testing.games import _standard_world, contextual_worlds, half_down
from purse.types import SKIP, STOP, Now, Problem
from tests.support.policies import Greedy
from tests.support.soak import SOAK

WORLD = _standard_world()
SHARED, _ = contextual_worlds()
RESOURCES = worlds.function("atoms")(
    probabilities=[[0.5, 0.5], [0.3, 0.7], [0.9, 0.1]],
    rewards=[[1, 0], [1, 0], [1, 0]],
    costs=[[[1, 0.2], [0.5, 0]], [[0.2, 2], [0.1, 1]], [[0.6, 1], [0.6, 1.5]]],
)


def bits(run: Run) -> list[bytes]:
    records = [record for record in (run.by_round, run.by_budget) if record is not None]
    arrays = [run.gain, run.efficiency, run.rounds, run.spent_units, run.pulls, run.ended]
    return [np.asarray(each).tobytes() for each in (*arrays, *(a for r in records for a in r))]


@pytest.mark.parametrize(
    ("policy", "world", "how"),
    [
        ("replan" if SOAK else "ucb-bv1", WORLD, {"horizon": 60, "stop": "fit", "checkpoints": 5}),
        ("uniform", half_down(RESOURCES), {"plays": 2, "stop": "retry", "checkpoints": 4}),
    ],
)
def test_plain_python_plays_kernels_with_the_same_bits(
    policy: Any, world: Any, how: dict[str, Any]
) -> None:
    budget = [8, 12] if world.n_resources == 2 else 15
    game = {"n_paths": 3, "seed": 5, **how}
    here = purse.simulate(policy, world, budget, **game, device="python")
    assert bits(here) == bits(purse.simulate(policy, world, budget, **game))


def test_it_says_once_that_this_is_slow(caplog: pytest.LogCaptureFixture) -> None:
    cpu._say_slow.cache_clear()
    with caplog.at_level(logging.WARNING):
        for policy in (Greedy, "uniform", Greedy):
            purse.simulate(policy, WORLD, 3, n_paths=2, device="python")
    assert caplog.messages == ["plain Python plays some thousand times slower than machine code"]


def test_kernels_run_in_this_thread_where_a_debugger_stops(tmp_path: Path) -> None:
    path = tmp_path / "traced.py"
    path.write_text(
        """
from purse.kernels import kernel
from purse.policies.uniform import choose as chosen, init, params, update

NAME = "traced"
SEEN = []

@kernel
def choose(params, state, scratch, now, play):
    SEEN.append((int(now.t), current_thread() is main_thread()))
    chosen(params, state, scratch, now, play)

from threading import current_thread, main_thread
""".strip()
    )
    run = purse.simulate(str(path), WORLD, 3, n_paths=1, n_workers=2, device="python")
    seen = purse.policies.load(str(path)).SEEN
    assert [t for t, _ in seen][: run.rounds[0]] == list(range(1, run.rounds[0] + 1))
    assert all(here for _, here in seen)
    assert current_thread() is main_thread()


NO_NUMBA = """
import sys
sys.modules["numba"] = None
import purse
from tests.support.policies import Greedy

for policy in ("replan", Greedy):
    run = purse.simulate(policy, "misleading_ratio", 5, n_paths=2, delay=2, device="python")
how = {"budgets": 5, "n_paths": 2, "device": "python"}
study = purse.compare(["uniform", Greedy], "misleading_ratio", **how)
print(run.rounds.sum() > 0, len(study.table()))
"""


def test_without_numba_all_can_be_played() -> None:
    made = subprocess.run(
        [sys.executable, "-c", NO_NUMBA], capture_output=True, text=True, check=False
    )
    assert made.stdout.split() == ["True", "2"], made.stderr


def test_a_class_plays_the_draws_of_all_others_and_paths_do_not_depend_on_blocks() -> None:
    class Always(Greedy):
        def choose(self, now: Now) -> int:
            return 1

    for delay in (0, 4):
        ours = purse.simulate(Always, WORLD, 20, n_paths=4, seed=3, delay=delay)
        how: dict[str, Any] = {"n_paths": 4, "seed": 3, "delay": delay, "device": "python"}
        fixed = purse.simulate("fixed:arm=1", WORLD, 20, **how)
        assert bits(ours) == bits(fixed)
    assert (ours.policy, ours.seed) == ("Always", 3)
    one, other = (
        purse.simulate(Greedy, WORLD, 20, n_paths=5, seed=1, block=block, n_workers=workers)
        for block, workers in ((None, 1), (3, 2))
    )
    assert bits(one) == bits(other)
    assert bits(one) != bits(purse.simulate(Greedy, WORLD, 20, n_paths=5, seed=2))


class Listener(Greedy):
    """Keeps what it is told."""

    told: ClassVar[list[Any]] = []
    CONTEXT = True

    def __init__(self, problem: Problem, rng: np.random.Generator) -> None:
        super().__init__(problem, rng)
        self.told.clear()
        self.n_arms = problem.n_arms

    def choose(self, now: Now) -> Any:
        self.told.append(now)
        return super().choose(now)

    def update(self, now: Now, *report: Any) -> None:
        self.told.append((now, *report))


def test_a_class_sees_what_kernels_see_in_arrays_of_its_own() -> None:
    purse.simulate(Listener, SHARED, 10, n_paths=1)
    asked, answers = Listener.told[::2], Listener.told[1::2]
    assert [now.t for now in asked[:3]] == [1, 2, 3]
    lefts = [float(now.left[0]) for now in asked]
    assert lefts == sorted(lefts, reverse=True)
    assert len(set(lefts)) > 2
    assert asked[0].allowed.all()
    assert asked[0].context.shape == (1, 3)
    for now, (then, arm, reward, cost) in zip(asked, answers, strict=False):
        assert (then.t, then.context.tolist()) == (now.t, now.context.tolist())
        assert np.isnan(then.left).all()
        assert (type(arm), type(reward), np.ndim(cost)) == (int, float, 0)


def test_reports_have_a_row_for_each_play_and_a_cost_for_each_resource() -> None:
    class Pairs(Listener):
        CONTEXT = False

        def choose(self, now: Now) -> Any:
            return [0, 2] if now.t % 2 else [1]

    purse.simulate(Pairs, RESOURCES, [20, 20], n_paths=1, plays=2)
    (_, arms, rewards, costs), (_, alone, *_) = Pairs.told[:2]
    assert arms.tolist() == [0, 2]
    assert rewards.shape == (2,)
    assert costs.shape == (2, 2)
    assert alone.tolist() == [1]
    purse.simulate(Pairs, WORLD, [20], n_paths=1, plays=2)
    assert Pairs.told[0][3].shape == (2,)


def test_a_class_may_skip_and_stop() -> None:
    class Brief(Greedy):
        def choose(self, now: Now) -> int:
            return STOP if now.t > 6 else SKIP if now.t % 2 else 0

    run = purse.simulate(Brief, WORLD, 20, n_paths=2, horizon=10)
    assert run.rounds.tolist() == [6, 6]
    assert run.pulls[:, 0].tolist() == [3, 3]


def test_marks_are_attributes_of_the_class() -> None:
    class Single(Greedy):
        NAME, PLAYS, INITIAL_PULLS = "single", 1, True

    with pytest.raises(InvalidInput, match=r"^single .*plays"):
        purse.simulate(Single, WORLD, 20, plays=2)
    assert purse.simulate(Single, WORLD, 20, n_paths=9).pulls.min() >= 1


@pytest.mark.parametrize(
    "choice", [4, -3, None, "a", 1.0, True, [], [0, 1], [[0]], [STOP, 0], np.zeros(1)]
)
def test_a_choice_that_is_none_is_named(choice: Any) -> None:
    class Wrong(Greedy):
        def choose(self, now: Now) -> Any:
            return choice

    with pytest.raises(
        InvalidInput, match=r"^Wrong\.choose returned .* in round 1: must be an arm"
    ):
        purse.simulate(Wrong, WORLD, 20)


def test_an_arm_that_is_masked_is_refused_and_so_are_too_many() -> None:
    class Stubborn(Greedy):
        def choose(self, now: Now) -> Any:
            return 0

    with pytest.raises(
        InvalidInput, match=r"returned 0 in round \d+: must be an arm from 0 to 3 t"
    ):
        purse.simulate(Stubborn, half_down(WORLD), 20)

    class Many(Greedy):
        def choose(self, now: Now) -> Any:
            return [0, 1, 2]

    with pytest.raises(InvalidInput, match=r"returned \[0, 1, 2\] .* must be 1 to 2 arms from 0"):
        purse.simulate(Many, WORLD, 20, plays=2)


def test_a_class_that_cannot_play_is_refused_before_anything_is_played() -> None:
    class Idle:
        def __init__(self, problem: Problem, rng: np.random.Generator) -> None: ...

        def choose(self, now: Now) -> int:
            return 0

    class Short(Greedy):
        def update(self, arm: int, reward: float, cost: float) -> None:  # type: ignore[override]
            ...

    class Plain:
        choose, update = Greedy.choose, Greedy.update

    for policy, message in (
        (Idle, r"^policy Idle has no update$"),
        (Short, r"^policy Short: update must take \(now, arm, reward, cost\): too many"),
        (Plain, r"^policy Plain: Plain must take \(problem, rng\): too many"),
    ):
        with pytest.raises(InvalidInput, match=message):
            purse.simulate(policy, WORLD, 20)


def test_errors_and_warnings_of_a_class_come_as_they_are() -> None:
    class Faulty(Greedy):
        def update(self, now: Now, arm: int, reward: float, cost: Any) -> None:
            np.ones(1) / np.zeros(1)

    with pytest.raises(RuntimeWarning, match="divide by zero"):
        purse.simulate(Faulty, WORLD, 20)


def test_others_refuse_a_class_in_one_line(tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    table.write_text("reward_a,reward_b,cost_a,cost_b\n" + "1,0,0.5,0.2\n" * 30)
    several: list[Any] = ["uniform", Greedy]
    for call in (
        lambda: purse.Policy(Greedy, n_arms=2, budget=3, cost_min=0.1),
        lambda: purse.replay(table, policies=Greedy, budgets=3),
        lambda: purse.replay(table, policies=several, budgets=3),
        lambda: purse.lab.regrets(Greedy, WORLD, 10),
    ):
        with pytest.raises(
            InvalidInput, match=r"^policy Greedy is a class, .*write it as kernels$"
        ):
            call()
    with pytest.raises(InvalidInput, match=r"^policy=<class .*Greedy'>: must be a name such as"):
        purse.Campaign.create(
            "c", arms={"a": 1}, budget=9, cost_min=0.1, policy=Greedy, storage="memory:"
        )


def test_devices_that_cannot_play_a_policy_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "compiled.py"
    path.write_text(
        'from purse.policies.uniform import *\nNAME, COMPILED = "compiled", True\n'
        "from purse.policies.uniform import choose, init, params, update\n"
    )
    for policy, device, message in (
        (Greedy, "cuda", r"^device='cuda': must be 'python' for Greedy, which is a class$"),
        (str(path), "python", r"^device='python': must be 'cpu' or 'cuda' for .* COMPILED = True$"),
    ):
        with pytest.raises(InvalidInput, match=message):
            purse.simulate(policy, WORLD, 20, device=device)
        with pytest.raises(InvalidInput, match=message):
            purse.compare(policy, WORLD, budgets=20, device=device)
