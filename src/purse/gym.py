"""Worlds as Gymnasium environments, for loops and agents of your own: `KnapsackEnv`.

It needs the extra `gym`. An episode is a path: with the same seed and path, the same arms return
the rewards and costs that they return in `purse.simulate`, to the bit. Importing this module
registers the environment:
`gymnasium.make("purse.gym:purse/Knapsack-v0", world="two_worlds", budget=100)`.
"""

from operator import ge, index, sub, truediv
from typing import Any

import numpy as np
from numpy.typing import NDArray

from purse import worlds
from purse.base import validation
from purse.base.amounts import in_users_unit
from purse.base.optional import needs
from purse.engine.draws import draws
from purse.engine.job import SEEDS, problem_of
from purse.engine.rules import NEVER
from purse.errors import AskRefused, invalid, unknown
from purse.types import World

with needs("purse.gym", "gym"):
    import gymnasium
    from gymnasium import spaces

_Observation = NDArray[np.float32]
_RULES = ("exit", "hold")  # under `retry` another arm than the chosen one would be pulled
_BLOCK = 2**15  # draws at once: one costs as much as thousands


class KnapsackEnv(gymnasium.Env[_Observation, np.int64]):
    """A world with a budget, as a Gymnasium environment.

    action        the arm to pull, from 0 to K - 1
    observation   the rest of each resource as a part of its budget, then, if there is a horizon,
                  the part of the rounds that remains; shape (d,) or (d + 1,)
    reward        the reward of the pull, in the world's `reward_range`; 0 if the pull could not
                  be paid
    terminated    whether the pull could not be paid (`stop` as in `purse.simulate`: "exit" or
                  "hold"), or no arm can be paid from now on
    truncated     whether this was the last round of the horizon, or of the world
    info          `cost` of the pull, `spent` and `left` in all, in the user's unit, one number for
                  each resource if there are several; `t`, the rounds so far; after `reset` also
                  `seed` and `path`

    Raise `InvalidInput` when a value is not allowed.
    """

    metadata = {"render_modes": []}  # noqa: RUF012 - what Gymnasium wants

    def __init__(
        self, world: str | World, budget: Any, *, horizon: int | None = None, stop: str = "exit"
    ) -> None:
        self.world = worlds.make(world, budget)
        self.problem = problem_of(self.world, budget, horizon=horizon, stop=stop)
        self.stop = validation.choice("stop", stop, _RULES)
        self.action_space = spaces.Discrete(self.problem.n_arms)
        self.observation_space = spaces.Box(
            0, 1, (self.problem.n_resources + (self.problem.horizon is not None),), np.float32
        )
        self._budget: list[int] = self.problem.budget.tolist()
        limit = self.problem.cost_max if stop == "hold" else self.problem.cost_min
        # where less than this is left, the arm cannot be paid
        self._needs: list[list[int]] = limit.tolist()
        self._last_round = min(self.problem.horizon or NEVER, self.world.n_rounds or NEVER)
        self._seed, self._path = int(self.np_random.integers(SEEDS)), -1
        self._going = False

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[_Observation, dict[str, Any]]:
        """Begin a path and return its first observation and info.

        seed      begin path 0 of this seed; None: the next path of the last seed, at first a random
                  one
        options   `{"path": 3}` chooses the path
        """
        for name in options or {}:
            if name != "path":
                raise unknown("option", str(name), ["path"])
        chosen = self._seed if seed is None else validation.integer("seed", seed, low=0, high=SEEDS)
        self._path = validation.integer(
            "path",
            (options or {}).get("path", self._path + 1 if seed is None else 0),
            low=0,
            high=SEEDS,
        )
        self._seed = chosen
        super().reset(seed=None if seed is None else chosen)
        self._t, self._left, self._going = 0, self._budget, True
        self._first, self._rewards = 1, np.zeros((0, 0))
        return self._observation(), self._info([0] * len(self._budget)) | {
            "seed": self._seed,
            "path": self._path,
        }

    def step(self, action: Any) -> tuple[_Observation, float, bool, bool, dict[str, Any]]:
        """Pull an arm, and return observation, reward, terminated, truncated and info.

        Raise `AskRefused` when no path was begun, or when the path has ended.
        Raise `InvalidInput` when the action is not an arm.
        """
        if not self._going:
            raise AskRefused("no episode is running: call reset()")
        try:
            arm = index(action)
        except TypeError:
            arm = -1
        if not 0 <= arm < self.problem.n_arms:
            raise invalid(
                "action",
                action,
                f"must be an arm, a whole number from 0 to {self.problem.n_arms - 1}",
            )
        reward, cost = self._draw(arm)
        paid = self._affords(self._needs[arm]) and self._affords(cost)
        if paid:
            self._t += 1
            self._left = list(map(sub, self._left, cost))
        terminated = not paid or not any(map(self._affords, self._needs))
        truncated = not terminated and self._t == self._last_round
        self._going = not terminated and not truncated
        return (
            self._observation(),
            reward if paid else 0.0,
            terminated,
            truncated,
            self._info(cost if paid else [0] * len(cost)),
        )

    def _draw(self, arm: int) -> tuple[float, list[int]]:
        """Return the arm's reward in the next round, and its cost in units."""
        row = self._t + 1 - self._first
        if row == len(self._rewards):
            self._first, row = self._t + 1, 0
            count = min(max(1, _BLOCK // self.problem.n_arms), self._last_round - self._t)
            self._rewards, self._costs = draws(
                self.world, count, seed=self._seed, path=self._path, first=self._first
            )
        low, high = self.world.reward_range
        return low + (high - low) * self._rewards[row, arm].item(), self._costs[row, arm].tolist()

    def _affords(self, units: list[int]) -> bool:
        return all(map(ge, self._left, units))

    def _observation(self) -> _Observation:
        parts = list(map(truediv, self._left, self._budget))
        if self.problem.horizon is not None:
            parts.append(1 - self._t / self.problem.horizon)
        return np.array(parts, np.float32)

    def _info(self, cost: list[int]) -> dict[str, Any]:
        spent = list(map(sub, self._budget, self._left))
        return {
            "cost": in_users_unit(cost),
            "spent": in_users_unit(spent),
            "left": in_users_unit(self._left),
            "t": self._t,
        }


gymnasium.register("purse/Knapsack-v0", entry_point="purse.gym:KnapsackEnv")
