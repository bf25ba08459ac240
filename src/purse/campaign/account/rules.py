"""The rules of an account: what is booked on it, and what its owner may do with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from purse.base import amounts
from purse.campaign import events
from purse.campaign.account.ledger import AccountLedger, differences, refund_of
from purse.campaign.journal import EVENT, Entry
from purse.campaign.periods.period import PERIOD
from purse.campaign.periods.rules import PeriodRules
from purse.campaign.records import Balance, check_budget, check_overrun
from purse.campaign.states import CLOSED, PAUSED, RUNNING
from purse.errors import BudgetExhausted, CampaignClosed, CampaignPaused, Conflict


class AccountTransaction(PeriodRules):
    """Decides on entries of an account, each on the ground of those before it."""

    ledger: AccountLedger

    def __init__(self, ledger: AccountLedger, now: int) -> None:
        self.ledger = ledger
        self.terms = ledger.terms
        self.now = now
        self.entries: list[Entry] = []
        self.digests: list[str] = []  # of the journal up to each of them

    def add(self, kind: str, body: dict[str, Any], *, request: str | None = None) -> Entry:
        """Decide on the next entry, and on the events that it causes."""
        entry = Entry(self.ledger.seq + 1, self.now, kind, request, None, body)
        self.ledger.fold(entry)
        self.entries.append(entry)
        self.digests.append(self.ledger.head.digest)
        if self.ledger.head.alerts:
            for event in events.due(self.ledger, entry):
                self.add(EVENT, event)
        return entry

    def note_refusal(self, need: Sequence[int]) -> None:
        """Make the events that so much cannot be paid any more, where a rule wants them."""
        for event in events.refused(self.ledger, need):
            self.add(EVENT, event)

    def set_alerts(self, alerts: Sequence[str]) -> None:
        """Make events by these rules from now on; nothing happens where that is so already."""
        if list(alerts) != list(self.ledger.head.alerts):
            self.add("alerts_set", {"alerts": list(alerts)})

    @property
    def title(self) -> str:
        """What people call it."""
        return f"account {self.terms.name!r}"

    def book(
        self,
        campaign: str,
        entry: int,
        before: Sequence[Balance],
        after: Sequence[Balance],
        asked_in: Mapping[str, int] | None = None,
    ) -> None:
        """Book what an entry of a campaign has changed; nothing where no money moved.

        asked_in   the periods of accounts, by their ids, in which the ticket of the entry was asked
                   for; None where it is asked for now
        """
        if moves := differences(before, after):
            more = {} if asked_in is None else self.from_ended(campaign, asked_in, moves)
            self.add("moved", {"campaign": campaign, "entry": entry, **moves, **more})

    def from_ended(
        self, campaign: str, asked_in: Mapping[str, int], moves: dict[str, list[int]]
    ) -> dict[str, Any]:
        """What an entry says of a hold of an ended period; those of a restored campaign count as
        asked for when it joined.
        """
        period = self.ledger.period
        joined = self.ledger.head.joined.get(campaign, 0)
        number = max(asked_in.get(self.terms.id, 0), joined)
        if period is None or number >= period.number:
            return {}
        return {PERIOD: number, **self.refund(number, refund_of(moves, len(period.held)))}

    def join(self, campaign: str, entry: int, totals: Sequence[Balance]) -> None:
        """Book the totals of a campaign that was restored. Raise `BudgetExhausted` where they do
        not fit.
        """
        self.refuse_closed()
        check_overrun(self.ledger.balances, [part.overrun for part in totals])
        moves = differences([Balance(0) for _ in totals], totals)
        for name, mine, part in zip(
            self.terms.resources, self.ledger.balances, totals, strict=True
        ):
            need = part.spent + part.held + part.presumed
            if need > mine.left:
                raise BudgetExhausted(
                    f"campaign {campaign!r} has spent or held {amounts.text(need)} {name}, and "
                    f"{self.title} has {amounts.text(mine.left)} left"
                )
        if entry > 1:  # one that is only created has nothing to book, and never had
            self.add("joined", {"campaign": campaign, "entry": entry, **moves})

    def top_up(self, units: Sequence[int], request: str) -> None:
        """Add to the budget, once for each request."""
        entry = self.ledger.requests.get(request)
        if entry is not None:
            if entry.body["units"] != list(units):
                before = ", ".join(map(amounts.text, entry.body["units"]))
                raise Conflict(
                    f"request_id={request!r} was used before for another request: a top-up of "
                    f"{before}"
                )
            return
        self.refuse_closed()
        check_budget(self.ledger.balances, units)
        self.add("topped_up", {"units": list(units)}, request=request)

    def set_status(self, kind: str, status: str) -> None:
        """Pause, resume or close; nothing happens where that is so already, and closed is for
        good.
        """
        if self.ledger.head.status != status:
            self.refuse_closed()
            self.add(kind, self.resumption() if status == RUNNING else {})

    def refuse_closed(self) -> None:
        """Refuse what a closed account cannot do."""
        if self.ledger.head.status == CLOSED:
            raise CampaignClosed(f"{self.title} is closed")

    def refuse_stopped(self) -> None:
        """Refuse an ask of a campaign below an account that is paused or closed."""
        self.refuse_closed()
        if self.ledger.head.status == PAUSED:
            raise CampaignPaused(f"{self.title} is paused; resume it first")
