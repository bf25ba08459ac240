"""Worlds and live policies for the checks."""

import tempfile
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from purse import worlds
from purse.base import amounts
from purse.engine.job import Job, make_job
from purse.engine.workspace import PathResults
from purse.errors import InvalidInput
from purse.live.policy import Policy
from purse.types import Floats, Ints, Ticket, World

_HORIZON = 120  # for policies that need one


def suitable(policy: str | ModuleType, plays: int, horizon: int | None) -> tuple[World, int | None]:
    """Return a world and a horizon that the policy can play.

    Random costs come before fixed ones, and no horizon comes before one of 120 rounds.

    Raise `InvalidInput` when the policy can play none of them.
    """
    refusal = InvalidInput()
    for end in (horizon, _HORIZON):
        for world in (
            _standard_world(),
            worlds.function("bernoulli")(rewards=[0.9, 0.6, 0.3, 0.5], costs=[0.6, 0.3, 0.9, 0.5]),
        ):
            try:
                make_job(policy, world, 10, plays=plays, horizon=end)
            except InvalidInput as error:
                refusal = error
            else:
                return world, end
    raise refusal


def _standard_world() -> World:
    return worlds.function("two_point")(
        rewards=[0.9, 0.6, 0.3, 0.5], costs=[0.6, 0.3, 0.9, 0.5], cost_min=0.2
    )


def contextual_worlds() -> tuple[World, ...]:
    """Return worlds of four arms with contexts: the same for all arms, and one of each arm."""
    shared = worlds.function("linear_contexts")(arms=4, features=2, rows=64, horizon=None)
    chance = np.random.default_rng(0)
    own = worlds.function("table")(
        rewards=chance.random((50, 4)),
        costs=chance.uniform(0.2, 1, (50, 4)),
        features=chance.uniform(-1, 1, (50, 4, 2)),
        sample=True,
    )
    return shared, own


def half_down(world: World) -> World:
    """Return the world with outages: all arms up, then every second one down, then the others."""
    even = np.arange(world.n_arms) % 2 == 0
    up = [np.ones(world.n_arms), ~even, even] if world.n_arms > 1 else [np.ones(1)]
    return worlds.function("outages")(world, np.array(up, float), segments=[2, 7, 5][: len(up)])


def live_policy(policy: str | ModuleType, job: Job) -> Policy:
    """Return a live policy that knows what the engine's policy in this job is told."""
    return Policy.of(job.problem, policy, seed=job.game.seed, stop=job.problem.stop)


def next_round(live: Policy) -> int:
    """Return the round that the next ask is for."""
    return live._again[0].t if live._again else live.t + 1


def context_of(world: World, contexts: Floats, t: int) -> Any:
    """Return the context of round t as `ask` takes it, from those of all rounds (T, A, n)."""
    if world.n_features == 0:
        return None
    rows = contexts[t - 1, :, :-1]
    return rows if world.per_arm else rows[0]


def answer(live: Policy, ticket: Ticket, rewards: Any, costs: Ints) -> bool:
    """Report the world's rewards and costs for a ticket, and return whether it was paid."""
    arms = list(ticket.arms)
    return live.tell(
        ticket, rewards[arms], [[amounts.text(unit) for unit in costs[arm]] for arm in arms]
    )


def through_file(live: Policy) -> Policy:
    """Return the policy after saving and loading it."""
    with tempfile.TemporaryDirectory() as folder:
        live.save(Path(folder, "policy.npz"))
        return Policy.load(Path(folder, "policy.npz"), allow_policy_file=True)


def poison(live: Policy, value: float = -(2.0**40)) -> None:
    """Fill the scratch with nonsense, because nothing in it may survive a call."""
    for array in live._game.scratch:
        array[...] = value if array.dtype.kind == "f" else -(2**40)


def check_same(
    label: str,
    rounds: int,
    pulls: Ints,
    live: Policy,
    results: PathResults,
    state: Any,
    hint: str = "",
) -> None:
    """Check that a live game has ended where the engine's path 0 has, to the last bit."""
    ours = rounds, pulls, live.gain, live.spent_units, *live.state
    theirs = results.rounds, results.pulls, results.gain, results.spent, *state
    names = ("rounds", "pulls", "gain", "spent", *(f"state.{name}" for name in state._fields))
    for name, here, there in zip(names, ours, theirs, strict=True):
        assert np.asarray(here).tobytes() == there[0].tobytes(), (
            f"{label}: {name} differs: {here} live, {there[0]} in the engine{hint}"
        )
