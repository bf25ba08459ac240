"""What the service answers about accounts."""

from __future__ import annotations

from typing import Annotated

from pydantic import ConfigDict

from purse.campaign import account_results as results
from purse.service.schemas import examples
from purse.service.schemas.from_results import Described
from purse.service.schemas.responses import PERIOD, Alarm, Purse, ResponseModel

# a campaign is the lowest level, and at most one account is between it and the first
Campaign = Annotated[
    results.LevelStatus,
    Described("LevelBelow", results.LevelStatus, purses=tuple[Purse, ...], children=tuple[()]),
]
Level = Annotated[
    results.LevelStatus,
    Described(
        "Level", results.LevelStatus, purses=tuple[Purse, ...], children=tuple[Campaign, ...]
    ),
]
AccountStatus = Annotated[
    results.AccountStatus,
    Described(
        "AccountStatus",
        results.AccountStatus,
        examples.ACCOUNT,
        purses=tuple[Purse, ...],
        alarms=tuple[Alarm, ...],
        children=Annotated[
            tuple[Level, ...], "Campaigns and accounts below it, by name, with their balances."
        ],
        period=PERIOD,
    ),
]


class AccountNames(ResponseModel):
    """The names of all accounts."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"accounts": ["team-a"]}]})

    accounts: list[str]
