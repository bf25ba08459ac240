from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

import pytest

from purse import PurseError
from purse.files import make_folder, write_atomically


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
