"""The terms of a campaign as they are sent to the service."""

from __future__ import annotations

from typing import Annotated

from pydantic import ConfigDict, Field

from purse.campaign import defaults
from purse.campaign.read_terms import MOST_ARMS, MOST_SECONDS
from purse.policies import DEFAULT
from purse.service.schemas import examples
from purse.service.schemas.alerts import MOST_ALERTS, AlertRule
from purse.service.schemas.fields import (
    LARGEST_ID,
    NAME,
    Amounts,
    Explore,
    Features,
    MissingReward,
    MostOfArms,
    PolicyName,
    Resources,
    Table,
)
from purse.service.schemas.renewed_budget import RenewedBudget

Seconds = Annotated[float, Field(gt=0, le=MOST_SECONDS, allow_inf_nan=False)]


class NewCampaign(RenewedBudget):
    """The terms of a new campaign."""

    model_config = ConfigDict(json_schema_extra={"examples": [examples.CREATE]})

    name: Annotated[str, Field(pattern=NAME)]
    arms: Annotated[
        MostOfArms,
        Field(description="An object of names and the most that a pull of each may cost."),
    ]
    budget: Annotated[
        Amounts, Field(description="One amount, or one for each resource, as a list or by name.")
    ]
    cost_min: Annotated[
        Table | None,
        Field(
            description="What a pull costs at least: one amount, one for each arm, or one for each "
            "arm and resource. Left out, it is a thousandth of the most that `arms` says."
        ),
    ] = None
    resources: Resources = list(defaults.RESOURCES)  # noqa: RUF012 - pydantic copies it
    horizon: Annotated[
        int | None,
        Field(ge=1, le=LARGEST_ID, description="The number of rounds, where there is one."),
    ] = None
    policy: Annotated[
        PolicyName,
        Field(description="A name, with options: `exp3++.bwk:beta=1`. Policy files are refused."),
    ] = DEFAULT
    seed: Annotated[int, Field(ge=0, le=2**63 - 1)] = 0
    expires_after: Annotated[
        Seconds | None,
        Field(
            description="Seconds after which a ticket without a report counts as spent; "
            "null: never.",
        ),
    ] = defaults.EXPIRES_AFTER
    cooldown: Annotated[
        Seconds | None,
        Field(
            description="Seconds for which an arm is not chosen after a call of it failed; twice "
            "as long after the next failure, up to 300; null: failures have no consequence."
        ),
    ] = defaults.COOLDOWN
    reward_within: Annotated[
        Seconds | None,
        Field(
            description="Seconds after its cost in which the reward of a ticket has to come; "
            "null: it may come at any time."
        ),
    ] = None
    missing_reward: Annotated[
        MissingReward,
        Field(
            description="What a reward that does not come in time counts as; to be given with "
            "`reward_within`."
        ),
    ] = None
    reward_range: Annotated[
        list[Annotated[float, Field(allow_inf_nan=False)]] | None,
        Field(
            min_length=2,
            max_length=2,
            description="The least and the largest reward; null: rewards lie between 0 and 1.",
        ),
    ] = None
    explore: Annotated[
        Explore,
        Field(
            description="A share of the money for arms drawn at random, such as 0.05; null: none."
        ),
    ] = None
    capacity: Annotated[
        int | None,
        Field(
            ge=1,
            le=MOST_ARMS,
            description="Places for arms, of those that are added later too; null: as many as are "
            "named.",
        ),
    ] = None
    cost_ceiling: Annotated[
        Table | None,
        Field(
            description="How high the largest cost of each arm may be set later; null: no higher "
            "than `arms` says."
        ),
    ] = None
    features: Annotated[
        Features,
        Field(
            description="What a context holds: names, an object of names and what each may be, or "
            "a number of features; null: there are no contexts.",
            examples=[examples.FEATURES, ["length", "code"]],
        ),
    ] = None
    account: Annotated[
        str | None,
        Field(
            pattern=NAME,
            description="The account above it, from which its money comes, too; null: none.",
        ),
    ] = None
    alerts: Annotated[
        list[AlertRule],
        Field(max_length=MOST_ALERTS, description="Rules of the events that webhooks are told of."),
    ] = []  # noqa: RUF012 - pydantic copies it
    exist_ok: Annotated[
        bool,
        Field(
            description="Take the campaign of this name where there is one that was created with "
            "the same values; so a creation can be sent again."
        ),
    ] = False
