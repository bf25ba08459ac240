"""What policies refuse, each in one line: plays, resources and caps that they cannot play, costs
that they must know, and options.
"""

from __future__ import annotations

import re
from itertools import product

import pytest

import purse
from tests.support.policies import refuses

KNOWN_COSTS = ["b-kube", "bounded-epsilon-first", "epsilon-first", "fractional-kube", "kube"]
ONE_PLAY = ["bobw-primal-dual", "elimination-race", "lagrange-bwk", "primal-dual-bwk", "sao"]
ONE_PLAY_ONE_RESOURCE = [*KNOWN_COSTS, "budgeted-thompson", "sw-ucb-bwk", "ucb-bwk"]
EPSILON, RADIUS = "bounded-epsilon-first epsilon-first", "primal-dual-bwk sw-ucb-bwk ucb-bwk"
PART = "must be a number above 0 and at most 1"
SHARE = "must be a number at least 0 and at most 1"


@pytest.mark.parametrize(
    ("names", "options", "allowed"),
    [
        ("bobw-primal-dual", "eta=0", "must be a number above 0"),
        ("bobw-primal-dual", "delta=2", PART),
        ("elimination-race", "delta=0 delta=-1 delta=1.5 delta=x", PART),
        (EPSILON, "epsilon=2 epsilon=-0.1", SHARE),
        (EPSILON, "epsilon=x", "must be 'theory' or a number from 0 to 1"),
        (EPSILON, "learn=never", "must be one of 'first', 'always'"),
        ("fixed", "arm=2 arm=-1 arm=0.5 arm=x", "must be a whole number from 0 to 1"),
        ("lagrange-bwk", "form=x", "must be one of 'stochastic', 'adversarial'"),
        ("lagrange-bwk", "delta=0", PART),
        (RADIUS, "c_rad=0", "must be a number above 0"),
        (RADIUS, "c_rad=x", "must be 'theory' or a positive number"),
        ("sao", "beta=1", "must be a number above 1"),
        ("sao", "beta=x", "must be 'theory' or a number above 1"),
        ("sao", "delta=0 delta=x", PART),
        ("sw-ucb-bwk", "window=0 window=401 window=2.5", "must be a whole number from 1 to 400"),
        ("ucb-bwk", "eps=1 eps=x", "must be 'theory' or a number from 0 to below 1"),
        ("ucb-bwk", "eps=-0.1", SHARE),
    ],
)
def test_values_of_options(names: str, options: str, allowed: str) -> None:
    for policy, option in product(names.split(), options.split()):
        name, _, value = option.partition("=")
        told = repr(value) if value.isalpha() else value
        refused(f"{policy}:{option}", f"{name}={told}: {allowed}")


@pytest.mark.parametrize(
    ("names", "option", "message"),
    [
        ("b-kube budgeted-thompson fractional-kube kube oracle", "lam=1", "; there are none"),
        ("ucb-bv2 ucb-mb ucb-sc uniform", "lam=1", "; there are none"),
        ("bounded-epsilon-first", "caps=3", "; known: epsilon, learn"),
        ("epsilon-first", "epsilo=1", "; did you mean 'epsilon'?"),
        ("fixed", "arn=1", "; did you mean 'arm'?"),
        ("sao", "bta=2", "; did you mean 'beta'?"),
    ],
)
def test_names_of_options(names: str, option: str, message: str) -> None:
    for policy in names.split():
        unknown = f"unknown option of {policy} '{option.partition('=')[0]}'"
        refused(f"{policy}:{option}", f"{unknown}{message}")


def test_a_budget_that_theory_would_leave_unspent() -> None:
    refused(
        "ucb-bwk:eps=theory",
        "eps='theory' is 1.17 here, which would leave the whole budget unspent; give a number "
        "below 1, or a larger budget",
    )


def refused(policy: str, message: str) -> None:
    told = {"cost_min": 0.5, "costs": 0.5, "horizon": 400}
    with pytest.raises(purse.InvalidInput, match=f"^{re.escape(message)}"):
        purse.Policy(policy, n_arms=2, budget=100, **told)


@pytest.mark.parametrize("policy", [*ONE_PLAY, *ONE_PLAY_ONE_RESOURCE, "ucb-mb"])
def test_plays_and_resources(policy: str) -> None:
    fields = [] if policy == "ucb-mb" else ["plays"]
    fields += [] if policy in ONE_PLAY else ["n_resources"]
    refuses(policy, fields=tuple(fields))


@pytest.mark.parametrize("policy", KNOWN_COSTS)
def test_costs(policy: str) -> None:
    unknown = f"^{policy} needs to know what each arm costs"
    with pytest.raises(purse.InvalidInput, match=unknown):
        purse.Policy(policy, n_arms=2, budget=10, cost_min=0.5)
    with pytest.raises(purse.InvalidInput, match=unknown):
        purse.simulate(policy, "misleading_ratio", 10)
    costs = {"cost_min": [0, 0.5], "costs": [0, 0.5]}
    with pytest.raises(
        purse.InvalidInput, match=rf"^costs=\[0\.0, 0\.5\]: must be positive for {policy}"
    ):
        purse.Policy(policy, n_arms=2, budget=10, horizon=10, **costs)


def test_caps() -> None:
    told = {"cost_min": 0.5, "costs": 0.5}
    for policy in ("epsilon-first", "fractional-kube", "kube"):
        with pytest.raises(purse.InvalidInput, match=f"^{policy} does not keep to caps"):
            purse.Policy(policy, n_arms=2, budget=10, caps=3, **told)
    with pytest.raises(purse.InvalidInput, match=r"^caps=-1: must be a whole number from 0 up"):
        purse.Policy("b-kube", n_arms=2, budget=10, caps=-1, **told)
