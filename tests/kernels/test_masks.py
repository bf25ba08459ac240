"""Drawing under a mask: hand-computed probabilities, and frequencies."""

import numpy as np
import pytest

from purse.kernels.index_rules import FIRST, OUT, share_largest, take_largest
from purse.kernels.masks import draw_allowed, restrict
from purse.kernels.random import POLICY, at, stream
from purse.types import SKIP, STOP, Now, Play
from tests.support.soak import scale


def now_with(allowed: list[int], t: int = 1) -> Now:
    """Round t of a game of four arms."""
    mask = np.isin(np.arange(4), allowed)
    key = np.uint64(int(at(stream(0, 0, POLICY), t)) % 2**64)  # called from Python, it is signed
    zeros, context = np.zeros(4, np.int64), np.zeros((4, 0))
    counted = np.zeros((0, 4), np.bool_), np.zeros(0, np.int64)
    return Now(key, t, np.inf, np.ones(1), not mask.all(), mask, *counted, zeros, context)


def new_play() -> Play:
    """Room for a play of one resource."""
    return Play(np.zeros(1, np.int64), np.zeros(1), np.zeros(1), np.zeros((1, 1)))


@pytest.mark.parametrize(
    ("chances", "allowed", "expected"),
    [
        ([0.1, 0.2, 0.3, 0.4], [0, 3], [0.2, 0, 0, 0.8]),
        ([0.25, 0.25, 0.25, 0.25], [1], [0, 1, 0, 0]),
        ([1.0, 0.0, 0.0, 0.0], [1, 2], [0, 0.5, 0.5, 0]),  # nothing is left: all are alike
        ([0.1, 0.2, 0.1, 0.1], [0, 1], [0.125, 0.25, 0, 0]),  # 0.5 lets the round pass, 0.625 now
        ([0.0, 0.5, 0.0, 0.0], [0, 2], [0, 0, 0, 0]),  # only passing is left
    ],
)
def test_chances_are_renormalised_over_the_allowed(
    chances: list[float], allowed: list[int], expected: list[float]
) -> None:
    out = np.array(chances)
    restrict(now_with(allowed), out)
    np.testing.assert_allclose(out, expected, atol=1e-12)


def test_arms_are_drawn_as_often_as_the_restricted_chances_say() -> None:
    counts, play, n = np.zeros(4), new_play(), scale(4000, 20_000)
    skipped = 0
    for t in range(1, n + 1):
        draw_allowed(now_with([0, 1, 3], t), np.array([0.1, 0.2, 0.3, 0.2]), play)
        if play.arms[0] == SKIP:
            skipped += 1
            assert play.probs[0] == pytest.approx(2 / 7)
        else:
            counts[play.arms[0]] += 1
    chances = np.array([1 / 7, 2 / 7, 0, 2 / 7])
    errors = np.sqrt(chances * (1 - chances) / n)
    assert (np.abs(counts / n - chances) <= 4 * errors).all()
    assert abs(skipped / n - 2 / 7) < 4 * np.sqrt(2 / 7 * 5 / 7 / n)


@pytest.mark.parametrize(
    ("scores", "allowed", "arms", "chance"),
    [
        ([3.0, 5.0, 4.0, 4.0], [0, 1, 2, 3], {1}, 1.0),
        ([3.0, 5.0, 4.0, 4.0], [0, 2, 3], {2, 3}, 0.5),
        ([3.0, FIRST, 4.0, 4.0], [0], {0}, 1.0),
        ([OUT, 1.0, OUT, OUT], [0, 2], {SKIP}, 1.0),
        ([OUT, OUT, OUT, OUT], [0, 1, 2, 3], {STOP}, 1.0),
    ],
)
def test_the_largest_allowed_score_is_taken(
    scores: list[float], allowed: list[int], arms: set[int], chance: float
) -> None:
    play, out, seen = new_play(), np.zeros(4), set()
    for t in range(1, 40):
        now = now_with(allowed, t)
        take_largest(now, np.array(scores), play)
        seen.add(int(play.arms[0]))
        assert play.probs[0] == chance
    assert seen == arms
    share_largest(now_with(allowed), np.array(scores), out)
    expected = [chance if i in arms else 0.0 for i in range(4)]
    assert out.tolist() == expected
