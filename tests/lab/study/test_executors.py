"""Shards in threads, on a GPU and on a cluster."""

import sys
import time
from types import ModuleType
from typing import Any

import numpy as np
import polars as pl
import pytest

import purse
from purse import policies
from purse.base.progress import Progress
from purse.engine import cpu
from purse.engine.job import Job, make_job
from purse.errors import InvalidInput, PurseError
from purse.lab.study import cluster, executors, shard
from purse.lab.study.shard import Frames, JobSpec, Shard, _runs_frame, key_of, play_shard, shards_of
from purse.worlds.two_point import two_point
from tests.support.lab import fake_gpu
from tests.support.paths import EPSILON_GREEDY, SCRIPTED

RANDOM = two_point(rewards=[0.9, 0.6, 0.3], costs=[0.6, 0.3, 0.9], cost_min=0.2)


@pytest.fixture(autouse=True)
def small_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shards of so little work that a few paths are several."""
    monkeypatch.setattr(shard, "_WORK", 8 * 13 * 20.3 / 0.6)  # 8 paths of 3 arms that cost 0.6


def job(policy: str = "uniform", seed: int = 4, checkpoints: int = 0) -> Job:
    return JobSpec(policy, RANDOM, 20.3, seed, "exit", checkpoints).make()


def jobs(n_paths: int) -> list[Shard]:
    """The shards of two jobs with marks."""
    both = (job(policy, checkpoints=4) for policy in ("uniform", "fixed:arm=1"))
    return [each for work in both for each in shards_of(work, n_paths)]


def played(shards: list[Shard], **options: Any) -> dict[str, Frames]:
    found: dict[str, Frames] = {}

    def accept(shard: Shard, frames: Frames) -> None:
        found[shard.name] = frames

    executors.play_all(shards, accept, Progress("test"), **options)
    return found


def same(one: dict[str, Frames], other: dict[str, Frames]) -> bool:
    return one.keys() == other.keys() and all(
        ours.runs.equals(other[name].runs)
        and (ours.trace is None) == (other[name].trace is None)
        and (ours.trace is None or ours.trace.equals(other[name].trace))
        for name, ours in one.items()
    )


def test_threads_give_what_one_worker_and_simulate_give() -> None:
    shards = jobs(20)
    assert [each.n_paths for each in shards] == [8, 8, 4] * 2
    alone = played(shards, n_workers=1)
    assert same(alone, played(shards, n_workers=3))
    for policy, own in (("uniform", shards[:3]), ("fixed:arm=1", shards[3:])):
        run = purse.simulate(policy, RANDOM, 20.3, n_paths=20, seed=4, checkpoints=4)
        mine = [alone[each.name] for each in own]
        assert pl.concat([frames.runs for frames in mine]).equals(_runs_frame(run))
        traces = [frames.trace["pulls"].to_numpy() for frames in mine if frames.trace is not None]
        assert run.by_budget is not None
        assert (sum(traces) == run.by_budget.pulls.sum(axis=0)).all()


def test_nothing_to_play_is_no_work() -> None:
    assert played([]) == {}
    assert played([], device="cuda") == {}


def test_the_progress_is_the_part_of_paths_that_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    real, seen = play_shard, list[float]()

    def watched(shard: Shard, pulse: Any, halt: Any) -> Frames:
        frames, glances = real(shard, pulse, halt), len(seen)
        while len(seen) < glances + 2:
            time.sleep(0.001)
        return frames

    monkeypatch.setattr(cpu, "_POLL_S", 0.001)
    monkeypatch.setattr(Progress, "show", lambda shown, fraction, title="": seen.append(fraction))
    monkeypatch.setattr(executors, "play_shard", watched)
    played(list(shards_of(job(), 20)), n_workers=1)
    assert seen == sorted(seen)
    assert {0.4, 0.8, 1.0} <= {round(fraction, 12) for fraction in seen}


def test_what_is_interrupted_is_not_handed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C is heard at a glance, while the second shard plays; the third does not begin."""
    began: list[Any] = []
    real, accepted = play_shard, list[Any]()

    def interrupt(shown: Progress, fraction: float, title: str = "") -> None:
        if len(began) == 2:
            raise KeyboardInterrupt

    def slowly(shard: Shard, pulse: Any, halt: Any) -> Frames:
        began.append(shard.first)
        while len(began) == 2 and not halt[0]:
            time.sleep(0.001)
        return real(shard, pulse, halt)

    monkeypatch.setattr(cpu, "_POLL_S", 0.001)
    monkeypatch.setattr(Progress, "show", interrupt)
    monkeypatch.setattr(executors, "play_shard", slowly)
    with pytest.raises(KeyboardInterrupt):
        executors.play_all(
            list(shards_of(job(), 20)),
            lambda shard, frames: accepted.append(shard.first),
            Progress("test"),
            n_workers=1,
        )
    assert began == [0, 8]
    assert accepted == [0]


def test_an_interruption_while_a_shard_is_kept_ends_everything(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real, interrupted, accepted = play_shard, list[int](), list[int]()

    def accept(shard: Shard, frames: Frames) -> None:
        if shard.first == 8:
            interrupted.append(shard.first)
            raise KeyboardInterrupt
        accepted.append(shard.first)

    def play(shard: Shard, pulse: Any, halt: Any) -> Frames:
        while interrupted and not halt[0]:  # what plays on hears of it
            time.sleep(0.001)
        return real(shard, pulse, halt)

    monkeypatch.setattr(executors, "play_shard", play)
    with pytest.raises(KeyboardInterrupt):
        executors.play_all(list(shards_of(job(), 40)), accept, Progress("test"), n_workers=1)
    assert accepted == [0]


def test_a_fault_is_one_clear_error_that_names_the_policy_and_no_numbers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    faulty = job(f"{SCRIPTED}:script=[[0],[3]]")
    good, bad = next(shards_of(job(), 2)), next(shards_of(faulty, 2))
    real, failed, accepted = play_shard, list[Any](), list[Shard]()

    def together(shard: Shard, pulse: Any, halt: Any) -> Frames:
        if shard is bad:
            try:
                return real(shard, pulse, halt)
            finally:
                failed.append(True)
        while not failed:  # the good one ends after the fault, and so might come to hear of it
            time.sleep(0.001)
        return real(shard, pulse, halt)

    monkeypatch.setattr(executors, "play_shard", together)
    message = r"^[^\n]*scripted\.py.* chose no arm, or one that does not exist[^\n]*$"
    with pytest.raises(purse.PurseError, match=message):
        executors.play_all(
            [good, bad], lambda shard, _: accepted.append(shard), Progress("test"), n_workers=2
        )
    assert bad not in accepted


Span = tuple[str, int, int]


@pytest.mark.parametrize(
    ("most_paths", "groups"),
    [
        (100, []),
        (100, [[("a", 0, 8), ("a", 8, 8)], [("b", 16, 8)]]),
        (100, [[("a", 0, 8)], [("a", 16, 8), ("a", 24, 3)]]),
        (20, [[("a", 0, 8), ("a", 8, 8)], [("a", 16, 8), ("a", 24, 8)], [("a", 32, 8)]]),
        (0, [[("a", 0, 8)], [("a", 8, 8)]]),
    ],
)
def test_neighbours_are_of_one_job_without_gaps(
    most_paths: int, groups: list[list[Span]], monkeypatch: pytest.MonkeyPatch
) -> None:
    work = job()
    most = max(1, most_paths * shard.bytes_per_path(work))
    monkeypatch.setattr(executors, "_GROUP_BYTES", most)
    shards = [Shard(work, *span) for group in groups for span in group]
    found = [[each[1:] for each in group] for group in executors._neighbours(shards)]
    assert found == groups


def test_what_a_gpu_brings_back_at_once_is_cut_into_the_same_shards(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls = fake_gpu(monkeypatch)
    first, _, *others = jobs(28)
    missing = [first, *others]
    assert same(played(missing, device="cuda"), played(missing))
    asked = [call[:3] for call in calls]
    assert asked == [("uniform", 0, 8), ("uniform", 16, 12), ("fixed:arm=1", 0, 28)]
    assert [call.part for call in calls] == [(number / 3, 1 / 3) for number in range(3)]


def test_late_reports_are_played_by_threads_where_there_is_a_gpu(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls = fake_gpu(monkeypatch)
    late = make_job("uniform", RANDOM, 20.3, seed=4, delay=3)
    shards = [*shards_of(late, 10), *shards_of(job(), 8)]
    assert same(played(shards, device="cuda"), played(shards))
    assert [call[:3] for call in calls] == [("uniform", 0, 8)]


RECIPE = JobSpec("uniform", "bernoulli:rewards=[.9,.6],costs=[.8,.3]", 20.0, 3, "exit", 4)


def test_a_worker_plays_the_shard_that_was_meant() -> None:
    job = RECIPE.make()
    (shard,) = shards_of(job, 6)
    frames = cluster._play_there(RECIPE, shard.key, 2, 3)
    ours = play_shard(Shard(job, shard.key, 2, 3), np.zeros(2), np.zeros(1, np.int64))
    assert frames.runs.equals(ours.runs)
    assert frames.trace is not None
    assert ours.trace is not None
    assert frames.trace.equals(ours.trace)


def test_a_worker_with_other_code_refuses() -> None:
    with pytest.raises(PurseError, match="has other code than this machine"):
        cluster._play_there(RECIPE, "0" * 20, 0, 1)


def test_modules_travel_as_text() -> None:
    ours = policies.load("exp3.bwk")
    assert cluster.sendable(RECIPE._replace(policy=ours)).policy == "exp3.bwk"
    mine = policies.load(str(EPSILON_GREEDY))
    text = cluster.sendable(RECIPE._replace(policy=mine)).policy
    assert key_of(RECIPE._replace(policy=text).make()) == key_of(
        RECIPE._replace(policy=mine).make()
    )
    nowhere = ModuleType("nowhere")
    vars(nowhere).update(NAME="nowhere", __file__=None)
    with pytest.raises(InvalidInput, match="'nowhere' comes from no file"):
        cluster.sendable(RECIPE._replace(policy=nowhere))


@pytest.mark.parametrize("on", ["spark", "ray://", "http://somewhere:80", ""])
def test_an_address_that_is_none_is_refused(on: str) -> None:
    with pytest.raises(InvalidInput, match=r"must be ray or ray://HOST:PORT$"):
        cluster.check_address(on)


def test_a_cluster_that_is_not_there_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def init(address: str, **options: Any) -> None:
        raise ConnectionError("ray client\n connection timeout")

    modules: dict[str, dict[str, Any]] = {
        "ray": {"init": init},
        "ray.util": {},
        "ray.util.joblib": {"register_ray": None},
    }
    for name, attributes in modules.items():
        module = ModuleType(name)
        vars(module).update(attributes)
        monkeypatch.setitem(sys.modules, name, module)
    message = r"^cannot reach ray://127\.0\.0\.1:1: ray client connection timeout; if it asks "
    with pytest.raises(PurseError, match=message):
        cluster.play_on_cluster(
            list(shards_of(RECIPE.make(), 2)),
            {},
            "ray://127.0.0.1:1",
            lambda shard, frames: None,
            Progress("test"),
        )


@pytest.mark.parametrize("module", ["ray", "joblib"])
def test_a_missing_extra_is_one_line(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(
        PurseError, match=r"^a Ray cluster needs \w+: pip install 'purse-bandits\[ray\]'$"
    ):
        cluster.play_on_cluster([], {}, "ray", lambda shard, frames: None, Progress("test"))
