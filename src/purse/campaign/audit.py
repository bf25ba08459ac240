"""The journal folded from its beginning: to check a campaign against it, and to restore one from it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from hashlib import sha256

from purse import amount
from purse.campaign.journal import Entry, compact
from purse.campaign.ledger import STATES, TOLD, Ledger, Slot, settle
from purse.campaign.mind import Mind
from purse.campaign.storage import Change, Storage
from purse.campaign.terms import Terms
from purse.errors import InvalidInput, PurseError

PAGE = 5_000
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


class Replay:
    """A journal being folded, with the policy beside it: every choice is made again and compared with what is written."""

    def __init__(self, terms: Terms) -> None:
        self.terms = terms
        self.ledger = Ledger(terms)
        self.mind = Mind(terms)
        self.findings: list[str] = []

    def fold(self, entry: Entry) -> None:
        """Check an entry against what is known so far, and take it in."""
        try:
            if entry.kind == "asked":
                self.check_choices(entry)
            if entry.kind == TOLD:
                self.check_report(entry)
            self.ledger.fold(entry)
        except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
            why = str(error) if isinstance(error, InvalidInput) else repr(error)
            raise InvalidInput(f"entry {entry.seq} of {self.terms.name!r}, {entry.kind}, cannot follow those before it: {why}") from None
        self.mind.learn([(entry.seq, entry.body)] if entry.kind == TOLD else [], entry.seq)
        if any(min(purse) < 0 or purse.left < 0 for purse in self.ledger.purses):
            self.find(f"entry {entry.seq}: spent + held + presumed exceeds the budget")

    def check_choices(self, entry: Entry) -> None:
        """The policy chooses again."""
        left = [purse.left for purse in self.ledger.purses]
        rounds, again = self.ledger.head.rounds, len(self.ledger.head.again)
        for each in entry.body["tickets"]:
            if again:
                again -= 1
            else:
                rounds += 1
                chosen = list(self.mind.choose(rounds, left))
                if chosen != [each["arms"], each["probabilities"]]:
                    self.find(f"entry {entry.seq}: ticket {each['id']} has arms {each['arms']} with {each['probabilities']}; the policy would choose {chosen}")
            left = [rest - part for rest, part in zip(left, each["held"], strict=True)]

    def check_report(self, entry: Entry) -> None:
        """What was spent follows from the hold and the cost."""
        slot, d = self.ledger.tickets.get(entry.ticket or 0), len(self.terms.resources)
        if slot is None or slot.state == TOLD:
            raise InvalidInput(f"ticket {entry.ticket} is {'told already' if slot else 'unknown'}")
        total = [sum(entry.body["costs"][m::d]) for m in range(d)]
        spent, overrun = settle(slot.body["held"] if slot.state in ("held", "presumed") else [0] * d, total)
        if (entry.body["spent"], entry.body["overrun"], entry.body["from"]) != (spent, overrun, slot.state):
            self.find(f"entry {entry.seq}: ticket {entry.ticket} should have spent {list(map(amount.text, spent))}")

    def find(self, text: str) -> None:
        """Something that does not agree."""
        if len(self.findings) < MOST_FINDINGS:
            self.findings.append(text)

    @property
    def digest(self) -> str:
        """A hash of all that was folded."""
        counts = {**vars(self.ledger.head), "snapshot": 0, "created": 0, "changed": 0}
        digest = sha256(compact([self.ledger.seq, counts, self.ledger.purses]).encode())
        for number in sorted(self.ledger.tickets):
            digest.update(line(self.ledger.tickets[number]))
        for array in self.mind.state.values():
            digest.update(array.tobytes())
        return digest.hexdigest()


def line(slot: Slot) -> bytes:
    """A ticket as bytes, without the times."""
    return compact([slot.id, slot.state, slot.body]).encode()


def pages(storage: Storage, name: str, upto: int) -> Iterator[Entry]:
    """The entries of a campaign, up to this one."""
    after = 0
    while after < upto and (page := storage.entries(name, after, min(PAGE, upto - after))):
        yield from page
        after = page[-1].seq


def audit(terms: Terms, storage: Storage) -> Audit:
    """Fold the whole journal, and compare all that is stored besides with what it comes to."""
    look = storage.look(terms.name)
    replay, stored = Replay(terms), storage.snapshot(terms.name)
    for entry in pages(storage, terms.name, look.seq):
        if entry.seq != replay.ledger.seq + 1:
            replay.find(f"entry {replay.ledger.seq + 1} is missing")
        try:
            replay.fold(entry)
        except InvalidInput as error:
            replay.find(str(error))
            break
        if stored is not None and stored.seq == entry.seq and stored.code == replay.mind.code and replay.mind.snapshot() != stored:
            replay.find(f"the snapshot after entry {entry.seq} is not what the journal comes to")
    ledger = replay.ledger
    if ledger.seq != look.seq:
        replay.find(f"the journal has {ledger.seq} entries, and should have {look.seq}")
    if ledger.purses != look.purses:
        replay.find(f"the purses are {[tuple(purse) for purse in look.purses]}, and the journal comes to {[tuple(purse) for purse in ledger.purses]}")
    if replace(ledger.head, snapshot=look.head.snapshot) != look.head:
        replay.find(f"the head is {vars(look.head)}, and the journal comes to {vars(ledger.head)}")
    compare_tickets(replay, storage)
    return Audit(ledger.seq, tuple(replay.findings), replay.digest)


def compare_tickets(replay: Replay, storage: Storage) -> None:
    """Every stored ticket against the journal's, as far as nobody changed it meanwhile."""
    after, seen = 0, 0
    while page := storage.tickets(replay.terms.name, STATES, after, PAGE):
        for slot in page:
            if replay.ledger.tickets.get(slot.id) != slot and slot.id <= replay.ledger.head.counts["tickets"]:
                replay.find(f"ticket {slot.id} is stored as {slot.state}, and the journal says {replay.ledger.tickets.get(slot.id)}")
        after, seen = page[-1].id, seen + len(page)
    if seen < len(replay.ledger.tickets):
        replay.find(f"{len(replay.ledger.tickets) - seen} tickets are missing")


def restored(entries: Iterable[Entry], storage: Storage, name: str | None) -> Terms:
    """A campaign from its entries, all of it or nothing; its terms."""
    rows = list(entries)
    if rows[0].kind != "created":
        raise InvalidInput(f"a journal begins with its terms, not with {rows[0].kind!r}")
    if name is not None:
        rows[0] = rows[0]._replace(body={**rows[0].body, "name": name})
    replay = Replay(Terms.from_dict(rows[0].body))
    for entry in rows:
        replay.fold(entry)
    if replay.findings:
        raise PurseError(f"this journal does not hold together: {replay.findings[0]}")
    ledger = replay.ledger
    ledger.head.snapshot = ledger.seq
    storage.create(replay.terms.name, Change(ledger.seq, ledger.head, ledger.purses, list(ledger.tickets.values()), rows, replay.mind.snapshot()))
    return replay.terms
