from __future__ import annotations

import math

import numpy as np
import pytest

from purse.lab.replay import bootstrap
from purse.lab.replay.bootstrap import with_log_error
from purse.lab.replay.model_world import make_model
from tests.support.replays import log_of, sample_log


def test_the_error_holds_the_log_and_the_simulation_by_hand() -> None:
    values, redone = np.array([1.0, 3.0]), np.array([[0.0, 2.0], [4.0, 6.0], [8.0, 10.0]])
    found = with_log_error(values, redone)
    assert found.mean == 2
    # between 1, 5, 9: 16; within: 2
    assert found.error == pytest.approx(math.sqrt((16 - 2 / 2) + 2 / 2))
    assert found.high - found.mean == pytest.approx(4.302652729911275 * found.error)
    assert with_log_error(values, np.array([[0.0, 2.0], [0.0, 2.0]])).error == pytest.approx(1)


def test_replicates_do_not_follow_the_numbers_that_made_the_log() -> None:
    model = make_model(log_of(sample_log(3_000, 0)))
    rows = model.log.rows
    replicates = (model.redrawn(bootstrap.generator(0, number)) for number in range(100))
    redrawn = np.array([model.log.sums(counts) for counts in replicates])
    assert np.abs((redrawn - rows) / np.sqrt(rows * (1 - rows / 3_000))).max() < 5
