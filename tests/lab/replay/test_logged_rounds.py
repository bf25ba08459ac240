"""Rows of a log, drawn by weight."""

from typing import Any

import numpy as np
import pytest

from purse.lab.replay.logged_rounds import LoggedRounds, _find_row


@pytest.mark.parametrize(
    ("low", "high", "u", "row"),
    [
        # weights 1, 1, 1 and 1: a quarter of [0, 1) for each row
        *((0, 4, u, row) for u, row in ((0.1, 0), (0.3, 1), (0.6, 2), (0.9, 3))),
        # half of it for each of the last two
        (2, 4, 0.4, 2),
        (2, 4, 0.6, 3),
    ],
)
def test_every_row_is_drawn_by_its_weight(low: int, high: int, u: float, row: int) -> None:
    fields: dict[str, Any] = dict.fromkeys(LoggedRounds._fields)
    log = LoggedRounds(**{**fields, "upto": np.array([1.0, 2.0, 3.0, 4.0])})
    assert _find_row(log, low, high, u) == row
