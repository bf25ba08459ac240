import math
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pytest

import purse
from purse import policies, worlds
from purse.compiler.kernel import kernel
from purse.engine import steps
from purse.errors import PurseError
from purse.testing import check_policy, check_world, recorder
from purse.testing.games import _standard_world, contextual_worlds
from purse.testing.late import check_delays
from purse.testing.policy import _is_taken
from purse.types import Floats, Ints, Now, World
from purse.worlds._draw import draw as shared_draw
from tests.support.policies import Greedy
from tests.support.soak import SOAK

POLICY = '''\
"""Chance: every allowed arm equally likely, and the pulls are counted; or a fault."""

from typing import NamedTuple

import numpy as np

from purse.kernels import count_allowed, is_allowed, kernel, nth_allowed, uniform
from purse.types import SKIP, STOP

NAME = "chance"
WAYS = (
    "sound", "skips", "stops", "zero", "other", "nan", "counts", "nan_state", "overflow",
    "too_much", "negative", "unmasked", "remembers", "peeks", "biased", "loaded", "outside", "none",
)
SOUND, SKIPS, STOPS, ZERO, OTHER, NAN, COUNTS, NAN_STATE, OVERFLOW = range(9)
TOO_MUCH, NEGATIVE, UNMASKED, REMEMBERS, PEEKS, BIASED, LOADED, OUTSIDE, NONE = range(
    9, len(WAYS)
)


class ChanceParams(NamedTuple):
    n_arms: int
    way: int


class ChanceState(NamedTuple):
    counts: np.ndarray  # (K,)


class ChanceScratch(NamedTuple):
    calls: np.ndarray  # (1,)


def params(problem, *, way="sound"):
    return ChanceParams(problem.n_arms, WAYS.index(way))


def init(params, problem):
    return ChanceState(np.zeros(params.n_arms))


def scratch(params, problem):
    return ChanceScratch(np.zeros(1))


@kernel
def choose(params, state, scratch, now, play):
    n_allowed = count_allowed(now, params.n_arms)
    if params.way == NONE and now.t == 3:
        return
    play.arms[0] = nth_allowed(now, int(uniform(now.key, 0) * n_allowed))
    play.probs[0] = 1 / n_allowed
    if params.way == SKIPS and now.t % 3 == 0:
        play.arms[0] = SKIP
    elif params.way == STOPS and now.t > 20:
        play.arms[0] = STOP
        play.probs[0] = 1.0
    elif params.way == ZERO:
        play.probs[0] = 0.0
    elif params.way == OTHER:
        play.probs[0] = 0.3
    elif params.way == NAN:
        play.probs[0] = np.nan
    elif params.way == COUNTS:
        state.counts[0] += 1
    elif params.way == UNMASKED:
        play.arms[0] = int(uniform(now.key, 0) * params.n_arms)
    elif params.way == OUTSIDE and now.t == 3:
        play.arms[0] = params.n_arms
    elif params.way == REMEMBERS:
        scratch.calls[0] += 1
        play.arms[0] = nth_allowed(now, int(scratch.calls[0]) % n_allowed)
    elif params.way == (BIASED if now.masked else LOADED):
        play.arms[0] = nth_allowed(now, 0)


@kernel
def update(params, state, scratch, now, play):
    i = play.arms[0]
    state.counts[i] += 1
    if params.way == NAN_STATE:
        state.counts[i] = np.nan
    elif params.way == OVERFLOW:
        state.counts[i] *= 1.1
    elif params.way == PEEKS:
        state.counts[i] += now.left[0] > 20


@kernel
def probabilities(params, state, scratch, now, out):
    for i in range(params.n_arms):
        out[i] = 1 / count_allowed(now, params.n_arms) if is_allowed(now, i) else 0.0
        if params.way == SKIPS and now.t % 3 == 0:
            out[i] = 0.0
        elif params.way == TOO_MUCH:
            out[i] = 0.5
        elif params.way == NEGATIVE:
            out[i] = 2.0 if i == 0 else -1 / 3
'''
# the same kernels, so that nothing is compiled again
SILENT = """
from purse.policies import load

whole = load({!r})
NAME, params, init, scratch = whole.NAME, whole.params, whole.init, whole.scratch
choose, update = whole.choose, whole.update
"""

# kernels that Python runs otherwise: whole numbers of Python neither wrap nor are divided by zero
OTHERWISE = """
from typing import NamedTuple

import numpy as np

from purse.kernels import kernel
from purse.policies.uniform import choose, params

NAME = "otherwise"


class OtherwiseState(NamedTuple):
    sums: np.ndarray  # (1,)


def init(params, problem):
    return OtherwiseState(np.zeros(1))


@kernel
def update(params, state, scratch, now, play):
    n = params.n_arms
    state.sums[0] += {}
"""


@pytest.fixture(scope="module", autouse=True)
def _steps_stay_in_plain_python() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(steps, "_PATIENCE_S", math.inf)
        yield


@pytest.fixture(scope="module")
def chance(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("policies") / "chance.py"
    path.write_text(POLICY)
    return str(path)


def two_resources() -> World:
    return worlds.function("atoms")(
        probabilities=[[0.5, 0.5], [0.3, 0.7], [0.9, 0.1]],
        rewards=[[1, 0], [1, 0], [1, 0]],
        costs=[[[1, 0.2], [0.5, 0]], [[0.2, 2], [0.1, 1]], [[0.6, 1], [0.6, 1.5]]],
    )


@pytest.mark.parametrize("name", ["uniform", *(["fixed:arm=2", "oracle"] if SOAK else [])])
def test_the_yardsticks_pass_with_two_plays_and_with_two_resources(name: str) -> None:
    check_policy(name, plays=2, quick=not SOAK)
    check_policy(name, two_resources(), quick=not SOAK)


def test_a_policy_passes_in_a_world_that_ends() -> None:
    ending = worlds.function("table")(rewards=[[1, 0]] * 30, costs=[0.5, 0.2], shuffle=True)
    check_policy("uniform", ending, quick=not SOAK)


@pytest.mark.parametrize(("way", "horizon"), [("sound", None), ("skips", 100), ("stops", None)])
def test_a_policy_from_a_file_passes_that_plays_or_skips_or_stops(
    way: str, horizon: int | None, chance: str, capsys: pytest.CaptureFixture[str]
) -> None:
    check_policy(f"{chance}:way={way}", horizon=horizon, quick=not SOAK)
    out, said = capsys.readouterr()
    last = said.splitlines()[-1]
    assert out == ""
    assert re.match(rf"{chance}:way={way}: all \d+ checks passed: stop='exit', ", last)
    assert last.endswith("late reports, frequencies of arms, a long run")
    assert "in purse; NAME should be another" not in said


@pytest.mark.parametrize(
    ("way", "message"),
    [
        ("too_much", r"probabilities sum to 2\.0 in round 1"),
        ("negative", r"probabilities outside \[0, 1\] in round 1"),
        ("zero", r"chose arm \d with probability 0\.0 in round 1"),
        ("other", r"arm \d came with 0\.3, its probability was 0\.25"),
        ("nan", r"chose arm \d with probability nan in round 1"),
        ("counts", r"choosing changed the state in round 1"),
        ("unmasked", r"chose arm \d, which is not allowed, in round \d+$"),
        ("outside", r"chose arm 4 in round 3, and there are arms 0 to 3$"),
        ("none", r"chose no arm in round 3$"),
        ("remembers", r"choosing reads what an earlier call left in scratch, in round 0"),
        (
            "peeks",
            r"state\.counts differs: .* live, .* in the engine; does update read now\.left, or",
        ),
        ("biased", r"under masks arms came"),
        ("loaded", r"way=loaded: arms came \[\d+   0   0   0\] times, their probabilities sum to"),
        ("nan_state", r"state\.counts is not finite after late reports"),
        ("overflow", r"state\.counts is not finite after \d+ rounds"),
    ],
)
def test_a_faulty_policy_is_caught_and_the_fault_is_named(
    way: str, message: str, chance: str
) -> None:
    with pytest.raises((AssertionError, PurseError), match=message):
        check_policy(f"{chance}:way={way}", quick=True)


def test_a_policy_that_cannot_tell_its_probabilities_passes_unless_one_is_wrong(
    chance: str, tmp_path: Path
) -> None:
    path = tmp_path / "silent.py"
    path.write_text(SILENT.format(chance))
    check_policy(str(path), quick=not SOAK)
    path.write_text(SILENT.format(chance).replace("whole.NAME", '"uniform"', 1))
    with pytest.raises(AssertionError, match=r"arms came .* times, their probabilities sum to"):
        check_policy(f"{path}:way=other", quick=True)
    assert _is_taken(policies.load(str(path)))


def test_a_kernel_that_writes_a_global_is_told_where_to_keep_it(
    chance: str, tmp_path: Path
) -> None:
    path, source = tmp_path / "global.py", Path(chance).read_text()
    path.write_text(
        source.replace(
            "    i = play.arms[0]\n", "    CALLS[0] += 1\n    i = play.arms[0]\n"
        ).replace("WAYS = (", "CALLS = np.zeros(1)\nWAYS = (")
    )
    line = r"line \d+, `CALLS\[0\] \+= 1`: a kernel writes an array that is global; keep it in "
    with pytest.raises(PurseError, match=rf"global\.py does not compile: {line}the state$"):
        check_policy(str(path), quick=True)


def test_a_kernel_that_may_raise_is_caught_with_its_line(chance: str, tmp_path: Path) -> None:
    path, source = tmp_path / "raises.py", Path(chance).read_text()
    path.write_text(source.replace("    i = play.arms[0]\n", "    assert now.t > 0\n"))
    with pytest.raises(AssertionError, match=r"raises.py, line \d+: update may raise, and kernels"):
        check_policy(str(path), quick=True)


@pytest.mark.parametrize(
    ("field", "factor", "message"),
    [
        ("cost_max", 0.5, r"two_point: costs outside the declared bounds"),
        ("cost_min", 2.0, r"two_point: costs outside the declared bounds"),
        ("reward_means", 0.95, r"(?s)two_point: mean reward .* declared"),
        ("cost_means", 1.05, r"(?s)two_point: mean cost .* declared"),
        ("costs", None, "two_point: costs are declared fixed and vary"),
    ],
)
def test_a_world_that_declares_wrong_numbers_is_caught(
    field: str, factor: float | None, message: str
) -> None:
    world = _standard_world()
    declared = world.cost_min if factor is None else getattr(world, field)
    wrong = (declared * (factor or 1)).astype(declared.dtype)
    with pytest.raises(AssertionError, match=message):
        check_world(replace(world, **{field: wrong}))


class CountedTables(NamedTuple):
    calls: Ints  # (1,)


@kernel
def counted(key: np.uint64, tables: CountedTables, t: int, arm: int, cost: Ints) -> float:
    tables.calls[0] += 1
    cost[0] = 500_000_000
    return (tables.calls[0] % 7) / 7


@kernel
def too_good(key: np.uint64, tables: CountedTables, t: int, arm: int, cost: Ints) -> float:
    cost[0] = 500_000_000
    return 1.5


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (counted, "mine: a round's draw depends on where one starts"),
        (too_good, r"mine: rewards between 1\.5 and 1\.5"),
    ],
)
def test_a_world_that_remembers_its_calls_or_pays_too_much_is_caught(
    draw: Any, message: str
) -> None:
    plain = worlds.function("bernoulli")([0.5], [0.5])
    tables = CountedTables(np.zeros(1, np.int64))
    with pytest.raises(AssertionError, match=message):
        check_world(replace(plain, name="mine", tables=tables, draw=draw))


def test_worlds_with_two_resources_or_a_draw_of_their_own_pass() -> None:
    check_world(two_resources())
    world = replace(_standard_world(), draw=shared_draw)
    check_world(world)
    assert purse.simulate("uniform", world, budget=10).n_paths == 100


SHARED, OWN = contextual_worlds()


def test_a_policy_that_sees_contexts_passes_on_worlds_that_have_some() -> None:
    assert (SHARED.per_arm, OWN.per_arm) == (False, True)
    check_policy(recorder, SHARED, horizon=120, quick=not SOAK)
    if SOAK:  # under masks and with late reports, too
        check_policy(recorder, OWN)
        check_policy(recorder)


def test_late_reports_learn_from_the_contexts_of_each_arm_in_their_round() -> None:
    check_delays(recorder, OWN, budget=20.25, horizon=120)


def test_a_blind_policy_passes_on_a_world_with_contexts() -> None:
    check_policy("uniform", SHARED, quick=True)


def wrong(features: Floats) -> World:
    return replace(SHARED, name="mine", tables=SHARED.tables._replace(features=features))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ([np.nan, 0, 0], "mine: a context is not finite, or not written"),
        ([0, 0, 1], "mine: a context does not end with the constant 1"),
        ([1e-12, 0, 0], "mine: features must be numbers of 32 bits"),
    ],
)
def test_a_world_with_wrong_contexts_is_caught(change: list[float], message: str) -> None:
    with pytest.raises(AssertionError, match=message):
        check_world(wrong(SHARED.tables.features + change), n_rounds=500)


class SeenTables(NamedTuple):
    calls: Floats  # (1,)


@kernel
def counted_view(key: np.uint64, tables: SeenTables, t: int, context: Floats) -> None:
    tables.calls[0] += 1
    context[0, 0] = tables.calls[0]
    context[0, 1] = 0.0


@kernel
def constant(key: np.uint64, tables: SeenTables, t: int, arm: int, cost: Ints) -> float:
    cost[0] = 500_000_000
    return 0.5


def test_a_view_that_remembers_its_calls_is_caught() -> None:
    half = np.full((4, 1), 500_000_000)
    world = World("mine", SeenTables(np.zeros(1)), half, half, draw=constant, n_features=2)
    with pytest.raises(AssertionError, match="mine: a round's context depends on where one starts"):
        check_world(replace(world, view=counted_view), n_rounds=500)


@pytest.mark.parametrize(
    ("term", "message"),
    [
        ("n * 6364136223846793005 % 7", r"Python computes other numbers .*\(state\.sums: .*\)"),
        (
            "7 // (n - 4)",
            r"Python raises ZeroDivisionError: .*, line 23\), and machine code does not",
        ),
    ],
)
def test_a_policy_that_python_runs_otherwise_has_to_say_so(
    term: str, message: str, tmp_path: Path
) -> None:
    path = tmp_path / "otherwise.py"
    path.write_text(OTHERWISE.format(term))
    with pytest.raises(AssertionError, match=f"{message}: say COMPILED = True in its file$"):
        check_policy(str(path), quick=True)
    if SOAK or "%" in term:
        path.write_text(f"{path.read_text()}\nCOMPILED = True\n")
        check_policy(str(path), quick=True)


def test_an_index_beyond_an_array_is_found(tmp_path: Path) -> None:
    path = tmp_path / "beyond.py"
    path.write_text(OTHERWISE.format("0 * state.sums[n]"))
    with pytest.raises(AssertionError, match=r"IndexError: .*reads or writes beyond the array$"):
        check_policy(str(path), quick=True)


def test_a_class_passes_or_its_fault_is_named() -> None:
    class Foreign(Greedy):
        def choose(self, now: Now) -> Any:
            return chance_of_all.choice(np.flatnonzero(now.allowed))

    class Shared(Greedy):
        turns: ClassVar[list[int]] = []

        def choose(self, now: Now) -> Any:
            self.turns.append(now.t) if now.t == 1 else None
            return np.flatnonzero(now.allowed)[len(self.turns) % 2 * (now.allowed.sum() > 1)]

    class Unmasked(Greedy):
        def choose(self, now: Now) -> Any:
            return 0

    chance_of_all = np.random.default_rng(0)
    check_policy(Greedy)
    check_policy(Greedy, two_resources())
    check_policy(Greedy, contextual_worlds()[1], horizon=50)
    for policy, message in (
        (Foreign, r"Foreign on .*: path 1 played otherwise .*; random numbers must come from rng"),
        (Shared, r"Shared on .*: path 1 played otherwise when it was repeated; .* share nothing"),
        (Unmasked, r"Unmasked on outages of .*: Unmasked\.choose returned 0 in round \d+: must"),
    ):
        with pytest.raises(AssertionError, match=message):
            check_policy(policy)
