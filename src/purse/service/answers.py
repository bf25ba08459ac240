"""The first lines of a campaign's page: its answer, what a request is worth, its certificate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from purse.base import spec
from purse.campaign.api.results import Status, write_time
from purse.campaign.ledger.records import Head
from purse.campaign.views.certificate import certificate_of
from purse.campaign.views.history import History
from purse.campaign.views.recommendation import recommendation_of
from purse.identification.recommendation import CONFIDENCE, REWARD

_BEST_ARM = "best-arm"  # the policy whose campaigns are a question
_OPTIONS = ("cap", "confidence", "within")  # of the policy, which the question has, too


def answers(
    history: History, head: Head, status: Status, projections: Sequence[Mapping[str, float] | None]
) -> dict[str, Any]:
    """Return what is said first of a campaign.

    head          as it is stored
    projections   when each resource runs out at this speed
    """
    name, options = spec.parse(history.terms.policy)
    if name == _BEST_ARM:  # which does not try to gain: nothing is certified
        answer = _recommended_arm(history, options)
        answer = answer or _runs_out(status, projections)
        return {"answer": answer, "worth": history.worth, "certificate": None}
    certificate = certificate_of(history, CONFIDENCE, head.drifted)
    return {
        "answer": _runs_out(status, projections),
        "worth": history.worth,
        "certificate": {
            "share": certificate.share,
            "confidence": certificate.confidence,
            "reason": certificate.notes[0] if certificate.share is None else "",
        },
    }


def _recommended_arm(history: History, options: Mapping[str, Any]) -> str:
    """Return which arm is best, for a campaign of the policy that finds it; "" before a report.

    options   of the policy
    """
    asked = {"cap": None, "confidence": CONFIDENCE, "within": 0.0}
    asked |= {option: options[option] for option in _OPTIONS if option in options}
    by = str(options.get("by", REWARD))
    best = recommendation_of(history.level, history.arm_sums(), by, None, **asked)
    if best.arm is None:
        return best.answer
    if best.certain:
        return f"{best.arm} is best {best.question}, {best.sureness} sure"
    return (
        f"{best.arm} leads {best.question}, {best.sureness} sure"
        if best.confidence >= 0.001
        else ""
    )


def _runs_out(status: Status, projections: Sequence[Mapping[str, float] | None]) -> str:
    """Return when the first resource runs out at this speed; "" if none does."""
    ends = [
        (projection["at"], purse.resource)
        for purse, projection in zip(status.purses, projections, strict=True)
        if projection is not None
    ]
    if not ends:
        return ""
    at, resource = min(ends)
    limit = status.period.ends_at if status.period else status.until
    if limit is not None and at > limit:
        which = "this period" if status.period else "the campaign"
        return f"at this speed {resource} lasts longer than {which}"
    return f"at this speed {resource} lasts until {write_time(at, status.time_zone)}"
