"""The loop of games whose reports come late: it asks and tells as a live policy does.

Time is counted in turns. In each turn the reports that are due are told, in the order of their
asks, and then the policy is asked once. The report on an ask of turn s is due in turn s + 1 +
extra, where `extra` is the delay. Ask and tell are the steps of `purse.engine.steps`, so that what
is held, paid and pending is as in live use.

- An ask is refused when too much is held, when no arm is allowed or when the policy stops. While
  tickets are out the game goes on: with a horizon the round passes, like one that is skipped;
  without a horizon the round waits for the next report and is asked for again. With nothing out,
  the game ends.
- Under `exit` a report that cannot be paid ends the asking. Under `retry` its round gets another
  arm, which is asked for before any new round, in a turn of its own.
- When nothing more can be asked for, the reports that are out are told, and paid where they fit.
- `rounds` counts the rounds that were paid for, skipped or passed.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from purse.compiler.jit import BlockFunction
from purse.compiler.kernel import attach, cold, kernel, row_kernel
from purse.engine import steps
from purse.engine.job import Job, world_parts
from purse.engine.open_tickets import (
    Tickets,
    count_pending,
    find_another,
    free_all,
    keep_context,
    keep_ticket,
    load_context,
    load_ticket,
    new_tickets,
    pop,
    push,
)
from purse.engine.rounds import FAULT, GOING, OVER
from purse.engine.rules import RETRY, Game, mark_allowed
from purse.engine.steps import DONE, INITIAL, NO_PULL, WRONG, LiveGame
from purse.engine.workspace import (
    CheckpointPlan,
    Checkpoints,
    PathResults,
    Workspace,
    pull,
    record_checkpoint,
)
from purse.kernels.fastmath import log
from purse.kernels.random import DELAY, WORLD, at, stream, uniform
from purse.types import SKIP, STOP, Floats, Ints

ask: Any = None  # these are bound by `compile_loop`
tell: Any = None
draw: Any = None
view: Any = None
row: Any = None
PLAYS = 1
RESOURCES = 1
PENDING = False  # whether the policy wants the open tickets per arm
CONTEXTS = False  # whether the policy sees contexts, and the world has any


class LateRoom(NamedTuple):
    """What a path with late reports needs besides a `Workspace`."""

    tickets: Tickets
    geometric: bool
    mean: float  # of the extra turns
    held: Ints  # (d,) units, of the ticket in the workspace
    least: Ints  # (K, d) units that a pull costs
    unpaid: Ints  # (d,) units: the budget less what was paid
    marks: Ints  # (2,) the next checkpoint by round, and by budget


def new_room(job: Job) -> LateRoom:
    """Allocate the room for one thread."""
    d = job.problem.n_resources
    return LateRoom(
        new_tickets(job),
        job.delay.geometric,
        job.delay.mean,
        np.zeros(d, np.int64),
        job.problem.cost_min,
        np.zeros(d, np.int64),
        np.zeros(2, np.int64),
    )


def compile_loop(job: Job) -> BlockFunction:
    """Return the loop for this policy; one serves all stop rules, delays and masks."""
    policy, problem = job.policy, job.problem
    sizes = {"PLAYS": problem.plays, "RESOURCES": problem.n_resources}
    initial = {"INITIAL_PULLS": job.game.initial_rounds > 0}
    player = attach(
        play,
        ask=attach(steps.ask, choose=policy.choose, **initial, **sizes),
        tell=attach(steps.tell, update=policy.update, **sizes),
        **world_parts(job),
        PENDING=bool(getattr(policy, "PENDING", False)),
        **sizes,
    )
    state = type(policy.init(job.params, problem))
    return BlockFunction(run, row=row_kernel(state), play=player)


@cold
def begin(game: Game, space: Workspace, room: LateRoom) -> None:
    """Set everything back to the beginning of a path."""
    for m in range(room.unpaid.shape[0]):
        space.left_units[m] = game.budget[m]
        room.unpaid[m] = game.budget[m]
    for i in range(space.owed.shape[0]):
        space.owed[i] = 1
        space.pending[i] = 0
    room.marks[0] = 0
    room.marks[1] = 0
    free_all(room.tickets)


@kernel
def extra_turns(room: LateRoom, seed: int, path: int, t: int, attempt: int) -> int:
    """By how many turns the report on round t comes late."""
    if not room.geometric:
        return int(room.mean)
    chance = 1 - uniform(at(stream(seed, path, DELAY), t), attempt)
    extra = int(log(chance) / log(room.mean / (1 + room.mean)))
    return min(extra, room.tickets.after.shape[0] - 1)


@cold
def record(
    to: Checkpoints, mark: int, path: int, game: Game, out: PathResults, unpaid: Ints
) -> None:
    """Write the standing of a path at one checkpoint."""
    gain, pulls = out.gain[path], out.pulls[path]
    record_checkpoint(to, mark, path, out.rounds[path], gain, game.budget, unpaid, pulls)


@cold
def count_round(
    game: Game, plan: CheckpointPlan, path: int, out: PathResults, room: LateRoom
) -> None:
    """Count a round, and record the checkpoint that it reaches."""
    out.rounds[path] += 1
    mark = room.marks[0]
    if mark < plan.rounds.shape[0] and plan.rounds[mark] == out.rounds[path]:
        record(out.by_round, mark, path, game, out, room.unpaid)
        room.marks[0] += 1


@kernel
def leaves_less(units: Ints, unpaid: Ints, floor: Ints) -> bool:
    """Return whether a payment leaves less than `floor` of some resource."""
    for m in range(floor.shape[0]):
        after = unpaid[m]
        for k in range(units.shape[0]):
            after -= units[k, m]
        if after < floor[m]:
            return True
    return False


@cold
def count_paid(
    game: Game,
    plan: CheckpointPlan,
    path: int,
    out: PathResults,
    space: Workspace,
    room: LateRoom,
) -> None:
    """Count the round in the workspace, which was paid for."""
    while room.marks[1] < plan.left.shape[0] and leaves_less(
        space.units, room.unpaid, plan.left[room.marks[1]]
    ):
        record(out.by_budget, room.marks[1], path, game, out, room.unpaid)
        room.marks[1] += 1
    for k in range(space.arms.shape[0]):
        for m in range(room.unpaid.shape[0]):
            room.unpaid[m] -= space.units[k, m]
        if space.arms[k] >= 0:
            out.gain[path] += space.rewards[k]
            out.pulls[path, space.arms[k]] += 1
            if room.unpaid.shape[0] == 1:
                out.efficiency[path] += space.rewards[k] * (1 / space.costs[k, 0])
    count_round(game, plan, path, out, room)


@cold
def finish(game: Game, plan: CheckpointPlan, path: int, out: PathResults, room: LateRoom) -> None:
    """Write what was spent, and the checkpoints that were not reached."""
    for m in range(room.unpaid.shape[0]):
        out.spent[path, m] = game.budget[m] - room.unpaid[m]
    for mark in range(room.marks[0], plan.rounds.shape[0]):
        record(out.by_round, mark, path, game, out, room.unpaid)
    for mark in range(room.marks[1], plan.left.shape[0]):
        record(out.by_budget, mark, path, game, out, room.unpaid)


def play(
    params: Any,
    state: Any,
    scratch: Any,
    tables: Any,
    game: Game,
    plan: CheckpointPlan,
    number: int,
    path: int,
    out: PathResults,
    space: Workspace,
    room: LateRoom,
    progress: Floats,
    stop_flag: Ints,
) -> int:
    """Play path `number` to its end, and write its row of `out`.

    Return `OVER` or `FAULT`, or `GOING` where the stop flag was set.
    """
    live = LiveGame(params, state, scratch, game, space, room.held, room.least, number)
    theirs = stream(game.seed, number, WORLD)
    tickets = room.tickets
    n_places = tickets.after.shape[0]
    again, free = n_places, n_places + 1
    begin(game, space, room)
    asked = 0  # rounds that were asked for, skipped or passed
    n_out = 0
    over = False  # a report could not be paid
    waiting = False  # the last ask was refused, and no report has come since
    turn = 0
    while True:
        turn += 1
        if turn % game.check_every == 0:
            progress[0] = path + 1 - room.unpaid[0] / game.budget[0]
            if stop_flag[0] != 0:
                return GOING
        while True:
            place = pop(tickets, turn % n_places)
            if place < 0:
                break
            waiting = False
            n_out -= 1
            t = tickets.rounds[place]
            load_ticket(tickets, place, room.held, space)
            if CONTEXTS:
                load_context(tickets, place, space.context)
            pull(
                draw,
                theirs,
                tables,
                PLAYS,
                RESOURCES,
                t,
                space.arms,
                space.rewards,
                space.units,
                space.left_units,
            )
            outcome = tell(live, t)
            if PENDING:
                count_pending(tickets, place, -1, space.pending)
            if outcome == DONE:
                count_paid(game, plan, path, out, space, room)
            elif outcome <= WRONG:
                return FAULT
            elif game.rule == RETRY and find_another(game, number, tickets, place, outcome, space):
                push(tickets, again, place)
                continue
            else:
                over = True
            push(tickets, free, place)
        if over or (tickets.first[again] < 0 and asked == game.last_round):
            if n_out == 0:
                break
            continue
        if waiting:
            continue
        place = pop(tickets, again)
        if place < 0:
            masked = game.up.shape[0] > 0
            if masked:
                mark_allowed(game, asked + 1, space.left_units, space.allowed)
            if CONTEXTS:
                view(theirs, tables, asked + 1, space.context)
            outcome = ask(live, asked + 1, masked)
            first = space.arms[0]
            if outcome == NO_PULL and first != SKIP and first != STOP:
                return FAULT
            refused = outcome < INITIAL or outcome > DONE
            skipped = outcome == NO_PULL and first == SKIP and game.may_skip
            if refused and n_out == 0 and not skipped:
                break
            if refused and not game.may_skip:
                waiting = True
                continue
            asked += 1
            if refused:
                count_round(game, plan, path, out, room)
                continue
            place = pop(tickets, free)
            keep_ticket(tickets, place, asked, room.held, space)
            if CONTEXTS:
                keep_context(tickets, place, space.context)
        if PENDING:
            count_pending(tickets, place, 1, space.pending)
        extra = extra_turns(room, game.seed, number, tickets.rounds[place], tickets.attempts[place])
        push(tickets, (turn + 1 + extra) % n_places, place)
        n_out += 1
    finish(game, plan, path, out, room)
    return OVER


def run(
    params: Any,
    states: Any,
    scratch: Any,
    tables: Any,
    game: Game,
    plan: CheckpointPlan,
    first: int,
    out: PathResults,
    space: Workspace,
    room: LateRoom,
    progress: Floats,
    stop_flag: Ints,
) -> None:
    """Play the paths first, first + 1, ... to their ends, one for each row of `states` and `out`.

    `progress[0]` says how many paths' worth of budget is spent. A non-zero `stop_flag[0]` stops
    everything soon.
    """
    for path in range(out.gain.shape[0]):
        standing = play(
            params,
            row(states, path),
            scratch,
            tables,
            game,
            plan,
            first + path,
            path,
            out,
            space,
            room,
            progress,
            stop_flag,
        )
        if standing == FAULT:
            stop_flag[0] = FAULT
        if standing != OVER:
            return
    progress[0] = out.gain.shape[0]
