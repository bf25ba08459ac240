"""What policies that see contexts would have gained and spent, by each method, from a log that has
contexts; or why it cannot tell.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from purse.base import amounts
from purse.engine.job import Job
from purse.lab.offline.bootstrap import Played, play_log, with_log_error
from purse.lab.offline.context_world import ContextWorld, Credited, effective_rows
from purse.lab.offline.log import LEAST_ESS, too_little
from purse.lab.offline.log_result import UNKNOWN, LogEstimate
from purse.lab.offline.model_world import METHODS
from purse.lab.offline.seated_policy import MOST_DRAWS, seat
from purse.lab.theory.estimate import Estimate
from purse.types import Floats, Ints

MISSED = 4.0  # standard errors by which the weights of a policy's rows may fall short of 1
NO_QUEUES = (
    "sees contexts: the next row of an arm has a context that the policy did not choose in; "
    "ips, snips and dr can tell"
)


def by_contexts(logged: ContextWorld, job: Job, how: Mapping[str, Any]) -> dict[str, LogEstimate]:
    """Return the estimate by each method; `how` is as in `play_log`."""
    played = play_log(
        job, logged.world, logged.once(), logged.redrawn, **how, seat=seat, keep=logged.credited
    )
    main = [logged.credited(world, run) for world, run in played.main]
    again: list[Credited] = played.kept
    rows = effective_rows(np.sum([part.visits for part in main], axis=0))
    refused = reason(logged, main, again, played, rows)
    budget = float(job.problem.budget[0] / amounts.UNIT)
    unknown = LogEstimate(
        job.name, budget, "replay", UNKNOWN, 0.0, NO_QUEUES, UNKNOWN, played.rounds
    )
    answers = {"replay": unknown}
    for method in METHODS:
        gain = pooled([part.gain[method] for part in main], [part.gain[method] for part in again])
        spent = pooled(
            [part.spent[method] for part in main], [part.spent[method] for part in again]
        )
        answers[method] = LogEstimate(
            job.name, budget, method, gain, rows, refused, spent, played.rounds
        )
    return answers


def pooled(main: list[Floats], again: list[Floats]) -> Estimate:
    """Return the estimate from the values of the log's paths, and of the replicates'."""
    return with_log_error(np.concatenate(main), np.array(again))


def reason(
    logged: ContextWorld, main: list[Credited], again: list[Credited], played: Played, rows: float
) -> str | None:
    """Return why the log cannot tell, or None: the policy wants an arm of which the log knows too
    little, or arms in contexts in which the log never chose them, or plays too few rows.
    """
    log = logged.log
    asked: Ints = played.pulls + np.sum([part.asked for part in (*main, *again)], axis=0)
    if (known := too_little(log, asked, log.ess)) is not None:
        return known
    if any(part.lost for part in main):
        return f"not in the log: wants an arm that none of {MOST_DRAWS:,} rows has"
    weight = pooled([part.weight for part in main], [part.weight for part in again])
    if (short := 1 - weight.mean) > MISSED * weight.error:
        apart = short / weight.error if weight.error else np.inf
        return (
            "not in the log: wants arms in contexts in which the log never chose them: the weights "
            f"of the rows that it agrees with come to {weight.mean:.3g} a round and should come to "
            f"1, {apart:.3g} standard errors apart"
        )
    if rows < LEAST_ESS:
        return f"too few rows: plays rows whose effective number is {rows:.3g}, below {LEAST_ESS:g}"
    return None
