"""A campaign and its reference ledger side by side: what all rules of the machine share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import astuple
from io import StringIO
from itertools import count
from random import Random
from typing import Any, ClassVar

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant

from purse import Campaign, PurseError
from purse.campaign.storage.connect import in_memory
from tests.support import reference_ledger
from tests.support.campaign_machine import all_terms, as_given
from tests.support.reference_ledger import Ledger, Refusal, Report, Terms, written
from tests.support.reference_levels import Level
from tests.support.soak import SOAK
from tests.support.storages import START, StorageHarness

names = count()


class BaseMachine(RuleBasedStateMachine):
    """Makes the campaign, compares answers, and compares the books after every step."""

    harness: ClassVar[StorageHarness]
    policy: ClassVar[str]

    @initialize(data=st.data())
    def begin(self, data: st.DataObject) -> None:
        self.harness.clock = START
        self.random = self.random_of(data)
        self.make(data, self.draw_terms(data))

    def draw_terms(self, data: st.DataObject, resources: int | None = None) -> Terms:
        return data.draw(all_terms(self.policy, resources))

    def random_of(self, data: st.DataObject) -> Random:
        """For contexts."""
        return Random(data.draw(st.integers(0, 9)))

    def make(self, data: st.DataObject, terms: Terms) -> None:
        """A campaign, its ledger, and what belongs to them."""
        self.terms, self.name = terms, f"campaign-{next(names)}"
        self.campaign = self.created(
            **as_given(terms), policy=self.policy, seed=data.draw(st.integers(0, 9))
        )
        self.ledger = self.new_ledger(terms)
        self.requests = count()

    def created(self, **terms: Any) -> Any:
        return self.harness.create(self.name, **terms)

    def new_ledger(self, terms: Terms) -> Ledger:
        return Ledger(terms, self.now)

    def now(self) -> int:
        return self.harness.clock

    def refused(self, error: PurseError) -> str:
        assert "\n" not in str(error)
        return type(error).__name__

    def refuses(self, call: Callable[[], Any], expected: Refusal) -> None:
        """A call is refused with this error, in one line."""
        with pytest.raises(PurseError) as caught:
            call()
        self.is_refusal(caught.value, expected)

    def is_refusal(self, error: PurseError, expected: Refusal) -> None:
        name, *ms = expected.args
        assert self.refused(error) == name, error
        if ms:
            assert getattr(error, "seconds", None) == ms[0] / 1000, error

    def same(self, call: Callable[[], Any], expected: Callable[[], Any]) -> Any:
        """What a call and the ledger answer; where the ledger refuses, the call must refuse with
        the same error.
        """
        try:
            promised = expected()
        except Refusal as refusal:
            return self.refuses(call, refusal)
        return call(), promised

    def shaped(self, report: Report) -> tuple[Any, Any]:
        """As a user would write it: one amount where there is one, lists where there are
        several.
        """
        costs = [written(units) for units in report.costs]
        return report.reward, costs if len(costs) > 1 else costs[0]

    def pick(self, which: int) -> reference_ledger.Ticket:
        tickets = [ticket for ticket in self.ledger.tickets.values() if ticket.arm is not None]
        return tickets[which % len(tickets)]

    @property
    def has_tickets(self) -> bool:
        return any(ticket.arm is not None for ticket in self.ledger.tickets.values())

    def check_tickets(self, tickets: list[Any], expected: list[reference_ledger.Ticket]) -> None:
        assert [ticket.id for ticket in tickets] == [ticket.id for ticket in expected]
        for ticket, promised in zip(tickets, expected, strict=True):
            deadline = None if promised.deadline is None else promised.deadline / 1000
            arm = None if promised.arm is None else self.ledger.arms[promised.arm].name
            assert ticket.arm == arm
            gone = promised.state == "void"
            assert ticket.held == tuple("0" if gone else written(each) for each in promised.held)
            assert (ticket.campaign, ticket.t, ticket.state) == (
                self.name,
                promised.t,
                promised.state,
            )
            assert ticket.request_id == (promised.request_id or ticket.request_id)
            assert (ticket.asked_at, ticket.deadline) == (
                promised.asked_at / 1000,
                ticket.deadline if promised.arm is None else deadline,
            )

    @invariant()
    def books_agree(self) -> None:
        status, ledger = self.campaign.status(), self.ledger
        assert min(ledger.left) >= 0
        assert [astuple(purse) for purse in status.purses] == ledger.purses()
        assert status.counts == ledger.counts()
        assert (status.status, status.rounds, status.entries) == (
            ledger.status,
            ledger.rounds,
            ledger.entries,
        )
        assert status.overdue == len(ledger.overdue())
        assert {alarm.kind for alarm in status.alarms} == ledger.alarms()
        held = [number for number, ticket in ledger.tickets.items() if ticket.state == "held"]
        # the one that was asked for first, also if the clock went back since
        first = ledger.tickets[min(held)].asked_at / 1000 if held else None
        assert status.oldest_held == first
        out = [ticket for ticket in ledger.tickets.values() if ticket.state in ("held", "presumed")]
        self.check_tickets(self.campaign.tickets(), out[:1_000])  # its usual limit
        assert [(each.least, each.most) for each in status.features] == ledger.extremes()
        self.arms_agree(status)
        self.period_agrees(status, self.ledger)
        sums = self.campaign.labels(limit=10_000)
        assert {(each.key, each.value): astuple(each)[2:] for each in sums} == ledger.labels()

    def period_agrees(self, status: Any, level: Level) -> None:
        """The period as of now, whether or not its boundary was made."""
        expected, shown = level.in_period(), status.period
        assert (shown is None) == (expected is None)
        if shown is not None:
            when = (shown.number, shown.begun_at, shown.ends_at, shown.rounds)
            said = (*when, shown.allowance, shown.carried, shown.spent)
            assert said == expected, (said, expected)

    def arms_agree(self, status: Any) -> None:
        """Which arms there are, and which cool down until when."""
        arms = self.ledger.arms
        assert status.arms == tuple(arm.name for arm in arms if not arm.retired)
        assert status.retired == tuple(arm.name for arm in arms if arm.retired)
        assert {(each.arm, each.until, each.length) for each in status.cooling} == {
            (name, until / 1000, length / 1000) for name, until, length in self.ledger.cooling()
        }

    def teardown(self) -> None:
        if hasattr(self, "ledger"):
            self.finish()

    def finish(self) -> None:
        """The campaign at its end."""
        audit = self.campaign.audit()
        assert not audit.findings, audit.findings
        assert audit.ok
        entries = list(self.campaign.journal())
        assert [entry.seq for entry in entries] == list(range(1, audit.entries + 1))
        self.contexts_agree(entries)
        if self.harness.quick or SOAK:
            self.check_copy(audit)

    def contexts_agree(self, entries: list[Any]) -> None:
        """The journal has the context of each ticket as it was seen, and its report has the
        same.
        """
        for entry in entries:
            if entry.kind in ("asked", "told"):
                expected = self.ledger.tickets[entry.ticket].context
                seen = None if expected is None else list(expected)
                assert entry.body.get("context") == seen

    def check_copy(self, audit: Any) -> None:
        """A copy made from the export comes to the same."""
        file = StringIO()
        self.campaign.export(file)
        file.seek(0)
        elsewhere: Any = in_memory()
        elsewhere.now = self.now
        copy = Campaign.restore(file, storage=elsewhere)
        found = copy.audit(full=True)
        assert (found.findings, found.digest) == ((), audit.digest)
        mine, other = self.campaign.status(), copy.status()
        assert (mine.purses, mine.counts, mine.rounds) == (other.purses, other.counts, other.rounds)
        assert (mine.arms, mine.retired, mine.cooling) == (other.arms, other.retired, other.cooling)
        assert self.campaign.labels() == copy.labels()
