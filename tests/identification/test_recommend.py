"""The best arm from sums of reports: bounds by hand, confidence, caps, and what peeking does."""

import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from purse import InvalidInput
from purse.identification.question import Arm, Decision, read_question
from purse.identification.recommend import recommend
from purse.identification.recommendation import _VERDICTS, MeanBounds, Recommendation
from tests.support.campaigns import refusal

NAMES = ["small", "large", "medium"]


def judged(counts: Any, rewards: Any, costs: Any = None, **more: Any) -> Recommendation:
    """A recommendation from counts and means."""
    means = [0.5] * len(counts) if costs is None else costs
    sums = [[n * mean for n, mean in zip(counts, each, strict=True)] for each in (rewards, means)]
    return recommend(NAMES[: len(counts)], counts, *sums, **more)


def verdicts(found: Recommendation) -> dict[str, str]:
    return {each.arm: each.verdict for each in found.arms}


def kl(p: float, m: float) -> float:
    return sum(a * math.log(a / b) for a, b in ((p, m), (1 - p, 1 - m)) if a > 0)


def test_bounds_by_hand() -> None:
    # with nothing but ones the lower bound is (2 sqrt(n) K / delta)^(-1 / n)
    found = judged([100, 100], [1, 0])
    low = (2 * 10 * 2 / 0.05) ** (-1 / 100)
    assert found.arms[0].reward == MeanBounds(1, pytest.approx(low), 1)
    assert found.arms[1].reward == MeanBounds(0, 0, pytest.approx(1 - low))
    assert (found.arm, found.certain) == ("small", True)
    assert verdicts(found) == {"small": "best", "large": "worse"}


def test_bounds_solve_their_equation_and_share_the_error_among_all_intervals() -> None:
    counts, rewards, costs = [400, 90, 7], [0.7, 0.3, 0.55], [0.2, 0.9, 0.4]
    for by, n_intervals in (("reward", 3), ("ratio", 6)):
        found = judged(counts, rewards, costs, by=by, confidence=0.9)
        for n, each in zip(counts, found.arms, strict=True):
            level = math.log(2 * math.sqrt(n) * n_intervals / 0.1)
            for part in [each.reward] + [each.cost] * (by == "ratio"):
                for end in (part.low, part.high):
                    assert n * kl(part.mean, end) == pytest.approx(level)


def test_costs_have_bounds_only_where_they_matter_and_are_not_known() -> None:
    plain = judged([50, 50], [0.9, 0.2]).arms[0]
    assert plain.cost == MeanBounds(0.5, None, None)
    assert (plain.ratio.low, plain.ratio.high) == (None, None)
    known = judged([50, 50], [0.9, 0.2], by="ratio", cost_min=0.5, cost_max=0.5).arms[0]
    assert known.cost == MeanBounds(0.5, 0.5, 0.5)
    assert known.reward == plain.reward  # no part of the error is kept for costs
    one = judged([50, 50], [0.9, 0.2], by="ratio", cost_min=[0.5, 0], cost_max=[0.5, 1])
    level = math.log(2 * math.sqrt(50) * 3 / 0.05)  # two rewards and one cost
    assert 50 * kl(0.9, one.arms[0].reward.low) == pytest.approx(level)


def test_the_ratio_is_bounded_by_the_corners_of_the_box() -> None:
    each = judged([80, 90], [0.8, 0.3], [0.2, 0.6], by="ratio").arms[0]
    low, high = each.reward.low / each.cost.high, each.reward.high / each.cost.low
    assert each.ratio == MeanBounds(*map(pytest.approx, (4, low, high)))
    # by ratio another arm may be best
    counts, rewards, costs = [900, 900], [0.6, 0.9], [0.1, 0.8]
    best = judged(counts, rewards, costs, by="ratio")
    assert (best.arm, best.certain, judged(counts, rewards, costs).arm) == ("small", True, "large")
    # a negative reward is worst where it is cheapest
    lost = judged([80, 90], [-0.5, 0.3], [0.2, 0.6], by="ratio", reward_range=(-1, 1)).arms[0]
    assert lost.ratio.low == pytest.approx(lost.reward.low / lost.cost.low)


def test_the_confidence_by_hand() -> None:
    # ones against zeros: the common mean is 1/2, and an average is that of q^5 at Beta(1/2, 1/2)
    average = 1 / 2 * 3 / 4 * 5 / 6 * 7 / 8 * 9 / 10
    found = judged([5, 5], [1, 0])
    assert found.confidence == pytest.approx(1 - 1 / (average**2 * 2**10))
    assert found.certain
    assert not judged([5, 5], [1, 0], confidence=0.99).certain
    assert judged([5, 5], [1, 0], confidence=0.99).confidence == found.confidence
    # of arms that are not shown any may be better than another
    many = judged([5, 5], [1, 0], n_arms=4)
    assert 1 - many.confidence == pytest.approx(6 * (1 - found.confidence))
    # known costs are as good as a common mean: 1/2 of what the dear arm's ratio may be
    dear = judged([5, 5], [1, 0], by="ratio", cost_min=[0.5, 0.5], cost_max=[0.5, 0.5])
    assert dear.confidence == found.confidence


def test_confidence_grows_with_pulls_of_the_same_means_and_never_reaches_one() -> None:
    grown = [judged([n, n], [0.8, 0.5]).confidence for n in (10, 100, 200, 400, 100_000)]
    assert grown == sorted(grown)
    assert (grown[0], grown[-1] < 1) == (0, True)


def test_a_cap_that_excludes_the_best_arm_is_honoured() -> None:
    counts, rewards, costs = [500, 500, 500], [0.6, 0.95, 0.3], [0.1, 0.8, 0.2]
    assert judged(counts, rewards, costs).arm == "large"
    capped = judged(counts, rewards, costs, cap=0.4)
    assert (capped.arm, capped.certain) == ("small", True)
    assert verdicts(capped) == {"small": "best", "large": "above the cap", "medium": "worse"}
    near = judged(counts, rewards, costs, cap=0.79)  # who knows whether large keeps to it
    assert (near.arm, near.certain, verdicts(near)["large"]) == ("small", False, "may be best")
    none = judged(counts, rewards, costs, cap=0.01)
    assert (none.arm, none.certain, set(verdicts(none).values())) == (None, True, {"above the cap"})
    assert str(none).startswith("no arm costs at most 0.01 cost a pull, with more than 99.9%")
    doubtful = judged(counts, rewards, costs, cap=0.055)
    assert (doubtful.arm, doubtful.certain) == (None, False)
    assert 0 < doubtful.confidence < 0.95
    assert "no arm has cost at most 0.055 cost a pull so far" in str(doubtful)


def test_equal_arms_are_never_certain_unless_they_may_be_missed_by_a_little() -> None:
    tie = judged([10_000, 10_000], [0.5, 0.5])
    assert (tie.certain, tie.confidence, tie.more_pulls) == (False, 0, None)
    near = judged([10_000, 10_000], [0.5, 0.5], within=0.1)
    assert (near.certain, verdicts(near)) == (True, {"small": "best", "large": "may be best"})
    assert "is best or at most 0.1 worse by reward" in str(near)


def test_without_reports_nothing_can_be_said() -> None:
    nothing = judged([0, 0], [0, 0])
    assert (nothing.arm, nothing.certain, nothing.confidence) == (None, False, 0)
    assert str(nothing).startswith("nothing can be said yet: there is no report\n")
    assert set(verdicts(nothing).values()) == {"not tried"}
    one = judged([1000, 0], [1, 0])  # the other may be perfect
    assert (one.arm, one.certain, verdicts(one)["large"]) == ("small", False, "not tried")
    assert one.more_pulls is None
    dear = judged([1000, 0], [1, 0], [0.1, 0], cap=0.5, cost_min=[0, 0.8], cost_max=[1, 0.8])
    assert (dear.arm, dear.certain, verdicts(dear)["large"]) == ("small", True, "above the cap")


def test_one_arm_alone_is_best_and_no_arm_is_none() -> None:
    assert judged([1], [0.1]).certain
    assert not judged([1], [0.1], [0.2], cap=0.3).certain
    nothing = judged([], [])
    assert (nothing.arm, nothing.certain) == (None, False)


def test_the_forecast_is_what_it_takes() -> None:
    found = judged([60, 60], [0.75, 0.5], [0.1, 0.3])
    assert not found.certain
    assert found.more_pulls is not None
    assert found.more_cost == pytest.approx(found.more_pulls * 0.2, rel=0.02)
    n = 60 + found.more_pulls // 2
    assert judged([n + 1] * 2, [0.75, 0.5]).certain
    assert not judged([int(0.95 * n)] * 2, [0.75, 0.5]).certain
    assert f"about {found.more_pulls:,} more pulls" in str(found)


def test_what_is_shown() -> None:
    found = judged([500, 400], [0.9, 0.5], [0.1, 0.8], cap=0.4, notes=["3 calls failed"])
    lines = str(found).splitlines()
    assert lines[0] == (
        "small is best by reward among arms of at most 0.4 cost a pull, with more than 99.9% "
        "confidence"
    )
    assert " ".join(lines[1].split()) == "arm pulls reward cost reward per cost verdict"
    assert lines[-1] == "  ! 3 calls failed"
    assert repr(found) == f"<Recommendation: {lines[0]}>"
    assert found._repr_html_().startswith(f"<p>{lines[0]}</p><table>")
    assert '<td style="text-align:left">best</td>' in found._repr_html_()
    facts = json.loads(json.dumps(found.as_dict(), allow_nan=False))
    assert facts["arms"][0]["verdict"] == "best"
    free = judged([5, 5], [0.9, 0.5], [0.0, 0.2], by="ratio")  # infinities are no JSON
    assert json.dumps(free.as_dict(), allow_nan=False)
    assert (free.arm, free.arms[0].ratio.mean, free.arms[0].ratio.high) == ("small", None, None)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"by": "cost"}, "by='cost': must be one of 'reward', 'ratio'"),
        ({"cap": 0}, "cap=0: must be a number above 0"),
        ({"confidence": 95}, "confidence=95: must be above 0 and below 1; 95% is 0.95"),
        ({"confidence": 1}, "confidence=1: must be above 0 and below 1"),
        ({"confidence": "high"}, "confidence='high': must be a finite number"),
        ({"within": -0.1}, "within=-0.1: must be a number at least 0"),
        ({"cost_min": -1}, "cost_min=-1: must be a number at least 0"),
        ({"cost_max": [1.0]}, "cost_max=[1.0]: must be one number, or one for each of the 2 arms"),
    ],
)
def test_wrong_questions_are_refused(wrong: dict[str, Any], message: str) -> None:
    assert refusal(InvalidInput, judged, [1, 1], [0, 1], **wrong) == message


counted = st.lists(
    st.tuples(st.integers(0, 300), st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=3
)
asked = st.fixed_dictionaries(
    {
        "by": st.sampled_from(["reward", "ratio"]),
        "cap": st.none() | st.floats(0.01, 1),
        "within": st.sampled_from([0.0, 0.1]),
    }
)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(counted, asked, st.floats(0.01, 0.99))
def test_whatever_was_reported_the_answer_agrees_with_itself(
    arms: list[tuple[int, float, float]], question: dict[str, Any], confidence: float
) -> None:
    columns = list(zip(*arms, strict=True))
    found = judged(*columns, **question, confidence=confidence)
    said = verdicts(found)
    assert 0 <= found.confidence < 1
    assert found.certain == (found.confidence >= confidence)
    assert (
        judged(*columns, **question, confidence=confidence / 2).confidence
        == pytest.approx(found.confidence, abs=1e-9)
        or found.certain
    )
    assert set(said.values()) <= set(_VERDICTS)
    bests = [name for name, verdict in said.items() if verdict == "best"]
    assert bests == ([found.arm] if found.certain and found.arm else [])
    assert found.arm is None or said[found.arm] not in ("above the cap", "not tried")
    for each in found.arms:
        for part in (each.reward, each.cost, each.ratio):
            if part.mean is not None and part.low is not None:
                assert part.low <= part.mean * (1 + 1e-9) + 1e-12
            if part.mean is not None and part.high is not None:
                assert part.mean <= part.high * (1 + 1e-9) + 1e-12
    assert json.dumps(found.as_dict(), allow_nan=False)
    assert str(found)


def test_to_look_after_every_pull_misleads_no_more_often_than_promised() -> None:
    """Two equal arms, of which none is better: whoever looks at plain intervals after every pull
    sees a difference far too often, and here at most as often as delta says.
    """
    paths, pulls, delta = 100, 150, 0.2
    rewards = np.random.default_rng(7).integers(0, 2, (paths, pulls, 2))
    sums, n = rewards.cumsum(axis=1), np.arange(1, pulls + 1)[:, None]
    means = sums / n
    error = np.sqrt((means * (1 - means)).sum(axis=2) / n[:, 0])
    plain = np.abs(means[:, :, 0] - means[:, :, 1])[:, 10:] > 1.2816 * error[:, 10:]
    assert plain.any(axis=1).mean() > 2 * delta
    question = read_question("reward", None, 0.0)
    misled = 0
    for path in sums:
        for count, pair in enumerate(path.tolist(), 1):
            arms = [Arm("", count, total, 0.0, (0.0, 1.0), (0.0, 1.0)) for total in pair]
            conditions = Decision(question, arms, 2).conditions()
            if all(holds(-math.log(delta), 1.0) for holds in conditions):
                misled += 1
                break
    assert misled <= delta * paths + 2 * math.sqrt(delta * (1 - delta) * paths)
