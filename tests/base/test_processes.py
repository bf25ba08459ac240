from __future__ import annotations

import json

import pytest

from purse.base.processes import start_helper, usable_cores


def test_there_is_a_core_to_use() -> None:
    assert usable_cores() >= 1


def test_a_helper_answers_and_finds_the_same_modules() -> None:
    code = "import json, sys, purse; json.dump([sys.stdin.read(), purse.__file__], sys.stdout)"
    answer, _ = start_helper(code).communicate(b"asked")
    import purse

    assert json.loads(answer) == ["asked", purse.__file__]


def test_without_a_python_to_start_there_is_an_error_of_the_system(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sys.executable", "")
    with pytest.raises(OSError, match="no Python to start"):
        start_helper("pass")
