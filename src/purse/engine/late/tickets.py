"""The open tickets of a path whose reports come late: places in memory, and lists of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from purse.compiler.kernel import cold, kernel
from purse.engine.job import Job
from purse.engine.rules import RETRY, Game, mark_allowed, replace_arm
from purse.engine.workspace import Workspace
from purse.kernels.random import REFEREE, at, stream
from purse.types import Bools, Floats, Ints


class Tickets(NamedTuple):
    """The N places for tickets; each place is in one of N + 2 lists.

    List s < N has the tickets that are due in turn s modulo N, list N the rounds to ask for again,
    and list N + 1 the free places. One ticket is asked for in a turn and its report comes at most N
    turns later, so that N places are enough.
    """

    rounds: Ints  # (N,)
    attempts: Ints  # (N,) rule `retry`: how many arms were replaced
    arms: Ints  # (N, m)
    probs: Floats  # (N, m)
    held: Ints  # (N, d) units
    contexts: Floats  # (N, A, n) if the policy sees contexts, else (0, A, n)
    excluded: Bools  # (N, K) rule `retry`: the arms that cannot replace one; else (N, 0)
    first: Ints  # (N + 2,) the first place of each list, or -1
    last: Ints  # (N + 2,) the last place of each list that has any
    after: Ints  # (N,) the next place in the same list, or -1


def new_tickets(job: Job) -> Tickets:
    """Allocate a place for each ticket that may be out at once."""
    k, m, d = job.problem.n_arms, job.problem.plays, job.problem.n_resources
    n = job.delay.most + 1
    return Tickets(
        np.zeros(n, np.int64),
        np.zeros(n, np.int64),
        np.zeros((n, m), np.int64),
        np.zeros((n, m)),
        np.zeros((n, d), np.int64),
        np.zeros((n if job.contexts else 0, *job.problem.context_shape)),
        np.zeros((n, k if job.game.rule == RETRY else 0), np.bool_),
        np.zeros(n + 2, np.int64),
        np.zeros(n + 2, np.int64),
        np.zeros(n, np.int64),
    )


@kernel
def push(tickets: Tickets, which: int, place: int) -> None:
    """Put a place at the end of a list."""
    tickets.after[place] = -1
    if tickets.first[which] < 0:
        tickets.first[which] = place
    else:
        tickets.after[tickets.last[which]] = place
    tickets.last[which] = place


@kernel
def pop(tickets: Tickets, which: int) -> int:
    """Take the first place out of a list; return -1 if the list is empty."""
    place = tickets.first[which]
    if place >= 0:
        tickets.first[which] = tickets.after[place]
    return place


@cold
def free_all(tickets: Tickets) -> None:
    """Put all places into the list of free ones."""
    n = tickets.after.shape[0]
    for which in range(n + 2):
        tickets.first[which] = -1
    for place in range(n):
        push(tickets, n + 1, place)


@cold
def keep_ticket(tickets: Tickets, place: int, t: int, held: Ints, space: Workspace) -> None:
    """Write the ticket of round t from the workspace to its place."""
    tickets.rounds[place] = t
    tickets.attempts[place] = 0
    for k in range(space.arms.shape[0]):
        tickets.arms[place, k] = space.arms[k]
        tickets.probs[place, k] = space.probs[k]
    for m in range(held.shape[0]):
        tickets.held[place, m] = held[m]


@cold
def load_ticket(tickets: Tickets, place: int, held: Ints, space: Workspace) -> None:
    """Write the ticket from its place to the workspace."""
    for k in range(space.arms.shape[0]):
        space.arms[k] = tickets.arms[place, k]
        space.probs[k] = tickets.probs[place, k]
    for m in range(held.shape[0]):
        held[m] = tickets.held[place, m]


@cold
def keep_context(tickets: Tickets, place: int, context: Floats) -> None:
    """Write the context of a ticket to its place."""
    for i in range(context.shape[0]):
        for k in range(context.shape[1]):
            tickets.contexts[place, i, k] = context[i, k]


@cold
def load_context(tickets: Tickets, place: int, context: Floats) -> None:
    """Write the context of a ticket from its place: a late report learns from what was seen."""
    for i in range(context.shape[0]):
        for k in range(context.shape[1]):
            context[i, k] = tickets.contexts[place, i, k]


@cold
def count_pending(tickets: Tickets, place: int, change: int, pending: Ints) -> None:
    """Change the open tickets of each arm that the ticket plays."""
    for k in range(tickets.arms.shape[1]):
        if tickets.arms[place, k] >= 0:
            pending[tickets.arms[place, k]] += change


@cold
def find_another(
    game: Game, path: int, tickets: Tickets, place: int, short: int, space: Workspace
) -> bool:
    """Rule `retry`: replace an arm that cannot be paid; return False if no other is left."""
    t = tickets.rounds[place]
    attempt = tickets.attempts[place]
    if attempt == 0:
        mark_allowed(game, t, space.left_units, space.allowed)
    for i in range(space.excluded.shape[0]):
        space.excluded[i] = tickets.excluded[place, i] if attempt > 0 else not space.allowed[i]
    key = at(stream(game.seed, path, REFEREE), t)
    if not replace_arm(key, attempt, short, space):
        return False
    keep_ticket(tickets, place, t, tickets.held[place], space)
    tickets.attempts[place] = attempt + 1
    for i in range(space.excluded.shape[0]):
        tickets.excluded[place, i] = space.excluded[i] != 0
    return True
