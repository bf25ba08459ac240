"""The verbs of an account, as requests."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from purse.campaign.account_results import AccountStatus
from purse.campaign.journal import Entry
from purse.campaign.results import Audit
from purse.client.exchange import Request
from purse.client.verbs.asks import named
from purse.client.verbs.common import given, result
from purse.client.verbs.records import AUDIT_TIMEOUT, journal_request
from purse.client.wire import account_path, result_of


def names() -> Request[list[str]]:
    """List the accounts of the server."""
    return Request("GET", "/accounts", lambda text: list(json.loads(text)["accounts"]))


def create(name: str, terms: Mapping[str, Any], exist_ok: bool = False) -> Request[AccountStatus]:
    """Create an account; `terms` are the arguments of `Account.create` that say what it is."""
    body = {"name": name, **given(**terms), **({"exist_ok": True} if exist_ok else {})}
    return result(AccountStatus, "POST", "/accounts", body)


def status(name: str) -> Request[AccountStatus]:
    """Look at the balances of an account, and at all that is below it."""
    return result(AccountStatus, "GET", account_path(name))


def top_up(name: str, amount: Any, request_id: str | None = None) -> Request[AccountStatus]:
    """Add to the budget."""
    body = {"amount": amount, "request_id": named(request_id)}
    return result(AccountStatus, "POST", account_path(name, "top-ups"), body)


def pause(name: str) -> Request[AccountStatus]:
    """Let campaigns below it issue no tickets until `resume`."""
    return result(AccountStatus, "POST", account_path(name, "pause"))


def resume(name: str) -> Request[AccountStatus]:
    """Let campaigns below it issue tickets again."""
    return result(AccountStatus, "POST", account_path(name, "resume"))


def end(name: str) -> Request[AccountStatus]:
    """Let campaigns below it issue no tickets from now on."""
    return result(AccountStatus, "POST", account_path(name, "end"))


def set_alerts(name: str, alerts: Sequence[str]) -> Request[AccountStatus]:
    """Make events by these rules from now on."""
    return result(AccountStatus, "POST", account_path(name, "alerts"), {"alerts": list(alerts)})


def journal_page(name: str, after: int) -> Request[list[Entry]]:
    """Look at the entries that follow one; at the end there are none."""
    return journal_request(account_path(name, "journal"), after)


def audit(name: str) -> Request[Audit]:
    """Check an account against its journal and those of its campaigns."""
    return Request(
        "POST",
        account_path(name, "audit"),
        lambda text: result_of(Audit, json.loads(text)),
        timeout=AUDIT_TIMEOUT,
    )
