"""From a LiteLLM model list to a campaign: its arms, and the most that each may cost."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from purse.base import validation
from purse.campaign.api import defaults
from purse.campaign.campaign import Campaign
from purse.errors import InvalidInput, unknown
from purse.integrations.litellm_prices import LIMITS, Demand, prices_of, whole

_GENERATED = re.compile(r"[0-9a-f]{64}|[0-9a-f-]{36}")  # ids that LiteLLM makes up


def create_campaign(
    models: Any,
    group: str | Sequence[str],
    *,
    budget: Any,
    name: str | None = None,
    prompt_tokens: int | None = None,
    answer_tokens: int | None = None,
    storage: Any = defaults.STORAGE,
    **terms: Any,
) -> Campaign:
    """Create a campaign for the deployments of a model group, or open the one that is there.

    models          a `litellm.Router`, or a `model_list`
    group           the `model_name` of the deployments; several groups share the budget
    budget          in US dollars
    name            the name of the campaign; None: the name of the first group
    prompt_tokens   the longest prompt; None: what fits into the model's context window
    answer_tokens   the longest answer; None: `max_tokens` of the deployment, or of its model
    terms           everything else that `Campaign.create` takes; `skip` is False, so that every
                    request that can be paid is answered

    An arm is a deployment with a `model_info.id` of your own, or all deployments of a model.

    Raise `InvalidInput` if a price or a limit is missing, or a group has no deployment.
    """
    groups = [group] if isinstance(group, str) else list(group)
    listed = list(getattr(models, "model_list", models) or ())
    most: dict[str, Decimal] = {}
    for title in groups:
        members = [one for one in listed if one["model_name"] == title]
        if not members:
            raise unknown("model group", title, {one["model_name"] for one in listed})
        for deployment in members:
            arm, cost = arm_of(deployment), _largest_cost(deployment, prompt_tokens, answer_tokens)
            most[arm] = max(cost, most.get(arm, cost))
    return Campaign.create(
        name or groups[0],
        arms=most,
        budget=budget,
        storage=storage,
        **{"resources": ["USD"], "exist_ok": True, "skip": False, **terms},
    )


def arm_of(deployment: Mapping[str, Any]) -> str:
    """Return the arm of a deployment: its id if LiteLLM did not make it up, else its model."""
    given = (deployment.get("model_info") or {}).get("id")
    if given is None or _GENERATED.fullmatch(str(given)):
        return str(deployment["litellm_params"]["model"])
    return str(given)


def _largest_cost(
    deployment: Mapping[str, Any], prompt_tokens: int | None, answer_tokens: int | None
) -> Decimal:
    """Return the most that any call of a deployment may cost, in dollars."""
    prices = prices_of(deployment)
    params = deployment["litellm_params"]
    given = next((limit for name in LIMITS if (limit := whole(params.get(name)))), None)
    priced = any(price.output and price.dollars for price in prices.prices)
    longest = {
        "prompt_tokens": prompt_tokens or prices.prompt_limit,
        "answer_tokens": answer_tokens or given or prices.answer_limit if priced else 0,
    }
    for field, tokens in longest.items():
        if tokens is None:
            raise InvalidInput(
                f"LiteLLM knows no limit of model {prices.model!r}: set {field}, the longest "
                f"{field.partition('_')[0]} in tokens"
            )
        validation.integer(field, tokens, low=0, high=2**40)
    demand = Demand(longest["prompt_tokens"] or 0, None, 1, True, "")
    return prices.most(demand, longest["answer_tokens"] or 0)
