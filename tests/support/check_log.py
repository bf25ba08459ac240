"""One answer in a client's log against its entry, and the sums of a journal."""

from __future__ import annotations

from typing import Any

from purse.base import amounts
from purse.campaign.local.campaign import LocalCampaign as Campaign

Line = dict[str, Any]


def check_line(campaign: Campaign, line: Line, body: dict[str, Any] | None) -> None:
    """One answer against the entry that it came from."""
    if "refused" in line:
        assert body is None, f"{line} was refused, and is in the journal: {body}"
        return
    assert body is not None, f"{line} was acknowledged, and is lost"
    if line["got"] == "ask":
        assert [each["id"] for each in body["tickets"]] == line["tickets"], (line, body)
        assert [arm_of(campaign, each) for each in body["tickets"]] == line["chosen"], (line, body)
        held = [amounts.text(each["held"][0]) for each in body["tickets"]]
        assert held == line["held"], (line, body)
        contexts = [each.get("context") for each in body["tickets"]] + body.get("unused", [])
        assert contexts == line.get("contexts", [None] * len(contexts)), (line, body)
        if (mask := line.get("arms")) is not None:
            assert set(line["chosen"]) <= set(mask), line
            assert not isinstance(mask, dict) or set(held) == {"0.75"}, line
    elif line["got"] == "reward":
        assert body["rewards"] == [line["reward"]], (line, body)
    elif line["got"] in ("tell", "settle", "fail"):
        cost = amounts.to_units("cost", line["cost"])
        assert body["costs"] == [cost], (line, body)
        assert body.get("rewards") == ([line["reward"]] if line["got"] == "tell" else None)
        assert [amounts.text(body["spent"][0]), amounts.text(body["overrun"][0])] == [
            line["spent"],
            line["overrun"],
        ], (line, body)
        assert body["spent"][0] + body["overrun"][0] == cost, (line, body)
    elif line["got"] == "top_up":
        assert body["units"] == [amounts.to_units("amount", line["amount"])], (line, body)


def arm_of(campaign: Campaign, ticket: dict[str, Any]) -> str:
    """The name of the arm of a ticket in an entry."""
    names = ticket.get("names") or [campaign.terms.arms[arm] for arm in ticket["arms"]]
    return str(names[0])


def check_renewals(entries: list[Any]) -> None:
    """Each period begins once, in order, at the instant at which the last one was to end, and not
    before it.
    """
    number, ends = 1, None
    for entry in entries:
        if entry.kind == "renewed":
            number += 1
            assert entry.body["number"] == number, f"entry {entry.seq} begins another period"
            assert ends in (None, entry.body["at"]), f"entry {entry.seq} begins at another instant"
            assert entry.body["at"] <= entry.at, f"entry {entry.seq} came too early"
            ends = entry.body["next"]
            assert ends > entry.body["at"]


def check_sums(campaign: Campaign, entries: list[Any]) -> None:
    """P1 after every entry, added up here from nothing but the journal; and what the campaign says
    at the end.
    """
    budget, spent, overrun = campaign.terms.budget[0], 0, 0
    apart: dict[int, tuple[str, int]] = {}  # what is held or presumed for each ticket
    for entry in entries:
        body = entry.body
        if entry.kind == "asked":
            apart.update({each["id"]: ("held", each["held"][0]) for each in body["tickets"]})
        elif entry.kind == "expired":
            apart[entry.ticket] = ("presumed", apart[entry.ticket][1])
        elif entry.kind in ("told", "settled", "failed", "voided") and "settled" not in body:
            _, hold = apart.pop(entry.ticket)
            cost = body["costs"][0] if entry.kind != "voided" else 0
            spent, overrun = spent + min(cost, hold), overrun + max(cost - hold, 0)
        elif entry.kind == "topped_up":
            budget += body["units"][0]
        elif entry.kind == "renewed":
            budget += body["allowance"][0]
        budget -= body.get("dropped", [0])[0]
        assert spent + sum(hold for _, hold in apart.values()) <= budget, (
            f"P1 is broken after entry {entry.seq}"
        )
    states = {
        state: sum(hold for now, hold in apart.values() if now == state)
        for state in ("held", "presumed")
    }
    stored = campaign.storage.overview(campaign.name).balances[0]
    assert (stored.budget, stored.spent, stored.held, stored.presumed, stored.overrun) == (
        budget,
        spent,
        states["held"],
        states["presumed"],
        overrun,
    )
    assert {ticket.id for ticket in campaign.tickets(limit=10**6)} == set(apart), (
        "something is held that the journal does not know of"
    )
