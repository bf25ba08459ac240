"""Which arms an ask may choose: those that it names, that fit, that do not cool down, and that have
not been silent for too long.
"""

from __future__ import annotations

from purse.base import amounts
from purse.campaign.draft import Draft
from purse.campaign.ledger import fits
from purse.campaign.mask import Mask
from purse.campaign.results import write_time
from purse.campaign.silence import SILENT, SILENT_SHARE
from purse.campaign.terms import FIT
from purse.campaign.transaction import BaseTransaction
from purse.errors import ArmsCoolingDown, BudgetExhausted, BudgetHeld


class AllowedArms(BaseTransaction):
    """The arms of an ask, or why there are none."""

    def allowed(self, draft: Draft, mask: Mask | None) -> list[int] | None:
        """The arms that may be chosen now; None where all may. Raises where none may."""
        arms, fit = self.ledger.arms, self.terms.stop == FIT
        cool = not draft.cooling or not any(each.length for each in draft.cooling.values())
        ample = not fit or (self.terms.caps is None and fits(arms.most, draft.left))
        if (
            mask is None
            and arms.all_there
            and cool
            and ample
            and not self.silent(draft, arms.there)
        ):
            return None
        places = arms.there if mask is None else list(mask.allowed)
        if fit:
            places = self.fitting(draft, places)
        places = self.ready(draft, places)
        silent = self.silent(draft, places)
        places = [arm for arm in places if arm not in silent]
        return None if len(places) == self.terms.n_arms else places

    def fitting(self, draft: Draft, places: list[int]) -> list[int]:
        """Rule `fit`: the arms that what is left can pay, and that have pulls left."""
        caps = self.terms.caps
        if caps is not None:
            places = [arm for arm in places if draft.taken[arm] < caps[arm]]
            if not places:
                raise BudgetExhausted("all pulls that the caps allow have been asked for")
        found = [arm for arm in places if fits(draft.need([arm]), draft.left)]
        if not found:
            rest = [
                left + purse.held
                for left, purse in zip(draft.left, self.ledger.balances, strict=True)
            ]
            waits = [arm for arm in places if fits(draft.need([arm]), rest)]
            cheapest = min(waits or places, key=lambda arm: draft.need([arm])[0])
            raise self.explain_shortage([cheapest], draft.need([cheapest]), draft.left)
        return found

    def ready(self, draft: Draft, places: list[int]) -> list[int]:
        """The arms that do not cool down."""
        longest = self.terms.cooldown_max
        if not draft.cooling or longest is None:
            return places
        waits = {
            arm: draft.cooling[arm].wait(self.now, longest) if arm in draft.cooling else 0
            for arm in places
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
        return found if len(places) - len(found) >= self.terms.plays else set()

    def explain_shortage(
        self, arms: list[int], held: list[int], left: list[int]
    ) -> BudgetExhausted:
        """Why so much cannot be held: there is a resource of which it would not fit even if nothing
        were held, or only one that is held for others.
        """
        lacks = [
            (need > rest + purse.held, m)
            for m, (need, rest, purse) in enumerate(
                zip(held, left, self.ledger.balances, strict=True)
            )
            if need > rest
        ]
        gone, m = max(lacks, key=lambda lack: lack[0])
        purse = self.ledger.balances[m]
        text = (
            f"{self.arm_names(arms)} may cost {amounts.text(held[m])} {self.terms.resources[m]} "
            f"and {amounts.text(left[m])} is left"
        )
        if not gone:
            return BudgetHeld(
                f"{text}; {amounts.text(purse.held)} is held for open tickets; tell or void them"
            )
        if purse.presumed:
            text += (
                f"; {amounts.text(purse.presumed)} is presumed spent, for tickets without a report"
            )
        if period := self.ledger.period:
            text += f"; the next period begins {write_time(period.ends / 1000)}"
        return BudgetExhausted(text)
