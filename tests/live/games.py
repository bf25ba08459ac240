"""Random problems for a live policy, and what its probabilities must be: the rules written out."""

import math
from typing import NamedTuple

from hypothesis import strategies as st

from purse import Policy
from purse.lab import Ticket
from tests.support.exp3_learners import PlainExp3, PlainExp3PlusPlus
from tests.support.policies import Learner

UNIT = 10**9


def written(units: int) -> str:
    return f"{units // UNIT}.{units % UNIT:09d}"


def clamp(low: int, high: int, value: int) -> int:
    return max(low, min(value, high))


def learner_of(name: str, n_arms: int, c_min: float, budget: float) -> Learner:
    """The rule of a policy of one play written out."""
    if name == "exp3++.bwk":
        return PlainExp3PlusPlus(n_arms, c_min)
    gamma = math.sqrt(c_min * n_arms * math.log(n_arms) / ((math.e - 1) * budget))
    return PlainExp3(n_arms, 0.0 if name == "uniform" else min(1.0, gamma), c_min)


class Game(NamedTuple):
    name: str
    n_arms: int
    plays: int
    resources: int
    low: list[list[int]]
    high: list[list[int]]
    budget: list[int]
    horizon: int | None
    seed: int

    @property
    def sweep(self) -> int:
        return self.n_arms if self.name == "exp3++.bwk" else 0

    def policy(self, stop: str, seed: int = 0) -> Policy:
        return Policy(
            self.name,
            n_arms=self.n_arms,
            plays=self.plays,
            n_resources=self.resources,
            budget=[written(units) for units in self.budget],
            cost_min=[[written(units) for units in arm] for arm in self.low],
            cost_max=[[written(units) for units in arm] for arm in self.high],
            horizon=self.horizon,
            seed=self.seed + seed,
            stop=stop,
        )


@st.composite
def games(draw: st.DrawFn, name: str) -> Game:
    n_arms = draw(st.sampled_from([3, 2, 4, 1]))
    plays = draw(st.sampled_from([1, min(2, n_arms)])) if name == "uniform" else 1
    resources = draw(st.sampled_from([1, 2])) if name == "uniform" else 1
    low = [
        [draw(st.sampled_from([100_000_000, 333_333_333, 1_000_000])) for _ in range(resources)]
        for _ in range(n_arms)
    ]
    high = [[units + draw(st.sampled_from([700_000_000, 1, 0])) for units in arm] for arm in low]
    dearest = [plays * max(column) for column in zip(*high, strict=True)]
    budget = [
        max(
            1,
            cost * draw(st.sampled_from([25, 7, 60, 3, 13])) // 2
            + draw(st.sampled_from([0, 1, -1])),
        )
        for cost in dearest
    ]
    horizon = draw(st.sampled_from([None, None, None, None, 4, 25]))
    return Game(name, n_arms, plays, resources, low, high, budget, horizon, draw(st.integers(0, 9)))


class Out(NamedTuple):
    ticket: Ticket
    tried: frozenset[int]


class Waiting(NamedTuple):
    """A round to be asked for again: after a void with the same arms, after a refusal with one arm
    replaced.
    """

    out: Out
    replace: bool


picks = st.integers(0, 100)
rewards = st.lists(st.sampled_from([0.0, 0.25, 1.0]), min_size=2, max_size=2)
BAD_REWARDS = [("reward", value) for value in (-0.1, 1.5, math.nan, math.inf, None)]
BAD_COSTS = [
    ("cost", value) for value in ("too low", "too high", "0.1234567891", "free", math.nan, None)
]
ALL_THERE_IS, ONE_MORE = -1, -2
cost_parts = st.lists(
    st.sampled_from([0, 1, 500, 1000, ALL_THERE_IS, ONE_MORE]), min_size=4, max_size=4
)
