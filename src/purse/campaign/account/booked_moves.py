"""What is booked on an account for one campaign, read beside the campaign's own journal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import orjson

from purse.campaign.account.above import terms_above
from purse.campaign.account.ledger import COUNTERS, differences
from purse.campaign.checkpoint import Checkpoint
from purse.campaign.journal import Entry
from purse.campaign.records import Balance
from purse.campaign.storage.base import Storage
from purse.campaign.terms import Terms

PAGE_SIZE = 5_000


class BookedMoves:
    """The moves of a campaign in the journal of an account above it.

    after   the entry of the campaign whose moves, and those before it, are not looked at
    start   the entry of the account that those moves end with
    """

    def __init__(
        self, storage: Storage, account: str, campaign: str, after: int = 0, start: int = 0
    ) -> None:
        self.account = account
        self.seq = start  # of the last entry of the account that was compared
        self._storage, self._campaign, self._after = storage, campaign, after
        self._moves = self._read(start)
        self._next = next(self._moves, None)
        # a restored campaign joins with all that it has moved up to an entry
        joined = self._next is not None and self._next.kind == "joined"
        self._joined = self._next.body["entry"] if self._next is not None and joined else 0

    def _read(self, seq: int) -> Iterator[Entry]:
        while page := self._storage.account_entries(self.account, seq, PAGE_SIZE):
            for entry in page:
                if (
                    entry.body.get("campaign") == self._campaign
                    and entry.body["entry"] > self._after
                ):
                    yield entry
            seq = page[-1].seq

    def compare(
        self, number: int, before: Sequence[Balance], after: Sequence[Balance]
    ) -> Iterator[str]:
        """Compare what an entry of the campaign has moved with what is booked; where that differs,
        in words.
        """
        while self._next is not None and self._next.body["entry"] < number:
            again = self._take().body["entry"]
            yield f"account {self.account!r} books entry {again} once too often"
        if number < self._joined:
            return
        nothing = [Balance(0)] * len(after)
        moves = differences(nothing if number == self._joined else before or nothing, after)
        if self._next is None or self._next.body["entry"] != number:
            if moves:
                yield f"entry {number} is not booked on account {self.account!r}"
            return
        found = self._take().body
        booked = {name: found[name] for name in COUNTERS if name in found}
        if booked != moves:
            yield f"entry {number} moves {moves}, and account {self.account!r} has {booked}"

    def _take(self) -> Entry:
        """The next of what is booked."""
        assert self._next is not None
        taken, self._next = self._next, next(self._moves, None)
        self.seq = taken.seq
        return taken


def begin(
    storage: Storage, terms: Terms, after: int, checkpoint: Checkpoint | None
) -> list[BookedMoves]:
    """What is booked on each account above a campaign for its entries after one.

    checkpoint   says where that begins in the journals of the accounts, if it is of that entry
    """
    starts: dict[str, int] = {}
    if checkpoint is not None and checkpoint.is_whole and checkpoint.seq == after:
        starts = orjson.loads(checkpoint.body)
    return [
        BookedMoves(storage, each.name, terms.name, after, starts.get(each.name, 0))
        for each in terms_above(storage, terms.account)
    ]
