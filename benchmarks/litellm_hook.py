"""What a campaign adds to a request of LiteLLM's router: without a callback, with one that does
nothing, and with a campaign in memory and in an SQLite file.

The answers are LiteLLM's mock answers, so nearly all of the time is the router's own. The four
take turns in one run, so that a busy machine slows all of them. Run it:
python -m benchmarks.litellm_hook [ROUNDS]
"""

from __future__ import annotations

import asyncio
import logging
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

MODELS = ("gpt-5-nano", "gpt-5-mini", "gpt-5.4")
ASKED = [{"role": "user", "content": "hello there"}]
TOGETHER = 16  # requests at once, in the second measurement
BATCH = 32  # requests of a turn


def deployments() -> list[dict[str, Any]]:
    return [
        {
            "model_name": "auto",
            "litellm_params": {"model": f"openai/{name}", "api_key": "x", "mock_response": "yes"},
            "model_info": {"id": name},
        }
        for name in MODELS
    ]


async def turn(router: Any, together: int) -> tuple[float, float]:
    """Return milliseconds per request of one batch: on the clock, and of all cores together."""
    begun = time.perf_counter(), time.process_time()
    for _ in range(BATCH // together):
        await asyncio.gather(
            *(router.acompletion("auto", ASKED, max_tokens=100) for _ in range(together))
        )
    ended = time.perf_counter(), time.process_time()
    return (ended[0] - begun[0]) * 1000 / BATCH, (ended[1] - begun[1]) * 1000 / BATCH


async def measure(rounds: int, folder: str) -> dict[str, list[tuple[float, float]]]:
    """Return the milliseconds per request of each turn."""
    import litellm
    from litellm.integrations.custom_logger import CustomLogger

    from purse.integrations.litellm import PurseRouter, create_campaign

    litellm.suppress_debug_info = True
    logging.getLogger("LiteLLM").setLevel(logging.CRITICAL)
    router = litellm.Router(model_list=deployments(), num_retries=0)
    storages = {"in memory": "memory:", "in SQLite": f"sqlite:///{Path(folder, 'purse.db')}"}
    campaigns: dict[str, Any] = {
        name: create_campaign(
            router, "auto", budget=1_000, prompt_tokens=2_000, answer_tokens=500, storage=storage
        )
        for name, storage in storages.items()
    }
    hook = PurseRouter({"auto": campaigns["in memory"]}, reward=lambda answer, messages: 1.0)
    turns: dict[str, list[tuple[float, float]]] = {}
    for done in range(rounds + 1):
        for together in (1, TOGETHER):
            for name in ("without", "empty", *storages):
                plain = [] if name == "without" else [CustomLogger()]
                hook.close()  # what LiteLLM keeps of the turn before
                litellm.callbacks = [hook] if name in storages else plain
                hook.campaigns["auto"] = campaigns.get(name)
                spent = await turn(router, together)
                await hook.flush()
                if done:  # the first turn compiles and imports
                    turns.setdefault(f"{name}, {together} at once", []).append(spent)
    hook.close()
    for campaign in campaigns.values():
        assert campaign.audit().ok
        assert campaign.status().counts["held"] == 0
    return turns


def main() -> None:
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # no download
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    with tempfile.TemporaryDirectory() as folder:
        turns = asyncio.run(measure(rounds, folder))
    print(f"milliseconds per request: median of {rounds} turns of {BATCH} requests")
    for name, spent in turns.items():
        clock, cores = (statistics.median(column) for column in zip(*spent, strict=True))
        print(f"{name:>22}: {clock:6.2f} on the clock, {cores:6.2f} of processor time")


if __name__ == "__main__":
    main()
