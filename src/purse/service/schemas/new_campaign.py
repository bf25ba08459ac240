"""The terms of a campaign as they are sent to the service."""

from __future__ import annotations

from typing import Annotated

from pydantic import ConfigDict, Field

from purse.campaign import defaults
from purse.campaign.read_terms import MOST_ARMS, MOST_SECONDS
from purse.campaign.terms import PRESUME, Expiry, StopRule
from purse.policies import DEFAULT
from purse.service.schemas import examples
from purse.service.schemas.alerts import MOST_ALERTS, AlertRule
from purse.service.schemas.fields import (
    LARGEST_ID,
    MOST,
    NAME,
    Amounts,
    Arms,
    Caps,
    Explore,
    Features,
    MissingReward,
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
        Arms,
        Field(
            description="Names, or an object of names and the most that a pull of each may cost."
        ),
    ]
    budget: Annotated[
        Amounts, Field(description="One amount, or one for each resource, as a list or by name.")
    ]
    cost_min: Annotated[
        Table | None,
        Field(
            description="What a pull costs at least: one amount, one for each arm, or one for each "
            "arm and resource. Left out, it is a thousandth of `cost_max`, or `costs` where they "
            "are given."
        ),
    ] = None
    cost_max: Annotated[
        Table | None, Field(description="What a pull costs at most; left out where `arms` says it.")
    ] = None
    resources: Resources = list(defaults.RESOURCES)  # noqa: RUF012 - pydantic copies it
    plays: Annotated[int, Field(ge=1, le=MOST, description="Arms in each round.")] = 1
    horizon: Annotated[
        int | None,
        Field(ge=1, le=LARGEST_ID, description="The number of rounds, where there is one."),
    ] = None
    costs: Annotated[
        Table | None, Field(description="Known constant costs, for policies that use them.")
    ] = None
    caps: Annotated[
        Caps | None, Field(description="Pulls allowed per arm, for policies that keep to them.")
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
    on_expiry: Annotated[
        Expiry,
        Field(description="`release` is a weaker promise: see `promise` in the status."),
    ] = PRESUME
    stop: Annotated[
        StopRule,
        Field(
            description="`fit`: an arm whose maximum does not fit into what is left is not chosen; "
            "`hold`: the policy may choose it, and the ask is refused."
        ),
    ] = defaults.STOP
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
    cost_floor: Annotated[
        Table | None,
        Field(description="How low the least cost of each arm may be set later; null: `cost_min`."),
    ] = None
    cost_ceiling: Annotated[
        Table | None,
        Field(
            description="How high the largest cost of each arm may be set later; null: `cost_max`."
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
    per_arm: Annotated[bool, Field(description="Whether each arm has a context of its own.")] = (
        False
    )
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
