"""What each label has taken, from the lines of an export and from nothing else; and random calls of
campaigns whose labels have limits.
"""

import json
import random
from collections import Counter, defaultdict
from contextlib import suppress
from io import StringIO
from typing import Any

from purse.errors import AskRefused, Conflict, InvalidInput, PurseError

HOUR = 3_600_000
UNIT = 10**9
TERMS: dict[str, Any] = {
    "arms": {"small": 1, "large": 3},
    "budget": 500,
    "policy": "uniform",
    "cooldown": None,
    "limits": {"user": "9", "run": "4.5"},
    "unlabelled": "allow",
    "expires_after": 600,
}


class Books:
    """The reference: what was taken is the whole cost of tickets, or their hold without one."""

    def __init__(self, campaign: Any) -> None:
        self.limits: dict[str, int] = {}
        self.first: dict[str, int] = defaultdict(int)  # the last ticket before a key had a limit
        self.own: dict[tuple[str, str], int | None] = {}
        self.asked: dict[int, tuple[dict[str, str], int]] = {}  # labels and period of tickets
        self.taken: dict[int, int] = {}
        self.used: dict[tuple[str, str, int], int] = defaultdict(int)  # by label and period
        self.period = self.grants = 0
        file = StringIO()
        campaign.export(file)
        for line in file.getvalue().splitlines()[1:]:
            entry = json.loads(line)
            self.read(entry["kind"], entry["ticket"], entry["body"])

    def limit(self, key: str, value: str) -> int:
        own = self.own.get((key, value))
        return self.limits[key] if own is None else own

    def left(self, key: str, value: str) -> int:
        return self.limit(key, value) - self.used[key, value, self.period]

    def move(self, ticket: int, units: int) -> None:
        labels, period = self.asked[ticket]
        for key, value in labels.items():
            if key in self.limits and ticket > self.first[key]:
                self.used[key, value, period] += units - self.taken[ticket]
        self.taken[ticket] = units

    def read(self, kind: str, ticket: int, body: dict[str, Any]) -> None:
        match kind:
            case "created":
                self.limits = {key: units[0] for key, units in body.get("limits", [])}
                self.period = 1 if body.get("every") else 0
            case "renewed":
                self.period = body["number"]
            case "limited" if "value" in body:
                self.own[body["key"], body["value"]] = body.get("units", [None])[0]
            case "limited":
                if body["key"] not in self.limits:
                    self.first[body["key"]] = max(self.asked, default=0)
                (self.limits[body["key"]],) = body["units"]
            case "charged":
                for key, value in body.get("labels", {}).items():
                    self.used[key, value, self.period] += body["amount"][0] * (key in self.limits)
            case "asked":
                self.asked[ticket], self.taken[ticket] = (body.get("labels", {}), self.period), 0
                self.move(ticket, body["held"][0])
                for key, value in self.asked[ticket][0].items():
                    self.grants += key in self.limits
                    assert key not in self.limits or self.left(key, value) >= 0, (ticket, key)
            case "told" | "settled" | "failed":
                self.move(ticket, body["costs"][0])
            case "voided":
                self.move(ticket, 0)
        # a ticket that has expired keeps its hold, as presumed, until its report comes


def check(campaign: Any, *, full: bool = True) -> Books:
    """No limit was ever passed when an ask was granted, what is left of each is what its tickets
    have left, and an audit agrees.
    """
    books = Books(campaign)
    campaign.pause()  # which begins the period that is due
    campaign.resume()
    books = Books(campaign)
    for label in campaign.labels(limit=10_000):
        assert (label.limit is not None) == (label.key in books.limits)
        if label.limit is not None and label.left is not None:
            assert amount(label.limit) == books.limit(label.key, label.value), label
            assert amount(label.left) == books.left(label.key, label.value), label
    outcome = campaign.audit(full=full)
    assert outcome.ok, outcome.findings[:3]
    return books


def amount(texts: tuple[str, ...]) -> int:
    """One amount, in units."""
    whole, _, part = texts[0].lstrip("-").partition(".")
    return (-1 if texts[0][0] == "-" else 1) * (int(whole) * UNIT + int(part.ljust(9, "0")))


class Player:
    """Random calls on one campaign."""

    def __init__(self, campaign: Any, seed: int, n_users: int = 3) -> None:
        self.campaign, self.draw, self.n_users = campaign, random.Random(seed), n_users
        self.tickets: list[Any] = []
        self.refused: Counter[str] = Counter()

    def labels(self) -> dict[str, str] | None:
        draw = self.draw
        labels = {"user": f"u{draw.randrange(self.n_users)}"} if draw.random() < 0.9 else {}
        if draw.random() < 0.7:
            labels |= {"run": f"r{draw.randrange(2 * self.n_users)}", "agent": draw.choice("ab")}
        return labels or None

    def ask(self) -> None:
        draw = self.draw
        arms = draw.choice([None, ["small"], {"small": "0.25", "large": "2.125"}])
        try:
            n = draw.choice([1, 1, 1, 3])
            self.tickets += self.campaign.ask_many(n, arms=arms, labels=self.labels())
        except AskRefused as error:
            self.refused[type(error).__name__] += 1

    def report(self) -> None:
        if not self.tickets:
            return
        draw, campaign = self.draw, self.campaign
        place = draw.randrange(len(self.tickets))
        ticket = self.tickets[place]
        if draw.random() < 0.8:
            del self.tickets[place]
        cost = draw.choice(["0", "0.1", "0.75", "1", "2.9", "3", "3.5"])
        with suppress(Conflict):
            match draw.randrange(6):
                case 0 | 1:
                    campaign.tell(ticket, draw.random(), cost)
                case 2:
                    campaign.settle(ticket, cost)
                case 3:
                    campaign.fail(ticket, cost)
                case 4:
                    campaign.fail(ticket)
                case 5:
                    campaign.void(ticket)

    def operate(self) -> None:
        draw, campaign = self.draw, self.campaign
        user = f"u{draw.randrange(self.n_users)}"
        match draw.randrange(6):
            case 0 | 1 | 2:
                campaign.set_limit("user", draw.choice([None, "0", "2", "6.5", "30"]), value=user)
            case 3:
                campaign.set_limit(draw.choice(["user", "run"]), draw.choice(["3", "9", "12"]))
            case 4 if draw.random() < 0.2:
                with suppress(InvalidInput):  # nothing had that label so far
                    campaign.set_limit("agent", "25")
            case _:
                with suppress(PurseError):
                    campaign.charge(draw.choice(["0.5", "-0.25"]), {"user": user, "agent": "a"})
                for name in ("small", "large"):  # which bills have made dearer
                    campaign.set_arm(name, cost_max=TERMS["arms"][name])

    def step(self) -> None:
        self.draw.choices([self.ask, self.report, self.operate], [6, 6, 1])[0]()
