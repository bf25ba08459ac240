"""The verbs of those who look back: tickets, journal, audits, exports and archives."""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, cast

from purse.base import validation
from purse.base.files import write_atomically
from purse.campaign import make_results
from purse.campaign.archive import Archived, archive
from purse.campaign.audit import Audit, audit, stored_ticket
from purse.campaign.base_campaign import BaseCampaign
from purse.campaign.contexts import without_contexts
from purse.campaign.journal import Entry, write_lines
from purse.campaign.results import CampaignTicket
from purse.campaign.states import OPEN, STATES
from purse.errors import PurseError, TicketError

PAGE_SIZE = 1_000  # entries read at a time


class RecordVerbs(BaseCampaign):
    """What is stored of a campaign."""

    def tickets(self, states: Sequence[str] = OPEN, limit: int = 1000) -> list[CampaignTicket]:
        """Return at most `limit` tickets in these states, the oldest first, without archived ones.

        states   any of "held", "told", "void", "presumed", "released", "skipped", "settled",
                 "failed" and "unrewarded"
        """
        wanted = [validation.choice("states", state, STATES) for state in states]
        limit = validation.integer("limit", limit, low=1, high=2**62)
        return (
            []
            if not wanted
            else [
                make_results.ticket(self.terms, record)
                for record in self.storage.tickets(self.name, wanted, 0, limit)
            ]
        )

    def ticket(self, number: int) -> CampaignTicket:
        """Return the ticket with this number; without its request id where it is archived.

        Raise `TicketError` when the campaign did not issue it.
        """
        number = self._number(number)
        record = stored_ticket(self.storage, self.name, number)
        if record is None:
            raise TicketError(f"ticket {number} is not one that campaign {self.name!r} issued")
        return make_results.ticket(self.terms, record)

    def journal(self, after: int = 0) -> Iterator[Entry]:
        """Yield the entries of the journal whose number is above `after`, in order."""
        after = validation.integer("after", after, low=0, high=2**62)
        while page := self.storage.entries(self.name, after, PAGE_SIZE):
            yield from page
            after = page[-1].seq

    def audit(
        self,
        *,
        full: bool = False,
        archives: Sequence[str | Path] = (),
        acknowledged: Iterable[int] = (),
        noted: tuple[int, str] | None = None,
    ) -> Audit:
        """Fold the journal and return where the campaign differs from it.

        full           begin at the first entry and compare every ticket; otherwise begin where the
                       last audit that found nothing ended, and compare what has changed since
        archives       the files that `archive` wrote, which a full audit needs
        acknowledged   the numbers of tickets whose reports were acknowledged
        noted          (`entries`, `digest`) of an earlier `status`

        The audit compares balances, tickets, counts, digests, the policy's choices and its state.
        What never reached this storage, or was lost with it, shows only in `acknowledged` and
        `noted`, which somebody else has kept.
        """
        return audit(
            self.terms,
            self.storage,
            full=full,
            archives=archives,
            acknowledged=[self._number(ticket) for ticket in acknowledged],
            noted=noted,
        )

    def archive(self, file: str | Path, *, before: float | None = None) -> Archived:
        """Move the oldest entries of the journal to a new file, and return what was moved.

        file     a path, which must not exist yet; keep the file, for `restore` and a full audit
        before   only entries of before this time, in seconds since 1970; None: all that can be

        Entries are moved up to the first ticket that is held, presumed or settled. A repeated ask
        or tell of a ticket that was moved gets the same answer as before.

        Raise `PurseError` when an audit finds something, when there is nothing to move, or when the
        file exists; then nothing has changed.
        """
        if hasattr(self.storage, "committer"):
            raise PurseError(
                "an archive is made with the database's own address, not over a socket"
            )
        found = self.audit()
        if not found.ok:
            raise PurseError(f"nothing was archived, because of the audit: {found.findings[0]}")
        limit = None if before is None else round(before * 1000)
        return archive(self.terms, self.storage, Path(file).absolute(), limit)

    def export(self, file: str | Path | IO[str], *, contexts: bool = True) -> int:
        """Write the journal as JSON lines and return the number of entries.

        file       a path, which is written whole or not at all, or an open text file
        contexts   whether the contexts of asks are written, too; a journal without them can be
                   restored where the policy does not see contexts
        """
        if isinstance(file, (str, Path)):
            counts: list[int] = []
            write_atomically(
                Path(file),
                lambda raw: counts.append(
                    self.export(cast(IO[str], codecs.getwriter("utf-8")(raw)), contexts=contexts)
                ),
            )
            return counts[0]
        if contexts:
            return write_lines(file, self.name, self.journal())
        entries = (
            entry._replace(body=without_contexts(entry.body)) if entry.seq > 1 else entry
            for entry in self.journal()
        )
        return write_lines(file, self.name, entries, without_contexts=True)
