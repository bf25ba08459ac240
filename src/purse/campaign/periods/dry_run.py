"""Periods that are decided on once more, with other time-zone data perhaps."""

from __future__ import annotations

from typing import Any

from purse.campaign.periods.read import PeriodTerms
from purse.campaign.periods.rules import PeriodRules
from purse.campaign.periods.time_zones import data_version


class PeriodDryRun(PeriodRules):
    """The rules of periods, asked once more."""

    # the end of a period as other time-zone data told it; None: told again
    written_end: dict[str, Any] | None = None

    def end_after(self, known: int, instant: int) -> dict[str, Any]:
        """The end of a period: told again, or as it is written where that can be."""
        if self.written_end is None or self.written_end["next"] <= instant:
            return super().end_after(known, instant)
        return self.written_end


def written_end(
    periods: PeriodTerms, body: dict[str, Any], notes: list[str]
) -> dict[str, Any] | None:
    """The end of a period in an entry, where other time-zone data told it; then a note says so."""
    if "next" not in body or not knows_other_zones(periods, body.get("tz", ""), notes):
        return None
    return {name: body[name] for name in ("next", "tz") if name in body}


def knows_other_zones(periods: PeriodTerms, version: str, notes: list[str]) -> bool:
    """Whether the time-zone data have another version than they had; then a note says so."""
    now = data_version(periods.time_zone)
    if not periods.every or version == now:
        return False
    note = (
        f"periods were reckoned with version {version} of the time-zone data, and this is {now}: "
        "only their order was checked"
    )
    if note not in notes:
        notes.append(note)
    return True
