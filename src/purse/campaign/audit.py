"""A campaign checked against its journal: from the last checkpoint that an audit has found right,
or from the first entry.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress

from purse.base.json import compact_bytes
from purse.campaign.account.booked_moves import BookedMoves
from purse.campaign.account.booked_moves import begin as begin_booked
from purse.campaign.checkpoint import BOOKED, LEDGER, POLICY, Checkpoint, checkpoint
from purse.campaign.group_commit import check_same, parsed
from purse.campaign.journal import Entry
from purse.campaign.learner import Learner
from purse.campaign.ledger import Ledger
from purse.campaign.records import TicketRecord
from purse.campaign.replay_journal import JournalReplay
from purse.campaign.results import Audit
from purse.campaign.states import STATES, TOLD
from purse.campaign.storage.base import LockedState, Overview, ReadSet, Storage, WriteSet
from purse.campaign.terms import Terms
from purse.campaign.ticket_window import BUCKET
from purse.errors import InvalidInput, StorageUnavailable

PAGE_SIZE = 5_000
READ_ATTEMPTS = 20  # so often what differs is looked at again while the campaign goes on


def audit(
    terms: Terms,
    storage: Storage,
    *,
    full: bool = False,
    acknowledged: Iterable[int] = (),
    noted: tuple[int, str] | None = None,
) -> Audit:
    """Fold the journal, and compare all that is stored besides with what it comes to.

    full           begin at the first entry, and look at every ticket
    acknowledged   tickets whose reports were acknowledged to somebody
    noted          a number of entries, and the digest that the journal had then
    """
    look = storage.overview(terms.name)
    check_same(terms, look.head)
    replay = JournalReplay(
        terms.checked(), lambda number: stored_ticket(storage, terms.name, number)
    )
    begun = not full and begin(replay, storage)
    after = replay.ledger.seq
    # what is booked on the accounts up to `look` is there by now
    booked = begin_booked(storage, terms, after, storage.checkpoint(terms.name, BOOKED))
    try:
        follow(replay, storage, look.seq, booked)
    except InvalidInput as error:  # all that follows would be wrong, too
        replay.find(str(error))
        return Audit(
            replay.ledger.seq, tuple(replay.findings), replay.digest, after, tuple(replay.notes)
        )
    compare(replay, look)
    digest = replay.digest
    checkpoints = replay.checkpoints()
    if booked:
        seqs = compact_bytes({each.account: each.seq for each in booked})
        checkpoints.append(checkpoint(BOOKED, look.seq, look.head.digest, seqs))
    compare_tickets(replay, storage, every=not begun)
    compare_labels(replay, storage)
    compare_outside(replay, storage, acknowledged, noted)
    if not replay.findings:
        with suppress(StorageUnavailable):  # a checkpoint only saves time
            storage.change(
                terms.name,
                ReadSet(told_after=look.seq),
                lambda found: (
                    None
                    if found.digest != look.head.digest
                    else unchanged(found)._replace(checkpoints=checkpoints)
                ),
            )
    return Audit(look.seq, tuple(replay.findings), digest, after, tuple(replay.notes))


def begin(replay: JournalReplay, storage: Storage) -> bool:
    """Begin at the last checkpoint that an audit has found right, if the journal still has its
    digest.
    """
    stored = storage.checkpoint(replay.terms.name, LEDGER)
    if stored is None:
        return False
    found = storage.told(replay.terms.name, stored.seq, 1).digest
    return found == stored.digest and replay.begin_at(
        stored, lambda learner, upto: relearn(learner, storage, upto)
    )


def relearn(learner: Learner, storage: Storage, upto: Checkpoint) -> bool:
    """Teach a policy all reports up to a checkpoint."""
    while learner.seq < upto.seq:
        page = storage.told(learner.terms.name, learner.seq, PAGE_SIZE)
        if page.digest != learner.digest:
            return False
        told = [(seq, body) for seq, body in parsed(page.rows) if seq <= upto.seq]
        if len(told) < len(page.rows) or not told or page.seq > upto.seq:
            learner.learn(told, upto.seq, upto.digest)
        else:
            learner.learn(told, page.seq, page.last or "")
    return True


def unchanged(found: LockedState) -> WriteSet:
    """A change that writes nothing but what is added to it."""
    return WriteSet(found.seq, found.head, found.balances, [], [], [])


def follow(
    replay: JournalReplay,
    storage: Storage,
    upto: int,
    booked: Sequence[BookedMoves] = (),
) -> None:
    """Fold the entries up to one, beside what is booked for them on accounts. Raise `InvalidInput`
    where one cannot follow or is missing.
    """
    name, ledger = replay.terms.name, replay.ledger
    snapshot = storage.checkpoint(name, POLICY)
    for entry in pages(storage, name, ledger.seq, upto):
        before = ledger.balances
        replay.fold(entry)
        for account in booked:
            for text in account.compare(entry.seq, before, ledger.balances):
                replay.find(text)
        if (
            snapshot is not None
            and snapshot.seq == entry.seq
            and snapshot.is_whole
            and snapshot.body.startswith(replay.learner.code.encode())
            and replay.learner.checkpoint() != snapshot
        ):
            replay.find(
                f"the policy's checkpoint after entry {entry.seq} is not what the journal comes to"
            )
    replay.end_events()
    if ledger.seq != upto:
        replay.find(f"the journal has {ledger.seq} entries, and should have {upto}")


def compare(replay: JournalReplay, look: Overview) -> None:
    """Balances and counts against what is stored."""
    ledger = replay.ledger
    if ledger.balances != look.balances:
        replay.find(
            f"the purses are {[tuple(purse) for purse in look.balances]}, and the journal "
            f"comes to {[tuple(purse) for purse in ledger.balances]}"
        )
    stored = Ledger(replay.terms, look.seq, look.head).head.as_dict()
    folded = {**ledger.head.as_dict(), "snapshot": look.head.snapshot}
    if folded != stored:
        replay.find(f"the head is {stored}, and the journal comes to {folded}")


def compare_outside(
    replay: JournalReplay,
    storage: Storage,
    acknowledged: Iterable[int],
    noted: tuple[int, str] | None,
) -> None:
    """What others have kept against what is stored: only that shows what never got here."""
    name = replay.terms.name
    for number in acknowledged:
        record = stored_ticket(storage, name, number)
        if record is None or record.state != TOLD:
            replay.find(
                f"the report on ticket {number} was acknowledged, and the ticket is "
                f"{'not there' if record is None else record.state}"
            )
    if noted is not None:
        entries, digest = noted
        found = storage.told(name, entries, 1).digest
        if found != digest:
            replay.find(
                f"the journal had the digest {digest} after {entries} entries, and has "
                f"{found or 'fewer entries'} now"
            )


def compare_tickets(replay: JournalReplay, storage: Storage, *, every: bool) -> None:
    """Stored tickets against the journal's: `every` one, or those that may have changed. What
    changes meanwhile is in the journal soon: those that differ are looked at again.
    """
    tickets, name = replay.tickets, replay.terms.name
    wrong = set(range(tickets.issued // BUCKET + 1)) if every else set(tickets.touched)
    differ: list[str] = []
    for _ in range(READ_ATTEMPTS):
        differ = []
        for bucket in sorted(wrong):
            found = differences(replay, storage, bucket)
            differ += found
            wrong -= set() if found else {bucket}
        seq = storage.overview(name).seq
        if not wrong or seq == replay.ledger.seq:
            break
        for entry in pages(storage, name, replay.ledger.seq, seq):
            replay.fold(entry)
    for text in differ:
        replay.find(text)


def compare_labels(replay: JournalReplay, storage: Storage) -> None:
    """The sums of labels against what the journal comes to."""
    name, ledger = replay.terms.name, replay.ledger
    table = storage.labels(name)
    for entry in pages(storage, name, ledger.seq, table.seq):
        replay.fold(entry)
    stored, folded = (
        {row[:3]: row for row in rows} for rows in (table.rows, ledger.labels.listed())
    )
    for place in sorted({*stored, *folded}):
        if stored.get(place) != folded.get(place):
            key, value, resource = place
            replay.find(
                f"the sums of {key}={value}, {replay.terms.resources[resource]}, are "
                f"{stored.get(place)}, and the journal comes to {folded.get(place)}"
            )


def differences(replay: JournalReplay, storage: Storage, bucket: int) -> list[str]:
    """Where the stored tickets of a bucket differ from the journal's, in words."""
    tickets, name = replay.tickets, replay.terms.name
    low, high = bucket * BUCKET, (bucket + 1) * BUCKET
    records = {
        record.id: record
        for record in storage.tickets(name, STATES, low - 1, BUCKET)
        if record.id < high
    }
    expected = range(max(1, low), min(high, tickets.issued + 1))
    found = []
    if missing := [number for number in expected if number not in records]:
        found.append(f"{len(missing)} tickets are missing, the first is {missing[0]}")
    for number in expected:
        kept, there = tickets.get(number), records.get(number)
        if kept is not None and there is not None and kept != there:
            found.append(f"ticket {number} is stored as {there.state}, and the journal says {kept}")
    sums = tickets.sums_of(record for number, record in records.items() if number in expected)
    known = tickets.sums.get(bucket, [0, 0, 0])
    if sums != known and not found:
        found.append(
            f"among tickets {expected[0]} to {expected[-1]} at least one is not stored as the "
            "journal says"
        )
    return found


def stored_ticket(storage: Storage, name: str, number: int) -> TicketRecord | None:
    """A ticket as it is stored; None where there is none."""
    for record in storage.tickets(name, STATES, number - 1, 1):
        if record.id == number:
            return record
    return None


def pages(storage: Storage, name: str, after: int, upto: int) -> Iterator[Entry]:
    """The entries of a campaign after one, up to another."""
    while after < upto and (page := storage.entries(name, after, min(PAGE_SIZE, upto - after))):
        yield from (entry for entry in page if entry.seq <= upto)
        after = page[-1].seq
