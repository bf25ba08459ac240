from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from purse import InvalidInput, Policy
from purse.base import array_file
from purse.live import save_file
from tests.support.live_policies import make, standing

EPSILON_GREEDY = Path(__file__).parents[2] / "examples/epsilon_greedy.py"
MARK = "from pathlib import Path\n(Path(__file__).parent / 'was-run').touch()\n"


def saved(path: Path, policy: str = "uniform", **changes: Any) -> Path:
    """A saved policy of two open tickets, some of whose facts are changed."""
    live = make(policy, n_arms=4, budget=8, seed=5)
    for _ in range(2):
        live.ask()
    live.save(path)
    facts, arrays = save_file.load(path)
    save_file.save(path, {**facts, **changes}, arrays)
    return path


def refused(path: Path) -> str:
    """The one line that refuses a file."""
    with pytest.raises(InvalidInput) as caught:
        Policy.load(path)
    said = str(caught.value)
    assert path.name in said
    assert "\n" not in said
    assert len(said) < 1000
    return said


def problem(path: Path, **changes: Any) -> Any:
    saved(path)
    facts, _ = save_file.load(path)
    return {**facts["problem"], **changes}


def test_a_policy_file_is_run_only_where_that_is_allowed(tmp_path: Path) -> None:
    mine = tmp_path / "mine.py"
    mine.write_text(EPSILON_GREEDY.read_text())
    path = saved(tmp_path / "policy.npz", str(mine))
    mine.write_text(mine.read_text() + MARK)
    said = refused(path)
    assert "mine.py" in said
    assert "allow_policy_file=True" in said
    assert not (tmp_path / "was-run").exists()
    assert Policy.load(path, allow_policy_file=True).ask().id == 3
    assert (tmp_path / "was-run").exists()


@pytest.mark.parametrize("left", [[10**18], [-1], [8 * 10**9], [1.5e300], ["much"], [], None])
def test_what_is_left_has_to_be_a_part_of_the_budget(left: Any, tmp_path: Path) -> None:
    refused(saved(tmp_path / "policy.npz", left=left))


def test_what_is_left_may_be_nothing(tmp_path: Path) -> None:
    loaded = Policy.load(saved(tmp_path / "policy.npz", left=[0]))
    assert (loaded.left, loaded.spent, loaded.held) == (0, 6, 2)


@pytest.mark.parametrize(
    "changes",
    [
        {"problem": None},
        {"problem": []},
        {"name": 1},
        {"name": None},
        {"t": "many"},
        {"t": -1},
        {"gain": "much"},
        {"over": 1},
        {"_next_id": 0},
        {"seed": []},
        {"stop": "never"},
        {"owed": [1] * 99},
        {"owed": {}},
        {"initial": 5},
        {"initial": [[]]},
        {"tickets": [[1]]},
        {"tickets": [[[1, 1, [9], [0.5], [1]], None]]},
        {"tickets": [[[1, 1, [0], [0.5], [-1]], None]]},
        {"tickets": [[[1, 1, ["x"], [0.5], [1]], None]]},
        {"tickets": 7},
        {"again": [[1, [9], [0.5], [], 0, False]]},
        {"again": [[1, [-7], [0.5], [], 0, False]]},
        {"again": [[1, [0, 1], [0.5], [], 0, False]]},
        {"again": [[1, [0], [0.5], [4], 0, False]]},
        {"again": [1]},
    ],
    ids=json.dumps,
)
def test_facts_that_cannot_be_are_one_line(changes: dict[str, Any], tmp_path: Path) -> None:
    refused(saved(tmp_path / "policy.npz", **changes))


@pytest.mark.parametrize(
    "changes",
    [
        {"n_arms": 10**15},
        {"n_arms": 3},
        {"n_arms": "four"},
        {"plays": 10**15},
        {"plays": 0},
        {"horizon": "long"},
        {"budget": 5},
        {"budget": [10**30]},
        {"budget": [0.5]},
        {"cost_min": [[1]]},
        {"cost_max": "dear"},
        {"caps": [1]},
        {"reward_means": [0.5]},
        {"colour": "red"},
    ],
    ids=json.dumps,
)
def test_a_problem_that_cannot_be_is_one_line(changes: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "policy.npz"
    refused(saved(path, problem=problem(path, **changes)))


def test_a_file_that_is_packed_is_refused_before_it_is_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "policy.npz"
    np.savez_compressed(path, facts=np.array("{}"), zeros=np.zeros(10**6))
    assert path.stat().st_size < 20_000
    monkeypatch.setattr(array_file, "read_part", None)
    assert "would unpack to more than it holds" in refused(path)


def test_an_array_that_says_it_is_larger_than_it_is_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "policy.npz"
    for shape in ("(99999999999999,)", "(-1,)", "(1.5,)", "(2,) "):
        header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}".ljust(117)
        body = b"\x93NUMPY\x01\x00\x76\x00" + header.encode() + b"\n" + bytes(8)
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("facts.npy", body)
        assert "is not a saved policy" in refused(path)


def test_facts_that_are_nested_too_deeply_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "policy.npz"
    np.savez(path, facts=np.array("[" * 100_000))
    assert "is not a saved policy" in refused(path)


def test_every_damaged_byte_is_refused_or_harmless(tmp_path: Path) -> None:
    path = saved(tmp_path / "policy.npz")
    whole, before = path.read_bytes(), standing(Policy.load(path))
    for place in range(0, len(whole), 7):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0x41]) + whole[place + 1 :])
        try:
            assert standing(Policy.load(path)) == before, place
        except InvalidInput as error:
            assert "\n" not in str(error)  # noqa: PT017 - either is right
