"""The rows of a campaign in PostgreSQL: what is read and written."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from purse.base.json import compact
from purse.campaign.account.records import AccountRecord
from purse.campaign.journal import Entry
from purse.campaign.labels import LabelRow
from purse.campaign.records import Balance, CampaignRecord
from purse.campaign.storage.base import WriteSet

if TYPE_CHECKING:
    import psycopg

ENTRY = "SELECT seq, at, kind, request, ticket, body FROM purse_journal WHERE campaign = %s"
ADD_ENTRIES = """INSERT INTO purse_journal
SELECT %s, (e ->> 0)::bigint, (e ->> 1)::bigint, e ->> 2, e ->> 3, (e ->> 4)::bigint, e ->> 5,
  decode(e ->> 6, 'hex')
FROM json_array_elements(%s::json) e"""
PUT_TICKETS = """INSERT INTO purse_tickets
SELECT %s, (e ->> 0)::bigint, e ->> 1, (e ->> 2)::bigint, (e ->> 3)::bigint, e ->> 4
FROM json_array_elements(%s::json) e
ON CONFLICT (campaign, id) DO UPDATE
SET state = excluded.state, deadline = excluded.deadline, body = excluded.body"""
MOVE = """UPDATE purse_purses
SET budget = budget + %s, spent = spent + %s, held = held + %s,
  presumed = presumed + %s, overrun = overrun + %s
WHERE campaign = %s AND resource = %s"""
PUT_CHECKPOINT = """INSERT INTO purse_checkpoints VALUES (%s, %s, %s, %s, %s, %s)
ON CONFLICT (campaign, kind) DO UPDATE
SET seq = excluded.seq, digest = excluded.digest, checksum = excluded.checksum,
  body = excluded.body"""
DIGEST = "SELECT encode(digest, 'hex') FROM purse_journal WHERE campaign = %s AND seq = %s"
LABEL = "FROM purse_labels WHERE campaign = %s"
ADD_LABELS = """INSERT INTO purse_labels
SELECT %s, e ->> 0, e ->> 1, (e ->> 2)::int, (e ->> 3)::bigint, (e ->> 4)::bigint,
  (e ->> 5)::bigint, (e ->> 6)::bigint, (e ->> 7)::bigint
FROM json_array_elements(%s::json) e
ON CONFLICT (campaign, key, value, resource) DO UPDATE
SET tickets = purse_labels.tickets + excluded.tickets, spent = purse_labels.spent + excluded.spent,
  held = purse_labels.held + excluded.held, presumed = purse_labels.presumed + excluded.presumed,
  overrun = purse_labels.overrun + excluded.overrun"""


def label_rows(db: psycopg.Connection[Any], campaign: int) -> list[LabelRow]:
    """The sums of all labels."""
    found = db.execute(f"SELECT {', '.join(LabelRow._fields)} {LABEL}", (campaign,))
    return sorted(LabelRow(*row) for row in found)


def digest_at(db: psycopg.Connection[Any], campaign: int, seq: int) -> str | None:
    """The digest of the journal up to an entry; None where there is no such entry."""
    if seq == 0:
        return ""
    row = db.execute(DIGEST, (campaign, seq)).fetchone()
    return None if row is None else row[0]


def write(
    db: psycopg.Connection[Any], campaign: int, before: list[Balance], change: WriteSet
) -> None:
    """What was decided."""
    add_entries(db, campaign, change.entries, change.digests)
    if change.tickets:
        slots = [(*record[:4], compact(record.body)) for record in change.tickets]
        db.execute(PUT_TICKETS, (campaign, compact(slots)))
    move_purses(db, campaign, before, change.balances)
    for checkpoint in change.checkpoints:
        db.execute(PUT_CHECKPOINT, (campaign, *checkpoint))
    if change.labels:
        db.execute(ADD_LABELS, (campaign, compact(change.labels)))
    put_head(db, campaign, change.seq, change.head)


def add_purses(db: psycopg.Connection[Any], key: int, count: int) -> list[Balance]:
    """Empty purses; returns them."""
    made = [Balance(0)] * count
    for m, purse in enumerate(made):
        db.execute("INSERT INTO purse_purses VALUES (%s, %s, %s, %s, %s, %s, %s)", (key, m, *purse))
    return made


def add_entries(
    db: psycopg.Connection[Any], key: int, entries: Iterable[Entry], digests: Iterable[str]
) -> None:
    """New entries of a journal."""
    rows = [
        (*entry[:5], compact(entry.body), digest)
        for entry, digest in zip(entries, digests, strict=True)
    ]
    db.execute(ADD_ENTRIES, (key, compact(rows)))


def move_purses(
    db: psycopg.Connection[Any], key: int, before: Sequence[Balance], after: Sequence[Balance]
) -> None:
    """Purses move by what changed: whatever the caller believed, the database's own counters
    decide.
    """
    for m, (old, new) in enumerate(zip(before, after, strict=True)):
        if new != old:
            moves = (later - earlier for earlier, later in zip(old, new, strict=True))
            db.execute(MOVE, (*moves, key, m))


def put_head(
    db: psycopg.Connection[Any], key: int, seq: int, head: CampaignRecord | AccountRecord
) -> None:
    """The length of a journal, and what it comes to."""
    db.execute(
        "UPDATE purse_campaigns SET seq = %s, head = %s WHERE id = %s",
        (seq, compact(head.as_dict()), key),
    )
