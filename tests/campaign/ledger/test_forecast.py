"""A horizon from the times of asks: the formula, clocks, terms, what a campaign says of it."""

import math
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import numpy as np
import pytest

import purse
from purse import Campaign
from purse.campaign.ledger.forecast import _WEEK, Traffic, Window, _decay
from purse.campaign.rules import asks
from purse.campaign.terms.calendar import _HOUR, _find_zone
from purse.errors import BudgetExhausted, CampaignEnded, InvalidInput
from tests.support.campaigns import made, refusal
from tests.support.policies import compile_steps
from tests.support.soak import scale
from tests.support.storages import START, MemoryHarness

DAY = 24 * _HOUR
MONDAY = START // _WEEK * _WEEK + 4 * DAY  # after START, in UTC
BERLIN = "Europe/Berlin"
ARMS = {"small": "0.01", "middle": "0.1", "large": "1"}
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def planned(harness: MemoryHarness | None = None, **changes: Any) -> Campaign:
    terms = {"policy": "replan", "arms": ARMS, "cost_min": None, "budget": 40, "every": "week"}
    return made(harness, **{**terms, **changes})


def ask_at(harness: MemoryHarness, campaign: Campaign, at: int) -> Any:
    """Ask and tell; rewards are a function of arm and round."""
    harness.clock = at
    ticket = campaign.ask()
    if not ticket.skipped:
        reward = float(
            (ticket.t * 7919) % 100 < {"small": 30, "middle": 60, "large": 90}[ticket.arm]
        )
        campaign.tell(ticket, reward=reward, cost=ARMS[ticket.arm])
    return ticket


def written(campaign: Campaign) -> list[tuple[int, int]]:
    """When rounds were asked for, ms, and the rounds left that their entries have."""
    entries = campaign.journal()
    return [
        (round(entry.at), entry.body["rounds_left"]) for entry in entries if entry.kind == "asked"
    ]


# the formula


def nights_and_weekends(day: int, rng: np.random.Generator) -> list[int]:
    """Times of a day, ms: 12 busy hours, a few asks at night, a quarter at weekends."""
    part = 0.25 if day % 7 >= 5 else 1.0
    busy = 8 * _HOUR + 12 * _HOUR * rng.random(rng.poisson(24 * part))
    quiet = 24 * _HOUR * rng.random(rng.poisson(1))
    return sorted(int(at) for at in (*busy, *quiet))


def plain_forecast(
    times: list[int], window: Window, before: list[int], since: int, ahead: int
) -> float:
    """The formula of `forecast`, summed up from all times; the last ask is now."""

    def place(at: int) -> int:
        local = EPOCH + timedelta(milliseconds=at + ahead)
        return local.weekday() * 24 + local.hour

    def promised(start: int, end: int) -> float:
        if not before:
            return (end - start) / _HOUR
        step, total = _HOUR // 4, 0.0  # no difference to UTC here is finer
        at = start
        while at < end:
            part = min(step - at % step, end - at)
            total += part / _HOUR * rates[place(at)]
            at += part
        return total

    if before:
        seen, hours = [0.0] * 168, [0] * 168
        for at in range(since, window.begun, _HOUR // 4):
            seen[place(at)] += 0.25
        for at in before:
            hours[place(at)] += 1
        usual = len(before) * _HOUR / (window.begun - since) / 4
        rates = [(n + usual) / (e + 0.25) for n, e in zip(hours, seen, strict=True)]
    now, q = times[-1], (window.ends - window.begun) / 4
    a = sum(math.exp(-(now - at) / q) for at in times)
    w = 0.0
    for start, end in zip([window.begun, *times], times, strict=False):
        if end > start:
            mean = (math.exp(-(now - end) / q) - math.exp(-(now - start) / q)) * q / (end - start)
            w += promised(start, end) * mean
    whole = promised(window.begun, window.ends)
    k = min(30, whole / 4) if before else 0
    return (a + k) / (max(w, 0 if before else whole / 1000) + k) * promised(now, window.ends)


@pytest.mark.parametrize("ahead", [0, 3_600_000, -12_600_000])
def test_the_fold_is_the_formula(ahead: int) -> None:
    rng = np.random.default_rng(1)
    traffic = Traffic.begun_at(since := MONDAY + 5 * _HOUR, ahead)
    before: list[int] = []
    for number in range(3):  # the first period is short; weeks begin on a local Monday
        begun = since if number == 0 else MONDAY - ahead + number * _WEEK
        window = Window(begun, MONDAY - ahead + (number + 1) * _WEEK)
        times: list[int] = []
        for day in range(7):
            midnight = MONDAY - ahead + number * _WEEK + day * DAY
            for at in nights_and_weekends(day, rng):
                if midnight + at < begun:
                    continue
                times.append(midnight + at)
                traffic = traffic.after_ask(times[-1], window)
                if len(times) % 29 == 1:
                    expected = plain_forecast(times, window, before, since, ahead)
                    assert traffic.to_come(times[-1], window) == pytest.approx(expected, rel=1e-9)
        before += times
        traffic = traffic.next_period(window.ends, ahead)
    assert sum(traffic.before) == len(before)


@pytest.mark.parametrize("age", [0.0, 1e-12, 1e-3, 0.124, 0.126, 1.0, 7.3, 50.0, 127.0, 1e9])
def test_decay_is_the_exponential(age: float) -> None:
    assert _decay(age) == pytest.approx(math.exp(-age), rel=1e-11, abs=1e-55)


def test_the_first_ask_counts_as_one_in_a_thousandth_of_the_period() -> None:
    window = Window(START, START + 28 * DAY)
    new = Traffic.begun_at(START, 0)
    assert new.to_come(START, window) == 0
    assert new.after_ask(START, window).to_come(START, window) == pytest.approx(1000)
    several = new.after_ask(START, window).after_ask(START, window)
    assert several.to_come(START, window) == pytest.approx(2000)


def test_a_clock_that_goes_back() -> None:
    window = Window(START, START + 28 * DAY)
    traffic = Traffic.begun_at(START, 0).after_ask(START + 10 * _HOUR, window)
    # by less than an hour: no time passes until the clock is there again
    back = traffic.after_ask(START + 9 * _HOUR + 1, window)
    assert (back.last, back.asks, back.promised) == (traffic.last, 2.0, traffic.promised)
    assert back.as_of(START + 10 * _HOUR, window) == back
    # by more: it goes on from there
    ahead = traffic.after_ask(START + 9 * _HOUR - 1, window)
    assert (ahead.last, ahead.asks, ahead.promised) == (
        START + 9 * _HOUR - 1,
        2.0,
        traffic.promised,
    )


def test_periods_without_asks() -> None:
    """Such periods are no history at first; later they are."""
    begun = START + 7 * DAY
    nothing = Traffic.begun_at(START, 0).next_period(begun, 3)
    assert nothing == Traffic.begun_at(begun, 3)
    some = nothing.after_ask(begun, Window(begun, begun + _WEEK)).next_period(begun + _WEEK, 3)
    idle = some.next_period(begun + 2 * _WEEK, 0)
    assert (idle.since, idle.before, idle.ahead) == (begun, some.before, 0)
    window = Window(begun + 2 * _WEEK, begun + 3 * _WEEK)
    assert idle.to_come(window.begun, window) == pytest.approx(0.5, rel=0.2)


def test_hours_stay_local_through_summer_time() -> None:
    """Asks at 9 in Berlin, in winter and in summer, are one hour of the week."""
    harness = MemoryHarness()
    harness.clock = int(datetime(2027, 3, 15, tzinfo=_find_zone(BERLIN)).timestamp() * 1000)
    campaign = planned(harness, every="day", time_zone=BERLIN)
    for day in range(17):
        local = datetime(2027, 3, 15, 9, 30, tzinfo=_find_zone(BERLIN)) + timedelta(days=day)
        ask_at(harness, campaign, int(local.timestamp() * 1000))
    traffic = campaign._here().campaign.traffic
    hours = [place % 24 for place, n in enumerate(traffic.before) for _ in range(n)]
    # on 28 March 2027 clocks change at 2: hours are those of the midnight before
    assert hours == [*[9] * 15, 8] or sorted(hours) == [8, *[9] * 15]
    assert traffic.ahead == 2 * _HOUR
    assert campaign.audit(full=True).findings == ()


# campaigns


def test_two_periods_of_nights_and_weekends() -> None:
    harness, rng = MemoryHarness(), np.random.default_rng(2)
    harness.clock = MONDAY - _HOUR
    campaign = planned(harness, time_zone=BERLIN)
    assert campaign.terms.horizon == "traffic"
    times = [
        MONDAY - _HOUR + day * DAY + at for day in range(14) for at in nights_and_weekends(day, rng)
    ]
    for number, at in enumerate(times):
        if number % 50 == 7:
            campaign = harness.open("test")  # as another process
        ask_at(harness, campaign, at)
    rows = written(campaign)
    assert [at for at, _ in rows] == times
    first = [at for at in times if at < MONDAY - _HOUR + _WEEK]
    for begun, own, before in (
        (MONDAY - _HOUR, first, []),
        (MONDAY - _HOUR + _WEEK, times[len(first) :], first),
    ):
        window = Window(begun, begun + _WEEK)
        for n in range(1, len(own), 17):
            expected = plain_forecast(own[:n], window, before, MONDAY - _HOUR, _HOUR)
            assert dict(rows)[own[n - 1]] == pytest.approx(1 + expected, abs=0.51, rel=1e-9)
    harness.clock = START + 5_000 * DAY  # an audit looks at no clock
    campaign = harness.open("test")
    harness.drop_checkpoints("test")
    found = campaign.audit(full=True)
    assert (found.findings, found.notes) == ((), ())


def test_an_audit_finds_another_forecast(monkeypatch: pytest.MonkeyPatch) -> None:
    harness = MemoryHarness()
    campaign = planned(harness)
    ask_at(harness, campaign, START + _HOUR)
    with monkeypatch.context() as patched:
        patched.setattr(asks, "_rounds_left", lambda _: 77)
        ask_at(harness, campaign, START + 2 * _HOUR)
    (finding,) = campaign.audit(full=True).findings
    assert '"rounds_left":77' in finding.partition("and is")[2]


def test_asks_beyond_the_forecast_are_answered() -> None:
    harness = MemoryHarness()
    campaign = planned(harness, every=None, until="2027-01-16T08:00")
    end = START + DAY
    for _ in range(5):
        ask_at(harness, campaign, end - 1)
    # five of 24 hours, and a millisecond to come
    assert written(campaign)[-1] == (end - 1, 1)
    assert campaign.status().forecast.requests == 0
    harness.clock = end
    refusal(CampaignEnded, campaign.ask)
    assert campaign.status().forecast is None
    assert campaign.audit(full=True).ok


@pytest.mark.parametrize(
    ("terms", "horizon"),
    [
        ({}, "traffic"),
        ({"every": None, "until": "2028-01-01"}, "traffic"),
        ({"every": None}, None),
        ({"horizon": None}, None),
        ({"horizon": 70}, 70),
        ({"horizon": "traffic"}, "traffic"),
        ({"policy": "exp3.bwk"}, None),
        ({"policy": "replan:scale=1"}, "traffic"),
    ],
)
def test_which_horizon_a_campaign_has(terms: dict[str, Any], horizon: Any) -> None:
    harness = MemoryHarness()
    campaign = planned(harness, **terms)
    assert campaign.terms.horizon == horizon
    assert campaign.status().horizon == (horizon if horizon == 70 else None)
    campaign.ask()
    assert all(
        ("rounds_left" in e.body) == (horizon == "traffic") for e in list(campaign.journal())[1:]
    )


@pytest.mark.parametrize(
    ("terms", "allowed"),
    [
        ({"horizon": "traffic", "every": None}, "needs an end: every='month' or until="),
        ({"horizon": "weather"}, "must be a whole number from 1"),
        ({"horizon": 0}, "must be a whole number from 1"),
        ({"horizon": "traffic", "policy": "exp3.bwk"}, "exp3.bwk cannot plan with a forecast"),
    ],
)
def test_horizons_that_are_refused(terms: dict[str, Any], allowed: str) -> None:
    assert allowed in refusal(InvalidInput, partial(planned, **terms))


# what a campaign says of it


def spend(harness: MemoryHarness, campaign: Campaign, at: int, cost: str, n: int) -> None:
    """Ask n times, an hour of the period apart, at this cost each."""
    for step in range(n):
        harness.clock = at + step * _HOUR // 2
        campaign.tell(campaign.ask(), reward=1, cost=cost)


@pytest.mark.parametrize(("cost", "affords"), [("0.01", 3860), ("0.2", 60), ("0.12", 193)])
def test_status_and_alert(cost: str, affords: int) -> None:
    harness = MemoryHarness()
    campaign = planned(
        harness, arms={"only": 1}, cost_min="0.01", every="168h", alerts=["forecast"]
    )
    assert campaign.status().forecast is None
    assert "forecast:" not in str(campaign.status())
    spend(harness, campaign, START, cost, 140)
    status = campaign.status()
    assert status.forecast is not None
    assert status.forecast.requests == pytest.approx(336 - 140, abs=3)
    assert status.forecast.affords == affords
    assert status.forecast.until == START / 1000 + 7 * 86_400
    assert f"money for about {affords:,} at what one has cost" in str(status)
    events = [entry.body for entry in campaign.journal() if entry.kind == "event"]
    if cost == "0.12":  # as much as there is
        assert events == []
    else:  # from the hundredth ask on, once a day
        assert [event["key"].split("/")[0] for event in events] == ["forecast:0"] * 2
        assert events[0]["requests"] == pytest.approx(236, abs=6)
        assert events[1]["affords"] == pytest.approx(affords, rel=0.6)
    assert campaign.audit(full=True).ok


# what it earns


def test_a_forecast_earns_what_the_number_does() -> None:
    """Steady traffic that is not told, in a first period: 5, 20 and 50% of the dearest arm."""
    rewards, costs = np.array([0.35, 0.5, 0.65, 0.8, 0.9]), np.array([0.01, 0.05, 0.15, 0.4, 1])
    window, paths = Window(START, START + 28 * DAY), scale(6, 60)
    shares = []
    for part in (0.05, 0.2, 0.5):
        gains = np.zeros((2, paths))
        for path in range(paths):
            rng = np.random.default_rng(path)
            n = rng.poisson(1_000)
            times = START + np.sort(rng.integers(28 * DAY, size=n))
            draws = rng.random((n, 5)) < rewards
            for told in (0, 1):
                live = purse.Policy(
                    n_arms=5, budget=round(part * n, 2), cost_min=costs, cost_max=costs,
                    costs=costs, horizon=n if told else "forecast", stop="fit", seed=path,
                )  # fmt: skip
                compile_steps(live)
                traffic = Traffic.begun_at(START, 0)
                for t, at in enumerate(times.tolist()):
                    traffic = traffic.after_ask(at, window)
                    left = 1 + round(traffic.to_come(at, window))
                    try:
                        ticket = live.ask() if told else live.ask(rounds_left=left)
                    except BudgetExhausted:
                        break
                    if not ticket.skipped:
                        live.tell(ticket, float(draws[t, ticket.arm]), costs[ticket.arm])
                gains[told, path] = live.gain
        shares.append(gains[0] / gains[1])
    assert np.mean(shares) > 0.93
    assert np.mean(shares, axis=1).min() > 0.93 - 2 * np.std(shares) / math.sqrt(paths)
