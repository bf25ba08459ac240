"""The one loop. `choose`, `update`, `row`, `draw`, `PLAYS`, `RESOURCES` and `SWEEP` are bound to it by `purse.jit.bind`."""

from __future__ import annotations

from typing import Any, NamedTuple

from purse.engine.referee import HOLD, RETRY, set_aside, short_of, sweep
from purse.jit import cold, kernel
from purse.random import POLICY, REFEREE, WORLD, U, at, stream
from purse.types import STOP, Floats, Ints

choose: Any = None
update: Any = None
row: Any = None
draw: Any = None
PLAYS = 1
RESOURCES = 1
SWEEP = False
UNSET = -3  # in arms[0] until the policy chooses
FAULT = 2  # in halt[0]: a policy chose nothing, or an arm that does not exist


class Game(NamedTuple):
    """What all paths have in common."""

    budget: Ints  # (d,) units
    holds: Ints  # (K, d) units: what rule `hold` sets apart for each arm
    share: Floats  # (d,) the part of the largest cost that a unit is: what turns units into what policies see
    rule: int
    sweep_rounds: int
    last_round: int
    may_skip: bool  # only where there is a horizon: else a policy that skips would never end
    beat: int  # so many rounds, less one, pass between two looks at `halt`; a power of two, less one
    seed: int


class Marks(NamedTuple):
    """Where to record."""

    rounds: Ints  # (M,)
    left: Ints  # (M, d) units: a mark is passed by the pull that leaves less than this of some resource


class Record(NamedTuple):
    """The standing of each path at each mark."""

    rounds: Ints  # (P, M)
    gain: Floats  # (P, M)
    spent: Ints  # (P, M, d) units
    pulls: Ints  # (P, M, K)


class Results(NamedTuple):
    """The standing of each path at its end."""

    gain: Floats  # (P,)
    efficiency: Floats  # (P,) the sum of reward per cost, as policies see costs; 0 where there are several resources
    rounds: Ints  # (P,)
    spent: Ints  # (P, d) units
    pulls: Ints  # (P, K)
    by_round: Record
    by_budget: Record


class Desk(NamedTuple):
    """Room to work in; kernels never allocate."""

    arms: Ints  # (m,)
    probs: Floats  # (m,)
    rewards: Floats  # (m,)
    units: Ints  # (m, d) what the plays cost
    costs: Floats  # (m, d) the same as policies see it
    purse: Ints  # (d,) units left
    left: Floats  # (d,) the same as policies see it
    aside: Ints  # (K,) rule `retry`


@cold
def note(record: Record, mark: int, path: int, rounds: int, gain: float, budget: Ints, purse: Ints, pulls: Ints) -> None:
    """Write the standing of a path at one mark."""
    record.rounds[path, mark] = rounds
    record.gain[path, mark] = gain
    for m in range(budget.shape[0]):
        record.spent[path, mark, m] = budget[m] - purse[m]
    for i in range(pulls.shape[0]):
        record.pulls[path, mark, i] = pulls[i]


@kernel
def passes(plays: int, resources: int, desk: Desk, floor: Ints) -> bool:
    """Whether paying leaves less than `floor` of some resource."""
    for m in range(resources):
        after = desk.purse[m]
        for k in range(plays):
            after -= desk.units[k, m]
        if after < floor[m]:
            return True
    return False


@kernel
def out_of_range(plays: int, desk: Desk) -> bool:
    """Whether some arm does not exist; to pull it would write where it must not."""
    for k in range(plays):
        if U(desk.arms[k]) >= U(desk.aside.shape[0]):  # negative ones are huge
            return True
    return False


@cold
def hold_short_of(plays: int, resources: int, game: Game, desk: Desk) -> int:
    """Rule `hold`: the resource of which the most that the plays may cost cannot be set apart, or -1."""
    for k in range(plays):
        for m in range(resources):
            desk.units[k, m] = game.holds[desk.arms[k], m]
    return short_of(plays, resources, desk.units, desk.purse)


@kernel
def show_left(resources: int, game: Game, desk: Desk) -> None:
    """Let the policy see what is left."""
    for m in range(resources):
        desk.left[m] = desk.purse[m] * game.share[m]


@kernel
def pay(plays: int, resources: int, game: Game, desk: Desk) -> None:
    """Take the cost of the plays out of the purse, and let the policy see it."""
    for k in range(plays):
        for m in range(resources):
            desk.purse[m] -= desk.units[k, m]
            desk.costs[k, m] = desk.units[k, m] * game.share[m]


@kernel
def pull(draw: Any, theirs: Any, tables: Any, plays: int, resources: int, t: int, desk: Desk) -> int:
    """Pull the arms; returns the resource that cannot pay for it, or -1."""
    for k in range(plays):
        desk.rewards[k] = draw(theirs, tables, t, desk.arms[k], desk.units[k])
    return short_of(plays, resources, desk.units, desk.purse)


@cold
def another(game: Game, path: int, t: int, attempt: int, short: int, desk: Desk) -> bool:
    """Rule `retry`: put another arm in the place of one that cannot be paid; False when none is left."""
    if attempt == 0:
        for i in range(desk.aside.shape[0]):
            desk.aside[i] = 0
    return set_aside(at(stream(game.seed, path, REFEREE), t), attempt, short, desk.units, desk.arms, desk.probs, desk.aside)


def run(policy: Any, state: Any, tables: Any, game: Game, marks: Marks, first: int, out: Results, desk: Desk, pulse: Floats, halt: Ints) -> None:
    """Play the paths first, first + 1, ... to their ends, one for each row of `state` and `out`.

    `pulse[0]` tells how many paths' worth of budget is spent; a non-zero `halt[0]` stops everything soon.
    """
    round_marks = marks.rounds.shape[0]
    budget_marks = marks.left.shape[0]
    for path in range(out.gain.shape[0]):
        memory = row(state, path)
        pulls = out.pulls[path]
        ours = stream(game.seed, first + path, POLICY)
        theirs = stream(game.seed, first + path, WORLD)
        for m in range(RESOURCES):
            desk.purse[m] = game.budget[m]
        gain = 0.0
        efficiency = 0.0
        played = 0
        round_mark = 0
        budget_mark = 0
        while played < game.last_round:
            if played & game.beat == 0:
                pulse[0] = path + 1 - desk.purse[0] / game.budget[0]
                if halt[0] != 0:
                    return
            t = played + 1
            if SWEEP and t <= game.sweep_rounds:
                sweep(t, desk.aside.shape[0], desk.arms, desk.probs)
            else:
                show_left(RESOURCES, game, desk)
                desk.arms[0] = UNSET
                choose(at(ours, t), policy, memory, t, desk.left, desk.arms, desk.probs)
            if desk.arms[0] >= 0:
                if out_of_range(PLAYS, desk):
                    halt[0] = FAULT
                    return
                if game.rule == HOLD and hold_short_of(PLAYS, RESOURCES, game, desk) >= 0:
                    break
                attempt = 0
                while True:
                    short = pull(draw, theirs, tables, PLAYS, RESOURCES, t, desk)
                    if short < 0 or game.rule != RETRY or not another(game, first + path, t, attempt, short, desk):
                        break
                    attempt += 1
                if short >= 0:
                    break
                while budget_mark < budget_marks and passes(PLAYS, RESOURCES, desk, marks.left[budget_mark]):
                    note(out.by_budget, budget_mark, path, played, gain, game.budget, desk.purse, pulls)
                    budget_mark += 1
                for k in range(PLAYS):
                    gain += desk.rewards[k]
                    pulls[desk.arms[k]] += 1
                pay(PLAYS, RESOURCES, game, desk)
                if RESOURCES == 1:
                    for k in range(PLAYS):
                        efficiency += desk.rewards[k] * (1 / desk.costs[k, 0])
                update(at(ours, t), policy, memory, t, desk.arms, desk.probs, desk.rewards, desk.costs)
            elif desk.arms[0] == UNSET:
                halt[0] = FAULT
                return
            elif desk.arms[0] == STOP or not game.may_skip:
                break
            played = t
            if round_mark < round_marks and played == marks.rounds[round_mark]:
                note(out.by_round, round_mark, path, played, gain, game.budget, desk.purse, pulls)
                round_mark += 1
        for mark in range(round_mark, round_marks):
            note(out.by_round, mark, path, played, gain, game.budget, desk.purse, pulls)
        for mark in range(budget_mark, budget_marks):
            note(out.by_budget, mark, path, played, gain, game.budget, desk.purse, pulls)
        out.gain[path] = gain
        out.efficiency[path] = efficiency
        out.rounds[path] = played
        for m in range(RESOURCES):
            out.spent[path, m] = game.budget[m] - desk.purse[m]
    pulse[0] = out.gain.shape[0]
