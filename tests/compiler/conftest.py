from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.support.processes import fresh_process
from tests.support.soak import SOAK

PLAY = """
import json, warnings
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    import purse
    from purse.engine import cpu, job
    game = "POLICY", "misleading_ratio", 300
    run = purse.simulate(*game, n_paths=3, n_workers=1, seed=7)
(loop,) = cpu.compiled_loop(job.make_job(*game)).by_kind.values()
stats = loop.machine_code.stats
print(json.dumps({
    "numbers": [run.gain.tolist(), run.pulls.tolist()],
    "hits": sum(stats.cache_hits.values()),
    "misses": sum(stats.cache_misses.values()),
    "warnings": [str(w.message) for w in [*globals().get("early", []), *seen]],
}))
""".replace("POLICY", "exp3.bwk" if SOAK else "uniform")  # which compiles in half the time


@pytest.fixture(scope="session")
def play(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Any]:
    """Plays a game in a fresh process after some code; all share a cache, empty at first."""
    cache = tmp_path_factory.mktemp("cache")
    return lambda before: fresh_process(before + PLAY, cache=cache, NUMBA_OPT="1")


@pytest.fixture(scope="session")
def usual(play: Callable[[str], Any]) -> Any:
    """What the first process of all gives."""
    return play("")
