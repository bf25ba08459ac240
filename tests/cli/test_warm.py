from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import Command


def test_warm_compiles_and_says_where_the_code_is(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[dict[str, Any]] = []
    monkeypatch.setattr(
        "purse.lab.offline.warm.warm", lambda **how: given.append(how) or Path("/code")
    )
    assert command("warm", "uniform", "--workers", "2") == (0, "Compiled code is in /code\n", "")
    assert command("warm")[0] == 0
    assert given == [{"policies": ("uniform",), "n_workers": 2}, {"n_workers": None}]
