"""What is stored of an account beside its purses and its journal."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, field
from typing import Any

import orjson

from purse.campaign.states import RUNNING, CampaignState

# fields of `AccountRecord` that are left out where they are empty
OPTIONAL = ("period", "joined", "alarmed", "alerts", "top_ups", "alerted")


@dataclass
class AccountRecord:
    """What is known of an account besides its purses and its journal."""

    id: str = ""  # of the terms
    status: CampaignState = RUNNING
    created: int = 0  # ms
    changed: int = 0  # ms
    digest: str = ""  # of the journal
    period: list[Any] | tuple[()] = ()  # see `periods.Period`, where the budget is renewed
    # the periods, by campaign, in which restored campaigns joined it
    joined: dict[str, int] = field(default_factory=dict)
    alarmed: dict[str, int] = field(default_factory=dict)  # these four as for a campaign
    alerts: list[str] | tuple[()] = ()
    top_ups: int = 0
    alerted: dict[str, list[int]] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """The record as JSON has it."""
        facts = vars(self).copy()
        for name in OPTIONAL:
            if not facts[name]:
                del facts[name]
        return facts

    def copied(self) -> AccountRecord:
        """A record that may be changed: its fields are replaced."""
        return copy(self)

    @classmethod
    def from_json(cls, text: str) -> AccountRecord:
        """A record as it is stored."""
        return cls(**orjson.loads(text))
