"""What the terms of campaigns and of accounts have in common."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, Field, asdict, fields, replace
from typing import Any, ClassVar, Self

from purse.base import amounts
from purse.campaign.by_name import by_name
from purse.campaign.periods.read import PeriodTerms
from purse.errors import CampaignExists, InvalidInput, invalid


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

    @property
    def periods(self) -> PeriodTerms:
        """When the budget is renewed, and what is kept then."""
        return PeriodTerms(self.every, self.time_zone, self.carry)

    def begun_at(self, now: int) -> Self:
        """The terms of what begins at a time, in ms: with the end of its first period."""
        return replace(self, **self.periods.begun_at(now))

    def as_dict(self) -> dict[str, Any]:
        """The terms as JSON has them; what is left at its default is left out."""
        facts = asdict(self)
        for field in fields(self):
            if field.default is not MISSING and facts[field.name] == field.default:
                del facts[field.name]
        return facts

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> Self:
        """Terms as they were written to a journal."""
        try:
            return cls(**{name: frozen(value) for name, value in facts.items()})
        except TypeError as error:
            raise InvalidInput(f"these are not the terms of {cls.KIND}: {error}") from None

    def check_same_as(self, found: Self) -> None:
        """Raise `CampaignExists` where what was found has other terms than these; what purse says
        by itself does not count.
        """
        for field in sorted(fields(self), key=lambda each: each.name == "cost_min"):
            mine, other = getattr(self, field.name), getattr(found, field.name)
            if field.name not in self.OWN_FACTS and mine != other:
                raise CampaignExists(
                    f"there is {self.KIND} {self.name!r} already, with other {field.name} than "
                    "these; open it as it is, or give the new one another name"
                )

    def amounts(self, field: str, value: Any) -> tuple[int, ...]:
        """(d,) One amount of each resource in units, from one number, a list, or a dict of
        resources.
        """
        units = amounts.unit_array(field, by_name(field, value, self.resources, "resource"))
        if units.ndim > 1 or units.size != len(self.resources):
            raise invalid(
                field,
                value,
                f"must be one amount for each of the resources {', '.join(self.resources)}",
            )
        return tuple(units.ravel().tolist())


def frozen(value: Any) -> Any:
    """Lists as tuples, all the way down."""
    return tuple(map(frozen, value)) if isinstance(value, (list, tuple)) else value
