"""Recommendations from the scores of a leaderboard."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from purse import policies

if TYPE_CHECKING:
    from research.leaderboard.record import Record

TIE = 0.005  # of the optimum: the default is taken if the best is better by no more


class Choice(NamedTuple):
    """The score of a policy in some situations."""

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
    choices = []
    for policy in record.policies:
        means = [record.mean_over(policy, names) for names in cases.values()]
        played = [mean for mean in means if mean is not None]
        if policy not in record.known_costs and len(played) == len(means):
            worst = max(
                (case for names in cases.values() for case in names),
                key=lambda case: record.scores[policy, case].mean,
            )
            score = record.scores[policy, worst].mean
            choices.append(Choice(policy, float(np.mean(played)), score, worst))
    return sorted(choices, key=lambda choice: choice.mean)


def recommend(choices: list[Choice]) -> Choice | None:
    """Return the default if hardly any policy is better, else the best; None of none."""
    for choice in choices:
        if choice.policy == policies.DEFAULT and choice.mean <= choices[0].mean + TIE:
            return choice
    return choices[0] if choices else None


def percent(score: float) -> str:
    """Return a score in percent, to a tenth if it is small.

    >>> percent(0.0123), percent(0.4321)
    ('1.2%', '43%')
    """
    return f"{100 * score:.0f}%" if score >= 0.095 else f"{100 * score:z.1f}%"
