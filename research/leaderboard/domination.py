"""Policies that another one makes superfluous, on all suites together.

The result lies beside the policies, so that `purse policies` can say it.
"""

from collections.abc import Sequence
from math import hypot

from purse import policies
from research.leaderboard.record import Record
from research.leaderboard.suites import PLAIN
from research.leaderboard.tables import TIE, corrected


def dominated(records: Sequence[Record]) -> dict[str, str]:
    """Return {policy: the best of those that dominate it}, without variants, yardsticks and
    policies of several plays.

    One dominates another if it plays all cases that the other plays, is worse in no situation by
    more than the noise, all comparisons at once, and loses less on average by more than `TIE`.
    """
    names = sorted({name for record in records for name in record.policies if ":" not in name})
    by_policy = {}
    for name in names:
        leads = {other: _lead(records, name, other) for other in names}
        best = max(names, key=lambda other: leads[other])
        is_single = getattr(policies.load(name), "PLAYS", 0) == 1
        if leads[best] > TIE and is_single and name not in PLAIN:
            by_policy[name] = best
    return by_policy


def _lead(records: Sequence[Record], name: str, other: str) -> float:
    """Return how much less another policy loses on average over situations; 0 if it does not
    dominate.
    """
    leads = [0.0]
    for record in records:
        for cases in record.situations.values():
            mine, theirs = (record.mean_over(policy, cases) for policy in (name, other))
            if mine is None:
                continue
            if theirs is None or (other in record.known_costs) > (name in record.known_costs):
                return 0.0
            halves = [
                record.scores[policy, case].half for policy in (name, other) for case in cases
            ]
            noise = hypot(*(half or 0.0 for half in halves)) / len(cases)
            if theirs - mine > corrected(noise, len(record.policies)):
                return 0.0
            leads.append(mine - theirs)
    return sum(leads) / max(1, len(leads) - 1)
