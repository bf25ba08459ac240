"""Random sequences of calls on a campaign, in every kind of storage and over HTTP, held against the
reference ledger after every step.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import astuple
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from purse import AskRefused, PurseError
from purse.campaign.archive_file import complete
from tests.support import reference_ledger
from tests.support.campaign_machine import (
    BAD_REPORTS,
    INITIAL,
    LIFE,
    UNIFORM,
    all_terms,
    as_text,
    attempt,
    in_text,
    picks,
    rewards,
    shares,
)
from tests.support.reference_ledger import Ledger, Refusal, Report, written
from tests.support.soak import scale
from tests.support.storages import START, StorageHarness

PASSES = [1, 20_000, LIFE - 1, LIFE, LIFE + 1]
names = count()


class CampaignMachine(RuleBasedStateMachine):
    harness: ClassVar[StorageHarness]
    policy: ClassVar[str]

    @initialize(data=st.data())
    def begin(self, data: st.DataObject) -> None:
        self.terms = terms = data.draw(all_terms(self.policy))
        self.name = f"campaign-{next(names)}"
        self.harness.clock = START
        self.campaign = self.harness.create(
            self.name,
            arms=list(terms.arms),
            resources=terms.resources,
            budget=[written(units) for units in terms.budget],
            cost_min=[[written(units) for units in arm] for arm in terms.least],
            cost_max=[[written(units) for units in arm] for arm in terms.most],
            plays=terms.plays,
            horizon=terms.horizon,
            policy=self.policy,
            seed=data.draw(st.integers(0, 9)),
            expires_after=None if terms.expires_after is None else terms.expires_after // 1000,
            on_expiry=terms.on_expiry,
        )
        self.ledger = Ledger(terms)
        self.requests = count()
        self.folder = TemporaryDirectory()
        self.archives: list[Path] = []

    @property
    def now(self) -> int:
        return self.harness.clock

    def refused(self, error: PurseError) -> str:
        assert "\n" not in str(error)
        return type(error).__name__

    def refuses(self, call: Callable[[], Any], name: str) -> None:
        """A call is refused with an error of this name, in one line."""
        with pytest.raises(PurseError) as caught:
            call()
        assert self.refused(caught.value) == name

    def same(self, call: Callable[[], Any], expected: Callable[[], Any]) -> Any:
        """What a call and the ledger answer; where the ledger refuses, the call must refuse with
        the same error.
        """
        try:
            promised = expected()
        except Refusal as refusal:
            return self.refuses(call, refusal.args[0])
        return call(), promised

    def shaped(self, report: Report) -> tuple[Any, Any]:
        """As a user would write it: one amount where there is one, lists where there are
        several.
        """
        costs: list[Any] = [[written(units) for units in play] for play in report.costs]
        per_play = costs if len(self.terms.resources) > 1 else [play[0] for play in costs]
        return (
            (list(report.rewards), per_play)
            if self.terms.plays > 1
            else (report.rewards[0], per_play[0])
        )

    def report(
        self, ticket: reference_ledger.Ticket, reward: list[float], parts: list[int]
    ) -> Report:
        costs = []
        for k, arm in enumerate(ticket.arms):
            bounds = zip(self.terms.least[arm], self.terms.most[arm], parts[2 * k :], strict=False)
            costs.append(
                tuple(
                    max(0, low + (high - low) * part // 1000 + (part > 1000))
                    for low, high, part in bounds
                )
            )
        return Report(tuple(reward[: len(ticket.arms)]), tuple(costs))

    def pick(self, which: int) -> reference_ledger.Ticket:
        tickets = [ticket for ticket in self.ledger.tickets.values() if ticket.arms]
        return tickets[which % len(tickets)]

    @property
    def has_tickets(self) -> bool:
        return any(ticket.arms for ticket in self.ledger.tickets.values())

    def check_tickets(self, tickets: list[Any], expected: list[reference_ledger.Ticket]) -> None:
        assert [ticket.id for ticket in tickets] == [ticket.id for ticket in expected]
        for ticket, promised in zip(tickets, expected, strict=True):
            deadline = None if promised.deadline is None else promised.deadline / 1000
            assert ticket.arms == tuple(self.terms.arms[arm] for arm in promised.arms)
            gone = promised.state in ("void", "released")
            assert ticket.held == tuple("0" if gone else written(each) for each in promised.held)
            assert (ticket.campaign, ticket.t, ticket.state) == (
                self.name,
                promised.t,
                promised.state,
            )
            assert ticket.request_id == (promised.request_id or ticket.request_id)
            assert (ticket.asked_at, ticket.deadline) == (
                promised.asked_at / 1000,
                deadline if promised.arms else ticket.deadline,
            )

    # asking

    @rule(n=st.sampled_from([1, 1, 2, 3]), named=st.booleans())
    def ask(self, n: int, named: bool) -> None:
        self.ask_for(n, f"request-{next(self.requests)}" if named else None)

    @precondition(lambda self: self.ledger.requests)
    @rule(which=picks, other=st.sampled_from([0, 0, 0, 1]))
    def ask_again(self, which: int, other: int) -> None:
        request_id = list(self.ledger.requests)[which % len(self.ledger.requests)]
        kind, *rest = self.ledger.requests[request_id]
        self.ask_for((rest[0] if kind == "ask" else 1) + other, request_id)

    def call(self, n: int, request_id: str | None) -> list[Any]:
        return [self.campaign.ask(request_id)] if n == 1 else self.campaign.ask_many(n, request_id)

    def ask_for(self, n: int, request_id: str | None) -> None:
        ledger = self.ledger
        ledger.expire(self.now)
        try:
            earlier = ledger.repeat(n, request_id)
            if earlier is None:
                ledger.open_for_asks()
        except Refusal as refusal:
            return self.refuses(lambda: self.call(n, request_id), refusal.args[0])
        if earlier is not None:
            return self.check_tickets(self.call(n, request_id), earlier)
        answer = attempt(lambda: self.call(n, request_id))
        if isinstance(answer, AskRefused):
            assert self.refused(answer) in ledger.right_refusals(self.arms_in(str(answer)))
            return None
        drawn = [
            (ticket.id, ticket.t, tuple(map(self.terms.arms.index, ticket.arms)))
            for ticket in answer
        ]
        assert 1 <= len(drawn) <= n
        self.check_tickets(answer, ledger.issue(drawn, n, request_id, self.now))
        if len(drawn) < n:
            assert ledger.right_refusals(None) or (
                not ledger.waiting and ledger.rounds == self.terms.horizon
            )
        return None

    def arms_in(self, message: str) -> tuple[int, ...]:
        """The arms that a refusal names."""
        named = tuple(arm for arm, name in enumerate(self.terms.arms) if name in message)
        assert len(named) == self.terms.plays, message
        return named

    # telling

    @precondition(lambda self: self.has_tickets)
    @rule(which=picks, reward=rewards, parts=shares, by_id=st.booleans())
    def tell(self, which: int, reward: list[float], parts: list[int], by_id: bool) -> None:
        ticket = self.pick(which)
        self.tell_once(ticket, self.report(ticket, reward, parts), by_id)

    @rule(reward=rewards, parts=shares)
    def ask_and_tell(self, reward: list[float], parts: list[int]) -> None:
        self.ask_for(1, None)
        if self.has_tickets:
            ticket = self.pick(-1)
            self.tell_once(ticket, self.report(ticket, reward, parts), by_id=True)

    @precondition(lambda self: self.terms.expires_after is not None)
    @rule(settle=st.sampled_from(["tell", "void", "neither"]), reward=rewards, parts=shares)
    def ask_and_wait_too_long(self, settle: str, reward: list[float], parts: list[int]) -> None:
        self.ask_for(1, None)
        self.harness.clock += LIFE
        self.expire_now()
        if settle == "tell" and self.has_tickets:
            self.tell_once(self.pick(-1), self.report(self.pick(-1), reward, parts), by_id=True)
        if settle == "void" and self.has_tickets:
            self.void_once(self.pick(-1))

    @precondition(lambda self: any(ticket.report for ticket in self.ledger.tickets.values()))
    @rule(which=picks)
    def tell_again(self, which: int) -> None:
        told = [ticket for ticket in self.ledger.tickets.values() if ticket.report]
        ticket = told[which % len(told)]
        assert ticket.report is not None
        self.tell_once(ticket, ticket.report, by_id=True)

    @precondition(lambda self: self.has_tickets)
    @rule(which=st.lists(picks, min_size=1, max_size=3), reward=rewards, parts=shares)
    def tell_many(self, which: list[int], reward: list[float], parts: list[int]) -> None:
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
            self.refused(answer) if isinstance(answer, PurseError) else as_text(answer)
            for answer in answers
        ] == [expected if isinstance(expected, str) else in_text(expected) for expected in promised]

    def tell_once(self, ticket: reference_ledger.Ticket, report: Report, by_id: bool) -> None:
        shown = ticket.id if by_id else self.harness.ticket(self.campaign, ticket.id)
        answers = self.same(
            lambda: self.campaign.tell(shown, *self.shaped(report)),
            lambda: self.ledger.tell(ticket.id, report),
        )
        if answers:
            assert as_text(answers[0]) == in_text(answers[1])

    @precondition(lambda self: self.has_tickets)
    @rule(which=picks, bad=st.sampled_from(BAD_REPORTS))
    def tell_what_cannot_be(self, which: int, bad: tuple[Any, Any]) -> None:
        reward, cost = bad
        each = [cost] * len(self.terms.resources) if len(self.terms.resources) > 1 else cost
        report = ([reward] * 2, [each] * 2) if self.terms.plays > 1 else (reward, each)
        self.refuses(lambda: self.campaign.tell(self.pick(which).id, *report), "InvalidInput")

    @rule(past=st.integers(1, 5))
    def use_a_ticket_that_was_never_issued(self, past: int) -> None:
        unknown = max(self.ledger.tickets, default=0) + past
        report = Report(
            (1.0,) * self.terms.plays, ((1,) * len(self.terms.resources),) * self.terms.plays
        )
        assert (
            self.same(
                lambda: self.campaign.tell(unknown, *self.shaped(report)),
                lambda: self.ledger.tell(unknown, report),
            )
            is None
        )
        assert (
            self.same(lambda: self.campaign.void(unknown), lambda: self.ledger.void(unknown))
            is None
        )

    @precondition(lambda self: self.has_tickets and hasattr(self.campaign, "settle"))
    @rule(
        which=picks,
        verb=st.sampled_from(["settle", "reward", "fail"]),
        reward=rewards,
        parts=shares,
        again=st.booleans(),
    )
    def report_a_part(
        self, which: int, verb: str, reward: list[float], parts: list[int], again: bool
    ) -> None:
        """The cost or the reward alone, or that a call failed; some say it twice."""
        ticket = self.pick(which)
        report = self.report(ticket, reward, parts)
        if again and ticket.costs is not None:
            report = report._replace(costs=ticket.costs)
        given, costs = self.shaped(report)
        calls = {
            "settle": (lambda: self.campaign.settle(ticket.id, costs), report.costs),
            "reward": (lambda: self.campaign.reward(ticket.id, given), report.rewards),
            "fail": (lambda: self.campaign.fail(ticket.id, costs, "down"), report.costs),
        }
        call, part = calls[verb]
        for _ in range(1 + again):
            answers = self.same(call, lambda: getattr(self.ledger, verb)(ticket.id, part))
            if answers:
                assert as_text(answers[0]) == in_text(answers[1])

    @precondition(lambda self: self.has_tickets)
    @rule(which=picks)
    def void(self, which: int) -> None:
        self.void_once(self.pick(which))

    def void_once(self, ticket: reference_ledger.Ticket) -> None:
        answers = self.same(
            lambda: self.campaign.void(ticket.id), lambda: self.ledger.void(ticket.id)
        )
        if answers:
            assert as_text(answers[0]) == in_text(answers[1])

    # time, money and the harness

    @rule(ms=st.sampled_from(PASSES))
    def time_passes(self, ms: int) -> None:
        self.harness.clock += ms

    @rule()
    def expire(self) -> None:
        self.expire_now()

    def expire_now(self) -> None:
        assert self.campaign.expire() == self.ledger.expire(self.now)

    @rule(units=st.sampled_from([1, 500_000_000, 2_000_000_000]), named=st.booleans())
    def top_up(self, units: int, named: bool) -> None:
        self.top_up_with(
            (units,) * len(self.terms.resources),
            f"request-{next(self.requests)}" if named else None,
        )

    @precondition(lambda self: self.ledger.requests)
    @rule(which=picks, more=st.sampled_from([0, 0, 1]))
    def top_up_again(self, which: int, more: int) -> None:
        request_id = list(self.ledger.requests)[which % len(self.ledger.requests)]
        kind, *rest = self.ledger.requests[request_id]
        units = rest[0] if kind == "top_up" else (1,) * len(self.terms.resources)
        self.top_up_with(tuple(unit + more for unit in units), request_id)  # type: ignore[attr-defined]

    def top_up_with(self, units: tuple[int, ...], request_id: str | None) -> None:
        amounts = dict(zip(self.terms.resources, map(written, units), strict=True))
        self.same(
            lambda: self.campaign.top_up(amounts, request_id),
            lambda: self.ledger.top_up(units, request_id),
        )

    @rule(to=st.sampled_from(["paused", "running"] * 4 + ["closed"]))
    def switch(self, to: str) -> None:
        change = {
            "paused": self.campaign.pause,
            "running": self.campaign.resume,
            "closed": self.campaign.close,
        }[to]
        self.same(change, lambda: self.ledger.switch(to))

    @rule(drop=st.booleans())
    def reopen(self, drop: bool) -> None:
        if drop:
            self.harness.drop_checkpoints(self.name)
        self.campaign = self.harness.open(self.name)

    @precondition(lambda self: hasattr(self.campaign, "archive"))
    @rule()
    def archive(self) -> None:
        path = Path(self.folder.name, str(len(self.archives)))
        if self.archives:  # checkpoints may have been dropped
            assert self.campaign.audit(archives=self.archives).ok
        answer = attempt(lambda: self.campaign.archive(path))
        if isinstance(answer, PurseError):
            assert "nothing can be archived" in str(answer)
            assert not path.exists()
        else:
            self.ledger.entries += 1
            self.archives.append(path)

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
        assert status.overdue == len(ledger.overdue(self.now))
        assert {alarm.kind for alarm in status.alarms} == ledger.alarms(self.now)
        held = [ticket for ticket in ledger.tickets.values() if ticket.state == "held"]
        assert status.oldest_held == (
            min(ticket.asked_at for ticket in held) / 1000 if held else None
        )
        out = [ticket for ticket in ledger.tickets.values() if ticket.state in ("held", "presumed")]
        self.check_tickets(self.campaign.tickets(), out)

    def teardown(self) -> None:
        if hasattr(self, "ledger"):
            more = {"archives": self.archives} if self.archives else {}
            audit = self.campaign.audit(**more)
            assert not audit.findings
            assert audit.ok
            entries = list(complete(self.campaign.journal(), self.archives))
            assert [entry.seq for entry in entries] == list(range(1, audit.entries + 1))
            if self.archives:
                assert self.campaign.audit(full=True, archives=self.archives) == audit
            self.folder.cleanup()


@pytest.mark.parametrize("policy", [UNIFORM, INITIAL])
@pytest.mark.parametrize("kind", ["memory", "sqlite", "postgres", "http"])
def test_no_sequence_of_calls_breaks_the_books(
    make_harness: Callable[[str], StorageHarness], kind: str, policy: str
) -> None:
    harness = make_harness(kind)
    examples = harness.examples // (1 if policy == UNIFORM else 2)
    # what goes wrong in one harness mostly does in the quick one, too
    phases = [Phase.generate, Phase.shrink] if harness.quick else [Phase.generate]
    rules = settings(
        max_examples=scale(examples // 2, 50 * examples),
        stateful_step_count=scale(30, 60),
        deadline=None,
        derandomize=True,
        database=None,
        phases=phases,
    )
    run_state_machine_as_test(
        type("Machine", (CampaignMachine,), {"harness": harness, "policy": policy}), settings=rules
    )
