"""A campaign whose storage this process reaches itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import chain, groupby
from pathlib import Path
from typing import IO, Any, Self, TypeVar

from purse.base import validation
from purse.base.recommendation import CONFIDENCE, REWARD, Recommendation
from purse.base.text import legible
from purse.campaign import asks, make_results, operators
from purse.campaign import reports as report_rules
from purse.campaign.alert_rules import WORDS
from purse.campaign.arms import Arms
from purse.campaign.campaign import Campaign
from purse.campaign.campaign_ledger import CampaignLevel
from purse.campaign.contexts import Context, read_context, read_contexts
from purse.campaign.entry import Entry
from purse.campaign.labels import MOST_LISTED, read_key, read_labels
from purse.campaign.local.budget import LARGEST, Budget, request_of, terms_above
from purse.campaign.make_results import campaign_status
from purse.campaign.mask import Mask, read_mask
from purse.campaign.read_report import read_costs, read_reward
from purse.campaign.read_terms import names
from purse.campaign.recommendations import SharedHistory, recommended
from purse.campaign.restore import read_journal, restore
from purse.campaign.results import Audit, CampaignTicket, LabelStatus, Receipt, Status
from purse.campaign.states import CAMPAIGN, OPEN, STATES, UNFINISHED
from purse.campaign.storage.sql import MOST_DUE
from purse.campaign.terms import Terms
from purse.campaign.ticket import TicketRecord, folded
from purse.campaign.transaction import Transaction
from purse.errors import PurseError, TicketError, invalid

T = TypeVar("T")
MAX_BATCH = 1_000  # tickets in one request
PAGE_SIZE = 5_000  # entries about tickets read at a time, more than one ticket has
REASON = 200  # characters of a reason that the journal keeps


class LocalCampaign(Budget[Status], Campaign):
    """A campaign in a file or a database."""

    kind = CAMPAIGN
    words = WORDS
    title = "Campaign"

    def __repr__(self) -> str:
        return f"<Campaign {self.name!r}, {self.terms.policy}, {len(self.terms.arms)} arms>"

    @classmethod
    def _create(
        cls, name: str, terms: dict[str, Any], storage: Any, token: str | None, exist_ok: bool
    ) -> Self:
        made = Terms.of(name, **terms)
        made.check_state()
        return cls._made(made, cls._connected(storage, token, create=True), exist_ok)

    @classmethod
    def _restore(
        cls,
        file: str | Path | IO[str],
        storage: Any,
        name: str | None,
        account: str | None,
    ) -> Self:
        entries = read_journal(file)
        first = next(entries)  # before a storage is made
        kept = cls._connected(storage, None, create=True)
        above = terms_above(kept, account or "")
        return cls(restore(chain([first], entries), kept, name, above), kept)

    def status(self) -> Status:
        level, look, now = self._look()
        assert isinstance(level, CampaignLevel)
        return campaign_status(level, look, now)

    def _level(self) -> CampaignLevel:
        level = self._committer.level(self.storage.level(self.name))
        assert isinstance(level, CampaignLevel)
        return level

    def _arms(self) -> Arms:
        """Return the arms as they are now."""
        return self._level().arms

    def ask(
        self,
        request_id: str | None = None,
        *,
        arms: Sequence[str] | Mapping[str, Any] | None = None,
        context: Any = None,
        labels: Mapping[str, str] | None = None,
    ) -> CampaignTicket:
        mask, seen = self._mask(arms), self._context(context)
        return self._ask(1, request_id, mask, None if seen is None else [seen], labels)[0]

    def ask_many(
        self,
        n: int,
        request_id: str | None = None,
        *,
        arms: Sequence[str] | Mapping[str, Any] | None = None,
        contexts: Sequence[Any] | None = None,
        labels: Mapping[str, str] | None = None,
    ) -> list[CampaignTicket]:
        n = validation.integer("n", n, low=1, high=MAX_BATCH)
        mask, seen = self._mask(arms), None
        if contexts is not None or self.terms.features:
            seen = read_contexts(self.terms, n, contexts)
        return self._ask(n, request_id, mask, seen, labels)

    def _ask(
        self,
        n: int,
        request_id: str | None,
        mask: Mask | None,
        contexts: list[Context] | None,
        labels: Mapping[str, str] | None,
    ) -> list[CampaignTicket]:
        request, known = request_of(request_id), read_labels(labels)

        def decide(transaction: Transaction) -> tuple[Arms, list[TicketRecord]]:
            tickets = asks.ask(transaction, n, request, mask, contexts, known)
            return transaction.campaign.arms, tickets

        found, tickets = self._do(decide, requests=(request,), asks=True, expires=True)
        return [make_results.issued(self.terms, found, ticket) for ticket in tickets]

    def probabilities(
        self, arms: Sequence[str] | Mapping[str, Any] | None = None, context: Any = None
    ) -> dict[str, float]:
        mask, seen = self._mask(arms), self._context(context)
        chances = self._do(
            lambda transaction: asks.foresee(transaction, mask, seen), asks=True, looks=True
        )
        return dict(zip(self._arms().names, chances, strict=False))

    def _mask(self, arms: Sequence[str] | Mapping[str, Any] | None) -> Mask | None:
        """Return which arms an ask allows; arms that were added later are looked up."""
        known: Sequence[str] = self.terms.arms
        if (
            self.terms.capacity
            and isinstance(arms, (Sequence, Mapping))
            and any(name not in known for name in arms)
        ):
            known = self._arms().names
        return read_mask(self.terms, arms, known)

    def _context(self, context: Any) -> Context | None:
        """Return the context of an ask, encoded; None where there are no features."""
        if context is None and not self.terms.features:
            return None
        return read_context(self.terms, context)

    def tell(self, ticket: CampaignTicket | int, reward: Any, cost: Any) -> Receipt:
        (answer,) = self.tell_many([(ticket, reward, cost)])
        if isinstance(answer, PurseError):
            raise answer
        return answer

    def tell_many(
        self, reports: Iterable[tuple[CampaignTicket | int, Any, Any]]
    ) -> list[Receipt | PurseError]:
        read = [attempt(self._report, *given) for given in reports]
        known = [each for each in read if not isinstance(each, PurseError)]
        answers = iter(
            self._do(
                lambda transaction: [
                    attempt(report_rules.tell, transaction, *each) for each in known
                ],
                tickets=[each[0] for each in known],
            )
        )
        return [each if isinstance(each, PurseError) else next(answers) for each in read]

    def _report(
        self, ticket: CampaignTicket | int, reward: Any, cost: Any
    ) -> tuple[int, float, list[int]]:
        """Return a report that has been read and found possible."""
        number, costs = self._number(ticket), read_costs(self.terms, cost)
        return number, read_reward(self.terms, reward), costs

    def settle(self, ticket: CampaignTicket | int, cost: Any) -> Receipt:
        number, costs = self._number(ticket), read_costs(self.terms, cost, zero=True)
        return self._do(
            lambda transaction: report_rules.settle(transaction, number, costs), tickets=(number,)
        )

    def reward(self, ticket: CampaignTicket | int, reward: Any) -> Receipt:
        number, given = self._number(ticket), read_reward(self.terms, reward)
        return self._do(
            lambda transaction: report_rules.reward(transaction, number, given), tickets=(number,)
        )

    def fail(self, ticket: CampaignTicket | int, cost: Any = 0, reason: str = "") -> Receipt:
        if not isinstance(reason, str):
            raise invalid("reason", reason, "must be text")
        number, costs = self._number(ticket), read_costs(self.terms, cost, zero=True)
        why = legible(reason, REASON)
        return self._do(
            lambda transaction: report_rules.fail(transaction, number, costs, why),
            tickets=(number,),
        )

    def void(self, ticket: CampaignTicket | int) -> Receipt:
        number = self._number(ticket)
        return self._do(
            lambda transaction: report_rules.void(transaction, number), tickets=(number,)
        )

    def expire(self) -> int:
        count, total = MOST_DUE, 0
        while count == MOST_DUE:
            count = self._do(
                lambda transaction: sum(is_expiry(each.entry) for each in transaction.added),
                expires=True,
            )
            total += count
        return total

    def add_arm(self, name: str, *, cost_min: Any = None, cost_max: Any = None) -> Status:
        (name,) = names("name", [name])
        low, high = self._bound("cost_min", cost_min), self._bound("cost_max", cost_max)
        self._do(lambda transaction: operators.add_arm(transaction, name, low, high))
        return self.status()

    def retire_arm(self, name: str) -> Status:
        self._do(lambda transaction: operators.retire_arm(transaction, name))
        return self.status()

    def set_arm(self, name: str, *, cost_min: Any = None, cost_max: Any = None) -> Status:
        low, high = self._bound("cost_min", cost_min), self._bound("cost_max", cost_max)
        self._do(lambda transaction: operators.set_arm(transaction, name, low, high))
        return self.status()

    def _bound(self, field: str, given: Any) -> tuple[int, ...] | None:
        return None if given is None else self.terms.amounts(field, given)

    def tickets(
        self, states: Sequence[str] = OPEN, limit: int = 1000, after: int = 0
    ) -> list[CampaignTicket]:
        wanted = [validation.choice("states", state, STATES) for state in states]
        limit = validation.integer("limit", limit, low=1, high=LARGEST)
        after = validation.integer("after", after, low=0, high=LARGEST)
        if set(wanted) <= set(UNFINISHED):
            found = tickets_of(self.storage.open_tickets(self.name, wanted, after, limit), self)
        else:
            found = self._finished(wanted, limit, after)
        arms = self._arms()
        return [make_results.issued(self.terms, arms, ticket) for ticket in found]

    def _finished(self, states: Sequence[str], limit: int, after: int) -> list[TicketRecord]:
        """Return tickets that may be finished, from their entries, a page at a time."""
        found: list[TicketRecord] = []
        while len(found) < limit:
            page = self.storage.tickets(self.name, after, PAGE_SIZE)
            tickets = tickets_of(page, self)
            if len(page) == PAGE_SIZE:
                tickets.pop()  # of which entries may be missing
            found += [ticket for ticket in tickets if ticket.state in states]
            if len(page) < PAGE_SIZE:
                break
            after = tickets[-1].id
        return found[:limit]

    def ticket(self, number: int) -> CampaignTicket:
        number = self._number(number)
        ticket = folded(self.storage.about(self.name, number), self.terms.reward_within)
        if ticket is None:
            raise TicketError(f"ticket {number} is not one that campaign {self.name!r} issued")
        return make_results.issued(self.terms, self._arms(), ticket)

    def _number(self, ticket: CampaignTicket | int) -> int:
        if isinstance(ticket, CampaignTicket):
            if ticket.campaign != self.name:
                raise invalid("ticket", ticket, f"must be one of campaign {self.name!r}")
            ticket = ticket.id
        return validation.integer("ticket", ticket, low=1, high=LARGEST)

    def labels(self, key: str | None = None, limit: int = 100) -> list[LabelStatus]:
        key, limit = read_key(key), validation.integer("limit", limit, low=1, high=MOST_LISTED)
        keys = self._level().head.labels if key is None else [key]
        rows = [row for each in keys for row in self.storage.largest(self.name, each, limit)]
        return make_results.labels(rows, limit)

    def audit(
        self,
        *,
        full: bool = False,
        acknowledged: Iterable[int] = (),
        noted: tuple[int, str] | None = None,
    ) -> Audit:
        tickets = [self._number(ticket) for ticket in acknowledged]
        return self._audited(full=full, acknowledged=tickets, noted=noted)

    def recommend(
        self,
        by: str = REWARD,
        *,
        cap: Any = None,
        confidence: float = CONFIDENCE,
        within: float = 0.0,
        resource: str | None = None,
    ) -> Recommendation:
        sums, level = self._history.look(), self._level()
        return recommended(level, sums, by, resource, cap=cap, confidence=confidence, within=within)

    @cached_property
    def _history(self) -> SharedHistory:
        return SharedHistory(self)


def tickets_of(entries: Iterable[Entry], campaign: LocalCampaign) -> list[TicketRecord]:
    """Return the tickets that entries, in the order of tickets, are about."""
    found = [
        folded(part, campaign.terms.reward_within)
        for _, part in groupby(entries, lambda entry: entry.ticket)
    ]
    return [ticket for ticket in found if ticket is not None]


def is_expiry(entry: Entry) -> bool:
    """Whether an entry says that a deadline has passed."""
    return entry.kind == "expired" or bool(entry.body.get("missing"))


def attempt(act: Callable[..., T], *values: Any) -> T | PurseError:
    """Return what comes of something, or why nothing does."""
    try:
        return act(*values)
    except PurseError as error:
        return error
