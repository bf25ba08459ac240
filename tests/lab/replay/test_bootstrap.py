import math
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from purse.lab.replay import bootstrap
from purse.lab.replay.bootstrap import Resampled, redraw, with_unseen
from purse.lab.replay.model_world import make_model
from purse.lab.theory.estimate import Estimate
from tests.support.replays import log_of, sample_log


def test_the_error_holds_the_log_and_the_simulation_by_hand() -> None:
    values, redone = np.array([1.0, 3.0]), np.array([[0.0, 2.0], [4.0, 6.0], [8.0, 10.0]])
    found = Resampled(values, redone).estimate()
    assert found.mean == 2
    # between 1, 5, 9: 16; within: 2
    assert found.error == pytest.approx(math.sqrt((16 - 2 / 2) * 20 / 19 + 2 / 2))
    assert found.high - found.mean == pytest.approx(2.0930240544082634 * found.error)
    other = Resampled(values, np.array([[0.0, 2.0], [0.0, 2.0]]))
    assert other.estimate().error == pytest.approx(1)


def test_replicates_do_not_follow_the_numbers_that_made_the_log() -> None:
    model = make_model(log_of(sample_log(3_000, 0)))
    rows = model.log.rows
    replicates = (redraw(model.log, bootstrap.generator(0, number)) for number in range(100))
    redrawn = np.array([model.log.sums(counts) for counts in replicates])
    assert np.abs((redrawn - rows) / np.sqrt(rows * (1 - rows / 3_000))).max() < 5


def test_whole_blocks_and_sessions_are_drawn_again_and_no_arm_is_lost() -> None:
    log = log_of(sample_log(400, 0))
    counts = redraw(log, np.random.default_rng(0))
    assert (counts.reshape(20, 20) == counts[::20, None]).all()
    assert counts.sum() == 400
    session = np.random.default_rng(1).integers(100, size=400)
    by_session = redraw(replace(log, session=session), np.random.default_rng(0))
    for number in range(100):
        assert len(set(by_session[session == number].tolist())) <= 1
    alone = replace(log, arm=np.arange(400) // 200)  # the first ten blocks, and the others
    for seed in range(30):
        drawn = redraw(alone, np.random.default_rng(seed))
        assert (alone.sums(drawn)[:2] > 0).all()


def test_unseen_rows_widen_an_interval_to_either_side_by_hand() -> None:
    """100 rows of an arm with a mean of .2 between 0 and 1: ten pulls add 3 (10 * .2 / 100)^2 to
    the variance below, and 3 (10 * .8 / 100)^2 above.
    """
    rows = pl.DataFrame({"arm": ["a"] * 100, "reward": [1, 0, 0, 0, 0] * 20, "cost": 1})
    log = log_of(rows.with_columns(probability=1.0))
    found = with_unseen(Estimate(2.0, 0.1, 1.5, 2.5), log, np.array([10.0]))
    t = 2.0930240544082634
    assert found.low == pytest.approx(2 - math.hypot(0.5, t * math.sqrt(3) * 0.02))
    assert found.high == pytest.approx(2 + math.hypot(0.5, t * math.sqrt(3) * 0.08))
    less = with_unseen(Estimate(0.0, 0.1, -0.5, 0.5), log, np.zeros(1), np.array([10.0]))
    assert less.low == pytest.approx(-math.hypot(0.5, t * math.sqrt(3) * 0.08))
