import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import purse
from purse.lab.data import question
from purse.lab.replay.context_world import effective_rows, make_context_world, regression_of
from purse.lab.theory.estimate import LEVEL
from purse.types import Floats, World
from purse.worlds._tables import bernoulli_atoms, make_world
from tests.support import greedy_contexts
from tests.support.campaigns import made
from tests.support.replays import estimated, log_of
from tests.support.soak import scale

GREEDY = str(Path(greedy_contexts.__file__))
STATIC = f"{GREEDY}:epsilon=0,price=0,slope=1,learn=0"  # the last arm where x > 0, else the first
ROWS, T = 256, 60
FEATURES = {"x": (-1, 1)}
TOLD: dict[str, Any] = {"cost_min": 0.1, "cost_max": 1, "reward_range": (0, 1)}
LOGGER = np.array([[0.5, 0.3, 0.2], [0.2, 0.3, 0.5]])  # by the sign of x


def place() -> tuple[Floats, Floats, Floats]:
    """Contexts, mean rewards and costs: what a round may be."""
    x = np.linspace(-1, 1, ROWS)
    means = 0.5 + np.outer(x, [-0.4, 0.1, 0.4])
    return x, means, np.tile([0.3, 0.2, 0.4], (ROWS, 1)) * (1 + 0.5 * np.abs(x))[:, None]


def world() -> World:
    x, means, costs = place()
    units = np.rint(costs * 1e9).astype(np.int64)[:, :, None]
    last = np.arange(1, ROWS + 1)
    return make_world(
        "true",
        *bernoulli_atoms(means, units),
        last=last,
        sample=True,
        features=x[:, None],
        horizon=T,
    )


def sample(n: int, seed: int, logger: Floats = LOGGER) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    x, means, costs = place()
    row = rng.integers(ROWS, size=n)
    chances = logger[(x[row] > 0).astype(int)]
    arm = (rng.random(n)[:, None] > chances.cumsum(axis=1)[:, :2]).sum(axis=1)
    return pl.DataFrame(
        {
            "x": x[row],
            "arm": arm,
            "reward": (rng.random(n) < means[row, arm]).astype(float),
            "cost": costs[row, arm],
            "probability": chances[np.arange(n), arm],
        }
    )


def ask(log: pl.DataFrame, policy: str, budget: float = 15.0, **options: Any) -> pl.DataFrame:
    game: dict[str, Any] = {"n_paths": 100, "horizon": T, "features": FEATURES}
    found = estimated(log, policies=[policy], budgets=[budget], **TOLD | game | options)
    return found.frame()


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(question, "_REPLICATES", 20)


def test_a_policy_that_does_not_learn_has_the_estimate_of_the_formula(few: None) -> None:
    log, n_paths = sample(400, 1), 2_000
    found = ask(log, STATIC, 1_000.0, n_paths=n_paths)
    assert found["refused"].null_count() == 1
    read_in = log_of(log, **TOLD, horizon=T, features=FEATURES)
    logged = make_context_world(read_in)
    x, weight, arm = logged.features[:, 0, 0], logged.weight, logged.arm
    wanted = np.where(x > 0, 2, 0)
    same, costs = wanted == arm, logged.costs[:, 0] / 1e9
    assert np.count_nonzero(same) not in (0, 400)
    for column, values in (("estimate", logged.values), ("spent", costs)):
        exact = T * (weight * same * values).sum() / (weight * same).sum()
        # a round's credit varies by about a weight: with 4 standard errors
        assert found[column][0] == pytest.approx(exact, abs=4 * 3 * (T / n_paths) ** 0.5)
        assert found[column][0] == pytest.approx(exact, rel=0.03)


def test_the_estimates_of_a_policy_that_learns_hold_the_truth(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The large version is research/evidence/context_coverage.py."""
    monkeypatch.setattr(question, "_REPLICATES", 40)
    n_logs = scale(4, 10)
    n_paths = scale(4_000, 20_000)
    run = purse.simulate(GREEDY, world(), 15, n_paths=n_paths, seed=1, stop="retry", **{
        name: TOLD[name] for name in ("cost_min", "cost_max")
    })  # fmt: skip
    truths = {"estimate": run.gain.mean(), "spent": run.spent.mean()}
    found = pl.concat(ask(sample(600, 50 + seed), GREEDY, seed=seed) for seed in range(n_logs))
    assert found["refused"].null_count() == len(found)
    errors = (found["estimate"] - truths["estimate"]) / found["error"]
    held = errors.abs() < 2
    assert held.mean() >= LEVEL - 3 * math.sqrt(LEVEL * (1 - LEVEL) / n_logs)
    assert abs(float(errors.mean())) < 4 / math.sqrt(n_logs)
    assert found["spent"].mean() == pytest.approx(truths["spent"], rel=0.03)


def test_blind_policies_have_the_same_estimates_with_features_and_without(few: None) -> None:
    log = sample(300, 3)
    with_features, without = (
        ask(log, "uniform", features=features) for features in (FEATURES, None)
    )
    assert with_features.equals(without)
    assert with_features["refused"].null_count() == 1


@pytest.mark.parametrize(
    ("logger", "policy", "options", "message"),
    [
        (
            LOGGER,
            GREEDY,
            {"arms": ["0", "1", "2", "3"]},
            "arm not logged: plays arm '3', which was never logged",
        ),
        (
            np.array([[0.5, 0.49, 0.01]] * 2),
            GREEDY,
            {},
            "too few rows: plays arm '2', whose effective sample size is 6, below 30",
        ),
        # never the last arm where the policy wants it mostly
        (
            np.array([[0.4, 0.2, 0.4], [0.3, 0.7, 0.0]]),
            f"{GREEDY}:epsilon=0.3,price=0,slope=1,learn=0",
            {},
            "not in the log: wants arms in contexts in which the log never chose them",
        ),
        (
            np.array([[0.0, 0.5, 0.5], [0.5, 0.5, 0.0]]),
            STATIC,
            {},
            "not in the log: wants an arm that none of 10,000 rows has",
        ),
    ],
    ids=str,
)
def test_refuses_what_the_log_cannot_tell(
    few: None, logger: Floats, policy: str, options: dict[str, Any], message: str
) -> None:
    found = ask(sample(500, 5, logger), policy, n_paths=20, **options)
    for refused in found["refused"]:
        assert refused is not None
        assert refused.startswith(message)
        assert "\n" not in refused
    assert found["estimate"].null_count() == found["spent"].null_count() == len(found)


def test_an_arm_that_was_not_always_allowed_stands_for_all_rounds() -> None:
    log = log_of(sample(200, 9), **TOLD, horizon=T, features=FEATURES)
    masked = replace(log, rounds=np.array([200.0, 100.0, 200.0]))
    before, after = (make_context_world(each) for each in (log, masked))
    times = np.array([1, 2, 1])[before.arm]
    np.testing.assert_allclose(after.weight, times * before.weight)
    # rows that are visited less often tell less
    assert effective_rows(np.array([90, 10])) == pytest.approx(100 * 99 / (90 * 89 + 10 * 9))


def test_threads_change_nothing_and_features_of_each_arm_are_read(few: None) -> None:
    log = sample(300, 7)
    own = log.rename({"x": "x_0"}).with_columns(x_1=-pl.col("x_0"), x_2=pl.col("x_0"))
    options: dict[str, Any] = {"per_arm": True, "n_paths": 20, "features": ["x"]}
    one, two = (ask(own, GREEDY, **options, n_workers=workers) for workers in (1, 3))
    assert one.equals(two)
    assert one["refused"].null_count() == 1
    read_in = log_of(own, features="x", per_arm=True)
    assert read_in.contexts is not None
    assert read_in.contexts.values.shape == (300, 3, 1)
    np.testing.assert_allclose(
        read_in.contexts.values[:, 0, 0], -read_in.contexts.values[:, 1, 0], atol=1e-6
    )


def test_a_row_that_counts_twice_is_a_row_given_twice() -> None:
    rng = np.random.default_rng(2)
    contexts = np.column_stack([rng.uniform(-1, 1, 40), np.ones(40)])[:, None]
    arm, values, once = np.arange(40) % 2, rng.random((40, 2)), np.ones(40, np.int64)
    twice = regression_of(contexts, arm, values, once + (np.arange(40) == 39), 2)
    more = [np.append(each, each[39:], axis=0) for each in (contexts, arm, values)]
    given = regression_of(more[0], more[1], more[2], np.ones(41, np.int64), 2)
    for one, other in zip(twice, given, strict=True):
        np.testing.assert_array_equal(one, other)


def test_the_journal_of_a_campaign_is_replayed_with_its_contexts(tmp_path: Path, few: None) -> None:
    arms = {"left": -1, "middle": 0, "right": 1}
    campaign = made(
        arms=dict.fromkeys(arms, 1),
        budget=600,
        cost_min=0.5,
        horizon=600,
        explore=0.5,
        features=FEATURES,
        map="fourier:3",  # after the number that the policy looks at
    )
    rng, contexts = np.random.default_rng(3), np.random.default_rng(4).uniform(-1, 1, (600, 1))
    tickets = campaign.ask_many(600, contexts=contexts.tolist())
    signs = np.array([arms[str(ticket.arm)] for ticket in tickets])
    wins = rng.random(600) < 0.5 + 0.45 * contexts[:, 0] * signs
    campaign.tell_many([(ticket, float(won), 1) for ticket, won in zip(tickets, wins, strict=True)])
    export, bare = tmp_path / "own.jsonl", tmp_path / "bare.jsonl"
    campaign.export(export)
    campaign.export(bare, contexts=False)
    game: dict[str, Any] = {"budgets": 100, "n_paths": 200, "stop": "retry"}  # as above
    found = purse.replay(export, policies=[STATIC, "fixed:arm=1"], **game)
    assert "features: x (-1 to 1); map fourier:3,seed=0" in str(found)
    static, blind = found.frame().sort("estimate", descending=True).rows(named=True)
    # the better arm by the sign of x gains 0.5 + 0.45 / 2 a round
    assert static["low"] < 72.5 < static["high"]
    assert blind["low"] < 50 < blind["high"]
    assert static["low"] > blind["estimate"]
    without = purse.replay(bare, policies="fixed:arm=1", **game)
    assert "features" not in str(without)
    assert without.frame()["estimate"][0] == blind["estimate"]
