"""The steps of a live game: plain Python and machine code have the same bits.

`check_policy` holds every policy to that: its live game, in plain Python, is the compiled loop's.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from purse import Policy
from purse.engine import steps
from purse.errors import AskRefused, InvalidInput, PurseError
from purse.testing import recorder
from tests.support.paths import EPSILON_GREEDY
from tests.support.soak import SOAK

RECORDER = str(recorder.__file__)
GAMES: dict[str, dict[str, Any]] = {
    RECORDER: {"features": 2},
    "exp3++.bwk": {},
    "lin-ucb.price": {"features": 2},
    "primal-dual-bwk": {"n_resources": 2, "budget": [40, 60], "cost_min": 0.1, "horizon": 200},
}
COMPILED = GAMES if SOAK else [RECORDER]  # which compiles in no time


def bits_of_a_game(name: str, compiled: bool) -> list[bytes]:
    """All that is chosen, with masks now and then, and all that is learnt."""
    game = {"n_arms": 5, "budget": 40, "cost_min": 0.1, **GAMES[name]}
    policy = Policy(name, seed=3, **game)
    if compiled:
        policy._steps._kind.compile()
    rng, resources = np.random.default_rng(1), game.get("n_resources", 1)
    found = []
    for t in range(80):
        context = rng.random(2).tolist() if "features" in game else None
        arms = None if t % 3 else [0, 2, 3]
        if t % 10 == 9 and policy._steps.look is not None:
            found.append(policy.probabilities(arms, context).tobytes())
        try:
            ticket = policy.ask(arms, context)
        except AskRefused:
            break
        if not ticket.skipped:
            cost = rng.uniform(0.1, 1, (1, resources))
            policy.tell(ticket, rng.random(), cost if resources > 1 else float(cost[0, 0]))
        found += [repr(ticket).encode(), *(array.tobytes() for array in policy.state)]
    assert len(found) > 150
    assert isinstance(policy._steps.ask.args[0], int) == compiled  # type: ignore[attr-defined]
    return found


@pytest.mark.parametrize("name", COMPILED, ids=lambda name: Path(name).stem)
def test_plain_python_and_machine_code_have_the_same_bits(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(steps, "_steps", {})
    plain = bits_of_a_game(name, compiled=False)
    assert bits_of_a_game(name, compiled=True) == plain


def test_a_kernel_that_fails_in_python_is_named_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(
        EPSILON_GREEDY.read_text().replace("    best = -1\n", "    best = nothing\n", 1)
    )
    policy = Policy(str(path), n_arms=2, budget=10, cost_min=0.1)

    def play() -> None:
        for _ in range(50):
            policy.tell(policy.ask(), 1, 0.1)

    with pytest.raises(PurseError, match=r"fails as plain Python, NameError: name 'nothing' is"):
        play()


# what a policy file must have


STATE = "EpsilonGreedyState(np.zeros(params.n_arms), np.zeros(params.n_arms))"


@pytest.mark.parametrize(
    ("line", "instead", "message"),
    [
        ("@kernel\ndef choose", "def choose", "mine.py: choose lacks @kernel"),
        (
            "    scratch: EpsilonGreedyScratch,\n    now: Now,\n    play: Play,\n",
            "    now: Now,\n    play: Play,\n",
            r"choose takes \(params, state, now, play\), and must take "
            r"\(params, state, scratch, now, play\)",
        ),
        (f"return {STATE}", STATE, "init returned None, and must return a NamedTuple of arrays"),
        (STATE, "EpsilonGreedyState(5, np.zeros(3))", r"state.rewards is 5, and must be an array"),
        (
            STATE,
            "EpsilonGreedyState(np.zeros(3), np.zeros(3, object))",
            "state.costs has dtype object, and must have one of float64, int64, uint64, bool",
        ),
        (STATE, "EpsilonGreedyState(np.zeros(()), np.zeros(3))", r"state.rewards has shape \(\)"),
        (
            STATE,
            "EpsilonGreedyState(np.zeros((3, 2)).T, np.zeros(3))",
            r"state.rewards has shape \(2, 3\), and must be an array in C order",
        ),
        (
            "EpsilonGreedyParams(problem.n_arms,",
            "EpsilonGreedyParams('three',",
            "params.n_arms is 'three', and must be a number or an array",
        ),
        (
            "return EpsilonGreedyScratch(np.zeros(params.n_arms))",
            "return [1.0]",
            r"scratch returned \[1.0\], and must return a NamedTuple of arrays",
        ),
    ],
)
def test_a_policy_file_that_breaks_the_contract_is_refused_before_it_is_compiled(
    line: str, instead: str, message: str, tmp_path: Path
) -> None:
    source = EPSILON_GREEDY.read_text()
    assert line in source
    path = tmp_path / "mine.py"
    path.write_text(source.replace(line, instead, 1))
    with pytest.raises(InvalidInput, match=message):
        Policy(str(path), n_arms=3, budget=10, cost_min=0.1)


def test_a_file_that_fails_while_it_loads_names_its_line(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text("import numpy\n\nNAME = numpy.nothing\n")
    with pytest.raises(InvalidInput, match=r"does not load: line 3: AttributeError: "):
        Policy(str(path), n_arms=3, budget=10, cost_min=0.1)
