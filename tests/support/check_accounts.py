"""Accounts against the journals of the campaigns below them and the logs of all clients, added up
here from nothing but entries.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from purse import Account
from purse.base import amounts
from purse.campaign.local.campaign import LocalCampaign as Campaign
from tests.support.client_log import FUND

COLUMNS = ("spent", "held", "presumed", "overrun")


def check_accounts(
    accounts: Sequence[Account],
    below: dict[str, list[Campaign]],
    lines: list[dict[str, Any]],
) -> None:
    """Each account holds what the campaigns below it hold together, P1 held after each of its
    entries, every acknowledged top-up is in its journal once, and no audit finds anything.

    below   the campaigns under each account, at any depth
    """
    for account in accounts:
        entries = list(account.journal())
        assert [entry.seq for entry in entries] == list(range(1, len(entries) + 1))
        check_top_ups(account.name, entries, lines)
        check_balances(account, entries, below[account.name])
        audit = account.audit()
        assert audit.ok, audit.findings


def check_top_ups(name: str, entries: list[Any], lines: list[dict[str, Any]]) -> None:
    """What was acknowledged is there, once; nothing is there that nobody wanted."""
    mine = [line for line in lines if line.get("account") == name]
    wanted = {line["request"] for line in mine if line.get("want") == FUND}
    got = {line["request"] for line in mine if line.get("got") == FUND}
    written = [entry.request for entry in entries if entry.kind == "topped_up"]
    assert len(set(written)) == len(written), "a top-up is in the journal twice"
    assert got <= set(written), f"{got - set(written)} were acknowledged, and are lost"
    assert set(written) <= wanted, "a top-up is in the journal, and nobody wanted it"


def check_balances(account: Account, entries: list[Any], campaigns: list[Campaign]) -> None:
    """P1 after each entry; at the end the sums of the campaigns."""
    budget = sums = None
    for entry in entries:
        if entry.kind == "created":
            budget, sums = entry.body["budget"][0], dict.fromkeys(COLUMNS, 0)
        assert budget is not None
        assert sums is not None
        if entry.kind == "topped_up":
            budget += entry.body["units"][0]
        if entry.kind == "moved":
            for column in COLUMNS:
                sums[column] += entry.body.get(column, [0])[0]
        assert sums["spent"] + sums["held"] + sums["presumed"] <= budget, (
            f"P1 is broken after entry {entry.seq} of {account.name}"
        )
    assert budget is not None
    assert sums is not None
    (shown,) = account.status().purses
    expected = [amounts.text(units) for units in (budget, *sums.values())]
    assert [shown.budget, *(getattr(shown, column) for column in COLUMNS)] == expected
    for column in COLUMNS:
        parts = [
            amounts.to_units(column, getattr(each.status().purses[0], column)) for each in campaigns
        ]
        assert sum(parts) == sums[column], f"{column} of {account.name}"
