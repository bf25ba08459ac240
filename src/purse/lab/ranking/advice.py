"""What the scores of a leaderboard recommend, and what a policy earns beside trivial players."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from purse import policies

if TYPE_CHECKING:
    from purse.lab.ranking.record import Record

TIE = 0.005  # of the optimum: the default is taken where the best is better by no more


class Choice(NamedTuple):
    """How a policy does in some situations."""

    policy: str
    mean: float  # of the situations' mean scores
    worst: float  # mean score on the worst case
    case: str  # the worst case


def rank(record: Record, situations: list[str]) -> list[Choice]:
    """Return the policies that play all cases of these situations, by their mean score.

    Policies that need to know what each arm costs are left out. Each situation counts once,
    whatever its number of cases.
    """
    cases = {situation: record.situations[situation] for situation in situations}
    found = []
    for policy in record.policies:
        means = [record.mean_over(policy, names) for names in cases.values()]
        known = [mean for mean in means if mean is not None]
        if policy not in record.known_costs and len(known) == len(means):
            worst = max(
                (case for names in cases.values() for case in names),
                key=lambda case: record.scores[policy, case].mean,
            )
            score = record.scores[policy, worst].mean
            found.append(Choice(policy, float(np.mean(known)), score, worst))
    return sorted(found, key=lambda choice: choice.mean)


def recommend(choices: list[Choice]) -> Choice | None:
    """Return the policy to take: the default where hardly any is better, else the best; None where
    there are no choices.
    """
    for choice in choices:
        if choice.policy == policies.DEFAULT and choice.mean <= choices[0].mean + TIE:
            return choice
    return choices[0] if choices else None


def reason(choices: list[Choice]) -> str:
    """Return why the recommended policy is taken, in a sentence."""
    taken = recommend(choices)
    if taken is None:
        return "No policy on this board plays all of these cases."
    text = (
        f"Its mean regret is {percent(taken.mean)}, and {percent(taken.worst)} at worst "
        f"({taken.case})"
    )
    if taken != choices[0]:
        best = choices[0]
        return f"{text}; `{best.policy}` has {percent(best.mean)}, which is hardly better."
    if choices[1:]:
        text += f"; `{choices[1].policy}` follows with {percent(choices[1].mean)}"
    return f"{text}."


def percent(score: float) -> str:
    """Return a score in percent, to a tenth where it is small.

    >>> percent(0.0123), percent(0.4321)
    ('1.2%', '43%')
    """
    return f"{100 * score:.0f}%" if score >= 0.095 else f"{100 * score:z.1f}%"


class Share(NamedTuple):
    """What a policy earns on a case, as parts of what two players earn who learn nothing."""

    case: str
    cheapest: float | None  # of what the cheapest arm alone earns; None where that is nothing
    best: float | None  # of what the best arm alone earns


def shares(record: Record, policy: str) -> list[Share]:
    """Return what the policy earns beside two trivial players, on every case that it plays."""
    found = []
    for case, alone in record.alone.items():
        score = record.mean_score(policy, case)
        if score is not None:
            parts = ((1 - score) / each if each > 0 else None for each in alone)
            found.append(Share(case, *parts))
    return found
