"""A campaign and its reference ledger side by side: random terms and reports, answers in a form
that can be compared, and what all rules of the machine share.
"""

import math
from collections.abc import Callable
from dataclasses import astuple
from datetime import UTC, datetime
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
from tests.support.campaigns import SEES
from tests.support.reference_ledger import Ledger, Periods, Refusal, Report, Terms, written
from tests.support.reference_levels import Level
from tests.support.soak import SOAK
from tests.support.storages import START, StorageHarness

LIFE = 60_000  # ms until a ticket expires
WITHIN = 90_000  # ms in which a reward has to come
DAY = 86_400_000  # ms
UNIFORM, INITIAL = "uniform", "primal-dual-bwk"
RANGE = (0.0, 8000.0)  # of the first feature
BAD_CONTEXTS: list[Any] = [
    None, [1], [1, 2, 3], {"length": 1}, {"length": 1, "code": 1, "more": 1}, [1, 1001], [1, "a"],
    [1, math.nan], [1, math.inf], "ab", 7,
]  # fmt: skip
OUTSIDE: list[tuple[Any, Any]] = [(-0.1, 1), (1.5, 1)]  # where no range is declared
BAD_REPORTS: list[tuple[Any, Any]] = [
    (math.nan, 1),
    (None, 1),
    (1, -1),
    (1, math.nan),
    (1, math.inf),
    (1, 2**63),
    (1, "free"),
    (1, None),
]
picks = st.integers(0, 10**6)
rewards = st.sampled_from([0.0, 0.25, 1.0])
# thousandths of the way from least to most, of each resource
shares = st.lists(st.sampled_from([1000, 0, 500, -1, 1001, 1500, -1000]), min_size=2, max_size=2)
names = count()


@st.composite
def all_terms(draw: st.DrawFn, policy: str, resources: int | None = None) -> Terms:
    n_arms = draw(st.sampled_from([2, 3, 1]))
    n_resources = resources or draw(st.sampled_from([1, 2]))
    # the cheap arms can be asked for so often that they stay silent for long
    cheap = draw(st.integers(0, n_arms))
    least = tuple(
        tuple(
            1 if arm == cheap else draw(st.sampled_from([100_000_000, 333_333_333, 1]))
            for _ in range(n_resources)
        )
        for arm in range(n_arms)
    )
    most = tuple(
        tuple(
            units + (draw(st.sampled_from([700_000_000, 1, 0, 5])) if arm != cheap else 5)
            for units in row
        )
        for arm, row in enumerate(least)
    )
    dearest = [max(column) for column in zip(*most, strict=True)]
    budget = tuple(
        max(
            1, cost * draw(st.sampled_from([25, 7, 3, 61])) // 2 + draw(st.sampled_from([0, 1, -1]))
        )
        for cost in dearest
    )
    terms = Terms(
        arms=("red", "green", "blue")[:n_arms],
        resources=("euros", "hours")[:n_resources],
        budget=budget,
        least=least,
        most=most,
        horizon=draw(st.sampled_from([None, None, None, 6])),
        expires_after=draw(st.sampled_from([LIFE, LIFE, None])),
        initial=policy == INITIAL,
        until=draw(st.sampled_from([None, None, None, START + 2 * LIFE, START + 2 * DAY])),
        skip=draw(st.booleans()),
    )
    return draw(live_terms(terms, policy))


@st.composite
def live_terms(draw: st.DrawFn, terms: Terms, policy: str) -> Terms:
    """Terms with something to say of failures, late rewards, ranges and arms."""
    within = draw(st.sampled_from([None, WITHIN, WITHIN]))
    cooldown = draw(st.sampled_from([1_000, 7_000, 100_000, None]))
    wider = draw(st.booleans())
    explores = policy in (UNIFORM, SEES)
    sees = policy == SEES or draw(st.sampled_from([False, False, True]))
    return terms._replace(
        cooldown=cooldown,
        reward_within=within,
        missing=None if within is None else draw(st.sampled_from([0.0, 0.25])),
        range=draw(st.sampled_from([None, None, (0.0, 0.5), (-1.0, 20.0)])),
        explore=draw(st.sampled_from([None, 0.25, 0.5] if explores else [None])),
        capacity=draw(st.sampled_from([None, len(terms.arms) + 1, len(terms.arms) + 2])),
        ceiling=tuple(tuple(2 * units for units in row) for row in terms.most) if wider else None,
        features=RANGE if sees else None,
    )


@st.composite
def some_periods(draw: st.DrawFn) -> Periods:
    """How a budget is renewed, in zones whose clocks move soon."""
    return Periods(
        draw(st.sampled_from(["day", "6h", "month", "week"])),
        draw(st.sampled_from(["UTC", "Europe/Berlin", "America/New_York", "Asia/Kathmandu"])),
        draw(st.sampled_from(["none", "all"])),
    )


def as_given(terms: Terms) -> dict[str, Any]:
    """Terms as a user would write them; those that are as usual are left out."""
    given: dict[str, Any] = {
        "arms": dict(zip(terms.arms, in_rows(terms.most), strict=True)),
        "resources": list(terms.resources),
        "budget": [written(units) for units in terms.budget],
        "cost_min": in_rows(terms.least),
        "horizon": terms.horizon,
        "alerts": [],  # events are entries, too
        "expires_after": None if terms.expires_after is None else terms.expires_after // 1000,
    }
    usual = Terms((), (), (), (), ())
    seconds = {"cooldown": terms.cooldown, "reward_within": terms.reward_within}
    for name, ms in seconds.items():
        if ms != getattr(usual, name):
            given[name] = None if ms is None else ms / 1000
    if terms.capacity is not None:
        given["capacity"] = terms.capacity
    if terms.missing is not None:
        given["missing_reward"] = terms.missing
    if terms.range is not None:
        given["reward_range"] = list(terms.range)
    if terms.explore is not None:
        given["explore"] = terms.explore
    if terms.ceiling is not None:
        given["cost_ceiling"] = in_rows(terms.ceiling)
    if terms.periods is not None:
        given |= periods_as_given(terms.periods)
    if terms.until is not None:
        given["until"] = datetime.fromtimestamp(terms.until / 1000, UTC)
    if terms.skip and terms.horizon is not None:
        given["skip"] = True
    if terms.features is not None:
        given["features"] = {"length": list(terms.features), "code": None}
    return given


def periods_as_given(periods: Periods) -> dict[str, Any]:
    return {"every": periods.every, "time_zone": periods.zone, "carry": periods.carry}


def in_rows(table: tuple[tuple[int, ...], ...]) -> list[list[str]]:
    return [[written(units) for units in row] for row in table]


def attempt(call: Callable[[], Any]) -> Any:
    """What a call answers, or why it was refused."""
    try:
        return call()
    except PurseError as error:
        return error


def in_text(receipt: reference_ledger.Receipt) -> tuple[Any, ...]:
    amounts = (
        tuple(map(written, units)) for units in (receipt.spent, receipt.refunded, receipt.overrun)
    )
    return receipt.ticket, receipt.state, receipt.duplicate, receipt.late, *amounts


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

    def receives(self, call: Callable[[], Any], expected: Callable[[], Any]) -> None:
        """A call gets the receipt that the ledger gives, or is refused as the ledger refuses."""
        if answers := self.same(call, expected):
            assert answers[0] == in_text(answers[1])

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
            assert (None if ticket.skipped else ticket.arm) == arm
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
        assert [astuple(purse) for purse in status.purses] == ledger.purses()
        assert status.counts == ledger.counts()
        assert (status.rounds, status.entries) == (ledger.rounds, ledger.entries)
        rounds = f"{ledger.rounds} round{'s' * (ledger.rounds != 1)}"
        by_policy = status.why.endswith(f"has ended the game after {rounds}")
        assert status.status == ("ended" if by_policy else ledger.state()), status.why
        assert bool(status.why) == (status.status != "running")
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
        assert {(each.key, each.value): astuple(each)[2:7] for each in sums} == ledger.labels()

    def period_agrees(self, status: Any, level: Level) -> None:
        """The period as of now, whether or not its boundary was made."""
        expected, shown = level.in_period(), status.period
        assert (shown is None) == (expected is None)
        if shown is not None:
            when = (shown.number, shown.begun_at, shown.ends_at, shown.rounds)
            said = (*when, shown.allowance, shown.carried, shown.spent)
            assert said == expected, (said, expected)

    def arms_agree(self, status: Any) -> None:
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
