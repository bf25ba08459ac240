"""What an account was created with. Terms never change; top-ups are entries of the journal."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, asdict, dataclass, fields
from typing import Any

from purse.base import amounts
from purse.campaign.by_name import by_name, names
from purse.campaign.terms import ID, checked_name, frozen, read_amounts
from purse.errors import CampaignExists, InvalidInput

OWN_FACTS = ("id",)  # what purse itself says of an account, and not its user


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

    @classmethod
    def of(
        cls,
        name: str,
        *,
        budget: Any,
        resources: Sequence[str],
        account: str | None = None,
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
        )

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
        if AccountTerms.of(**facts) != self or not ID.fullmatch(self.id):
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
