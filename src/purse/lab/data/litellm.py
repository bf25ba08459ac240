"""LiteLLM's spend logs, and its shadow evaluations: a request that two models answered and a judge
compared.
"""

import numpy as np

from purse.errors import InvalidInput
from purse.lab.data.formats import Format, LeftOut
from purse.lab.data.source import Source
from purse.lab.data.table import FullTable, cost_units

SPEND_LOG = Format(
    name="a spend log of LiteLLM",
    headers=frozenset({"request_id", "call_type", "spend", "model", "total_tokens"}),
    arm="model",
    costs=["spend"],
    id="request_id",
    time="startTime",
    session="session_id",
    size="prompt_tokens",
    left_out=[
        LeftOut("cache hits", "cache_hit", ["true"]),
        LeftOut("failed calls", "status", ["failure"]),
    ],
)
SHADOW = frozenset({"outcome", "real_model", "shadow_model", "real_cost", "shadow_cost"})
_WINS = {"real": ("real", "tie"), "shadow": ("shadow", "tie")}  # outcomes in which a side is good
_OUTCOMES = ("real", "shadow", "tie", "error")


def read_shadow(source: Source) -> FullTable:
    """Return a shadow evaluation as a table of two arms; the first one is what was done. An answer
    is good if it was not judged to be worse. What classified the request costs its side, too.

    Raise `InvalidInput` if there are several pairs of models: each has its own answer.
    """
    outcomes = source.texts("outcome")
    if (wrong := ~outcomes.is_in(list(_OUTCOMES))).any():
        row = int(wrong.arg_max() or 0)
        allowed = f"must be one of {', '.join(_OUTCOMES)}"
        raise source.refuse(row, "outcome", outcomes[row], allowed)
    failed = (outcomes == "error").to_numpy()
    unknown = np.zeros(len(failed), np.bool_)
    for side in _WINS:
        unknown |= source.empty(f"{side}_cost").to_numpy()
    gone = failed | unknown
    if gone.all():
        raise InvalidInput(f"{source.path} has no comparison with an outcome and both costs")
    if gone.any():
        source.add_note(
            f"{gone.sum():,} of {len(gone):,} comparisons are left out: {failed.sum():,} failed, "
            f"{(unknown & ~failed).sum():,} have no cost"
        )
        source = source.only(~gone)
    if "created_at" in source.frame.columns:
        source = source.in_order("created_at")
    names = [source.texts(f"{side}_model").unique().to_list() for side in _WINS]
    if any(len(models) > 1 for models in names):
        pairs = len(source.frame.select("real_model", "shadow_model").unique())
        raise InvalidInput(
            f"{source.path} compares {pairs} pairs of models; give the rows of one job (job_id)"
        )
    outcomes, rewards, costs = source.texts("outcome"), [], []
    for side, good in _WINS.items():
        rewards.append(outcomes.is_in(list(good)).to_numpy().astype(np.float64))
        units = cost_units(source, f"{side}_cost")
        extra = f"{side}_classifier_cost"
        if extra in source.frame.columns and not source.empty(extra).any():
            units = units + cost_units(source, extra)
        costs.append(units)
    source.add_note("a shadow evaluation of LiteLLM: an answer is good if none was better")
    return FullTable(
        source.path.name,
        (names[0][0], names[1][0]),
        np.stack(rewards, axis=1),
        np.stack(costs, axis=1),
        notes=tuple(source.notes),
        origin=source.name,
        done=0,
        currency="$",
    )
