"""The rules of arms that come and go, and of what they may cost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from purse.base import amounts
from purse.campaign.states import CLOSED
from purse.campaign.transaction import BaseTransaction
from purse.errors import CampaignClosed, InvalidInput, invalid, unknown

Bounds = Sequence[int] | None  # (d,) units; None: as they were


class ArmRules(BaseTransaction):
    """What may be changed about arms. Each method does nothing where that is so already."""

    def add_arm(self, name: str, cost_min: Bounds, cost_max: Bounds) -> None:
        """A new arm, or a retired one that comes back with what was learnt of it."""
        arms = self.ledger.arms
        self.check_changeable()
        if name in arms.names:
            place = arms.names.index(name)
            body = self.arm_body(place, name, cost_min, cost_max)
            if arms.is_retired[place]:
                self.add("arm_added", body)
            elif body != self.arm_body(place, name, None, None):
                raise invalid("name", name, "is an arm already; set_arm changes what it may cost")
            return
        place = len(arms.names)
        if place == self.terms.n_arms:
            raise invalid(
                "name",
                name,
                f"there is no place for another arm: the campaign was created with a capacity of "
                f"{place} arms, and retired ones keep their places",
            )
        self.add("arm_added", self.arm_body(place, name, cost_min, cost_max))

    def retire_arm(self, name: str) -> None:
        """Choose an arm no more; what is open is told as usual."""
        arms, place = self.ledger.arms, self.place_of(name)
        if arms.is_retired[place]:
            return
        if len(arms.there) == 1:
            raise invalid("name", name, "cannot be retired: no arm would be left")
        self.add("arm_retired", self.arm_body(place, name, None, None))

    def set_arm(self, name: str, cost_min: Bounds, cost_max: Bounds) -> None:
        """Move what an arm may cost, from now on."""
        place = self.place_of(name)
        body = self.arm_body(place, name, cost_min, cost_max)
        if body != self.arm_body(place, name, None, None):
            self.add("arm_changed", body)

    def place_of(self, name: str) -> int:
        """Where an arm is."""
        self.check_changeable()
        names = self.ledger.arms.names
        if name not in names:
            raise unknown("arm", name, names)
        return names.index(name)

    def check_changeable(self) -> None:
        """Refuse changes of a campaign that is closed."""
        if self.ledger.head.status == CLOSED:
            raise CampaignClosed(f"campaign {self.terms.name!r} is closed")

    def arm_body(self, place: int, name: str, cost_min: Bounds, cost_max: Bounds) -> dict[str, Any]:
        """What an entry says of an arm; its costs must lie between floor and ceiling."""
        arms, floor, ceiling = self.ledger.arms, self.terms.floor[place], self.terms.ceiling[place]
        is_new = place == len(arms.names)
        low = cost_min or (floor if is_new else arms.cost_min[place])
        high = cost_max or (ceiling if is_new else arms.cost_max[place])
        for resource, least, small, large, most in zip(
            self.terms.resources, floor, low, high, ceiling, strict=True
        ):
            if not least <= small <= large <= most:
                given = f"cost_min={amounts.text(small)}, cost_max={amounts.text(large)}"
                raise InvalidInput(
                    f"{given} {resource}: must lie between the cost_min of arm {name!r} and its "
                    f"ceiling, {amounts.text(least)} and {amounts.text(most)}"
                )
        return {"arm": place, "name": name, "cost_min": list(low), "cost_max": list(high)}
