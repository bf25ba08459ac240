"""What an account was created with. Terms never change; top-ups are entries of the journal."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, asdict, dataclass, fields, replace
from typing import Any

from purse.base import amounts
from purse.campaign import defaults
from purse.campaign.by_name import by_name, names
from purse.campaign.periods.period import Carry
from purse.campaign.periods.read import (
    PeriodTerms,
    carry_words,
    is_period_end,
    read_periods,
)
from purse.campaign.terms import ID, checked_name, frozen, read_amounts
from purse.errors import CampaignExists, InvalidInput

OWN_FACTS = ("id", "first_end", "tz")  # what purse itself says of an account, and not its user


@dataclass(frozen=True)
class AccountTerms:
    """All that defines an account; amounts in units of 1e-9. Build it with `AccountTerms.of`, which
    checks and converts.
    """

    name: str
    resources: tuple[str, ...]
    budget: tuple[int, ...]  # (d,) at the beginning
    id: str  # tells it from another account that had the same name before
    account: str = ""  # the account above it
    every: str = ""  # how often the budget is renewed; "": never
    time_zone: str = defaults.TIME_ZONE  # of days, weeks and months
    carry: Carry = defaults.CARRY  # what is kept of the money left: see `read_carry`
    starts: str = ""  # a local time whose day and hour periods keep
    first_end: int = 0  # ms, of the first period
    tz: str = ""  # the version of the time-zone data that told it

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
        carry: Any = defaults.CARRY,
        starts: str | None = None,
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
            *read_periods(every, time_zone, carry, starts, stuff),
        )

    @property
    def periods(self) -> PeriodTerms:
        """When the budget is renewed, and what is kept then."""
        return PeriodTerms(self.every, self.time_zone, self.carry, self.starts)

    def begun_at(self, now: int) -> AccountTerms:
        """The terms of an account that begins at a time, in ms: with the end of its first
        period.
        """
        return replace(self, **self.periods.begun_at(now))

    def as_dict(self) -> dict[str, Any]:
        """The terms as JSON has them; what is left at its default is left out."""
        facts = asdict(self)
        for field in fields(self):
            if field.default is not MISSING and facts[field.name] == field.default:
                del facts[field.name]
        return facts

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> AccountTerms:
        """Terms as they were written to a journal."""
        try:
            return cls(**{name: frozen(value) for name, value in facts.items()})
        except TypeError as error:
            raise InvalidInput(f"these are not the terms of an account: {error}") from None

    def checked(self) -> AccountTerms:
        """The same terms, if they are what `of` would have made of them."""
        facts = {**asdict(self), "budget": [amounts.text(units) for units in self.budget]}
        facts["carry"] = carry_words(self.carry)
        own = {name: facts.pop(name) for name in ("first_end", "tz")}
        made = replace(AccountTerms.of(**facts), **own)
        if made != self or not ID.fullmatch(self.id) or not is_period_end(self.every, **own):
            raise InvalidInput("these are not the terms of an account as they were written")
        return self

    def check_same_as(self, found: AccountTerms) -> None:
        """Raise `CampaignExists` where the account that was found has other terms than these."""
        for field in fields(self):
            mine, other = getattr(self, field.name), getattr(found, field.name)
            if field.name not in OWN_FACTS and mine != other:
                raise CampaignExists(
                    f"there is an account {self.name!r} already, with other {field.name} than "
                    "these; open it as it is, or give the new one another name"
                )

    def amounts(self, field: str, value: Any) -> tuple[int, ...]:
        """(d,) One amount of each resource in units."""
        return read_amounts(field, value, self.resources)
