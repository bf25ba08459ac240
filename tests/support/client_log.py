"""A client that keeps a log of what it wants and of what it was answered, and the check of a
campaign against the logs of all its clients.
"""

from __future__ import annotations

import json
import os
import random
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from purse import BudgetExhausted, Campaign, PurseError, StorageUnavailable
from purse.base import amounts
from purse.campaign.archive_file import complete
from purse.campaign.results import Receipt

TERMS: dict[str, Any] = {
    "arms": {"left": 1, "right": "1.5"},
    "budget": 12,
    "cost_min": "0.1",
    "policy": "primal-dual-bwk",
}
Line = dict[str, Any]


class ClientLog:
    """Lines that begin with `want` before something is asked for, and with `got` once it is
    answered.
    """

    def __init__(self) -> None:
        self.lines: list[Line] = []

    def write(self, line: Line) -> None:
        """One more line."""
        self.lines.append(line)

    @property
    def open(self) -> Line | None:
        """What was wanted last, where no answer is known."""
        return self.lines[-1] if self.lines and "want" in self.lines[-1] else None


class FileClientLog(ClientLog):
    """A log on disk: a line is synced before the client goes on."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.lines = (
            [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
        )
        self._file = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o644)

    def write(self, line: Line) -> None:
        os.write(self._file, (json.dumps(line) + "\n").encode())
        os.fsync(self._file)
        super().write(line)


class LoggingClient:
    """Asks, tells, voids and tops up at random; what was wanted when it died is wanted again, in
    the same words, by whoever goes on with its log.

    archives   a folder; where it is given, a share of what the client does is to archive
    """

    def __init__(
        self,
        campaign: Campaign,
        log: ClientLog,
        name: str,
        rng: random.Random,
        archives: Path | None = None,
        share: float = 0.02,
    ) -> None:
        self.campaign, self.log, self.name, self.rng = campaign, log, name, rng
        self.archives, self.share = archives, share
        self.tickets = {
            number
            for line in log.lines
            if line.get("got") == "ask"
            for number in line.get("tickets", ())
        }
        self.tickets -= {
            line["ticket"]
            for line in log.lines
            if line.get("got") in ("tell", "void", "settle", "fail")
        }
        self.settled = {line["ticket"] for line in log.lines if line.get("got") == "settle"}
        self.settled -= {line["ticket"] for line in log.lines if line.get("got") == "reward"}

    def resume(self) -> None:
        """Ask again for what was not answered, twice: both answers must be one."""
        if (line := self.log.open) is not None:
            self.have(line)
            first = self.log.lines[-1]
            if "refused" not in first:
                assert {**first, **self.call(line), "duplicate": True} == {
                    **first,
                    "duplicate": True,
                }, first

    def step(self) -> None:
        """Want something new."""
        line = self.wish()
        self.log.write({"want": line.pop("do"), **line})
        self.have(self.log.lines[-1])

    def wish(self) -> Line:
        """Something to do."""
        last = self.log.lines[-1] if self.log.lines else {}
        request = f"{self.name}-{len(self.log.lines)}"
        if "refused" in last:
            return {"do": "top_up", "request": request, "amount": "2.5"}
        if self.archives is not None and self.rng.random() < self.share:
            return {"do": "archive", "request": request}
        if not self.tickets or self.rng.random() < 0.5:
            return {"do": "ask", "request": request, "n": self.rng.choice((1, 1, 1, 3))}
        ticket = self.rng.choice(sorted(self.tickets))
        reward, cost = self.rng.randrange(9) / 8, f"{self.rng.uniform(0.05, 1.7):.3f}"
        draw = self.rng.random()
        if draw < 0.1:
            return {"do": "void", "ticket": ticket}
        if draw < 0.2:
            return {"do": "fail", "ticket": ticket, "cost": cost}
        if draw < 0.4:
            return {"do": "settle", "ticket": ticket, "cost": cost}
        if draw < 0.6 and self.settled:
            return {"do": "reward", "ticket": min(self.settled), "reward": reward}
        return {"do": "tell", "ticket": ticket, "reward": reward, "cost": cost}

    def have(self, line: Line) -> None:
        """Do it, and write down the answer."""
        answer = self.call(line)
        self.log.write(
            {
                "got": line["want"],
                **{name: value for name, value in line.items() if name != "want"},
                **answer,
            }
        )
        self.tickets = self.tickets - {line.get("ticket")} | set(answer.get("tickets", ()))
        if line["want"] == "settle":
            self.settled.add(line["ticket"])
        if line["want"] == "reward":
            self.settled.remove(line["ticket"])

    def call(self, line: Line) -> Line:
        """The answer to what is wanted, as far as repeats must share it."""
        if line["want"] == "ask":
            try:
                tickets = self.campaign.ask_many(line["n"], line["request"])
            except BudgetExhausted:
                return {"refused": True}
            return {
                "tickets": [ticket.id for ticket in tickets],
                "arms": [ticket.arm for ticket in tickets],
                "held": [ticket.held[0] for ticket in tickets],
            }
        if line["want"] == "top_up":
            self.campaign.top_up(line["amount"], line["request"])
            return {}
        if line["want"] == "archive":
            assert self.archives is not None
            try:
                self.campaign.archive(self.archives / f"{line['request']}.archive")
            except StorageUnavailable:
                raise
            except PurseError:  # nothing can be archived, or somebody else does it, or did
                pass
            return {}
        if line["want"] == "void":
            return {"state": self.campaign.void(line["ticket"]).state}
        receipt = self.report(line)
        return {
            "spent": receipt.spent[0],
            "overrun": receipt.overrun[0],
            "duplicate": receipt.duplicate,
        }

    def report(self, line: Line) -> Receipt:
        """The receipt for a report, or for a part of one."""
        campaign, ticket = self.campaign, line["ticket"]
        match line["want"]:
            case "settle":
                return campaign.settle(ticket, line["cost"])
            case "reward":
                return campaign.reward(ticket, line["reward"])
            case "fail":
                return campaign.fail(ticket, line["cost"])
            case _:
                return campaign.tell(ticket, line["reward"], line["cost"])


def check_promises(
    campaign: Campaign, lines: list[Line], archives: Sequence[str | Path] = ()
) -> None:
    """All that was answered is in the journal, once, in the same words; nothing else is; and it
    adds up after every entry.
    """
    entries = list(complete(campaign.journal(), archives))
    answered = Counter(
        (line["got"], line.get("request") or line["ticket"]) for line in lines if "got" in line
    )
    wanted = {
        (line["want"], line.get("request") or line["ticket"]): line
        for line in lines
        if "want" in line
    }
    written: dict[tuple[str, Any], dict[str, Any]] = {}
    verbs = {
        "asked": "ask",
        "told": "tell",
        "settled": "settle",
        "failed": "fail",
        "voided": "void",
        "topped_up": "top_up",
    }
    for entry in entries:
        if entry.kind in verbs:
            verb = "reward" if entry.body.get("settled") else verbs[entry.kind]
            key = (verb, entry.request or entry.ticket)
            assert key not in written, f"{key} is in the journal twice"
            assert key in wanted, f"{key} is in the journal, and nobody wanted it"
            written[key] = entry.body
        else:
            kinds = ("created", "expired", "archived")
            assert entry.kind in kinds, f"entry {entry.seq} is {entry.kind}"
    assert not [key for key, count in answered.items() if count > 1], "something was answered twice"
    for line in lines:
        if "got" in line and line["got"] != "archive":
            check_line(
                campaign, line, written.get((line["got"], line.get("request") or line["ticket"]))
            )
    check_sums(campaign, entries)
    for audit in (campaign.audit(full=True, archives=archives), campaign.audit()):
        assert audit.ok, audit.findings


def check_line(campaign: Campaign, line: Line, body: dict[str, Any] | None) -> None:
    """One answer against the entry that it came from."""
    if "refused" in line:
        assert body is None, f"{line} was refused, and is in the journal: {body}"
        return
    assert body is not None, f"{line} was acknowledged, and is lost"
    if line["got"] == "ask":
        assert [each["id"] for each in body["tickets"]] == line["tickets"], (line, body)
        assert [campaign.terms.arms[each["arms"][0]] for each in body["tickets"]] == line["arms"], (
            line,
            body,
        )
        assert [amounts.text(each["held"][0]) for each in body["tickets"]] == line["held"], (
            line,
            body,
        )
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
            apart[entry.ticket] = (body["to"], apart[entry.ticket][1])
        elif entry.kind in ("told", "settled", "failed", "voided") and "settled" not in body:
            _, hold = apart.pop(entry.ticket)
            cost = body["costs"][0] if entry.kind != "voided" else 0
            spent, overrun = spent + min(cost, hold), overrun + max(cost - hold, 0)
        elif entry.kind == "topped_up":
            budget += body["units"][0]
        assert spent + sum(hold for _, hold in apart.values()) <= budget, (
            f"P1 is broken after entry {entry.seq}"
        )
    states = {
        state: sum(hold for now, hold in apart.values() if now == state)
        for state in ("held", "presumed")
    }
    shown = campaign.status().purses[0]
    expected = [
        amounts.text(units)
        for units in (budget, spent, states["held"], states["presumed"], overrun)
    ]
    assert [shown.budget, shown.spent, shown.held, shown.presumed, shown.overrun] == expected
    assert {ticket.id for ticket in campaign.tickets(limit=10**6)} == set(apart), (
        "something is held that the journal does not know of"
    )
