"""A campaign made from an exported journal, entry by entry."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from purse.campaign.account.above import create_campaign
from purse.campaign.contexts import lacks_contexts
from purse.campaign.journal import Entry
from purse.campaign.records import TicketRecord
from purse.campaign.replay_journal import JournalReplay
from purse.campaign.states import OPEN
from purse.campaign.storage.base import Storage, WriteSet
from purse.campaign.terms import Terms
from purse.errors import InvalidInput, PurseError, shorten

PAGE_SIZE = 5_000  # entries written at a time


def restore(
    read: Callable[[], Iterable[Entry]],
    storage: Storage,
    name: str | None,
    account: str | None = None,
) -> Terms:
    """Make a campaign from its entries, all of it or nothing; return its terms.

    read      returns the entries of an export, from its beginning, each time it is called
    account   the account above the new campaign, into which its totals have to fit
    """
    first = next(iter(read()))
    if first.seq != 1 or first.kind != "created":
        raise InvalidInput(f"a journal begins with its terms, not with {first.kind!r}")
    terms = checked_terms(first).copied(name, account)
    replay = JournalReplay(terms, lambda _: None)
    for entry in read():
        check_whole(replay, entry)
        if speaks_of_the_past(entry):
            replay.tickets.keep.add(entry.ticket or 0)
    create_campaign(storage, terms, write_sets(replay, read()))
    return terms


def check_whole(replay: JournalReplay, entry: Entry) -> None:
    """Refuse an ask without the contexts that its policy looked at."""
    if entry.kind == "asked" and replay.learner.sees_contexts and lacks_contexts(entry.body):
        raise InvalidInput(
            f"the journal was exported without its contexts, and {replay.terms.policy} sees them: "
            "it cannot choose and learn again"
        )


def speaks_of_the_past(entry: Entry) -> bool:
    """Whether an entry is about a ticket that was finished before."""
    return entry.kind in ("conflict", "rewarded") or (
        entry.kind in ("told", "settled") and entry.body.get("from") not in OPEN
    )


def write_sets(replay: JournalReplay, entries: Iterable[Entry]) -> Iterator[WriteSet]:
    """Yield what is to be written, a page at a time. Raise `PurseError` where an entry contradicts
    those before it.
    """
    ledger = replay.ledger
    page, digests, tickets = list[Entry](), list[str](), dict[int, TicketRecord]()
    for given in entries:
        entry = given._replace(body=replay.terms.as_dict()) if given.seq == 1 else given
        replay.fold(entry)
        if replay.findings:
            raise PurseError(f"the journal contradicts itself: {replay.findings[0]}")
        page.append(entry)
        digests.append(ledger.head.digest)
        issued = [each["id"] for each in entry.body.get("tickets", ())]
        for number in issued if entry.ticket is None else [entry.ticket]:
            tickets[number] = replay.tickets[number]
        if len(page) + len(tickets) >= PAGE_SIZE:
            yield WriteSet(
                ledger.seq, ledger.head, ledger.balances, list(tickets.values()), page, digests
            )
            page, digests, tickets = [], [], {}
    replay.end_events()
    if replay.findings:
        raise PurseError(f"the journal contradicts itself: {replay.findings[0]}")
    ledger.head.snapshot = ledger.seq
    yield WriteSet(
        ledger.seq,
        ledger.head,
        ledger.balances,
        list(tickets.values()),
        page,
        digests,
        replay.checkpoints(),
        labels=ledger.labels.listed(),
    )


def checked_terms(entry: Entry) -> Terms:
    """The terms in the first entry of a journal, which may be anything."""
    try:
        return Terms.from_dict(entry.body).checked()
    except PurseError:
        raise
    except Exception as error:
        raise InvalidInput(
            f"entry 1: these are not the terms of a campaign: {shorten(repr(error))}"
        ) from None
