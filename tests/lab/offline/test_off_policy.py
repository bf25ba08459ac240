from __future__ import annotations

import math
from typing import Any

import numpy as np
import polars as pl
import pytest

import purse
from purse.base.progress import Progress
from purse.engine.job import make_job
from purse.lab.offline import bootstrap
from purse.lab.offline.bootstrap import with_log_error
from purse.lab.offline.estimates import pooled
from purse.lab.offline.log import read_log
from purse.lab.offline.log_worlds import make_model, make_queues
from purse.lab.offline.off_policy import estimate_log
from purse.lab.offline.question import METHODS, Question
from purse.lab.offline.source import read
from purse.lab.theory.estimate import LEVEL
from tests.support.soak import SOAK, scale

MEANS, COSTS = np.array([0.3, 0.5, 0.6]), np.array([0.3, 0.4, 0.9])
LOGGER = np.array([[0.6, 0.2, 0.2], [0.2, 0.5, 0.3]])  # by a context that the log does not show
SWING = np.array([0.25, -0.2, 0.0])  # what the context adds to the means


def log_of(arm: Any, reward: Any, cost: Any, probability: Any) -> pl.DataFrame:
    columns = {"arm": arm, "reward": reward, "cost": cost, "probability": probability}
    return pl.DataFrame(columns).cast({"reward": pl.Float64})


def sample(n: int, seed: int, logger: Any = LOGGER) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    context = rng.integers(2, size=n)
    arm = (rng.random(n)[:, None] > np.asarray(logger)[context].cumsum(axis=1)[:, :2]).sum(axis=1)
    reward = rng.random(n) < MEANS[arm] + np.where(context == 0, 1, -1) * SWING[arm]
    return log_of(arm, reward, COSTS[arm], np.asarray(logger)[context, arm])


def steady(counts: list[int], rewards: list[float], costs: list[float]) -> pl.DataFrame:
    """A log of arms that always return and cost the same, chosen as often as their probabilities
    say.
    """
    arm = np.repeat(np.arange(len(counts)), counts)
    chances = np.array(counts) / sum(counts)
    return log_of(arm, np.array(rewards)[arm], np.array(costs)[arm], chances[arm])


def test_where_nothing_is_random_every_method_is_the_simulation() -> None:
    log, game = steady([90, 60], [0.25, 1.0], [0.25, 1.0]), {"n_paths": 30, "seed": 3}
    found = estimate_log(log, policies=["uniform"], budgets=[20], **game, reward_range=(0, 1))
    world = purse.worlds.atoms([[1], [1]], [[0.25], [1]], [[0.25], [1]])
    run = purse.simulate("uniform", world, 20, **game)
    for row in found.frame().rows(named=True):
        assert row["refused"] is None
        assert row["estimate"] == pytest.approx(run.gain.mean(), rel=1e-12)
        if row["method"] == "replay":
            assert row["error"] >= run.gain.std(ddof=1) / math.sqrt(30) - 1e-12


def test_replay_takes_each_row_once_a_path() -> None:
    rewards = 2.0 ** -np.arange(40)
    ones = np.ones(40)
    queues = make_queues(
        read_log(read(log_of([0] * 40, rewards, ones, ones)), Question(reward_range=(0, 1)))
    )
    job = make_job("fixed:arm=0", queues.world(queues.once()), 39)
    found = purse.engine.simulate.play(job, 50, n_workers=1, shown=Progress(""))
    left_out = rewards.sum() - found.gain
    assert np.isin(left_out.round(12), rewards.round(12)).all()
    assert len(np.unique(left_out.round(12))) > 10


def test_a_thinned_queue_is_a_fair_sample_although_the_choice_looked_at_the_outcome() -> None:
    n, rng = 4_000, np.random.default_rng(5)
    reward = rng.random(n) < 0.3
    chance = np.where(reward, 0.9, 0.3)
    arm = (rng.random(n) > chance).astype(int)
    first = arm == 0
    log = log_of(arm, np.where(first, reward, 0), np.ones(n), np.where(first, chance, 1 - chance))
    game: dict[str, Any] = {"policies": ["fixed:arm=0"], "budgets": [200], "n_paths": 100}
    found = estimate_log(log, **game, methods=["replay", "snips"])
    assert log.filter(pl.col("arm") == 0)["reward"].mean() > 0.5
    for low, high in found.frame().select("low", "high").rows():
        assert low < 200 * 0.3 < high


def test_replay_is_refused_where_the_log_is_too_short_and_only_there() -> None:
    log = steady([90, 60], [0.25, 1.0], [0.25, 1.0])
    found = estimate_log(log, policies=["fixed:arm=1"], budgets=[50, 60, 70], n_paths=4)
    assert found.frame().filter(method="replay")["refused"].to_list() == [
        None,
        # the pull that ends the game needs a row too
        *["log too short: a game needs more rounds of arm '1' than the 60 that can be replayed"]
        * 2,
    ]
    refused = found.frame().filter(pl.col("refused").is_not_null())
    assert refused.select("estimate", "error", "low", "high").null_count().row(0) == (2, 2, 2, 2)
    assert found.frame().filter(method="snips")["estimate"].to_list() == pytest.approx([50, 60, 70])
    assert "log too short: replay plays each logged row at most once" in str(found)


def test_refuses_who_plays_an_arm_that_was_never_or_hardly_logged() -> None:
    log = steady([90, 12], [0.25, 1.0], [0.25, 1.0])
    who = ["uniform", "fixed:arm=0", "fixed:arm=2"]
    found = estimate_log(
        log, policies=who, budgets=[5], n_paths=4, methods=["snips"], arms=["0", "1", "2"]
    ).frame()
    assert found["refused"].to_list() == [
        "too few rows: plays arm '1', whose effective sample size is 12, below 30",
        None,
        "arm not logged: plays arm '2', which was never logged",
    ]
    assert found["ess"].to_list() == pytest.approx([0, 90, 0])


def test_gains_are_in_the_unit_of_the_log() -> None:
    log = sample(1_000, 1)
    moved = log.with_columns(reward=7 * pl.col("reward") - 3)
    options: dict[str, Any] = {"policies": ["uniform"], "n_paths": 20}
    plain, other = (estimate_log(each, budgets=[40], **options).frame() for each in (log, moved))
    # a policy that learns sees the same rewards
    ours, theirs = (read_log(read(each), Question()) for each in (log, moved))
    np.testing.assert_allclose(ours.inside, theirs.inside, rtol=1e-12)
    model = make_model(ours)
    pulls = purse.simulate("uniform", model.world, 40, n_paths=20).pulls.sum(axis=1).mean()
    for method in ("snips", "dr"):
        (here,), (there,) = (
            frame.filter(method=method)["estimate"].to_list() for frame in (plain, other)
        )
        assert there == pytest.approx(7 * here - 3 * pulls, rel=1e-9)


def test_the_order_of_the_rows_matters_to_replay_alone() -> None:
    log = sample(1_000, 2)
    options: dict[str, Any] = {"policies": ["uniform"], "budgets": [40], "n_paths": 20}
    here, there = (
        estimate_log(each, **options).frame()
        for each in (log, log.sample(fraction=1, shuffle=True, seed=1))
    )
    same = here["estimate"].is_close(there["estimate"], rel_tol=1e-9)
    alike = {"replay": False, "ips": True, "snips": True, "dr": True}
    assert dict(zip(here["method"], same, strict=True)) == alike


def test_the_same_seed_gives_the_same_numbers_whatever_the_number_of_threads() -> None:
    game: dict[str, Any] = {"policies": ["uniform"], "budgets": [20, 30], "n_paths": 10}
    one, two, other = (
        estimate_log(sample(600, 3), **game, seed=seed, n_workers=n).frame()
        for seed, n in ((8, 1), (8, 3), (9, None))
    )
    assert one.equals(two)
    assert not one.equals(other)


def test_with_a_horizon_the_game_ends_there() -> None:
    log = steady([90, 60], [2.0, 1.0], [0.0, 1.0])
    found = estimate_log(log, policies=["fixed:arm=0"], budgets=[5], horizon=30, n_paths=4).frame()
    assert found["estimate"].to_list() == pytest.approx([60.0] * 4)
    errors = found.filter(pl.col("method") != "ips")["error"].to_list()
    assert errors == pytest.approx([0, 0, 0], abs=1e-9)


def test_the_error_holds_the_log_and_the_simulation_by_hand() -> None:
    values, redone = np.array([1.0, 3.0]), np.array([[0.0, 2.0], [4.0, 6.0], [8.0, 10.0]])
    found = with_log_error(values, redone)
    assert found.mean == 2
    # between 1, 5, 9: 16; within: 2
    assert found.error == pytest.approx(math.sqrt((16 - 2 / 2) + 2 / 2))
    assert found.high - found.mean == pytest.approx(4.302652729911275 * found.error)
    assert with_log_error(values, np.array([[0.0, 2.0], [0.0, 2.0]])).error == pytest.approx(1)


def test_replicates_do_not_follow_the_numbers_that_made_the_log() -> None:
    model = make_model(read_log(read(sample(3_000, 0)), Question()))
    rows = model.log.rows
    replicates = (model.redrawn(bootstrap.generator(0, number)) for number in range(100))
    redrawn = np.array([model.log.sums(counts) for counts in replicates])
    assert np.abs((redrawn - rows) / np.sqrt(rows * (1 - rows / 3_000))).max() < 5


def test_effective_sample_size_of_a_policy() -> None:
    assert pooled(np.array([5, 5]), np.array([100.0, 100.0])) == pytest.approx(200)
    assert pooled(np.array([9, 0]), np.array([100.0, 0.0])) == pytest.approx(100)
    assert pooled(np.array([9, 1]), np.array([100.0, 0.0])) == 0
    assert pooled(np.array([0, 0]), np.array([100.0, 100.0])) == 0


def test_results_for_people_and_about_arms() -> None:
    log = sample(600, 4).with_columns(probability=pl.lit(1.0))
    found = estimate_log(log, policies=["uniform"], budgets=[20], n_paths=10)
    head, answer, *_, blank, columns, line = str(found).partition("\n\nThe 95%")[0].splitlines()
    assert head == "frame: 600 logged rounds of 3 arms; no limit on rounds"
    assert answer.startswith("uniform is estimated to gain ")
    assert blank == ""
    assert columns.split() == ["budget", "20", "estimate", "±", "95%", "replay", "rounds", "spent"]
    assert line.split()[0] == "uniform"
    assert all(len(each) <= 80 for each in str(found).splitlines())
    assert len(found.warnings) == 3
    assert found.warnings[0].startswith("frame: the probabilities of arm '0' contradict")
    assert found.arms().columns == ["arm", "rows", "ess", "reward", "cost", "weight", "doubt"]
    assert found.arms()["cost"].to_list() == pytest.approx(COSTS.tolist())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"policies": []}, "policies="),
        ({"policies": ["unifrom"]}, "did you mean 'uniform'"),
        ({"policies": ["oracle"]}, "oracle needs the true mean efficiency"),
        ({"budgets": [0]}, "budget="),
        ({"budgets": []}, "budgets="),
        ({"methods": ["mips"]}, "methods='mips': must be one of"),
        ({"n_paths": 1}, "n_paths=1"),
        ({"horizon": 0}, "horizon=0"),
        ({"n_workers": 0}, "n_workers=0"),
        ({"cost": "price"}, "frame has no column 'price'"),
    ],
    ids=str,
)
def test_refuses_bad_input_by_name(options: dict[str, Any], message: str) -> None:
    given: dict[str, Any] = {"data": sample(50, 0), "policies": ["uniform"], "budgets": [10]}
    with pytest.raises(purse.InvalidInput, match=message):
        estimate_log(**given | options)


def test_intervals_hold_the_truth_as_often_as_they_say(monkeypatch: pytest.MonkeyPatch) -> None:
    """A learner and thirty logs in soak, and uniform play with eight else; the large version is
    benchmarks/coverage.py.
    """
    monkeypatch.setattr(bootstrap, "REPLICATES", 40)
    n_logs, budget = scale(8, 30), 30.0
    world = purse.worlds.bernoulli(rewards=MEANS, costs=COSTS)
    truths = {
        policy: float(purse.simulate(policy, world, budget, n_paths=20_000, seed=1).gain.mean())
        for policy in ("uniform", *(["exp3.bwk"] if SOAK else []))
    }
    inside = np.zeros((n_logs, len(truths) * len(METHODS)))
    for number in range(n_logs):
        log, game = sample(1_000, 100 + number), {"budgets": [budget], "n_paths": scale(30, 100)}
        found = estimate_log(
            log, policies=list(truths), **game, seed=number, reward_range=(0, 1)
        ).frame()
        assert found["refused"].null_count() == len(found)
        inside[number] = [
            low <= truths[policy] <= high
            for policy, low, high in found.select("policy", "low", "high").rows()
        ]
    assert inside.mean(axis=0).min() >= LEVEL - 3 * math.sqrt(LEVEL * (1 - LEVEL) / n_logs)
