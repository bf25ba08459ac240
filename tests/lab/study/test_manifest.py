from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import purse
from purse.lab.study import manifest
from purse.lab.study.facts import MANIFEST, Recording, StudyFacts, TableFacts
from tests.lab.report.made_up import made_up

FACTS = made_up(policies=("uniform",)).facts
REPLAY = {"kind": "table", "data": "t.csv", "rounds": 60, "horizon": 50, "arms": ["a", "b"]}
STORED: dict[str, Any] = {
    "title": "Größe ≥ 1 😀",
    "budgets": [0.1, 1e17],
    "shards": ["a-0-8", "a-8-8", "b-0-8"],
    "made": None,
}


@pytest.mark.parametrize(
    "text",
    [
        None,
        "{",
        "[1, 2]",
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


def test_how_far_a_study_has_come(tmp_path: Path) -> None:
    manifest.save(tmp_path, STORED)
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
    # a study that is running renames files: a name may be gone when its size is asked for
    (tmp_path / "shards" / ".a-0-8.parquet.0123").symlink_to("gone")
    assert manifest.progress_of(tmp_path) == (2, 3, 1_500_000)
    assert manifest.standing(tmp_path) == "2 of 3 shards are there (1.5 MB)"


def test_the_surroundings_are_versions_and_the_machine() -> None:
    found = manifest.surroundings()
    assert found["versions"]["purse"] == purse.__version__
    assert found["versions"]["numpy"] == np.__version__
    assert found["versions"].keys() == {"purse", "python", "numba", "numpy", "polars", "scipy"}
    assert found["machine"]["cores"] >= 1
    assert json.loads(json.dumps(found)) == found
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00", manifest.now())


@pytest.fixture
def stored() -> dict[str, Any]:
    return json.loads(json.dumps(FACTS.to_json()))


def test_facts_are_stored_and_read_again_in_the_order_of_a_manifest(
    stored: dict[str, Any], tmp_path: Path
) -> None:
    for facts, kind in ((stored, StudyFacts), ({**stored, "replay": REPLAY}, TableFacts)):
        manifest.save(tmp_path, {**facts, "title": "Größe ≥ 1 😀", "delay": "geometric:3"})
        assert "Größe ≥ 1 😀" in (tmp_path / "manifest.json").read_text(encoding="utf-8")
        loaded = manifest.load(tmp_path)
        read = StudyFacts.from_json({**loaded, "of a later version": 1})
        assert type(read) is kind
        assert (read.title, read.delay) == ("Größe ≥ 1 😀", "geometric:3")
        assert list(read.to_json().items()) == [
            (name, loaded[name]) for name in MANIFEST if name in loaded
        ]
    assert isinstance(read, TableFacts)
    assert read.replay == Recording("table", "t.csv", 60, 50, ["a", "b"])
    del stored["delay"]
    with pytest.raises(
        purse.InvalidInput,
        match="another version of purse made this study: its manifest has no 'delay'; make the",
    ):
        StudyFacts.from_json(stored)
