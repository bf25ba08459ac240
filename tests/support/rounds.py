"""Rounds for the tests of kernels: what a policy sees, and room for what it plays."""

from __future__ import annotations

import numpy as np

from purse.kernels.random import POLICY, at, stream
from purse.types import Now, Play


def new_now(t: int, n_arms: int, allowed: list[int] | None = None, *, seed: int = 0) -> Now:
    """Return round t of a game; `allowed` are the arms that may be played (None: all)."""
    mask = np.ones(n_arms, np.bool_)
    if allowed is not None:
        mask[:] = False
        mask[allowed] = True
    key = int(at(stream(seed, 0, POLICY), t)) % 2**64  # called from Python, it comes back signed
    return Now(
        np.uint64(key),
        t,
        np.inf,
        np.ones(1),
        not mask.all(),
        mask,
        np.zeros(n_arms, np.int64),
        np.zeros((n_arms, 0)),
    )


def new_play(plays: int = 1) -> Play:
    """Return room for so many plays of one resource."""
    return Play(np.zeros(plays, np.int64), np.zeros(plays), np.zeros(plays), np.zeros((plays, 1)))
