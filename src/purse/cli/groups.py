"""Policies and worlds by what they are for, in the order in which a newcomer meets them.

What is in no group is listed last, so that a new file needs no entry here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

Groups = Mapping[str, Sequence[str]]
OTHERS = "Others"

POLICIES: Groups = {
    "For most uses": ("replan", "primal-dual-bwk"),
    "Contexts": (
        "lin-ucb.price",
        "lin-ts.price",
        "lin-ucb.resolve",
        "classes.resolve",
        "square-cbwk",
        "lin-cbwk",
    ),
    "Money alone, rewards and costs at random": (
        "budgeted-thompson",
        "omega-ucb",
        "c-ucb",
        "i-ucb",
        "m-ucb",
        "mrcb",
        "b-greedy",
        "budget-ucb",
        "ucb-bv1",
        "ucb-bv2",
        "ucb-sc",
        "epsilon-first",
        "bounded-epsilon-first",
    ),
    "Which arm is best, with confidence": ("best-arm",),
    "Known costs, or a limit on the pulls of each arm": ("kube", "fractional-kube", "b-kube"),
    "Several plays a round": ("ucb-mb", "exp3.m.b", "semi-bwk"),
    "A budget and a horizon, or several resources": (
        "ucb-bwk",
        "sw-ucb-bwk",
        "lagrange-bwk",
        "bobw-primal-dual",
        "exp3++.prices",
        "exp3++.ada-prices",
    ),
    "An adversary": (
        "exp3.bwk",
        "exp3++.bwk",
        "exp3++.price",
        "exp3.p.bwk",
        "exp3-ix.bwk",
        "tsallis-inf.bwk",
        "tsallis-inf.price",
        "tsallis-inf.coin",
    ),
    "Blind to costs: what ignoring them loses": (
        "exp3",
        "exp3++",
        "exp3.p",
        "exp3-ix",
        "tsallis-inf",
        "sao",
        "elimination-race",
    ),
    "Yardsticks": ("uniform", "fixed", "oracle"),
}

WORLDS: Groups = {
    "Rewards and costs at random": ("bernoulli", "two_point", "beta", "atoms"),
    "Worlds that change": (
        "switching",
        "drifting",
        "moving_costs",
        "outages",
        "corrupted",
        "table",
    ),
    "A budget and a horizon": ("routing", "pricing", "ad_slots", "auction"),
    "Contexts": ("linear_contexts", "class_contexts", "logistic_contexts", "routing_contexts"),
    "Where theorems of the paper fail": (
        "two_worlds",
        "spend_or_save",
        "same_costs",
        "misleading_ratio",
        "misleading_costs",
    ),
    "Lower bounds": ("theorem2", "theorem5", "similar_costs"),
}


def grouped(groups: Groups, names: Iterable[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield the title of each group with those of its members that are among the names.

    >>> list(grouped({"Yardsticks": ("uniform", "fixed")}, ["new", "uniform"]))
    [('Yardsticks', ['uniform']), ('Others', ['new'])]
    """
    rest = dict.fromkeys(names)
    for title, members in groups.items():
        found = [name for name in members if name in rest]
        for name in found:
            del rest[name]
        if found:
            yield title, found
    if rest:
        yield OTHERS, list(rest)
