"""What bounds and optima refuse: the call, and how the message begins."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import purse
from purse import worlds
from purse.lab.theory import bounds, coin_bounds, contexts, fluid, knapsack, published_bounds
from purse.lab.theory.bound import Setting, problem_of
from purse.lab.theory.knapsack import bounded, dynamic_optimum, exact, greedy
from purse.worlds.bernoulli import bernoulli

ABOVE_0 = "must be a number above 0"
AT_LEAST_0 = "must be a number at least 0"
WHOLE = "must be a whole number from 1 to 1000000000"
AT_MOST_1 = f"{AT_LEAST_0} and at most 1"
AT_LEAST_NANO = "must be a number at least 1e-09 and at most 1"
KINDS = "must be one of 'any', 'per arm', 'one'"
POLICIES = r"must be one of 'exp3.bwk', 'exp3\+\+.bwk'"
TWO_RESOURCES = "bernoulli:rewards=[.9,.6],costs=[[.8,.1],[.3,.2]]"
KNOWN = ".*is for worlds that are tables of one resource, in a known order"
OUTAGES = worlds.outages(worlds.class_contexts(2, arms=2), [[1, 0], [0, 1]], segments=[1, 1])
EMPTY = contexts.ContextTable(np.ones((2, 2)), np.ones((2, 2, 1)), np.ones((2, 1, 1)))
Call = Callable[[], Any]
theorem1, theorem2, theorem3 = bounds.theorem1, bounds.theorem2, bounds.theorem3
theorem4, theorem5, table = bounds.theorem4, bounds.theorem5, bounds.table
proposition_a, proposition_c = bounds.proposition_a, bounds.proposition_c
BOUNDS: list[tuple[Call, str]] = [
    # the problem, which all bounds share
    (lambda: theorem1(0, 100, 0.5), f"n_arms=0: {WHOLE}"),
    (lambda: proposition_a(10**9 + 1, 100, 0.5), f"n_arms=1000000001: {WHOLE}"),
    (lambda: theorem1(2, 0, 0.5), f"budget=0: {ABOVE_0}"),
    (lambda: table(2, 1e31, 0.5), rf"budget=1e\+31: {ABOVE_0} and at most 1e\+30"),
    (lambda: theorem1(2, 100, 0), f"cost_min=0: {ABOVE_0}"),
    (lambda: theorem3([1], 100, 1.5), "cost_min=1.5: must be at most cost_max=1.0"),
    (lambda: bounds.two_worlds(100, 3, cost_max=2), "cost_min=3: must be at most cost_max=2"),
    (
        lambda: theorem4(2, 100, 1e-6, cost_max=1e4),
        "cost_min=1e-06: must be at most cost_max=10000.0, and at least 1e-09 of it",
    ),
    (lambda: theorem4(2, 100, 0.5, cost_max=0), f"cost_max=0: {ABOVE_0}"),
    # what each needs besides
    (lambda: table(2, 100, 0.5, gaps=[1, 0]), f"gap=0: {ABOVE_0}"),
    (lambda: theorem2(2, 9, 0.5, form="right"), "form='right': must be one of 'stated', 'correct"),
    (lambda: theorem2(2, 9, 0.5, form="corrected", scale=0), f"scale=0: {ABOVE_0}"),
    (
        lambda: theorem4(2, 100, 0.5, constant="best"),
        "constant='best': must be one of 'statement', 'proof', 'derived'",
    ),
    (lambda: theorem5(0), f"budget=0: {ABOVE_0}"),
    (lambda: theorem5(0.5, 7), f"alpha=7: {AT_MOST_1}"),
    (lambda: bounds.kappa(1.1), f"cost_min=1.1: {ABOVE_0} and at most 1"),
    (lambda: bounds.refuted_from(0), f"cost_min=0: {AT_LEAST_NANO}"),
    (lambda: bounds.refuted_from(1, constant=-1), f"constant=-1: {ABOVE_0}"),
    (lambda: proposition_a(2, 9, 0.5, policy="uniform"), f"policy='uniform': {POLICIES}"),
    (lambda: proposition_c(2, 9, 0.5, policy="uniform"), f"policy='uniform': {POLICIES}"),
    (
        lambda: proposition_a(2, 9, 0.5, gamma="best"),
        "gamma='best': must be 'theorem', 'proof' or a number from 0 to 1",
    ),
    (
        lambda: proposition_c(2, 9, 0.5, gamma=-1, setting=Setting(True, "one")),
        f"gamma=-1: {AT_MOST_1}",
    ),
    (lambda: table(2, 100, 0.5, setting=Setting(True, "few")), f"costs='few': {KINDS}"),
    # worlds
    (lambda: problem_of(TWO_RESOURCES, 9), "bernoulli:.* has 2 resources; these bounds are"),
    (lambda: problem_of("bernouli", 9), "unknown world 'bernouli'; did you mean 'bernoulli'"),
    (lambda: problem_of(worlds.example("pricing"), 9), ".*pulls that cost nothing"),
    # `tsallis-inf.coin` and other policies
    (lambda: coin_bounds.stationary(2, 10, 0.5, deviation=-1), f"deviation=-1: {AT_LEAST_0}"),
    (lambda: coin_bounds.with_price(2, 10, 0.5, 0), f"price_max=0: {ABOVE_0}"),
    (lambda: coin_bounds.own_clock(2, 9, 0.5, efficiency_max=0), f"efficiency_max=0: {ABOVE_0}"),
    (lambda: coin_bounds.with_gaps([0], 10, 0.5), "gap=0: must be a number"),
    (lambda: coin_bounds.bounded_efficiency(5, -1, 2, 10, 0.5), f"phi=-1: {AT_LEAST_0}"),
    (lambda: published_bounds.table(4, 100, 0.5, delta=0), f"delta=0: {ABOVE_0}"),
    (
        lambda: published_bounds.table(4, 100, 0.5, horizon=0),
        "horizon=0: must be a whole number from 1",
    ),
]
OPTIMA: list[tuple[Call, str]] = [
    (
        lambda: dynamic_optimum("bernoulli:rewards=[1],costs=[.1]", 1, horizon=2.5),
        "horizon=2.5: must be a whole number from 1 up$",
    ),
    (lambda: dynamic_optimum(TWO_RESOURCES, 3), KNOWN),
    (lambda: dynamic_optimum("table:rewards=[[1,0],[0,1]],costs=[.5,.5],shuffle=True", 3), KNOWN),
    (lambda: dynamic_optimum("class_contexts:classes=2", 1), KNOWN),
    (lambda: dynamic_optimum("bernoulli:rewards=[.9,.6],costs=[.5,0]", 3), "costs=0: must be pos"),
    (lambda: dynamic_optimum("bernouli", 3), ".*did you mean 'bernoulli'"),
    (lambda: dynamic_optimum(bernoulli([1], [0.5]), -1), "budget=-1: must be positive"),
    (lambda: dynamic_optimum(bernoulli([1], [0.5]), [1, 2]), ".*must be one positive number"),
    (lambda: fluid.lp_optimum("two_worlds", 10), "two_worlds has no means that stay the same"),
    (
        lambda: contexts.lp_with_contexts("bernoulli:rewards=[1],costs=[1]", 10),
        ".*has no features, so there are no contexts",
    ),
    (
        lambda: contexts.lp_with_contexts(OUTAGES, 10),
        ".*are for worlds that are tables of rows, without outages",
    ),
    (
        lambda: contexts.lp_with_contexts(EMPTY._replace(costs=EMPTY.costs[..., 0]), 1),
        ".*do not match: they must be",
    ),
    (
        lambda: contexts.lp_with_contexts(EMPTY._replace(costs=0 * EMPTY.costs), 1),
        ".*every pull must cost something",
    ),
    (
        lambda: contexts.hindsight_optimum("linear_contexts:horizon=None", 1),
        ".*the hindsight optimum needs a horizon",
    ),
]


@pytest.mark.parametrize(("call", "message"), [*BOUNDS, *OPTIMA])
def test_bad_input_is_refused_by_name_in_one_line(call: Call, message: str) -> None:
    with pytest.raises(purse.InvalidInput, match=f"^{message}") as error:
        call()
    assert len(str(error.value).splitlines()) == 1


KNAPSACKS: list[tuple[dict[str, Any], str]] = [
    ({"costs": [1]}, r"costs of shape \(1,\) do not match rewards of 2 arms"),
    ({"costs": [1, 1e-10]}, "costs=0: must be positive, at least 1e-9"),
    ({"costs": [[1, 1], [1, 1]]}, "costs: a knapsack has one resource"),
    ({"budget": 0}, "budget=0: must be positive, at least 1e-9"),
    ({"budget": [1, 2]}, r"budget=\[1, 2\]: must be one positive number"),
    ({"rewards": [], "costs": []}, r"rewards=\[\]: must have 1 dimension and at least one"),
    ({"rewards": [1, 1.5]}, "rewards=1.5: must lie between 0 and 1"),
]
CAPS: list[tuple[dict[str, Any], str]] = [
    ({"caps": [1, 2.5]}, "caps=2.5: must be a whole number from 0 up"),
    ({"caps": [1, 2, 3]}, r"caps=\[1, 2, 3\]: must be one number, or one for each of the 2"),
    ({"caps": None}, "caps=None: must be a whole number from 0 up"),
]


@pytest.mark.parametrize(
    ("solve", "given", "message"),
    [
        *((solve, *row) for solve in (greedy, exact) for row in KNAPSACKS),
        *((partial(bounded, **{"caps": 2}), *row) for row in (*KNAPSACKS, *CAPS)),
    ],
)
def test_a_knapsack_refuses_what_it_cannot_use(
    solve: Callable[..., float], given: dict[str, Any], message: str
) -> None:
    with pytest.raises(purse.InvalidInput, match=f"^{message}"):
        solve(**({"rewards": [1, 0.5], "costs": [1, 0.5], "budget": 3} | given))


FINE = "rewards=[{},{}],costs=[.5,.499999999]"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: exact([1, 1], [0.5, 0.499999999], 1), "budget=1: 1,000,000,000"),
        (lambda: bounded([1, 1], [0.5, 0.499999999], 1, 1), "budget=1: 1,000,000,000"),
        (lambda: dynamic_optimum(f"bernoulli:{FINE.format(1, 1)}", 1), "budget=1: 1,000,000,000"),
        (
            lambda: dynamic_optimum(f"table:{FINE.format([1, 0], [0, 1])}", 1),
            "budget=1: 1,000,000,000",
        ),
        # a single arm does not make 30 million steps few
        (lambda: exact([1], ["0.000000001"], "0.03"), "budget=0.03: 30,000,000"),
    ],
)
def test_too_many_steps_are_refused_before_they_are_taken(call: Call, message: str) -> None:
    assert knapsack._MOST_STEPS < 30_000_000 < knapsack._MOST_WORK
    steps = r"steps of 0\.000000001, the common divisor of all costs, are too many"
    with pytest.raises(purse.InvalidInput, match=f"^{message} {steps}$"):
        call()
    assert greedy(rewards=[1, 1], costs=[0.5, 0.499999999], budget=1) == 2


# 10 steps of 0.1, and the work that each takes
LIMITED: dict[str, tuple[Callable[[], float], int]] = {
    "2 arms": (lambda: exact([1, 1], [0.1, 0.2], 1), 20),
    # 1 + 2 + 2, no limit, nothing: 4 bundles
    "bundles": (lambda: bounded([1, 1, 1], [0.1, 0.2, 0.1], [5, 10**9, 0], 1), 40),
    "2 arms of 2 atoms": (lambda: dynamic_optimum("bernoulli:rewards=[1,.5],costs=[.1,.2]", 1), 40),
    # with the step of nothing left
    "3 rounds": (lambda: dynamic_optimum("table:rewards=[[1,0],[0,1],[1,1]],costs=[.1,.2]", 1), 66),
    # rounds may be skipped, so that all 50 count
    "a horizon": (
        lambda: dynamic_optimum(
            "switching:segments=1,rewards=[[1,0],[0,1]],costs=[.1,.2]", 1, horizon=50
        ),
        50 * 11 * 4,
    ),
}


@pytest.mark.parametrize("name", LIMITED)
def test_the_limits_count_work_and_memory(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    call, work = LIMITED[name]
    for limit, value in (("_MOST_WORK", work), ("_MOST_STEPS", 10)):
        with monkeypatch.context() as patch:
            patch.setattr(knapsack, limit, value)
            assert call() > 0
            patch.setattr(knapsack, limit, value - 1)
            message = r"^budget=1: 10 steps of 0\.1, the common divisor of all costs, are too many$"
            with pytest.raises(purse.InvalidInput, match=message):
                call()
