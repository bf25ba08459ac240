"""Estimates from logs: how good they are, and when there are none."""

import math
from typing import Any

import numpy as np
import polars as pl
import pytest

import purse
from purse.lab.data import question
from purse.lab.data.question import Question
from purse.lab.replay import estimates
from purse.lab.replay.estimates import _pooled, as_logged
from purse.lab.theory.estimate import LEVEL
from tests.support.replays import (
    ARM_COSTS,
    ARM_MEANS,
    EVEN_LOG,
    estimated,
    log_frame,
    log_of,
    sample_log,
)
from tests.support.soak import SOAK, scale

pytestmark = pytest.mark.usefixtures("few_replicates")


def steady(counts: list[int], rewards: list[float], costs: list[float]) -> pl.DataFrame:
    """A log of arms that always return and cost the same, chosen as often as their probabilities
    say.
    """
    arm = np.repeat(np.arange(len(counts)), counts)
    chances = np.array(counts) / sum(counts)
    return log_frame(arm, np.array(rewards)[arm], np.array(costs)[arm], chances[arm])


def test_where_nothing_is_random_the_estimate_is_the_simulation() -> None:
    log, game = steady([90, 60], [0.25, 1.0], [0.25, 1.0]), {"n_paths": 30, "seed": 3}
    found = estimated(log, policies=["uniform"], budgets=[20], **game, reward_range=(0, 1))
    world = purse.worlds.atoms([[1], [1]], [[0.25], [1]], [[0.25], [1]])
    run = purse.simulate("uniform", world, 20, **game)
    for row in found.frame().rows(named=True):
        assert row["refused"] is None
        assert row["estimate"] == pytest.approx(run.gain.mean(), rel=1e-12)


def test_refuses_who_plays_an_arm_that_was_never_or_hardly_logged() -> None:
    log = steady([90, 12], [0.25, 1.0], [0.25, 1.0])
    who = ["uniform", "fixed:arm=0", "fixed:arm=2"]
    found = estimated(log, policies=who, budgets=[5], n_paths=4, arms=["0", "1", "2"]).frame()
    assert found["refused"].to_list() == [
        "too few rows: plays arm '1', whose effective sample size is 12, below 30",
        None,
        "arm not logged: plays arm '2', which was never logged",
    ]
    assert found["ess"].to_list() == pytest.approx([0, 90, 0])


def binary(counts: list[int], ones: list[int]) -> pl.DataFrame:
    """A log of arms with so many rows, and so many rewards of 1 among them; each pull costs 1."""
    rewards = [np.arange(n) < k for n, k in zip(counts, ones, strict=True)]
    arm, chances = np.repeat(np.arange(len(counts)), counts), np.array(counts) / sum(counts)
    return log_frame(arm, np.concatenate(rewards), np.ones(len(arm)), chances[arm])


def test_few_rewards_have_wide_intervals_which_are_cut_at_the_range() -> None:
    who = ["fixed:arm=0", "fixed:arm=1", "fixed:arm=2", "uniform"]
    found = estimated(binary([200, 200, 100], [9, 10, 98]), policies=who, budgets=[100]).frame()
    for refused, *ends in found.select("refused", "low", "high").rows():
        assert refused is not None or 0 <= ends[0] < ends[1] <= 100
    assert found["refused"].to_list() == [None] * 4
    assert found["high"][2] == 100
    rare = estimated(binary([200], [0]), policies=who[:1], budgets=[100])
    # the rule of three: of 200 rows none paid, so that 100 may bring 1.73 t / 2
    assert rare.frame()["high"][0] == pytest.approx(100 * 3**0.5 * 2.093 / 200, rel=1e-3)


def test_a_policy_that_does_not_learn_is_a_sum() -> None:
    log = sample_log(800, 4).with_columns(cost=pl.lit(0.5))
    found = estimated(log, policies=["fixed:arm=2", "uniform"], budgets=[30.2], n_paths=200).frame()
    means = log_of(log).means()
    assert found["estimate"][0] == pytest.approx(60 * means[2])
    assert found["estimate"][1] == pytest.approx(60 * means.mean(), rel=0.01)  # pulls vary
    assert found["spent"].to_list() == pytest.approx([30, 30])
    assert found["rounds"].to_list() == [60, 60]


def test_the_same_seed_gives_the_same_numbers_whatever_the_number_of_threads() -> None:
    game: dict[str, Any] = {"policies": ["uniform"], "budgets": [20, 30], "n_paths": 10}
    one, two, other = (
        estimated(sample_log(600, 3), **game, seed=seed, n_workers=n).frame()
        for seed, n in ((8, 1), (8, 3), (9, None))
    )
    assert one.equals(two)
    assert not one.equals(other)


def test_effective_sample_size_of_a_policy() -> None:
    assert _pooled(np.array([5, 5]), np.array([100.0, 100.0])) == pytest.approx(200)
    assert _pooled(np.array([9, 0]), np.array([100.0, 0.0])) == pytest.approx(100)
    assert _pooled(np.array([9, 1]), np.array([100.0, 0.0])) == 0
    assert _pooled(np.array([0, 0]), np.array([100.0, 100.0])) == 0


def test_results_for_people_and_about_arms() -> None:
    log = sample_log(600, 4).with_columns(probability=pl.lit(1.0))
    found = estimated(log, policies=["uniform"], budgets=[20], n_paths=10)
    head, answer, *_, columns, line = str(found).partition("\n\nThe 95%")[0].splitlines()
    assert head == "frame: 600 logged rounds of 3 arms; no limit on rounds"
    assert (
        answer == "The log contradicts its probabilities (of 0, 1 and 2), so do not rely on this:"
    )
    assert columns.split() == ["budget", "20", "estimate", "±", "95%", "rounds", "spent", "less"]
    assert line.split()[0] == "uniform"
    assert all(len(each) <= 80 for each in str(found).splitlines())
    assert [text[32:35] for text in found.warnings] == ["'0'", "'1'", "'2'"]
    assert found.arms().columns == ["arm", "rows", "ess", "reward", "cost", "weight", "doubt"]
    assert found.arms()["cost"].to_list() == pytest.approx(ARM_COSTS.tolist())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"policies": []}, "policies="),
        ({"policies": ["oracle"]}, "oracle needs the true mean efficiency"),
        ({"budgets": [0]}, "budget="),
        ({"budgets": []}, "budgets="),
        ({"n_paths": 1}, "n_paths=1"),
        ({"horizon": 0}, "horizon=0"),
        ({"n_workers": 0}, "n_workers=0"),
    ],
    ids=str,
)
def test_refuses_bad_input_by_name(options: dict[str, Any], message: str) -> None:
    given: dict[str, Any] = {"data": sample_log(50, 0), "policies": ["uniform"], "budgets": [10]}
    with pytest.raises(purse.InvalidInput, match=message):
        estimated(**given | options)


def test_intervals_hold_the_truth_as_often_as_they_say(monkeypatch: pytest.MonkeyPatch) -> None:
    """A learner and thirty logs in soak, and uniform play with eight else; the large version is
    research/evidence/coverage.py.
    """
    monkeypatch.setattr(question, "_REPLICATES", 40)
    n_logs, budget = scale(8, 30), 30.0
    world = purse.worlds.bernoulli(rewards=ARM_MEANS, costs=ARM_COSTS)
    truths = {
        policy: float(purse.simulate(policy, world, budget, n_paths=20_000, seed=1).gain.mean())
        for policy in ("uniform", *(["exp3.bwk"] if SOAK else []))
    }
    inside = np.zeros((n_logs, len(truths)))
    for number in range(n_logs):
        found = estimated(
            sample_log(1_000, 100 + number),
            policies=list(truths),
            budgets=budget,
            n_paths=scale(30, 100),
            seed=number,
            reward_range=(0, 1),
        ).frame()
        assert found["refused"].null_count() == len(found)
        inside[number] = [
            low <= truths[policy] <= high
            for policy, low, high in found.select("policy", "low", "high").rows()
        ]
    assert inside.mean(axis=0).min() >= LEVEL - 3 * math.sqrt(LEVEL * (1 - LEVEL) / n_logs)


def logged(budget: float, horizon: int | None) -> Any:
    asked = Question(budgets=[budget], replicates=20, horizon=horizon or "none")
    (answer,) = as_logged(log_of(EVEN_LOG, **vars(asked)), asked)
    return answer


def test_the_rows_in_their_order_until_one_cannot_be_paid_or_the_game_ends() -> None:
    found = logged(10, None)
    # a, b, a, b, a, b cost 9, and the next a the last unit
    assert (found.estimate.mean, found.spent.mean, found.rounds) == (13, 10, 7)
    assert found.estimate.low < 13 < found.estimate.high
    assert logged(10, 3).estimate.mean == 5
    assert logged(1_000, len(EVEN_LOG)).estimate.mean == EVEN_LOG["reward"].sum()
    assert logged(0.5, None).estimate.mean == 0


@pytest.mark.parametrize("horizon", [None, len(EVEN_LOG) + 1])
def test_a_log_that_ends_before_the_game_is_too_short(horizon: int | None) -> None:
    assert logged(1_000, horizon).refused == "log too short: it ends with 700 of the budget left"


def test_a_log_is_compiled_once_for_all_players_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    keys: list[str] = []
    monkeypatch.setattr(
        estimates, "warm_up_all", lambda jobs, recipes, bar, workers: keys.extend(jobs)
    )
    game: dict[str, Any] = {"budgets": 5, "n_paths": 2, "replicates": 2, "references": True}
    estimated(EVEN_LOG, policies=["uniform"], **game)
    assert keys == ["uniform", "fixed:arm=0"]
