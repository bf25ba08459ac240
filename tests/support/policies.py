"""What the tests of the policies share: a live policy held, round by round, against a plain
learner.
"""

import math
import re
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
import pytest

import purse
from purse import policies, worlds
from purse.base import amounts, spec
from purse.engine import cpu
from purse.engine.draws import draws
from purse.engine.job import make_job
from purse.testing import check_policy
from purse.testing.games import suitable
from purse.testing.policy import _checks_on
from purse.types import Floats, Now, Problem, Ticket, World
from tests.support.paths import SCRIPTED
from tests.support.soak import SOAK, scale

EXACT = 1e-12
# policies of eight kinds: all their steps are compiled in the tests, and some rounds go by hand
ARCHETYPES = (
    "b-kube",
    "exp3.bwk",
    "exp3++.bwk",
    "lin-ucb.price",
    "primal-dual-bwk",
    "replan",
    "tsallis-inf",
    "ucb-bv1",
)
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
    world: World, policy: str, *, budget: Any = 1e6, seed: int = 0, **told: Any
) -> purse.Policy:
    bounds = {"cost_min": world.cost_min / amounts.UNIT, "cost_max": world.cost_max / amounts.UNIT}
    told = {"stop": "exit", **bounds, **told}
    return purse.Policy(policy, n_arms=world.n_arms, budget=budget, seed=seed, **told)


class Draws:
    """What a world answers in each round, as a live policy is told it and as a learner is.

    A report of one number is told as such, which takes half the time of an array.
    """

    def __init__(self, live: purse.Policy, world: World, n_rounds: int, seed: int = 0) -> None:
        rewards, units = draws(world, n_rounds, seed=seed)
        costs, scaled = units / amounts.UNIT, units * live.problem.unit_scale
        self.rewards, self.costs, self.live = rewards, costs, live
        one_resource = live.problem.n_resources == 1
        self.single = one_resource and live.problem.plays == 1
        self.gains: list[list[float]] = rewards.tolist()
        self.prices: list[list[float]] = costs[:, :, 0].tolist()
        self.scaled: Any = scaled[:, :, 0].tolist() if one_resource else scaled

    def tell(self, ticket: Ticket) -> bool:
        at, arms = ticket.t - 1, ticket.arms
        if self.single:
            return self.live.tell(ticket, self.gains[at][arms[0]], self.prices[at][arms[0]])
        return self.live.tell(ticket, self.rewards[at, list(arms)], self.costs[at, list(arms)])


def largest_deviation(
    live: purse.Policy, plain: Learner, world: World, n_rounds: int, *, out: int = 1, seed: int = 0
) -> float:
    """The largest difference between the two in any round, with up to `out` tickets out that are
    told in a random order. With several resources a learner gets all costs of a pull.
    """
    answers = Draws(live, world, n_rounds, seed)
    order = np.random.default_rng(seed)
    waiting: list[Ticket] = []
    ours, theirs = np.zeros((n_rounds, world.n_arms)), np.zeros((n_rounds, world.n_arms))
    drawn, tickets = [], []
    for t in range(1, n_rounds + 1):
        theirs[t - 1] = plain.probabilities(t)
        ours[t - 1] = live.probabilities()
        ticket = live.ask()
        drawn.append(ticket.probabilities)
        tickets.append(ticket.arms)
        assert len(set(ticket.arms)) == live.problem.plays
        waiting.append(ticket)
        while len(waiting) >= (out if out == 1 else order.integers(1, out + 1)):
            ticket = waiting.pop(order.integers(len(waiting)) if out > 1 else 0)
            assert answers.tell(ticket)
            at = ticket.t - 1
            for arm, chance in zip(ticket.arms, ticket.probabilities, strict=True):
                cost = answers.scaled[at][arm]
                plain.learn(ticket.t, arm, chance, answers.gains[at][arm], cost)
    of_tickets = np.array(drawn) - np.take_along_axis(theirs, np.array(tickets), axis=1)
    return float(max(np.abs(ours - theirs).max(), np.abs(of_tickets).max()))


def follows(
    policy: str, plain: Learner, world: World, n_rounds: int, *, out: int = 1, **told: Any
) -> purse.Policy:
    """Check that a policy has the probabilities of a plain learner in every round, and return it as
    it is then.
    """
    live = make_live(world, policy, **told)
    assert largest_deviation(live, plain, world, n_rounds, out=out) < EXACT
    return live


def passes(policy: str, world: World | None = None, **how: Any) -> None:
    """Pass the checks with options or on a problem that would need a loop of its own: in plain
    Python, which the policy's card holds to machine code, and in soak in machine code.
    """
    if SOAK:
        check_policy(policy, world, **how)
        return
    plays, horizon = how.get("plays", 1), how.get("horizon")
    if world is None:
        world, horizon = suitable(policy, plays, horizon)
    games = _checks_on(policy, world, plays=plays, horizon=horizon, quick=True, compiled=False)
    for _, check in games:
        check()


def compile_steps(live: purse.Policy) -> purse.Policy:
    """Have the steps of an archetype in machine code: for games that are long."""
    assert live.name.partition(":")[0] in ARCHETYPES
    live._steps._kind.compile()
    return live


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


def index_deviation(
    policy: str, index: Callable[..., float], *, dear: bool = True, **more: Any
) -> float:
    """How far a policy is from `PlainIndex` in any round: random costs, reports in a random order,
    and costs above one.
    """
    cheap = worlds.function("two_point")([0.9, 0.6, 0.3], [0.6, 0.4, 0.9], cost_min=0.2)
    other = worlds.function("two_point")(
        [0.9, 0.5, 0.2, 0.4], [3, 2, 1.5, 4], cost_min=1, cost_max=5
    )
    games = [(cheap, 1), (cheap, 30), *([(other, 1)] if dear else [])]
    n_rounds, worst = scale(300, 3000), 0.0
    for world, out in games:
        plain = PlainIndex(world.n_arms, index, **more)
        live = make_live(world, policy)
        worst = max(worst, largest_deviation(live, plain, world, n_rounds, out=out))
    return worst


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


def refuses(
    policy: str,
    *options: str,
    allowed: str = "must be a number above 0",
    fields: tuple[str, ...] = ("plays", "n_resources"),
) -> None:
    """Two plays, two resources, an unknown option and these options are each refused in one line,
    which calls a policy from a file by its `NAME`.
    """
    name = policies.load(spec.parse(policy)[0]).NAME
    for field in fields:
        message = f"{name} plays problems with {field}=1, and this one has {field}=2"
        with pytest.raises(purse.InvalidInput, match=f"^{re.escape(message)}$"):
            purse.Policy(policy, n_arms=3, budget=10, cost_min=0.5, **{field: 2})
    messages = {"no_such_option=1": f"unknown option of {name} 'no_such_option'; "}
    for option in options:
        ((field, value),) = spec.parse(f"{policy}:{option}")[1].items()
        messages[option] = f"{field}={value!r}: {allowed}"
    for option, message in messages.items():
        with pytest.raises(purse.InvalidInput, match=f"^{re.escape(message)}"):
            purse.Policy(f"{policy}:{option}", n_arms=2, budget=10, cost_min=0.5)


def plays_two_resources(policy: str) -> None:
    """A policy that is blind to costs takes a problem with two resources, and passes the checks
    there: of those that only differ in what they learn, exp3 in `make test`.
    """
    world = worlds.function("bernoulli")([0.9, 0.4], [[0.5, 1], [1, 0.5]])
    if SOAK or policy == "exp3":
        passes(policy, world)
    assert make_job(policy, world, [10, 10]).problem.n_resources == 2


class Greedy:
    """Takes the arm with the most reward per cost.

    In a tenth of the rounds it takes any arm.
    """

    def __init__(self, problem: Problem, rng: np.random.Generator) -> None:
        self.rng = rng
        self.rewards: Floats = np.ones(problem.n_arms)
        self.costs: Floats = np.ones(problem.n_arms)

    def choose(self, now: Now) -> Any:
        if self.rng.random() < 0.1:
            return self.rng.choice(np.flatnonzero(now.allowed))
        return np.argmax(np.where(now.allowed, self.rewards / self.costs, -1))

    def update(self, now: Now, arm: int, reward: float, cost: Any) -> None:
        self.rewards[arm] += reward
        self.costs[arm] += np.max(cost)


def scripted(script: Any, **options: Any) -> str:
    """The policy that plays the rows of a script in turn."""
    rows = {"script": script, **options}
    return f"{SCRIPTED}:" + ",".join(f"{name}={value}" for name, value in rows.items())


def bits_of(values: Any) -> list[bytes]:
    """The bits of all arrays of a NamedTuple, such as results or a state."""
    return [array.tobytes() for array in cpu.iter_arrays(values)]
