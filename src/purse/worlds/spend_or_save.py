"""A choice to spend or to save that shows too late: every regret grows in proportion to B."""

import numpy as np

from purse.base import amounts, validation
from purse.errors import invalid
from purse.types import World
from purse.worlds._tables import FOREVER, MOST_ROUNDS, make_world, positive_units

EXAMPLE = "spend_or_save:later=1"
HOPELESS = (
    "whether to spend or to save shows when it is too late to react, and with `later=0` or "
    "`later=1` every player loses a fixed share of the budget"
)


def spend_or_save(
    budget: float, cost_min: float = 0.1, later: float = 1.0, fixed_costs: bool = False
) -> World:
    """Return a world in which the right choice depends on rewards that come only after round B/2.

    In rounds 1 .. B/2 arm 0 pays nothing at cost c = `cost_min`, and arm 1 pays 1 at cost 1. Then
    both pay `later` at cost c. Let x be the part of the first rounds spent on arm 1. The regret is
    (1 - x) B/2 if nothing pays later, and x B (1/(2c) - 1) if later = 1 and c <= 1/2. The larger of
    the two is at least 0.44 B for c = 0.1 and every player. With `fixed_costs` arm 1 always costs 1
    and pays nothing later: constant costs do not help.

    >>> spend_or_save(budget=100).tables.last.tolist()[0]
    50
    """
    half = validation.integer("budget", budget, low=2, high=MOST_ROUNDS) // 2
    low = positive_units("cost_min", cost_min, high=1)
    pay = validation.number("later", later, low=0, high=1)
    if not isinstance(fixed_costs, bool):
        raise invalid("fixed_costs", fixed_costs, "must be True or False")
    rewards = np.array([[0.0, 1.0], [pay, 0.0 if fixed_costs else pay]])[:, :, None]
    costs = np.array([[low, amounts.UNIT], [low, amounts.UNIT if fixed_costs else low]])[
        :, :, None, None
    ]
    return make_world("spend_or_save", np.ones_like(rewards), rewards, costs, last=[half, FOREVER])
