"""Random terms and reports for campaigns, and answers in a form that can be compared."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from purse import PurseError
from tests.support import reference_ledger
from tests.support.reference_ledger import Terms, written

LIFE = 60_000  # ms until a ticket expires
UNIFORM, INITIAL = "uniform", "primal-dual-bwk"
BAD_REPORTS: list[tuple[Any, Any]] = [
    (-0.1, 1),
    (1.5, 1),
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
rewards = st.lists(st.sampled_from([0.0, 0.25, 1.0]), min_size=2, max_size=2)
# thousandths of the way from least to most
shares = st.lists(st.sampled_from([1000, 0, 500, -1, 1001, 1500, -1000]), min_size=4, max_size=4)


@st.composite
def all_terms(draw: st.DrawFn, policy: str) -> Terms:
    n_arms = draw(st.sampled_from([2, 3, 1]))
    plays = draw(st.sampled_from([1, min(2, n_arms)])) if policy == UNIFORM else 1
    n_resources = draw(st.sampled_from([1, 2]))
    least = tuple(
        tuple(draw(st.sampled_from([100_000_000, 333_333_333, 1])) for _ in range(n_resources))
        for _ in range(n_arms)
    )
    most = tuple(
        tuple(units + draw(st.sampled_from([700_000_000, 1, 0, 5])) for units in arm)
        for arm in least
    )
    dearest = [plays * max(column) for column in zip(*most, strict=True)]
    budget = tuple(
        max(
            1, cost * draw(st.sampled_from([7, 3, 13, 25])) // 2 + draw(st.sampled_from([0, 1, -1]))
        )
        for cost in dearest
    )
    return Terms(
        arms=("red", "green", "blue")[:n_arms],
        resources=("euros", "hours")[:n_resources],
        budget=budget,
        least=least,
        most=most,
        plays=plays,
        horizon=draw(st.sampled_from([None, None, None, 6])),
        expires_after=draw(st.sampled_from([LIFE, LIFE, None])),
        on_expiry=draw(st.sampled_from(["presume", "presume", "release"])),
        initial=n_arms if policy == INITIAL else 0,
    )


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
