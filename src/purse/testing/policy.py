"""The check of a policy: it is sound, and live use and the engine agree to the last bit."""

import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from types import ModuleType
from typing import Any

import numpy as np

from purse import policies
from purse.base import amounts
from purse.base.optional import check_lab
from purse.base.progress import progress
from purse.compiler.jit import compile_errors
from purse.engine import cpu
from purse.engine.draws import contexts, draws
from purse.engine.job import make_job, sees_contexts
from purse.engine.python_policy import PythonPolicy, as_module
from purse.errors import AskRefused, InvalidInput
from purse.live.policy import Policy
from purse.testing.code import check_class, check_code, check_plain, kernel_errors
from purse.testing.games import (
    answer,
    check_same,
    context_of,
    contextual_worlds,
    half_down,
    live_policy,
    next_round,
    poison,
    suitable,
    through_file,
)
from purse.testing.late import check_delays
from purse.testing.probabilities import check_frequencies, check_probabilities
from purse.types import SKIP, STOP_RULES, Ints, World

_USUALLY = "usually 10 to 60 s"  # most of it to compile, once
_ROUNDS = 400  # with late reports
_PEEKS = "; does update read now.left, or anything of now but key, t and context?"


def check_policy(
    policy: str | ModuleType | type[Any],
    world: World | None = None,
    *,
    plays: int = 1,
    horizon: int | None = None,
    quick: bool = False,
) -> None:
    """Check that a policy is sound, and that live use and the engine agree to the last bit.

    policy   a name with options, the path of a policy file, a module, or a class in plain Python
    world    the world to play; None: one that the policy can play
    plays, horizon   as in `purse.simulate`
    quick    play one world, with contexts of each arm if the policy can, and compile one loop: none
             for masks, none for late reports

    A policy that sees contexts plays worlds that have some, too, with late reports as well.

    Probabilities lie in [0, 1] and sum to `plays`, and arms come as often as they say, with and
    without masks. The budget holds, nothing overflows, and the state survives a file. `choose`
    writes no state, keeps nothing in scratch and honours masks. `update` reads only what is
    defined there. No kernel raises, and plain Python computes what machine code computes.

    A class must keep to the budget and the rules, also under masks and with late reports, and play
    a path alike whenever and wherever it plays it.

    After a second it says on stderr what it checks, and at the end that all checks passed.

    Raise `AssertionError` when one of these does not hold.
    """
    module: str | ModuleType = as_module(policy)
    if not isinstance(module, PythonPolicy):
        check_lab("check_policy", "numba")
        check_code(module)
    worlds = [world] if world is not None else []
    if world is None:
        arena, horizon = suitable(module, plays, horizon)
        worlds.append(arena)
        if sees_contexts(make_job(module, arena, 10, plays=plays, horizon=horizon).policy):
            for contextual in contextual_worlds():
                # a policy may refuse contexts of each arm
                with suppress(InvalidInput):
                    make_job(module, contextual, 10, plays=plays, horizon=horizon)
                    worlds.append(contextual)
    job = make_job(module, worlds[0], 10, plays=plays, horizon=horizon)
    games: dict[str, Any] = {"plays": plays, "horizon": horizon, "quick": quick}
    checks = [
        check
        for arena in (worlds[-1:] if quick else worlds)
        for check in _checks_on(module, arena, **games)
    ]
    with progress(f"checking {job.name} ({_USUALLY})") as bar, compile_errors(job.name, job.policy):
        for done, (what, check) in enumerate(checks):
            bar.show(done / len(checks), what)
            check()
    if not job.of_class and _is_taken(job.policy):
        _tell(f"{job.name}: there is a policy {job.policy.NAME!r} in purse; NAME should be another")
    passed = ", ".join(dict.fromkeys(what for what, _ in checks))
    _tell(f"{job.name}: all {len(checks)} checks passed: {passed}")


def _tell(line: str) -> None:
    """Print a line beside what the program prints."""
    print(line, file=sys.stderr, flush=True)


def _is_taken(module: ModuleType) -> bool:
    return module.NAME in policies.names() and policies.load(module.NAME) is not module


_Check = tuple[str, Callable[[], None]]  # what is checked, and a function that raises


def _checks_on(
    policy: str | ModuleType,
    world: World,
    *,
    plays: int,
    horizon: int | None,
    quick: bool,
    compiled: bool = True,
) -> Iterator[_Check]:
    """Yield the checks of the policy in games on one world.

    compiled   hold live use to machine code; False: to the engine in plain Python, which takes too
               long for the game of 1e5 rounds
    """
    dearest = world.cost_max.max(axis=0) * plays / amounts.UNIT
    how: dict[str, Any] = {"plays": plays, "horizon": horizon}

    def pulls(count: float) -> dict[str, Any]:
        return {"budget": (dearest * count).tolist(), **how}

    if isinstance(policy, PythonPolicy):
        yield (
            "rules, budget, masks, late reports, random numbers",
            partial(check_class, policy, world, **pulls(20.25)),
        )
        return
    for seed, rule in enumerate(STOP_RULES):
        if quick and rule == "fit":
            continue
        both = world.outages is None and not quick
        for variant in (world, half_down(world)) if both else (world,):
            options = {**pulls(40.25), "rule": rule, "seed": seed, "compiled": compiled}
            what = f"stop={rule!r}" if variant is world else f"stop={rule!r} with masks"
            yield what, partial(_check_agreement, policy, variant, **options)
    yield "late reports", partial(_check_late_reports, policy, world, **pulls(100))
    yield "frequencies of arms", partial(check_frequencies, policy, world, **pulls(100))
    if world.n_features > 0 and plays == 1 and not quick:
        options = {"budget": (dearest * 20.25).tolist(), "horizon": horizon}
        yield "contexts of late reports", partial(check_delays, policy, world, **options)
    if compiled:
        yield "a long run", partial(_check_long_run, policy, world, **pulls(100_000))


def _check_agreement(
    policy: str | ModuleType,
    world: World,
    *,
    budget: Any,
    rule: str,
    seed: int,
    plays: int,
    horizon: int | None,
    compiled: bool,
) -> None:
    """Check that a live policy ends where the engine's path 0 ends, to the last bit of its state.

    The live policy is told the world's draws.
    """
    job = make_job(policy, world, budget, seed=seed, stop=rule, plays=plays, horizon=horizon)
    label = f"{job.policy.NAME} on {world.name} under stop={rule!r}, seed {seed}"
    live = live_policy(policy, job)
    try:
        if compiled:
            results, state = cpu.play_block(job, 1)
            check_plain(label, job, results, state)
        else:
            with kernel_errors(label):
                results, state = cpu.play_block(job.as_python(), 1)
    except cpu.Fault:
        _play_live(live, world, seed, _ROUNDS)  # which names the arm and the round
        raise
    rounds, pulls, live = _play_live(live, world, seed, int(results.rounds[0]) + 1)
    check_same(label, rounds, pulls, live, results, state, hint=_PEEKS)


def _play_live(live: Policy, world: World, seed: int, limit: int) -> tuple[int, Ints, Policy]:
    """Return the rounds, pulls and policy after a live game of at most `most` rounds.

    The policy goes through a file half-way, and its probabilities are checked in every round.
    """
    pulls, rounds = np.zeros(world.n_arms, np.int64), 0
    n_rounds = min(limit, live.problem.horizon or limit, world.n_rounds or limit)
    rewards, costs = draws(world, n_rounds, seed=seed)
    shown = contexts(world, n_rounds, seed=seed)
    while not live.over and rounds < len(rewards):
        t = next_round(live)
        allowed = None if world.outages is None else world.outages.allowed(t)
        context = context_of(world, shown, t)
        try:
            check_probabilities(live, allowed, context)
            poison(live)
            ticket = live.ask(allowed, context)
        except AskRefused:
            break
        if ticket.arm == SKIP or answer(live, ticket, rewards[ticket.t - 1], costs[ticket.t - 1]):
            rounds = ticket.t
            if ticket.arm != SKIP:
                np.add.at(pulls, list(ticket.arms), 1)
        if rounds == (limit - 1) // 2:
            live = through_file(live)
    return rounds, pulls, live


def _check_late_reports(
    policy: str | ModuleType, world: World, *, budget: Any, plays: int, horizon: int | None
) -> None:
    """Check that probabilities stay sound and the budget holds under late and voided reports.

    Many tickets are open at once, and reports come in any order.
    """
    job = make_job(policy, world, budget, stop="hold", plays=plays, horizon=horizon)
    live = live_policy(policy, job)
    n_rounds = min(_ROUNDS, world.n_rounds or _ROUNDS)
    rewards, costs = draws(world, n_rounds)
    shown = contexts(world, n_rounds)
    order = np.random.default_rng(0)
    for _ in range(len(rewards)):
        context = context_of(world, shown, next_round(live))
        try:
            check_probabilities(live, context=context)
            live.ask(context=context)
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
    for name, array in live.state._asdict().items():
        assert np.isfinite(array).all(), (
            f"{live.name}: state.{name} is not finite after late reports"
        )


def _check_long_run(
    policy: str | ModuleType, world: World, *, budget: Any, plays: int, horizon: int | None
) -> None:
    """Check that every number is finite and no budget is exceeded after 1e5 rounds or more."""
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
