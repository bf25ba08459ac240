from __future__ import annotations

from purse.lab.theory.bound import Bound, Setting

RANDOM_COSTS, PER_ARM, ONE_COST = (Setting(True, costs) for costs in ("any", "per arm", "one"))


def value(bound: Bound) -> float:
    assert bound.value is not None
    return bound.value
