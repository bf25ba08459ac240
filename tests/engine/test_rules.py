"""The stop rules against a referee in plain Python that knows nothing of the engine but the draws;
the masks of earlier rounds, counted by hand and alike by all that play.
"""

import math
from collections import Counter
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import Phase, assume, given, settings
from hypothesis import strategies as st

import purse
from purse.engine import cpu
from purse.engine.delay import Delay
from purse.engine.draws import draws
from purse.engine.job import Job, make_job
from purse.engine.rules import count_mask
from purse.engine.workspace import COUNTED_MASKS
from purse.testing import check_policy
from purse.testing.games import _standard_world, check_same, half_down
from purse.testing.late import _play_live
from purse.types import STOP_RULES, Bools, Ints, Now, Problem
from purse.worlds.bernoulli import bernoulli
from purse.worlds.outages import outages
from purse.worlds.table import table
from tests.support.paths import MASKS_SEEN
from tests.support.policies import bits_of, scripted
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


Counts = list[tuple[tuple[bool, ...], int]]
MASKS = [mask for mask in product((True, False), repeat=5) if any(mask)]  # 31, one allows all
WORLD = outages(
    bernoulli(rewards=[0.9, 0.1, 0.4, 0.6, 0.3], costs=[0.5, 0.2, 0.9, 0.4, 0.6]),
    [MASKS[number] for number in np.random.default_rng(0).integers(0, 31, 90) ** 2 // 31],
    1,
)


def counted(masks: Bools, seen: Ints) -> Counts:
    """What a policy sees."""
    return [(tuple(mask), count) for mask, count in zip(masks.tolist(), seen.tolist(), strict=True)]


def space_saving(rounds: list[tuple[bool, ...]], n_arms: int = 5) -> Counts:
    """The masks of these rounds and their counts, as the paper has it, row by row; round t counts
    t times.
    """
    rows: list[list[Any]] = []
    for t, mask in enumerate(rounds, 1):
        if all(mask):
            continue
        row = next((row for row in rows if row[0] == mask), None)
        if row is None and len(rows) < COUNTED_MASKS:
            rows.append(row := [mask, 0])
        elif row is None:
            row = min(rows, key=lambda row: row[1])
            row[0] = mask
        row[1] += t
    free = [((False,) * n_arms, 0)] * (COUNTED_MASKS - len(rows))
    return [*((mask, count) for mask, count in rows), *free]


def test_the_seventeenth_mask_takes_the_place_of_the_rarest() -> None:
    masks, seen = np.zeros((COUNTED_MASKS, 5), np.bool_), np.zeros(COUNTED_MASKS, np.int64)
    for mask in [MASKS[0], *MASKS[1:17], *MASKS[1:17], MASKS[1], *MASKS[3:17]]:
        count_mask(np.array(mask), 1, masks, seen)
    assert counted(masks, seen) == [
        *((MASKS[1], 3), (MASKS[2], 2)),
        *((mask, 3) for mask in MASKS[3:17]),
    ]
    count_mask(np.array(MASKS[20]), 1, masks, seen)
    assert counted(masks, seen)[1] == (MASKS[20], 3)
    count_mask(np.array(MASKS[2]), 7, masks, seen)  # all have 3: the first row
    assert counted(masks, seen)[:2] == [(MASKS[2], 10), (MASKS[20], 3)]


def test_counts_never_say_less_than_is_true_and_sum_to_those_of_masked_rounds() -> None:
    masks, seen = np.zeros((COUNTED_MASKS, 5), np.bool_), np.zeros(COUNTED_MASKS, np.int64)
    rounds = [MASKS[k] for k in np.random.default_rng(1).integers(0, 31, 400) ** 2 // 31]
    true: Counter[tuple[bool, ...]] = Counter()
    for t, mask in enumerate(rounds, 1):
        count_mask(np.array(mask), t, masks, seen)
        true[mask] += t
    assert counted(masks, seen) == space_saving(rounds)
    assert all(count >= true[mask] for mask, count in counted(masks, seen))
    assert seen.sum() == true.total() - true[MASKS[0]]


class Watcher:
    """Plays any allowed arm, skips some rounds, and keeps what it sees."""

    SEEN = True
    seen: list[tuple[int, Counts]]

    def __init__(self, problem: Problem, rng: np.random.Generator) -> None:
        self.rng, self.may_skip = rng, problem.horizon is not None

    def choose(self, now: Now) -> int:
        self.seen.append((now.t, counted(now.masks, now.seen)))
        skips = self.may_skip and self.rng.random() < 0.2
        return -1 if skips else int(self.rng.choice(np.flatnonzero(now.allowed)))

    def update(self, now: Now, arm: int, reward: float, cost: float) -> None:
        assert not now.masks.any()
        assert not now.seen.any()


@pytest.mark.parametrize("delay", [0, 4])
@pytest.mark.parametrize(("stop", "horizon"), [("fit", None), ("fit", 80), ("retry", 80)])
def test_a_policy_sees_the_masks_of_earlier_rounds_as_they_were_asked_for(
    delay: int, stop: str, horizon: int | None
) -> None:
    rounds = [tuple(bool(up) for up in row) for row in WORLD.outages.up] if WORLD.outages else []
    Watcher.seen = []
    purse.simulate(
        Watcher, WORLD, 20, n_paths=2, stop=stop, horizon=horizon, delay=delay, device="python"
    )
    assert max(t for t, _ in Watcher.seen) > 30
    for t, seen in Watcher.seen:
        assert seen == space_saving(rounds[: t - 1]), t


def test_nobody_counts_for_a_policy_that_does_not_ask_for_it() -> None:
    class Blind(Watcher):
        SEEN = False

    for policy, world in ((Blind, WORLD), (Watcher, _standard_world())):
        Watcher.seen = []
        purse.simulate(policy, world, 5, n_paths=1, stop="fit", delay=1, device="python")
        assert {len(seen) for _, seen in Watcher.seen} == {0}


@pytest.mark.parametrize("horizon", [None, 70])
def test_all_loops_count_alike(horizon: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    jobs = [
        make_job(MASKS_SEEN, WORLD, 12.3, seed=3, stop=stop, horizon=horizon) for stop in STOP_RULES
    ]
    played = [bits_of(cpu.play_block(job, 3)) for job in jobs]
    assert [bits_of(cpu.play_block(job.as_python(), 3)) for job in jobs] == played
    monkeypatch.setattr(Delay, "is_late", True)
    assert [bits_of(cpu.play_block(job.as_python(), 3)) for job in jobs] == played


@pytest.mark.parametrize("stop", STOP_RULES)
@pytest.mark.parametrize(("delay", "horizon"), [(3, None), ("geometric:6", 60), (9, 40)])
def test_a_live_policy_counts_alike_when_reports_are_late(
    stop: str, delay: Any, horizon: int | None
) -> None:
    refusals = 0
    for seed in range(3):
        job: Job = make_job(
            MASKS_SEEN, WORLD, 6.1, seed=seed, stop=stop, horizon=horizon, delay=delay
        )
        results, state = cpu.play_block(job.as_python(), 1)
        live, rounds, pulls, refused, _ = _play_live(job, MASKS_SEEN, WORLD)
        check_same(MASKS_SEEN, rounds, pulls, live, results, state)
        refusals += refused
    assert (refusals > 0) == (stop in ("hold", "fit"))


def test_the_checks_pass_and_find_a_policy_that_learns_from_masks(tmp_path: Path) -> None:
    check_policy(MASKS_SEEN, half_down(_standard_world()))
    text = Path(MASKS_SEEN).read_text()
    faulty = tmp_path / "faulty.py"
    faulty.write_text(text.replace("+= play.rewards[0]", "+= play.rewards[0] + now.seen.sum()"))
    assert faulty.read_text() != text
    with pytest.raises(AssertionError, match=r"state\.rewards differs"):
        check_policy(str(faulty), half_down(_standard_world()))
