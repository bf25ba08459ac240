from __future__ import annotations

from purse.base.processes import usable_cores


def test_there_is_a_core_to_use() -> None:
    assert usable_cores() >= 1
