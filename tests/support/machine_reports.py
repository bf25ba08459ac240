"""Rules of the machine: reports, voids, and what cannot be reported."""

from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from purse import PurseError
from tests.support import reference_ledger
from tests.support.machine_base import (
    BAD_REPORTS,
    OUTSIDE,
    BaseMachine,
    in_text,
    picks,
    rewards,
    shares,
)
from tests.support.reference_ledger import Refusal, Report


class ReportMachine(BaseMachine):
    """Reports of all kinds, by anybody, at any time."""

    def report(self, ticket: reference_ledger.Ticket, reward: float, parts: list[int]) -> Report:
        assert ticket.arm is not None
        arm = self.ledger.arms[ticket.arm]
        bounds = zip(arm.least, arm.most, parts, strict=False)
        costs = tuple(
            max(0, low + (high - low) * part // 1000 + (part > 1000)) for low, high, part in bounds
        )
        return Report(reward, costs)

    @precondition(lambda self: self.has_tickets)
    @rule(which=picks, reward=rewards, parts=shares, by_id=st.booleans())
    def tell(self, which: int, reward: float, parts: list[int], by_id: bool) -> None:
        ticket = self.pick(which)
        self.tell_once(ticket, self.report(ticket, reward, parts), by_id)

    @precondition(lambda self: any(ticket.report for ticket in self.ledger.tickets.values()))
    @rule(which=picks)
    def tell_again(self, which: int) -> None:
        told = [ticket for ticket in self.ledger.tickets.values() if ticket.report]
        ticket = told[which % len(told)]
        assert ticket.report is not None
        self.tell_once(ticket, ticket.report, by_id=True)

    @precondition(lambda self: self.has_tickets)
    @rule(which=st.lists(picks, min_size=1, max_size=3), reward=rewards, parts=shares)
    def tell_many(self, which: list[int], reward: float, parts: list[int]) -> None:
        """Each report stands alone, its error in its place."""
        reports = [(ticket, self.report(ticket, reward, parts)) for ticket in map(self.pick, which)]
        promised: list[Any] = []
        for ticket, report in reports:
            try:
                promised.append(self.ledger.tell(ticket.id, report))
            except Refusal as refusal:
                promised.append(refusal.args[0])
        promised.append("TicketError")
        answers = self.campaign.tell_many(
            [
                *((ticket.id, *self.shaped(report)) for ticket, report in reports),
                (10**9, *self.shaped(reports[0][1])),
            ]
        )
        assert [
            self.refused(answer) if isinstance(answer, PurseError) else answer for answer in answers
        ] == [expected if isinstance(expected, str) else in_text(expected) for expected in promised]

    def tell_once(self, ticket: reference_ledger.Ticket, report: Report, by_id: bool) -> None:
        shown = ticket.id if by_id else self.harness.ticket(self.campaign, ticket.id)
        self.receives(
            lambda: self.campaign.tell(shown, *self.shaped(report)),
            lambda: self.ledger.tell(ticket.id, report),
        )

    def tell_what_cannot_be(self, which: int, data: st.DataObject) -> None:
        outside = OUTSIDE if self.terms.range is None else []
        reward, cost = data.draw(st.sampled_from(BAD_REPORTS + outside))
        each = [cost] * len(self.terms.resources) if len(self.terms.resources) > 1 else cost
        invalid = Refusal("InvalidInput")
        self.refuses(lambda: self.campaign.tell(self.pick(which).id, reward, each), invalid)

    def use_a_ticket_that_was_never_issued(self, past: int) -> None:
        unknown = max(self.ledger.tickets, default=0) + past
        report = Report(0.5, (1,) * len(self.terms.resources))
        calls: list[tuple[Any, Any]] = [
            (
                lambda: self.campaign.tell(unknown, *self.shaped(report)),
                lambda: self.ledger.tell(unknown, report),
            ),
            (lambda: self.campaign.void(unknown), lambda: self.ledger.void(unknown)),
            (
                lambda: self.campaign.settle(unknown, self.shaped(report)[1]),
                lambda: self.ledger.settle(unknown, report.costs),
            ),
        ]
        for call, expected in calls:
            assert self.same(call, expected) is None

    @precondition(lambda self: self.has_tickets)
    @rule(
        which=picks,
        verb=st.sampled_from(["settle", "settle", "reward", "fail", "break"]),
        reward=rewards,
        parts=shares,
        again=st.booleans(),
    )
    def report_a_part(
        self, which: int, verb: str, reward: float, parts: list[int], again: bool
    ) -> None:
        """The cost or the reward alone, or that a call failed; some say it twice."""
        ticket = self.pick(which)
        report = self.report(ticket, reward, parts)
        if again and ticket.costs is not None:
            report = report._replace(costs=ticket.costs)
        for _ in range(1 + again):
            self.say(verb, ticket, report)

    def say(self, verb: str, ticket: reference_ledger.Ticket, report: Report) -> None:
        given, costs = self.shaped(report)
        calls = {
            "settle": (lambda: self.campaign.settle(ticket.id, costs), report.costs),
            "reward": (lambda: self.campaign.reward(ticket.id, given), report.reward),
            "fail": (lambda: self.campaign.fail(ticket.id, costs, "down"), report.costs),
            "break": (lambda: self.campaign.fail(ticket.id), None),
        }
        call, part = calls[verb]
        rule = self.ledger.fail if verb == "break" else getattr(self.ledger, verb)
        self.receives(call, lambda: rule(ticket.id, part))

    @precondition(lambda self: self.has_tickets)
    @rule(back=st.integers(1, 3), free=st.booleans(), parts=shares)
    def fail_one_of_the_last(self, back: int, free: bool, parts: list[int]) -> None:
        """Those that were asked for after a cool-down begin another one; most cost nothing."""
        ticket = self.pick(-back)
        report = self.report(ticket, 0.0, parts)
        nothing = (0,) * len(self.terms.resources)
        if not free:
            self.say("fail", ticket, report)
        else:
            self.receives(
                lambda: self.campaign.fail(ticket.id, 0),
                lambda: self.ledger.fail(ticket.id, nothing),
            )

    @precondition(lambda self: self.has_tickets)
    @rule(which=picks)
    def void(self, which: int) -> None:
        self.void_once(self.pick(which))

    def void_once(self, ticket: reference_ledger.Ticket) -> None:
        self.receives(lambda: self.campaign.void(ticket.id), lambda: self.ledger.void(ticket.id))
