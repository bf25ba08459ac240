"""Which arms an ask may choose: those that it names, that fit, that do not cool down, and that have
not been silent for too long.
"""

from __future__ import annotations

from typing import NamedTuple

from purse.base import amounts
from purse.campaign.draft import Draft
from purse.campaign.ledger import fits
from purse.campaign.mask import Mask
from purse.campaign.records import Balance
from purse.campaign.results import write_time
from purse.campaign.silence import SILENT, SILENT_SHARE
from purse.campaign.transaction import BaseTransaction
from purse.errors import ArmsCoolingDown, BudgetExhausted, BudgetHeld


class Shortage(NamedTuple):
    """A resource that lacks on one level."""

    is_gone: bool  # it would not fit even if nothing were held
    title: str  # what people call the level; "" for the campaign itself
    resource: int
    rest: int  # units
    purse: Balance


class AllowedArms(BaseTransaction):
    """The arms of an ask, or why there are none."""

    def allowed(self, draft: Draft, mask: Mask | None) -> list[int] | None:
        """The arms that may be chosen now; None where all may. Raises where none may."""
        arms = self.ledger.arms
        cool = not draft.cooling or not any(each.length for each in draft.cooling.values())
        ample = fits(arms.most, draft.left)
        if (
            mask is None
            and arms.all_there
            and cool
            and ample
            and not self.silent(draft, arms.there)
        ):
            return None
        places = arms.there if mask is None else list(mask.allowed)
        places = self.ready(draft, self.fitting(draft, places))
        silent = self.silent(draft, places)
        places = [arm for arm in places if arm not in silent]
        return None if len(places) == self.terms.n_arms else places

    def fitting(self, draft: Draft, places: list[int]) -> list[int]:
        """The arms that what is left can pay."""
        found = [arm for arm in places if fits(draft.need([arm]), draft.left)]
        if not found:
            rest = self.without_holds(draft)
            waits = [arm for arm in places if fits(draft.need([arm]), rest)]
            cheapest = min(waits or places, key=lambda arm: draft.need([arm])[0])
            raise self.explain_shortage([cheapest], draft.need([cheapest]), draft)
        return found

    def ready(self, draft: Draft, places: list[int]) -> list[int]:
        """The arms that do not cool down."""
        if not draft.cooling:
            return places
        waits = {
            arm: draft.cooling[arm].wait(self.now) if arm in draft.cooling else 0 for arm in places
        }
        if min(waits.values()) > 0:
            seconds = min(waits.values()) / 1000
            raise ArmsCoolingDown(
                f"calls of {self.arm_names(places)} failed, and the arm cools down: ask again in "
                f"{seconds:g} s",
                seconds,
            )
        return [arm for arm in places if waits[arm] == 0]

    def silent(self, draft: Draft, places: list[int]) -> set[int]:
        """The arms to be left out because they have had their share of tickets and none has
        brought a reward; none where no other arm is allowed.
        """
        if not draft.silent or max(draft.silent) < SILENT:
            return set()
        found = {
            arm
            for arm in places
            if draft.silent[arm] >= max(SILENT, (draft.issued + 1) / SILENT_SHARE)
        }
        return found if len(places) - len(found) >= 1 else set()

    def drafted(self, draft: Draft) -> list[int]:
        """(d,) What the tickets of a draft hold so far."""
        return [was - rest for was, rest in zip(self.left(), draft.left, strict=True)]

    def without_holds(self, draft: Draft) -> list[int]:
        """(d,) What could be held if nothing were held on any level but for the draft itself."""
        rest = [[purse.left + purse.held for purse in balances] for _, balances in self.levels()]
        least = map(min, *rest) if len(rest) > 1 else rest[0]
        return [part - taken for part, taken in zip(least, self.drafted(draft), strict=True)]

    def explain_shortage(self, arms: list[int], held: list[int], draft: Draft) -> BudgetExhausted:
        """Why so much cannot be held: there is a level and a resource of which it would not fit
        even if nothing were held, or only ones that are held for others.
        """
        drafted = self.drafted(draft)
        lacks = [
            Shortage(need > rest + purse.held, title, m, rest, purse)
            for title, balances in self.levels()
            for m, (need, purse) in enumerate(zip(held, balances, strict=True))
            if need > (rest := purse.left - drafted[m])
        ]
        lack = max(lacks, key=lambda each: each.is_gone)
        left, m = amounts.text(lack.rest), lack.resource
        text = f"{self.arm_names(arms)} may cost {amounts.text(held[m])} {self.terms.resources[m]} "
        text += f"and {lack.title} has {left} left" if lack.title else f"and {left} is left"
        if not lack.is_gone:
            return BudgetHeld(
                f"{text}; {amounts.text(lack.purse.held)} is held for open tickets; tell or void "
                "them"
            )
        if lack.purse.presumed:
            text += (
                f"; {amounts.text(lack.purse.presumed)} is presumed spent, for tickets without a "
                "report"
            )
        if not lack.title and (period := self.ledger.period):
            text += f"; the next period begins {write_time(period.ends / 1000)}"
        error = BudgetExhausted(text)
        error.need = held
        return error
