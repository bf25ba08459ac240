"""A reference ledger, written from the promises alone: integers and dicts. It imports nothing of
what it is held against.

It does not know the policy: it is told which arms came, and says what was held for them, or which
refusals would have been right.
"""

from __future__ import annotations

from tests.support.reference_accounts import Account
from tests.support.reference_asking import Asking, Drawn
from tests.support.reference_books import fit
from tests.support.reference_reporting import Reporting
from tests.support.reference_terms import (
    Arm,
    Context,
    Mask,
    Periods,
    Receipt,
    Refusal,
    Report,
    Terms,
    Ticket,
    Units,
    written,
)

__all__ = [
    "Account", "Context", "Drawn", "Ledger", "Mask", "Periods", "Receipt", "Refusal", "Report",
    "Terms", "Ticket", "Units", "written",
]  # fmt: skip


class Ledger(Asking, Reporting):
    """What a campaign should say of itself after anything that was asked, told, voided, changed or
    forgotten.
    """

    def add_arm(self, name: str, least: Units | None, most: Units | None) -> None:
        """A new arm, which owes its initial pull; or a retired one that comes back."""
        self.begin()
        self.refuse_ended()
        names = [arm.name for arm in self.arms]
        place = names.index(name) if name in names else len(names)
        if place == self.places:
            raise Refusal("InvalidInput")
        floor, ceiling = self.bounds(place)
        if place < len(names):
            arm = self.arms[place]
            bounds = self.checked(place, least or arm.least, most or arm.most)
            if arm.retired:
                arm.retired = False
                arm.least, arm.most = bounds
                self.entries += 1
            elif bounds != (arm.least, arm.most):
                raise Refusal("InvalidInput")
            return
        bounds = self.checked(place, least or floor, most or ceiling)
        self.arms.append(Arm(name, *bounds, owes=self.terms.initial))
        self.entries += 1

    def retire_arm(self, name: str) -> None:
        """An arm must be left."""
        arm = self.arms[self.place_of(name)]
        if arm.retired:
            return
        if len(self.present) == 1:
            raise Refusal("InvalidInput")
        arm.retired = True
        self.entries += 1

    def set_arm(self, name: str, least: Units | None, most: Units | None) -> None:
        """What it may cost from now on."""
        place = self.place_of(name)
        arm = self.arms[place]
        bounds = self.checked(place, least or arm.least, most or arm.most)
        if bounds != (arm.least, arm.most):
            arm.least, arm.most = bounds
            self.entries += 1

    def place_of(self, name: str) -> int:
        self.begin()
        self.refuse_ended()
        names = [arm.name for arm in self.arms]
        if name not in names:
            raise Refusal("InvalidInput")
        return names.index(name)

    def bounds(self, place: int) -> tuple[Units, Units]:
        """The floor and the ceiling of a place; one that was free at first has the widest."""
        floors = self.terms.least
        ceilings = self.terms.ceiling or self.terms.most
        if place < len(floors):
            return floors[place], ceilings[place]
        return (
            tuple(map(min, zip(*floors, strict=True))),
            tuple(map(max, zip(*ceilings, strict=True))),
        )

    def checked(self, place: int, least: Units, most: Units) -> tuple[Units, Units]:
        """Costs, if they lie between floor and ceiling."""
        floor, ceiling = map(list, self.bounds(place))
        if not (fit(floor, list(least)) and fit(least, list(most)) and fit(most, ceiling)):
            raise Refusal("InvalidInput")
        return least, most
