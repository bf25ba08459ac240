"""The verbs that choose arms, as requests."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from purse.campaign.request_ids import checked_request, new_request
from purse.campaign.results import CampaignTicket
from purse.client.exchange import Request
from purse.client.verbs.common import Arms, Labels, given, tickets_of
from purse.client.wire import path


def ask(
    name: str,
    request_id: str | None = None,
    *,
    arms: Arms = None,
    context: Any = None,
    labels: Labels = None,
) -> Request[CampaignTicket]:
    """Ask for one ticket."""
    wishes = given(arms=arms, context=context, labels=labels)
    body = {"n": 1, "request_id": named(request_id), **wishes}
    return Request("POST", path(name, "asks"), lambda text: tickets_of(text)[0], body)


def ask_many(
    name: str,
    n: int,
    request_id: str | None = None,
    *,
    arms: Arms = None,
    contexts: Sequence[Any] | None = None,
    labels: Labels = None,
) -> Request[list[CampaignTicket]]:
    """Ask for several tickets."""
    wishes = given(arms=arms, contexts=contexts, labels=labels)
    body = {"n": n, "request_id": named(request_id), **wishes}
    return Request("POST", path(name, "asks"), tickets_of, body)


def named(request_id: str | None) -> str:
    """Return the name of a request; without one it could not be sent again."""
    return new_request() if request_id is None else checked_request(request_id)


def probabilities(name: str, arms: Arms = None, context: Any = None) -> Request[dict[str, float]]:
    """Look at the probabilities of the next round."""
    return Request(
        "POST",
        path(name, "probabilities"),
        lambda text: dict(json.loads(text)["probabilities"]),
        given(arms=arms, context=context),
    )
