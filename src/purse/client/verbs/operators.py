"""Changes of a campaign, as requests."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from purse.campaign.results import Status
from purse.client.exchange import Request
from purse.client.verbs.asks import named
from purse.client.verbs.common import given, result
from purse.client.wire import path


def create(name: str, terms: Mapping[str, Any], exist_ok: bool = False) -> Request[Status]:
    """Create a campaign; `terms` are the arguments of `Campaign.create` that say what it is."""
    body = {"name": name, **terms, **({"exist_ok": True} if exist_ok else {})}
    return result(Status, "POST", "/campaigns", body)


def top_up(name: str, amount: Any, request_id: str | None = None) -> Request[Status]:
    """Add to the budget."""
    body = {"amount": amount, "request_id": named(request_id)}
    return result(Status, "POST", path(name, "top-ups"), body)


def pause(name: str) -> Request[Status]:
    """Issue no tickets until `resume`."""
    return result(Status, "POST", path(name, "pause"))


def resume(name: str) -> Request[Status]:
    """Issue tickets again."""
    return result(Status, "POST", path(name, "resume"))


def end(name: str) -> Request[Status]:
    """Issue no tickets from now on."""
    return result(Status, "POST", path(name, "end"))


def set_alerts(name: str, alerts: Sequence[str]) -> Request[Status]:
    """Make events by these rules from now on."""
    return result(Status, "POST", path(name, "alerts"), {"alerts": list(alerts)})


def expire(name: str) -> Request[int]:
    """Expire the tickets past their deadline; the answer is their number."""
    return Request("POST", path(name, "expire"), lambda text: int(json.loads(text)["expired"]))


def add_arm(name: str, arm: str, *, cost_min: Any = None, cost_max: Any = None) -> Request[Status]:
    """Add an arm, or take back a retired one."""
    body = {"name": arm, **given(cost_min=cost_min, cost_max=cost_max)}
    return result(Status, "POST", path(name, "arms"), body)


def retire_arm(name: str, arm: str) -> Request[Status]:
    """Choose an arm no more."""
    return result(Status, "POST", path(name, "arms", "retire"), {"name": arm})


def set_arm(name: str, arm: str, *, cost_min: Any = None, cost_max: Any = None) -> Request[Status]:
    """Change what an arm may cost."""
    body = {"name": arm, **given(cost_min=cost_min, cost_max=cost_max)}
    return result(Status, "POST", path(name, "arms", "set"), body)
