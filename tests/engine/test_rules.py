"""The stop rules against a referee in plain Python that knows nothing of the engine but the
draws.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import Phase, assume, given, settings
from hypothesis import strategies as st

import purse
from purse.engine.draws import draws
from purse.worlds.bernoulli import bernoulli
from purse.worlds.table import table
from tests.engine.scripts import scripted
from tests.support.soak import SOAK, scale

REFEREE, MASK, STEP, SIDE = 2, 2**64 - 1, 0x9E3779B97F4A7C15, 0xDB4F0B9175AE2165


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
    efficiency: Any  # the sum of reward per cost; None with several resources


def judge(
    world: purse.lab.World,
    budget: list[int],
    script: list[list[int]],
    stop: str,
    seed: int,
    path: int,
) -> Standing:
    """Play one path of a world that ends, arm by arm."""
    assert world.n_rounds is not None
    rewards, costs = draws(world, world.n_rounds, seed=seed, path=path)
    left, pulls, gain, per_cost = list(budget), [0] * world.n_arms, 0.0, list[float]()

    def short(bill: list[Any]) -> int | None:
        totals = [sum(int(play[m]) for play in bill) for m in range(len(left))]
        return next((m for m, total in enumerate(totals) if total > left[m]), None)

    def over(rounds: int) -> Standing:
        spent = [b - rest for b, rest in zip(budget, left, strict=True)]
        efficiency = math.fsum(per_cost) if len(budget) == 1 else None
        return Standing(gain, rounds, spent, pulls, efficiency)

    for t in range(1, world.n_rounds + 1):
        arms, aside = list(script[(t - 1) % len(script)]), set[int]()
        if stop == "hold" and short([world.cost_max[arm] for arm in arms]) is not None:
            return over(t - 1)
        while (lacking := short([costs[t - 1, arm] for arm in arms])) is not None:
            worst = max(range(len(arms)), key=lambda k: costs[t - 1, arms[k], lacking])
            aside.add(arms[worst])
            fresh = [arm for arm in range(world.n_arms) if arm not in aside and arm not in arms]
            if stop != "retry" or not fresh:
                return over(t - 1)
            arms[worst] = fresh[int(referee_uniform(seed, path, t, len(aside) - 1) * len(fresh))]
        for arm in arms:
            gain += rewards[t - 1, arm]
            pulls[arm] += 1
            per_cost.append(rewards[t - 1, arm] / (costs[t - 1, arm, 0] / 1e9 or 1))
            left = [rest - int(cost) for rest, cost in zip(left, costs[t - 1, arm], strict=True)]
    return over(world.n_rounds)


def standing(run: purse.lab.Run, path: int) -> Standing:
    return Standing(
        float(run.gain[path]),
        int(run.rounds[path]),
        run.spent_units[path].tolist(),
        run.pulls[path].tolist(),
        None if run.efficiency is None else pytest.approx(run.efficiency[path], rel=1e-12),
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
        max_examples=scale(40, 400),
        deadline=None,
        derandomize=True,
        database=None,
        phases=(Phase.generate, Phase.shrink),
    )
    @given(cases(plays, resources))
    def check(case: Case) -> None:
        assume(np.max(case.costs, axis=(0, 1)).all())  # a resource that nothing uses is refused
        world = table(case.rewards, case.costs, shuffle=case.shuffle)
        for stop in ("exit", "hold", "retry"):
            run = purse.simulate(
                scripted(case.script),
                world,
                case.budget,
                n_paths=2,
                cost_max=None if stop == "hold" else 11,  # efficiency is in the user's unit
                seed=case.seed,
                stop=stop,
                plays=plays,
                n_workers=1,
                device="cpu" if SOAK else "python",
            )
            for path in range(2):
                assert standing(run, path) == judge(
                    world, [b * 10**9 for b in case.budget], case.script, stop, case.seed, path
                )

    check()


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
