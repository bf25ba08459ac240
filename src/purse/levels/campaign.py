"""A campaign: a budget with arms, tickets, and the policy that chooses."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby
from typing import IO, Any, Self, TypeVar

from purse.base import amounts, validation
from purse.base.text import legible
from purse.campaign import defaults
from purse.campaign.alert_rules import WORDS
from purse.campaign.contexts import read_contexts
from purse.campaign.labels import read_labels
from purse.campaign.mask import read_mask
from purse.campaign.read_report import read_costs, read_report, read_rewards
from purse.campaign.terms import Terms
from purse.errors import PurseError as PurseError
from purse.errors import TicketError
from purse.levels import asks, operators, reports, results
from purse.levels.budget import Account as Account
from purse.levels.budget import Budget, request_of, terms_above
from purse.levels.campaign_ledger import CampaignLevel
from purse.levels.connect import connect
from purse.levels.history import History, follow
from purse.levels.ledger import CAMPAIGN
from purse.levels.records import UNFINISHED
from purse.levels.restore import restore
from purse.levels.results import IssuedTicket, Receipt
from purse.levels.storage import Storage
from purse.levels.ticket import folded

T = TypeVar("T")
MAX_BATCH = 1_000  # tickets in one request
DEFAULTS: dict[str, Any] = {
    "cost_min": None, "cost_max": None, "resources": defaults.RESOURCES, "plays": 1,
    "horizon": None, "costs": None, "caps": None, "policy": "replan", "seed": 0,
    "expires_after": defaults.EXPIRES_AFTER, "on_expiry": "presume", "stop": "fit",
    "cooldown": defaults.COOLDOWN,
}  # fmt: skip


class Campaign(Budget):
    """A budget with arms, and the policy that chooses among them."""

    kind = CAMPAIGN
    words = WORDS

    @classmethod
    def _read(cls, facts: Mapping[str, Any]) -> Any:
        return Terms.from_dict(facts)

    @classmethod
    def create(
        cls, name: str, *, storage: str | Storage, exist_ok: bool = False, **terms: Any
    ) -> Self:
        """Create a campaign."""
        return cls._create(Terms.of(name, **{**DEFAULTS, **terms}), storage, exist_ok)

    @classmethod
    def restore(
        cls,
        file: IO[str],
        *,
        storage: str | Storage,
        name: str | None = None,
        account: str | None = None,
    ) -> Self:
        """Make a campaign from an exported journal, below an account or none."""
        kept = connect(storage)
        return cls(restore(file, kept, name, terms_above(kept, account or "")), kept)

    def ask(
        self,
        request_id: str | None = None,
        *,
        arms: Sequence[str] | Mapping[str, Any] | None = None,
        context: Any = None,
        labels: Mapping[str, str] | None = None,
    ) -> IssuedTicket:
        """Return a ticket: an arm to pull once, with its most held."""
        contexts = None if context is None else [context]
        return self.ask_many(1, request_id, arms=arms, contexts=contexts, labels=labels)[0]

    def ask_many(
        self,
        n: int,
        request_id: str | None = None,
        *,
        arms: Sequence[str] | Mapping[str, Any] | None = None,
        contexts: Sequence[Any] | None = None,
        labels: Mapping[str, str] | None = None,
    ) -> list[IssuedTicket]:
        """Return up to n tickets, at least one."""
        n, request = validation.integer("n", n, low=1, high=MAX_BATCH), request_of(request_id)
        mask, known = read_mask(self.terms, arms, self._names(arms)), read_labels(labels)
        seen = read_contexts(self.terms, n, contexts, self._arms)
        found, tickets = self._do(
            lambda transaction: (
                transaction.campaign.arms,
                asks.ask(transaction, n, request, mask, seen, known),
            ),
            requests=(request,),
            asks=True,
            expires=True,
        )
        return [results.issued(found, ticket) for ticket in tickets]

    def tell(self, ticket: IssuedTicket | int, reward: Any, cost: Any) -> Receipt:
        """Report the reward and the cost of a ticket."""
        report = self._read_report(ticket, reward, cost)
        return self._do(lambda transaction: reports.tell(transaction, *report), tickets=report[:1])

    def tell_many(
        self, told: Iterable[tuple[IssuedTicket | int, Any, Any]]
    ) -> list[Receipt | PurseError]:
        """Report many tickets in one transaction; an answer is a receipt, or why there is none."""
        read = [attempt(self._read_report, *given) for given in told]
        known = [each for each in read if isinstance(each, tuple)]
        answers = self._do(
            lambda transaction: [attempt(reports.tell, transaction, *each) for each in known],
            tickets=[each[0] for each in known],
        )
        done = iter(answers)
        return [next(done) if isinstance(each, tuple) else each for each in read]

    def _read_report(
        self, ticket: IssuedTicket | int, reward: Any, cost: Any
    ) -> tuple[int, float, list[int]]:
        (given,), costs = read_report(self.terms, reward, cost)
        return number_of(ticket), given, costs

    def settle(self, ticket: IssuedTicket | int, cost: Any) -> Receipt:
        """Report the cost of a ticket whose reward is not known yet."""
        number, costs = number_of(ticket), read_costs(self.terms, cost)
        return self._do(
            lambda transaction: reports.settle(transaction, number, costs), tickets=(number,)
        )

    def reward(self, ticket: IssuedTicket | int, reward: Any) -> Receipt:
        """Report the reward of a ticket, before or after its cost."""
        number, (given,) = number_of(ticket), read_rewards(self.terms, reward)
        return self._do(
            lambda transaction: reports.reward(transaction, number, given), tickets=(number,)
        )

    def fail(self, ticket: IssuedTicket | int, cost: Any = 0, reason: str = "") -> Receipt:
        """Report that a call did not work, and what it cost."""
        number, costs, why = number_of(ticket), read_costs(self.terms, cost), legible(reason, 200)
        return self._do(
            lambda transaction: reports.fail(transaction, number, costs, why), tickets=(number,)
        )

    def void(self, ticket: IssuedTicket | int) -> Receipt:
        """Cancel a ticket, and release its hold."""
        number = number_of(ticket)
        return self._do(lambda transaction: reports.void(transaction, number), tickets=(number,))

    def expire(self) -> int:
        """Presume spent what has outlived its deadline; return how many tickets that were."""
        return self._do(
            lambda transaction: sum(
                entry.kind == "expired" or "missing" in entry.body
                for _, entry, _, _ in transaction.added
            ),
            expires=True,
        )

    def probabilities(
        self, arms: Sequence[str] | Mapping[str, Any] | None = None, context: Any = None
    ) -> dict[str, float]:
        """Return the probability of each arm in the next round."""
        mask = read_mask(self.terms, arms, self._names(arms))
        contexts = None if context is None else [context]
        (seen,) = read_contexts(self.terms, 1, contexts, self._arms) or (None,)
        chances = self._do(
            lambda transaction: asks.foresee(transaction, mask, seen), asks=True, looks=True
        )
        return dict(zip(self._arms().names, chances, strict=False))

    def add_arm(self, name: str, *, cost_min: Any = None, cost_max: Any = None) -> None:
        """Add an arm, or take back a retired one."""
        low, high = self._bounds(cost_min, cost_max)
        self._do(lambda transaction: operators.add_arm(transaction, name, low, high))

    def retire_arm(self, name: str) -> None:
        """Choose an arm no more."""
        self._do(lambda transaction: operators.retire_arm(transaction, name))

    def set_arm(self, name: str, *, cost_min: Any = None, cost_max: Any = None) -> None:
        """Move what an arm may cost."""
        low, high = self._bounds(cost_min, cost_max)
        self._do(lambda transaction: operators.set_arm(transaction, name, low, high))

    def _bounds(self, *given: Any) -> list[tuple[int, ...] | None]:
        return [None if each is None else self.terms.amounts("cost", each) for each in given]

    def _names(self, arms: Any) -> Sequence[str]:
        return self._arms().names if self.terms.capacity and arms else list(self.terms.arms)

    def ticket(self, number: int) -> IssuedTicket:
        """Return a ticket by its number, however old."""
        ticket = folded(self.storage.about(self.name, number), self.terms.reward_within)
        if ticket is None:
            raise TicketError(f"ticket {number} is not one that campaign {self.name!r} issued")
        return results.issued(self._arms(), ticket)

    def tickets(self, limit: int = 1000, after: int = 0) -> list[IssuedTicket]:
        """Return the tickets of which something is expected, the oldest first."""
        entries = self.storage.open_tickets(self.name, UNFINISHED, after, limit)
        found = [
            folded(part, self.terms.reward_within)
            for _, part in groupby(entries, lambda entry: entry.ticket)
        ]
        return [results.issued(self._arms(), ticket) for ticket in found if ticket]

    def _arms(self) -> Any:
        found = self.storage.level(self.name)[-1]
        return CampaignLevel(self.terms, found.seq, found.head).arms

    def history(self) -> History:
        """Return spending by the hour, and what each arm has brought."""
        return follow(self.storage, self.terms)

    def labels(
        self, after: tuple[str, str] = ("", ""), limit: int = 1000
    ) -> dict[tuple[str, str, int], tuple[int, ...]]:
        """Return tickets, spent, held, presumed and overrun (units) by label and resource."""
        rows = self.storage.labels(self.name, after, limit)
        return {(row[0], row[1], row[2]): tuple(row[3:]) for row in rows}


def number_of(ticket: IssuedTicket | int) -> int:
    """Return the number of a ticket."""
    number = ticket.id if isinstance(ticket, IssuedTicket) else ticket
    if type(number) is not int or not 1 <= number < amounts.LARGEST:
        raise TicketError(f"{ticket!r} is not a ticket")
    return number


def attempt(act: Callable[..., T], *values: Any) -> T | PurseError:
    """Return what comes of something, or why nothing does."""
    try:
        return act(*values)
    except PurseError as error:
        return error
