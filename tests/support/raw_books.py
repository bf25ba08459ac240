"""Checks books from their raw tables and from what their users were told, and imports nothing of
ours: it shares no mistake with what it checks.

`python raw_books.py STORAGE FOLDER`, with the address of a file or of PostgreSQL, and a folder of
files `log-*`. These have lines of JSON: `want` before something was asked for, and `got` when it
was answered. It writes one line of JSON: what it has found, and how much it has read. All levels
have one resource.
"""

import json
import sqlite3
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

Row = dict[str, Any]
MONEY = ("budget", "spent", "held", "presumed", "overrun")
TABLES = ("levels", "balances", "journal", "open_tickets")
COSTS = ("told", "settled", "failed")


def read(address: str) -> dict[str, list[Row]]:
    """All rows of the tables, of one moment."""
    if address.startswith("sqlite:///"):
        db: Any = sqlite3.connect(address.removeprefix("sqlite:///"))
        db.execute("BEGIN")
    else:
        import psycopg

        db = psycopg.connect(address)
        db.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
    tables = {}
    for name in TABLES:
        cursor = db.execute(f"SELECT * FROM purse_{name}")
        columns = [column[0] for column in cursor.description]
        tables[name] = [dict(zip(columns, row, strict=True)) for row in cursor.fetchall()]
    db.close()
    return tables


@dataclass
class Ticket:
    """What a campaign issued, and what became of it."""

    held: int
    labels: dict[str, str]
    periods: list[int]  # of the campaign and of those above it
    state: str = "held"
    cost: int | None = None
    reward: float | None = None
    money: Counter[str] = field(default_factory=Counter)


@dataclass
class Level:
    """A campaign or an account, as the entries make it."""

    row: Row
    above: "Level | None" = None
    seq: int = 0
    period: int = 1
    allowance: int = 0
    carries: bool = False
    money: Counter[str] = field(default_factory=Counter)
    tickets: dict[int, Ticket] = field(default_factory=dict)
    requests: dict[str, Row] = field(default_factory=dict)
    answers: dict[Any, list[int]] = field(default_factory=lambda: defaultdict(list))
    kinds: Counter[Any] = field(default_factory=Counter)  # of ticket and kind

    def chain(self) -> "list[Level]":
        return [self, *(self.above.chain() if self.above else [])]

    @property
    def taken(self) -> int:
        return self.money["spent"] + self.money["held"] + self.money["presumed"]


class Books:
    """The levels of a storage, made anew from its entries; `found` says what is wrong."""

    def __init__(self, tables: dict[str, list[Row]]) -> None:
        self.tables, self.found = tables, list[str]()
        self.levels = {row["id"]: Level(row) for row in tables["levels"]}
        for level in self.levels.values():
            level.above = self.levels.get(level.row["parent"])
        trees = defaultdict(list)
        for entry in tables["journal"]:
            trees[self.levels[entry["level"]].chain()[-1].row["id"]].append(entry)
        for top, entries in trees.items():
            alone = self.levels[top].row["kind"] == "campaign"
            place = "seq" if alone else "turn"
            entries.sort(key=lambda entry: int(entry[place]))
            if [entry[place] for entry in entries] != list(range(1, len(entries) + 1)):
                self.found.append(f"the tree below {self.name(top)} has not each turn once")
            for entry in entries:
                self.fold(self.levels[entry["level"]], entry, json.loads(entry["body"]))

    def name(self, level: int) -> str:
        return str(self.levels[level].row["name"])

    def fold(self, level: Level, entry: Row, body: Row) -> None:
        """Take in an entry: numbers without a gap, no answer twice, and its money."""
        what, level.seq = f"entry {entry['seq']} of {level.row['name']}", level.seq + 1
        if entry["seq"] != level.seq:
            self.found.append(f"{what} is number {level.seq}")
        if (request := entry["request"]) is not None:
            if request in level.requests:
                self.found.append(f"{what} answers {request!r} again")
            level.requests[request] = entry | body
        if entry["ticket"] is not None and entry["kind"] != "conflict":
            level.kinds[entry["ticket"], entry["kind"]] += 1
            if level.kinds[entry["ticket"], entry["kind"]] > 1:
                self.found.append(f"{what} says a second time: {entry['kind']}")
        if (kind := entry["kind"]) == "created":
            level.allowance = level.money["budget"] = body["budget"][0]
            level.carries = body.get("carry") == "all"
        elif kind == "topped_up":
            level.money["budget"] += body["units"][0]
        elif kind == "renewed":
            level.period += 1
            if body["number"] != level.period:
                self.found.append(f"{what} begins period {body['number']}, not {level.period}")
            rest = level.money["budget"] - level.taken if level.carries else 0
            level.money["budget"] = level.taken + rest + level.allowance
        elif kind == "asked":
            periods = [each.period for each in level.chain()]
            ticket = Ticket(body["held"][0], body.get("labels", {}), periods)
            level.tickets[entry["ticket"]] = ticket
            level.answers[body.get("of", entry["request"])].append(entry["ticket"])
            move(level, ticket, held=ticket.held)
        elif entry["ticket"] is not None:
            self.change(level, level.tickets[entry["ticket"]], kind, body)
        for each in level.chain():
            if kind == "asked" and each.taken > each.money["budget"]:
                self.found.append(f"{what}: {each.row['name']} is overspent")

    def change(self, level: Level, ticket: Ticket, kind: str, body: Row) -> None:
        apart = ticket.held if ticket.state in ("held", "presumed") else 0
        free = {ticket.state: -apart} if apart else {}
        if kind in ("told", "rewarded"):
            ticket.reward = body["reward"]
        if kind in COSTS:
            if ticket.cost is None:
                ticket.cost = body["costs"][0]
                over = max(0, ticket.cost - apart)
                move(level, ticket, **free, spent=ticket.cost, overrun=over)
                drop(level, ticket, apart - ticket.cost)
            elif ticket.cost != body["costs"][0]:
                self.found.append(f"{level.row['name']}: {kind} with another cost than before")
            ticket.state = kind
        elif kind == "voided":
            move(level, ticket, **free)
            drop(level, ticket, apart)
            ticket.state = kind
        elif kind == "expired":
            move(level, ticket, **free, presumed=apart)
            ticket.state = "presumed"

    def check(self, lines: list[Row]) -> list[str]:
        """What is wrong, with what is stored and with what was acknowledged, too."""
        return [
            *self.found,
            *self.balances(),
            *self.labels(),
            *self.holds(),
            *self.acknowledged(lines),
        ]

    def balances(self) -> Iterator[str]:
        """Each level has what its entries say, and an account what is below it has together."""
        stored = {row["level"]: row for row in self.tables["balances"] if row["key"] == ""}
        below: dict[int, Counter[str]] = defaultdict(Counter)
        for number, level in self.levels.items():
            said = {part: level.money[part] for part in MONEY}
            if {part: stored[number][part] for part in MONEY} != said:
                yield f"the balances of {self.name(number)} are {stored[number]}, not {said}"
            if level.row["seq"] != level.seq:
                yield f"{self.name(number)} has {level.seq} entries, not {level.row['seq']}"
            if level.row["kind"] == "campaign":
                tickets = [ticket.money for ticket in level.tickets.values()]
                for part in MONEY[1:]:
                    if sum(money[part] for money in tickets) != stored[number][part]:
                        yield f"the tickets of {self.name(number)} have not what is {part}"
                    for above in level.chain()[1:]:
                        below[above.row["id"]][part] += stored[number][part]
        for number, parts in below.items():
            if any(stored[number][part] != sum_of for part, sum_of in parts.items()):
                yield f"{self.name(number)} has not what is below it together"

    def labels(self) -> Iterator[str]:
        """Each label has what its tickets have."""
        made: dict[Any, Counter[str]] = defaultdict(Counter)
        for number, level in self.levels.items():
            for ticket in level.tickets.values():
                for key, value in ticket.labels.items():
                    made[number, key, value].update(ticket.money, tickets=1)
        rows = [row for row in self.tables["balances"] if row["key"]]
        stored = {(row["level"], row["key"], row["value"]): row for row in rows}
        for label in made.keys() | stored.keys():
            there = stored.get(label, {})
            if any(there.get(part) != made[label][part] for part in (*MONEY, "tickets")):
                yield f"the balances of a label are {there}, not {dict(made[label])}"

    def holds(self) -> Iterator[str]:
        """What is unfinished is listed, once, and nothing else."""
        listed = Counter(
            (row["level"], row["ticket"], row["state"]) for row in self.tables["open_tickets"]
        )
        unfinished = Counter(
            (key, number, ticket.state)
            for key, level in self.levels.items()
            for number, ticket in level.tickets.items()
            if ticket.state in ("held", "presumed", "settled")
        )
        for row in (listed - unfinished) + (unfinished - listed):
            yield f"ticket {row[1]} of {self.name(row[0])}, {row[2]}, is listed wrongly"

    def acknowledged(self, lines: list[Row]) -> Iterator[str]:
        """What was acknowledged is there, and nothing that nobody wanted."""
        by_name = {level.row["name"]: level for level in self.levels.values()}
        wanted = {(line["level"], line.get("request")) for line in lines if "want" in line}
        for name, level in by_name.items():
            for request in level.requests:
                if request.isprintable() and (name, request) not in wanted:
                    yield f"{request!r} is in the journal of {name}, and nobody wanted it"
        for line in answered(lines):
            if not kept(by_name[line["level"]], line):
                yield f"{line} was acknowledged, and is not there"


def answered(lines: list[Row]) -> Iterator[Row]:
    """The answers that say what has to be there."""
    for line in lines:
        if "got" in line and "refused" not in line and ("request" in line or "ticket" in line):
            yield line


def move(level: Level, ticket: Ticket, **units: int) -> None:
    ticket.money.update(units)
    for each in level.chain():
        each.money.update(units)


def drop(level: Level, ticket: Ticket, refund: int) -> None:
    """What comes back from an ended period is gone, unless the level carries it over."""
    for each, period in zip(level.chain(), ticket.periods, strict=True):
        if period < each.period and not each.carries:
            each.money["budget"] -= refund


def kept(level: Level, line: Row) -> bool:
    if line["got"] == "top_up":
        answer = level.requests.get(line["request"], {})
        return answer.get("units") == [units(line["amount"])]
    if line["got"] == "ask":
        numbers = level.answers[line["request"]]
        return numbers == line["tickets"] and all(
            held is None or level.tickets[number].held == units(held)
            for number, held in zip(numbers, line["held"], strict=True)
        )
    ticket = level.tickets.get(line["ticket"])
    if ticket is None:
        return False
    if line["got"] == "void":
        return level.kinds[line["ticket"], "voided"] == 1
    costs_as_said = "cost" not in line or ticket.cost == units(line["cost"])
    return costs_as_said and ("reward" not in line or ticket.reward == line["reward"])


def units(amount: str) -> int:
    return int(Decimal(amount) * 10**9)


def main(address: str, folder: str) -> None:
    paths = sorted(Path(folder).glob("log-*"))
    lines = [json.loads(line) for path in paths for line in path.read_text().splitlines()]
    books = Books(read(address))
    kinds = Counter(entry["kind"] for entry in books.tables["journal"])
    acknowledged = Counter(line["got"] for line in lines if "got" in line and "refused" not in line)
    found = books.check(lines)
    print(json.dumps({"found": found, "entries": kinds, "acknowledged": acknowledged}))


if __name__ == "__main__":
    main(*sys.argv[1:])
