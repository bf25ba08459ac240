import importlib
import math
import os
import pkgutil
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from types import ModuleType

import numba
import pytest

import purse
from purse import policies, worlds
from tests.support.paths import EPSILON_GREEDY
from tests.support.policies import libm_calls

FOLDER = Path(policies.__file__).parent
FILES = sorted(path.stem for path in FOLDER.glob("*.py") if path.stem != "__init__")

IN_TURN = '''\
"""In turn: the arms one after the other."""

from typing import NamedTuple

import numpy as np

from purse.kernels import kernel

NAME = "in-turn"


class InTurnParams(NamedTuple):
    n_arms: int
    chance: float


class InTurnState(NamedTuple):
    pulls: np.ndarray  # (K,)


def params(problem, *, chance=1.0):
    return InTurnParams(problem.n_arms, chance)


def init(params, problem):
    return InTurnState(np.zeros(params.n_arms))


@kernel
def choose(params, state, scratch, now, play):
    play.arms[0] = (now.t - 1) % params.n_arms
    play.probs[0] = params.chance


@kernel
def update(params, state, scratch, now, play):
    state.pulls[play.arms[0]] += 1
'''


@pytest.fixture(scope="module")
def in_turn(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("policies") / "in_turn.py"
    path.write_text(IN_TURN)
    return str(path)


def test_names_are_the_files() -> None:
    assert len(policies.names()) == len(FILES)
    assert policies.names() == sorted(policies.names())
    assert {policies.load(name).__name__ for name in policies.names()} == {
        f"purse.policies.{stem}" for stem in FILES
    }


@pytest.mark.parametrize("stem", FILES)
def test_a_name_maps_to_its_file_and_a_docstring_says_what_holds_differs_and_is_needed(
    stem: str,
) -> None:
    module = importlib.import_module(f"purse.policies.{stem}")
    assert module.NAME.replace("+", "p").replace(".", "_").replace("-", "_") == stem
    assert policies.load(module.NAME) is module
    for words in ("Guarantee", "Departures from the paper", "Needs"):
        assert words in " ".join((module.__doc__ or "").split())


def test_every_policy_says_what_its_rule_was_checked_against() -> None:
    for name in policies.names():
        module, source = policies.load(name), policies.source(name)
        text = module.__doc__ or ""
        # a rule of a paper says so itself; of ours nothing need be said
        assert hasattr(module, "SOURCE") or not re.search(r"^References?: (?!none)", text, re.M)
        assert "from memory" not in text or source.startswith("from memory")
        # who wrote it and when
        assert re.search(r"^ours$|^from memory|\b20\d\d|arXiv", source), name
    assert policies.source("exp3.bwk:alpha=1") == "Rangi et al., 2019, Algorithm 1"
    assert policies.source("replan") == "ours"
    assert policies.source(str(EPSILON_GREEDY)) == "ours"


def test_no_two_named_tuples_of_the_package_share_a_name() -> None:
    homes = defaultdict(set)
    for info in pkgutil.walk_packages(purse.__path__, "purse."):
        # these have no kernels, and take seconds to load
        if info.name.split(".")[1] not in ("__main__", "cli", "integrations", "service"):
            module = importlib.import_module(info.name)
            for value in vars(module).values():
                if (
                    isinstance(value, type)
                    and issubclass(value, tuple)
                    and hasattr(value, "_fields")
                    and value.__module__.startswith("purse.")
                ):
                    homes[value.__name__].add(value.__module__)
    assert {"Exp3BwKParams", "Exp3PPBwKState", "GapBounds", "Ticket"} <= set(homes)
    assert {name: where for name, where in homes.items() if len(where) > 1} == {}


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("exp3.bkw", r"did you mean 'exp3\.bwk'\?"),
        ("exp3-bwk", r"did you mean 'exp3\.bwk'\?"),
        ("qqq", r"known: .*exp3\+\+.bwk, .*uniform"),
    ],
)
def test_a_wrong_name_suggests_the_nearest_or_lists_all(name: str, message: str) -> None:
    with pytest.raises(purse.InvalidInput, match=rf"^unknown policy '{name}'; {message}$"):
        policies.load(name)


def test_a_policy_from_a_file_plays_in_the_engine_and_live(in_turn: str) -> None:
    # an option may be a whole number in one live policy and a fraction in the next
    for chance in (1, 0.25):
        live = purse.Policy(f"{in_turn}:chance={chance}", n_arms=3, budget=10, cost_min=0.5)
        tickets = [live.ask() for _ in range(4)]
        assert [ticket.arm for ticket in tickets] == [0, 1, 2, 0]
        assert [ticket.probability for ticket in tickets] == [chance] * 4
    assert pulls_of(in_turn) == [3, 3, 2]


def test_an_edited_file_is_seen_in_the_same_process(in_turn: str) -> None:
    assert pulls_of(in_turn) == [3, 3, 2]
    Path(in_turn).write_text(IN_TURN.replace("(now.t - 1)", "now.t"))
    assert pulls_of(in_turn) == [2, 3, 3]
    Path(in_turn).write_text(IN_TURN)


def pulls_of(policy: str) -> list[int]:
    world = worlds.function("bernoulli")([1, 1, 1], [0.5, 0.5, 0.5])
    return purse.simulate(policy, world, budget=4, n_paths=1).pulls[0].tolist()


def test_a_policy_that_is_a_module_plays_in_the_engine_and_live(in_turn: str) -> None:
    module = policies.load(in_turn)
    assert policies.load(in_turn) is policies.load(module) is module
    assert purse.simulate(module, "misleading_ratio", budget=4, n_paths=1).policy == "in-turn"
    live = purse.Policy(module, n_arms=3, budget=10, cost_min=0.5)
    assert [live.ask().arm for _ in range(4)] == [0, 1, 2, 0]


def test_a_policy_file_still_plays_after_it_was_copied_to_another_folder(tmp_path: Path) -> None:
    script = (
        "import sys, purse; live = purse.Policy(sys.argv[1], n_arms=2, budget=10, "
        "cost_min=1); print(live.ask().arm, live.ask().arm)"
    )
    for folder in ("here", "there"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "in_turn.py").write_text(IN_TURN)
        environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
        command = [sys.executable, "-c", script, str(tmp_path / folder / "in_turn.py")]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert done.stderr == ""
        assert done.stdout == "0 1\n"


def test_options_of_a_policy_file_are_checked(in_turn: str) -> None:
    with pytest.raises(
        purse.InvalidInput, match=r"unknown option of in-turn 'chanse'; did you mean 'chance'\?"
    ):
        purse.Policy(f"{in_turn}:chanse=1", n_arms=2, budget=10, cost_min=0.5)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "policy file {path!r} does not exist"),
        (
            "NAME = 'half'\ndef params(problem): ...\n",
            "{path} is not a policy: it has no init, choose, update",
        ),
        (
            "def (:\n",
            "policy file {path!r} does not load: SyntaxError: invalid syntax (mine.py, line 1)",
        ),
        (
            "import nothing_of_this_name\n",
            "policy file {path!r} does not load: line 1: ModuleNotFoundError: No module "
            "named 'nothing_of_this_name'",
        ),
        (
            "1 / 0\n",
            "policy file {path!r} does not load: line 1: ZeroDivisionError: division by zero",
        ),
    ],
)
def test_a_file_that_is_no_policy_gets_one_clear_line(
    content: str | None, message: str, tmp_path: Path
) -> None:
    path = tmp_path / "mine.py"
    if content is not None:
        path.write_text(content)
    with pytest.raises(purse.InvalidInput) as caught:
        policies.load(str(path))
    assert str(caught.value) == message.format(path=str(path))
    with pytest.raises(purse.InvalidInput, match=r"is not a policy: it has no NAME, params, init"):
        policies.load(ModuleType("empty"))


def test_a_file_that_does_not_load_is_read_again_once_it_is_mended(tmp_path: Path) -> None:
    path = tmp_path / "mended.py"
    path.write_text("def (:\n")
    with pytest.raises(purse.InvalidInput, match="does not load"):
        policies.load(str(path))
    path.write_text(IN_TURN)
    assert policies.load(str(path)).NAME == "in-turn"


def test_a_call_of_the_c_library_would_be_seen() -> None:
    @numba.njit
    def spread_of_logs(x: float) -> float:
        return math.log(x) + math.sqrt(x) ** 0.3 + abs(x)

    spread_of_logs(2.0)
    assert {
        name.removeprefix("llvm.").removesuffix(".f64") for name in libm_calls(spread_of_logs)
    } == {"log", "pow"}
