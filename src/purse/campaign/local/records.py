"""What is stored of a campaign, read from its storage."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from purse.base import validation
from purse.base.json import compact
from purse.campaign import make_results
from purse.campaign.audit import audit, stored_ticket
from purse.campaign.entry import Entry
from purse.campaign.labels import MOST_LISTED, largest, read_key
from purse.campaign.local.base import BaseCampaign
from purse.campaign.results import Audit, CampaignTicket, LabelStatus
from purse.campaign.states import OPEN, STATES
from purse.campaign.verbs.records import RecordVerbs
from purse.errors import TicketError

PAGE_SIZE = 1_000  # entries read at a time


class LocalRecords(BaseCampaign, RecordVerbs):
    """Tickets, journal and audits."""

    _dumps = staticmethod(compact)

    def tickets(
        self, states: Sequence[str] = OPEN, limit: int = 1000, after: int = 0
    ) -> list[CampaignTicket]:
        wanted = [validation.choice("states", state, STATES) for state in states]
        limit = validation.integer("limit", limit, low=1, high=2**62)
        after = validation.integer("after", after, low=0, high=2**62)
        return (
            []
            if not wanted
            else [
                make_results.ticket(self.terms, record)
                for record in self.storage.tickets(self.name, wanted, after, limit)
            ]
        )

    def ticket(self, number: int) -> CampaignTicket:
        number = self._number(number)
        record = stored_ticket(self.storage, self.name, number)
        if record is None:
            raise TicketError(f"ticket {number} is not one that campaign {self.name!r} issued")
        return make_results.ticket(self.terms, record)

    def labels(self, key: str | None = None, limit: int = 100) -> list[LabelStatus]:
        key, limit = read_key(key), validation.integer("limit", limit, low=1, high=MOST_LISTED)
        rows = self.storage.labels(self.name).rows
        return make_results.labels(largest(rows, key, limit))

    def journal(self, after: int = 0) -> Iterator[Entry]:
        after = validation.integer("after", after, low=0, high=2**62)
        while page := self.storage.entries(self.name, after, PAGE_SIZE):
            yield from page
            after = page[-1].seq

    def audit(
        self,
        *,
        full: bool = False,
        acknowledged: Iterable[int] = (),
        noted: tuple[int, str] | None = None,
    ) -> Audit:
        return audit(
            self.terms,
            self.storage,
            full=full,
            acknowledged=[self._number(ticket) for ticket in acknowledged],
            noted=noted,
        )
