"""Exports of other programs, which are known by their headers: what is taken from where, and which
rows are no rounds.

    export               arm                   cost        reward                 not a round
    LiteLLM spend log    model                 spend       a file, by request_id  cache hit, failed
    LiteLLM shadow eval  real_ / shadow_model  .._cost     outcome                error, no cost
    Langfuse generation  provided_model_name   total_cost  its file of scores     other, failed
    OpenTelemetry GenAI  gen_ai.request.model  recorded    evaluation events      other, failed
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from purse.base.optional import pl
from purse.base.text import count, join_words
from purse.errors import InvalidInput
from purse.lab.data.question import Question

if TYPE_CHECKING:
    from purse.lab.data.source import Source


class LeftOut(NamedTuple):
    """Rows that are no rounds: those with one of these values, or all others."""

    rows: str  # what they are
    column: str
    values: Sequence[str]  # in lower case
    others: bool = False


@dataclass(frozen=True, kw_only=True)
class Format:
    """The columns of an export."""

    name: str
    headers: frozenset[str]  # which it has, and no other export
    arm: str
    costs: Sequence[str]  # the first one that is there
    id: str
    time: str
    session: str
    left_out: Sequence[LeftOut] = ()
    currency: str = "$"
    size: str = ""  # the tokens of a request

    def rounds(self, source: "Source") -> "Source":
        """Return the rows that are rounds, in the order of time.

        Raise `InvalidInput` if an id is there twice, or no round is left.
        """
        columns, gone, counts = source.frame.columns, np.zeros(len(source.frame), np.bool_), []
        for part in self.left_out:
            if part.column in columns:
                texts = source.frame[part.column].cast(pl.String).str.to_lowercase()
                here = texts.is_in(list(part.values)).fill_null(False).to_numpy() != part.others
                if number := int((here & ~gone).sum()):
                    counts.append(f"{number:,} {part.rows}")
                gone |= here
        if counts:
            if gone.all():
                raise InvalidInput(f"{source.path} has no round, only {join_words(counts)}")
            number = int(gone.sum())
            verb = "is no round" if number == 1 else "are no rounds"
            source.add_note(f"{count(number, 'row')} {verb}: {join_words(counts)}")
            source = source.only(~gone)
        source.add_note(f"{self.name}: arms are {self.arm}")
        size = self.size if self.size in columns else ""
        source = replace(source, currency=self.currency, size=size)
        if self.id in columns:
            source.check_once(self.id)
        return source.in_order(self.time) if self.time in columns else source

    def named(self, question: Question, columns: Sequence[str]) -> Question:
        """Return the question with this export's names for columns that it does not name."""
        cost = next((name for name in self.costs if name in columns), self.costs[0])
        names = {"arm": self.arm, "cost": cost, "on": self.id}
        if self.session in columns:
            names["block"] = self.session
        if question.probability not in columns:
            names["probability"] = "frequency"
        usual = Question()
        unnamed: dict[str, Any] = {
            role: name
            for role, name in names.items()
            if getattr(question, role) == getattr(usual, role)
        }
        return replace(question, **unnamed)
