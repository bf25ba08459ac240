"""The open tickets of a path whose reports come late: slots in memory, and lists of them."""

from typing import NamedTuple

import numpy as np

from purse.compiler.kernel import cold, kernel
from purse.engine.job import Job
from purse.engine.rules import RETRY, Game, mark_allowed, replace_arm
from purse.engine.workspace import Workspace
from purse.kernels.random import REFEREE, at, stream
from purse.types import Bools, Floats, Ints


class Tickets(NamedTuple):
    """The N slots for tickets; each slot is in one of N + 2 lists.

    List s < N has the tickets that are due in turn s modulo N, list N the rounds to ask for again,
    and list N + 1 the free slots. One ticket is asked for in a turn and its report comes at most N
    turns later, so that N slots are enough.
    """

    rounds: Ints  # (N,)
    attempts: Ints  # (N,) rule `retry`: how many arms were replaced
    arms: Ints  # (N, m)
    probs: Floats  # (N, m)
    held: Ints  # (N, d) units
    contexts: Floats  # (N, A, n) if the policy sees contexts, else (0, A, n)
    excluded: Bools  # (N, K) rule `retry`: the arms that cannot replace one; else (N, 0)
    first: Ints  # (N + 2,) the first slot of each list, or -1
    last: Ints  # (N + 2,) the last slot of each list that has any
    after: Ints  # (N,) the next slot in the same list, or -1


def new_tickets(job: Job) -> Tickets:
    """Allocate a slot for each ticket that may be out at once."""
    k, m, d = job.problem.n_arms, job.problem.plays, job.problem.n_resources
    n = job.delay.maximum + 1
    rounds, attempts, after = np.zeros((3, n), np.int64)
    arms, probs, held = np.zeros((n, m), np.int64), np.zeros((n, m)), np.zeros((n, d), np.int64)
    contexts = np.zeros((n if job.contexts else 0, *job.problem.context_shape))
    excluded = np.zeros((n, k if job.game.rule == RETRY else 0), np.bool_)
    first, last = np.zeros((2, n + 2), np.int64)
    return Tickets(rounds, attempts, arms, probs, held, contexts, excluded, first, last, after)


@kernel
def push(tickets: Tickets, which: int, slot: int) -> None:
    """Put a slot at the end of a list."""
    tickets.after[slot] = -1
    if tickets.first[which] < 0:
        tickets.first[which] = slot
    else:
        tickets.after[tickets.last[which]] = slot
    tickets.last[which] = slot


@kernel
def pop(tickets: Tickets, which: int) -> int:
    """Take the first slot out of a list; return -1 if the list is empty."""
    slot = tickets.first[which]
    if slot >= 0:
        tickets.first[which] = tickets.after[slot]
    return slot


@cold
def free_all(tickets: Tickets) -> None:
    """Put all slots into the list of free ones."""
    n = tickets.after.shape[0]
    for which in range(n + 2):
        tickets.first[which] = -1
    for slot in range(n):
        push(tickets, n + 1, slot)


@cold
def keep_ticket(tickets: Tickets, slot: int, t: int, held: Ints, space: Workspace) -> None:
    """Write the ticket of round t from the workspace to its slot."""
    tickets.rounds[slot] = t
    tickets.attempts[slot] = 0
    for k in range(space.arms.shape[0]):
        tickets.arms[slot, k] = space.arms[k]
        tickets.probs[slot, k] = space.probs[k]
    for m in range(held.shape[0]):
        tickets.held[slot, m] = held[m]


@cold
def load_ticket(tickets: Tickets, slot: int, held: Ints, space: Workspace) -> None:
    """Write the ticket from its slot to the workspace."""
    for k in range(space.arms.shape[0]):
        space.arms[k] = tickets.arms[slot, k]
        space.probs[k] = tickets.probs[slot, k]
    for m in range(held.shape[0]):
        held[m] = tickets.held[slot, m]


@cold
def keep_context(tickets: Tickets, slot: int, context: Floats) -> None:
    """Write the context of a ticket to its slot."""
    for i in range(context.shape[0]):
        for k in range(context.shape[1]):
            tickets.contexts[slot, i, k] = context[i, k]


@cold
def load_context(tickets: Tickets, slot: int, context: Floats) -> None:
    """Write the context of a ticket from its slot: a late report learns from what was seen."""
    for i in range(context.shape[0]):
        for k in range(context.shape[1]):
            context[i, k] = tickets.contexts[slot, i, k]


@cold
def count_pending(tickets: Tickets, slot: int, change: int, pending: Ints) -> None:
    """Change the open tickets of each arm that the ticket plays."""
    for k in range(tickets.arms.shape[1]):
        if tickets.arms[slot, k] >= 0:
            pending[tickets.arms[slot, k]] += change


@cold
def find_another(
    game: Game, path: int, tickets: Tickets, slot: int, short: int, space: Workspace
) -> bool:
    """Rule `retry`: replace an arm that cannot be paid; return False if no other is left."""
    t = tickets.rounds[slot]
    attempt = tickets.attempts[slot]
    if attempt == 0:
        mark_allowed(game, t, space.left_units, space.allowed)
    for i in range(space.excluded.shape[0]):
        space.excluded[i] = tickets.excluded[slot, i] if attempt > 0 else not space.allowed[i]
    key = at(stream(game.seed, path, REFEREE), t)
    if not replace_arm(key, attempt, short, space):
        return False
    keep_ticket(tickets, slot, t, tickets.held[slot], space)
    tickets.attempts[slot] = attempt + 1
    for i in range(space.excluded.shape[0]):
        tickets.excluded[slot, i] = space.excluded[i] != 0
    return True
