"""Programs of evidence: each runs at its smallest size, and pages are those of stored numbers."""

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from benchmarks import record
from purse import worlds
from purse.policies import best_arm
from research.evidence import contexts, recommend
from research.evidence.context_games import shape_of
from tests.support.paths import ROOT
from tests.support.soak import SOAK

FOLDER = ROOT / "research" / "evidence"
PROGRAMS = sorted(path.stem for path in FOLDER.glob("*.py") if "__main__" in path.read_text())
OTHER_SIZES = {"coverage": [["--rare"]], "savings_coverage": [["--replay"]]}
RUNS = [(name, more) for name in PROGRAMS for more in ([], *OTHER_SIZES.get(name, []))]
NEEDS = {"contexts": ("pareto_bandit", "river", "sklearn"), "exploration": ("pareto_bandit",)}
PAGES = "".join(path.read_text() for path in (ROOT / "docs").rglob("*.md"))
BY_NAME = {question.name: question for question in recommend.QUESTIONS}
CAPPED = "the cap excludes the best arm"


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_page_cites_every_program_and_it_has_a_smallest_size(name: str) -> None:
    assert f"`python -m research.evidence.{name}`" in PAGES
    options = [flag for option in import_module(f"research.evidence.{name}").main.params
               for flag in option.opts]  # fmt: skip
    assert "--quick" in options


@pytest.mark.skipif(not SOAK, reason="compiles for minutes: set PURSE_SOAK")
@pytest.mark.parametrize(("name", "more"), RUNS)
def test_every_program_runs_at_its_smallest_size(
    name: str, more: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if missing := [package for package in NEEDS.get(name, ()) if find_spec(package) is None]:
        pytest.skip(f"{', '.join(missing)} not there: install the group evidence")
    monkeypatch.chdir(tmp_path)
    stored = {path: path.stat().st_mtime_ns for path in (ROOT / "docs").rglob("*")}
    main = import_module(f"research.evidence.{name}").main
    result = CliRunner().invoke(main, ["--quick", *more], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    assert result.output
    assert {path: path.stat().st_mtime_ns for path in (ROOT / "docs").rglob("*")} == stored


# contexts


def test_the_page_on_contexts_is_that_of_the_shares_beside_it() -> None:
    facts = record.load(record.SHARES)
    assert facts is not None
    committed = record.SHARES.with_name("measured.md").read_text()
    assert committed == contexts.markdown(facts), "run `python -m research.evidence.contexts`"


def test_the_shape_of_a_prompt_is_eight_numbers() -> None:
    numbers = shape_of("(A) 12, or\nnot?")
    assert numbers[2:] == pytest.approx([20 / 16, 1 / 5, 1, 1, 1, 0])
    assert np.exp(numbers[:2]) == pytest.approx([16, 5])


# how surely `best-arm` finds the best arm


def stored() -> dict[str, Any]:
    facts = record.load(recommend.MEASURED)
    assert facts is not None
    return facts


def test_the_page_is_that_of_the_stored_numbers() -> None:
    page = recommend.MEASURED.with_suffix(".md").read_text()
    assert page == recommend.markdown(stored()), "run python -m research.evidence.recommend"


def test_the_stored_numbers_keep_what_the_policy_promises() -> None:
    facts = stored()
    assert (facts["paths"], len(facts["rows"])) == (1_000, 7)
    worlds_asked = [question.world for question in BY_NAME.values()]
    assert [row["world"] for row in facts["rows"]] == worlds_asked
    for row in facts["rows"]:
        for key, confidence in (("ours", 0.95), ("uniform", 0.95), ("little", 0.6)):
            assert row[key]["wrong"] <= recommend.allowed(confidence, 1_000)
            assert row[key]["unsure"] == 0
        assert row["ours"]["mean"] < 0.9 * row["uniform"]["mean"]


def test_the_right_arm_by_hand() -> None:
    rewards, costs = np.array([0.9, 0.7, 0.3]), np.array([0.8, 0.3, 0.1])
    for by, cap, right in (
        ("reward", None, 0),
        ("ratio", None, 2),
        ("reward", 0.5, 1),
        ("ratio", 0.05, best_arm.NONE),
    ):
        assert recommend.right_arm(recommend.Question("", "", by, cap), rewards, costs) == right
    world = worlds.make(BY_NAME[CAPPED].world, 1)
    assert int(np.argmax(np.asarray(world.reward_means))) == 0
    assert next(row["right"] for row in stored()["rows"] if row["name"] == CAPPED) == 1


@pytest.mark.parametrize("name", BY_NAME if SOAK else [CAPPED])
def test_a_measurement_finds_what_is_stored(name: str) -> None:
    """All paths in soak, with the same numbers; else a few, within four standard errors."""
    n_paths = recommend.PATHS if SOAK else 40
    row, facts = recommend.ask(BY_NAME[name], n_paths), stored()["rows"]
    expected = next(fact for fact in facts if fact["name"] == name)
    if SOAK:
        assert record.rounded(row) == expected
    assert row["ours"]["wrong"] <= recommend.allowed(recommend.CONFIDENCE, n_paths)
    for key in ("ours", "uniform"):
        assert abs(row[key]["mean"] - expected[key]["mean"]) < 4 * row[key]["error"]
