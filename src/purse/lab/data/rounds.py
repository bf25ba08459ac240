"""The opening of recorded rounds: files, frames and journals become a log or a table."""

import os
from pathlib import Path

from purse.lab.data.columns import ASSUMED, aligned, check_columns, recognised, with_currency
from purse.lab.data.features import needed_columns
from purse.lab.data.frame import Data
from purse.lab.data.journal import is_journal, read_journal_log
from purse.lab.data.langfuse import GENERATIONS, OBSERVATIONS
from purse.lab.data.litellm import SHADOW, SPEND_LOG, read_shadow
from purse.lab.data.log import Log, read_log
from purse.lab.data.otel import SPANS
from purse.lab.data.question import Question
from purse.lab.data.reading import read
from purse.lab.data.rewards import with_rewards, with_sample
from purse.lab.data.source import Source
from purse.lab.data.table import FullTable, read_table, wide_arms

Rounds = Log | FullTable
_FORMATS = SPEND_LOG, OBSERVATIONS, GENERATIONS, SPANS


def open_rounds(data: Data | Source | Rounds, question: Question) -> Rounds:
    """Read a file, a frame or the export of a campaign, in the columns that a question names;
    rounds that were read already are returned.

    Raise `InvalidInput` if the data is neither a log nor a table, or a cell is not allowed.
    """
    if isinstance(data, (Log, FullTable)):
        return data
    if isinstance(data, (str, os.PathLike)) and is_journal(Path(data)):
        return read_journal_log(Path(data), question)
    source = data if isinstance(data, Source) else _open_source(data, question)
    if set(source.frame.columns) >= SHADOW:
        return read_shadow(source)
    source, question = _with_names(source, question)
    source = with_currency(source)
    columns, probability = source.frame.columns, question.probability
    log = probability in (None, *columns) or (question.arm in columns and probability in ASSUMED)
    source = with_sample(source, question) if log else source
    filled = _without_empty(source, question, log) if question.skip_empty else source
    return read_log(filled, question) if log else read_table(filled, question)


def _open_source(data: Data, question: Question) -> Source:
    """Return the rows, with names of columns as the question writes them."""
    return aligned(read(data, decimal=question.decimal, empty=question.empty), question.names)


def _with_names(source: Source, question: Question) -> tuple[Source, Question]:
    """Return the rounds of an export, with rewards from elsewhere if there are some, and the
    question with the names of their columns.
    """
    check_columns(source, question)
    columns = source.frame.columns
    export = next((form for form in _FORMATS if form.headers <= set(columns)), None)
    if export is not None:
        source, question = export.rounds(source), export.named(question, columns)
    if question.rewards is not None:
        source, question = with_rewards(source, question)
    return recognised(source, question)


def _without_empty(source: Source, question: Question, log: bool) -> Source:
    """Return the source without rows, or rounds of a table, with an empty cell that is needed."""
    columns, spread = source.frame.columns, True
    group, texts = None, [question.arm]
    numbers = [question.cost, *([] if source.sample == question.reward else [question.reward])]
    if log:
        numbers += [question.probability] if question.probability in columns else []
        arms = (
            question.arms or source.column(question.arm).drop_nulls().cast(str).unique().to_list()
        )
    elif question.arm in columns:
        texts, group, spread, arms = [question.arm, question.round], question.round, False, []
    else:
        arms, numbers = wide_arms(source, question)
        texts = []
    used = [*numbers, *texts]
    more_numbers, more_texts = needed_columns(source, question, arms, used, spread=spread)
    return source.without_empty([*numbers, *more_numbers], [*texts, *more_texts], group)
