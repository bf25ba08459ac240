"""One ask and one tell of a live policy in memory: of each policy, and of two with masks, with
contexts and with both.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import purse
from benchmarks.instance import USUAL, best, enough, policy_terms, say, timed, world
from purse.base.amounts import UNIT
from purse.engine.job import make_job

RICH = 10_000_000  # a budget that no measurement exhausts
BLIND, SEEING = "replan", "lin-ucb.price"
FEATURES = {"length": (0, 8_000), "hard": (0, 1), "hour": (0, 24)}
KINDS: dict[str, dict[str, Any]] = {
    "plain": {},
    "five arms allowed": {"allowed": [0, 2, 3, 5, 7]},
    "a context of three features": {"context": [1_200, 0.3, 13]},
    "the same by name": {"context": {"length": 1_200, "hard": 0.3, "hour": 13}},
    "both": {"allowed": [0, 2, 3, 5, 7], "context": [1_200, 0.3, 13]},
}


def microseconds(live: purse.Policy, costs: Sequence[float], **how: Any) -> float:
    """Return the processor time of one ask, asked so, and one tell of the arm's cost."""

    def rounds(count: int) -> float:
        def play() -> None:
            for k in range(count):
                ticket = live.ask(**how)
                live.tell(ticket, float(k & 1), costs[ticket.arm])

        return timed(play)

    count = enough(rounds)
    return 1e6 / best(lambda: count / rounds(count))


def measure_policies() -> dict[str, float]:
    """Return the time of each policy, at the usual K."""
    instance, times = world(USUAL), {}
    costs = (instance.cost_max[:, 0] / UNIT).tolist()
    for policy in purse.policies.names():
        problem = make_job(policy, instance, RICH, **policy_terms(policy, RICH)).problem
        live = purse.Policy.of(problem, policy, seed=0, stop="hold")
        times[policy] = microseconds(live, costs)
    say(f"ask and tell: {len(times)} policies")
    return times


def measure() -> list[dict[str, Any]]:
    """Return a row for each policy and way to ask; a policy that sees contexts needs one."""
    rows = []
    for policy in (BLIND, SEEING):
        for kind, how in KINDS.items():
            features = FEATURES if "context" in how else None
            if policy == BLIND or features:
                live = purse.Policy(
                    policy, n_arms=USUAL, budget=RICH, cost_min=0.2, features=features
                )
                row = {"policy": policy, "asked": kind}
                rows.append({**row, "microseconds": microseconds(live, [0.5] * USUAL, **how)})
    say(f"ask and tell, with masks and contexts: {len(rows)} ways")
    return rows


if __name__ == "__main__":
    for row in measure():
        say(f"{row['policy']}, {row['asked']}: {row['microseconds']:.2f} µs")
