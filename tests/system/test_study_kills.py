"""A study that is killed again and again comes to the same bytes as one that was not."""

from __future__ import annotations

import random
import signal
import subprocess
import time
from pathlib import Path

from tests.support.soak import scale
from tests.support.study_runs import STUDY, command, run

KILLS = scale(2, 10)


def finished(folder: Path) -> int:
    """How many shards are there."""
    return (
        len(
            [path for path in (folder / "shards").glob("[!.]*.parquet") if "trace" not in path.name]
        )
        if folder.is_dir()
        else 0
    )


def test_killed_at_random_moments_and_continued(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(STUDY)
    expected, rng = run(tmp_path / "study.toml", tmp_path / "whole"), random.Random(11)
    cut, total = (
        tmp_path / "cut",
        len([name for name in expected if name.startswith("shards") and "trace" not in name]),
    )
    # so that there are moments to hit
    slow = "import os, time; was = os.fsync; os.fsync = lambda f: (time.sleep(.004), was(f))[1]; "
    for kill in range(KILLS):
        process = subprocess.Popen(
            command(tmp_path / "study.toml", cut, before=slow),
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
    assert run(tmp_path / "study.toml", cut) == expected
