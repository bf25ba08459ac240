"""The loop of games whose reports come late: it asks and tells as a live policy does.

Time is counted in turns. In each turn the reports that are due are told, in the order of their
asks, and then the policy is asked once. The report on an ask of turn s is due in turn s + 1 +
extra, where `extra` is the delay. Ask and tell are the kernels of `purse.engine.ask_tell`, so that
what is held, paid and pending is as in live use. Paths begin, pay, record and end as in
`purse.engine.loop`, whose `run` plays them.

- An ask is refused when too much is held, when no arm is allowed or when the policy stops. While
  tickets are out the game goes on: with a horizon the round passes, like one that is skipped;
  without a horizon the round waits for the next report and is asked for again. With nothing out,
  the game ends.
- Under `exit` a report that cannot be paid ends the asking. Under `retry` its round gets another
  arm, which is asked for before any new round, in a turn of its own.
- When nothing more can be asked for, the reports that are out are told, and paid if they fit.
- `rounds` counts the rounds that were paid for, skipped or passed.
"""

from typing import Any, NamedTuple

import numpy as np

from purse.compiler.blocks import vector
from purse.compiler.kernel import attach, cold, kernel
from purse.engine import ask_tell
from purse.engine.ask_tell import DONE, INITIAL, NO_PULL, WRONG, LiveGame
from purse.engine.job import Job, wants_masks, world_parts
from purse.engine.late.tickets import (
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
from purse.engine.rounds import (
    FAULT,
    GOING,
    OVER,
    ROUNDS,
    Path,
    begin_path,
    end_path,
    end_round,
    owe_all,
    pay_pull,
)
from purse.engine.rules import RETRY, Game, count_up, forget_masks, mark_allowed
from purse.engine.workspace import CheckpointPlan, PathResults, Workspace, new_workspace, pull
from purse.kernels.fastmath import log
from purse.kernels.random import DELAY, WORLD, at, stream, uniform
from purse.types import SKIP, STOP, Floats, Ints

ask: Any = None  # these are bound by `bind_policy`
tell: Any = None
draw: Any = None
view: Any = None
tell_due: Any = None
ask_next: Any = None
PENDING = False  # whether the policy wants the open tickets per arm
SEEN = False  # whether the policy wants the masks of earlier rounds
CONTEXTS = False  # whether the policy sees contexts, and the world has any
# counts of a path: turns; rounds that were asked for, skipped or passed; tickets that are out;
# whether a report could not be paid; whether an ask was refused and no report has come since
_TURN, _ASKED, _OUT, _UNPAID, _WAITING = range(5)


class _LateRoom(NamedTuple):
    """The room that a path with late reports works in."""

    space: Workspace  # of the steps: what is held is not left
    paid: Workspace  # of the path: the same arrays, but what is held counts as left
    tickets: Tickets
    geometric: bool
    mean: float  # of the extra turns
    held: Ints  # (d,) units, of the ticket in the workspace
    cost_min: Ints  # (K, d) units: the least that a pull costs
    counts: Ints  # (5,)
    horizon: Floats  # (1,) the rounds that the policy knows there are, or infinity


def new_room(job: Job) -> _LateRoom:
    """Allocate the room for one thread."""
    space = new_workspace(job.problem, counted=job.counts_masks)
    return _LateRoom(
        space,
        space._replace(left_units=np.zeros(job.problem.n_resources, np.int64)),
        new_tickets(job),
        job.delay.geometric,
        job.delay.mean,
        np.zeros(job.problem.n_resources, np.int64),
        job.problem.cost_min,
        np.zeros(5, np.int64),
        np.array([job.game.horizon]),
    )


def bind_policy(job: Job) -> Any:
    """Return the kernel that plays one path; one serves all stop rules, delays and masks."""
    policy, world = job.policy, world_parts(job)
    initial = job.game.initial_rounds > 0
    common = {"CONTEXTS": job.contexts, "PENDING": bool(getattr(policy, "PENDING", False))}
    asks = attach(ask_tell.ask, choose=policy.choose, INITIAL_PULLS=initial)
    tells = attach(ask_tell.tell, update=policy.update)
    return attach(
        play,
        ask_next=attach(_ask_round, ask=asks, SEEN=wants_masks(policy), **{**world, **common}),
        tell_due=attach(_tell_reports, tell=tells, **{**world, **common}),
    )


@cold
def _begin(game: Game, room: _LateRoom) -> None:
    """Set the room back to the beginning of a path."""
    space = room.space
    for m in range(space.left_units.shape[0]):
        space.left_units[m] = game.budget[m]
    owe_all(space.owed)
    forget_masks(space.seen)
    for i in range(space.pending.shape[0]):
        space.pending[i] = 0
    for i in range(room.counts.shape[0]):
        room.counts[i] = 0
    free_all(room.tickets)


@kernel
def _extra_turns(room: _LateRoom, seed: int, path: int, t: int, attempt: int) -> int:
    if not room.geometric:
        return int(room.mean)
    chance = 1 - uniform(at(stream(seed, path, DELAY), t), attempt)
    extra = int(log(chance) / log(room.mean / (1 + room.mean)))
    return min(extra, room.tickets.after.shape[0] - 1)


def _tell_reports(live: LiveGame, path: Path, room: _LateRoom) -> int:
    """Tell the reports that are due in this turn.

    Return `GOING`, or `FAULT` if the world drew what is out of bounds.
    """
    space, tickets = room.space, room.tickets
    n_slots = tickets.after.shape[0]
    again, free = n_slots, n_slots + 1
    while True:
        slot = pop(tickets, room.counts[_TURN] % n_slots)
        if slot < 0:
            return GOING
        room.counts[_WAITING] = 0
        room.counts[_OUT] -= 1
        t = tickets.rounds[slot]
        load_ticket(tickets, slot, room.held, space)
        if CONTEXTS:
            load_context(tickets, slot, space.context)
        pull(draw, path.key, path.tables, t, space)
        outcome = tell(live, t)
        if PENDING:
            count_pending(tickets, slot, -1, space.pending)
        if outcome <= WRONG:
            return FAULT
        if outcome == DONE:
            pay_pull(path)
            end_round(path)
        elif path.rule == RETRY and find_another(
            path.game, path.number, tickets, slot, outcome, space
        ):
            push(tickets, again, slot)
            continue
        else:
            room.counts[_UNPAID] = 1
        push(tickets, free, slot)


def _ask_round(live: LiveGame, path: Path, room: _LateRoom) -> int:
    """Ask once: for a round whose arm could not be paid, or else for a new one.

    Return `GOING`; `OVER` if the ask is refused with nothing out; `FAULT` if no arm was chosen.
    """
    game, space, tickets = path.game, room.space, room.tickets
    n_slots = tickets.after.shape[0]
    again, free = n_slots, n_slots + 1
    slot = pop(tickets, again)
    if slot < 0:
        t = room.counts[_ASKED] + 1
        masked = game.up.shape[0] > 0
        if masked:
            mark_allowed(game, t, space.left_units, space.allowed)
        if CONTEXTS:
            view(path.key, path.tables, t, space.context)
        outcome = ask(live, t, masked)
        first = space.arms[0]
        if outcome == NO_PULL and first != SKIP and first != STOP:
            return FAULT
        refused = outcome < INITIAL or outcome > DONE
        skipped = outcome == NO_PULL and first == SKIP and game.may_skip
        if refused and room.counts[_OUT] == 0 and not skipped:
            return OVER
        if refused and not game.may_skip:
            room.counts[_WAITING] = 1
            return GOING
        room.counts[_ASKED] = t
        if SEEN:
            count_up(game, t, space)
        if refused:
            end_round(path)
            return GOING
        slot = pop(tickets, free)
        keep_ticket(tickets, slot, t, room.held, space)
        if CONTEXTS:
            keep_context(tickets, slot, space.context)
    if PENDING:
        count_pending(tickets, slot, 1, space.pending)
    extra = _extra_turns(room, game.seed, path.number, tickets.rounds[slot], tickets.attempts[slot])
    push(tickets, (room.counts[_TURN] + 1 + extra) % n_slots, slot)
    room.counts[_OUT] += 1
    return GOING


def play(
    params: Any,
    state: Any,
    scratch: Any,
    tables: Any,
    game: Game,
    plan: CheckpointPlan,
    number: int,
    row: int,
    out: PathResults,
    room: _LateRoom,
    last: int,
) -> int:
    """Play path `number` on from its row of `out`, up to round `last` or its end.

    Return `GOING`, `OVER` or `FAULT`.
    """
    space, tickets, counts = room.space, room.tickets, room.counts
    live = LiveGame(
        params, state, scratch, game, space, room.held, room.cost_min, number, room.horizon
    )
    key, sums, path_counts = stream(game.seed, number, WORLD), vector(2, 0.0), vector(3, 0)
    path = Path(
        number, row, key, tables, game.rule, True, game, plan, out, room.paid, sums, path_counts
    )
    begin_path(path)
    if path.counts[ROUNDS] == 0:
        _begin(game, room)
    standing = GOING
    while standing == GOING and (path.counts[ROUNDS] < last or last == game.last_round):
        counts[_TURN] += 1
        standing = tell_due(live, path, room)
        if standing != GOING:
            return standing
        all_asked = tickets.first[tickets.after.shape[0]] < 0 and counts[_ASKED] == game.last_round
        if counts[_UNPAID] != 0 or all_asked:
            if counts[_OUT] == 0:
                standing = OVER
        elif counts[_WAITING] == 0:
            standing = ask_next(live, path, room)
    if standing != FAULT:
        end_path(path, standing)
    return standing
