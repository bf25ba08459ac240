"""One ask and one tell of a live policy in memory: with masks, with contexts, with both."""

from __future__ import annotations

from typing import Any

import purse
from benchmarks.instance import USUAL, best, enough, say, timed
from benchmarks.startup import RICH

BLIND, SEEING = "replan", "lin-ucb.price"
FEATURES = {"length": (0, 8_000), "hard": (0, 1), "hour": (0, 24)}
KINDS: dict[str, dict[str, Any]] = {
    "plain": {},
    "five arms allowed": {"allowed": [0, 2, 3, 5, 7]},
    "a context of three features": {"context": [1_200, 0.3, 13]},
    "the same by name": {"context": {"length": 1_200, "hard": 0.3, "hour": 13}},
    "both": {"allowed": [0, 2, 3, 5, 7], "context": [1_200, 0.3, 13]},
}


def microseconds(policy: str, how: dict[str, Any]) -> float:
    """Processor time of one ask, asked so, and one tell."""
    features = FEATURES if "context" in how else None
    live = purse.Policy(policy, n_arms=USUAL, budget=RICH, cost_min=0.2, features=features)

    def rounds(count: int) -> float:
        def play() -> None:
            for k in range(count):
                live.tell(live.ask(**how), float(k & 1), 0.5)

        return timed(play)

    count = enough(rounds)
    return 1e6 / best(lambda: count / rounds(count))


def measure() -> list[dict[str, Any]]:
    """Return a row for each policy and way to ask; a policy that sees contexts needs one."""
    rows = [
        {"policy": policy, "asked": kind, "microseconds": microseconds(policy, how)}
        for policy in (BLIND, SEEING)
        for kind, how in KINDS.items()
        if policy == BLIND or "context" in how
    ]
    say(f"ask and tell, with masks and contexts: {len(rows)} ways")
    return rows


if __name__ == "__main__":
    for row in measure():
        say(f"{row['policy']}, {row['asked']}: {row['microseconds']:.2f} µs")
