"""Bounds on EXP3.BwK, EXP3++.BwK and every player: the paper's theorems, and what holds instead.

A bound states what it bounds, when it holds, its source, and whether it applies to a setting. It
has a value outside its conditions as well. K arms, budget B, costs in [c, 1] after division by
c_max, log is natural.

    theorem1        2 sqrt(((e-1) + (e-2) K/B) B K log K / c^3)                 EXP3.BwK, reward
    theorem2        sqrt(K B) / c as stated; sqrt(K B / c) times a constant     every player, reward
    theorem3        sum_i log^2(B/c) / (c^2 Delta(i)), an order                 EXP3++.BwK, reward
    theorem4        C sqrt(B K log K / c^3), C = sqrt 6, 6 or 4                 EXP3++.BwK, reward
    theorem5        floor(B - t*) / 2, t* = floor(B - B^alpha)                  every player, reward
    two_worlds      kappa(c) B                                                  every player, reward
    proposition_a   K log K / (c g) + (e-1) g (B + c) / c^2 + 1/c, g = gamma;   EXP3.BwK, efficiency
                    over its own rounds 4 sqrt((B + c) K log K / c^3) + (K + 1)/c
                    EXP3++.BwK, likewise
    proposition_c   one cost c: K log K / g + (e-1) g B / c;  4 sqrt(B K log K / c) + K     reward
                    i.i.d. rewards, a constant cost per arm: proposition A - 1/c + 1        reward

The functions share these arguments.

    n_arms               K
    budget               B, in the user's unit
    cost_min, cost_max   c_min and c_max in the user's unit, 1e-9 c_max <= c_min <= c_max
    setting              what is known of the world; by default nothing, the adversarial setting

Each raises `InvalidInput` when an argument is out of range.
"""

import math
from collections.abc import Sequence

from purse.base import validation
from purse.lab.theory.bound import ADVERSARIAL, OURS, PAPER, SMALLEST, Bound, Setting, scaled
from purse.lab.theory.lower_bounds import kappa, refuted_from, theorem2, theorem5, two_worlds
from purse.policies.exp3_bwk import gamma_of

__all__ = [
    "kappa",
    "proposition_a",
    "proposition_c",
    "proved",
    "refuted_from",
    "table",
    "theorem1",
    "theorem2",
    "theorem3",
    "theorem4",
    "theorem5",
    "two_worlds",
]  # for users

_ONE_COST = "all costs are one constant"
_FIXED_COSTS = "rewards are i.i.d. and each arm's cost is constant"
_WHERE_PROVED = (
    f"false in general (`two_worlds`); true, up to an additive constant, where {_ONE_COST}, or "
    f"{_FIXED_COSTS}"
)
_POLICIES = ("exp3.bwk", "exp3++.bwk")
_COSTS = ("any", "per arm", "one")
_LOG_B, _BOTH = "O(K log B / min Δ), Ω(log B)", "i.i.d. rewards and costs"
_KUBE = "Tran-Thanh, Chapman, Rogers, Jennings (2012)"
_ADVERSARY = "adversarial, rewards not below costs, several plays"
_TABLE_1 = tuple(
    Bound(name, "order", None, order, when, False, source)
    for name, order, when, source in (
        ("KUBE", _LOG_B, "i.i.d. rewards, known constant costs", _KUBE),
        (
            "B-KUBE",
            _LOG_B,
            "as KUBE, with a cap on each arm's pulls",
            "Rangi, Franceschetti (2018)",
        ),
        ("UCB-BV", _LOG_B, _BOTH, "Ding, Qin, Zhang, Liu (2013)"),
        ("UCB-MB", "O(K log B)", f"{_BOTH}, several plays a round", "Zhou, Tomlin (2018)"),
        ("EXP3.M.B", "O(√(KB log K)), Ω((1-1/K)² √(KB))", _ADVERSARY, "Zhou, Tomlin (2018)"),
    )
)


def theorem1(
    n_arms: int,
    budget: float,
    cost_min: float,
    *,
    cost_max: float = 1.0,
    setting: Setting = ADVERSARIAL,
) -> Bound:
    """Return the paper's upper bound on the regret of EXP3.BwK.

    It is true, up to an additive constant, in the settings of proposition C.

    >>> round(theorem1(n_arms=10, budget=1e4, cost_min=0.1).value)
    39790
    """
    n_arms, b, c = scaled(n_arms, budget, cost_min, cost_max)
    factor = (math.e - 1) + (math.e - 2) * n_arms / b
    value = 2 * math.sqrt(factor * b * n_arms * math.log(n_arms) / c**3)
    what = "regret of exp3.bwk against the best fixed arm"
    return Bound("Theorem 1", "at most", value, what, _WHERE_PROVED, proved(setting), f"{PAPER} 1")


def theorem3(
    gaps: Sequence[float] | None, budget: float, cost_min: float, *, cost_max: float = 1.0
) -> Bound:
    """Return the order of EXP3++.BwK's regret in i.i.d. worlds, with constant 1.

    gaps   the gaps in efficiency of the worse arms, in the user's unit; None: no value
    """
    _, b, c = scaled(1, budget, cost_min, cost_max)
    when = (
        "false for random costs (`misleading_ratio`); for constant costs per arm not proved, "
        "and not seen before some 10⁹ rounds"
    )
    value = None
    if gaps is not None:
        sizes = [validation.number("gap", gap, above=0, low=SMALLEST**2) for gap in gaps]
        value = sum(math.log(b / c) ** 2 / (c**2 * gap * cost_max) for gap in sizes)
    what = "regret of exp3++.bwk, with constant 1"
    return Bound("Theorem 3", "order", value, what, when, False, f"{PAPER} 3")


def theorem4(
    n_arms: int,
    budget: float,
    cost_min: float,
    *,
    cost_max: float = 1.0,
    constant: str = "statement",
    setting: Setting = ADVERSARIAL,
) -> Bound:
    """Return the paper's upper bound on the regret of EXP3++.BwK.

    constant   "statement" (sqrt 6), "proof" (6, in the paper's proof) or "derived" (4, which
               follows)

    >>> round(theorem4(n_arms=10, budget=1e4, cost_min=0.1, constant="proof").value)
    91046
    """
    n_arms, b, c = scaled(n_arms, budget, cost_min, cost_max)
    factor = {"statement": math.sqrt(6), "proof": 6.0, "derived": 4.0}
    times = factor[validation.choice("constant", constant, tuple(factor))]
    value = times * math.sqrt(b * n_arms * math.log(n_arms) / c**3)
    what = "regret of exp3++.bwk against the best fixed arm"
    when = "as Theorem 1"
    applies = proved(setting) and constant != "statement"
    if constant == "statement":
        when = (
            "false in general (`two_worlds`); unproved elsewhere, since its proof has another "
            "constant"
        )
    return Bound(f"Theorem 4, {constant}", "at most", value, what, when, applies, f"{PAPER} 4")


def proposition_a(
    n_arms: int,
    budget: float,
    cost_min: float,
    *,
    cost_max: float = 1.0,
    policy: str = "exp3.bwk",
    gamma: float | str = "theorem",
) -> Bound:
    """Return the upper bound on the loss of efficiency over the player's own rounds.

    policy   "exp3.bwk" or "exp3++.bwk"
    gamma    the option of "exp3.bwk"

    For every arm j, E sum_{t <= tau} e_t(j) - e_t(i_t) is at most this. It always holds.
    """
    n_arms, b, c = scaled(n_arms, budget, cost_min, cost_max)
    if validation.choice("policy", policy, _POLICIES) == "exp3.bwk":
        g = gamma_of(gamma, n_arms, b, c)
        value = _learning(n_arms, g) / c + (math.e - 1) * g * (b + c) / c**2 + 1 / c
    else:
        value = 4 * math.sqrt((b + c) * n_arms * math.log(n_arms) / c**3) + (n_arms + 1) / c
    what = f"efficiency of {policy} against any fixed arm, over its own rounds"
    return Bound("Proposition A", "at most", value / cost_max, what, "always", True, OURS)


def proposition_c(
    n_arms: int,
    budget: float,
    cost_min: float,
    *,
    cost_max: float = 1.0,
    policy: str = "exp3.bwk",
    gamma: float | str = "theorem",
    setting: Setting = ADVERSARIAL,
) -> Bound:
    """Return the upper bound on regret against the best fixed arm, in settings that have a proof.

    policy   "exp3.bwk" or "exp3++.bwk"
    gamma    the option of "exp3.bwk"

    It holds if all costs are one constant, or rewards are i.i.d. and each arm's cost is constant.
    """
    arms, b, c = scaled(n_arms, budget, cost_min, cost_max)
    one_cost = setting.costs == "one"
    if not one_cost:
        efficiency = proposition_a(
            n_arms, budget, cost_min, cost_max=cost_max, policy=policy, gamma=gamma
        )
        last_round = 1 / c  # which proposition A adds for the round that is not paid
        value = cost_max * (efficiency.value or 0.0) - last_round + 1
    elif validation.choice("policy", policy, _POLICIES) == "exp3.bwk":
        g = gamma_of(gamma, arms, b, c)
        value = _learning(arms, g) + (math.e - 1) * g * b / c
    else:
        value = 4 * math.sqrt(b * arms * math.log(arms) / c) + arms
    what = f"regret of {policy} against the best fixed arm"
    when = _ONE_COST if one_cost else _FIXED_COSTS
    return Bound("Proposition C", "at most", value, what, when, proved(setting), OURS)


def _learning(n_arms: int, gamma: float) -> float:
    """Return K log K / gamma, the cost of learning in EXP3: 0 for K = 1, infinite for gamma = 0."""
    return 0.0 if n_arms == 1 else n_arms * math.log(n_arms) / gamma if gamma else math.inf


def proved(setting: Setting) -> bool:
    """Return whether proposition C proves a bound of order sqrt(B) on reward in this setting."""
    validation.choice("costs", setting.costs, _COSTS)
    return setting.costs == "one" or (setting.iid and setting.costs == "per arm")


def table(
    n_arms: int,
    budget: float,
    cost_min: float,
    *,
    cost_max: float = 1.0,
    alpha: float = 0.5,
    gaps: Sequence[float] | None = None,
    setting: Setting = ADVERSARIAL,
) -> list[Bound]:
    """Return all bounds for a problem: the paper's first, then those of its Table 1.

    alpha   the power in Theorem 5, from 0 to 1
    gaps    the gaps in efficiency of the worse arms, for Theorem 3; None: not known
    """
    problem = (n_arms, budget, cost_min)
    return [
        theorem1(*problem, cost_max=cost_max, setting=setting),
        theorem2(*problem, cost_max=cost_max),
        theorem2(*problem, cost_max=cost_max, form="corrected", setting=setting),
        theorem3(gaps, budget, cost_min, cost_max=cost_max),
        *(
            theorem4(*problem, cost_max=cost_max, constant=constant, setting=setting)
            for constant in ("statement", "proof", "derived")
        ),
        theorem5(budget, setting.alpha if setting.alpha is not None else alpha, setting=setting),
        two_worlds(budget, cost_min, n_arms=n_arms, cost_max=cost_max, setting=setting),
        *(proposition_a(*problem, cost_max=cost_max, policy=policy) for policy in _POLICIES),
        *(
            proposition_c(*problem, cost_max=cost_max, policy=policy, setting=setting)
            for policy in _POLICIES
        ),
        *_TABLE_1,
    ]
