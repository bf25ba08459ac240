"""`purse.Campaign`: ask, tell and void under a budget that cannot be overspent, whoever asks, from
wherever, and whatever dies.
"""

from __future__ import annotations

import codecs
import os
import time
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, cast

import numpy as np

from purse.base import amounts, validation
from purse.base.files import write_atomically
from purse.campaign import defaults, make_results
from purse.campaign.audit import Audit, audit, restore
from purse.campaign.by_name import by_name
from purse.campaign.group_commit import GroupCommitter, check_same, write_set
from purse.campaign.journal import Entry, read_lines, write_lines
from purse.campaign.ledger import Ledger
from purse.campaign.operations import Operation, Report, ask_operation, tell_operation
from purse.campaign.results import CampaignTicket, Receipt, Status
from purse.campaign.rules import Transaction
from purse.campaign.states import CLOSED, OPEN, PAUSED, RUNNING, STATES
from purse.campaign.storage.base import MOST_DUE, Storage, connect
from purse.campaign.terms import PRESUME, RELEASE, WEAKER_PROMISE, Terms
from purse.errors import InvalidInput, PurseError, TicketError, invalid, shorten
from purse.policies import DEFAULT

PAGE_SIZE = 1_000  # entries read at a time
MAX_BATCH = 1_000  # tickets in one request


class Campaign:
    """A campaign. `create` a new one or `open` one that exists; then ask and tell from any number
    of threads and processes.
    """

    def __init__(self, terms: Terms, kept: Storage) -> None:
        self.terms = terms
        self.storage = kept
        self._clerk = GroupCommitter(terms, kept)

    @classmethod
    def create(
        cls,
        name: str,
        *,
        arms: Sequence[str] | Mapping[str, Any],
        budget: Any,
        cost_min: Any,
        cost_max: Any = None,
        resources: Sequence[str] = defaults.RESOURCES,
        plays: int = 1,
        horizon: int | None = None,
        costs: Any = None,
        caps: Any = None,
        policy: str = DEFAULT,
        seed: int = 0,
        expires_after: float | None = defaults.EXPIRES_AFTER,
        on_expiry: str = PRESUME,
        storage: str | Storage = defaults.STORAGE,
    ) -> Campaign:
        """A new campaign.

        arms           their names; or {name: the most that a pull may cost}, and then no `cost_max`
        budget         decimal text or a number; of several resources a list, or {resource: amount}
        cost_min, cost_max   what a pull costs at least and at most: one amount, one for each arm,
                             or one for each arm and resource
        resources      what is spent: "USD", "tokens"
        plays          arms in each round
        horizon        the number of rounds, where there is one
        costs, caps    known constant costs, and pulls allowed per arm, for policies that use them
        expires_after  seconds after which a ticket without a report counts as spent at its maximum;
                       None: never
        on_expiry      "presume", or "release", which is a weaker promise and says so
        storage        an address such as sqlite:///purse.db or postgresql://user@host/database
        """
        terms = Terms.of(
            name,
            arms=arms,
            budget=budget,
            cost_min=cost_min,
            cost_max=cost_max,
            resources=resources,
            plays=plays,
            horizon=horizon,
            costs=costs,
            caps=caps,
            policy=policy,
            seed=seed,
            expires_after=expires_after,
            on_expiry=on_expiry,
        )
        if terms.on_expiry == RELEASE:
            warnings.warn(WEAKER_PROMISE, stacklevel=2)
        kept = connect(storage)
        book = Transaction(Ledger(terms), kept.now())
        book.add("created", terms.as_dict())
        kept.create(name, write_set(book))
        return cls(terms, kept)

    @classmethod
    def open(cls, name: str, *, storage: str | Storage = defaults.STORAGE) -> Campaign:
        """A campaign that exists, as it stands in its storage."""
        kept = connect(storage, create=False)
        (first,) = kept.entries(name, 0, 1)
        return cls(Terms.from_dict(first.body), kept)

    @property
    def name(self) -> str:
        """What it is called."""
        return self.terms.name

    def __repr__(self) -> str:
        return f"<Campaign {self.name!r}, {self.terms.policy}, {len(self.terms.arms)} arms>"

    def ask(self, request_id: str | None = None) -> CampaignTicket:
        """A ticket for the next round. Asked again with the same `request_id` it returns the same
        ticket.

        Raises `BudgetExhausted` when the budget cannot cover it (`BudgetHeld` when it could once
        other tickets are told); then nothing has changed.
        """
        return self.ask_many(1, request_id)[0]

    def ask_many(self, n: int, request_id: str | None = None) -> list[CampaignTicket]:
        """As many tickets as fit, up to n and at least one, for one request."""
        n = validation.integer("n", n, low=1, high=MAX_BATCH)
        return [
            make_results.ticket(self.terms, slot)
            for slot in self._clerk.do(
                ask_operation(n, self._request(request_id), self._clerk.choose)
            )
        ]

    def tell(self, ticket: CampaignTicket | int, reward: Any, cost: Any) -> Receipt:
        """Report what a ticket brought and cost (with several plays or resources: one entry each).
        Told again it has no second effect.
        """
        (answer,) = self.tell_many([(ticket, reward, cost)])
        if isinstance(answer, PurseError):
            raise answer
        return answer

    def tell_many(
        self, reports: Iterable[tuple[CampaignTicket | int, Any, Any]]
    ) -> list[Receipt | PurseError]:
        """Many reports in one transaction. Each stands alone: the error of one is returned in its
        place.
        """
        read = [self._read(*report) for report in reports]
        found = iter(
            self._clerk.do(
                tell_operation([report for report in read if isinstance(report, Report)])
            )
        )
        return [next(found) if isinstance(report, Report) else report for report in read]

    def void(self, ticket: CampaignTicket | int) -> Receipt:
        """Cancel a ticket: its hold is released and nothing is learnt. An initial pull is asked for
        again.
        """
        number = self._number(ticket)
        return self._clerk.do(Operation(lambda book: book.void(number), tickets=(number,)))

    def top_up(self, amount: Any, request_id: str | None = None) -> Status:
        """Add to the budget: one amount, or one for each resource. Done once for each
        `request_id`.
        """
        units, request = self.terms.amounts("amount", amount), self._request(request_id)
        if min(units) < 0 or max(units) == 0:
            raise invalid("amount", amount, "must be positive")
        self._clerk.do(Operation(lambda book: book.top_up(units, request), requests=(request,)))
        return self.status()

    def pause(self) -> Status:
        """Give out no tickets until `resume`; reports are taken."""
        return self._set_status("paused", PAUSED)

    def resume(self) -> Status:
        """Give out tickets again."""
        return self._set_status("resumed", RUNNING)

    def close(self) -> Status:
        """Give out no more tickets, for good; reports are taken."""
        return self._set_status("closed", CLOSED)

    def _set_status(self, kind: str, status: str) -> Status:
        self._clerk.do(Operation(lambda book: book.set_status(kind, status)))
        return self.status()

    def expire(self) -> int:
        """Presume spent what has outlived its deadline, as every ask does; returns how many tickets
        that were.
        """
        count = MOST_DUE
        total = 0
        while count == MOST_DUE:
            count = self._clerk.do(
                Operation(
                    lambda book: sum(entry.kind == "expired" for entry in book.entries),
                    expires=True,
                )
            )
            total += count
        return total

    def status(self) -> Status:
        """How it stands. Like all that only reads, it waits for no one and no one waits for it."""
        look = self.storage.overview(self.name)
        check_same(self.terms, look.head)
        return make_results.status(self.terms, *look)

    def tickets(self, states: Sequence[str] = OPEN, limit: int = 1000) -> list[CampaignTicket]:
        """Its tickets in these states, oldest first."""
        wanted = [validation.choice("states", state, STATES) for state in states]
        limit = validation.integer("limit", limit, low=1, high=2**62)
        return (
            []
            if not wanted
            else [
                make_results.ticket(self.terms, slot)
                for slot in self.storage.tickets(self.name, wanted, 0, limit)
            ]
        )

    def ticket(self, number: int) -> CampaignTicket:
        """One of its tickets."""
        number = self._number(number)
        found = [
            slot
            for slot in self.storage.tickets(self.name, STATES, number - 1, 1)
            if slot.id == number
        ]
        if not found:
            raise TicketError(f"ticket {number} is not one that campaign {self.name!r} issued")
        return make_results.ticket(self.terms, found[0])

    def journal(self, after: int = 0) -> Iterator[Entry]:
        """Its entries after this one."""
        after = validation.integer("after", after, low=0, high=2**62)
        while page := self.storage.entries(self.name, after, PAGE_SIZE):
            yield from page
            after = page[-1].seq

    def probabilities(self) -> dict[str, float]:
        """The probability of each arm in the next round."""
        out = np.zeros(len(self.terms.arms))
        self._clerk.do(
            Operation(
                lambda book: book.foresee(self._clerk.recovered().probabilities, out),
                needs_policy=True,
            )
        )
        return dict(zip(self.terms.arms, out.tolist(), strict=True))

    def audit(self) -> Audit:
        """Fold the whole journal and compare: purses, tickets, counts, the policy's choices and its
        snapshot.
        """
        return audit(self.terms, self.storage)

    def export(self, file: str | Path | IO[str]) -> int:
        """Its journal as JSON lines; returns the number of entries."""
        if isinstance(file, (str, Path)):
            counts: list[int] = []
            write_atomically(
                Path(file),
                lambda raw: counts.append(
                    self.export(cast(IO[str], codecs.getwriter("utf-8")(raw)))
                ),
            )
            return counts[0]
        return write_lines(file, self.name, self.journal())

    @classmethod
    def restore(
        cls,
        file: str | Path | IO[str],
        *,
        storage: str | Storage = defaults.STORAGE,
        name: str | None = None,
    ) -> Campaign:
        """A campaign from an exported journal, under its own name or another."""
        if isinstance(file, (str, Path)):
            try:
                with Path(file).open(encoding="utf-8") as lines:
                    return cls.restore(lines, storage=storage, name=name)
            except (OSError, UnicodeError) as error:
                raise InvalidInput(
                    f"cannot read {str(file)!r}: "
                    f"{getattr(error, 'strerror', None) or 'it is not text'}"
                ) from None
        entries = list(read_lines(file))
        kept = connect(storage)
        return cls(restore(entries, kept, name), kept)

    def _request(self, given: str | None) -> str:
        """The request's name; one of our own where none is given, so that a lost connection cannot
        make a second hold.
        """
        if given is None:
            # by time, so that neighbours are neighbours in the index, too
            return f"{time.time_ns():016x}{os.urandom(8).hex()}"
        if not isinstance(given, str) or not 1 <= len(given) <= 200 or not given.isprintable():
            raise invalid("request_id", given, "must be text of 1 to 200 printable characters")
        return given

    def _number(self, ticket: CampaignTicket | int) -> int:
        if isinstance(ticket, CampaignTicket):
            if ticket.campaign != self.name:
                raise invalid("ticket", ticket, f"must be one of campaign {self.name!r}")
            ticket = ticket.id
        return validation.integer("ticket", ticket, low=1, high=2**62)

    def _read(self, ticket: CampaignTicket | int, reward: Any, cost: Any) -> Report | PurseError:
        """A report, or why it cannot be one. What it cost may be anything: a true report is never
        refused.
        """
        plays, resources = self.terms.plays, len(self.terms.resources)
        try:
            number = self._number(ticket)
            rewards = validation.numbers("reward", reward)
            costs = (
                [amounts.to_units("cost", cost)]
                if isinstance(cost, (str, int, float))
                else self._read_costs(cost)
            )
            if len(rewards) != plays or len(costs) != plays * resources:
                given = f"reward={shorten(repr(reward))}, cost={shorten(repr(cost))}"
                raise InvalidInput(
                    f"{given}: must be {plays} rewards and {plays * resources} costs, not "
                    f"{len(rewards)} and {len(costs)}"
                )
            for value in rewards:
                if not 0 <= value <= 1:
                    raise invalid("reward", value, "must lie between 0 and 1")
            if min(costs) < 0:
                raise invalid("cost", cost, "must not be negative")
        except PurseError as error:
            return error
        return Report(number, rewards, costs)

    def _read_costs(self, cost: Any) -> list[int]:
        """Units of each play and resource, from lists and dicts of amounts."""
        rows = cost if isinstance(cost, (list, tuple)) else [cost]
        return (
            amounts.unit_array(
                "cost", [by_name("cost", row, self.terms.resources, "resource") for row in rows]
            )
            .ravel()
            .tolist()
        )
