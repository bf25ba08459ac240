"""The journal of a campaign as a log: of each ticket with a reward the arm, the probability that it
was drawn with, what it brought and what it cost.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from purse.base import amounts
from purse.campaign.restore import is_journal as is_journal
from purse.errors import InvalidInput
from purse.lab.offline.feature_columns import Contexts
from purse.lab.offline.journal_reader import JournalReader
from purse.lab.offline.log import Log
from purse.lab.offline.traffic import repeat_masks

CERTAIN = 1 - 1e-9  # a probability from which on no other arm had a chance
MOST_CERTAIN = 0.9  # the part of such choices from which on nothing is estimated


class JournalLog(NamedTuple):
    """A journal as a log, and the budget of the campaign."""

    log: Log
    budget: list[float]  # (d,) in the user's unit, with top-ups


def read_journal_log(path: str | Path) -> JournalLog:
    """Read the export of a campaign as a log.

    Raise `InvalidInput` if the journal cannot be read, or if nearly every arm was chosen with
    probability 1.
    """
    reader = JournalReader(path)
    terms, level = reader.terms, reader.level
    n_rows, certain = len(reader.arm), sum(chance >= CERTAIN for chance in reader.chance)
    if n_rows == 0:
        raise InvalidInput(f"{path}: no ticket has a reward yet")
    if certain >= MOST_CERTAIN * n_rows:
        raise InvalidInput(
            f"{path}: {certain:,} of {n_rows:,} arms were chosen with probability 1, so the "
            "journal cannot tell what another policy would have earned; create the campaign with "
            "explore=0.05"
        )
    low, high = reader.bounds()
    arm, costs = np.array(reader.arm, np.int64), np.array(reader.costs, np.int64)
    inside = np.clip(costs, low[arm], high[arm])
    contexts = read_contexts(reader)
    seen = () if contexts is None else (contexts.note,)
    log = Log(
        Path(path).name,
        tuple(level.arms.names),
        arm,
        np.array(reader.reward, np.float64),
        inside,
        1 / np.minimum(1.0, np.array(reader.chance)),
        low,
        high,
        terms.reward_range or (0.0, 1.0),
        # with periods, as many rounds as there were in all of them
        level.head.rounds if terms.every and terms.horizon else terms.horizon,
        resources=terms.resources,
        rounds=reader.rounds(arm),
        outages=repeat_masks(reader.masks, len(level.arms.names)),
        notes=(*seen, *reader.notes(int((inside != costs).any(axis=1).sum()))),
        contexts=contexts,
    )
    budget = [purse.budget / amounts.UNIT for purse in level.balances]
    return JournalLog(log, budget)


def read_contexts(reader: JournalReader) -> Contexts | None:
    """Return the contexts of the tickets with a reward; None where there are none, or where the
    export leaves them out.
    """
    features = reader.terms.context
    rows = [numbers for numbers in reader.contexts if numbers is not None]
    if not features or len(rows) < len(reader.contexts):
        return None
    values = np.array(rows, np.float64).reshape(len(rows), -1, features.n_columns)
    return Contexts(features, values)
