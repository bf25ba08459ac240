"""The reference ledger itself, held against steps that were worked out by hand: accounts, periods
and the calendar.
"""

from datetime import datetime

import pytest

from tests.support.reference_ledger import (
    Account,
    Drawn,
    Ledger,
    Periods,
    Refusal,
    Report,
    Terms,
    written,
)
from tests.support.reference_terms import following, instant

UNIT = 10**9
HOUR, DAY = 3_600_000, 86_400_000  # ms
NEW_YEAR = 1_767_225_600_000  # 2026-01-01T00:00Z, a Thursday


class Clock:
    """Shows what a test says."""

    def __init__(self, now: int = NEW_YEAR) -> None:
        self.now = now

    def __call__(self) -> int:
        return self.now


def utc(text: str) -> int:
    return round(datetime.fromisoformat(f"{text}+00:00").timestamp() * 1000)


def ledger(
    clock: Clock, budget: int, account: Account | None = None, periods: Periods | None = None
) -> Ledger:
    """Of a campaign with one arm that costs at most 2."""
    terms = Terms(
        ("red",), ("euros",), (budget * UNIT,), ((1,),), ((2 * UNIT,),), cooldown=None,
        expires_after=HOUR, periods=periods,
    )  # fmt: skip
    return Ledger(terms, clock, account)


def ask(ledger: Ledger, n: int = 1) -> int:
    """Tickets of its only arm; the number of the last."""
    ledger.begin()
    ledger.open_for_asks(None)
    if refusal := ledger.refusal(None):
        raise refusal
    for _ in range(n):
        number = len(ledger.tickets) + 1
        drawn = Drawn(number, ledger.rounds + 1, 0, 1.0)
        ledger.issue([drawn], 1, None, None, evenly=True)
    return number


def tell(ledger: Ledger, ticket: int, cost: int) -> None:
    ledger.tell(ticket, Report(0.5, (cost * UNIT,)))


def why(ledger: Ledger) -> str:
    with pytest.raises(Refusal) as caught:
        ask(ledger)
    return str(caught.value.args[0])


def purse(level: Ledger | Account) -> str:
    """Budget, spent, held, presumed, left and overrun."""
    return " ".join(level.purses()[0][1:])


def test_a_hold_must_fit_on_every_level() -> None:
    clock = Clock()
    company = Account("company", ("euros",), (6 * UNIT,), clock)
    team = Account("team", ("euros",), (4 * UNIT,), clock, company)
    one, two = ledger(clock, 100, team), ledger(clock, 3, team)
    ask(one)
    assert (one.room, two.room) == ([2 * UNIT], [2 * UNIT])
    ask(two)  # the team has nothing left now, the company 2, the second campaign 1
    assert [purse(each) for each in (company, team, one, two)] == [
        "6 0 4 0 2 0", "4 0 4 0 0 0", "100 0 2 0 98 0", "3 0 2 0 1 0",
    ]  # fmt: skip
    assert (why(one), why(two)) == ("BudgetHeld", "BudgetHeld")
    tell(two, 1, 3)  # 1 of it overrun
    tell(one, 1, 1)
    assert [purse(each) for each in (company, team, one, two)] == [
        "6 4 0 0 2 1", "4 4 0 0 0 1", "100 1 0 0 99 0", "3 3 0 0 0 1",
    ]  # fmt: skip
    assert (why(one), why(two)) == ("BudgetExhausted", "BudgetExhausted")
    team.top_up((2 * UNIT,), None)
    ask(one)
    assert [purse(each) for each in (company, team, one)] == [
        "6 4 2 0 0 1", "6 4 2 0 0 1", "100 1 2 0 97 0",
    ]  # fmt: skip
    assert (why(one), why(two)) == ("BudgetHeld", "BudgetExhausted")
    assert (company.entries, team.entries) == (1, 2)  # created; topped up


def test_an_account_has_no_entries_for_what_campaigns_below_it_do() -> None:
    clock = Clock()
    team = Account("team", ("euros",), (9 * UNIT,), clock)
    one = ledger(clock, 9, team)
    ask(one)
    one.reward(1, 0.5)
    with pytest.raises(Refusal, match="Conflict"):
        one.reward(1, 0.25)
    one.top_up((UNIT,), None)
    assert (one.entries, team.entries) == (5, 1)
    clock.now += HOUR
    one.expire()
    assert (purse(team), team.entries) == ("9 0 0 2 7 0", 1)
    one.void(1)
    one.settle(1, (UNIT,))
    assert (purse(team), team.entries) == ("9 1 0 0 8 1", 1)


def test_an_account_that_is_paused_refuses_asks_and_takes_reports() -> None:
    clock = Clock()
    company = Account("company", ("euros",), (9 * UNIT,), clock)
    one = ledger(clock, 9, Account("team", ("euros",), (9 * UNIT,), clock, company))
    ask(one)
    company.switch("paused")
    assert why(one) == "CampaignPaused"
    tell(one, 1, 1)
    company.switch("running")
    ask(one)
    company.switch("ended")
    assert why(one) == "CampaignEnded"
    tell(one, 2, 1)
    assert purse(company) == "9 2 0 0 7 0"
    with pytest.raises(Refusal, match="CampaignEnded"):
        company.top_up((1,), None)


CARRIES = [
    # 10 a day; one ticket of 2 is out at midnight, 3 are spent: 5 are left
    ("all", "20 3 2 0 15 0", "20 4 0 0 16 0"),
    ("none", "15 3 2 0 10 0", "14 4 0 0 10 0"),  # 5 dropped, then 1 of the hold's rest
]


@pytest.mark.parametrize("above", [False, True])
@pytest.mark.parametrize(("carry", "at_midnight", "at_last"), CARRIES)
def test_what_is_left_is_carried_as_the_terms_say(
    carry: str, at_midnight: str, at_last: str, above: bool
) -> None:
    """Of a campaign, and of an account above one that has no periods."""
    clock, periods = Clock(NEW_YEAR + HOUR), Periods("day", carry=carry)
    if above:
        level: Account | Ledger = Account("t", ("euros",), (10 * UNIT,), clock, renewed=periods)
        assert isinstance(level, Account)
        one = ledger(clock, 100, level)
    else:
        level = one = ledger(clock, 10, periods=periods)
    ask(one, 3)
    tell(one, 1, 1)
    tell(one, 2, 2)
    assert purse(level) == "10 3 2 0 5 0"
    clock.now = NEW_YEAR + DAY - 1
    assert purse(level) == "10 3 2 0 5 0"
    clock.now += 1
    entries = level.entries
    assert purse(level) == at_midnight  # nobody has made the boundary yet
    tell(one, 3, 1)
    assert purse(level) == at_last
    assert (level.period and level.period.number) == 2
    assert level.entries == entries + (1 if above else 2)
    ask(one)
    one.void(4)  # of this period: all comes back
    assert purse(level) == at_last


def test_one_that_sleeps_makes_all_boundaries_in_order() -> None:
    clock = Clock()
    one = ledger(clock, 10, periods=Periods("6h", carry="none"))
    ask(one)
    clock.now += 25 * HOUR
    assert [period.next - NEW_YEAR for _, period, _ in one.due()] == [
        12 * HOUR, 18 * HOUR, 24 * HOUR, 30 * HOUR,
    ]  # fmt: skip
    # 8 left are dropped, then 10 three times; the hold stays
    assert purse(one) == "12 0 2 0 10 0"
    one.expire()
    # it was asked for in an ended period: nothing of the rest is kept
    tell(one, 1, 1)
    assert (purse(one), one.period and one.period.number) == ("11 1 0 0 10 0", 5)


def test_a_clock_that_goes_back_makes_no_boundary_twice() -> None:
    clock = Clock(NEW_YEAR + HOUR)
    one = ledger(clock, 10, periods=Periods("day"))
    clock.now = NEW_YEAR + DAY
    ask(one)
    clock.now -= 2 * HOUR
    assert purse(one) == "20 0 2 0 18 0"
    ask(one)
    one.switch("paused")
    one.switch("running")
    clock.now += 2 * HOUR
    one.expire()
    assert purse(one) == "20 0 2 2 16 0"
    clock.now = NEW_YEAR + 3 * DAY
    assert (purse(one), len(one.due())) == ("40 0 2 2 36 0", 2)
    clock.now = NEW_YEAR + DAY  # what was only looked at has not been made
    assert purse(one) == "20 0 2 2 16 0"


def test_nothing_is_renewed_while_it_is_paused() -> None:
    clock = Clock(NEW_YEAR + HOUR)
    one = ledger(clock, 10, periods=Periods("day"))
    clock.now += DAY
    one.switch("paused")  # after the boundary
    assert purse(one) == "20 0 0 0 20 0"
    clock.now += 3 * DAY
    one.expire()
    assert purse(one) == "20 0 0 0 20 0"
    one.switch("running")
    assert (purse(one), one.period and one.period.next) == ("20 0 0 0 20 0", NEW_YEAR + 5 * DAY)
    clock.now = NEW_YEAR + 5 * DAY
    assert purse(one) == "30 0 0 0 30 0"
    one.switch("ended")
    clock.now += 7 * DAY
    assert purse(one) == "30 0 0 0 30 0"


def test_a_horizon_is_one_of_rounds_in_a_period() -> None:
    clock = Clock(NEW_YEAR + HOUR)
    terms = ledger(clock, 100).terms._replace(horizon=2, periods=Periods("day"))
    one = Ledger(terms, clock)
    ask(one, 2)
    assert why(one) == "HorizonReached"
    clock.now += DAY
    ask(one, 2)
    assert why(one) == "HorizonReached"
    assert written(one.held[0]) == "8"


ENDS = [
    ("day", "UTC", "2026-01-01T00:00", ["2026-01-02T00:00", "2026-01-03T00:00"]),
    ("week", "UTC", "2026-01-01T05:00", ["2026-01-05T00:00", "2026-01-12T00:00"]),
    ("month", "UTC", "2026-01-31T23:59", ["2026-02-01T00:00", "2026-03-01T00:00"]),
    # five hours behind, from 8 March four
    ("day", "America/New_York", "2026-03-07T12:00", ["2026-03-08T05:00", "2026-03-09T04:00"]),
    ("6h", "America/New_York", "2026-03-08T05:00", ["2026-03-08T11:00", "2026-03-08T17:00"]),
    # midnight is skipped in Beirut on 29 March, and comes twice in Havana on 1 November
    ("day", "Asia/Beirut", "2026-03-28T12:00", ["2026-03-28T22:00", "2026-03-29T21:00"]),
    ("day", "America/Havana", "2026-10-31T12:00", ["2026-11-01T04:00", "2026-11-02T05:00"]),
]


@pytest.mark.parametrize(("every", "zone", "created", "ends"), ENDS)
def test_when_periods_end(every: str, zone: str, created: str, ends: list[str]) -> None:
    at = utc(created)
    for end in ends:
        at = following(every, zone, utc(created), at)
        assert at == utc(end), f"{at - utc(end)} ms away from {end}"


def test_samoa_had_no_30_december() -> None:
    """A whole day is a gap, too."""
    assert instant(datetime(2011, 12, 30), "Pacific/Apia") == utc("2011-12-30T10:00")
