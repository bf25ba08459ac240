from typing import Any

import numpy as np
import pytest

from purse.lab.replay.block_means import BlockMeans
from purse.lab.replay.savings import Savings, find_savings
from purse.lab.theory.estimate import t_quantile
from purse.types import Floats

QUALITY, PRICE = np.array([0.8, 0.795, 0.6, 0.7]), np.array([10.0, 3.0, 1.0, 2.0])


def rows(n: int, seed: int = 0, shares: Any = None, **more: Any) -> BlockMeans:
    """Return the means of a log of four coins at fixed prices."""
    rng = np.random.default_rng(seed)
    arm = rng.choice(4, n, p=shares)
    reward = (rng.random(n) < QUALITY[arm]).astype(float)
    return BlockMeans.of(arm, reward, PRICE[arm], n_arms=4, **more)


def alternating(rewards: Floats, costs: Floats, n: int = 400) -> BlockMeans:
    """Return the means of a log that takes the arms in turn, with the same outcome each time."""
    arm = np.arange(n) % len(rewards)
    return BlockMeans.of(arm, rewards[arm], costs[arm], n_arms=len(rewards))


def test_a_log_without_chance_by_hand() -> None:
    """Two arms pay the same and cost 10 and 1: the cheap one alone costs 2/11 of the log."""
    answer = find_savings(alternating(np.ones(2), np.array([10.0, 1.0])))
    assert answer.kind == "less"
    assert answer.shares is not None
    assert answer.shares.tolist() == [0, 1]
    assert answer.saving == pytest.approx((9 / 11,) * 3)
    assert (answer.ratio, answer.most) == pytest.approx((1, 9 / 11))


def test_the_tolerance_by_hand() -> None:
    """Rewards 1 and .9 in turn, so V = .95; 98% of it is .931, so the dear arm has .31 at least:
    in steps of 5% .35. Shown has to be .9215, unseen rows widen: the worst reward is .9.
    """
    log = alternating(np.array([1.0, 0.9]), np.array([10.0, 1.0]), 4_000)
    answer = find_savings(log)
    assert answer.shares == pytest.approx([0.35, 0.65])
    assert answer.saving[0] == pytest.approx(1 - (3.5 + 0.65) / 5.5)
    strict = find_savings(log, within=0.04)  # .912: a share of .15 would do
    assert strict.shares == pytest.approx([0.15, 0.85])
    assert find_savings(log, within=0.0).kind != "less"  # nothing can be shown beyond chance


def test_the_curve_goes_from_the_cheapest_to_the_dearest_and_rises() -> None:
    curve = find_savings(rows(2_000)).curve
    assert curve is not None
    assert curve[0, 0] == 1
    assert (np.diff(curve[:, 0]) > 0).all()
    assert (np.diff(curve[:, 1]) >= 0).all()
    assert ((curve[:, 2] <= curve[:, 1]) & (curve[:, 1] <= curve[:, 3])).all()
    assert curve[:, 4:] @ PRICE == pytest.approx(np.minimum(curve[:, 0], curve[:, 4:] @ PRICE))
    assert curve[:, 4:].sum(axis=1) == pytest.approx(np.ones(len(curve)))


def test_what_it_costs_to_know_by_hand() -> None:
    """The cheap arm has 20 rows, which tell nothing, so that s = .5, half the range of rewards; the
    dear one has 300 with a variance of .25: with pi = (0, 1), rho = 1 and q = (15/16, 1/16)
    a = 15/16 s for both, and n = a / sqrt(k) (a_0 2 + a_1) (t / (.05 V))^2 calls in all.
    """
    arm = np.tile(np.r_[np.zeros(15, np.int64), 1], 20)
    reward = np.where(arm == 1, 1.0, np.tile(np.arange(32) % 2, 10))
    log = BlockMeans.of(arm, reward, np.array([4.0, 1.0])[arm], n_arms=2)
    answer = find_savings(log)
    assert (answer.kind, answer.shares is not None and answer.shares.tolist()) == (
        "cannot tell", [0, 1],
    )  # fmt: skip
    assert answer.calls is not None
    dear = np.sqrt(300 * (log.row_variance[0] + 3 * (max(0.5, log.gain[0, 0]) / 300) ** 2))
    a = np.array([15 / 16 * dear, 15 / 16 * 0.5])
    n = a / [2, 1] * (2 * a[0] + a[1]) * (t_quantile(19, 0.95) / (0.05 * log.log_gain[0])) ** 2
    expected = np.maximum(0, n - [300, 0])
    assert answer.calls.counts == pytest.approx(expected, rel=0.01)
    assert answer.calls.price == pytest.approx(answer.calls.counts @ [4, 1])


def test_after_the_calls_that_were_asked_for_it_is_known() -> None:
    """The interval of G/V after them has about the width that was promised."""
    log = rows(600, seed=2, shares=[0.7, 0.1, 0.1, 0.1])
    answer = find_savings(log)
    assert answer.shares is not None
    assert answer.calls is not None
    counts = (log.rows + answer.calls.counts).astype(int)
    halves, misses = [], 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        arm = rng.permutation(np.repeat(np.arange(4), counts))
        reward = (rng.random(len(arm)) < QUALITY[arm]).astype(float)
        after = BlockMeans.of(arm, reward, PRICE[arm], n_arms=4, share=log.share)
        ratio = after.gain @ answer.shares / after.log_gain
        half = t_quantile(19, 0.95) * after.error(ratio)
        misses += abs(ratio[0] - QUALITY @ answer.shares / (QUALITY @ log.share)) > half
        halves.append(half)
    assert np.mean(halves) <= 1.2 * answer.calls.points
    assert misses <= 4


@pytest.mark.parametrize("shares", [None, [0.7, 0.1, 0.1, 0.1]])
def test_plain_logs_are_answered_and_the_saving_lies_in_its_interval(shares: Any) -> None:
    inside, good = [], []
    for seed in range(60):
        log = rows(2_000, seed, shares)
        answer = find_savings(log)
        if answer.kind == "less" and answer.shares is not None:
            saving = 1 - PRICE @ answer.shares / (PRICE @ log.share)
            inside.append(answer.saving[1] <= saving <= answer.saving[2])
            good.append(QUALITY @ answer.shares >= 0.97 * (QUALITY @ log.share))
    assert len(inside) >= 57
    assert sum(inside) >= 0.88 * len(inside)
    assert sum(good) >= 0.92 * len(good)


def test_refusals_say_why_and_what_it_costs() -> None:
    n = 2_000
    rng = np.random.default_rng(0)
    arm = rng.integers(4, size=n)
    u, price = rng.random(n), PRICE[arm]

    def asked(arm: Any, reward: Any, **more: Any) -> Savings:
        return find_savings(BlockMeans.of(arm, reward, PRICE[arm], n_arms=4, **more))

    few = asked(arm, (u < 0.5) * 1.0, session=np.arange(n) * 7 // n)
    assert (few.reason, few.calls) == ("it has fewer than eight sessions", None)
    assert "not clearly above 0" in asked(arm, np.where(u < 0.4, 1.0, -1.0)).reason
    order = np.argsort(arm, kind="stable")
    one_by_one = asked(arm[order], (u < QUALITY[arm])[order] * 1.0)
    assert "has enough rows all along it" in one_by_one.reason
    assert one_by_one.calls is not None
    assert one_by_one.calls.price > 0
    losses = asked(arm, np.where(u < 0.004 * np.array([1, 2, 4, 3])[arm], -40.0, 1.0))
    assert (losses.kind, "rewards carry it" in losses.reason) == ("cannot tell", True)
    assert losses.calls is not None
    assert losses.calls.price > 10 * price.sum()


def test_sessions_at_one_arm_without_their_column_are_noticed() -> None:
    """Fifty sessions of ten equal rows at a time, each at one arm: most such logs are refused."""
    reasons = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        session = np.concatenate(
            [rng.permutation(np.repeat(np.arange(50), 10)) + 50 * k for k in range(4)]
        )
        arm, u = rng.integers(4, size=200)[session], rng.random(200)[session]
        log = BlockMeans.of(arm, (u < QUALITY[arm]) * 1.0, PRICE[arm], n_arms=4)
        reasons.append(find_savings(log).reason)
    assert sum("name the column of sessions (--block)" in reason for reason in reasons) >= 4
    assert sum(reason == "" for reason in reasons) <= 4


def test_a_loss_that_was_never_seen_has_a_size_if_it_is_declared() -> None:
    arm = np.arange(2_000) % 2
    log = {"arm": arm, "reward": np.ones(2_000), "cost": np.array([5.0, 1.0])[arm], "n_arms": 2}
    assert find_savings(BlockMeans.of(**log)).kind == "less"
    assert find_savings(BlockMeans.of(**log, ends=(-1_000.0, 1.0))).kind == "cannot tell"


def test_sabotage_without_unseen_rows_a_rare_loss_is_missed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Arms lose 40 once in 250 to once in 62 times, and the log has 200 rows of the cheaper."""
    chance = 0.004 * np.array([1, 2, 4, 3])
    gains = 1 - 41 * chance

    def wrong() -> int:
        count = 0
        for seed in range(40):
            rng = np.random.default_rng(seed)
            arm = rng.choice(4, 2_000, p=[0.7, 0.1, 0.1, 0.1])
            reward = np.where(rng.random(2_000) < chance[arm], -40.0, 1.0)
            log = BlockMeans.of(arm, reward, PRICE[arm], n_arms=4)
            answer = find_savings(log)
            if answer.kind == "less" and answer.shares is not None:
                count += bool(answer.shares @ gains < 0.97 * log.share @ gains)
        return count

    assert wrong() == 0
    monkeypatch.setattr("purse.lab.replay.block_means._UNSEEN", 0.0)
    assert wrong() >= 2
