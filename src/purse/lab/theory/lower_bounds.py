"""Lower bounds on the regret of every player, in some world of a class.

`purse.lab.theory.bounds` and `purse.lab.theory.coin_bounds` list their formulas and arguments.
"""

import math

from purse.base import amounts, validation
from purse.lab.theory.bound import ADVERSARIAL, OURS, PAGE, PAPER, SMALLEST, Bound, Setting, scaled
from purse.worlds.theorem5 import stakes

_LEAST_BUDGET = 64  # of `every_player`


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


def every_player(
    n_arms: int,
    budget: float,
    cost_min: float,
    *,
    cost_max: float = 1.0,
    setting: Setting = ADVERSARIAL,
) -> Bound:
    """Return the shortfall of every player from max e(i) B, in one of `similar_costs`: T5.

    >>> round(every_player(n_arms=10, budget=1e6, cost_min=0.1).value, 1)
    183.7
    """
    arms, b, c = scaled(n_arms, budget, cost_min, cost_max)
    value = math.sqrt(arms * b) / (165 * c) - 0.8 / c
    what = "max e(i)·B − E G of every player, mean over the best arm"
    when = f"K ≥ 2, c ≤ 1/2, B ≥ {_LEAST_BUDGET} and B ≥ K, on the world `similar_costs`"
    fits = arms > 1 and c <= 0.5 and b >= max(_LEAST_BUDGET, arms) and value > 0
    applies = fits and setting.world in (None, "similar_costs") and setting.costs == "any"
    return Bound("T5, random costs", "at least", value, what, when, applies, PAGE)
