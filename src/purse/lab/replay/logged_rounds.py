r"""The world that a log with contexts tells of: logged rounds, met as often as their weights say.

A round draws a row t of the log with probability w_t / sum w and shows its context x_t; the policy
chooses. If it chooses the logged arm i_t, the round is played, with the logged reward and cost. If
it chooses another arm, the round does not take place, and another row is drawn. A choice to skip is
taken with probability p_t = 1 / w_t. docs/replay.md says what that estimates.

The policy learns from the rounds that are played. Initial pulls, and the pull of another arm if one
cannot be paid, are not the policy's choice for a context: they take any row of their arm. `choose`
asks the policy.
"""

from functools import cache
from types import ModuleType
from typing import Any, NamedTuple

from purse.compiler.kernel import attach, cold
from purse.engine.job import Job
from purse.kernels.random import U, at, mix, uniform
from purse.types import SKIP, STOP, Floats, Ints, Now, Play, World

_ROW = 1 << 19  # the index of the random number that draws a row; policies have the first ones
# columns of credits: rounds that took place by choice, rows drawn for them, rewards played
COUNT, DRAWS, PLAYED = range(3)
MOST_DRAWS = 10_000  # of rows for one round

inner_choose: Any = None  # these two are bound by `seated`
inner_update: Any = None


class LoggedRounds(NamedTuple):
    """A log as data, its rows sorted by arm. Paths write into it, so that a thread needs its own.
    n rows, K arms.
    """

    upto: Floats  # (n,) the sum of the weights up to each row
    first: Ints  # (K + 1,) where the rows of each arm begin
    scale: float  # S, the sum of the weights per row
    arm: Ints  # (n,)
    chance: Floats  # (n,) p
    features: Floats  # (n, A, numbers of a context)
    rewards: Floats  # (n,) from 0 to 1
    costs: Ints  # (n, d) units
    values: Floats  # (n,) the rewards in the user's unit
    row: Ints  # (1,) the row that is played
    path: Ints  # (1,) the path that plays, from 0
    credits: Floats  # (P, 3) sums over the rounds of each path
    visits: Ints  # (n,) how often each row was played
    wanted_first: Ints  # (K,) how often each arm was
    lost: Ints  # (1,) paths that found no row


@cold
def _find_row(log: LoggedRounds, low: int, high: int, u: float) -> int:
    """Return the row from low .. high - 1 that the number u in [0, 1) draws, by weight."""
    before = log.upto[low - 1] if low > 0 else 0.0
    sought = before + u * (log.upto[high - 1] - before)
    last = high - 1
    while low < last:
        middle = (low + last) >> 1
        if log.upto[middle] > sought:
            last = middle
        else:
            low = middle + 1
    return low


@cold
def _show_row(log: LoggedRounds, row: int, context: Floats) -> None:
    """Write the context of a row."""
    for i in range(context.shape[0]):
        for k in range(context.shape[1]):
            context[i, k] = log.features[row, i, k]


@cold
def view(key: U, tables: LoggedRounds, t: int, context: Floats) -> None:
    """Draw the first row of a round and write its context."""
    if t == 1:
        tables.path[0] += 1
    row = _find_row(tables, 0, tables.upto.shape[0], uniform(at(key, t), _ROW))
    tables.row[0] = row
    _show_row(tables, row, context)


@cold
def draw(key: U, tables: LoggedRounds, t: int, arm: int, cost: Ints) -> float:
    """Write what the row costs, and return its reward; of another arm it is any row."""
    row = tables.row[0]
    if tables.arm[row] != arm:
        low, high = tables.first[arm], tables.first[arm + 1]
        row = _find_row(tables, low, high, uniform(at(key, t), arm))
        tables.row[0] = row
    for m in range(cost.shape[0]):
        cost[m] = tables.costs[row, m]
    return tables.rewards[row]


class _SeatedParams(NamedTuple):
    """The parameters of a policy, and the log that it plays on."""

    inner: Any
    log: LoggedRounds


def choose(params: _SeatedParams, state: Any, scratch: Any, now: Now, play: Play) -> None:
    """Ask the policy about rows until it chooses what was logged."""
    log = params.log
    row = log.row[0]
    again = mix(now.key + U(_ROW))
    key = now.key
    number = 0
    while True:
        fresh = Now(
            key,
            now.t,
            now.rounds_left,
            now.left,
            now.masked,
            now.allowed,
            now.masks,
            now.seen,
            now.pending,
            now.context,
        )
        inner_choose(params.inner, state, scratch, fresh, play)
        arm = play.arms[0]
        if number == 0 and arm >= 0:
            log.wanted_first[arm] += 1
        if arm < SKIP or arm == log.arm[row]:
            break
        if arm == SKIP and uniform(at(again, number), _ROW + 1) < log.chance[row]:
            break
        number += 1
        if number == MOST_DRAWS:
            log.lost[0] += 1
            play.arms[0] = STOP
            break
        key = at(again, number)
        row = _find_row(log, 0, log.upto.shape[0], uniform(key, _ROW))
        _show_row(log, row, now.context)
    log.row[0] = row
    if play.arms[0] >= SKIP:
        log.credits[log.path[0], COUNT] += 1
        log.credits[log.path[0], DRAWS] += number + 1


def update(params: _SeatedParams, state: Any, scratch: Any, now: Now, play: Play) -> None:
    """Teach the policy the round that was played, and credit it."""
    log = params.log
    row = log.row[0]
    _show_row(log, row, now.context)
    inner_update(params.inner, state, scratch, now, play)
    log.credits[log.path[0], PLAYED] += log.values[row]
    log.visits[row] += 1


@cache
def _seated(policy: ModuleType) -> ModuleType:
    """Return the policy as one that plays logged rounds."""
    module = ModuleType(policy.__name__)
    vars(module).update(
        {name: value for name, value in vars(policy).items() if not name.startswith("__")}
    )
    vars(module).update(
        init=lambda params, problem: policy.init(params.inner, problem),
        choose=attach(choose, inner_choose=policy.choose),
        update=attach(update, inner_update=policy.update),
    )
    if hasattr(policy, "scratch"):
        vars(module)["scratch"] = lambda params, problem: policy.scratch(params.inner, problem)
    return module


def seat(job: Job, world: World) -> Job:
    """Return the job of a policy that sees contexts, on the logged rounds of this world."""
    params = job.params.inner if isinstance(job.params, _SeatedParams) else job.params
    return job._replace(
        policy=_seated(job.policy) if params is job.params else job.policy,
        params=_SeatedParams(params, world.tables),
        world=world,
    )
