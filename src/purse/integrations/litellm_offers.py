"""The offers for a request: the arms of healthy deployments that a campaign can pay."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, NamedTuple

from purse.campaign.campaign import Campaign
from purse.errors import InvalidInput
from purse.integrations.campaign_costs import largest_costs
from purse.integrations.litellm_campaigns import arm_of
from purse.integrations.litellm_prices import (
    Demand,
    ModelPrices,
    count_tokens,
    demand_of,
    prices_of,
)

_log = logging.getLogger("purse.litellm")


class Offer(NamedTuple):
    """An arm for one request.

    most            the most that the call may cost, in dollars; None: what the arm may cost
    answer_tokens   the `max_tokens` to set; None: the request or the deployment has its own
    """

    deployments: list[dict[str, Any]]
    most: Decimal | None
    answer_tokens: int | None


def offers_of(
    campaign: Campaign,
    group: str,
    deployments: list[dict[str, Any]],
    messages: Any,
    request: Mapping[str, Any],
    answer_tokens: int | None,
    margin: float,
) -> dict[str, Offer]:
    """Return {arm: what it offers} for a request.

    Raise `InvalidInput` if no deployment is an arm, a price is missing, or the request may cost
    more than the maximum of every arm.
    """
    largest = largest_costs(campaign)
    members: dict[str, list[dict[str, Any]]] = {}
    limits: dict[str, list[tuple[ModelPrices, Demand, int]]] = {}  # each with its answer's tokens
    too_dear: list[str] = []
    prompt_tokens = count_tokens(messages, request, margin)
    for deployment in deployments:
        arm = arm_of(deployment)
        if arm not in largest:
            _log.warning("%r of group %r is not an arm of %r", arm, group, campaign.name)
            continue
        if prompt_tokens is not None:
            prices, limit = prices_of(deployment), largest[arm]
            demand = demand_of(prompt_tokens, messages, request, deployment["litellm_params"])
            tokens = demand.answer_tokens
            if tokens is None:  # what the maximum pays for
                paid = prices.affordable(demand, limit)
                bounds = (answer_tokens, prices.answer_limit, paid)
                tokens = min(bound for bound in bounds if bound is not None)
            most = prices.most(demand, tokens)
            if most > limit or (tokens < 1 and demand.answer_tokens is None):
                too_dear.append(
                    f"{arm!r} may cost {most} for this request, above its maximum {limit}"
                )
                continue
            limits.setdefault(arm, []).append((prices, demand, tokens))
        members.setdefault(arm, []).append(deployment)
    offers = {arm: _offer_of(several, limits.get(arm, [])) for arm, several in members.items()}
    if not offers and too_dear:
        raise InvalidInput(f"{'; '.join(too_dear)}: set max_tokens, or shorten the prompt")
    if not offers:
        names = sorted({arm_of(deployment) for deployment in deployments})
        raise InvalidInput(
            f"no deployment of group {group!r} that is up is an arm of campaign "
            f"{campaign.name!r}: the deployments are {', '.join(names) or 'none'}, the arms are "
            f"{', '.join(largest)}"
        )
    return offers


def _offer_of(
    deployments: list[dict[str, Any]], limits: list[tuple[ModelPrices, Demand, int]]
) -> Offer:
    """Return what an arm offers: LiteLLM may take any of its deployments, so the least of their
    limits is set for all, and what the dearest costs by it is held.
    """
    if all(demand.answer_tokens is not None for _, demand, _ in limits):
        most = max((prices.most(demand, tokens) for prices, demand, tokens in limits), default=None)
        return Offer(deployments, most, None)
    least = min(tokens for _, _, tokens in limits)
    return Offer(
        deployments, max(prices.most(demand, least) for prices, demand, _ in limits), least
    )
