"""The journal folded from its beginning: to check a campaign against it, and to restore one from
it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any

from purse.base import amounts as amounts_module
from purse.base.json import compact
from purse.campaign.journal import Entry
from purse.campaign.learner import Learner
from purse.campaign.ledger import Ledger, TicketRecord
from purse.campaign.rules import Transaction
from purse.campaign.states import CLOSED, PAUSED, RUNNING, STATES, TOLD
from purse.campaign.storage.base import Storage, WriteSet
from purse.campaign.terms import Terms
from purse.errors import InvalidInput, PurseError, shorten

PAGE_SIZE = 5_000
READ_ATTEMPTS = 20  # so often what differs is looked at again while the campaign goes on
MOST_FINDINGS = 20


@dataclass(frozen=True)
class Audit:
    """What a journal comes to, and where a campaign differs from it."""

    entries: int
    findings: tuple[str, ...]
    digest: str  # a hash of purses, counts, tickets and the policy's state

    @property
    def ok(self) -> bool:
        """Whether everything agrees."""
        return not self.findings


class WouldAppend(Exception):
    """What the rules would write."""

    def __init__(self, entry: Entry) -> None:
        self.entry = entry


class DryRunRules(Transaction):
    """The rules, asked once more: what they decide on is not taken in, but told."""

    def add(
        self,
        kind: str,
        body: dict[str, Any],
        *,
        request: str | None = None,
        ticket: int | None = None,
    ) -> Entry:
        """Say what the next entry would be."""
        raise WouldAppend(Entry(self.ledger.seq + 1, self.now, kind, request, ticket, body))


class JournalReplay:
    """A journal being folded, with the rules and the policy beside it: every entry is decided on
    once more and compared with what is written.
    """

    def __init__(self, terms: Terms) -> None:
        self.terms = terms
        self.ledger = Ledger(terms)
        self.learner = Learner(terms)
        self.findings: list[str] = []

    def fold(self, entry: Entry) -> None:
        """Check an entry against what is known so far, and take it in."""
        try:
            check_types(entry)
            self.compare(entry)
            self.ledger.fold(entry)
            self.learner.learn([(entry.seq, entry.body)] if entry.kind == TOLD else [], entry.seq)
        except Exception as error:  # an entry may be anything
            why = str(error) if isinstance(error, PurseError) else repr(error)
            raise InvalidInput(
                f"entry {entry.seq} of {self.terms.name!r}, {entry.kind}, cannot follow "
                f"those before it: {shorten(why)}"
            ) from None
        if any(min(purse) < 0 or purse.left < 0 for purse in self.ledger.balances):
            self.find(f"entry {entry.seq}: spent + held + presumed exceeds the budget")

    def compare(self, entry: Entry) -> None:
        """Decide once more."""
        try:
            self.decide(DryRunRules(self.ledger, entry.at), entry)
            self.find(f"entry {entry.seq}, {entry.kind}: nothing should have been written")
        except WouldAppend as made:
            if compact(made.entry) != compact(entry):
                self.find(
                    f"entry {entry.seq} would be {shorten(compact(made.entry[2:]), 300)}, "
                    f"and is {shorten(compact(entry[2:]), 300)}"
                )
        except PurseError as error:
            self.find(f"entry {entry.seq}, {entry.kind}, would be refused: {error}")

    def decide(self, transaction: DryRunRules, entry: Entry) -> None:
        """Whatever led to the entry, again."""
        body, ticket = entry.body, entry.ticket or 0
        match entry.kind:
            case "created":
                transaction.add("created", self.terms.as_dict()) if entry.seq == 1 else None
            case "asked":
                transaction.ask(body["n"], entry.request or "", self.learner.choose)
            case "told":
                transaction.tell(ticket, body["rewards"], body["costs"])
            case "conflict":
                transaction.void(ticket) if "void" in body["report"] else transaction.tell(
                    ticket, body["report"]["rewards"], body["report"]["costs"]
                )
            case "voided":
                transaction.void(ticket)
            case "expired":
                transaction.expire([self.ledger.tickets[ticket]])
            case "topped_up":
                transaction.top_up(body["units"], entry.request or "")
            case kind:
                transaction.set_status(
                    kind, {"paused": PAUSED, "resumed": RUNNING, "closed": CLOSED}[kind]
                )

    def find(self, text: str) -> None:
        """Something that does not agree."""
        if len(self.findings) < MOST_FINDINGS:
            self.findings.append(text)

    @property
    def digest(self) -> str:
        """A hash of all that was folded."""
        counts = {**vars(self.ledger.head), "id": "", "snapshot": 0, "created": 0, "changed": 0}
        del counts["handover"]
        digest = sha256(compact([self.ledger.seq, counts, self.ledger.balances]).encode())
        for number in sorted(self.ledger.tickets):
            digest.update(line(self.ledger.tickets[number]))
        for array in self.learner.state.values():
            digest.update(array.tobytes())
        return digest.hexdigest()


def check_types(entry: Entry) -> None:
    """Refuse what no campaign writes: times and tickets that are not whole numbers, amounts that
    are not whole units, rewards outside [0, 1].
    """
    amounts = [
        entry.body.get(name, [])
        for name in ("units", "costs", "spent", "overrun", "released")
        if entry.kind != "created"
    ]
    whole = [entry.at, entry.ticket or 0, *(units for part in amounts for units in part)]
    rewards = entry.body.get("rewards", [])
    if not all(
        type(number) is int and 0 <= number <= amounts_module.LARGEST for number in whole
    ) or not isinstance(entry.request, (str, type(None))):
        raise InvalidInput(
            f"{shorten(compact(entry[1:]))} holds something else than whole numbers and names"
        )
    if not all(type(reward) in (int, float) and 0 <= reward <= 1 for reward in rewards):
        raise InvalidInput(f"rewards={rewards}: must lie between 0 and 1")


def line(record: TicketRecord) -> bytes:
    """A ticket as bytes, without the times."""
    return compact([record.id, record.state, record.body]).encode()


def pages(storage: Storage, name: str, after: int, upto: int) -> Iterator[Entry]:
    """The entries of a campaign after one, up to another."""
    while after < upto and (page := storage.entries(name, after, min(PAGE_SIZE, upto - after))):
        yield from page
        after = page[-1].seq


def audit(terms: Terms, storage: Storage) -> Audit:
    """Fold the whole journal, and compare all that is stored besides with what it comes to."""
    look = storage.overview(terms.name)
    replay, stored = JournalReplay(terms.checked()), storage.snapshot(terms.name)
    try:
        for entry in pages(storage, terms.name, 0, look.seq):
            if entry.seq != replay.ledger.seq + 1:
                raise InvalidInput(f"entry {replay.ledger.seq + 1} is missing")
            replay.fold(entry)
            if (
                stored is not None
                and stored.seq == entry.seq
                and stored.code == replay.learner.code
                and replay.learner.snapshot() != stored
            ):
                replay.find(
                    f"the snapshot after entry {entry.seq} is not what the journal comes to"
                )
    except InvalidInput as error:  # all that follows would be wrong, too
        replay.find(str(error))
        return Audit(replay.ledger.seq, tuple(replay.findings), replay.digest)
    ledger, digest = replay.ledger, replay.digest
    if ledger.seq != look.seq:
        replay.find(f"the journal has {ledger.seq} entries, and should have {look.seq}")
    if ledger.balances != look.balances:
        replay.find(
            f"the purses are {[tuple(purse) for purse in look.balances]}, and the journal "
            f"comes to {[tuple(purse) for purse in ledger.balances]}"
        )
    if replace(ledger.head, snapshot=look.head.snapshot, handover=look.head.handover) != look.head:
        replay.find(f"the head is {vars(look.head)}, and the journal comes to {vars(ledger.head)}")
    compare_tickets(replay, storage)
    return Audit(look.seq, tuple(replay.findings), digest)


def compare_tickets(replay: JournalReplay, storage: Storage) -> None:
    """Every stored ticket against the journal's. What changes meanwhile is in the journal soon:
    those that differ are looked at again.
    """
    ledger, name = replay.ledger, replay.terms.name
    after, seen, issued, differ = 0, 0, len(ledger.tickets), set[int]()
    while page := storage.tickets(name, STATES, after, PAGE_SIZE):
        differ |= {
            record.id
            for record in page
            if record.id in ledger.tickets and ledger.tickets[record.id] != record
        }
        after, seen = page[-1].id, seen + sum(record.id <= issued for record in page)
    if seen < issued:
        replay.find(f"{issued - seen} tickets are missing")
    for _ in range(READ_ATTEMPTS):
        for entry in pages(storage, name, ledger.seq, storage.overview(name).seq):
            ledger.fold(entry)
        stored = {
            number: record
            for number in differ
            for record in storage.tickets(name, STATES, number - 1, 1)
        }
        differ = {number for number in differ if stored.get(number) != ledger.tickets[number]}
        if not differ or storage.overview(name).seq == ledger.seq:
            break
    for number in sorted(differ):
        replay.find(
            f"ticket {number} is stored as {stored[number].state}, and the journal says "
            f"{ledger.tickets[number]}"
        )


def restore(entries: Iterable[Entry], storage: Storage, name: str | None) -> Terms:
    """A campaign from its entries, all of it or nothing; its terms."""
    rows = list(entries)
    if rows[0].kind != "created":
        raise InvalidInput(f"a journal begins with its terms, not with {rows[0].kind!r}")
    if name is not None:
        rows[0] = rows[0]._replace(body={**rows[0].body, "name": name})
    replay = JournalReplay(checked_terms(rows[0]))
    for entry in rows:
        replay.fold(entry)
    if replay.findings:
        raise PurseError(f"the journal contradicts itself: {replay.findings[0]}")
    ledger = replay.ledger
    ledger.head.snapshot = ledger.seq
    storage.create(
        replay.terms.name,
        WriteSet(
            ledger.seq,
            ledger.head,
            ledger.balances,
            list(ledger.tickets.values()),
            rows,
            replay.learner.snapshot(),
        ),
    )
    return replay.terms


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
