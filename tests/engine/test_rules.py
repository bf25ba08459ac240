"""The stop rules against a referee in plain Python that knows nothing of the engine but the
draws.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import purse
from purse.engine.draws import draws
from purse.worlds.bernoulli import bernoulli
from purse.worlds.table import table
from tests.support.paths import SCRIPTED

REFEREE, MASK, STEP, SIDE = 2, 2**64 - 1, 0x9E3779B97F4A7C15, 0xDB4F0B9175AE2165


def scripted(script: Any) -> str:
    return f"{SCRIPTED}:script={script}".replace(" ", "")


def mix(z: int) -> int:
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def referee_uniform(seed: int, path: int, t: int, attempt: int) -> float:
    stream = mix((mix((mix(seed) + path * STEP) & MASK) + REFEREE * STEP) & MASK)
    return (mix((stream + t * STEP + attempt * SIDE) & MASK) >> 11) / 2**53


class Standing(NamedTuple):
    gain: float
    rounds: int
    spent: list[int]
    pulls: list[int]


def judge(
    world: purse.World, budget: list[int], script: list[list[int]], stop: str, seed: int, path: int
) -> Standing:
    """Play one path of a world that ends, arm by arm."""
    assert world.n_rounds is not None
    rewards, costs = draws(world, world.n_rounds, seed=seed, path=path)
    left, pulls, gain = list(budget), [0] * world.n_arms, 0.0

    def short(bill: list[Any]) -> int | None:
        return next(
            (
                m
                for m, purse_left in enumerate(left)
                if sum(int(play[m]) for play in bill) > purse_left
            ),
            None,
        )

    for t in range(1, world.n_rounds + 1):
        arms, aside = list(script[(t - 1) % len(script)]), set[int]()
        if stop == "hold" and short([world.cost_max[arm] for arm in arms]) is not None:
            return Standing(
                gain, t - 1, [b - rest for b, rest in zip(budget, left, strict=True)], pulls
            )
        while (lacking := short([costs[t - 1, arm] for arm in arms])) is not None:
            worst = max(range(len(arms)), key=lambda k: costs[t - 1, arms[k], lacking])
            aside.add(arms[worst])
            fresh = [arm for arm in range(world.n_arms) if arm not in aside and arm not in arms]
            if stop != "retry" or not fresh:
                return Standing(
                    gain, t - 1, [b - rest for b, rest in zip(budget, left, strict=True)], pulls
                )
            arms[worst] = fresh[int(referee_uniform(seed, path, t, len(aside) - 1) * len(fresh))]
        for arm in arms:
            gain += rewards[t - 1, arm]
            pulls[arm] += 1
            left = [rest - int(cost) for rest, cost in zip(left, costs[t - 1, arm], strict=True)]
    return Standing(
        gain, world.n_rounds, [b - rest for b, rest in zip(budget, left, strict=True)], pulls
    )


def standing(run: purse.Run, path: int) -> Standing:
    return Standing(
        float(run.gain[path]),
        int(run.rounds[path]),
        run.spent_units[path].tolist(),
        run.pulls[path].tolist(),
    )


class Case(NamedTuple):
    rewards: list[list[float]]
    costs: list[list[list[int]]]
    shuffle: bool
    budget: list[int]
    script: list[list[int]]
    seed: int


@st.composite
def cases(draw: st.DrawFn, plays: int, resources: int) -> Case:
    n_arms, n_rows = draw(st.integers(plays, 5)), draw(st.integers(1, 12))
    cost = st.lists(st.integers(0, 9), min_size=resources, max_size=resources).filter(
        lambda entry: entry[0] > 0
    )
    per_arm = {"min_size": n_arms, "max_size": n_arms}
    return Case(
        draw(
            st.lists(
                st.lists(st.integers(0, 8).map(lambda eighths: eighths / 8), **per_arm),
                min_size=n_rows,
                max_size=n_rows,
            )
        ),
        draw(st.lists(st.lists(cost, **per_arm), min_size=n_rows, max_size=n_rows)),
        draw(st.booleans()),
        draw(st.lists(st.integers(1, 40), min_size=resources, max_size=resources)),
        draw(
            st.lists(
                st.permutations(range(n_arms)).map(lambda order: order[:plays]),
                min_size=1,
                max_size=4,
            )
        ),
        draw(st.integers(0, 2**63 - 1)),
    )


@pytest.mark.parametrize(("plays", "resources"), [(1, 1), (2, 1), (1, 2), (3, 3)])
def test_the_engine_agrees_with_a_plain_referee_under_every_rule(
    plays: int, resources: int
) -> None:
    @settings(
        max_examples=80,
        deadline=None,
        derandomize=True,
        database=None,
        phases=(Phase.generate, Phase.shrink),
    )
    @given(cases(plays, resources))
    def check(case: Case) -> None:
        world = table(case.rewards, case.costs, shuffle=case.shuffle)
        for stop in ("exit", "hold", "retry"):
            run = purse.simulate(
                scripted(case.script),
                world,
                case.budget,
                n_paths=2,
                seed=case.seed,
                stop=stop,
                plays=plays,
                n_workers=1,
            )
            for path in range(2):
                assert standing(run, path) == judge(
                    world, [b * 10**9 for b in case.budget], case.script, stop, case.seed, path
                )

    check()


CHANGING = table(rewards=[[1], [0.5], [0.25], [0.125]], costs=[[0.5], [1], [0.5], [0.5]])


def test_exit_ends_with_the_first_pull_that_cannot_be_paid() -> None:
    run = purse.simulate("fixed", CHANGING, budget=2.2, n_paths=1, stop="exit")
    assert standing(run, 0) == Standing(1.75, 3, [2_000_000_000], [3])


def test_hold_ends_when_the_dearest_cost_does_not_fit_although_the_real_one_would() -> None:
    run = purse.simulate("fixed", CHANGING, budget=2.2, n_paths=1, stop="hold")
    assert standing(run, 0) == Standing(1.5, 2, [1_500_000_000], [2])


def test_hold_goes_by_the_declared_dearest_cost() -> None:
    run = purse.simulate("fixed", CHANGING, budget=2.2, n_paths=1, stop="hold", cost_max=2)
    assert standing(run, 0) == Standing(1.0, 1, [500_000_000], [1])


@pytest.mark.parametrize(("stop", "rounds"), [("exit", 2), ("hold", 2), ("retry", 2)])
def test_a_pull_that_takes_the_last_unit_is_paid(stop: str, rounds: int) -> None:
    run = purse.simulate(
        "fixed",
        bernoulli(rewards=[1], costs=["0.000000001"]),
        budget="0.000000002",
        n_paths=1,
        stop=stop,
    )
    assert run.rounds.tolist() == [rounds]
    assert run.spent_units.tolist() == [[2]]


@pytest.mark.parametrize("stop", ["exit", "hold", "retry"])
def test_a_budget_below_every_cost_buys_nothing(stop: str) -> None:
    run = purse.simulate(
        "fixed",
        bernoulli(rewards=[1, 1], costs=[0.5, 0.6]),
        budget="0.499999999",
        n_paths=2,
        stop=stop,
    )
    assert standing(run, 1) == Standing(0, 0, [0], [0, 0])


@pytest.mark.parametrize(
    ("stop", "rounds", "pulls"),
    [("exit", 2, [2, 0, 0]), ("hold", 2, [2, 0, 0]), ("retry", 4, [2, 0, 2])],
)
def test_retry_goes_on_with_the_one_arm_that_fits(stop: str, rounds: int, pulls: list[int]) -> None:
    run = purse.simulate(
        "fixed", bernoulli(rewards=[1, 1, 1], costs=[1, 0.9, 0.2]), budget=2.5, n_paths=5, stop=stop
    )
    for path in range(5):
        assert run.rounds[path] == rounds
        assert run.pulls[path].tolist() == pulls


def test_retry_ends_when_no_arm_fits_and_the_game_can_go_on_when_the_chosen_one_fits_again() -> (
    None
):
    dear_in_the_middle = table(rewards=[[1, 1]] * 3, costs=[[1, 1], [4, 2], [1, 1]])
    assert purse.simulate(
        "fixed", dear_in_the_middle, budget=2.5, n_paths=1, stop="retry"
    ).pulls.tolist() == [[1, 0]]
    assert purse.simulate(
        "fixed", dear_in_the_middle, budget=4, n_paths=1, stop="retry"
    ).pulls.tolist() == [[2, 1]]


def test_retry_draws_the_other_arms_uniformly() -> None:
    n_paths = 10_000
    run = purse.simulate(
        "fixed",
        bernoulli(rewards=[1] * 4, costs=[1, 0.5, 0.5, 0.5]),
        budget=0.5,
        n_paths=n_paths,
        stop="retry",
        seed=5,
    )
    assert (run.rounds == 1).all()
    share = run.pulls.mean(axis=0)
    assert share[0] == 0
    assert (np.abs(share[1:] - 1 / 3) < 4 * np.sqrt(2 / 9 / n_paths)).all()


@pytest.mark.parametrize(
    ("stop", "pulls"), [("exit", [0, 0, 0]), ("hold", [0, 0, 0]), ("retry", [0, 1, 1])]
)
def test_of_several_plays_the_dearest_makes_way(stop: str, pulls: list[int]) -> None:
    world = table(rewards=[[1, 0.5, 0.25]], costs=[0.8, 0.5, 0.3])
    run = purse.simulate(scripted([[0, 1]]), world, budget=1, n_paths=1, stop=stop, plays=2)
    assert run.pulls.tolist() == [pulls]
    assert run.gain.tolist() == [0.75 if stop == "retry" else 0]


@pytest.mark.parametrize(("stop", "pulls"), [("exit", [1, 0]), ("hold", [1, 0]), ("retry", [1, 2])])
def test_any_resource_can_be_the_one_that_is_short(stop: str, pulls: list[int]) -> None:
    world = bernoulli(rewards=[1, 1], costs=[[1, 3], [1, 1]])
    run = purse.simulate(scripted([[0]]), world, budget=[10, 5], n_paths=1, stop=stop)
    assert run.pulls.tolist() == [pulls]
    assert run.spent.tolist() == [[sum(pulls), 3 * pulls[0] + pulls[1]]]
    assert run.budget.tolist() == [10, 5]
