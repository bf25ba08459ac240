"""Contextual worlds for tests, and a live policy that is held against the engine on them."""

from typing import Any

import numpy as np

import purse
from purse.base import amounts
from purse.engine import cpu
from purse.engine.draws import draws
from purse.engine.job import make_job
from purse.lab.theory.contexts import lp_with_contexts
from purse.testing.games import check_same
from purse.types import Floats, Ticket, World
from purse.worlds._tables import bernoulli_atoms, make_world


def rows_of(n_rounds: int, *, one_hot: bool = False, per_arm: bool = False) -> World:
    """A world of three arms and two features whose round t has row t - 1: rewards are 1 or 0, costs
    are those of the row. With `one_hot` a row has one of three classes, the last without a column.
    """
    rng = np.random.default_rng(5)
    shape = (n_rounds, 3, 2) if per_arm else (n_rounds, 1, 2)
    features = rng.uniform(-1, 1, shape).astype(np.float32).astype(np.float64)
    if one_hot:
        features = np.eye(3)[rng.integers(3, size=(n_rounds, 1))][:, :, :2]
    means = 0.5 + features @ np.array([0.4, 0.05]) * np.array([-1, 0, 1.0])
    costs = 0.4 + features @ np.array([0.1, 0.2]) * np.array([-1, 1, 1.0]) + [0, 0.1, 0.2]
    units = np.rint(costs * amounts.UNIT).astype(np.int64)[:, :, None]
    return make_world(
        "rows",
        *bernoulli_atoms(means, units),
        last=np.arange(1, n_rounds + 1),
        features=features if per_arm else features[:, 0],
        n_rounds=n_rounds,
    )


def context_of(world: World, t: int) -> Any:
    """The context of round t in a world of rows, as a live policy is told it."""
    seen = world.tables.features[t - 1, :, :-1]
    return seen.tolist() if world.per_arm else seen[0].tolist()


def live_on(policy: str, world: World, budget: Any, horizon: int | None = None) -> purse.Policy:
    """A live policy that knows what the engine's policies are told of this world."""
    job = make_job(policy, world, budget, horizon=horizon)
    return purse.Policy.of(job.problem, policy, seed=0, stop="exit")


class Answers:
    """What the rows of a world answer to tickets."""

    def __init__(self, world: World, n_rounds: int) -> None:
        self.rewards, units = draws(world, n_rounds)
        self.pulls = np.zeros(world.n_arms, np.int64)
        self.costs: Floats = units / amounts.UNIT

    def tell(self, live: purse.Policy, ticket: Ticket) -> tuple[float, float]:
        """Report on a ticket of one play; return its reward and cost."""
        reward = float(self.rewards[ticket.t - 1, ticket.arm])
        cost = float(self.costs[ticket.t - 1, ticket.arm, 0])
        assert live.tell(ticket, reward, cost)
        self.pulls[ticket.arm] += 1
        return reward, cost


def live_equals_engine(policy: str, world: World, budget: Any, horizon: int | None = None) -> None:
    """Check that a live policy ends where the engine's path 0 ends, to the last bit."""
    results, state = cpu.play_block(make_job(policy, world, budget, horizon=horizon), 1)
    live, answers = live_on(policy, world, budget, horizon), Answers(world, world.n_rounds or 0)
    for t in range(1, int(results.rounds[0]) + 1):
        ticket = live.ask(context=context_of(world, t))
        if not ticket.skipped:
            answers.tell(live, ticket)
    assert results.rounds[0] > 0
    check_same(policy, live.t, answers.pulls, live, results, state)


def budget_of(world: World, part: float) -> float:
    """A part of what the arm that is dearest on average costs in all rounds."""
    assert world.horizon is not None
    assert world.cost_means is not None
    return round(part * world.horizon * float(world.cost_means.max()), 6)


def share_of_optimum(policy: str, world: World, part: float, n_paths: int = 10) -> Floats:
    """The gain of each path per LP with contexts, for such a part of the dearest arm's costs."""
    budget = budget_of(world, part)
    run = purse.simulate(policy, world, budget, n_paths=n_paths, stop="retry", seed=3)
    found: Floats = run.gain / lp_with_contexts(world, budget)
    return found
