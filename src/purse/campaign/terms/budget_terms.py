"""The terms of accounts, and what they have in common with those of campaigns."""

import re
import secrets
from collections.abc import Collection, Mapping
from dataclasses import MISSING, Field, asdict, dataclass, fields, replace
from typing import Any, ClassVar, Self

from purse.base import amounts
from purse.campaign.api import defaults
from purse.campaign.api.kinds import checked_name
from purse.campaign.api.states import ACCOUNT_ALERT_WORDS, read_alerts
from purse.campaign.terms.calendar import Calendar, data_version, read_periods
from purse.campaign.terms.readers import by_name, read_resources
from purse.errors import CampaignExists, InvalidInput, invalid

ID = re.compile(r"[0-9a-f]{16}")
# The version of the rules. By 0, a report counted up to its hold, and the rest not at all; what was
# decided by it is folded, and not decided again.
RULES = 1


# terms that change, and the verbs that change them
CHANGING = {
    "budget": "set_budget",
    "alerts": "set_alerts",
    "arms": "add_arm and retire_arm",
    "cost_max": "set_arm",
    "cost_min": "set_arm",
    "limits": "set_limit",
}


class BudgetTerms:
    """The terms of a budget; each kind is a dataclass, which says the fields and their order."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]
    KIND: ClassVar[str]  # of what these are the terms, with its article
    OWN_FACTS: ClassVar[tuple[str, ...]]  # what purse itself says, and not the user
    name: str
    resources: tuple[str, ...]
    every: str
    time_zone: str
    carry: str
    rules: int  # the version of the rules that decide at the beginning

    def begun_at(self, now: int) -> Self:
        """Return the terms of what begins at a time (ms), with the end of its first period."""
        begun = replace(self, rules=RULES)
        if not self.every:
            return begun
        end = Calendar(self.every, self.time_zone).next_end(now, now)
        return replace(begun, first_end=end, tz=data_version(self.time_zone))

    def as_dict(self) -> dict[str, Any]:
        """Return the terms as JSON has them; what is left at its default is left out."""
        facts = asdict(self)
        for field in fields(self):
            if field.default is not MISSING and facts[field.name] == field.default:
                del facts[field.name]
        return facts

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> Self:
        """Terms as they were written to a journal."""
        try:
            return cls(**{name: _frozen(value) for name, value in facts.items()})
        except TypeError as error:
            raise InvalidInput(f"these are not the terms of {cls.KIND}: {error}") from None

    def check_same_as(self, others: Self, besides: Collection[str] = ()) -> None:
        """Raise `CampaignExists` if others differ in more than what purse says by itself.

        besides   terms in which they may differ
        """
        derived = ("cost_min", "policy")  # other terms change them, and are named first
        for field in sorted(fields(self), key=lambda term: term.name in derived):
            mine, other = getattr(self, field.name), getattr(others, field.name)
            if field.name not in (*self.OWN_FACTS, *besides) and mine != other:
                verbs = CHANGING.get(field.name)
                update = f'exist_ok="update" sets it, as {verbs} would; ' if verbs else ""
                raise CampaignExists(
                    f"there is {self.KIND} {self.name!r} already, with other {field.name} than "
                    f"these; {update}open it as it is, or give the new one another name"
                )

    def amounts(
        self, field: str, value: Any, *, zero: bool = False, low: int | None = None
    ) -> tuple[int, ...]:
        """(d,) One amount of each resource in units, from one number, a list, or a dict of
        resources.

        zero   whether a single 0 stands for all resources
        low    0 if none may be negative
        """
        if isinstance(value, (str, int, float)):
            units = [amounts.to_units(field, value)]
        elif isinstance(value, (list, tuple)) and len(value) > len(self.resources):
            units = []  # a long list is not worth a look at each
        else:
            array = amounts.unit_array(field, by_name(field, value, self.resources, "resource"))
            units = array.ravel().tolist() if array.ndim <= 1 else []
        if zero and units == [0]:
            units *= len(self.resources)
        if len(units) != len(self.resources):
            names = ", ".join(self.resources)
            allowed = f"must be one amount for each of the resources {names}"
            if isinstance(value, (list, tuple)) and len(self.resources) == 1 < len(value):  # 1,000
                allowed += "; a comma stands between resources, not in a number"
            raise invalid(field, value, allowed)
        if low is not None and min(units) < low:
            raise invalid(field, value, "must not be negative")
        return tuple(units)


def _frozen(value: Any) -> Any:
    """Return lists as tuples, all the way down."""
    return tuple(map(_frozen, value)) if isinstance(value, (list, tuple)) else value


@dataclass(frozen=True)
class AccountTerms(BudgetTerms):
    """All that defines an account; amounts in units of 1e-9. `AccountTerms.of` builds it."""

    KIND: ClassVar = "an account"
    OWN_FACTS: ClassVar = ("id", "first_end", "tz", "rules")
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
    rules: int = 0

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> "AccountTerms":
        """Return checked terms from the arguments of `Account.create`, in the user's unit."""
        stuff = read_resources(values["resources"])
        budget = by_name("budget", values["budget"], stuff, "resource")
        return cls(
            checked_name("name", values["name"]),
            stuff,
            tuple(amounts.budget_array(budget, len(stuff)).tolist()),
            values.get("id") or secrets.token_hex(8),
            checked_name("account", values["account"]) if values["account"] else "",
            **read_periods(values["every"], values["time_zone"], values["carry"]),
            alerts=read_alerts(values["alerts"], ACCOUNT_ALERT_WORDS),
        )
