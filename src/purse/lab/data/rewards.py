"""Rewards from elsewhere: a file with judged answers, joined to the rows of a log by their ids."""

from __future__ import annotations

import os
from dataclasses import replace

import numpy as np

from purse.base.optional import pl
from purse.errors import InvalidInput, invalid, listed
from purse.lab.data.columns import aligned
from purse.lab.data.langfuse import SCORES, read_scores
from purse.lab.data.question import Question
from purse.lab.data.reading import read
from purse.lab.data.source import Source


def with_rewards(source: Source, question: Question) -> tuple[Source, Question]:
    """Return the source with a column of rewards, which is empty in rows that nobody judged, and
    the question that names it.

    Raise `InvalidInput` if an id is missing or there twice, if no row has a reward, or if several
    columns could be it.
    """
    assert question.rewards is not None
    judged = read(question.rewards, decimal=question.decimal, empty=question.empty)
    if question.on is not None:
        judged = aligned(judged, {"on": question.on})
    named = None if question.reward == Question().reward else question.reward
    if set(judged.frame.columns) >= SCORES and question.on in source.frame.columns:
        name, column = named or "score", read_scores(judged, source, named)
    else:
        name, column = _joined(source, judged, question.on, named)
    frame = source.frame.with_columns(column.alias(name))
    if not column.count():
        raise InvalidInput(f"{judged.path}: none of its ids is one of {source.path}")
    return replace(source, frame=frame), replace(question, reward=name)


def with_sample(source: Source, question: Question) -> Source:
    """Return the source with the column of rewards as a sample, if rows are empty there that nobody
    judged; for a budget without these rows, if the rewards are in a file of their own.
    """
    empty, judged = source.empty(question.reward), question.rewards
    asked = question.budgets is None and question.probability is not None
    if judged is not None or (asked and empty.any() and not empty.all()):
        note = f"{len(empty) - empty.sum():,} of {len(empty):,} rows have a reward"
        note += f", in {judged}" if isinstance(judged, str | os.PathLike) else ""
        if empty.any():
            note += "; that is fair if what was judged has nothing to do with how good it was"
        source.add_note(note)
        if question.budgets is not None:
            return source.only(~empty.to_numpy())
        return replace(source, sample=question.reward)
    return source


def _joined(
    source: Source, judged: Source, on: str | None, named: str | None
) -> tuple[str, pl.Series]:
    """Return the name of the reward and its values for the rows of the source."""
    if on is None:
        both = [name for name in source.frame.columns if name in judged.frame.columns]
        hint = f"; both files have {listed(both)}" if both else ""
        allowed = "needs on (--on), the column of ids in both files"
        raise invalid("rewards", str(judged.path), f"{allowed}{hint}")
    for part in (source, judged):
        part.check_once(on)
    others = [column for column in judged.frame.columns if column != on]
    if named is None and "reward" in others:
        named = "reward"
    if named is None and len(others) != 1:
        raise InvalidInput(
            f"{judged.path} has the columns {listed(others)} beside {on!r}; say which one is the "
            "reward (--reward)"
        )
    name = named or others[0]
    values = np.asarray(judged.numbers(name, truth=True, optional=True))
    right = pl.DataFrame({"id": judged.texts(on), "value": values}).with_columns(
        pl.col("value").fill_nan(None)
    )
    left = pl.DataFrame({"id": source.texts(on)})
    return name, left.join(right, on="id", how="left", maintain_order="left")["value"]
