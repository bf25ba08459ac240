from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

import purse
from purse import worlds
from purse.lab.theory import bounds
from purse.lab.theory.bound import Setting
from purse.lab.theory.bounds import (
    for_world,
    kappa,
    proposition_a,
    proposition_c,
    refuted_from,
    table,
    theorem1,
    theorem2,
    theorem3,
    theorem4,
    theorem5,
    two_worlds,
)
from tests.support.bounds import ONE_COST

TWO_RESOURCES = "bernoulli:rewards=[.9,.6],costs=[[.8,.1],[.3,.2]]"
ABOVE_0 = "must be a number above 0"
WHOLE = "must be a whole number from 1 to 1000000000"
AT_MOST_1 = "must be a number at least 0 and at most 1"
AT_LEAST_NANO = "must be a number at least 1e-09 and at most 1"
KINDS = "must be one of 'any', 'per arm', 'one'"
POLICIES = r"must be one of 'exp3.bwk', 'exp3\+\+.bwk'"
CONSTANTS = "must be one of 'statement', 'proof', 'derived'"
GAMMAS = "must be 'theorem', 'proof' or a number from 0 to 1"


@pytest.mark.parametrize(
    ("call", "given", "allowed"),
    [
        (lambda: theorem1(0, 100, 0.5), "n_arms=0", WHOLE),
        (lambda: theorem1(2.5, 100, 0.5), "n_arms=2.5", WHOLE),
        (lambda: theorem4(True, 100, 0.5), "n_arms=True", WHOLE),
        (lambda: proposition_a(10**9 + 1, 100, 0.5), "n_arms=1000000001", WHOLE),
        (lambda: theorem1(2, 0, 0.5), "budget=0", ABOVE_0),
        (lambda: theorem2(2, -1, 0.5), "budget=-1", ABOVE_0),
        (lambda: theorem1(2, math.inf, 0.5), "budget=inf", ABOVE_0),
        (lambda: theorem1(2, "100", 0.5), "budget='100'", ABOVE_0),
        (
            lambda: theorem2(2, 1.1e30, 0.5, form="corrected"),
            r"budget=1\.1e\+30",
            rf"{ABOVE_0} and at most 1e\+30",
        ),
        (lambda: table(2, 1e31, 0.5), r"budget=1e\+31", rf"{ABOVE_0} and at most 1e\+30"),
        (lambda: theorem1(2, 100, 0), "cost_min=0", ABOVE_0),
        (lambda: proposition_a(2, 100, -0.5), "cost_min=-0.5", ABOVE_0),
        (lambda: proposition_c(2, 100, math.nan), "cost_min=nan", ABOVE_0),
        (lambda: theorem3([1], 100, 1.5), "cost_min=1.5", "must be at most cost_max=1.0"),
        (lambda: two_worlds(100, 3, cost_max=2), "cost_min=3", "must be at most cost_max=2"),
        (
            lambda: theorem1(2, 100, 9e-10),
            "cost_min=9e-10",
            "must be at most cost_max=1.0, and at least 1e-09 of it",
        ),
        (
            lambda: theorem4(2, 100, 1e-6, cost_max=1e4),
            "cost_min=1e-06",
            "must be at most cost_max=10000.0, and at least 1e-09 of it",
        ),
        (lambda: theorem3([0.5, 0], 100, 0.5), "gap=0", ABOVE_0),
        (lambda: theorem3([-1], 100, 0.5), "gap=-1", ABOVE_0),
        (lambda: theorem3([math.nan], 100, 0.5), "gap=nan", ABOVE_0),
        (lambda: table(2, 100, 0.5, gaps=[0]), "gap=0", ABOVE_0),
        (lambda: theorem4(2, 100, 0.5, cost_max=0), "cost_max=0", ABOVE_0),
        (
            lambda: theorem2(2, 100, 0.5, form="right"),
            "form='right'",
            "must be one of 'stated', 'corrected'",
        ),
        (lambda: theorem2(2, 100, 0.5, form="corrected", scale=0), "scale=0", ABOVE_0),
        (lambda: theorem4(2, 100, 0.5, constant="best"), "constant='best'", CONSTANTS),
        (lambda: theorem5(0), "budget=0", ABOVE_0),
        (lambda: theorem5(math.nan), "budget=nan", ABOVE_0),
        (lambda: theorem5(100, 1.5), "alpha=1.5", AT_MOST_1),
        (lambda: kappa(0), "cost_min=0", f"{ABOVE_0} and at most 1"),
        (lambda: kappa(1.1), "cost_min=1.1", f"{ABOVE_0} and at most 1"),
        (lambda: refuted_from(0), "cost_min=0", AT_LEAST_NANO),
        (lambda: refuted_from(2), "cost_min=2", AT_LEAST_NANO),
        (lambda: refuted_from(1, constant=-1), "constant=-1", ABOVE_0),
        (lambda: theorem5(0.5, 7), "alpha=7", AT_MOST_1),
        (lambda: refuted_from(0.5, constant=0), "constant=0", ABOVE_0),
        (lambda: refuted_from(0.5, constant=-6), "constant=-6", ABOVE_0),
        (lambda: refuted_from(0.5, constant=math.inf), "constant=inf", ABOVE_0),
        (lambda: proposition_a(2, 100, 0.5, policy="uniform"), "policy='uniform'", POLICIES),
        (lambda: proposition_c(2, 100, 0.5, policy="uniform"), "policy='uniform'", POLICIES),
        (lambda: proposition_a(2, 100, 0.5, gamma="best"), "gamma='best'", GAMMAS),
        (lambda: proposition_a(2, 100, 0.5, gamma=1.5), "gamma=1.5", AT_MOST_1),
        (lambda: proposition_c(2, 100, 0.5, gamma=-1, setting=ONE_COST), "gamma=-1", AT_MOST_1),
        (lambda: table(2, 100, 0.5, setting=Setting(True, "few")), "costs='few'", KINDS),
        (lambda: bounds.proved(Setting(True, "One")), "costs='One'", KINDS),
        (lambda: theorem1(2, 100, 0.5, setting=Setting(False, "few")), "costs='few'", KINDS),
        (lambda: theorem4(2, 100, 0.5, setting=Setting(False, "few")), "costs='few'", KINDS),
        (
            lambda: proposition_c(2, 9, 1, setting=Setting(False, "per-arm")),
            "costs='per-arm'",
            KINDS,
        ),
        (lambda: for_world(worlds.bernoulli([0.5], [0.5]), -1), "budget=-1", ABOVE_0),
    ],
)
def test_bad_numbers_are_refused(call: Callable[[], Any], given: str, allowed: str) -> None:
    with pytest.raises(purse.InvalidInput, match=f"^{given}: {allowed}") as error:
        call()
    assert len(str(error.value).splitlines()) == 1


@pytest.mark.parametrize(
    ("world", "message"),
    [
        (TWO_RESOURCES, "^bernoulli:.* has 2 resources; these bounds are for one"),
        ("bernouli", "^unknown world 'bernouli'; did you mean 'bernoulli'"),
        (worlds.example("ad_slots"), "has 2 resources"),
        (worlds.example("pricing"), "pulls that cost nothing"),
    ],
)
def test_no_bounds_for_several_resources_or_free_pulls(world: str, message: str) -> None:
    with pytest.raises(purse.InvalidInput, match=message) as error:
        for_world(world, 100)
    assert len(str(error.value).splitlines()) == 1
