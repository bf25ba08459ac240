"""The verbs of those who look back: tickets, journal, audits and exports."""

from __future__ import annotations

import codecs
import json
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import IO, TYPE_CHECKING, Any, cast

from purse.campaign.entry import Entry, without_contexts, write_as
from purse.campaign.results import Audit, CampaignTicket, LabelStatus, Status
from purse.campaign.states import OPEN

if TYPE_CHECKING:
    from pathlib import Path


class RecordVerbs(ABC):
    """What is stored of a campaign."""

    @property
    @abstractmethod
    def name(self) -> str:
        """The name of the campaign, unique in its storage."""

    @staticmethod
    def _dumps(value: Any) -> str:
        """Return a value as JSON without spaces, as an export has it."""
        return dumps(value)

    @abstractmethod
    def status(self) -> Status:
        """Return the balances, counts and alarms of the campaign.

        Like every method that only reads, it neither waits for a writer nor makes one wait.
        """

    @abstractmethod
    def tickets(
        self, states: Sequence[str] = OPEN, limit: int = 1000, after: int = 0
    ) -> list[CampaignTicket]:
        """Return at most `limit` tickets in these states, the oldest first.

        states   any of "held", "told", "void", "presumed", "skipped", "settled" and "failed"
        after    only tickets whose number is above this one
        """

    @abstractmethod
    def ticket(self, number: int) -> CampaignTicket:
        """Return the ticket with this number.

        Raise `TicketError` when the campaign did not issue it.
        """

    @abstractmethod
    def labels(self, key: str | None = None, limit: int = 100) -> list[LabelStatus]:
        """Return the labels of asks on which most was spent of the first resource, the largest
        first; overruns count as spent.

        key     only labels with this key; None: with any
        limit   at most so many, 1 to 10,000
        """

    @abstractmethod
    def journal(self, after: int = 0) -> Iterator[Entry]:
        """Yield the entries of the journal whose number is above `after`, in order."""

    @abstractmethod
    def audit(
        self,
        *,
        full: bool = False,
        acknowledged: Iterable[int] = (),
        noted: tuple[int, str] | None = None,
    ) -> Audit:
        """Fold the journal and return where the campaign differs from it.

        full           begin at the first entry and compare every ticket; otherwise begin where the
                       last audit that found nothing ended, and compare what has changed since
        acknowledged   the numbers of tickets whose reports were acknowledged
        noted          (`entries`, `digest`) of an earlier `status`

        The audit compares balances, tickets, counts, digests, the policy's choices and its state.
        What never reached this storage, or was lost with it, shows only in `acknowledged` and
        `noted`, which somebody else has kept.
        """

    def export(self, file: str | Path | IO[str], *, contexts: bool = True) -> int:
        """Write the journal as JSON lines and return the number of entries.

        file       a path, which is written whole or not at all, or an open text file
        contexts   whether the contexts of asks are written, too; a journal without them can be
                   restored where the policy does not see contexts
        """
        return write_whole(file, lambda lines: self._write(lines, contexts))

    def _write(self, file: IO[str], contexts: bool) -> int:
        if contexts:
            return write_as(self._dumps, file, self.name, self.journal())
        entries = (
            entry._replace(body=without_contexts(entry.body)) if entry.seq > 1 else entry
            for entry in self.journal()
        )
        return write_as(self._dumps, file, self.name, entries, without_contexts=True)


def dumps(value: Any) -> str:
    """Return a value as JSON without spaces, by what every Python has."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def write_whole(file: str | Path | IO[str], write: Callable[[IO[str]], int]) -> int:
    """Write to a path, whole or not at all, or to an open text file; return what `write` does."""
    if not isinstance(file, (str, os.PathLike)):
        return write(file)
    from pathlib import Path

    from purse.base.files import write_atomically

    counts: list[int] = []
    write_atomically(
        Path(file),
        lambda raw: counts.append(write(cast(IO[str], codecs.getwriter("utf-8")(raw)))),
    )
    return counts[0]
