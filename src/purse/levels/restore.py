"""A campaign or an account as JSON lines, and a campaign made from them, entry by entry."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import IO, Any

import orjson

from purse.base import amounts
from purse.campaign.terms import Terms
from purse.errors import BudgetExhausted, InvalidInput, PurseError
from purse.levels.campaign_ledger import CampaignLevel
from purse.levels.commit import written
from purse.levels.entry import Entry
from purse.levels.ledger import CAMPAIGN, Level
from purse.levels.replay import Load, Replay
from purse.levels.storage import Storage
from purse.levels.storage_records import Found, Writes
from purse.levels.transaction import Added, Transaction

FORMAT = 2
PAGE_SIZE = 5_000  # entries written at a time


def export(file: IO[str], name: str, entries: Iterable[Entry]) -> None:
    """Write a journal as JSON lines."""
    file.write(orjson.dumps({"format": FORMAT, "name": name}).decode() + "\n")
    for entry in entries:
        file.write(orjson.dumps(entry.row()).decode() + "\n")


def read(file: IO[str]) -> Iterator[Entry]:
    """Yield the entries of an export. Raise `InvalidInput` where a line is none."""
    for number, line in enumerate(file):
        try:
            facts = orjson.loads(line)
            if number:
                yield Entry.read(*facts)
            elif facts["format"] != FORMAT:
                raise ValueError(facts["format"])
        except (ValueError, TypeError, KeyError) as error:
            raise InvalidInput(f"line {number + 1} is not an entry of a journal: {error}") from None


def restore(file: IO[str], storage: Storage, name: str | None, above: list[Any]) -> Any:
    """Make a campaign from its entries, all of it or nothing; return its terms.

    above   the terms of the levels that it joins, from the top down; its totals have to fit
    """
    entries = read(file)
    first = next(entries, None)
    if first is None or first.kind != "created":
        raise InvalidInput("a journal begins with its terms")
    terms = Terms.from_dict(first.body).checked()
    terms = terms.copied(name, above[-1].name if above else None)
    first = Entry.of(1, first.at, "created", terms.as_dict())

    def decide(found: list[Found], load: Load) -> Iterator[Writes]:
        level: Level | None = None
        for known, each in zip(above, found, strict=False):
            level = Level(known, each.seq, each.head, each.balances, level)
        own, transaction = found[-1:], Transaction(CampaignLevel(terms), 0)
        replay = Replay(transaction.level, lambda ticket: load(ticket) + about(transaction, ticket))
        yield from pages(replay, transaction, chain([first], entries), own)
        found[-1] = own[0]
        if level is not None:
            yield joined(storage, terms, level, found)

    storage.create(terms.name, CAMPAIGN, terms.account, len(terms.resources), decide)
    return terms


def about(transaction: Transaction, ticket: int) -> list[Entry]:
    """Return the entries about a ticket that are not written yet."""
    return [
        added.entry
        for added in transaction.added
        if added.entry.ticket == ticket and added.entry.kind != "conflict"
    ]


def pages(
    replay: Replay, transaction: Transaction, entries: Iterable[Entry], own: list[Found]
) -> Iterator[Writes]:
    """Yield what is to be written, a page at a time. Raise `PurseError` where an entry contradicts
    those before it.
    """
    level, expected = replay.level, list[tuple[Level, str]]()
    assert isinstance(level, CampaignLevel)
    assert replay.policy is not None
    for entry in entries:
        if expected and expected[0][1] != entry.text:
            replay.find(f"an event is missing before entry {entry.seq}")
        replay.fold(entry, None)
        if replay.findings:
            raise PurseError(f"the journal contradicts itself: {replay.findings[0]}")
        expected = expected[1:] if entry.kind == "event" else replay.expected
        transaction.added.append(Added(level, entry, level.head.digest, None))
        if len(transaction.added) >= PAGE_SIZE:
            yield written(transaction, own)
            own[0] = own[0]._replace(balances=list(level.balances), seq=level.seq)
            level.labels.rows.clear()
            transaction.added.clear()
    level.head.checkpoint = level.seq
    yield written(transaction, own, [(own[0].key, *replay.policy.stored())])
    text = level.head.to_json()
    own[0] = own[0]._replace(
        balances=list(level.balances), seq=level.seq, head=level.head, text=text
    )


def joined(storage: Storage, terms: Any, above: Level, found: list[Found]) -> Writes:
    """Return what is written where a campaign that was restored joins the levels above it.

    Raise `BudgetExhausted` where it has spent or held more than one of them has left.
    """
    own = found[-1]
    level = CampaignLevel(terms, own.seq, own.head, own.balances, above)
    transaction = Transaction(level, storage.now())
    transaction.renew()
    check_fit(level, above)
    transaction.add("joined", {"periods": level.periods_above()})
    return written(transaction, found)


def check_fit(level: Level, above: Level) -> None:
    """Refuse a campaign that has spent or held more than a level above it has left."""
    for each in above.chain():
        for name, mine, part in zip(
            each.terms.resources, each.balances, level.balances, strict=True
        ):
            need = part.spent + part.held + part.presumed
            if need > mine.left:
                raise BudgetExhausted(
                    f"{level.title} has spent or held {amounts.text(need)} {name}, and "
                    f"{each.title} has {amounts.text(mine.left)} left"
                )
