"""What an account was created with. Terms never change; top-ups are entries of the journal."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar

from purse.base import amounts
from purse.campaign import defaults
from purse.campaign.alert_rules import OF_ACCOUNTS, read_alerts
from purse.campaign.budget_terms import BudgetTerms
from purse.campaign.by_name import by_name, names
from purse.campaign.periods.read import is_period_end, read_periods
from purse.campaign.terms import ID, checked_name
from purse.errors import InvalidInput


@dataclass(frozen=True)
class AccountTerms(BudgetTerms):
    """All that defines an account; amounts in units of 1e-9. Build it with `AccountTerms.of`, which
    checks and converts.
    """

    KIND: ClassVar = "an account"
    OWN_FACTS: ClassVar = ("id", "first_end", "tz")
    name: str
    resources: tuple[str, ...]
    budget: tuple[int, ...]  # (d,) at the beginning
    id: str  # tells it from another account that had the same name before
    account: str = ""  # the account above it
    every: str = ""  # how often the budget is renewed; "": never
    time_zone: str = defaults.TIME_ZONE  # of days, weeks and months
    carry: str = defaults.CARRY  # what is kept of the money left
    first_end: int = 0  # ms, of the first period
    tz: str = ""  # the version of the time-zone data that told it
    alerts: tuple[str, ...] = ()  # rules of the events that it makes, at the beginning

    @classmethod
    def of(
        cls,
        name: str,
        *,
        budget: Any,
        resources: Sequence[str],
        account: str | None = None,
        every: str | None = None,
        time_zone: str = defaults.TIME_ZONE,
        carry: str = defaults.CARRY,
        alerts: Sequence[str] = (),
        id: str = "",
    ) -> AccountTerms:
        """Terms from what a user gives: amounts in the user's unit, by position or by the names of
        resources.
        """
        stuff = names("resources", resources)
        given = by_name("budget", budget, stuff, "resource")
        return cls(
            checked_name("name", name),
            stuff,
            tuple(amounts.budget_array(given, len(stuff)).tolist()),
            id or secrets.token_hex(8),
            checked_name("account", account) if account else "",
            *read_periods(every, time_zone, carry),
            alerts=read_alerts(alerts, OF_ACCOUNTS),
        )

    def checked(self) -> AccountTerms:
        """The same terms, if they are what `of` would have made of them."""
        facts = {**asdict(self), "budget": [amounts.text(units) for units in self.budget]}
        own = {name: facts.pop(name) for name in ("first_end", "tz")}
        made = replace(AccountTerms.of(**facts), **own)
        if made != self or not ID.fullmatch(self.id) or not is_period_end(self.every, **own):
            raise InvalidInput("these are not the terms of an account as they were written")
        return self
