"""Langfuse's observations, as its blob storage and its pages export them; its file of scores is one
of `rewards`.
"""

from __future__ import annotations

from purse.base.optional import pl
from purse.errors import InvalidInput, listed
from purse.lab.data.formats import Format, LeftOut
from purse.lab.data.source import Source

_LEFT_OUT = [
    LeftOut("other observations", "type", ["generation"], others=True),
    LeftOut("failed calls", "level", ["error"]),
]
OBSERVATIONS = Format(
    name="observations of Langfuse",
    headers=frozenset({"id", "trace_id", "provided_model_name", "total_cost"}),
    arm="provided_model_name",
    costs=["total_cost"],
    id="id",
    time="start_time",
    session="session_id",
    left_out=_LEFT_OUT,
)
GENERATIONS = Format(
    name="generations of Langfuse",
    headers=frozenset({"id", "traceId", "model", "totalCost"}),
    arm="model",
    costs=["totalCost"],
    id="id",
    time="startTime",
    session="sessionId",
    size="promptTokens",
    left_out=_LEFT_OUT,
)
SCORES = frozenset({"trace_id", "observation_id", "name", "value"})
_TRACE = "trace_id", "traceId"  # as the two exports write it


def read_scores(scores: Source, log: Source, name: str | None) -> pl.Series:
    """(rows,) The scores of this name for the rows of a log: of the observation itself, else of its
    trace, which counts once, for the trace's last generation.

    name   None: that of all scores, if they have one

    Raise `InvalidInput` if there are several names, or a row has several scores.
    """
    names = sorted(scores.texts("name").unique().to_list())
    if name is None and len(names) == 1:
        name = names[0]
    if name not in names:
        wrong = "" if name is None else f"no score {name!r}; it has "
        raise InvalidInput(
            f"{scores.path} has {wrong}scores {listed(names)}; say which one is the reward "
            "(--reward)"
        )
    trace = next(column for column in _TRACE if column in log.frame.columns)
    here = scores.only((scores.frame["name"] == name).to_numpy())
    table = here.frame.select(
        "trace_id", "observation_id", value=pl.Series(here.numbers("value", truth=True))
    )
    own = table.filter(pl.col("observation_id").fill_null("") != "")
    whole = table.filter(pl.col("observation_id").fill_null("") == "")
    for part, column in ((own, "observation_id"), (whole, "trace_id")):
        if part[column].is_duplicated().any():
            again = part.filter(part[column].is_duplicated())[column][0]
            raise InvalidInput(
                f"{scores.path}: {column} {again!r} has several scores {name!r}; keep one of them"
            )
    rows = log.frame.select(pl.col("id", trace).cast(pl.String)).with_columns(
        last=pl.int_range(pl.len()).reverse().over(trace) == 0
    )
    joined = rows.join(
        own.select(id=pl.col("observation_id").cast(pl.String), own="value"),
        on="id",
        how="left",
        maintain_order="left",
    ).join(
        whole.select(pl.col("trace_id").cast(pl.String).alias(trace), whole="value"),
        on=trace,
        how="left",
        maintain_order="left",
    )
    of_trace = pl.when("last").then("whole")
    return joined.select(pl.coalesce("own", of_trace))["own"]
