"""The rows in a SQLite file that campaigns and accounts have in common."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import cast

import apsw

from purse.base.json import compact
from purse.campaign.account.records import AccountRecord
from purse.campaign.journal import Entry
from purse.campaign.records import Balance, CampaignRecord
from purse.campaign.storage.base import taken

ENTRY = "SELECT seq, at, kind, request, ticket, body FROM purse_journal WHERE campaign = ?"
LEVEL = """SELECT c.id, c.seq, c.head, c.parent, c.name,
  p.budget, p.spent, p.held, p.presumed, p.overrun
FROM purse_campaigns c JOIN purse_purses p ON p.campaign = c.id"""


def names_of(db: apsw.Connection, kind: str) -> list[str]:
    """All names of a kind."""
    found = db.execute("SELECT name FROM purse_campaigns WHERE kind = ? ORDER BY name", (kind,))
    return [cast(str, name) for (name,) in found]


def add_name(db: apsw.Connection, kind: str, name: str, parent: int | None) -> int:
    """A new row for a campaign or an account, below another account or none; its key."""
    row = db.execute("SELECT kind FROM purse_campaigns WHERE name = ?", (name,)).fetchone()
    if row is not None:
        raise taken(cast(str, row[0]), name)
    insert = (
        "INSERT INTO purse_campaigns (name, seq, head, kind, parent) VALUES (?, 0, '', ?, ?) "
        "RETURNING id"
    )
    return cast(int, db.execute(insert, (name, kind, parent)).get)


def add_purses(db: apsw.Connection, key: int, count: int) -> list[Balance]:
    """Empty purses; returns them."""
    made = [Balance(0)] * count
    db.executemany(
        "INSERT INTO purse_purses VALUES (?, ?, ?, ?, ?, ?, ?)",
        [(key, m, *purse) for m, purse in enumerate(made)],
    )
    return made


def add_entries(
    db: apsw.Connection, key: int, entries: Iterable[Entry], digests: Iterable[str]
) -> None:
    """New entries of a journal."""
    rows = [
        (key, *entry[:5], compact(entry.body), bytes.fromhex(digest))
        for entry, digest in zip(entries, digests, strict=True)
    ]
    db.executemany("INSERT INTO purse_journal VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows)


def move_purses(
    db: apsw.Connection, key: int, before: Sequence[Balance], after: Sequence[Balance]
) -> None:
    """Purses move by what changed: whatever the caller believed, the file's own counters decide."""
    for m, (old, new) in enumerate(zip(before, after, strict=True)):
        if new != old:
            moves = [later - earlier for earlier, later in zip(old, new, strict=True)]
            update = (
                "UPDATE purse_purses SET budget = budget + ?, spent = spent + ?, held = held "
                "+ ?, presumed = presumed + ?, overrun = overrun + ?"
            )
            db.execute(f"{update} WHERE campaign = ? AND resource = ?", (*moves, key, m))


def put_head(db: apsw.Connection, key: int, seq: int, head: CampaignRecord | AccountRecord) -> None:
    """The length of a journal, and what it comes to."""
    db.execute(
        "UPDATE purse_campaigns SET seq = ?, head = ? WHERE id = ?",
        (seq, compact(head.as_dict()), key),
    )
