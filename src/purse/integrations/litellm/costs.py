"""What calls may cost: the most that one may cost, by LiteLLM's price table and the length of its
prompt; a campaign for a model list; and the arms that can pay a request.
"""

import json
import logging
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_UP, Decimal
from typing import TYPE_CHECKING, Any, NamedTuple

from purse.base import validation
from purse.base.optional import needs
from purse.campaign.api import defaults
from purse.campaign.campaign import Campaign
from purse.errors import InvalidInput, unknown
from purse.integrations.campaign_costs import largest_costs

with needs("purse.integrations.litellm", "litellm"):
    import litellm

if TYPE_CHECKING:
    from purse.base.token_prices import Conditions

_SMALLEST = Decimal("1e-9")
# the table's names for prices of a token: of prompt, answer, reasoning and a prompt that is cached
_TOKEN_PRICE = re.compile(
    r"(?P<side>input|output|cache_creation_input)_(?:cost_per_(?:reasoning_)?token|token_cost)"
    r"(?P<hour>_above_1hr)?(?:_above_(?P<above>\d+)k_tokens)?(?:_(?P<tier>[a-z]+))?"
)
_LIMITS = ("max_completion_tokens", "max_tokens", "max_output_tokens")  # one limit, three names
_GENERATED = re.compile(r"[0-9a-f]{64}|[0-9a-f-]{36}")  # ids that LiteLLM makes up
_DISCOUNTS = ("batches", "cache", "flex")  # tiers that no call of a router is charged more for
_log = logging.getLogger("purse.litellm")


class _TokenPrice(NamedTuple):
    """One price of the table."""

    output: bool
    writes_cache: bool
    above: int  # it holds for prompts with more tokens; -1: for all
    tier: str
    dollars: Decimal


class _Demand(NamedTuple):
    """The tokens that a request asks for."""

    prompt_tokens: int
    answer_tokens: int | None  # None: the request sets no limit
    answers: int
    writes_cache: bool
    tier: str


@dataclass(frozen=True)
class _ModelPrices:
    """The prices and the limits of the model behind a deployment."""

    model: str
    prices: tuple[_TokenPrice, ...]
    prompt_limit: int | None
    answer_limit: int | None

    def rates(self, demand: _Demand) -> tuple[Decimal, Decimal]:
        """Return the largest dollars that a token of the prompt and one of the answer may cost."""
        largest = [Decimal(0), Decimal(0)]
        for price in self.prices:
            if (
                demand.prompt_tokens > price.above
                and price.tier in ("", demand.tier)
                and (demand.writes_cache or not price.writes_cache)
            ):
                largest[price.output] = max(largest[price.output], price.dollars)
        return largest[0], largest[1]

    def maximum(self, demand: _Demand, answer_tokens: int) -> Decimal:
        """Return the most that a call may cost, in dollars, rounded up to nine decimals."""
        prompt, answer = self.rates(demand)
        dollars = prompt * demand.prompt_tokens + answer * answer_tokens * demand.answers
        return dollars.quantize(_SMALLEST, ROUND_UP)

    def affordable(self, demand: _Demand, dollars: Decimal) -> int:
        """Return the tokens of an answer that `dollars` pay for, after the prompt."""
        prompt, answer = self.rates(demand)
        room = dollars - (prompt * demand.prompt_tokens).quantize(_SMALLEST, ROUND_UP)
        limit = self.answer_limit or 0
        if room < 0 or not answer:
            return 0 if room < 0 else limit
        tokens = int(room / (answer * demand.answers))
        return min(tokens, limit) if limit else tokens


def _prices_of(deployment: Mapping[str, Any]) -> _ModelPrices:
    """Return the prices of a deployment: its own if it has some, else those of the table.

    Raise `InvalidInput` if a price of tokens is missing.
    """
    params, info = deployment["litellm_params"], deployment.get("model_info") or {}
    model = str(info.get("base_model") or params.get("base_model") or params["model"])
    entry: dict[str, Any] = {}
    missing: Exception | None = None
    try:
        key = litellm.get_model_info(model, params.get("custom_llm_provider"))["key"]
        entry.update(litellm.model_cost.get(key, {}))
    except Exception as error:  # of a class that every version names differently
        missing = error
    for own in (info, params):
        entry.update({name: own[name] for name in own if own[name] is not None})
    prices = tuple(price for name, value in entry.items() if (price := _read_price(name, value)))
    if not any(price.above < 0 and not price.output for price in prices):
        raise InvalidInput(
            f"LiteLLM knows no price of model {model!r}: set input_cost_per_token and "
            "output_cost_per_token in its litellm_params, or model_info.base_model"
        ) from missing
    return _ModelPrices(
        model, prices, _whole(entry.get("max_input_tokens")), _whole(entry.get("max_output_tokens"))
    )


def _read_price(name: str, value: Any) -> _TokenPrice | None:
    """Return the price of tokens behind a name of the table; None for every other name."""
    match = _TOKEN_PRICE.fullmatch(name)
    if match is None or not isinstance(value, (int, float, str)) or match["tier"] in _DISCOUNTS:
        return None
    dollars = Decimal(str(value))
    if not dollars.is_finite() or dollars < 0:
        raise InvalidInput(f"{name}={value!r}: must be a price, at least 0")
    side, above = match["side"], 1_000 * int(match["above"] or 0) or -1
    writes_cache = side == "cache_creation_input"
    return _TokenPrice(side == "output", writes_cache, above, match["tier"] or "", dollars)


def _demand_of(
    prompt_tokens: int, messages: Any, request: Mapping[str, Any], params: Mapping[str, Any]
) -> _Demand:
    """Return the tokens that a request asks of a deployment.

    request    what the caller passed
    params     the deployment's own parameters, which hold if the caller passed no others
    """
    limits = [
        limit
        for values in (request, params)
        for name in _LIMITS
        if (limit := _whole(values.get(name)))
    ]
    tier = request.get("service_tier") or params.get("service_tier") or ""
    return _Demand(
        prompt_tokens,
        limits[0] if limits else None,
        _whole(request.get("n") or params.get("n")) or 1,
        "cache_control" in f"{messages}{request.get('tools')}",
        "priority" if tier == "auto" else str(tier),
    )


def _count_tokens(messages: Any, request: Mapping[str, Any], margin: float) -> int | None:
    """Return the tokens of a prompt, its tools included, by the tokenizer that is always there.

    margin   by how much a provider may count more, such as 1.25

    None if LiteLLM shows a callback nothing of the prompt, as for embeddings. What the tokenizer
    cannot count has at most as many tokens as bytes.
    """
    if messages is None:
        return None
    tools, choice = request.get("tools"), request.get("tool_choice")
    try:
        count = litellm.token_counter(model="", messages=messages, tools=tools, tool_choice=choice)
        return math.ceil(count * margin)
    except Exception:  # whatever a message may hold
        return len(json.dumps([messages, tools], default=str).encode())


def _whole(value: Any) -> int | None:
    """Return a positive whole number, or None."""
    try:
        return int(value) if value is not None and int(value) > 0 else None
    except (TypeError, ValueError):
        return None


def price(model: str, usage: Any, url: str, conditions: "Conditions") -> Decimal:
    """Return the dollars of a usage by LiteLLM's table, as `purse.http_client(price=...)` wants it.
    Raise `LookupError` if the table has no such price.
    """
    try:
        prompt, answer = litellm.cost_per_token(
            model,
            usage.input_tokens,
            usage.output_tokens,
            cache_read_input_tokens=usage.cache_read_tokens,
            cache_creation_input_tokens=usage.cache_write_tokens,
            service_tier=dict(conditions).get("service_tier"),
        )
    except Exception as error:  # of a class that every version names differently
        raise LookupError(f"LiteLLM knows no price of model {model!r}") from error
    return Decimal(f"{prompt + answer:.12f}")  # without what floats add


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
    terms           everything else that `Campaign.create` takes

    An arm is a deployment with a `model_info.id` of your own, or all deployments of a model.

    Raise `InvalidInput` if a price or a limit is missing, or a group has no deployment.
    """
    groups = [group] if isinstance(group, str) else list(group)
    listed = list(getattr(models, "model_list", models) or ())
    maxima: dict[str, Decimal] = {}
    for title in groups:
        members = [one for one in listed if one["model_name"] == title]
        if not members:
            raise unknown("model group", title, {one["model_name"] for one in listed})
        for deployment in members:
            arm, cost = _arm_of(deployment), _largest_cost(deployment, prompt_tokens, answer_tokens)
            maxima[arm] = max(cost, maxima.get(arm, cost))
    return Campaign.create(
        name or groups[0],
        arms=maxima,
        budget=budget,
        storage=storage,
        **{"resources": ["USD"], "exist_ok": "update", **terms},
    )


def _arm_of(deployment: Mapping[str, Any]) -> str:
    """Return the arm of a deployment: its id if LiteLLM did not make it up, else its model."""
    own_id = (deployment.get("model_info") or {}).get("id")
    if own_id is None or _GENERATED.fullmatch(str(own_id)):
        return str(deployment["litellm_params"]["model"])
    return str(own_id)


def _largest_cost(
    deployment: Mapping[str, Any], prompt_tokens: int | None, answer_tokens: int | None
) -> Decimal:
    """Return the most that any call of a deployment may cost, in dollars."""
    prices = _prices_of(deployment)
    params = deployment["litellm_params"]
    limit = next((limit for name in _LIMITS if (limit := _whole(params.get(name)))), None)
    priced = any(price.output and price.dollars for price in prices.prices)
    longest = {
        "prompt_tokens": prompt_tokens or prices.prompt_limit,
        "answer_tokens": answer_tokens or limit or prices.answer_limit if priced else 0,
    }
    for field, tokens in longest.items():
        if tokens is None:
            raise InvalidInput(
                f"LiteLLM knows no limit of model {prices.model!r}: set {field}, the longest "
                f"{field.partition('_')[0]} in tokens"
            )
        validation.integer(field, tokens, low=0, high=2**40)
    demand = _Demand(longest["prompt_tokens"] or 0, None, 1, True, "")
    return prices.maximum(demand, longest["answer_tokens"] or 0)


class Offer(NamedTuple):
    """An arm for one request.

    maximum         the most that the call may cost, in dollars; None: what the arm may cost
    answer_tokens   the `max_tokens` to set; None: the request or the deployment has its own
    """

    deployments: list[dict[str, Any]]
    maximum: Decimal | None
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
    limits: dict[str, list[tuple[_ModelPrices, _Demand, int]]] = {}  # each with its answer's tokens
    too_dear: list[str] = []
    prompt_tokens = _count_tokens(messages, request, margin)
    for deployment in deployments:
        arm = _arm_of(deployment)
        if arm not in largest:
            _log.warning("%r of group %r is not an arm of %r", arm, group, campaign.name)
            continue
        if prompt_tokens is not None:
            prices, limit = _prices_of(deployment), largest[arm]
            demand = _demand_of(prompt_tokens, messages, request, deployment["litellm_params"])
            tokens = demand.answer_tokens
            if tokens is None:  # what the maximum pays for
                paid = prices.affordable(demand, limit)
                bounds = (answer_tokens, prices.answer_limit, paid)
                tokens = min(bound for bound in bounds if bound is not None)
            cost = prices.maximum(demand, tokens)
            if cost > limit or (tokens < 1 and demand.answer_tokens is None):
                too_dear.append(
                    f"{arm!r} may cost {cost} for this request, above its maximum {limit}"
                )
                continue
            limits.setdefault(arm, []).append((prices, demand, tokens))
        members.setdefault(arm, []).append(deployment)
    offers = {arm: _offer_of(several, limits.get(arm, [])) for arm, several in members.items()}
    if not offers and too_dear:
        raise InvalidInput(f"{'; '.join(too_dear)}: set max_tokens, or shorten the prompt")
    if not offers:
        names = sorted({_arm_of(deployment) for deployment in deployments})
        raise InvalidInput(
            f"no deployment of group {group!r} that is up is an arm of campaign "
            f"{campaign.name!r}: the deployments are {', '.join(names) or 'none'}, the arms are "
            f"{', '.join(largest)}"
        )
    return offers


def _offer_of(
    deployments: list[dict[str, Any]], limits: list[tuple[_ModelPrices, _Demand, int]]
) -> Offer:
    """Return the offer of an arm: LiteLLM may take any of its deployments, so the least of their
    limits is set for all, and what the dearest costs by it is held.
    """
    if all(demand.answer_tokens is not None for _, demand, _ in limits):
        costs = (prices.maximum(demand, tokens) for prices, demand, tokens in limits)
        return Offer(deployments, max(costs, default=None), None)
    answer_tokens = min(tokens for _, _, tokens in limits)
    maximum = max(prices.maximum(demand, answer_tokens) for prices, demand, _ in limits)
    return Offer(deployments, maximum, answer_tokens)
