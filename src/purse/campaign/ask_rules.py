"""The rules of asks: which arm is chosen, and what is held for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from purse.campaign import events, exploration
from purse.campaign.allowed_arms import AllowedArms
from purse.campaign.contexts import CONTEXT, UNUSED, Context, check_contexts
from purse.campaign.draft import Draft
from purse.campaign.journal import EVENT, Entry
from purse.campaign.labels import LABELS, check_keys
from purse.campaign.ledger import fits
from purse.campaign.mask import Mask, check_most
from purse.campaign.periods.period import ABOVE
from purse.campaign.records import TicketRecord
from purse.campaign.states import CLOSED, FAILED, RUNNING, VOID
from purse.errors import (
    AskRefused,
    BudgetExhausted,
    CampaignClosed,
    CampaignPaused,
    Conflict,
    HorizonReached,
    InvalidInput,
    PurseError,
)
from purse.types import SKIP, STOP


class Chooser(Protocol):
    """A policy that chooses. Both take the round, the units left, the pulls of each arm on open
    tickets (none where nobody counts them), the arms that owe their initial pull, the arms that are
    allowed (None: all), and the numbers of the context where there are features.
    """

    def choose(
        self,
        t: int,
        left: list[int],
        pending: list[int],
        owed: Sequence[int],
        allowed: Sequence[int] | None,
        context: Sequence[float] | None = None,
    ) -> tuple[list[int], list[float]]:
        """Return arms and their probabilities."""

    def probabilities(
        self,
        t: int,
        left: list[int],
        pending: list[int],
        owed: Sequence[int],
        allowed: Sequence[int] | None,
        context: Sequence[float] | None = None,
    ) -> list[float]:
        """Return the probability of each arm."""

    def begin_period(self, rounds: int) -> None:
        """Let the horizon count from the round after so many."""


class AskRules(AllowedArms):
    """What an ask is answered with."""

    def ask(
        self,
        n: int,
        request: str,
        mask: Mask | None,
        chooser: Chooser,
        contexts: Sequence[Context] | None = None,
        labels: Mapping[str, str] | None = None,
    ) -> list[TicketRecord]:
        """Up to n tickets, at least one, for the first of n contexts where there are features; the
        same again for a request that was answered before (P4), unless nothing is held for any of
        them any more.
        """
        if contexts is not None:
            check_contexts(self.terms.context, n, contexts)
        limits = None if mask is None else mask.as_body(self.terms.n_arms)
        entry = self.repeated(request, "asked", n=n, mask=limits, labels=labels)
        if entry is not None:
            if contexts is not None:
                self.compare_contexts(request, entry, contexts)
            self.refuse_dead(request, [each["id"] for each in entry.body["tickets"]])
        else:
            if labels:
                check_keys(labels, self.ledger.head.labels)
            try:
                tickets = self.choose_rounds(n, mask, chooser, contexts)
            except BudgetExhausted as error:
                self.note_refusal(error.need)
                raise
            expires = self.terms.expires_after
            deadline = None if expires is None else self.now + expires
            body: dict[str, Any] = {"n": n, "deadline": deadline, "tickets": tickets}
            if limits is not None:
                body["mask"] = limits
            if above := self.account_periods():
                body[ABOVE] = above
            left = self.left()
            if left != [purse.left for purse in self.ledger.balances]:  # an account has less
                body["left"] = left
            if contexts is not None and len(tickets) < n:  # one of them was looked at, too
                body[UNUSED] = [each.numbers for each in contexts[len(tickets) :]]
            if labels is not None:
                body[LABELS] = labels
            entry = self.add("asked", body, request=request)
        return [self.ledger.tickets[each["id"]] for each in entry.body["tickets"]]

    def note_refusal(self, need: Sequence[int] | None) -> None:
        """Make the events that so much cannot be paid any more, of the campaign and its accounts,
        where a rule wants them; see `events.refused`.
        """
        if need is not None:
            for event in events.refused(self.ledger, need):
                self.add(EVENT, event)
            for account in self.accounts:
                account.note_refusal(need)

    def compare_contexts(self, request: str, entry: Entry, contexts: Sequence[Context]) -> None:
        """Refuse a request that was made before with other contexts."""
        issued = [self.ledger.tickets[each["id"]].body for each in entry.body["tickets"]]
        known = [body.get(CONTEXT) for body in issued] + entry.body.get(UNUSED, [])
        if known != [each.numbers for each in contexts]:
            raise Conflict(f"request_id={request!r} was used before with another context")

    def refuse_dead(self, request: str, numbers: list[int]) -> None:
        """Refuse to hand out tickets again that are all void or failed: who takes them
        for new ones spends what nobody holds.
        """
        states = [self.ledger.tickets[number].state for number in numbers]
        if set(states) <= {VOID, FAILED}:
            raise Conflict(
                f"request_id={request!r} was answered with ticket {numbers[0]}, which is "
                f"{states[0]} by now: nothing is held for it; ask with another request_id"
            )

    def choose_rounds(
        self,
        n: int,
        mask: Mask | None,
        chooser: Chooser,
        contexts: Sequence[Context] | None = None,
    ) -> list[dict[str, Any]]:
        """The rounds to come, as many of n as fit."""
        status = self.ledger.head.status
        if status != RUNNING:
            raise (CampaignClosed if status == CLOSED else CampaignPaused)(
                f"campaign {self.terms.name!r} is {status}"
                + ("" if status == CLOSED else "; resume it first")
            )
        for account in self.accounts:
            account.refuse_stopped()
        draft = self.draft(mask)
        self.show_period(chooser)
        chosen: list[dict[str, Any]] = []
        while len(chosen) < n:
            try:
                context = None if contexts is None else contexts[len(chosen)]
                ticket = self.choose_round(draft, mask, chooser, context)
            except AskRefused:
                if not chosen:
                    raise
                break
            chosen.append(ticket)
            if len(chosen) < n:
                draft.take(ticket)
        return chosen

    def draft(self, mask: Mask | None) -> Draft:
        """What tickets are chosen from; refuses a mask that allows what is not there."""
        arms = self.ledger.arms
        if mask is not None:
            for arm in mask.allowed:
                if arms.is_retired[arm]:
                    raise InvalidInput(f"arms: arm {arms.names[arm]!r} is retired")
            check_most(mask, arms.names, arms.cost_max)
        return Draft(self.ledger, mask, self.now, self.left())

    def account_periods(self) -> dict[str, int]:
        """The periods that the accounts are in, by their ids, where they have any."""
        return {
            each.terms.id: each.ledger.head.period[0]
            for each in self.accounts
            if each.ledger.head.period
        }

    def show_period(self, chooser: Chooser) -> None:
        """Tell the policy which rounds its horizon counts."""
        if (period := self.ledger.period) is not None:
            chooser.begin_period(period.rounds)

    def choose_round(
        self, draft: Draft, mask: Mask | None, chooser: Chooser, context: Context | None = None
    ) -> dict[str, Any]:
        """One ticket."""
        allowed = self.allowed(draft, mask)
        numbers = None if context is None else context.numbers
        t, arms, chances = self.next_round(draft, allowed, chooser, numbers)
        ticket = {
            "id": draft.issued + 1,
            "t": t,
            "arms": arms,
            "probabilities": chances,
            "held": self.amount_to_hold(draft, arms),
        }
        if max(arms) >= self.ledger.arms.named:
            ticket["names"] = [self.ledger.arms.names[arm] for arm in arms]
        if context is not None:
            ticket |= context.as_body()
        return ticket

    def next_round(
        self,
        draft: Draft,
        allowed: list[int] | None,
        chooser: Chooser,
        context: Sequence[float] | None = None,
    ) -> tuple[int, list[int], list[float]]:
        """The choice for the next round: exploration's, or the policy's."""
        t = draft.t + 1
        horizon, period = self.terms.horizon, self.ledger.period
        if horizon is not None and draft.t == horizon + (period.rounds if period else 0):
            when = " in this period" if period else ""
            raise HorizonReached(f"all {horizon} rounds of the horizon have been asked for{when}")
        seen = (t, draft.left, draft.pending, draft.owed, allowed, context)
        if not self.terms.explore:
            arms, chances = chooser.choose(*seen)
            self.check_choice(t, arms, chances)
            return t, arms, chances
        explored = self.explored(draft, allowed)
        rest = 1 - sum(explored.values())
        drawn = exploration.draw(explored, self.terms.seed, t)
        if drawn is not None:
            chance = chooser.probabilities(*seen)[drawn]
            return t, [drawn], [explored[drawn] + rest * chance]
        arms, chances = chooser.choose(*seen)
        self.check_choice(t, arms, chances)
        if arms[0] >= 0:
            chances = [explored[arms[0]] + rest * chances[0]]
        return t, arms, chances

    def explored(self, draft: Draft, allowed: list[int] | None) -> dict[int, float]:
        """The chance of each arm to be drawn by exploration."""
        if not self.terms.explore:
            return {}
        balances, period = self.ledger.balances, self.ledger.period
        budget = period.budget(balances) if period else [purse.budget for purse in balances]
        places = self.ledger.arms.there if allowed is None else allowed
        most = {arm: exploration.scarcity(draft.need([arm]), budget) for arm in places}
        return exploration.chances(self.terms.explore, most)

    def check_choice(self, t: int, arms: list[int], chances: list[float]) -> None:
        """Refuse the choice of a policy that has ended the game, or is in the wrong."""
        (arm,), (chance,) = arms, chances
        skipped = arm == SKIP
        if arm == STOP or (skipped and self.terms.horizon is None):
            raise AskRefused(f"{self.terms.policy} has ended the game after {t - 1} rounds")
        if skipped:
            return
        if not 0 <= arm < len(self.ledger.arms.names):
            raise PurseError(
                f"{self.terms.policy} chose no arm, or one that does not exist or is not "
                f"allowed, in round {t}"
            )
        if not 0 < chance <= 1 + 1e-9:
            raise PurseError(f"{self.terms.policy} chose with probability {chance} in round {t}")

    def foresee(
        self, mask: Mask | None, chooser: Chooser, context: Context | None = None
    ) -> list[float]:
        """(K,) The probability of each arm in the next round."""
        if context is not None:
            check_contexts(self.terms.context, 1, [context])
        numbers = None if context is None else context.numbers
        draft = self.draft(mask)
        self.show_period(chooser)
        allowed = self.allowed(draft, mask)
        explored = self.explored(draft, allowed)
        rest = 1 - sum(explored.values())
        seen = (draft.t + 1, draft.left, draft.pending, draft.owed, allowed, numbers)
        found = chooser.probabilities(*seen)
        return [explored.get(arm, 0.0) + rest * chance for arm, chance in enumerate(found)]

    def amount_to_hold(self, draft: Draft, arms: list[int]) -> list[int]:
        """(d,) What has to be held for these arms; refused where it does not fit (P1)."""
        if arms[0] == SKIP:
            return [0] * len(draft.left)
        held = draft.need(arms)
        if not fits(held, draft.left):
            raise self.explain_shortage(arms, held, draft)
        return held
