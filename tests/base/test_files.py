import os
from pathlib import Path
from typing import BinaryIO

import pytest

from purse import PurseError
from purse.base.files import make_folder, remove_abandoned, write_atomically


def test_a_file_is_whole_or_as_it_was(tmp_path: Path) -> None:
    target = tmp_path / "x.txt"
    write_atomically(target, lambda file: file.write(b"old"))

    def fail(file: BinaryIO) -> None:
        file.write(b"half")
        raise RuntimeError("power cut")

    with pytest.raises(RuntimeError, match="power cut"):
        write_atomically(target, fail)
    assert target.read_bytes() == b"old"
    assert [path.name for path in tmp_path.iterdir()] == ["x.txt"]


def test_a_place_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(PurseError, match="cannot write to folder"):
        make_folder(tmp_path / "file" / "below")
    with pytest.raises(PurseError, match="cannot write"):
        write_atomically(tmp_path / "nowhere" / "x", lambda file: None)


def test_a_folder_is_made_with_its_parents(tmp_path: Path) -> None:
    assert make_folder(tmp_path / "a" / "b").is_dir()


def test_what_killed_processes_left_is_swept_away_after_an_hour(tmp_path: Path) -> None:
    left, fresh, mine = (
        tmp_path / ".a.parquet.0123456789ab",
        tmp_path / ".b.parquet.0123456789ab",
        tmp_path / ".gitignore",
    )
    parts = tmp_path / ".parts-x7"
    parts.mkdir()
    for path in (left, fresh, mine, parts / "0.parquet", tmp_path / "results.parquet"):
        path.write_text("")
    for path in (left, mine, parts, tmp_path / "results.parquet"):
        os.utime(path, (0, 0))
    remove_abandoned(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        ".b.parquet.0123456789ab",
        ".gitignore",
        "results.parquet",
    ]
