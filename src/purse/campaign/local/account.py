"""An account whose storage this process reaches itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Self

from purse.campaign.account import Account
from purse.campaign.account_results import AccountStatus, LevelStatus
from purse.campaign.alert_rules import OF_ACCOUNTS
from purse.campaign.budget_terms import AccountTerms
from purse.campaign.campaign_ledger import CampaignLevel
from purse.campaign.ledger import Level
from purse.campaign.local.budget import Budget, read_terms
from purse.campaign.make_results import account_status, balances
from purse.campaign.period import Period
from purse.campaign.records import Balance
from purse.campaign.results import Audit
from purse.campaign.states import ACCOUNT, CAMPAIGN, RUNNING
from purse.campaign.storage.rows import Found
from purse.campaign.transaction import Transaction


class LocalAccount(Budget[AccountStatus], Account):
    """An account in a file or a database."""

    kind = ACCOUNT
    words = OF_ACCOUNTS
    title = "Account"

    def __repr__(self) -> str:
        return f"<Account {self.name!r}>"

    @classmethod
    def _create(
        cls, name: str, terms: dict[str, Any], storage: Any, token: str | None, exist_ok: bool
    ) -> Self:
        made = AccountTerms.of(name, **terms)
        return cls._made(made, cls._connected(storage, token, create=True), exist_ok)

    def status(self) -> AccountStatus:
        level, look, now = self._look()
        return account_status(level, look, now, list(self._below(self.name, now)))

    def _below(self, name: str, now: int) -> Iterator[LevelStatus]:
        """Yield the levels below one, each with all that is below it, as of a time in ms."""
        for found in self.storage.below(name):
            yield LevelStatus(
                found.name,
                found.kind,  # type: ignore[arg-type]
                found.head.status,
                balances(self.terms.resources, self._balances(found, now)),
                tuple(self._below(found.name, now)) if found.kind == ACCOUNT else (),
            )

    def _balances(self, found: Found, now: int) -> Sequence[Balance]:
        """Return the balances of a level; its terms are read only where a period is due."""
        head = found.head
        if not head.period or head.status != RUNNING or now < Period(*head.period).ends:
            return found.balances
        terms = read_terms(self.storage, found.name, found.kind)
        kind = CampaignLevel if found.kind == CAMPAIGN else Level
        level = kind(terms, found.seq, head, found.balances)
        Transaction(level, now).renew()
        return level.balances

    def audit(self) -> Audit:
        return self._audited(full=True)
