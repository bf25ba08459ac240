"""The check of a campaign, and of the accounts above it, against the logs of all their clients."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from purse.base import amounts
from tests.support.client_log import ARM_VERBS, FUND, NEW, Line

VERBS = {
    "told": "tell",
    "settled": "settle",
    "failed": "fail",
    "voided": "void",
    "topped_up": "top_up",
}
OTHERS = ("created", "expired", "renewed", "handed_over")  # that nobody asks for
PLACES = ("left", "right", NEW)  # of the arms


class Journal:
    """What the journal of a campaign says, verb by verb."""

    def __init__(self, campaign: Any) -> None:
        self.entries = list(campaign.journal())
        self.written: dict[tuple[str, Any], list[Any]] = {}  # by verb, and request or ticket
        self.given_up: set[int] = set()  # tickets whose reward did not come in time
        self.changed: set[tuple[str, str]] = set()  # verbs and arms
        settled: set[int] = set()
        for entry in self.entries:
            if entry.kind == "asked":
                request = entry.request or entry.body["of"]
                self.written.setdefault(("ask", request), []).append(entry)
            elif entry.kind == "told" and entry.body.get("missing"):
                assert entry.ticket not in self.given_up, f"entry {entry.seq} gives up again"
                self.given_up.add(entry.ticket)
            elif entry.kind in VERBS:
                late = entry.kind == "told" and entry.ticket in settled
                key = "reward" if late else VERBS[entry.kind], entry.request or entry.ticket
                assert key not in self.written, f"{key} is in the journal twice"
                self.written[key] = [entry]
                settled |= {entry.ticket} if entry.kind == "settled" else set()
            elif entry.kind in ARM_VERBS:
                self.changed.add((ARM_VERBS[entry.kind], entry.body["name"]))
            elif entry.kind == "conflict":
                assert entry.ticket in self.given_up, f"entry {entry.seq}: the reward came in time"
            else:
                assert entry.kind in OTHERS, f"entry {entry.seq} is {entry.kind}"


def check_promises(campaign: Any, lines: list[Line]) -> None:
    """All that was answered is in the journal, once, in the same words; nothing else is; and it
    adds up after every entry. What was wanted of accounts is not looked at.
    """
    lines = [line for line in lines if FUND not in (line.get("want"), line.get("got"))]
    journal = Journal(campaign)
    answered = Counter(key_of(line, "got") for line in lines if "got" in line)
    wanted = {key_of(line, "want"): line for line in lines if "want" in line}
    assert not [key for key, count in answered.items() if count > 1], "something was answered twice"
    assert set(journal.written) <= set(wanted), "something is in the journal that nobody wanted"
    assert not {ticket for verb, ticket in journal.written if verb == "reward"} & journal.given_up
    assert journal.changed <= {(line["want"], line.get("arm")) for line in wanted.values()}
    for line in lines:
        if "got" not in line:
            continue
        if line["got"] in ARM_VERBS.values():
            known = (line["got"], line["arm"]) in journal.changed
            assert "refused" in line or is_so_at_first(line) or known
        elif "too_late" in line:
            assert line["ticket"] in journal.given_up, f"{line}: the reward was there in time"
        else:
            check_line(line, journal.written.get(key_of(line, "got"), []))
    check_renewals(journal.entries)
    check_sums(campaign, journal.entries)
    audit = campaign.audit()
    assert audit.ok, audit.findings


def key_of(line: Line, what: str) -> tuple[str, Any]:
    return line[what], line.get("request") or line["ticket"]


def is_so_at_first(line: Line) -> bool:
    """Whether a change of an arm may have been none."""
    return (line["got"], line["arm"], line.get("most")) in (
        ("add_arm", "right", None),
        ("set_arm", "left", "1"),
        ("set_arm", NEW, "2"),
    )


def check_line(line: Line, entries: Sequence[Any]) -> None:
    if "refused" in line:
        assert not entries, f"{line} was refused, and is in the journal: {entries}"
        return
    assert entries, f"{line} was acknowledged, and is lost"
    body = entries[0].body
    if line["got"] == "ask":
        assert [entry.ticket for entry in entries] == line["tickets"], (line, entries)
        assert [PLACES[entry.body["arm"]] for entry in entries] == line["chosen"], (line, entries)
        held = [amounts.text(entry.body["held"][0]) for entry in entries]
        assert held == line["held"], (line, entries)
        contexts = [entry.body.get("context") for entry in entries]
        assert contexts == line.get("contexts", [None] * len(contexts))[: len(contexts)]
        if (mask := line.get("arms")) is not None:
            assert set(line["chosen"]) <= set(mask), line
            assert not isinstance(mask, dict) or set(held) == {"0.75"}, line
    elif line["got"] == "reward":
        assert body["reward"] == line["reward"], (line, body)
    elif line["got"] in ("tell", "settle", "fail"):
        cost = amounts.to_units("cost", line["cost"])
        assert body["costs"] == [cost], (line, body)
        assert body.get("reward") == (line["reward"] if line["got"] == "tell" else None)
        spent, over = [amounts.to_units(name, line[name]) for name in ("spent", "overrun")]
        assert spent == cost >= over, (line, body)
    elif line["got"] == "top_up":
        assert body["units"] == [amounts.to_units("amount", line["amount"])], (line, body)


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


def check_sums(campaign: Any, entries: list[Any]) -> None:
    """P1 after every ask, added up here from nothing but the journal; and what the storage says
    at the end. What is left at the end of a period is gone, and so is what tickets of earlier
    periods give back.
    """
    allowance = campaign.terms.budget[0]
    budget, spent, overrun, period = allowance, 0, 0, 1
    apart: dict[int, tuple[str, int, int]] = {}  # state, amount and period of each ticket
    for entry in entries:
        body = entry.body
        if entry.kind == "asked":
            apart[entry.ticket] = ("held", body["held"][0], period)
        elif entry.kind == "expired":
            apart[entry.ticket] = ("presumed", *apart[entry.ticket][1:])
        elif entry.kind in ("told", "settled", "failed", "voided") and entry.ticket in apart:
            _, hold, asked = apart.pop(entry.ticket)
            cost = body["costs"][0] if entry.kind != "voided" else 0
            spent, overrun = spent + cost, overrun + max(cost - hold, 0)
            budget -= hold - cost if asked < period else 0
        elif entry.kind == "topped_up":
            budget += body["units"][0]
        elif entry.kind == "renewed":
            period += 1
            budget = spent + sum(hold for _, hold, _ in apart.values()) + allowance
        taken = spent + sum(hold for _, hold, _ in apart.values())
        assert taken <= budget + (0 if entry.kind == "asked" else overrun), (
            f"P1 is broken after entry {entry.seq}"
        )
    states = [
        sum(hold for now, hold, _ in apart.values() if now == state)
        for state in ("held", "presumed")
    ]
    stored = campaign.storage.level(campaign.name)[-1].balances[0]
    assert tuple(stored)[:5] == (budget, spent, *states, overrun)
    unfinished = campaign.storage.open_tickets(campaign.name, ("held", "presumed"), 0, 10**6)
    assert {entry.ticket for entry in unfinished} == set(apart), "something is held in secret"


def check_accounts(accounts: Sequence[Any], below: dict[str, list[Any]], lines: list[Line]) -> None:
    """Each account holds what the campaigns below it hold together, every acknowledged top-up is in
    its journal once, and no audit finds anything.

    below   the campaigns under each account, at any depth
    """
    for account in accounts:
        entries = list(account.journal())
        assert [entry.seq for entry in entries] == list(range(1, len(entries) + 1))
        check_top_ups(account.name, entries, lines)
        units = [entry.body["units"][0] for entry in entries if entry.kind == "topped_up"]
        stored = account.storage.level(account.name)[-1].balances[0]
        assert stored.budget == entries[0].body["budget"][0] + sum(units)
        parts = [each.storage.level(each.name)[-1].balances[0] for each in below[account.name]]
        assert list(stored[1:5]) == [sum(column) for column in list(zip(*parts, strict=True))[1:5]]
        audit = account.audit()
        assert audit.ok, audit.findings


def check_top_ups(name: str, entries: list[Any], lines: list[Line]) -> None:
    """What was acknowledged is there, once; nothing is there that nobody wanted."""
    mine = [line for line in lines if line.get("account") == name]
    wanted = {line["request"] for line in mine if line.get("want") == FUND}
    got = {line["request"] for line in mine if line.get("got") == FUND}
    written = [entry.request for entry in entries if entry.kind == "topped_up"]
    assert len(set(written)) == len(written), "a top-up is in the journal twice"
    assert got <= set(written), f"{got - set(written)} were acknowledged, and are lost"
    assert set(written) <= wanted, "a top-up is in the journal, and nobody wanted it"
