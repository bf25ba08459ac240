"""Random terms and reports for campaigns, and answers in a form that can be compared."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from purse import PurseError
from tests.support import reference_ledger
from tests.support.contexts import SEES
from tests.support.reference_ledger import Periods, Terms, written

LIFE = 60_000  # ms until a ticket expires
WITHIN = 90_000  # ms in which a reward has to come
DAY = 86_400_000  # ms
UNIFORM, INITIAL = "uniform", "primal-dual-bwk"
STARTS_WITH_PULLS = (INITIAL, SEES)  # policies that pull each arm once at first
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


@st.composite
def all_terms(draw: st.DrawFn, policy: str, resources: int | None = None) -> Terms:
    """Terms of a campaign, with so many resources where that is given."""
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
        initial=policy in STARTS_WITH_PULLS,
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


def as_text(receipt: Any) -> tuple[Any, ...]:
    return (
        receipt.ticket,
        receipt.state,
        receipt.duplicate,
        receipt.late,
        receipt.spent,
        receipt.refunded,
        receipt.overrun,
    )


def in_text(receipt: reference_ledger.Receipt) -> tuple[Any, ...]:
    amounts = (
        tuple(map(written, units)) for units in (receipt.spent, receipt.refunded, receipt.overrun)
    )
    return receipt.ticket, receipt.state, receipt.duplicate, receipt.late, *amounts
