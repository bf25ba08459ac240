"""An account whose storage this process reaches itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Self

from purse.base import validation
from purse.base.json import compact
from purse.campaign.account import make_results, operations
from purse.campaign.account.above import account_write, check_above, read_terms, terms_above
from purse.campaign.account.account import Account
from purse.campaign.account.audit import audit
from purse.campaign.account.ledger import AccountLedger
from purse.campaign.account.operations import AccountCommitter
from purse.campaign.account.results import AccountStatus
from purse.campaign.account.rules import AccountTransaction
from purse.campaign.account.terms import AccountTerms
from purse.campaign.alert_rules import OF_ACCOUNTS, read_alerts
from purse.campaign.entry import Entry
from purse.campaign.request_ids import checked_request, new_request
from purse.campaign.results import Audit
from purse.campaign.states import CLOSED, PAUSED, RUNNING
from purse.campaign.storage.base import Storage
from purse.campaign.storage.connect import connect
from purse.errors import CampaignExists, InvalidInput, NoSuchCampaign, invalid, suggest

PAGE_SIZE = 1_000  # entries read at a time


class LocalAccount(Account):
    """An account in a file or a database."""

    _dumps = staticmethod(compact)

    def __init__(self, terms: AccountTerms, kept: Storage) -> None:
        self.terms = terms
        self.storage = kept
        self._committer = AccountCommitter(terms, kept)

    @property
    def name(self) -> str:
        return self.terms.name

    def __repr__(self) -> str:
        return f"<Account {self.name!r}>"

    @staticmethod
    def _connected(storage: Any, token: str | None, *, create: bool = False) -> Storage:
        """Return the storage behind an address; `create` says whether a missing file is made."""
        if token is not None:
            raise InvalidInput("token: must be left out, since only a server has tokens")
        return connect(storage, create=create)

    @classmethod
    def _create(
        cls, name: str, terms: dict[str, Any], storage: Any, token: str | None, exist_ok: bool
    ) -> Self:
        made = AccountTerms.of(name, **terms)
        kept = cls._connected(storage, token, create=True)
        check_above(made, terms_above(kept, made.account))
        now = kept.now()
        made = made.begun_at(now)
        transaction = AccountTransaction(AccountLedger(made), now)
        transaction.add("created", made.as_dict())
        try:
            kept.create_account(account_write(transaction), made.account)
        except CampaignExists as error:
            if not exist_ok or name not in kept.accounts():
                raise CampaignExists(
                    f"{error}; Account.open opens an account, exist_ok (--exist-ok) takes it where "
                    "all is the same"
                ) from None
            found = cls._open(name, kept, None)
            made.check_same_as(found.terms)
            return found
        return cls(made, kept)

    @classmethod
    def _open(cls, name: str, storage: Any, token: str | None) -> Self:
        kept = cls._connected(storage, token)
        try:
            return cls(read_terms(kept, name), kept)
        except NoSuchCampaign as error:
            hint = suggest(str(name), kept.accounts())
            raise NoSuchCampaign(f"{error}; {hint}" if hint else str(error)) from None

    @classmethod
    def _names(cls, storage: Any, token: str | None) -> list[str]:
        return cls._connected(storage, token).accounts()

    def status(self) -> AccountStatus:
        return make_results.status(self.terms, self.storage)

    def top_up(self, amount: Any, request_id: str | None = None) -> AccountStatus:
        units = self.terms.amounts("amount", amount)
        request = new_request() if request_id is None else checked_request(request_id)
        if min(units) < 0 or max(units) == 0:
            raise invalid("amount", amount, "must be positive")
        self._committer.do(operations.top_up(units, request))
        return self.status()

    def pause(self) -> AccountStatus:
        return self._set_status("paused", PAUSED)

    def resume(self) -> AccountStatus:
        return self._set_status("resumed", RUNNING)

    def close(self) -> AccountStatus:
        return self._set_status("closed", CLOSED)

    def _set_status(self, kind: str, status: str) -> AccountStatus:
        self._committer.do(operations.set_status(kind, status))
        return self.status()

    def set_alerts(self, alerts: Sequence[str]) -> AccountStatus:
        rules = read_alerts(alerts, OF_ACCOUNTS)
        self._committer.do(operations.set_alerts(rules))
        return self.status()

    def journal(self, after: int = 0) -> Iterator[Entry]:
        after = validation.integer("after", after, low=0, high=2**62)
        while page := self.storage.account_entries(self.name, after, PAGE_SIZE):
            yield from page
            after = page[-1].seq

    def audit(self) -> Audit:
        return audit(self.terms, self.storage)
