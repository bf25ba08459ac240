"""What the dashboard shows, as the service answers it: status, history and open tickets of one
moment.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import ConfigDict, Field

from purse.service.schemas import examples
from purse.service.schemas.responses import AmountText, ResponseModel, Status, Ticket

PURSE: dict[str, Any] = {
    "resource": "USD",
    "budget": ["25", "25"],
    "spent": ["0", "0.0021"],
    "held": ["0", "0"],
    "presumed": ["0", "0"],
    "overrun": ["0", "0"],
    "left": ["25", "24.9979"],
    "forecast": {"per_second": 0.00035, "seconds": 71422.57, "at": examples.ASKED_AT + 71428.57},
}
ARM: dict[str, Any] = {
    "arm": "small",
    "pulls": 1,
    "told": 1,
    "mean_reward": 0.93,
    "mean_costs": [0.0021],
    "efficiency": 442.857,
    "interval": None,
    "share": 1.0,
    "recent_share": 1.0,
}
HISTORY: dict[str, Any] = {
    "seq": 3,
    "started_at": examples.ASKED_AT,
    "changed_at": examples.ASKED_AT + 6,
    "rates": {"asks": 0.167, "tells": 0.167},
    "arms": [ARM],
    "purses": [PURSE],
    "series": {
        "at": [examples.ASKED_AT, examples.ASKED_AT + 6],
        "pulls": [{"arm": "small", "pulls": [0, 1]}],
    },
}
PICTURE: dict[str, Any] = {
    "now": examples.ASKED_AT + 6,
    "status": examples.STATUS,
    "history": HISTORY,
    "tickets": [],
}


class Forecast(ResponseModel):
    """When a resource runs out at the recent rate of spending."""

    per_second: float
    seconds: float
    at: float


class Counters(ResponseModel):
    """The counters of one resource over time."""

    resource: str
    budget: list[AmountText]
    spent: list[AmountText]
    held: list[AmountText]
    presumed: list[AmountText]
    overrun: list[AmountText]
    left: list[AmountText]
    forecast: Annotated[
        Forecast | None,
        Field(description="None where nothing was spent of late, or the campaign does not run."),
    ]


class ArmRow(ResponseModel):
    """What was reported of one arm."""

    arm: str
    pulls: int
    told: int
    mean_reward: float | None
    mean_costs: Annotated[list[float] | None, Field(description="One for each resource.")]
    efficiency: Annotated[float | None, Field(description="Reward per cost of the first resource.")]
    interval: Annotated[
        list[float] | None, Field(description="Its 95% interval, by the delta method.")
    ]
    share: float
    recent_share: float


class Rates(ResponseModel):
    """Per second, in the last minute."""

    asks: float
    tells: float


class Pulls(ResponseModel):
    """The pulls of one arm over time."""

    arm: Annotated[str | None, Field(description="None: all others together.")]
    pulls: list[int]


class Series(ResponseModel):
    """Times, and what had been pulled by then."""

    at: list[float]
    pulls: list[Pulls]


class History(ResponseModel):
    """How a campaign went."""

    seq: int
    started_at: float
    changed_at: float
    rates: Rates
    arms: list[ArmRow]
    purses: Annotated[list[Counters], Field(description="Over the times in `series`.")]
    series: Series


class OpenTicket(Ticket):
    """A ticket that is out."""

    age: Annotated[float, Field(description="In seconds.")]


class Picture(ResponseModel):
    """All that the dashboard shows."""

    model_config = ConfigDict(json_schema_extra={"examples": [PICTURE]})

    now: Annotated[float, Field(description="The server's time.")]
    status: Status
    history: History
    tickets: Annotated[list[OpenTicket], Field(description="The oldest ones.")]
