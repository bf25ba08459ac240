from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

from purse.campaign.storage.queue import Queue

TERMS: dict[str, Any] = {
    "arms": {"a": 1, "b": 3},
    "budget": 10,
    "cost_min": "0.5",
    "policy": "uniform",
}


def test_a_gate_lets_one_through_at_a_time(tmp_path: Path) -> None:
    inside, most = [0], [0]

    def work() -> None:
        queue = Queue(str(tmp_path / "gate"), 60)
        for _ in range(20):
            with queue.passed():
                inside[0] += 1
                most[0] = max(most[0], inside[0])
                inside[0] -= 1
        queue.close()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1]


def test_a_dead_process_leaves_the_gate(tmp_path: Path) -> None:
    code = f"""
import os, signal
from purse.campaign.storage.queue import Queue
with Queue({str(tmp_path / "gate")!r}, 60).passed():
    os.kill(os.getpid(), signal.SIGKILL)
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == -9
    with Queue(str(tmp_path / "gate"), 60).passed():
        pass
