"""The masks of earlier rounds that policies see: counted by hand, and alike by all that play."""

from __future__ import annotations

from collections import Counter
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import purse
from purse.engine import cpu
from purse.engine.job import Job, make_job
from purse.engine.late.delay import Delay
from purse.engine.rules import count_mask
from purse.engine.workspace import COUNTED_MASKS
from purse.testing import check_policy
from purse.testing.games import _standard_world, half_down
from purse.testing.late import _play_live
from purse.types import STOP_RULES, Bools, Ints, Now, Problem
from purse.worlds.bernoulli import bernoulli
from purse.worlds.outages import outages
from tests.support.paths import MASKS_SEEN

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
    """The masks of these rounds and their counts, as the paper has it, row by row."""
    rows: list[list[Any]] = []
    for mask in rounds:
        if all(mask):
            continue
        row = next((row for row in rows if row[0] == mask), None)
        if row is None and len(rows) < COUNTED_MASKS:
            rows.append(row := [mask, 0])
        elif row is None:
            row = min(rows, key=lambda row: row[1])
            row[0] = mask
        row[1] += 1
    free = [((False,) * n_arms, 0)] * (COUNTED_MASKS - len(rows))
    return [*((mask, count) for mask, count in rows), *free]


def test_the_seventeenth_mask_takes_the_place_of_the_rarest() -> None:
    masks, seen = np.zeros((COUNTED_MASKS, 5), np.bool_), np.zeros(COUNTED_MASKS, np.int64)
    for mask in [MASKS[0], *MASKS[1:17], *MASKS[1:17], MASKS[1], *MASKS[3:17]]:
        count_mask(np.array(mask), masks, seen)
    assert counted(masks, seen) == [
        *((MASKS[1], 3), (MASKS[2], 2)),
        *((mask, 3) for mask in MASKS[3:17]),
    ]
    count_mask(np.array(MASKS[20]), masks, seen)
    assert counted(masks, seen)[1] == (MASKS[20], 3)
    count_mask(np.array(MASKS[2]), masks, seen)  # all have 3: the first row
    assert counted(masks, seen)[:2] == [(MASKS[2], 4), (MASKS[20], 3)]


def test_counts_never_say_less_than_is_true_and_sum_to_the_masked_rounds() -> None:
    masks, seen = np.zeros((COUNTED_MASKS, 5), np.bool_), np.zeros(COUNTED_MASKS, np.int64)
    rounds = [MASKS[k] for k in np.random.default_rng(1).integers(0, 31, 400) ** 2 // 31]
    for mask in rounds:
        count_mask(np.array(mask), masks, seen)
    assert counted(masks, seen) == space_saving(rounds)
    true = Counter(rounds)
    assert all(count >= true[mask] for mask, count in counted(masks, seen))
    assert seen.sum() == sum(not all(mask) for mask in rounds)


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


def bits_of(values: Any) -> list[bytes]:
    return [array.tobytes() for array in cpu.iter_arrays(values)]


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
        assert (rounds, pulls.tolist()) == (results.rounds[0], results.pulls[0].tolist())
        assert bits_of(live.state) == bits_of(state)
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
