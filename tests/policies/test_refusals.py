"""What policies refuse, each in one line: plays, resources and caps that they cannot play, costs
that they must know, and options.
"""

import re
from itertools import product

import pytest

import purse
from purse.base import spec
from tests.support.policies import refuses

KNOWN_COSTS = ["b-kube", "bounded-epsilon-first", "epsilon-first", "fractional-kube", "kube"]
ONE_PLAY = [
    *("bobw-primal-dual", "delayed-sapo", "elimination-race", "exp3", "exp3++", "exp3++.prices"),
    *("exp3++.ada-prices", "exp3-ix", "exp3.p", "lagrange-bwk", "best-arm", "primal-dual-bwk"),
    *("lin-cbwk", "lin-ts.price", "lin-ucb.price", "lin-ucb.resolve", "replan", "square-cbwk"),
    *("sao", "tsallis-inf"),
]
ONE_PLAY_ONE_RESOURCE = [
    *(*KNOWN_COSTS, "budgeted-thompson", "exp3.bwk", "exp3-ix.bwk", "exp3.p.bwk", "exp3++.bwk"),
    *("exp3++.price", "sw-ucb-bwk", "tsallis-inf.bwk", "tsallis-inf.coin", "tsallis-inf.price"),
    *("balanced-exploration", "classes.resolve", "ucb-bwk"),
]
ONE_RESOURCE = ["exp3.m.b", "ucb-mb"]
LINEAR = "lin-ts.price lin-ucb.price lin-ucb.resolve"
IX = "exp3-ix exp3-ix.bwk"
EPSILON, RADIUS = (
    "bounded-epsilon-first epsilon-first",
    "balanced-exploration primal-dual-bwk sw-ucb-bwk ucb-bwk",
)
PART = "must be a number above 0 and at most 1"
SHARE = "must be a number at least 0 and at most 1"
ABOVE_0, BETA = "must be a number above 0", "must be 'theory' or a positive number"


@pytest.mark.parametrize(
    ("names", "options", "allowed"),
    [
        ("bobw-primal-dual", "eta=0", ABOVE_0),
        ("bobw-primal-dual", "delta=2", PART),
        ("delayed-sapo", "log=0 phase=0 regret=-1", ABOVE_0),
        ("delayed-sapo", "log=x", "must be 'theory' or a positive number"),
        ("elimination-race", "delta=0 delta=-1 delta=1.5 delta=x", PART),
        (EPSILON, "epsilon=2 epsilon=-0.1", SHARE),
        (EPSILON, "epsilon=x", "must be 'theory' or a number from 0 to 1"),
        (EPSILON, "learn=never", "must be one of 'first', 'always'"),
        ("exp3 exp3.bwk", "gamma=2 gamma=-0.1 gamma=True", SHARE),
        ("exp3", "gamma=x", SHARE),
        ("exp3.bwk", "gamma=x", "must be 'theorem', 'proof' or a number from 0 to 1"),
        ("exp3-ix", "eta=-1 eta=True", "must be a number at least 0"),
        (IX, "eta=x", "must be 'rounds', 'anytime' or a number from 0 up"),
        ("exp3.p exp3.p.bwk", "delta=0 delta=-1 delta=1.5 delta=x delta=True", PART),
        ("exp3++ exp3++.bwk exp3++.price", "beta=-1 beta=0 alpha=0 alpha=-3", ABOVE_0),
        ("exp3++ exp3++.bwk exp3++.price", "beta=x", BETA),
        ("exp3++.bwk", "lam=0.6 lam=0", "must be a number above 0 and at most 0.5"),
        ("exp3++.bwk", "epsilon=x", "must be one of 'lemma', 'printed', 'cmin'"),
        ("exp3++.bwk", "mixing=x", "must be one of 'all', 'printed'"),
        ("exp3++.bwk", "width=x", "must be one of 'printed', 'direct'"),
        ("exp3++.ada-prices", "rate=0 rate=x", ABOVE_0),
        ("fixed", "arm=2 arm=-1 arm=0.5 arm=x", "must be a whole number from 0 to 1"),
        (LINEAR, "scale=0 ridge=0", ABOVE_0),
        ("lin-ucb.price", "eta=-1", "must be a number at least 0"),
        ("lin-ucb.price", "guard=2", SHARE),
        ("lin-cbwk", "radius=0 z=-1", ABOVE_0),
        ("lin-cbwk", "radius=x z=x", "must be 'theory' or a positive"),
        ("lin-cbwk", "model=one", "must be one of 'arm', 'shared'"),
        ("lin-cbwk", "model=shared", "must be 'arm' where all arms have"),
        ("square-cbwk", "g=0 ridge=0", ABOVE_0),
        ("square-cbwk", "eta=-1", ABOVE_0),
        ("classes.resolve", "eta=0", ABOVE_0),
        ("classes.resolve", "alpha=-1", "must be a number at least 0"),
        ("replan", "scale=0 scale=x", ABOVE_0),
        ("replan", "change=-1 change=x fade=-1 fade=x looks=-1", "must be a number at least 0"),
        ("best-arm", "by=cost", "must be one of 'reward', 'ratio'"),
        ("best-arm", "sampling=x", "must be one of 'lucb', 'uniform'"),
        ("best-arm", "within=-1", "must be a number at least 0"),
        ("best-arm", "confidence=1 confidence=0", "must be a number"),
        ("best-arm", "cap=0 cap=-1", "must be "),
        ("exp3.m.b", "gamma=2 gamma=-0.1 gamma=x gamma=True", SHARE),
        ("lagrange-bwk", "form=x", "must be one of 'stochastic', 'adversarial'"),
        ("lagrange-bwk", "delta=0", PART),
        (RADIUS, "c_rad=0", ABOVE_0),
        (RADIUS, "c_rad=x", "must be 'theory' or a positive number"),
        ("sao", "beta=1", "must be a number above 1"),
        ("sao", "beta=x", "must be 'theory' or a number above 1"),
        ("sao", "delta=0 delta=x", PART),
        ("sw-ucb-bwk", "window=0 window=401 window=2.5", "must be a whole number from 1 to 400"),
        ("tsallis-inf tsallis-inf.bwk", "estimator=x estimator=1", "must be one of 'iw', 'rv'"),
        ("tsallis-inf.coin", "efficiency_max=0 efficiency_max=x", ABOVE_0),
        ("tsallis-inf.coin", "price_max=0 price_max=-1", ABOVE_0),
        ("tsallis-inf.price", "scale=0 scale=-1 scale=x", ABOVE_0),
        ("ucb-bwk", "eps=1 eps=x", "must be 'theory' or a number from 0 to below 1"),
        ("ucb-bwk", "eps=-0.1", SHARE),
    ],
)
def test_values_of_options(names: str, options: str, allowed: str) -> None:
    for policy, option in product(names.split(), options.split()):
        ((name, value),) = spec.parse(f"{policy}:{option}")[1].items()
        refused(f"{policy}:{option}", f"{name}={value!r}: {allowed}")


@pytest.mark.parametrize(
    ("names", "option", "message"),
    [
        ("b-kube budgeted-thompson fractional-kube kube oracle", "lam=1", "; there are none"),
        ("exp3++.prices ucb-bv2 ucb-mb ucb-sc uniform", "lam=1", "; there are none"),
        ("bounded-epsilon-first", "caps=3", "; known: epsilon, learn"),
        ("epsilon-first", "epsilo=1", "; did you mean 'epsilon'?"),
        ("exp3++.bwk", "bta=1", "; did you mean 'beta'?"),
        ("exp3++.bwk", "lambda_=1", "; did you mean 'lam'?"),
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
        "eps='theory' is 1.23 here, which would leave the whole budget unspent; give a number "
        "below 1, or a larger budget",
    )


def refused(policy: str, message: str) -> None:
    told = {"cost_min": 0.5, "costs": 0.5, "horizon": 400}
    with pytest.raises(purse.InvalidInput, match=f"^{re.escape(message)}"):
        purse.Policy(policy, n_arms=2, budget=100, **told)


@pytest.mark.parametrize("policy", [*ONE_PLAY, *ONE_PLAY_ONE_RESOURCE, *ONE_RESOURCE])
def test_plays_and_resources(policy: str) -> None:
    fields = [] if policy in ONE_RESOURCE else ["plays"]
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


@pytest.mark.parametrize(
    "policy",
    ["delayed-sapo", "elimination-race", "exp3", "exp3-ix", "exp3.p", "lagrange-bwk", "sao"],
)
def test_a_game_that_nothing_ends(policy: str) -> None:
    told = {"cost_min": [[0, 0.5], [0.5, 0]], "n_resources": 2}
    unknown = f"^{policy} needs to know how many rounds there are: pass horizon="
    with pytest.raises(purse.InvalidInput, match=unknown):
        purse.Policy(policy, n_arms=2, budget=10, **told)


def test_caps() -> None:
    told = {"cost_min": 0.5, "costs": 0.5}
    for policy in ("epsilon-first", "fractional-kube", "kube"):
        with pytest.raises(purse.InvalidInput, match=f"^{policy} does not keep to caps"):
            purse.Policy(policy, n_arms=2, budget=10, caps=3, **told)
    with pytest.raises(purse.InvalidInput, match=r"^caps=-1: must be a whole number from 0 up"):
        purse.Policy("b-kube", n_arms=2, budget=10, caps=-1, **told)
