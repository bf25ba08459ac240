"""Requests of several kinds, of which each allows some arms; a player may know how many come."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from purse.base import validation
from purse.errors import InvalidInput, invalid
from purse.types import Floats, Ints, Outages, World
from purse.worlds._contexts import generator
from purse.worlds._tables import reals
from purse.worlds.outages import arm_rows

EXAMPLE = (
    'requests:world="bernoulli:rewards=[.9,.6,.3],costs=[.6,.5,.4]",rounds=200,'
    "kinds=[[1,1,1],[1,0,0]],shares=[.7,.3]"
)
MOST_ROUNDS = 10**5  # a row of arms is kept for each


def requests(
    world: str | World,
    rounds: int,
    kinds: ArrayLike | None = None,
    shares: ArrayLike | None = None,
    run: int = 1,
    told: bool = True,
    seed: int = 0,
    *,
    budget: float | None = None,
) -> World:
    """Return `world` with this many requests, whose kinds are drawn; a kind allows some arms.

        world    a `World`, or text
        rounds   the number of requests, one a round; the world ends after them
        kinds    the arms that each kind allows, rows of 0 and 1, shape (C, K); None: all arms
        shares   how often each kind comes beside the others, shape (C,); or (P, C), with a row for
                 each of P equal parts of the rounds
        run      the requests of a kind that come in a row
        told     whether a player knows the number of requests
        seed     of the kinds, which are the same on all paths
        budget   passed on to a world that is text and depends on it

    >>> inner = "bernoulli:rewards=[.9,.6],costs=[.5,.2]"
    >>> place = requests(inner, 6, kinds=[[1, 1], [1, 0]], shares=[[1, 0], [0, 1]], told=False)
    >>> [place.outages.allowed(t) for t in (1, 3, 4, 6)], place.n_rounds, place.horizon
    ([[0, 1], [0, 1], [0], [0]], 6, None)
    """
    from purse.worlds import make  # the package imports this file

    inner = make(world, budget)
    if not isinstance(told, bool):
        raise invalid("told", told, "must be True or False")
    last = validation.integer(
        "rounds", rounds, low=1, high=min(inner.n_rounds or MOST_ROUNDS, MOST_ROUNDS)
    )
    result = replace(
        inner,
        name=f"{last} requests of {inner.name}",
        n_rounds=last,
        horizon=last if told else None,
    )
    if (kinds is None) != (shares is None):
        raise InvalidInput("kinds and shares: give both, or none")
    if kinds is None:
        return result
    parts = read_shares(shares)
    rows = arm_rows("kinds", kinds, inner.n_arms)
    if len(rows) != parts.shape[1]:
        raise InvalidInput(f"kinds has {len(rows)} rows, and shares has {parts.shape[1]} entries")
    drawn = draw_kinds(parts, last, validation.integer("run", run, low=1, high=last), seed)
    return replace(result, outages=Outages(rows[drawn], np.arange(1, last + 1)))


def read_shares(shares: Any) -> Floats:
    """Return the shares of each part, which sum to 1, shape (P, C)."""
    parts = np.atleast_2d(reals("shares", shares))
    if parts.ndim != 2 or (parts < 0).any() or not parts.any(axis=1).all():
        raise invalid("shares", shares, "must be numbers from 0 up, and not all 0")
    return parts / parts.sum(axis=1, keepdims=True)


def draw_kinds(parts: Floats, n_rounds: int, run: int, seed: int) -> Ints:
    """Return the kind of each round, shape (T,); a run has the shares of the part it begins in."""
    starts = np.arange(0, n_rounds, run)
    upto = np.cumsum(parts, axis=1)[starts * len(parts) // n_rounds]
    chances = generator(seed).random((len(starts), 1))
    drawn: Ints = (chances >= upto[:, :-1]).sum(axis=1)
    return np.repeat(drawn, run)[:n_rounds]
