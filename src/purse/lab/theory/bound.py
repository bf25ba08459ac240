"""Bounds as data: what a bound states, and the problem and setting that it is asked about."""

import re
from typing import Any, NamedTuple

from purse import worlds
from purse.base import amounts, spec, validation
from purse.errors import InvalidInput
from purse.types import World

PAPER = "Rangi et al. (2019), Theorem"
OURS = "purse, page on the paper"
PAGE = "purse, page What is true"
SMALLEST = 1e-9


class Setting(NamedTuple):
    """The knowledge of a world: whether rounds are i.i.d., and which costs are constant.

    `costs` is "any", "per arm" (each arm has a constant cost) or "one" (one cost for all arms).
    """

    iid: bool = False
    costs: str = "any"
    world: str | None = None  # which one it is; None: any of this kind, the worst included
    alpha: float | None = None  # of the world `theorem5`, the power that its large cost is


ADVERSARIAL = Setting()


class Bound(NamedTuple):
    """A bound with its conditions and source; `value` is None if the problem lacks an input."""

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


def setting_of(world: World) -> Setting:
    """Return the setting of a world: i.i.d. rounds, constant costs, its name."""
    # the constant must be the least that is declared
    one = world.costs is not None and bool((world.costs == world.cost_min.min()).all())
    costs = "any" if world.costs is None else "one" if one else "per arm"
    name, _, options = world.name.partition(":")
    alpha = spec.parse(world.name)[1].get("alpha") if name == "theorem5" and options else None
    return Setting(world.reward_means is not None, costs, name, alpha)


def problem_of(world: str | World, budget: float) -> dict[str, Any]:
    """Return the arguments of `table` for a world of one resource.

    Raise `InvalidInput` when the world has several resources, or pulls that cost nothing.
    """
    world = worlds.make(world, budget)
    if world.n_resources > 1:
        raise InvalidInput(
            f"{world.name} has {world.n_resources} resources; these bounds are for one"
        )
    if (world.cost_min == 0).any():
        raise InvalidInput(
            f"{world.name} has pulls that cost nothing; these bounds need a least cost"
        )
    return {
        "n_arms": world.n_arms,
        "cost_min": float(world.cost_min.min() / amounts.UNIT),
        "cost_max": float(world.cost_max.max() / amounts.UNIT),
        "gaps": gaps_of(world),
        "setting": setting_of(world),
    }


def gaps_of(world: World) -> list[float] | None:
    """Return how much less efficient each worse arm is; None if the means of the world change.

    Differences of rounding size, up to 1e-12 of the best efficiency, are left out.
    """
    efficiencies = world.efficiencies
    if efficiencies is None:
        return None
    best = efficiencies.max()
    return [gap for gap in (best - efficiencies).tolist() if gap > 1e-12 * best]


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
