"""Checks that every policy, world and storage must pass. They ship, so that your own modules can be
held to the same.

    >>> from purse.testing import check_policy
    >>> check_policy("exp3.bwk")

Each raises `AssertionError` with a sentence that says what is wrong.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from purse import worlds
from purse.base import amounts
from purse.base.progress import progress
from purse.campaign.conformance import check_storage as check_storage
from purse.engine import cpu
from purse.engine.draws import draws
from purse.engine.job import make_job
from purse.engine.simulate import gpu_engine
from purse.errors import AskRefused, InvalidInput
from purse.live.policy import Policy
from purse.types import SKIP, STOP, STOP_RULES, Ints, Ticket, World

ROUNDS = 400  # so many rounds are compared one by one
HORIZON = 120  # for policies that need one
GPU_PATHS = 300  # blocks of threads, the last of them not full


def suitable(policy: str | ModuleType, plays: int, horizon: int | None) -> tuple[World, int | None]:
    """A world, and a horizon, that the policy can play: with random costs, else with fixed ones;
    without a horizon, else with one.
    """
    refusal = InvalidInput()
    for end in (horizon, HORIZON):
        for place in (
            standard_world(),
            worlds.function("bernoulli")(rewards=[0.9, 0.6, 0.3, 0.5], costs=[0.6, 0.3, 0.9, 0.5]),
        ):
            try:
                make_job(policy, place, 10, plays=plays, horizon=end)
            except InvalidInput as error:
                refusal = error
            else:
                return place, end
    raise refusal


def standard_world() -> World:
    """Four arms with random rewards and random costs."""
    return worlds.function("two_point")(
        rewards=[0.9, 0.6, 0.3, 0.5], costs=[0.6, 0.3, 0.9, 0.5], cost_min=0.2
    )


def check_policy(
    policy: str | ModuleType,
    world: World | None = None,
    *,
    plays: int = 1,
    horizon: int | None = None,
) -> None:
    """Probabilities are probabilities, the budget holds, nothing overflows, state survives a file,
    live and engine agree.
    """
    place, horizon = (world, horizon) if world is not None else suitable(policy, plays, horizon)
    dearest = place.cost_max.max(axis=0) * plays / amounts.UNIT
    check_late_reports(policy, place, budget=(dearest * 100).tolist(), plays=plays, horizon=horizon)
    for rule in STOP_RULES:
        for seed in (0, 1):
            check_agreement(
                policy,
                place,
                budget=(dearest * 40.25).tolist(),
                rule=rule,
                seed=seed,
                plays=plays,
                horizon=horizon,
            )
    check_long_run(policy, place, budget=(dearest * 100_000).tolist(), plays=plays, horizon=horizon)


def check_agreement(
    policy: str | ModuleType,
    world: World,
    *,
    budget: Any,
    rule: str,
    seed: int,
    plays: int,
    horizon: int | None,
) -> None:
    """A live policy that is fed the world's draws ends where the engine's path 0 ends, to the last
    bit of its state.
    """
    job = make_job(policy, world, budget, seed=seed, stop=rule, plays=plays, horizon=horizon)
    results, state = cpu.play_block(job, 1)
    live, pulls = (
        live_policy(policy, world, budget, rule, seed, plays, horizon),
        np.zeros(world.n_arms, np.int64),
    )
    rewards, costs = draws(world, min(int(results.rounds[0]) + 1, job.game.last_round), seed=seed)
    saved_at = int(results.rounds[0]) // 2
    rounds = 0
    while not live.over and rounds < min(job.game.last_round, len(rewards)):
        try:
            check_probabilities(live)
            ticket = live.ask()
        except AskRefused:
            break
        if ticket.arm == SKIP or answer(live, ticket, rewards[ticket.t - 1], costs[ticket.t - 1]):
            rounds = ticket.t
            if ticket.arm != SKIP:
                np.add.at(pulls, list(ticket.arms), 1)
        if rounds == saved_at:
            live = through_file(live)
    label = f"{job.policy.NAME} under stop={rule!r}, seed {seed}"
    assert rounds == results.rounds[0], (
        f"{label}: {rounds} rounds live, {results.rounds[0]} in the engine"
    )
    assert (pulls == results.pulls[0]).all(), (
        f"{label}: pulls {pulls} live, {results.pulls[0]} in the engine"
    )
    assert live.gain == results.gain[0], (
        f"{label}: gain {live.gain!r} live, {results.gain[0]!r} in the engine"
    )
    assert live.spent_units == results.spent[0].tolist(), (
        f"{label}: spent {live.spent_units} live, {results.spent[0]} in the engine"
    )
    for name, ours, theirs in zip(state._fields, live._state, state, strict=True):
        assert ours.tobytes() == theirs.tobytes(), (
            f"{label}: state.{name} differs: {ours} live, {theirs} in the engine"
        )


def check_probabilities(live: Policy) -> None:
    """They lie in [0, 1], sum to `plays`, are positive for the arm that comes, and asking twice
    gives the same.
    """
    try:
        first, second = live._peek(), live._peek()
    except AskRefused:
        return
    if first.arms[0] in (SKIP, STOP):
        return
    for arm, chance in zip(first.arms, first.probabilities, strict=True):
        assert 0 <= arm < live.problem.n_arms, (
            f"{live.name}: chose arm {arm} of {live.problem.n_arms} in round {first.t}"
        )
        assert 0 < chance <= 1 + 1e-12, (
            f"{live.name}: chose arm {arm} with probability {chance} in round {first.t}"
        )
    assert first == second, (
        f"{live.name}: asked twice in round {first.t}, it chose {first.arms} and {second.arms}"
    )
    if live._steps.look is None:
        return
    chances = live.probabilities()
    assert ((chances >= 0) & (chances <= 1 + 1e-12)).all(), (
        f"{live.name}: probabilities outside [0, 1] in round {first.t}: {chances}"
    )
    missing = live.problem.plays - chances.sum()  # the chance that the round passes without a pull
    assert (
        -1e-9 < missing < (1e-9 if live.problem.horizon is None else live.problem.plays + 1e-9)
    ), f"{live.name}: probabilities sum to {chances.sum()} in round {first.t}"
    for arm, chance in zip(first.arms, first.probabilities, strict=True):
        assert live._again or abs(chances[arm] - chance) < 1e-12, (
            f"{live.name}: arm {arm} came with {chance}, its probability was {chances[arm]}"
        )


def check_late_reports(
    policy: str | ModuleType, world: World, *, budget: Any, plays: int, horizon: int | None
) -> None:
    """With many tickets out, reports in any order and some voided, probabilities stay sound and the
    budget holds.
    """
    live = live_policy(policy, world, budget, "hold", 0, plays, horizon)
    rewards, costs = draws(world, min(ROUNDS, world.n_rounds or ROUNDS))
    order = np.random.default_rng(0)
    for _ in range(len(rewards)):
        try:
            check_probabilities(live)
            live.ask()
        except AskRefused:
            if not live.tickets:
                break
        while len(live.tickets) > order.integers(3 * world.n_arms):
            ticket = live.tickets[order.integers(len(live.tickets))]
            if order.random() < 0.1:
                live.void(ticket)
            else:
                assert answer(live, ticket, rewards[ticket.t - 1], costs[ticket.t - 1]), (
                    f"{live.name}: a held ticket was not paid"
                )
        assert min(live.left_units) >= 0, f"{live.name}: overspent by {-min(live.left_units)} units"
    for name, array in live._state._asdict().items():
        assert np.isfinite(array).all(), (
            f"{live.name}: state.{name} is not finite after late reports"
        )


def check_long_run(
    policy: str | ModuleType, world: World, *, budget: Any, plays: int, horizon: int | None
) -> None:
    """After at least 1e5 rounds every number is finite and no path has spent more than its
    budget.
    """
    job = make_job(policy, world, budget, plays=plays, horizon=horizon)
    results, state = cpu.play_block(job, 2)
    assert (results.spent <= job.problem.budget).all(), (
        f"{job.policy.NAME}: spent {results.spent} of {job.problem.budget} units"
    )
    assert np.isfinite(results.gain).all(), f"{job.policy.NAME}: gain {results.gain}"
    for name, array in state._asdict().items():
        assert np.isfinite(array).all(), (
            f"{job.policy.NAME}: state.{name} is not finite after {results.rounds.min()} rounds"
        )


def check_gpu(
    policy: str | ModuleType,
    world: World | None = None,
    *,
    rule: str = "exit",
    plays: int = 1,
    horizon: int | None = None,
    checkpoints: int = 0,
) -> None:
    """A GPU plays the same paths as the CPU, to the last bit of every result."""
    place, horizon = (world, horizon) if world is not None else suitable(policy, plays, horizon)
    budget = (place.cost_max.max(axis=0) * plays * 400.25 / amounts.UNIT).tolist()
    job = make_job(
        policy, place, budget, stop=rule, plays=plays, horizon=horizon, checkpoints=checkpoints
    )
    with progress(f"{job.name} on {place.name}") as shown:
        ours, theirs = (
            cpu.simulate(job, GPU_PATHS, None, None, shown),
            gpu_engine().simulate(job, GPU_PATHS, shown),
        )
    label = f"{job.policy.NAME} on {place.name} under stop={rule!r}"
    for k, (here, there) in enumerate(
        zip(cpu.iter_arrays(ours), cpu.iter_arrays(theirs), strict=True)
    ):
        # NaN is NaN
        differ = (
            ((here != there) & ((here == here) | (there == there)))
            .reshape(GPU_PATHS, -1)
            .any(axis=1)
            .sum()
        )
        assert differ == 0, (
            f"{label}: result {k} differs between CPU and GPU on {differ} of {GPU_PATHS} paths"
        )


def live_policy(
    policy: str | ModuleType,
    world: World,
    budget: Any,
    rule: str,
    seed: int,
    plays: int,
    horizon: int | None,
) -> Policy:
    """The live policy that knows what the engine's policies are told of this world."""
    job = make_job(policy, world, budget, seed=seed, stop=rule, plays=plays, horizon=horizon)
    return Policy.of(job.problem, policy, seed=seed, stop=rule)


def answer(live: Policy, ticket: Ticket, rewards: Any, costs: Ints) -> bool:
    """Report what the world gives for a ticket."""
    arms = list(ticket.arms)
    return live.tell(
        ticket, rewards[arms], [[amounts.text(unit) for unit in costs[arm]] for arm in arms]
    )


def through_file(live: Policy) -> Policy:
    """The policy after it was saved and loaded."""
    with tempfile.TemporaryDirectory() as folder:
        live.save(Path(folder, "policy.npz"))
        return Policy.load(Path(folder, "policy.npz"))


def check_world(world: World, *, n_rounds: int = 20_000, seed: int = 0) -> None:
    """Rewards in [0, 1], costs within what is declared, draws that depend on (seed, path, round,
    arm) alone, true means.
    """
    rounds = min(n_rounds, world.n_rounds or n_rounds)
    rewards, costs = draws(world, rounds, seed=seed)
    half = rounds // 2
    for all_rounds, later in zip(
        (rewards, costs), draws(world, rounds - half, seed=seed, first=half + 1), strict=True
    ):
        assert (later == all_rounds[half:]).all(), (
            f"{world.name}: a round's draw depends on where one starts"
        )
    assert ((rewards >= 0) & (rewards <= 1)).all(), (
        f"{world.name}: rewards between {rewards.min()} and {rewards.max()}"
    )
    assert ((costs >= world.cost_min) & (costs <= world.cost_max)).all(), (
        f"{world.name}: costs outside the declared bounds"
    )
    if world.costs is not None:
        assert (costs == world.costs).all(), f"{world.name}: costs are declared fixed and vary"
    low, high = world.cost_min / amounts.UNIT, world.cost_max / amounts.UNIT
    for name, seen, declared, least, most in (
        ("reward", rewards, world.reward_means, 0, 1),
        ("cost", costs / amounts.UNIT, world.cost_means, low, high),
    ):
        if declared is not None:
            # the largest variance that a distribution on [least, most] with this mean can have, and
            # room for a rare outcome
            error = (
                np.sqrt(np.maximum((declared - least) * (most - declared), 0) / rounds)
                + np.subtract(most, least) / rounds
                + 1e-9
            )
            means = seen.mean(axis=0)
            assert (np.abs(means - declared) < 5 * error).all(), (
                f"{world.name}: mean {name} {means.tolist()}, declared {declared.tolist()}"
            )
