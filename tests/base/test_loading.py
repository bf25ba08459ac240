from __future__ import annotations

from pathlib import Path

import pytest

import purse
from purse.base.loading import load_module


def test_a_file_is_loaded_once_and_again_when_it_changes(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text("x = 1\n")
    first = load_module("policy", path)
    assert load_module("policy", path) is first
    path.write_text("x = 2\n")
    assert load_module("policy", path).x == 2


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("x = ", "SyntaxError"),
        ("raise ValueError('no')", "ValueError: no"),
        ("import nothing_like_it", "nothing_like_it"),
    ],
)
def test_what_does_not_load_says_why_and_is_forgotten(
    tmp_path: Path, source: str, message: str
) -> None:
    path = tmp_path / "mine.py"
    path.write_text(source)
    with pytest.raises(
        purse.InvalidInput, match=rf"^world file .*mine\.py' does not load: .*{message}"
    ):
        load_module("world", path)
    path.write_text("x = 3\n")
    assert load_module("world", path).x == 3


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(purse.InvalidInput, match=r"^policy file '.*none\.py' does not exist"):
        load_module("policy", tmp_path / "none.py")
