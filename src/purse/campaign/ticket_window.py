"""The tickets of a journal that is folded, in bounded room.

Tickets that are open or young are kept. Of the others a sum of hashes is kept for every few
thousand, which shows whether the stored ones are the same, without the order they came in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from hashlib import blake2b
from typing import Any

from purse.base.json import compact_bytes
from purse.campaign.contexts import CONTEXT
from purse.campaign.journal import Entry
from purse.campaign.labels import LABELS
from purse.campaign.periods.period import ABOVE, PERIOD
from purse.campaign.records import TicketRecord
from purse.campaign.states import SETTLED, TOLD, UNFINISHED

BUCKET = 4_096  # tickets that share a sum
YOUNG = 2 * BUCKET  # tickets that are kept whatever their state: they may change while we look
MODULUS = 2**63  # sums fit into 64 bits
# what a ticket may hold, in the order of its hash; it is stored in that of its entries
PARTS = (
    "t", "arms", "probabilities", "held", "names", "initial", CONTEXT, LABELS, PERIOD, ABOVE,
    "reward", "report",
)  # fmt: skip
Sums = list[int]  # of what a ticket is, of its times, of its request id


class TicketWindow(dict[int, TicketRecord]):
    """The tickets that are kept, by their numbers, with the sums of the others.

    load            finds a ticket that is not kept any more, as it is stored now; None where there
                    is none
    expires_after   ms until a ticket that is held expires; None: never
    """

    def __init__(
        self, load: Callable[[int], TicketRecord | None], expires_after: int | None = None
    ) -> None:
        super().__init__()
        self._load, self._expires = load, expires_after
        self.keep: set[int] = set()  # tickets that are never let go
        self.sums: dict[int, Sums] = {}  # of each bucket
        self.touched: set[int] = set()  # buckets in which a ticket changed
        self.issued = 0
        self._clean = 0  # issued when those that need not be kept were last let go

    def __setitem__(self, number: int, record: TicketRecord) -> None:
        super().__setitem__(number, record)
        self.touched.add(number // BUCKET)
        self.issued = max(self.issued, number)

    def recall(self, entry: Entry) -> None:
        """Keep the ticket of an entry again, as it was before the entry."""
        number = entry.ticket or 0
        if number in self or number > self.issued:
            return
        record = self._load(number)
        if record is not None:
            record = before(record, entry, self._expires)
            self._add(record, -1)
            self[number] = record

    def tidy(self) -> None:
        """Let go of tickets that need not be kept."""
        if self.issued < self._clean + YOUNG:
            return
        self._clean = self.issued
        for number in [
            number
            for number, record in self.items()
            if number <= self.issued - YOUNG
            and record.state not in UNFINISHED
            and number not in self.keep
        ]:
            self._add(self.pop(number), 1)

    def _add(self, record: TicketRecord, sign: int) -> None:
        sums = self.sums.setdefault(record.id // BUCKET, [0, 0, 0])
        for place, part in enumerate(hashes(record)):
            sums[place] = (sums[place] + sign * part) % MODULUS

    def sums_of(self, records: Iterable[TicketRecord]) -> Sums:
        """The sums of stored tickets, without those that are kept here."""
        sums = [0, 0, 0]
        for record in records:
            if record.id not in self:
                for place, part in enumerate(hashes(record)):
                    sums[place] = (sums[place] + part) % MODULUS
        return sums

    def total(self) -> int:
        """A hash of all tickets, without their times."""
        kept = sum(hashes(record)[0] for record in self.values())
        return (kept + sum(sums[0] for sums in self.sums.values())) % MODULUS


def before(record: TicketRecord, entry: Entry, expires_after: int | None) -> TicketRecord:
    """A ticket as it was before an entry that was written when the ticket was finished, from what
    it is now: void tickets may get a cost or a reward, and others a reward. A cost
    alone gives a ticket another deadline, and comes before its reward.
    """
    body = dict(record.body)
    if entry.kind in ("rewarded", "settled"):
        body.pop("reward", None)
    if entry.kind == "settled":
        deadline = None if expires_after is None else record.at + expires_after
        record = record._replace(deadline=deadline)
    if entry.kind in ("told", "settled") or (
        entry.kind == "rewarded" and record.state in (TOLD, SETTLED)
    ):
        report = body.pop("report", None)
        return record._replace(state=record.state if report is None else report["from"], body=body)
    return record._replace(body=body)


def hashes(record: TicketRecord) -> Sums:
    """Hashes of what a ticket is, of its times and of its request id."""
    body = {name: record.body[name] for name in PARTS if name in record.body}
    parts: tuple[Any, ...] = (
        [record.id, record.state, body],
        [record.id, record.at, record.deadline],
        [record.id, record.body["request"]],
    )
    return [
        int.from_bytes(blake2b(compact_bytes(part), digest_size=8).digest()) % MODULUS
        for part in parts
    ]
