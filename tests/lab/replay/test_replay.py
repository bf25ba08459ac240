"""Replays of logs: what is estimated, how sure that is, what is printed, and what is compiled."""

from __future__ import annotations

import math
import pickle
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import polars as pl
import pytest

import purse
from purse.base.progress import Progress
from purse.compiler.jit import code_folder
from purse.engine import cpu
from purse.engine.job import make_job
from purse.lab.data import question
from purse.lab.data.log import read_log
from purse.lab.data.question import METHODS, Question
from purse.lab.data.source import read
from purse.lab.replay import bootstrap, estimates, log_worlds, warm
from purse.lab.replay.bootstrap import with_log_error
from purse.lab.replay.certain_game import certain_game
from purse.lab.replay.estimates import _pooled, as_logged
from purse.lab.replay.log_result import LogResult
from purse.lab.replay.log_worlds import make_model, make_queues
from purse.lab.replay.off_policy import estimate_log
from purse.lab.replay.table_replay import TableReplay
from purse.lab.study.compile_ahead import Task
from purse.lab.study.manifest import Recording
from purse.lab.theory.estimate import LEVEL
from tests.support.soak import SOAK, scale

MEANS, COSTS = np.array([0.3, 0.5, 0.6]), np.array([0.3, 0.4, 0.9])
LOGGER = np.array([[0.6, 0.2, 0.2], [0.2, 0.5, 0.3]])  # by a context that the log does not show
SWING = np.array([0.25, -0.2, 0.0])  # what the context adds to the means


@pytest.fixture(scope="module", autouse=True)
def few_replicates() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(question, "_REPLICATES", 10)
        yield


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


def binary(counts: list[int], ones: list[int]) -> pl.DataFrame:
    """A log of arms with so many rows, and so many rewards of 1 among them; each pull costs 1."""
    rewards = [np.arange(n) < k for n, k in zip(counts, ones, strict=True)]
    arm, chances = np.repeat(np.arange(len(counts)), counts), np.array(counts) / sum(counts)
    return log_of(arm, np.concatenate(rewards), np.ones(len(arm)), chances[arm])


def test_refuses_who_draws_few_rewards_and_cuts_intervals_at_the_range() -> None:
    who = ["fixed:arm=0", "fixed:arm=1", "fixed:arm=2", "uniform"]
    found = estimate_log(binary([200, 200, 100], [9, 10, 98]), policies=who, budgets=[100]).frame()
    for refused, *ends in found.filter(method="snips").select("refused", "low", "high").rows():
        assert refused is not None or 0 <= ends[0] < ends[1] <= 100
    found = found.filter(method="snips")
    few = "too few rewards: the nonzero rewards of the rows that it plays count as 9, below 10"
    assert found["refused"].to_list() == [few, None, None, None]
    assert found["high"][2] == 100
    assert (
        estimate_log(binary([200], [0]), policies=who[:1], budgets=[100], methods=["snips"])
        .frame()["refused"][0]
        .startswith("too few rewards")
    )


def test_a_policy_that_does_not_learn_is_a_sum() -> None:
    log, game = sample(800, 4), {"methods": ["snips", "dr"], "n_paths": 2}
    log = log.with_columns(cost=pl.lit(0.5))
    found = estimate_log(log, policies=["uniform", "fixed:arm=2"], budgets=[30.2], **game).frame()
    table = read_log(read(log), Question())
    model = make_model(table)
    for method in ("snips", "dr"):
        means = model.means(method, model.once())
        expected = [60 * means.mean(), 60 * means[2]]
        here = found.filter(method=method)
        assert here["estimate"].to_list() == pytest.approx(expected)
        assert here["spent"].to_list() == pytest.approx([30, 30])
        assert here["rounds"].to_list() == [60, 60]


def test_a_game_is_certain_if_its_money_cannot_run_out_before_its_rounds() -> None:
    world = make_model(read_log(read(sample(800, 4)), Question(horizon=40))).world
    for policy, budget, pulls in (
        ("uniform", 36, [40 / 3] * 3),
        ("fixed:arm=1", 16, [0, 40, 0]),
        ("fixed:arm=1", 7.9, [0, 19, 0]),
        ("uniform", 35.9, None),  # 40 pulls of the dearest arm cost 36
        ("exp3.bwk", 36, None),
    ):
        game = certain_game(make_job(policy, world, budget))
        assert (game and game.pulls.tolist()) == (pulls and pytest.approx(pulls))


def test_the_same_seed_gives_the_same_numbers_whatever_the_number_of_threads() -> None:
    game: dict[str, Any] = {"policies": ["uniform"], "budgets": [20, 30], "n_paths": 10}
    one, two, other = (
        estimate_log(sample(600, 3), **game, seed=seed, n_workers=n).frame()
        for seed, n in ((8, 1), (8, 3), (9, None))
    )
    assert one.equals(two)
    assert not one.equals(other)


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
    assert _pooled(np.array([5, 5]), np.array([100.0, 100.0])) == pytest.approx(200)
    assert _pooled(np.array([9, 0]), np.array([100.0, 0.0])) == pytest.approx(100)
    assert _pooled(np.array([9, 1]), np.array([100.0, 0.0])) == 0
    assert _pooled(np.array([0, 0]), np.array([100.0, 100.0])) == 0


def test_results_for_people_and_about_arms() -> None:
    log = sample(600, 4).with_columns(probability=pl.lit(1.0))
    found = estimate_log(log, policies=["uniform"], budgets=[20], n_paths=10)
    head, answer, *_, columns, line = str(found).partition("\n\nThe 95%")[0].splitlines()
    assert head == "frame: 600 logged rounds of 3 arms; no limit on rounds"
    assert (
        answer == "The log contradicts its probabilities (of 0, 1 and 2), so do not rely on this:"
    )
    assert columns.split() == [
        "budget",
        "20",
        "estimate",
        "±",
        "95%",
        "replay",
        "rounds",
        "spent",
        "less",
    ]
    assert line.split()[0] == "uniform"
    assert all(len(each) <= 80 for each in str(found).splitlines())
    assert [text[32:35] for text in found.warnings] == ["'0'", "'1'", "'2'"]
    assert found.arms().columns == ["arm", "rows", "ess", "reward", "cost", "weight", "doubt"]
    assert found.arms()["cost"].to_list() == pytest.approx(COSTS.tolist())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"policies": []}, "policies="),
        ({"policies": ["oracle"]}, "oracle needs the true mean efficiency"),
        ({"budgets": [0]}, "budget="),
        ({"budgets": []}, "budgets="),
        ({"methods": ["mips"]}, "methods='mips': must be one of"),
        ({"n_paths": 1}, "n_paths=1"),
        ({"horizon": 0}, "horizon=0"),
        ({"n_workers": 0}, "n_workers=0"),
    ],
    ids=str,
)
def test_refuses_bad_input_by_name(options: dict[str, Any], message: str) -> None:
    given: dict[str, Any] = {"data": sample(50, 0), "policies": ["uniform"], "budgets": [10]}
    with pytest.raises(purse.InvalidInput, match=message):
        estimate_log(**given | options)


def test_intervals_hold_the_truth_as_often_as_they_say(monkeypatch: pytest.MonkeyPatch) -> None:
    """A learner and thirty logs in soak, and uniform play with eight else; the large version is
    research/evidence/coverage.py.
    """
    monkeypatch.setattr(question, "_REPLICATES", 40)
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


# as users call them


TABLE = "round,arm,reward,cost\n" + "".join(
    f"{t},a&b,{t % 2},1\n{t},large,3,2\n" for t in range(12)
)
ROWS = 200
LOG = pl.DataFrame(
    {
        "arm": ["a", "b"] * (ROWS // 2),
        "reward": [1.0, 3.0] * (ROWS // 2),
        "cost": [1, 2] * (ROWS // 2),
        "probability": 0.5,
    }
)


def logged(budget: float, horizon: int | None) -> Any:
    asked = Question(budgets=[budget], methods=["snips"], replicates=20, horizon=horizon)
    (answer,) = as_logged(read_log(read(LOG), asked), asked)
    return answer


def test_the_rows_in_their_order_until_one_cannot_be_paid_or_the_game_ends() -> None:
    found = logged(10, None)
    # a, b, a, b, a, b cost 9, and the next a the last unit
    assert (found.estimate.mean, found.spent.mean, found.rounds) == (13, 10, 7)
    assert found.estimate.low < 13 < found.estimate.high
    assert logged(10, 3).estimate.mean == 5
    assert logged(1_000, ROWS).estimate.mean == LOG["reward"].sum()
    assert logged(0.5, None).estimate.mean == 0


@pytest.mark.parametrize("horizon", [None, ROWS + 1])
def test_a_log_that_ends_before_the_game_is_too_short(horizon: int | None) -> None:
    assert logged(1_000, horizon).refused == "log too short: it ends with 700 of the budget left"


@pytest.fixture(scope="module")
def found() -> LogResult:
    result = purse.replay(LOG, budgets=30, policies="fixed:arm=0", n_paths=4)
    assert isinstance(result, LogResult)
    return result


def test_a_replay_has_the_log_itself_and_each_arm_alone(found: LogResult) -> None:
    rows = {row["policy"]: row for row in found.frame().filter(method="snips").to_dicts()}
    kinds = {"fixed:arm=0": "policy", "always a": "arm", "always b": "arm", "as logged": "log"}
    assert {name: row["kind"] for name, row in rows.items()} == kinds
    gains = {name: row["estimate"] for name, row in rows.items()}
    assert gains == pytest.approx(
        {"fixed:arm=0": 30, "always a": 30, "always b": 45, "as logged": 40}
    )
    assert found.facts.policies == ["fixed:arm=0"]
    assert "Buy b in every round: it is estimated to gain 45." in str(found)


def test_a_log_is_played_for_as_many_rounds_as_it_has(found: LogResult) -> None:
    assert found.log.horizon == ROWS
    assert found.frame()["rounds"].max() == 30
    options: dict[str, Any] = {"budgets": 900, "policies": "fixed:arm=0", "n_paths": 4}
    assert purse.replay(LOG, **options).frame()["rounds"].max() == ROWS
    free = purse.replay(LOG, **options, horizon="none")
    assert free.frame()["rounds"].max() == 900
    (warning,) = free.warnings
    assert warning.startswith("frame: the log has 200 rounds, and games of fixed:arm=0 with a ")


def test_a_log_without_probabilities() -> None:
    bare = LOG.drop("probability")
    options: dict[str, Any] = {"budgets": 30, "policies": "fixed:arm=0", "n_paths": 4}
    with pytest.raises(
        purse.InvalidInput, match=r"needs probability \(--probability\) uniform, if"
    ):
        purse.replay(bare, **options)
    for probability, says in (("uniform", "1/2 in each round"), ("frequency", "share of the rows")):
        found = purse.replay(bare, **options, probability=probability)
        assert found.frame().filter(method="snips", policy="always b")["estimate"][0] == 45
        (warning,) = found.warnings
        assert says in warning
    ignored = LOG.rename({"probability": "propensity"}).with_columns(x=pl.int_range(ROWS) % 7)
    found = purse.replay(ignored, **options, probability="uniform")
    assert found.warnings[0].startswith(
        "frame: column 'propensity' looks like probabilities and is not used; every arm is taken"
    )
    assert found.notes == (
        "not used: x; features (--features x) lets policies see what is known before an arm "
        "is chosen",
    )
    skewed = bare.filter(pl.Series(np.arange(ROWS) % 8 % 2 + (np.arange(ROWS) % 8 == 0) > 0))
    with pytest.raises(purse.InvalidInput, match=r"arm 'b' has 80\.0% of the rows, 6\.71 standard"):
        purse.replay(skewed, **options, probability="uniform")


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> TableReplay:
    path = tmp_path_factory.mktemp("data") / "table.csv"
    path.write_text(TABLE)
    both = ["uniform", "fixed:arm=1"]
    found = purse.replay(path, budgets=[4, 10], policies=both, n_paths=3, horizon=10, stop="exit")
    assert isinstance(found, TableReplay)
    return found


@pytest.fixture(scope="module")
def log() -> LogResult:
    rows = {
        "arm": ["a", "b"] * 60 + ["<c>"],
        "reward": [1.0, 3.0] * 60 + [1.0],
        "cost": [1, 2] * 60 + [1],
        "probability": [0.5] * 120 + [0.01],
    }
    found = purse.replay(
        pl.DataFrame(rows), budgets=[4], policies=["fixed:arm=1", "fixed:arm=0"], n_paths=3, seed=2
    )
    assert isinstance(found, LogResult)
    return found


def test_references_keep_their_intervals_in_the_study(table: TableReplay) -> None:
    known = table.study.references().drop("world").rename({"name": "player"})
    assert known.equals(table.references.select("player", pl.exclude("player")))


def test_a_log_knows_what_was_asked(log: LogResult) -> None:
    facts = log.facts
    assert facts.replay == Recording("log", "frame", 121, 121, ["<c>", "a", "b"])
    assert facts.policies == ["fixed:arm=1", "fixed:arm=0"]
    assert (facts.budgets, facts.stop, facts.seed) == ([4.0], "retry", 2)
    assert "purse" in facts.versions


def test_notebooks_show_the_tables_escaped(table: TableReplay, log: LogResult) -> None:
    shown = table._repr_html_()
    assert shown.startswith(
        "<p>table.csv: 10 of 12 rounds in 3 random orders, 2 arms, stop=exit</p><p>B = 4: "
    )
    assert shown.count("<table>") == 2
    assert "always a&amp;b" in shown
    shown = log._repr_html_()
    assert shown.startswith(
        "<p>frame: 121 logged rounds of 3 arms; games of at most 121 rounds</p><p>The log does "
    )
    assert "plays arm &#x27;&lt;c&gt;&#x27;, whose effective sample size is 1, below 30" in shown
    assert "<c>" not in shown


# what is compiled ahead


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Task]:
    """What was to be compiled; nothing is."""
    found: list[Task] = []

    def compile_all(tasks: Sequence[Task], n_workers: int) -> None:
        found.extend(tasks)

    monkeypatch.setattr(warm, "compile_all", compile_all)
    return found


def test_loops_are_compiled_and_found_by_other_processes(asked: list[Task]) -> None:
    assert purse.lab.warm("uniform") == code_folder()
    ours, logged = (task.recipe.make() for task in asked)
    assert (ours.world.draw, logged.world.draw) == (None, log_worlds.draw)
    for task in asked:
        again = pickle.loads(pickle.dumps(task.recipe))
        assert cpu.compiled_loop(again.make()) is cpu.compiled_loop(task.recipe.make())


def test_the_default_is_what_others_take_by_default(asked: list[Task]) -> None:
    purse.lab.warm()
    assert {"replan", "uniform"} <= {task.recipe.policy for task in asked}
    asked.clear()
    purse.lab.warm(["lin-ucb.price"])  # which sees contexts
    assert [task.recipe.make().contexts for task in asked] == [True]


def test_without_a_folder_for_code_nothing_is_compiled(
    asked: list[Task], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(warm, "code_folder", lambda: None)
    with pytest.raises(purse.PurseError, match="no folder for compiled code"):
        purse.lab.warm("uniform")
    assert not asked


def test_a_log_is_compiled_once_for_all_methods_and_all_players_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    keys: list[str] = []
    monkeypatch.setattr(
        estimates, "warm_up_all", lambda jobs, recipes, bar, workers: keys.extend(jobs)
    )
    game: dict[str, Any] = {"budgets": 5, "n_paths": 2, "replicates": 2, "references": True}
    estimate_log(LOG, policies=["uniform"], **game)
    assert keys == ["uniform", "fixed:arm=0"]
