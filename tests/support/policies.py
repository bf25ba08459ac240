"""What the tests of the policies share: a live policy held, round by round, against a plain
learner.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
import pytest

import purse
from purse import policies, worlds
from purse.base import amounts, spec
from purse.engine.draws import draws
from purse.types import Floats, Ticket, World

EXACT = 1e-12
LIBM = re.compile(
    r"exp(2|10|m1)?|log(2|10|1p)?|powi?|ldexp|fmod|cbrt|hypot|a?(sin|cos|tan)h?|atan2|erfc?|[tl]gamma"
)


class Learner(Protocol):
    """A formula written out: probabilities before round t, and what a report changes."""

    def probabilities(self, t: int) -> Floats: ...

    def learn(self, t: int, arm: int, probability: float, reward: float, cost: float) -> None: ...


class PlainIndex:
    """An index rule written out: `index(t, i, pulls, rewards, costs)` of arm i, from the pulls and
    the means of all arms (nan where there is no report).

    With probability `explore(t, n_arms)` any arm comes.
    """

    def __init__(
        self,
        n_arms: int,
        index: Callable[..., float],
        explore: Callable[[int, int], float] = lambda t, n_arms: 0.0,
    ) -> None:
        self.index, self.explore = index, explore
        self.pulls, self.rewards, self.costs = (
            np.zeros(n_arms),
            np.full(n_arms, np.nan),
            np.full(n_arms, np.nan),
        )
        self.sums = np.zeros((2, n_arms))

    def probabilities(self, t: int) -> Floats:
        n_arms = len(self.pulls)
        if t <= n_arms:
            return np.eye(n_arms)[t - 1]
        scores = [
            self.index(t, i, self.pulls, self.rewards, self.costs) if self.pulls[i] else math.inf
            for i in range(n_arms)
        ]
        best = np.array(scores) == max(scores)
        explore = self.explore(t, n_arms)
        return explore / n_arms + (1 - explore) * best / best.sum()

    def learn(self, t: int, arm: int, probability: float, reward: float, cost: float) -> None:
        self.pulls[arm] += 1
        self.sums[:, arm] += reward, cost
        self.rewards[arm], self.costs[arm] = self.sums[:, arm] / self.pulls[arm]


def make_live(
    world: World, policy: str, *, budget: float = 1e6, seed: int = 0, **told: Any
) -> purse.Policy:
    bounds = {
        "cost_min": world.cost_min / amounts.UNIT,
        "cost_max": world.cost_max / amounts.UNIT,
        **told,
    }
    return purse.Policy(
        policy, n_arms=world.n_arms, budget=budget, seed=seed, stop="exit", **bounds
    )


def frequency_surprise(live: purse.Policy, world: World, n_rounds: int) -> float:
    """How many standard errors the arms' counts are from the sums of their probabilities, for the
    worst arm.
    """
    rewards, costs = draws(world, n_rounds)
    counts, expected, variance = (
        np.zeros(world.n_arms),
        np.zeros(world.n_arms),
        np.zeros(world.n_arms),
    )
    for t in range(n_rounds):
        chances = live.probabilities()
        ticket = live.ask()
        i = ticket.arm
        assert ticket.probability == pytest.approx(chances[i], abs=1e-15)
        live.tell(ticket, float(rewards[t, i]), int(costs[t, i, 0]) / amounts.UNIT)
        counts[i] += 1
        expected += chances
        variance += chances * (1 - chances)
    return float((np.abs(counts - expected) / np.sqrt(variance)).max())


def largest_deviation(
    live: purse.Policy, plain: Learner, world: World, n_rounds: int, *, out: int = 1, seed: int = 0
) -> float:
    """The largest difference between the two in any round, with up to `out` tickets out that are
    told in a random order.
    """
    rewards, costs = draws(world, n_rounds, seed=seed)
    order = np.random.default_rng(seed)
    waiting: list[Ticket] = []
    worst = 0.0
    for t in range(1, n_rounds + 1):
        worst = max(worst, float(np.abs(live.probabilities() - plain.probabilities(t)).max()))
        waiting.append(live.ask())
        while len(waiting) >= (out if out == 1 else order.integers(1, out + 1)):
            ticket = waiting.pop(order.integers(len(waiting)) if out > 1 else 0)
            i = ticket.arm
            units = int(costs[ticket.t - 1, i, 0])
            assert live.tell(ticket, float(rewards[ticket.t - 1, i]), units / amounts.UNIT)
            plain.learn(
                ticket.t,
                i,
                ticket.probability,
                float(rewards[ticket.t - 1, i]),
                units * float(live.problem.unit_scale[0]),
            )
    return worst


def libm_calls(loop: Any) -> set[str]:
    """The functions of the C library that the machine code of a compiled function calls, but for
    sqrt, which is the same everywhere.
    """
    modules = [overload.library._get_module_for_linking() for overload in loop.overloads.values()]
    called = {
        function.name
        for module in modules
        for function in module.functions
        if function.is_declaration
    }
    return {
        name
        for name in called
        if LIBM.fullmatch(re.sub(r"^llvm\.|\.v?[0-9]*f(32|64)(\.i32)?$", "", name))
    }


def tell_all(live: purse.Policy, *reports: tuple[float, float]) -> list[int]:
    """Ask and tell these (reward, cost) in turn; returns the arms that came."""
    arms = []
    for reward, cost in reports:
        ticket = live.ask()
        assert live.tell(ticket, reward, cost)
        arms.append(ticket.arm)
    return arms


def plain_rates(
    t: int,
    cap: float,
    pulls: Floats,
    rewards: Floats,
    costs: Floats,
    *,
    c_min: float,
    lam: float,
    alpha: float,
    beta: float,
    direct: bool,
) -> Floats:
    """The exploration rates of EXP3++, all bounds from scratch."""
    n_arms = len(pulls)
    ucb, lcb = np.full(n_arms, 1 / c_min), np.zeros(n_arms)
    for i in range(n_arms):
        if pulls[i] == 0:
            continue
        eta = math.sqrt(alpha * math.log(n_arms ** (1 / alpha) * t) / (2 * pulls[i]))
        efficiency = (rewards[i] / pulls[i]) / (costs[i] / pulls[i])
        if direct:
            width = (1 + 1 / lam) * eta / (costs[i] / pulls[i])
        elif eta < lam:
            width = (1 + 1 / lam) * eta / (lam - eta)
        else:
            continue
        ucb[i] = min(1 / c_min, efficiency + width)
        lcb[i] = max(0.0, efficiency - width)
    out = np.full(n_arms, cap)
    for i in range(n_arms):
        gap = max(0.0, max((lcb[j] for j in range(n_arms) if j != i), default=0.0) - ucb[i])
        if gap > 0:
            out[i] = min(cap, beta * math.log(t) / (t * gap**2))
    return out


def index_deviation(policy: str, index: Callable[..., float], **more: Any) -> float:
    """How far a policy is from `PlainIndex`: random costs, costs above one, and reports in a random
    order.
    """
    cheap = worlds.function("two_point")([0.9, 0.6, 0.3], [0.6, 0.4, 0.9], cost_min=0.2)
    dear = worlds.function("two_point")(
        [0.9, 0.5, 0.2, 0.4], [3, 2, 1.5, 4], cost_min=1, cost_max=5
    )
    cases = [(cheap, 1, 3000), (cheap, 30, 3000), (dear, 1, 2000)]
    return max(
        largest_deviation(
            make_live(world, policy), PlainIndex(world.n_arms, index, **more), world, n, out=out
        )
        for world, out, n in cases
    )


def refuses(policy: str, *options: str, allowed: str = "must be a number above 0") -> None:
    """Two plays, two resources and a word for a number are each refused in one line, which calls
    a policy from a file by its `NAME`.
    """
    name = policies.load(spec.parse(policy)[0]).NAME
    for field, told in (("plays", {"plays": 2}), ("n_resources", {"n_resources": 2})):
        with pytest.raises(
            purse.InvalidInput,
            match=rf"^{re.escape(name)} plays problems with {field}=1, and this one has "
            rf"{field}=2$",
        ):
            purse.Policy(policy, n_arms=3, budget=10, cost_min=0.5, **told)
    for option in options:
        with pytest.raises(purse.InvalidInput, match=rf"^{option.split('=')[0]}=.*: {allowed}"):
            purse.Policy(f"{policy}:{option}", n_arms=2, budget=10, cost_min=0.5)


def index_edges(policy: str) -> None:
    """One arm; no arm comes before one whose report is missing; without any report all arms are
    equal.
    """
    alone = purse.Policy(policy, n_arms=1, budget=10, cost_min=0.5)
    for reward, cost in ((0, 0.5), (0, 1), (1, 0.5), (0.5, 0.5)):
        assert alone.probabilities().tolist() == [1.0]
        assert alone.tell(alone.ask(), reward, cost)
    live = purse.Policy(policy, n_arms=4, budget=100, cost_min=0.5)
    tickets = [live.ask() for _ in range(4)]
    assert live.probabilities() == pytest.approx([0.25] * 4, abs=1e-15)
    for i in (3, 0, 1):
        live.tell(tickets[i], 1, 0.5)
    assert live.probabilities()[2] == live.probabilities().max()
    assert all(np.isfinite(array).all() for array in (*live.state, *live._game.scratch))


def scores(live: purse.Policy) -> list[float]:
    """The indices behind the next choice of a live policy."""
    live.probabilities()
    return live._game.scratch.scores.tolist()
