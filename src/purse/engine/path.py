"""The one loop, `play`. `choose`, `update`, `draw`, `PLAYS`, `RESOURCES` and `SWEEP` are bound to
it by `purse.jit.attach`, `play` and `row` to `run`.

A path can stop after any round and go on later from its row of results: between two such stretches
a thread looks up, and a GPU comes back to its host.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from purse.engine.referee import HOLD, RETRY, set_aside, short_of, sweep
from purse.jit import cold, kernel
from purse.random import POLICY, REFEREE, WORLD, U, at, stream
from purse.stack import matrix, vector
from purse.types import STOP, Floats, Ints

choose: Any = None
update: Any = None
row: Any = None
draw: Any = None
PLAYS = 1
RESOURCES = 1
SWEEP = False
MARKS = True  # whether there may be marks
RULE = -1  # the stop rule where it is known beforehand
UNSET = -3  # in arms[0] until the policy chooses
# how a path stands; `FAULT`: the policy chose nothing, or an arm that does not exist
GOING, OVER, FAULT = range(3)


class Game(NamedTuple):
    """What all paths have in common."""

    budget: Ints  # (d,) units
    holds: Ints  # (K, d) units: what rule `hold` sets apart for each arm
    # (d,) the part of the largest cost that a unit is: what turns units into what policies see
    share: Floats
    rule: int
    sweep_rounds: int
    last_round: int
    may_skip: bool  # only where there is a horizon: else a policy that skips would never end
    beat: int  # so many rounds pass between two looks at `halt`
    seed: int


class Marks(NamedTuple):
    """Where to record."""

    rounds: Ints  # (M,)
    # (M, d) units: a mark is passed by the pull that leaves less than this of some resource
    left: Ints


class Record(NamedTuple):
    """The standing of each path at each mark."""

    rounds: Ints  # (P, M)
    gain: Floats  # (P, M)
    spent: Ints  # (P, M, d) units
    pulls: Ints  # (P, M, K)


class Results(NamedTuple):
    """The standing of each path at its end."""

    gain: Floats  # (P,)
    # (P,) the sum of reward per cost, as policies see costs; 0 where there are several resources
    efficiency: Floats
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
def note(
    record: Record,
    mark: int,
    path: int,
    rounds: int,
    gain: float,
    budget: Ints,
    purse: Ints,
    pulls: Ints,
) -> None:
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
def out_of_range(plays: int, n_arms: int, desk: Desk) -> bool:
    """Whether some arm does not exist; to pull it would write where it must not."""
    for k in range(plays):
        if U(desk.arms[k]) >= U(n_arms):  # negative ones are huge
            return True
    return False


@kernel
def hold_short_of(plays: int, resources: int, game: Game, desk: Desk) -> int:
    """Rule `hold`: the resource of which the most that the plays may cost cannot be set apart, or
    -1.
    """
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
def pull(
    draw: Any, theirs: Any, tables: Any, plays: int, resources: int, t: int, desk: Desk
) -> int:
    """Pull the arms; returns the resource that cannot pay for it, or -1."""
    for k in range(plays):
        desk.rewards[k] = draw(theirs, tables, t, desk.arms[k], desk.units[k])
    return short_of(plays, resources, desk.units, desk.purse)


@kernel
def lay_down(hand: Desk, desk: Desk) -> None:
    """Copy what a call may need from the hand to the desk: what is passed to a call must lie in
    memory, what is not stays in registers.
    """
    for k in range(hand.arms.shape[0]):
        desk.arms[k] = hand.arms[k]
        desk.probs[k] = hand.probs[k]
    for m in range(hand.purse.shape[0]):
        desk.purse[m] = hand.purse[m]


@kernel
def another(
    game: Game, number: int, t: int, attempt: int, short: int, hand: Desk, desk: Desk
) -> bool:
    """Rule `retry`: put another arm in the place of one that cannot be paid; False when none is
    left.
    """
    if attempt == 0:
        for i in range(desk.aside.shape[0]):
            desk.aside[i] = 0
    lay_down(hand, desk)
    found = set_aside(
        at(stream(game.seed, number, REFEREE), t),
        attempt,
        short,
        desk.units,
        desk.arms,
        desk.probs,
        desk.aside,
    )
    for k in range(hand.arms.shape[0]):
        hand.arms[k] = desk.arms[k]
        hand.probs[k] = desk.probs[k]
    return found


@cold
def count_rounds(marks: Marks, played: int) -> int:
    """How many marks by round a path has reached."""
    reached = 0
    while reached < marks.rounds.shape[0] and marks.rounds[reached] <= played:
        reached += 1
    return reached


@cold
def count_spent(marks: Marks, purse: Ints) -> int:
    """How many marks by budget a path has passed."""
    passed = 0
    while passed < marks.left.shape[0]:
        below = False
        for m in range(purse.shape[0]):
            below |= purse[m] < marks.left[passed, m]
        if not below:
            break
        passed += 1
    return passed


def play(
    policy: Any,
    memory: Any,
    tables: Any,
    game: Game,
    marks: Marks,
    number: int,
    path: int,
    out: Results,
    desk: Desk,
    last: int,
) -> int:
    """Play path `number` on from where its row of `out` stands, up to round `last`; returns
    `GOING`, `OVER` or `FAULT`.
    """
    ours = stream(game.seed, number, POLICY)
    theirs = stream(game.seed, number, WORLD)
    hand = Desk(
        vector(PLAYS, 0),
        vector(PLAYS, 0.0),
        vector(PLAYS, 0.0),
        desk.units,
        matrix(PLAYS, RESOURCES, 0.0),
        vector(RESOURCES, 0),
        vector(RESOURCES, 0.0),
        desk.aside,
    )
    pulls = out.pulls[path]
    gain = out.gain[path]
    efficiency = out.efficiency[path]
    played = out.rounds[path]
    for m in range(RESOURCES):
        hand.purse[m] = game.budget[m] - out.spent[path, m]
    lay_down(hand, desk)
    rule = game.rule if RULE < 0 else RULE
    round_marks = marks.rounds.shape[0] if MARKS else 0
    budget_marks = marks.left.shape[0] if MARKS else 0
    round_mark = count_rounds(marks, played) if MARKS else 0
    budget_mark = count_spent(marks, desk.purse) if MARKS else 0
    standing = GOING if last < game.last_round else OVER
    while played < last:
        t = played + 1
        if SWEEP and t <= game.sweep_rounds:
            sweep(t, pulls.shape[0], hand.arms, hand.probs)
        else:
            show_left(RESOURCES, game, hand)
            hand.arms[0] = UNSET
            choose(at(ours, t), policy, memory, t, hand.left, hand.arms, hand.probs)
        if hand.arms[0] >= 0:
            if out_of_range(PLAYS, pulls.shape[0], hand):
                return FAULT
            if rule == HOLD and hold_short_of(PLAYS, RESOURCES, game, hand) >= 0:
                standing = OVER
                break
            attempt = 0
            while True:
                short = pull(draw, theirs, tables, PLAYS, RESOURCES, t, hand)
                if (
                    short < 0
                    or rule != RETRY
                    or not another(game, number, t, attempt, short, hand, desk)
                ):
                    break
                attempt += 1
            if short >= 0:
                standing = OVER
                break
            while (
                MARKS
                and budget_mark < budget_marks
                and passes(PLAYS, RESOURCES, hand, marks.left[budget_mark])
            ):
                lay_down(hand, desk)
                note(out.by_budget, budget_mark, path, played, gain, game.budget, desk.purse, pulls)
                budget_mark += 1
            for k in range(PLAYS):
                gain += hand.rewards[k]
                pulls[hand.arms[k]] += 1
            pay(PLAYS, RESOURCES, game, hand)
            if RESOURCES == 1:
                for k in range(PLAYS):
                    efficiency += hand.rewards[k] * (1 / hand.costs[k, 0])
            update(at(ours, t), policy, memory, t, hand.arms, hand.probs, hand.rewards, hand.costs)
        elif hand.arms[0] == UNSET:
            return FAULT
        elif hand.arms[0] == STOP or not game.may_skip:
            standing = OVER
            break
        played = t
        if MARKS and round_mark < round_marks and played == marks.rounds[round_mark]:
            lay_down(hand, desk)
            note(out.by_round, round_mark, path, played, gain, game.budget, desk.purse, pulls)
            round_mark += 1
    out.gain[path] = gain
    out.efficiency[path] = efficiency
    out.rounds[path] = played
    for m in range(RESOURCES):
        out.spent[path, m] = game.budget[m] - hand.purse[m]
    if MARKS and standing == OVER:
        lay_down(hand, desk)
        for mark in range(round_mark, round_marks):
            note(out.by_round, mark, path, played, gain, game.budget, desk.purse, pulls)
        for mark in range(budget_mark, budget_marks):
            note(out.by_budget, mark, path, played, gain, game.budget, desk.purse, pulls)
    return standing


def run(
    policy: Any,
    state: Any,
    tables: Any,
    game: Game,
    marks: Marks,
    first: int,
    out: Results,
    desk: Desk,
    pulse: Floats,
    halt: Ints,
) -> None:
    """Play the paths first, first + 1, ... to their ends, one for each row of `state` and `out`.

    `pulse[0]` tells how many paths' worth of budget is spent; a non-zero `halt[0]` stops everything
    soon.
    """
    for path in range(out.gain.shape[0]):
        standing = GOING
        while standing == GOING:
            pulse[0] = path + out.spent[path, 0] / game.budget[0]
            if halt[0] != 0:
                return
            last = min(out.rounds[path] + game.beat, game.last_round)
            standing = play(
                policy, row(state, path), tables, game, marks, first + path, path, out, desk, last
            )
        if standing == FAULT:
            halt[0] = FAULT
            return
    pulse[0] = out.gain.shape[0]
