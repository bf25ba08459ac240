"""What the scores of a leaderboard recommend, and what a policy earns beside trivial players."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from purse.ranking.page import NOTHING, without_known_costs

if TYPE_CHECKING:
    from purse.ranking.scores import Leaderboard


class Choice(NamedTuple):
    """How a policy does in some situations."""

    policy: str
    mean: float  # of the situations' mean scores
    worst: float  # mean score on the worst case
    case: str  # the worst case


def rank(board: Leaderboard, situations: list[str]) -> list[Choice]:
    """Return the policies that play all cases of these situations, by their mean score.

    Policies that need to know what each arm costs are left out. Each situation counts once,
    whatever its number of cases.
    """
    cases = {
        situation: [case.name for case in board.cases if case.situation == situation]
        for situation in situations
    }
    found = []
    for policy in without_known_costs(board):
        scores = {
            case: board.mean_score(policy, case) for names in cases.values() for case in names
        }
        played = {case: score for case, score in scores.items() if score is not None}
        if len(played) == len(scores):
            means = [np.mean([played[case] for case in names]) for names in cases.values()]
            worst = max(played, key=lambda case: played[case])
            found.append(Choice(policy, float(np.mean(means)), played[worst], worst))
    return sorted(found, key=lambda choice: choice.mean)


def recommendations(board: Leaderboard) -> dict[str, list[Choice]]:
    """Return the policies by their mean score, for all situations together and for each."""
    every = list(dict.fromkeys(case.situation for case in board.cases))
    groups = {NOTHING: every, **{situation: [situation] for situation in every}}
    return {label: rank(board, about) for label, about in groups.items()}


def reason(choices: list[Choice]) -> str:
    """Return why the first of these policies is taken, in a sentence."""
    if not choices:
        return "No policy on this board plays all of these cases."
    first, *others = choices
    text = (
        f"Its mean regret is {100 * first.mean:.1f}%, and {100 * first.worst:.1f}% at worst "
        f"({first.case})"
    )
    if others:
        then = others[0]
        text += (
            f"; `{then.policy}` follows with {100 * then.mean:.1f}%, and "
            f"{100 * then.worst:.1f}% at worst ({then.case})"
        )
    return f"{text}."


class Share(NamedTuple):
    """What a policy earns on a case, as parts of what two players earn who learn nothing."""

    case: str
    cheapest: float | None  # of what the cheapest arm alone earns; None where that is nothing
    best: float | None  # of what the best arm alone earns


def shares(board: Leaderboard, policy: str) -> list[Share]:
    """Return what the policy earns beside two trivial players, on every case that it plays."""
    found = []
    for case, alone in board.alone.items():
        score = board.mean_score(policy, case)
        if score is not None:
            parts = ((1 - score) / each if each > 0 else None for each in alone)
            found.append(Share(case, *parts))
    return found
