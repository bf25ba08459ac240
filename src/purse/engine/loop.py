"""The one loop, `play`. `choose`, `update`, `draw`, `PLAYS`, `RESOURCES` and `INITIAL_PULLS` are
bound to it by `purse.compiler.jit.attach`, `play` and `row` to `run`.

A path can stop after any round and go on later from its row of results: between two such stretches
a thread looks up, and a GPU comes back to its host.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from purse.compiler.jit import cold, kernel
from purse.compiler.stack_arrays import matrix, vector
from purse.engine.rules import HOLD, RETRY, initial_pull, replace_arm, short_of
from purse.kernels.random import POLICY, REFEREE, WORLD, U, at, stream
from purse.types import STOP, Floats, Ints

choose: Any = None
update: Any = None
row: Any = None
draw: Any = None
PLAYS = 1
RESOURCES = 1
INITIAL_PULLS = False
CHECKPOINTS = True  # whether there may be checkpoints
RULE = -1  # the stop rule where it is known beforehand
UNSET = -3  # in arms[0] until the policy chooses
# how a path stands; `FAULT`: the policy chose nothing, or an arm that does not exist
GOING, OVER, FAULT = range(3)


class Game(NamedTuple):
    """What all paths have in common."""

    budget: Ints  # (d,) units
    holds: Ints  # (K, d) units: what rule `hold` sets apart for each arm
    # (d,) the part of the largest cost that a unit is: what turns units into what policies see
    unit_scale: Floats
    rule: int
    initial_rounds: int
    last_round: int
    may_skip: bool  # only where there is a horizon: else a policy that skips would never end
    check_every: int  # so many rounds pass between two looks at `halt`
    seed: int


class CheckpointPlan(NamedTuple):
    """Where to record."""

    rounds: Ints  # (M,)
    # (M, d) units: a checkpoint is passed by the pull that leaves less than this of some resource
    left: Ints


class Checkpoints(NamedTuple):
    """The standing of each path at each checkpoint."""

    rounds: Ints  # (P, M)
    gain: Floats  # (P, M)
    spent: Ints  # (P, M, d) units
    pulls: Ints  # (P, M, K)


class PathResults(NamedTuple):
    """The standing of each path at its end."""

    gain: Floats  # (P,)
    # (P,) the sum of reward per cost, as policies see costs; 0 where there are several resources
    efficiency: Floats
    rounds: Ints  # (P,)
    spent: Ints  # (P, d) units
    pulls: Ints  # (P, K)
    by_round: Checkpoints
    by_budget: Checkpoints


class Workspace(NamedTuple):
    """Room to work in; kernels never allocate."""

    arms: Ints  # (m,)
    probs: Floats  # (m,)
    rewards: Floats  # (m,)
    units: Ints  # (m, d) what the plays cost
    costs: Floats  # (m, d) the same as policies see it
    left_units: Ints  # (d,) units left
    left: Floats  # (d,) the same as policies see it
    excluded: Ints  # (K,) rule `retry`


@cold
def record_checkpoint(
    record: Checkpoints,
    checkpoint: int,
    path: int,
    rounds: int,
    gain: float,
    budget: Ints,
    purse: Ints,
    pulls: Ints,
) -> None:
    """Write the standing of a path at one checkpoint."""
    record.rounds[path, checkpoint] = rounds
    record.gain[path, checkpoint] = gain
    for m in range(budget.shape[0]):
        record.spent[path, checkpoint, m] = budget[m] - purse[m]
    for i in range(pulls.shape[0]):
        record.pulls[path, checkpoint, i] = pulls[i]


@kernel
def passes(plays: int, resources: int, desk: Workspace, floor: Ints) -> bool:
    """Whether paying leaves less than `floor` of some resource."""
    for m in range(resources):
        after = desk.left_units[m]
        for k in range(plays):
            after -= desk.units[k, m]
        if after < floor[m]:
            return True
    return False


@kernel
def out_of_range(plays: int, n_arms: int, desk: Workspace) -> bool:
    """Whether some arm does not exist; to pull it would write where it must not."""
    for k in range(plays):
        if U(desk.arms[k]) >= U(n_arms):  # negative ones are huge
            return True
    return False


@kernel
def hold_short_of(plays: int, resources: int, game: Game, desk: Workspace) -> int:
    """Rule `hold`: the resource of which the most that the plays may cost cannot be set apart, or
    -1.
    """
    for k in range(plays):
        for m in range(resources):
            desk.units[k, m] = game.holds[desk.arms[k], m]
    return short_of(plays, resources, desk.units, desk.left_units)


@kernel
def scale_left(resources: int, game: Game, desk: Workspace) -> None:
    """Let the policy see what is left."""
    for m in range(resources):
        desk.left[m] = desk.left_units[m] * game.unit_scale[m]


@kernel
def pay(plays: int, resources: int, game: Game, desk: Workspace) -> None:
    """Take the cost of the plays out of the purse, and let the policy see it."""
    for k in range(plays):
        for m in range(resources):
            desk.left_units[m] -= desk.units[k, m]
            desk.costs[k, m] = desk.units[k, m] * game.unit_scale[m]


@kernel
def pull(
    draw: Any, theirs: Any, tables: Any, plays: int, resources: int, t: int, desk: Workspace
) -> int:
    """Pull the arms; returns the resource that cannot pay for it, or -1."""
    for k in range(plays):
        desk.rewards[k] = draw(theirs, tables, t, desk.arms[k], desk.units[k])
    return short_of(plays, resources, desk.units, desk.left_units)


@kernel
def spill(hand: Workspace, desk: Workspace) -> None:
    """Copy what a call may need from the hand to the desk: what is passed to a call must lie in
    memory, what is not stays in registers.
    """
    for k in range(hand.arms.shape[0]):
        desk.arms[k] = hand.arms[k]
        desk.probs[k] = hand.probs[k]
    for m in range(hand.left_units.shape[0]):
        desk.left_units[m] = hand.left_units[m]


@kernel
def retry_arm(
    game: Game, number: int, t: int, attempt: int, short: int, hand: Workspace, desk: Workspace
) -> bool:
    """Rule `retry`: put another arm in the place of one that cannot be paid; False when none is
    left.
    """
    if attempt == 0:
        for i in range(desk.excluded.shape[0]):
            desk.excluded[i] = 0
    spill(hand, desk)
    found = replace_arm(
        at(stream(game.seed, number, REFEREE), t),
        attempt,
        short,
        desk.units,
        desk.arms,
        desk.probs,
        desk.excluded,
    )
    for k in range(hand.arms.shape[0]):
        hand.arms[k] = desk.arms[k]
        hand.probs[k] = desk.probs[k]
    return found


@cold
def count_rounds(checkpoints: CheckpointPlan, played: int) -> int:
    """How many checkpoints by round a path has reached."""
    reached = 0
    while reached < checkpoints.rounds.shape[0] and checkpoints.rounds[reached] <= played:
        reached += 1
    return reached


@cold
def count_spent(checkpoints: CheckpointPlan, purse: Ints) -> int:
    """How many checkpoints by budget a path has passed."""
    passed = 0
    while passed < checkpoints.left.shape[0]:
        below = False
        for m in range(purse.shape[0]):
            below |= purse[m] < checkpoints.left[passed, m]
        if not below:
            break
        passed += 1
    return passed


def play(
    policy: Any,
    memory: Any,
    tables: Any,
    game: Game,
    checkpoints: CheckpointPlan,
    number: int,
    path: int,
    out: PathResults,
    workspace: Workspace,
    last: int,
) -> int:
    """Play path `number` on from where its row of `out` stands, up to round `last`; returns
    `GOING`, `OVER` or `FAULT`.
    """
    ours = stream(game.seed, number, POLICY)
    theirs = stream(game.seed, number, WORLD)
    local = Workspace(
        vector(PLAYS, 0),
        vector(PLAYS, 0.0),
        vector(PLAYS, 0.0),
        workspace.units,
        matrix(PLAYS, RESOURCES, 0.0),
        vector(RESOURCES, 0),
        vector(RESOURCES, 0.0),
        workspace.excluded,
    )
    pulls = out.pulls[path]
    gain = out.gain[path]
    efficiency = out.efficiency[path]
    played = out.rounds[path]
    for m in range(RESOURCES):
        local.left_units[m] = game.budget[m] - out.spent[path, m]
    spill(local, workspace)
    rule = game.rule if RULE < 0 else RULE
    round_marks = checkpoints.rounds.shape[0] if CHECKPOINTS else 0
    budget_marks = checkpoints.left.shape[0] if CHECKPOINTS else 0
    round_mark = count_rounds(checkpoints, played) if CHECKPOINTS else 0
    budget_mark = count_spent(checkpoints, workspace.left_units) if CHECKPOINTS else 0
    standing = GOING if last < game.last_round else OVER
    while played < last:
        t = played + 1
        if INITIAL_PULLS and t <= game.initial_rounds:
            initial_pull(t, pulls.shape[0], local.arms, local.probs)
        else:
            scale_left(RESOURCES, game, local)
            local.arms[0] = UNSET
            choose(at(ours, t), policy, memory, t, local.left, local.arms, local.probs)
        if local.arms[0] >= 0:
            if out_of_range(PLAYS, pulls.shape[0], local):
                return FAULT
            if rule == HOLD and hold_short_of(PLAYS, RESOURCES, game, local) >= 0:
                standing = OVER
                break
            attempt = 0
            while True:
                short = pull(draw, theirs, tables, PLAYS, RESOURCES, t, local)
                if (
                    short < 0
                    or rule != RETRY
                    or not retry_arm(game, number, t, attempt, short, local, workspace)
                ):
                    break
                attempt += 1
            if short >= 0:
                standing = OVER
                break
            while (
                CHECKPOINTS
                and budget_mark < budget_marks
                and passes(PLAYS, RESOURCES, local, checkpoints.left[budget_mark])
            ):
                spill(local, workspace)
                record_checkpoint(
                    out.by_budget,
                    budget_mark,
                    path,
                    played,
                    gain,
                    game.budget,
                    workspace.left_units,
                    pulls,
                )
                budget_mark += 1
            for k in range(PLAYS):
                gain += local.rewards[k]
                pulls[local.arms[k]] += 1
            pay(PLAYS, RESOURCES, game, local)
            if RESOURCES == 1:
                for k in range(PLAYS):
                    efficiency += local.rewards[k] * (1 / local.costs[k, 0])
            update(
                at(ours, t), policy, memory, t, local.arms, local.probs, local.rewards, local.costs
            )
        elif local.arms[0] == UNSET:
            return FAULT
        elif local.arms[0] == STOP or not game.may_skip:
            standing = OVER
            break
        played = t
        if CHECKPOINTS and round_mark < round_marks and played == checkpoints.rounds[round_mark]:
            spill(local, workspace)
            record_checkpoint(
                out.by_round,
                round_mark,
                path,
                played,
                gain,
                game.budget,
                workspace.left_units,
                pulls,
            )
            round_mark += 1
    out.gain[path] = gain
    out.efficiency[path] = efficiency
    out.rounds[path] = played
    for m in range(RESOURCES):
        out.spent[path, m] = game.budget[m] - local.left_units[m]
    if CHECKPOINTS and standing == OVER:
        spill(local, workspace)
        for checkpoint in range(round_mark, round_marks):
            record_checkpoint(
                out.by_round,
                checkpoint,
                path,
                played,
                gain,
                game.budget,
                workspace.left_units,
                pulls,
            )
        for checkpoint in range(budget_mark, budget_marks):
            record_checkpoint(
                out.by_budget,
                checkpoint,
                path,
                played,
                gain,
                game.budget,
                workspace.left_units,
                pulls,
            )
    return standing


def run(
    policy: Any,
    state: Any,
    tables: Any,
    game: Game,
    checkpoints: CheckpointPlan,
    first: int,
    out: PathResults,
    workspace: Workspace,
    progress: Floats,
    stop_flag: Ints,
) -> None:
    """Play the paths first, first + 1, ... to their ends, one for each row of `state` and `out`.

    `pulse[0]` tells how many paths' worth of budget is spent; a non-zero `halt[0]` stops everything
    soon.
    """
    for path in range(out.gain.shape[0]):
        standing = GOING
        while standing == GOING:
            progress[0] = path + out.spent[path, 0] / game.budget[0]
            if stop_flag[0] != 0:
                return
            last = min(out.rounds[path] + game.check_every, game.last_round)
            standing = play(
                policy,
                row(state, path),
                tables,
                game,
                checkpoints,
                first + path,
                path,
                out,
                workspace,
                last,
            )
        if standing == FAULT:
            stop_flag[0] = FAULT
            return
    progress[0] = out.gain.shape[0]
