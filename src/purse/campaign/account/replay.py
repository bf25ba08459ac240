"""The journal of an account, folded beside those of its campaigns: every entry is decided on once
more and compared with what is written.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from purse.base import amounts
from purse.campaign.account.campaign_moves import CampaignMoves, Move
from purse.campaign.account.ledger import AccountLedger
from purse.campaign.account.rules import AccountTransaction
from purse.campaign.account.terms import AccountTerms
from purse.campaign.alert_rules import OF_ACCOUNTS, read_alerts
from purse.campaign.base_replay import BaseReplay, WouldAppend
from purse.campaign.journal import Entry
from purse.campaign.periods.dry_run import PeriodDryRun
from purse.campaign.periods.period import ABOVE
from purse.campaign.states import CLOSED, PAUSED, RUNNING


class AccountDryRun(PeriodDryRun, AccountTransaction):
    """The rules, asked once more: what they decide on is not taken in, but told."""

    def add(self, kind: str, body: dict[str, Any], *, request: str | None = None) -> Entry:
        """Say what the next entry would be."""
        raise WouldAppend(Entry(self.ledger.seq + 1, self.now, kind, request, None, body))


class AccountReplay(BaseReplay[AccountDryRun]):
    """The journal of an account being folded.

    find_campaign   opens a campaign below the account; None where it has none of this name
    """

    terms: AccountTerms
    ledger: AccountLedger

    def __init__(
        self, terms: AccountTerms, find_campaign: Callable[[str], CampaignMoves | None]
    ) -> None:
        super().__init__(f"account {terms.name!r}")
        self.terms = terms
        self.ledger = AccountLedger(terms)
        self._find_campaign = find_campaign
        self._campaigns: dict[str, CampaignMoves | None] = {}

    def campaign(self, name: str) -> CampaignMoves | None:
        """A campaign below the account; None, and a finding, where there is none."""
        if name not in self._campaigns:
            self._campaigns[name] = found = self._find_campaign(name)
            if found is None:
                self.find(f"there is no campaign {name!r} below account {self.terms.name!r}")
        return self._campaigns[name]

    def take_in(self, entry: Entry) -> None:
        """Compare an entry, and fold it."""
        self.compare(entry)
        self.ledger.fold(entry)
        self.expected.follow(self.ledger, entry)
        self.ledger.requests.clear()  # the storage refuses one that comes twice

    def rules(self, at: int) -> AccountDryRun:
        """The rules as they are at a time."""
        return AccountDryRun(self.ledger, at)

    def decide(self, transaction: AccountDryRun, entry: Entry) -> None:
        """Whatever led to the entry, again."""
        body = entry.body
        match entry.kind:
            case "created":
                if entry.seq == 1:
                    transaction.add("created", self.terms_at(entry.at).as_dict())
            case "moved":
                self.decide_move(transaction, entry, body["campaign"], body["entry"])
            case "joined":
                self.decide_join(transaction, entry, body["campaign"], body["entry"])
            case "topped_up":
                transaction.top_up(body["units"], entry.request or "")
            case "renewed":
                transaction.renew()
            case "event":
                self.expected.decide(transaction, entry)
            case "alerts_set":
                transaction.set_alerts(read_alerts(body["alerts"], OF_ACCOUNTS))
            case kind:
                transaction.set_status(
                    kind, {"paused": PAUSED, "resumed": RUNNING, "closed": CLOSED}[kind]
                )

    def decide_move(self, transaction: AccountDryRun, entry: Entry, name: str, number: int) -> None:
        """What an entry of a campaign has moved, again."""
        campaign = self.campaign(name)
        if campaign is None:  # which is a finding already
            transaction.add(entry.kind, entry.body, request=entry.request)
            return
        self.miss_before(campaign, number)
        move = campaign.peek(number)
        if move is not None:
            campaign.take()
            self.check_ask(campaign, move)
            transaction.book(name, number, move.before, move.after, move.asked_in)

    def decide_join(self, transaction: AccountDryRun, entry: Entry, name: str, number: int) -> None:
        """What a campaign has brought along that was restored, again."""
        campaign = self.campaign(name)
        if campaign is None:  # which is a finding already
            transaction.add(entry.kind, entry.body, request=entry.request)
            return
        transaction.join(name, number, campaign.skip_to(number))

    def miss_before(self, campaign: CampaignMoves, number: int) -> None:
        """Find the moves of a campaign before an entry that nobody has booked."""
        while (move := campaign.peek(number)) is not None and move.entry.seq < number:
            self.find(
                f"entry {move.entry.seq} of campaign {campaign.name!r}, {move.entry.kind}, is not "
                f"booked on account {self.terms.name!r}"
            )
            campaign.take()

    def check_ask(self, campaign: CampaignMoves, move: Move) -> None:
        """Find an ask that a paused or closed account let through, or that saw another amount as
        left than there was.
        """
        if move.entry.kind != "asked":
            return
        where = f"entry {move.entry.seq} of campaign {campaign.name!r}"
        if self.ledger.head.status != RUNNING:
            self.find(f"{where} was asked while account {self.terms.name!r} was not running")
        period = self.ledger.period
        noted = move.entry.body.get(ABOVE, {}).get(self.terms.id)
        if noted != (None if period is None else period.number):
            self.find(f"{where} was asked in period {noted} of account {self.terms.name!r}")
        mine = [purse.left for purse in self.ledger.balances]
        least = [min(own.left, rest) for own, rest in zip(move.before, mine, strict=True)]
        alone = campaign.terms.account == self.terms.name and not self.terms.account
        if any(a > b for a, b in zip(move.left, least, strict=True)) or (
            alone and move.left != least
        ):
            self.find(
                f"{where} saw {', '.join(map(amounts.text, move.left))} as left, and it was "
                f"{', '.join(map(amounts.text, least))}"
            )

    def finish(self, lengths: dict[str, int]) -> None:
        """Find what campaigns have moved up to these entries and nobody has booked, and events that
        are missing.
        """
        self.end_events()
        for name, upto in lengths.items():
            campaign = self.campaign(name)
            if campaign is not None:
                self.miss_before(campaign, upto + 1)
