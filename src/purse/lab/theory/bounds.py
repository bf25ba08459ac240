"""The paper's theorems, the propositions that hold, and the lower bound of the two worlds.

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

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from purse import worlds
from purse.base import amounts, spec, validation
from purse.errors import InvalidInput
from purse.policies.exp3_bwk import gamma_of
from purse.types import World
from purse.worlds.theorem5 import stakes

__all__ = [
    "for_world",
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

PAPER = "Rangi et al. (2019), Theorem"
OURS = "purse, page on the paper"
ONE_COST = "all costs are one constant"
FIXED_COSTS = "rewards are i.i.d. and each arm's cost is constant"
WHERE_PROVED = (
    f"false in general (`two_worlds`); true, up to an additive constant, where {ONE_COST}, or "
    f"{FIXED_COSTS}"
)
POLICIES = ("exp3.bwk", "exp3++.bwk")
SMALLEST = 1e-9
COSTS = ("any", "per arm", "one")


class Setting(NamedTuple):
    """The facts known of a world: whether rounds are i.i.d., and which costs are constant.

    `costs` is "any", "per arm" (each arm has a constant cost) or "one" (one cost for all arms).
    """

    iid: bool = False
    costs: str = "any"
    world: str | None = None  # which one it is; None: any of this kind, the worst included
    alpha: float | None = None  # of the world `theorem5`, the power that its large cost is


ADVERSARIAL = Setting()


class Bound(NamedTuple):
    """A bound with its conditions and source; `value` is None where the problem lacks an input."""

    name: str
    side: str  # "at most", "at least", "exactly" or "order"
    value: float | None
    bounds: str  # what
    holds: str  # when
    applies: bool  # to the setting that was asked about
    source: str

    @property
    def policy(self) -> str | None:
        """The policy whose regret is bounded, or "every player"; None for other quantities."""
        about = re.match(r"(?:mean )?regret of (every player|[^\s,]+)", self.bounds)
        return about[1] if about else None


LOG_B, BOTH = "O(K log B / min Δ), Ω(log B)", "i.i.d. rewards and costs"
KUBE = "Tran-Thanh, Chapman, Rogers, Jennings (2012)"
ADVERSARY = "adversarial, rewards not below costs, several plays"
TABLE_1 = tuple(
    Bound(name, "order", None, order, when, False, source)
    for name, order, when, source in (
        ("KUBE", LOG_B, "i.i.d. rewards, known constant costs", KUBE),
        ("B-KUBE", LOG_B, "as KUBE, with a cap on each arm's pulls", "Rangi, Franceschetti (2018)"),
        ("UCB-BV", LOG_B, BOTH, "Ding, Qin, Zhang, Liu (2013)"),
        ("UCB-MB", "O(K log B)", f"{BOTH}, several plays a round", "Zhou, Tomlin (2018)"),
        ("EXP3.M.B", "O(√(KB log K)), Ω((1-1/K)² √(KB))", ADVERSARY, "Zhou, Tomlin (2018)"),
    )
)


def setting_of(world: World) -> Setting:
    """Return what is known of a world: i.i.d. rounds, constant costs, its name."""
    # the constant must be the least that is declared
    one = world.costs is not None and bool((world.costs == world.cost_min.min()).all())
    costs = "any" if world.costs is None else "one" if one else "per arm"
    name, _, options = world.name.partition(":")
    alpha = spec.parse(world.name)[1].get("alpha") if name == "theorem5" and options else None
    return Setting(world.reward_means is not None, costs, name, alpha)


def theorem1(
    n_arms: int,
    budget: float,
    cost_min: float,
    *,
    cost_max: float = 1.0,
    setting: Setting = ADVERSARIAL,
) -> Bound:
    """Return the paper's upper bound on the regret of EXP3.BwK.

    It is true, up to an additive constant, where proposition C proves it.

    >>> round(theorem1(n_arms=10, budget=1e4, cost_min=0.1).value)
    39790
    """
    n_arms, b, c = scaled(n_arms, budget, cost_min, cost_max)
    factor = (math.e - 1) + (math.e - 2) * n_arms / b
    value = 2 * math.sqrt(factor * b * n_arms * math.log(n_arms) / c**3)
    what = "regret of exp3.bwk against the best fixed arm"
    return Bound("Theorem 1", "at most", value, what, WHERE_PROVED, proved(setting), f"{PAPER} 1")


def theorem2(
    n_arms: int,
    budget: float,
    cost_min: float,
    *,
    cost_max: float = 1.0,
    form: str = "stated",
    scale: float = 0.25,
    setting: Setting = ADVERSARIAL,
) -> Bound:
    """Return the lower bound on the regret of every player.

    form    "stated", as in the paper; or "corrected", what its proof gives on the world `theorem2`
    scale   the gap between the arms in units of sqrt(K c / B), above 0

    With T = floor(B/c) rounds and a gap of eps = scale sqrt(K c / B), take the mean over which arm
    is the best. Every player loses at least eps T (1 - 1/K - sqrt(-(T/K) log(1 - 4 eps^2)) / 2),
    and at most eps T. So the order is sqrt(K B / c), and not sqrt(K B) / c.
    """
    n_arms, b, c = scaled(n_arms, budget, cost_min, cost_max)
    if validation.choice("form", form, ("stated", "corrected")) == "stated":
        what = "regret of every player, up to a constant"
        when = (
            "not proved: on its own instance no player loses more than √(KB/c); true for c < "
            "1 and B ≥ K/(cκ)²"
        )
        value = math.sqrt(n_arms * b) / c
        return Bound("Theorem 2", "at least", value, what, when, False, f"{PAPER} 2")
    rounds = math.floor(b / c * (1 + 1e-12))  # 7 affords 100 rounds at 0.07
    gap = validation.number("scale", scale, above=0) * math.sqrt(n_arms * c / b)
    value = 0.0
    if gap < 0.5 and n_arms > 1 and rounds:
        luck = math.sqrt(-(rounds / n_arms) * math.log1p(-4 * gap**2)) / 2
        value = gap * rounds * (1 - 1 / n_arms - luck)
    what = "regret of every player, mean over the best arm"
    when = "B ≥ 4 scale² K c and K ≥ 2, on the world `theorem2`"
    applies = value > 0 and setting.world in (None, "theorem2")
    return Bound("Theorem 2, corrected", "at least", max(0.0, value), what, when, applies, OURS)


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


def theorem5(budget: float, alpha: float = 0.5, *, setting: Setting = ADVERSARIAL) -> Bound:
    """Return the mean regret of every player on the world `theorem5`, with costs up to B^alpha.

    alpha   from 0 to 1

    The mean is over which of the two arms is the good one.

    >>> theorem5(budget=1024, alpha=0.5).value
    16.0
    """
    validation.number("alpha", alpha, low=0, high=1)
    value = None
    if 1 <= validation.number("budget", budget, above=0) <= amounts.LARGEST / amounts.UNIT:
        value = stakes(budget, alpha).late_rounds / 2
    what = f"mean regret of every player, α = {alpha:g}"
    when = (
        "1 ≤ B < 4.6·10⁹ and costs up to B^α, on the world `theorem5`, for players that do "
        "not stop by themselves"
    )
    applies = value is not None and setting.world in (None, "theorem5")
    return Bound("Theorem 5", "exactly", value, what, when, applies, f"{PAPER} 5")


def two_worlds(
    budget: float,
    cost_min: float,
    *,
    n_arms: int = 2,
    cost_max: float = 1.0,
    setting: Setting = ADVERSARIAL,
) -> Bound:
    """Return the regret of every player in one of the worlds of `two_worlds`: kappa(c) B.

    >>> round(two_worlds(budget=1000, cost_min=0.1).value, 1)
    888.9
    """
    n_arms, b, c = scaled(n_arms, budget, cost_min, cost_max)
    may_differ = setting.costs != "one" and not setting.iid and c < 1
    applies = n_arms > 1 and may_differ and setting.world in (None, "two_worlds")
    what = "regret of every player, in one of `two_worlds`"
    when = (
        "K ≥ 2, c < 1, and an adversary who may let arms differ in cost; B and B/c whole, "
        "else up to one reward less"
    )
    return Bound("κ(c)·B", "at least", kappa(c) * b, what, when, applies, OURS)


def kappa(cost_min: float) -> float:
    """Return the least regret per unit of budget that every player has in one of the two worlds.

    It is (1 - 2c)/(1 - c) for c <= 1/3, and (1 - c)/(4c) above.

    >>> kappa(0.5)
    0.25
    """
    c = validation.number("cost_min", cost_min, above=0, high=1)
    return (1 - 2 * c) / (1 - c) if c <= 1 / 3 else (1 - c) / (4 * c)


def refuted_from(cost_min: float, constant: float = 4 * (math.e - 1)) -> float:
    """Return the budget above which `two_worlds` contradicts an upper bound, for two arms.

    From there on kappa(c) B exceeds sqrt(constant 2 B log 2 / c^3). The default constant is that of
    Theorem 1.

    >>> round(refuted_from(0.1))
    12059
    >>> round(refuted_from(0.1, constant=6)), round(refuted_from(0.1, constant=36))
    (10527, 63163)
    """
    share = kappa(validation.number("cost_min", cost_min, low=SMALLEST, high=1))
    factor = validation.number("constant", constant, above=0)
    return factor * 2 * math.log(2) / (cost_min**3 * share**2) if share else math.inf


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
    if validation.choice("policy", policy, POLICIES) == "exp3.bwk":
        g = gamma_of(gamma, n_arms, b, c)
        value = learning(n_arms, g) / c + (math.e - 1) * g * (b + c) / c**2 + 1 / c
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
    """Return the upper bound on regret against the best fixed arm, in settings where one is proved.

    policy   "exp3.bwk" or "exp3++.bwk"
    gamma    the option of "exp3.bwk"

    It holds where all costs are one constant, or where rewards are i.i.d. and each arm's cost is
    constant.
    """
    arms, b, c = scaled(n_arms, budget, cost_min, cost_max)
    one_cost = setting.costs == "one"
    if not one_cost:
        efficiency = proposition_a(
            n_arms, budget, cost_min, cost_max=cost_max, policy=policy, gamma=gamma
        )
        last_round = 1 / c  # which proposition A adds for the round that is not paid
        value = cost_max * (efficiency.value or 0.0) - last_round + 1
    elif validation.choice("policy", policy, POLICIES) == "exp3.bwk":
        g = gamma_of(gamma, arms, b, c)
        value = learning(arms, g) + (math.e - 1) * g * b / c
    else:
        value = 4 * math.sqrt(b * arms * math.log(arms) / c) + arms
    what = f"regret of {policy} against the best fixed arm"
    when = ONE_COST if one_cost else FIXED_COSTS
    return Bound("Proposition C", "at most", value, what, when, proved(setting), OURS)


def learning(n_arms: int, gamma: float) -> float:
    """Return K log K / gamma, the cost of learning in EXP3: 0 for K = 1, infinite for gamma = 0."""
    return 0.0 if n_arms == 1 else n_arms * math.log(n_arms) / gamma if gamma else math.inf


def proved(setting: Setting) -> bool:
    """Return whether proposition C proves a bound of order sqrt(B) on reward in this setting."""
    validation.choice("costs", setting.costs, COSTS)
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
        *(proposition_a(*problem, cost_max=cost_max, policy=policy) for policy in POLICIES),
        *(
            proposition_c(*problem, cost_max=cost_max, policy=policy, setting=setting)
            for policy in POLICIES
        ),
        *TABLE_1,
    ]


def for_world(world: str | World, budget: float, *, alpha: float = 0.5) -> list[Bound]:
    """Return all bounds for a world of one resource; its setting decides which of them apply.

    Raise `InvalidInput` when the world has several resources, or pulls that cost nothing.
    """
    return table(budget=budget, alpha=alpha, **problem_of(world, budget))


def problem_of(world: str | World, budget: float) -> dict[str, Any]:
    """Return the arguments of `table` for a world of one resource.

    Raise `InvalidInput` when the world has several resources, or pulls that cost nothing.
    """
    place = worlds.make(world, budget)
    if place.n_resources > 1:
        raise InvalidInput(
            f"{place.name} has {place.n_resources} resources; these bounds are for one"
        )
    if (place.cost_min == 0).any():
        raise InvalidInput(
            f"{place.name} has pulls that cost nothing; these bounds need a least cost"
        )
    return {
        "n_arms": place.n_arms,
        "cost_min": float(place.cost_min.min() / amounts.UNIT),
        "cost_max": float(place.cost_max.max() / amounts.UNIT),
        "gaps": gaps_of(place),
        "setting": setting_of(place),
    }


def gaps_of(world: World) -> list[float] | None:
    """Return how much less efficient each worse arm is; None where the world has no constant means.

    Differences of rounding size, up to 1e-12 of the best efficiency, are left out.
    """
    each = world.efficiencies
    if each is None:
        return None
    return [gap for gap in (each.max() - each).tolist() if gap > 1e-12 * each.max()]


def scaled(
    n_arms: int, budget: float, cost_min: float, cost_max: float
) -> tuple[int, float, float]:
    """Return K, and B and c_min in units of c_max.

    Raise `InvalidInput` when one of them is out of range.
    """
    top = validation.number("cost_max", cost_max, above=0, low=SMALLEST)
    low = validation.number("cost_min", cost_min, above=0)
    if not SMALLEST * (1 - 1e-12) <= low / top <= 1:
        raise InvalidInput(
            f"cost_min={cost_min!r}: must be at most cost_max={cost_max!r}, and at least "
            f"{SMALLEST:g} of it"
        )
    arms = validation.integer("n_arms", n_arms, low=1, high=10**9)
    return arms, validation.number("budget", budget, above=0, high=1e30) / top, low / top
