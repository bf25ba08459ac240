from __future__ import annotations

from pathlib import Path

import pytest

import purse
from purse.errors import InvalidInput

EXAMPLE = Path(__file__, "../../../examples/epsilon_greedy.py").resolve()
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
    source = EXAMPLE.read_text()
    assert line in source
    path = tmp_path / "mine.py"
    path.write_text(source.replace(line, instead, 1))
    with pytest.raises(InvalidInput, match=message):
        purse.Policy(str(path), n_arms=3, budget=10, cost_min=0.1)


def test_a_file_that_fails_while_it_loads_names_its_line(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text("import numpy\n\nNAME = numpy.nothing\n")
    with pytest.raises(InvalidInput, match=r"does not load: line 3: AttributeError: "):
        purse.Policy(str(path), n_arms=3, budget=10, cost_min=0.1)
