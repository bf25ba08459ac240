"""Estimates from logs by every field of a question, without references."""

from __future__ import annotations

from typing import Any

from purse.lab.data.log import Log
from purse.lab.data.question import Question
from purse.lab.data.rounds import open_rounds
from purse.lab.replay.log_result import LogResult
from purse.lab.replay.off_policy import estimate


def log_of(data: Any, **fields: Any) -> Log:
    """The log in a file or frame."""
    log = open_rounds(data, Question(**fields))
    assert isinstance(log, Log)
    return log


def estimated(data: Any, *, n_workers: int | None = None, **fields: Any) -> LogResult:
    """Estimates from a log; without a horizon games have no limit on rounds."""
    question = Question(**{"horizon": "none"} | fields)
    return estimate(log_of(data, **vars(question)), question, n_workers)
