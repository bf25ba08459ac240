"""Notes below the advice of a suite: what an adversary takes, and what is worth how much: contexts,
a number of requests that is told, the default beside arms alone.
"""

from statistics import median
from typing import NamedTuple

from purse import policies
from purse.lab.theory.contexts import lp_with_contexts, lp_without_contexts
from research.leaderboard.case import Case, worlds_of
from research.leaderboard.in_traffic import FEWER, TOLD, UNTOLD
from research.leaderboard.record import ADVERSARY, Record
from research.leaderboard.suites import BY_CLASS, sees_contexts
from research.leaderboard.tables import percent, rank

WORTH_IT = 0.02  # of the optimum: a smaller difference does not count


def blind_share(case: Case) -> float:
    """Return the LP without contexts as a share of the LP with contexts."""
    (world,) = worlds_of(case)
    horizon = case.horizon or world.horizon
    whole = lp_with_contexts(world, case.budget, horizon=horizon)
    return lp_without_contexts(world, case.budget, horizon=horizon) / whole


def best_share(record: Record, case: Case, *, seeing: bool) -> tuple[float, str] | None:
    """Return the largest share of the optimum, and its policy, of those that see contexts or not.

    Return None if no such policy plays the case.
    """
    shares = [
        (1 - score, policy)
        for policy in record.policies
        if sees_contexts(policy, case.situation) == seeing
        and (score := record.mean_score(policy, case.name)) is not None
    ]
    return max(shares, default=None)


def worth_and_gained(record: Record, case: Case) -> tuple[float, float] | None:
    """Return what contexts are worth in a case, and what policies get of it, as parts of what is
    possible without them.

    Return None if nobody plays it with contexts, or nobody without.
    """
    blind, seeing = (best_share(record, case, seeing=sees) for sees in (False, True))
    if blind is None or seeing is None:
        return None
    return 1 / blind_share(case) - 1, seeing[0] / blind[0] - 1


class Share(NamedTuple):
    """The gain of a policy on a case, as parts of the gains of two arms alone."""

    case: str
    cheapest: float | None  # of the cheapest arm's gain; None if that is 0
    best: float | None  # of the best arm's gain


def shares(record: Record, policy: str) -> list[Share]:
    """Return the shares of a policy on every case that it plays."""
    rows = []
    for case, alone in record.alone.items():
        score = record.mean_score(policy, case)
        if score is not None:
            rows.append(Share(case, *((1 - score) / gain if gain > 0 else None for gain in alone)))
    return rows


def smallest(rows: list[Share], player: str) -> str:
    """Return the smallest share of a player's gain and its case, as text."""
    values = [(value, row.case) for row in rows if (value := getattr(row, player)) is not None]
    value, case = min(values)
    return f"{value:.0%} ({case})"


def trivial_shares(record: Record, _: str | None) -> list[str]:
    """Return a sentence that compares the default with arms alone, if it was played."""
    policy = policies.DEFAULT
    if policy not in record.policies or not record.alone:
        return []
    rows = shares(record, policy)
    return [
        f"In no case does `{policy}`, the default, earn less than "
        f"{smallest(rows, 'cheapest')} of what the cheapest arm alone earns, or than "
        f"{smallest(rows, 'best')} of what the best arm alone does."
    ]


def against_adversary(record: Record, _: str | None) -> list[str]:
    """Return the note on losses to an adversary, whose optimum is known only afterwards."""
    if ADVERSARY not in record.situations:
        return []
    cases = record.situations[ADVERSARY]
    means = {policy: record.mean_over(policy, cases) for policy in record.policies}
    lowest = min(mean for mean in means.values() if mean is not None)
    default = means.get(policies.DEFAULT)
    text = f"Against an adversary the best policy still loses {percent(lowest)}"
    if default is not None:
        text += f", and `{policies.DEFAULT}`, the default, {percent(default)}"
    return [f"{text}: two worlds look the same until it is too late to react."]


def traffic_notes(record: Record, _: str | None) -> list[str]:
    """Return the note on the worth of a number of requests that a player knows."""
    lowest = {}
    for situation in (TOLD, UNTOLD, FEWER):
        choices = rank(record, [situation]) if situation in record.situations else []
        if not choices:
            return []
        lowest[situation] = percent(choices[0].mean)
    return [
        f"Say how many requests will come: told the number, the best policy loses "
        f"{lowest[TOLD]}; told nothing it loses {lowest[UNTOLD]}, because money that might have to "
        f"last for ever is hardly spent; told twice the number, {lowest[FEWER]}.\n"
        'A campaign can forecast it from the times of asks, `horizon="traffic"`; '
        "that needs a clock, and is not played here."
    ]


def context_notes(record: Record, _: str | None) -> list[str]:
    """Return the note on the worth of contexts."""
    pairs = [pair for case in record.cases if (pair := worth_and_gained(record, case))]
    if not pairs:
        return []
    worths, gains = (sorted(part) for part in zip(*pairs, strict=True))
    n_more = sum(gain > WORTH_IT for gain in gains)
    return [
        "The best mixture of arms for each context gains more than the best mixture for all, by "
        f"{worths[0]:+z.0%} to {worths[-1]:+z.0%}, {median(worths):+z.0%} in the median case; the "
        f"best policy that sees contexts gains more than the best blind one in {n_more} of "
        f"{len(pairs)} cases, {median(gains):+z.0%} in the median one.\n"
        f"`{BY_CLASS}` is blind unless contexts are classes."
    ]
