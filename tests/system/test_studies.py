"""The same study, shard by shard and byte by byte: on one worker, two workers, processes
that stand in for a cluster and a real local Ray cluster, and killed again and again.
"""

import random
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from joblib import parallel_config
from joblib.externals.loky import get_reusable_executor

from purse.lab.study import cluster
from tests.support.lab import STUDY, command, run
from tests.support.soak import SOAK, scale

KILLS = scale(2, 10)


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, bytes]]:
    """A study file, and what it comes to with one worker."""
    folder = tmp_path_factory.mktemp("cluster")
    (folder / "study.toml").write_text(STUDY)
    return folder, run(folder / "study.toml", folder / "one", n_workers=1)


def free_port() -> int:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        return int(server.getsockname()[1])


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of joblib's own processes, to which shards travel as they do to Ray's."""

    @contextmanager
    def connected(address: str | None) -> Iterator[int]:
        with parallel_config(backend="loky"):
            yield 2

    monkeypatch.setattr(cluster, "_connected", connected)
    yield "ray"
    get_reusable_executor().shutdown()


@pytest.fixture
def ray_address(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A head node of its own, without a dashboard and without a token."""
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
    tool = [sys.executable, "-m", "ray.scripts.scripts"]
    port, door = free_port(), free_port()
    words = [
        "start",
        "--head",
        f"--port={port}",
        f"--ray-client-server-port={door}",
        "--num-cpus=2",
        "--include-dashboard=false",
        "--disable-usage-stats",
    ]
    started = subprocess.run(
        [*tool, *words, "--min-worker-port=0", "--max-worker-port=0"],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert started.returncode == 0, started.stdout + started.stderr
    monkeypatch.setenv("RAY_ADDRESS", f"127.0.0.1:{port}")
    yield f"ray://127.0.0.1:{door}"
    subprocess.run([*tool, "stop", "--force"], capture_output=True, timeout=120, check=False)


def test_two_workers(plain: tuple[Path, dict[str, bytes]]) -> None:
    folder, expected = plain
    assert finished(folder / "one") > 18, "more than a shard for each job"
    assert run(folder / "study.toml", folder / "two", n_workers=2) == expected


@pytest.mark.alone  # Ray gives its server 30 s to start, which is too little beside other tests
@pytest.mark.skipif(not SOAK, reason="a Ray cluster takes two minutes: it is part of make soak")
def test_a_ray_cluster(plain: tuple[Path, dict[str, bytes]], ray_address: str) -> None:
    """The cluster that is known to Ray here, and the same by its address."""
    folder, expected = plain
    for on in ("ray", ray_address):
        assert run(folder / "study.toml", folder / f"ray-{len(on)}", on=on) == expected


def test_a_cluster_plays_a_study_and_continues_what_threads_began(
    plain: tuple[Path, dict[str, bytes]], stand_in: str
) -> None:
    folder, expected = plain
    assert run(folder / "study.toml", folder / "whole", on=stand_in) == expected
    half = folder / "half"
    (half / "shards").mkdir(parents=True)
    for name in [name for name in expected if name.startswith("shards")][::2]:
        shutil.copy(folder / "one" / name, half / name)
    times = {
        path.name: path.stat().st_mtime_ns
        for path in (half / "shards").iterdir()
        if "trace" not in path.name
    }
    assert run(folder / "study.toml", half, on=stand_in) == expected
    assert all((half / "shards" / name).stat().st_mtime_ns == time for name, time in times.items())


def finished(folder: Path) -> int:
    """How many shards are there."""
    shards = (folder / "shards").glob("[!.]*.parquet") if folder.is_dir() else ()
    return len([path for path in shards if "trace" not in path.name])


def test_killed_at_random_moments_and_continued(plain: tuple[Path, dict[str, bytes]]) -> None:
    folder, expected = plain
    cut, rng, total = folder / "cut", random.Random(11), finished(folder / "one")
    # so that there are moments to hit
    slow = "import os, time; was = os.fsync; os.fsync = lambda f: (time.sleep(.004), was(f))[1]; "
    for kill in range(KILLS):
        process = subprocess.Popen(
            command(folder / "study.toml", cut, before=slow),
            stderr=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )
        goal = finished(cut) + rng.randrange(total // KILLS)
        while finished(cut) < goal and process.poll() is None:
            time.sleep(0.001)
        time.sleep(rng.random() * 0.02)
        process.send_signal(signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL, f"kill {kill} came too late"
    assert 0 < finished(cut) < total
    assert run(folder / "study.toml", cut) == expected
