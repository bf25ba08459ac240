"""The tickets of a journal as a frame: what was asked, and what was reported since."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from purse.base.amounts import UNIT
from purse.base.optional import pl
from purse.campaign.api.journal import Entry
from purse.campaign.api.states import FAILED, HELD, PRESUMED, SETTLED, SKIPPED, TOLD, VOID
from purse.campaign.terms.calendar import EPOCH
from purse.types import SKIP

_STATES = {"told": TOLD, "settled": SETTLED, "failed": FAILED, "voided": VOID, "expired": PRESUMED}


def frame_of(entries: Iterable[Entry]) -> pl.DataFrame:
    """Return a row for each ticket, with a cost for each resource and a column for each label."""
    arms: list[str] = []
    costs: list[str] = []
    rows: dict[int, dict[str, Any]] = {}
    for entry in entries:
        body, row = entry.body, rows.get(entry.ticket or 0)
        if entry.kind == "created":
            arms += body["arms"]
            costs += [f"cost_{name}" for name in body["resources"]]
        elif entry.kind == "arm_added" and body["arm"] == len(arms):
            arms.append(body["name"])
        elif entry.kind == "asked":
            is_skipped = body["arm"] == SKIP
            rows[entry.ticket or 0] = {
                "ticket": entry.ticket,
                "asked_at": EPOCH + timedelta(milliseconds=entry.at),
                "arm": None if is_skipped else arms[body["arm"]],
                "probability": body["p"],
                "state": SKIPPED if is_skipped else HELD,
                "reward": None,
                **dict.fromkeys(costs),
                **{f"label_{key}": value for key, value in body.get("labels", {}).items()},
            }
        elif row is not None and entry.kind != "conflict":
            row["state"] = _STATES.get(entry.kind, row["state"])
            row["reward"] = body.get("reward", row["reward"])
            row |= {
                name: units / UNIT
                for name, units in zip(costs, body.get("costs", ()), strict=False)
            }
    types = {"reward": pl.Float64, **dict.fromkeys(costs, pl.Float64)}
    return pl.from_dicts(list(rows.values()), schema_overrides=types, infer_schema_length=None)
