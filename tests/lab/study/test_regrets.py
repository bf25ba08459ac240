import math
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import purse
import purse.engine.counterfactual
from purse.base.progress import Progress
from purse.base.text import first_paragraph
from purse.engine.draws import draws
from purse.lab.study import executors
from purse.lab.study.regrets import measure
from purse.lab.study.store import Store
from purse.lab.theory.notions import NOTIONS
from purse.lab.theory.own_clock import block_values
from purse.types import World
from purse.worlds import bernoulli, make, table, two_point
from purse.worlds._draw import Tables
from tests.support.paths import SCRIPTED

UNIT = 10**9
PLAIN = "bernoulli:rewards=[.9,.6],costs=[.8,.3]"
BENCHMARKS = {"greedy", "knapsack", "optimum"}
MEANS = {"best_efficiency", "pseudo_regret", "paper_pseudo_regret"}


class Game(NamedTuple):
    """One path of one player."""

    gain: float
    rounds: int
    left: float
    efficiency: float
    pulls: list[int]
    paid: list[float]  # in each round


def replayed(
    world: World, budget: float, script: list[int], *, seed: int, path: int, stop: str
) -> Game:
    """The arms of a script over and over, in plain Python, on the draws of a path. Under `retry`
    with two arms the other one steps in.
    """
    most = min(1_000, world.n_rounds or 1_000)
    rewards, units = (part.tolist() for part in draws(world, most, seed=seed, path=path))
    left, pulls, paid, ratios = round(budget * UNIT), [0] * world.n_arms, [], []
    costs = []
    for t in range(most):
        arm = script[t % len(script)]
        if stop == "retry" and units[t][arm][0] > left and world.n_arms == 2:
            arm = 1 - arm
        if units[t][arm][0] > left or (stop == "hold" and world.cost_max[arm, 0] > left):
            break
        left -= units[t][arm][0]
        pulls[arm] += 1
        paid.append(rewards[t][arm])
        ratios.append(rewards[t][arm] / (units[t][arm][0] / UNIT))
        costs.append(units[t][arm][0] / UNIT)
    return Game(math.fsum(paid), len(paid), left / UNIT, math.fsum(ratios), pulls, costs)


def worth(world: World, arm: int, rounds: int, *, seed: int, path: int) -> float:
    """The arm's efficiencies over rounds 1 .. rounds."""
    rewards, units = draws(world, rounds, seed=seed, path=path)
    return math.fsum(float(rewards[t, arm]) / (int(units[t, arm, 0]) / UNIT) for t in range(rounds))


def mean(values: list[float]) -> float:
    return math.fsum(values) / len(values)


def by_formula(
    world: World,
    budget: float,
    ours: list[Game],
    alone: list[list[Game]],
    shadow: list[list[float]],
) -> dict[str, list[float]]:
    """The notions that every world has, or that its means give, from what was replayed; loops
    instead of arrays.
    """
    paths, arms = range(len(ours)), range(world.n_arms)
    best = max(arms, key=lambda i: mean([game.gain for game in alone[i]]))
    star = max(arms, key=lambda i: mean([game.efficiency for game in alone[i]]))
    rival = max(arms, key=lambda i: mean(shadow[i]))
    pairs = list(zip(alone[star], ours, strict=True))
    values: dict[str, list[float]] = {
        "best_fixed_arm": [alone[best][p].gain - ours[p].gain for p in paths],
        "paper_arm": [other.gain - own.gain for other, own in pairs],
        "line_1": [budget / other.rounds * other.efficiency - own.gain for other, own in pairs],
        "line_2": [
            max(budget / other.rounds, (budget - own.left) / own.rounds)
            * (other.efficiency - own.efficiency)
            for other, own in pairs
        ],
        "efficiency_sums": [other.efficiency - own.efficiency for other, own in pairs],
        "own_rounds": [shadow[rival][p] - ours[p].efficiency for p in paths],
        "round_gap": [abs(other.rounds - own.rounds) for other, own in pairs],
        "leftover": [game.left for game in ours],
    }
    if not isinstance(world.tables, Tables) or not world.tables.shuffle:
        largest, each = world.cost_max.max() / UNIT, block_values(world, 1_000).tolist()
        credit = [
            [
                each[0][i] + sum(c / largest * each[t][i] for t, c in enumerate(game.paid, 1))
                for game in ours
            ]
            for i in arms
        ]
        rival = max(arms, key=lambda i: mean(credit[i]))
        values["own_clock"] = [credit[rival][p] - ours[p].gain for p in paths]
    if world.reward_means is None or world.cost_means is None:
        return values
    costs = world.cost_means[:, 0].tolist()
    ratios = [
        reward / cost for reward, cost in zip(world.reward_means.tolist(), costs, strict=True)
    ]
    values["best_efficiency"] = [budget * max(ratios) - game.gain for game in ours]
    values["pseudo_regret"] = [
        sum(game.pulls[i] * costs[i] * (max(ratios) - ratios[i]) for i in arms) for game in ours
    ]
    values["paper_pseudo_regret"] = [
        sum(game.pulls[i] * (max(ratios) - ratios[i]) for i in arms) for game in ours
    ]
    return values


def long_table(n_rounds: int) -> World:
    numbers = np.random.default_rng(7)
    return table(
        rewards=numbers.random((n_rounds, 3)).round(3),
        costs=numbers.uniform(0.1, 2, (n_rounds, 3)).round(3),
        shuffle=True,
    )


WORLDS: dict[str, tuple[str | World, float]] = {
    "fixed costs": (PLAIN, 20),
    "random costs": (two_point(rewards=[0.9, 0.6, 0.3], costs=[0.6, 0.3, 0.9], cost_min=0.2), 15.5),
    "large costs": (
        two_point(rewards=[0.9, 0.6, 0.3], costs=[60, 30, 90], cost_min=20, cost_max=250),
        3_000,
    ),
    "small costs": (bernoulli(rewards=[0.5, 0.4], costs=["0.000000003", "0.000000002"]), 1e-7),
    "many values": ("beta:rewards=[.7,.5,.3],costs=[.6,.3,.25],concentration=4,cost_min=.1", 12),
    "misleading ratio": ("misleading_ratio", 20),
    "same costs": ("same_costs", 25),
    "two worlds": ("two_worlds:world=2", 13),
    "spend or save": ("spend_or_save", 12),
    "theorem 5": ("theorem5", 16),
    "switching": ("switching:segments=[7,3],rewards=[[.9,.1],[.1,.9]],costs=[[.5,.2],[.1,.1]]", 12),
    "a shuffled table": (long_table(200), 20),
    "a table that ends": (long_table(9), 20),
    "a single arm": (two_point(rewards=[0.7], costs=[0.5], cost_min=0.2), 15.5),
}


def check_replay(
    text: str | World, budget: float, script: list[int], n_paths: int, seed: int, stop: str
) -> purse.lab.Regrets:
    """Every number is what a replay of the draws gives; return what was found."""
    world, paths = make(text, budget), range(n_paths)
    policy = f"{SCRIPTED}:script={[[arm] for arm in script]}"
    found = purse.lab.regrets(policy, text, budget, n_paths=n_paths, seed=seed, stop=stop)
    ours = [replayed(world, budget, script, seed=seed, path=p, stop=stop) for p in paths]
    lonely = "exit" if stop == "retry" else stop
    alone = [
        [replayed(world, budget, [arm], seed=seed, path=p, stop=lonely) for p in paths]
        for arm in range(world.n_arms)
    ]
    shadow = [
        [worth(world, arm, ours[p].rounds, seed=seed, path=p) for p in paths]
        for arm in range(world.n_arms)
    ]
    seen = found.evidence
    assert seen.budget == found.budget == budget
    assert seen.rounds.tolist() == [game.rounds for game in ours]
    assert seen.pulls.tolist() == [game.pulls for game in ours]
    assert seen.fixed_rounds.tolist() == [[game.rounds for game in row] for row in alone]
    for array, expected in (
        (seen.gain, [game.gain for game in ours]),
        (seen.left, [game.left for game in ours]),
        (seen.efficiency, [game.efficiency for game in ours]),
        (seen.fixed_gain, [[game.gain for game in row] for row in alone]),
        (seen.fixed_efficiency, [[game.efficiency for game in row] for row in alone]),
        (seen.counterfactual, shadow),
    ):
        np.testing.assert_allclose(array, expected, rtol=1e-11, atol=1e-11)
    formulas = by_formula(world, budget, ours, alone, shadow)
    assert set(found.estimates) - BENCHMARKS == set(formulas)
    for notion, values in formulas.items():
        assert found[notion].mean == pytest.approx(
            mean(values), rel=1e-9, abs=1e-9 * max(game.efficiency + 1 for game in ours)
        ), notion
    return found


@pytest.mark.parametrize("stop", ["exit", "hold"])
@pytest.mark.parametrize("name", WORLDS)
def test_every_number_is_what_a_replay_of_the_draws_gives(name: str, stop: str) -> None:
    text, budget = WORLDS[name]
    n_arms = make(text, budget).n_arms
    check_replay(text, budget, [arm % n_arms for arm in (0, 1, 1, 2)], 5, 4, stop)


def test_under_retry_what_the_policy_did_is_what_a_replay_gives() -> None:
    world = two_point(rewards=[0.9, 0.6], costs=[0.8, 0.3], cost_min=0.2)
    found = check_replay(world, 15.5, [0, 1, 0], 6, 2, "retry")
    assert not set(found.estimates) & BENCHMARKS
    plain = purse.lab.regrets("uniform", PLAIN, 20, n_paths=2, stop="retry")
    assert set(plain.estimates) & BENCHMARKS == {"greedy", "knapsack"}


@pytest.mark.parametrize(
    ("world", "budget"),
    [
        # 271,428 rounds, none of whose efficiencies is a float
        (bernoulli(rewards=[0.9], costs=[7e-9]), 0.0019),
        (bernoulli(rewards=[0.9, 0.1], costs=[0.3, 0.7]), 1_000),
        (make("drifting:rounds=50,rewards=[[.9,.1],[.8,.2]],costs=[[.3,.7],[.1,.9]]", 1), 300),
    ],
    ids=["small costs", "thirds", "drifting"],
)
def test_the_best_arm_loses_nothing_to_itself_over_its_own_rounds_not_even_rounding(
    world: World, budget: float
) -> None:
    found = purse.lab.regrets("fixed:arm=0", world, budget, n_paths=3)
    assert found["own_rounds"] == (0, 0, 0, 0)
    assert (
        found.evidence.counterfactual[0].tolist()
        == found.evidence.efficiency.tolist()
        == found.evidence.fixed_efficiency[0].tolist()
    )


@pytest.mark.parametrize("policy", ["uniform", "fixed:arm=1"])
@pytest.mark.parametrize(
    ("world", "budget", "stop"),
    [
        (bernoulli(rewards=[0.5, 0.5], costs=[5, 7]), 1, "exit"),  # nobody can pay for anything
        (two_point(rewards=[0.9, 0.6], costs=[0.5, 0.5], cost_min=0.2), 0.5, "hold"),
        # on some paths somebody can
        (two_point(rewards=[0.9, 0.6], costs=[0.5, 0.5], cost_min=0.2), 0.5, "retry"),
        (table(rewards=[[1, 1]], costs=[[2, 0.5]]), 1, "exit"),
    ],
)
def test_where_arms_cannot_be_paid_for_once_every_notion_is_a_number(
    policy: str, world: World, budget: float, stop: str
) -> None:
    found = purse.lab.regrets(policy, world, budget, n_paths=20, stop=stop)
    assert (found.evidence.fixed_rounds == 0).any()
    for name, each in found.estimates.items():
        assert all(map(math.isfinite, each)), name
    if (found.evidence.rounds == 0).all() and (found.evidence.fixed_rounds == 0).all():
        assert found["line_1"] == found["line_2"] == (0, 0, 0, 0)


def test_known_arms_have_all_three_benchmarks() -> None:
    found = purse.lab.regrets(
        "fixed:arm=0", "bernoulli:rewards=[1,.75],costs=[1,.8]", 1.6, n_paths=3
    )
    assert found.evidence.gain.tolist() == [1, 1, 1]
    for name, gain in (("greedy", 1), ("knapsack", 1.5), ("optimum", 1.5)):
        assert getattr(found.evidence, name) == pytest.approx(gain)
        assert found[name].mean == pytest.approx(gain - 1)


@pytest.mark.parametrize(
    ("world", "budget", "there"),
    [
        (PLAIN, 20, BENCHMARKS),
        ("misleading_ratio", 20, {"optimum"}),
        ("two_worlds", 20, {"optimum"}),
        ("table:rewards=[[1,0]],costs=[.5,.5]", 20, {"optimum"}),
        ("table:rewards=[[1,0]],costs=[.5,.5],shuffle=True", 20, set()),
        ("bernoulli:rewards=[.5,.5],costs=['0.123456789','0.987654321']", 20, {"greedy"}),
        ("beta:rewards=[.7,.5],costs=[.6,.3],concentration=4,cost_min=.1", 20, set()),
    ],
)
def test_a_benchmark_that_does_not_apply_or_would_take_too_long_is_left_out(
    world: str, budget: float, there: set[str]
) -> None:
    found = purse.lab.regrets("uniform", world, budget, n_paths=2)
    assert set(found.estimates) & BENCHMARKS == there
    assert {name for name in BENCHMARKS if getattr(found.evidence, name) is not None} == there


def test_a_world_with_a_horizon_has_the_optimum_of_who_may_wait_and_no_knapsack() -> None:
    world = replace(table(rewards=[[0.25, 0], [0.5, 1], [1, 0]], costs=[1, 1]), horizon=3)
    found = purse.lab.regrets("fixed:arm=0", world, 1, n_paths=2)
    assert set(found.estimates) & BENCHMARKS == {"optimum"}
    assert found.evidence.optimum == 1
    assert found["optimum"].mean == 0.75


FOR_ONE = "these notions of regret are for one"


def same(one: purse.lab.Regrets, other: purse.lab.Regrets) -> bool:
    pairs = [(value, getattr(other.evidence, name)) for name, value in vars(one.evidence).items()]
    return one.estimates == other.estimates and all(
        np.array_equal(ours, theirs) for ours, theirs in pairs
    )


def test_the_same_call_gives_the_same_numbers_whatever_the_workers_and_another_seed_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    call: dict[str, Any] = {"policy": "uniform", "world": PLAIN, "budget": 30, "n_paths": 6}
    first, kept, other = (
        purse.lab.regrets(**call, seed=seed, n_workers=workers, folder=folder)
        for seed, workers, folder in ((5, 1, None), (5, 3, tmp_path), (6, 1, None))
    )
    assert same(first, kept)
    assert not same(first, other)
    told = {"policy": purse.policies.load("uniform"), "budget": "30"}
    assert same(first, purse.lab.regrets(**call | told, seed=5))
    row = purse.compare("uniform", PLAIN, budgets=30, n_paths=6, seed=5).table().to_dicts()[0]
    # with a folder nothing is computed twice
    begun = interrupt(monkeypatch, at=1)
    found = purse.lab.regrets(**call, seed=5, folder=tmp_path)
    assert begun == []
    assert same(found, first)
    assert found["best_fixed_arm"] == (row["regret"], row["error"], row["low"], row["high"])


def interrupt(monkeypatch: pytest.MonkeyPatch, at: int) -> list[str]:
    """Let the piece of work of this number be interrupted; the list grows with what was begun."""
    begun: list[str] = []
    for module, name in (
        (executors, "play_shard"),
        (purse.engine.counterfactual, "counterfactual_sums"),
    ):
        real = getattr(module, name)

        def work(*args: Any, name: str = name, real: Any = real, **kwargs: Any) -> Any:
            begun.append(name)
            if len(begun) == at:
                raise KeyboardInterrupt
            return real(*args, **kwargs)

        monkeypatch.setattr(module, name, work)
    return begun


@pytest.mark.parametrize("at", [2, 4])
def test_an_interrupted_measurement_continues_where_it_was(
    at: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = purse.lab.regrets("uniform", PLAIN, 30, n_paths=5)
    begun = interrupt(monkeypatch, at)
    with pytest.raises(KeyboardInterrupt):
        purse.lab.regrets("uniform", PLAIN, 30, n_paths=5, folder=tmp_path)
    assert not list(tmp_path.rglob(".*"))
    assert same(purse.lab.regrets("uniform", PLAIN, 30, n_paths=5, folder=tmp_path), whole)
    # three shards and the sums, and what was interrupted once more
    shards, sums = (3, 2) if at == 4 else (4, 1)
    assert sorted(begun) == ["counterfactual_sums"] * sums + ["play_shard"] * shards


def test_progress_moves_on_with_each_piece_of_work_within_the_part_that_it_was_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bar, parts = Progress("regret"), list[tuple[float, float, str]]()
    bar.part(0.25, 0.5, "mine")
    monkeypatch.setattr(bar, "part", lambda *part: parts.append(part))
    measure(Store(tmp_path), "uniform", PLAIN, 30, n_paths=5, bar=bar)
    # the policy, two arms alone, and what the other arms were worth
    assert parts == [(0.25 + number / 8, 0.125, "mine") for number in range(4)]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"world": "bernoulli:rewards=[.9],costs=[[.8,.1]]"}, f"has 2 resources; {FOR_ONE}"),
        ({"world": "pricing:prices=[1],chances=[.5],customers=9"}, "pulls that cost nothing"),
        ({"world": "bernuli"}, "unknown world 'bernuli'; did you mean 'bernoulli'?"),
        ({"policy": "exp3.bwkk"}, "unknown policy 'exp3.bwkk'; did you mean 'exp3.bwk'?"),
        ({"budget": [10, 20]}, "budget=[10, 20]: must be one positive number"),
        ({"n_paths": 0}, "n_paths=0: must be a whole number from 1 up"),
        ({"seed": -1}, "seed=-1: must be a whole number"),
        ({"stop": "never"}, "stop='never': must be one of 'exit', 'hold', 'retry'"),
        ({"device": "tpu"}, "device='tpu': must be one of"),
        ({"n_workers": 0}, "n_workers=0: must be a whole number from 1 up"),
    ],
    ids=lambda value: value if isinstance(value, str) else "-".join(value),
)
def test_bad_input_is_refused_in_one_line_before_anything_runs(
    options: dict[str, Any], message: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(executors, "play_shard", lambda *_: pytest.fail("it runs"))
    call = {"policy": "uniform", "world": PLAIN, "budget": 20, "folder": tmp_path / "new"}
    with pytest.raises(purse.InvalidInput) as caught:
        purse.lab.regrets(**call | options)
    assert "n_workers" not in options or not (tmp_path / "new").exists()
    assert "\n" not in str(caught.value)
    assert message in str(caught.value)


def test_one_path_has_means_and_no_intervals() -> None:
    found = purse.lab.regrets("uniform", PLAIN, 20, n_paths=1)
    for each in found.estimates.values():
        assert math.isfinite(each.mean)
        assert all(map(math.isnan, each[1:]))
    assert "±" not in str(found)
    assert "nan" not in str(found)
    assert str(found).startswith(f"uniform on {PLAIN}: 1 path, budget 20\n")
    many = str(purse.lab.regrets("uniform", PLAIN, 1, n_paths=1000))
    assert many.splitlines()[0].endswith(": 1,000 paths, budget 1")


@pytest.mark.parametrize(
    ("notion", "hint"),
    [
        ("line1", "did you mean 'line_1'?"),
        # not on this world
        (
            "greedy",
            "known: best_fixed_arm, efficiency_sums, leftover, line_1, line_2, optimum, "
            "own_clock, own_rounds, paper_arm, round_gap",
        ),
    ],
)
def test_a_notion_that_is_not_there_is_refused_with_the_nearest_that_is(
    notion: str, hint: str
) -> None:
    found = purse.lab.regrets("uniform", "two_worlds", 20, n_paths=2)
    with pytest.raises(purse.InvalidInput) as caught:
        found[notion]
    assert str(caught.value) == f"unknown notion of regret on this world {notion!r}; {hint}"


@pytest.mark.parametrize("world", [PLAIN, "same_costs"])
def test_it_prints_every_notion_with_what_it_is(world: str) -> None:
    found = purse.lab.regrets("fixed:arm=1", world, 20, n_paths=4)
    head, columns, *lines = str(found).splitlines()
    assert columns.split() == ["regret", "mean", "±", "95%", "what", "it", "is"]
    assert head == f"fixed:arm=1 on {world}: 4 paths, budget 20"
    assert [line.split()[0] for line in lines] == list(found.estimates)
    without = set() if world == PLAIN else MEANS | {"greedy", "knapsack"}
    assert list(found.estimates) == [name for name in NOTIONS if name not in without]
    for name, line in zip(found.estimates, lines, strict=True):
        assert line.count("±") == 1
        assert line.endswith(first_paragraph(NOTIONS[name].__doc__))
    assert len({line.index("±") for line in lines}) == 1
    shown = found._repr_html_()
    assert shown.startswith(f"<p>{head}</p><table>")
    assert all(f">{name}</td>" in shown for name in found.estimates)
