"""Published bounds on the other policies: a formula if the constants are known, else an order.

    exp3.p.bwk        (5.15/c) sqrt(n K log(K/delta)) + 1/c
    exp3-ix.bwk       (2 sqrt(2 n K log K) + (sqrt(2 n K / log K) + 1) log(2/delta)) / c + 1/c
    tsallis-inf.bwk   (4 sqrt(K n) + 1)/c + 1/c
                      efficiency over its own rounds: the first two with probability 1 - delta, the
                      third in expectation
    exp3, exp3.p, exp3-ix, exp3++, tsallis-inf
                      the same with c = 1: reward over n rounds, blind to cost
    exp3.m.b          2.63 sqrt(1 + B/(g c)) sqrt(g K log(K/m)) + m, g = B (1 - c)/c
                      reward less cost, if no reward is below its cost
    kube, fractional-kube, b-kube, ucb-bv1, ucb-bv2, budgeted-thompson, ...
                      sum_i log(B/c)/Delta(i), with constant 1: an order
    primal-dual-bwk, balanced-exploration, ucb-bwk, lagrange-bwk, bobw-primal-dual
                      sqrt(K T) log T (1 + OPT/B) and the like, with constant 1: an order

n = ceil(B/c) is the largest possible number of rounds. Amounts are in units of c_max, as in
`purse.lab.theory.bounds`.
"""

import math
from collections.abc import Sequence

from purse.base import validation
from purse.lab.theory.bound import ADVERSARIAL, Bound, Setting, scaled

_EFFICIENCY = "efficiency of {policy} against any fixed arm, over its own rounds"
_REWARD = "reward of {policy} against any fixed arm, over the same number of rounds: blind to cost"
_REGRET = "regret of {policy}, with constant 1"
_KNOWN = "i.i.d. rewards, known constant costs"
_RANDOM = "i.i.d. rewards and costs"
_LOGARITHMIC = {
    "kube": (_KNOWN, "Tran-Thanh et al. (2012)"),
    "fractional-kube": (_KNOWN, "Tran-Thanh et al. (2012)"),
    "b-kube": (f"{_KNOWN}, caps", "Rangi and Franceschetti (2018)"),
    "ucb-bv1": (_RANDOM, "Ding et al. (2013)"),
    "ucb-bv2": (_RANDOM, "Ding et al. (2013)"),
    "ucb-mb": (f"{_RANDOM}, several plays", "Zhou and Tomlin (2018)"),
    "budgeted-thompson": (_RANDOM, "Xia et al. (2015)"),
    "budget-ucb": (_RANDOM, "Xia et al. (2015)"),
    "i-ucb": (f"{_RANDOM}, alpha large enough", "Xia et al. (2017)"),
    "c-ucb": (f"{_RANDOM}, alpha large enough", "Xia et al. (2017)"),
    "m-ucb": (f"{_RANDOM}, alpha large enough", "Xia et al. (2017)"),
    "b-greedy": (f"{_RANDOM}, alpha large enough", "Xia et al. (2017)"),
    "ucb-sc": (_RANDOM, "Watanabe et al. (2017)"),
    "omega-ucb": (f"{_RANDOM}, rho = 1", "Heyden et al. (2023)"),
}
_SQUARE_ROOT = {
    "primal-dual-bwk": (f"{_RANDOM}, a horizon", "Badanidiyuru, Kleinberg and Slivkins (2018)"),
    "balanced-exploration": (
        f"{_RANDOM}, a horizon; sketched for the relaxed form",
        "Badanidiyuru, Kleinberg and Slivkins (2018)",
    ),
    "ucb-bwk": (f"{_RANDOM}, a horizon", "Agrawal and Devanur (2014)"),
    "lagrange-bwk": (f"{_RANDOM}, a horizon", "Immorlica et al. (2022)"),
    "bobw-primal-dual": (
        f"{_RANDOM}, a horizon; against an adversary a share of B/T of the best fixed mixture",
        "Castiglioni, Celli and Kroer (2022)",
    ),
}


def table(
    n_arms: int,
    budget: float,
    cost_min: float,
    *,
    cost_max: float = 1.0,
    gaps: Sequence[float] | None = None,
    horizon: int | None = None,
    delta: float = 0.05,
    setting: Setting = ADVERSARIAL,
) -> list[Bound]:
    """Return the published bounds of all policies that have one.

    gaps      the gaps in efficiency of the worse arms; None: not known
    horizon   the number of rounds; None: not known
    delta     the probability with which the bounds of exp3.p and exp3-ix may fail
    """
    arms, b, c = scaled(n_arms, budget, cost_min, cost_max)
    rounds = math.ceil(b / c * (1 - 1e-12))
    chance = validation.number("delta", delta, above=0, high=1)
    end = None if horizon is None else validation.integer("horizon", horizon, low=1)
    rows = []
    for policy, (value, source) in _over_rounds(arms, rounds, chance).items():
        what = _REWARD.format(policy=policy)
        rows.append(Bound(policy, "at most", value, what, "always", True, source))
        twin = f"{policy}.bwk"
        if twin in ("exp3.p.bwk", "exp3-ix.bwk", "tsallis-inf.bwk"):
            value, what = (value / c + 1 / c) / cost_max, _EFFICIENCY.format(policy=twin)
            source = f"{source}, on efficiencies"
            rows.append(Bound(twin, "at most", value, what, "always", True, source))
    stake, shared = b * (1 - c) / c, None
    if stake > 0:
        spread = math.sqrt(stake * arms * math.log(arms))
        shared = 2.63 * math.sqrt(1 + b / (stake * c)) * spread + 1
    what, when = "reward less cost of exp3.m.b, one play", "no reward is below its cost"
    rows.append(Bound("exp3.m.b", "at most", shared, what, when, False, "Zhou and Tomlin (2018)"))
    order = root = None
    if gaps is not None:
        sizes = [validation.number("gap", gap, above=0) for gap in gaps]
        order = sum(math.log(b / c) / (gap * cost_max) for gap in sizes)
    if end is not None:
        root = (1 + end / b) * math.sqrt(arms * end * math.log(max(2, end)))
    for policy, (when, source) in _LOGARITHMIC.items():
        one_play = "caps" not in when and "several" not in when
        applies = setting.iid and (_KNOWN not in when or setting.costs != "any") and one_play
        what = _REGRET.format(policy=policy)
        rows.append(Bound(policy, "order", order, what, when, applies, source))
    for policy, (when, source) in _SQUARE_ROOT.items():
        applies, what = setting.iid and end is not None, _REGRET.format(policy=policy)
        rows.append(Bound(policy, "order", root, what, when, applies, source))
    return rows


def _over_rounds(n_arms: int, rounds: int, delta: float) -> dict[str, tuple[float, str]]:
    """Return the regret of policies that are blind to cost, for rewards in [0, 1]."""
    log_k, many = math.log(n_arms), n_arms * rounds
    chance = f"with probability {1 - delta:g}"
    sure = implicit = tsallis = 0.0
    if n_arms > 1:
        sure = 5.15 * math.sqrt(many * math.log(n_arms / delta))
        implicit = 2 * math.sqrt(2 * many * log_k)
        implicit += (math.sqrt(2 * many / log_k) + 1) * math.log(2 / delta)
        tsallis = 4 * math.sqrt(many) + 1
    return {
        "exp3": (2 * math.sqrt((math.e - 1) * many * log_k), "Auer et al. (2002)"),
        "exp3.p": (sure, f"Bubeck and Cesa-Bianchi (2012), {chance}"),
        "exp3-ix": (implicit, f"Neu (2015), {chance}"),
        "exp3++": (4 * math.sqrt(many * log_k), "Seldin and Lugosi (2017)"),
        "tsallis-inf": (tsallis, "Zimmert and Seldin (2021)"),
    }
