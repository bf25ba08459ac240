from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import purse
from purse.lab.study import manifest

FACTS: dict[str, Any] = {
    "title": "Größe ≥ 1 😀",
    "budgets": [0.1, 1e17],
    "shards": ["a-0-8", "a-8-8", "b-0-8"],
    "made": None,
}


def test_what_is_saved_is_loaded(tmp_path: Path) -> None:
    manifest.save(tmp_path, FACTS)
    assert manifest.load(tmp_path) == FACTS
    assert json.loads((tmp_path / "manifest.json").read_bytes()) == FACTS
    assert "Größe ≥ 1 😀" in (tmp_path / "manifest.json").read_text(encoding="utf-8")
    manifest.save(tmp_path, {**FACTS, "made": "now"})
    assert manifest.load(tmp_path)["made"] == "now"
    assert [path.name for path in tmp_path.iterdir()] == ["manifest.json"]


@pytest.mark.parametrize(
    "text",
    [
        None,
        "",
        "{",
        "[1, 2]",
        "5",
        "null",
        '{"name": "of another program"}',
        '{"made": null}',
        b"\xff",
    ],
    ids=repr,
)
def test_a_folder_without_a_manifest_of_ours_is_refused(
    text: str | bytes | None, tmp_path: Path
) -> None:
    if text is not None:
        (tmp_path / "manifest.json").write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(
        purse.InvalidInput,
        match=rf"^{re.escape(repr(str(tmp_path)))} holds no study: it has no manifest\.json that "
        r"can be read; `purse lab run",
    ) as caught:
        manifest.load(tmp_path)
    assert "\n" not in str(caught.value)


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(purse.InvalidInput, match="holds no study"):
        manifest.standing(tmp_path / "nowhere")


def test_how_far_a_study_has_come(tmp_path: Path) -> None:
    manifest.save(tmp_path, FACTS)
    assert manifest.progress_of(tmp_path) == (0, 3, 0)
    assert manifest.standing(tmp_path) == "0 of 3 shards are there (0.0 MB)"
    (tmp_path / "shards").mkdir()
    for name, size in {
        "a-0-8.parquet": 1_000_000,
        "b-0-8.parquet": 500_000,
        "b-0-8-trace.parquet": 7,
        "old-0-8.parquet": 7,
        ".a-8-8.parquet.0123": 7,
    }.items():
        (tmp_path / "shards" / name).write_bytes(bytes(size))
    assert manifest.progress_of(tmp_path) == (2, 3, 1_500_000)
    assert manifest.standing(tmp_path) == "2 of 3 shards are there (1.5 MB)"


def test_files_that_go_while_one_looks_are_no_trouble(tmp_path: Path) -> None:
    """A study that is running writes beside a shard and renames: such a name may be gone when its
    size is asked for.
    """
    manifest.save(tmp_path, FACTS)
    (tmp_path / "shards").mkdir()
    (tmp_path / "shards" / ".a-0-8.parquet.0123").symlink_to("gone")
    assert manifest.progress_of(tmp_path) == (0, 3, 0)


def test_the_surroundings_are_versions_and_the_machine() -> None:
    found = manifest.surroundings()
    assert found["versions"]["purse"] == purse.__version__
    assert found["versions"]["numpy"] == np.__version__
    assert found["versions"].keys() == {"purse", "python", "numba", "numpy", "polars", "scipy"}
    assert found["machine"]["cores"] >= 1
    assert json.loads(json.dumps(found)) == found


def test_the_time_is_told_to_the_second_and_with_its_zone() -> None:
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00", manifest.now())
