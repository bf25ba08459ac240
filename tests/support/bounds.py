"""What the tests of the bounds share."""

from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st

from purse.lab.theory.bound import Bound, Setting

STEADY = settings(max_examples=200, deadline=None, derandomize=True)
RANDOM_COSTS = Setting(True, "any")
PER_ARM = Setting(True, "per arm")
ONE_COST = Setting(True, "one")
ARMS, BUDGETS, COSTS = st.integers(2, 1000), st.floats(1, 1e8), st.floats(1e-3, 1)


def value(bound: Bound) -> float:
    assert bound.value is not None
    return bound.value
