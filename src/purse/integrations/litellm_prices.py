"""The maximum cost of a call, from LiteLLM's price table and the length of the prompt."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_UP, Decimal
from typing import Any, NamedTuple

from purse.base.optional import needs
from purse.errors import InvalidInput

with needs("purse.integrations.litellm", "litellm"):
    import litellm

_SMALLEST = Decimal("1e-9")
# the table's names for prices of a token: of prompt, answer, reasoning and a prompt that is cached
_TOKEN_PRICE = re.compile(
    r"(?P<side>input|output|cache_creation_input)_(?:cost_per_(?:reasoning_)?token|token_cost)"
    r"(?P<hour>_above_1hr)?(?:_above_(?P<above>\d+)k_tokens)?(?:_(?P<tier>[a-z]+))?"
)
LIMITS = ("max_completion_tokens", "max_tokens", "max_output_tokens")  # one limit, three names
_DISCOUNTS = ("batches", "cache", "flex")  # tiers that no call of a router is charged more for


class _TokenPrice(NamedTuple):
    """One price of the table."""

    output: bool
    writes_cache: bool
    above: int  # it holds for prompts with more tokens; -1: for all
    tier: str
    dollars: Decimal


class Demand(NamedTuple):
    """The tokens that a request asks for."""

    prompt_tokens: int
    answer_tokens: int | None  # None: the request sets no limit
    answers: int
    writes_cache: bool
    tier: str


@dataclass(frozen=True)
class ModelPrices:
    """The prices and the limits of the model behind a deployment."""

    model: str
    prices: tuple[_TokenPrice, ...]
    prompt_limit: int | None
    answer_limit: int | None

    def rates(self, demand: Demand) -> tuple[Decimal, Decimal]:
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

    def most(self, demand: Demand, answer_tokens: int) -> Decimal:
        """Return the most that a call may cost, in dollars, rounded up to nine decimals."""
        prompt, answer = self.rates(demand)
        dollars = prompt * demand.prompt_tokens + answer * answer_tokens * demand.answers
        return dollars.quantize(_SMALLEST, ROUND_UP)

    def affordable(self, demand: Demand, dollars: Decimal) -> int:
        """Return the tokens of an answer that `dollars` pay for, after the prompt."""
        prompt, answer = self.rates(demand)
        room = dollars - (prompt * demand.prompt_tokens).quantize(_SMALLEST, ROUND_UP)
        limit = self.answer_limit or 0
        if room < 0 or not answer:
            return 0 if room < 0 else limit
        tokens = int(room / (answer * demand.answers))
        return min(tokens, limit) if limit else tokens


def prices_of(deployment: Mapping[str, Any]) -> ModelPrices:
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
    return ModelPrices(
        model, prices, whole(entry.get("max_input_tokens")), whole(entry.get("max_output_tokens"))
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


def demand_of(
    prompt_tokens: int, messages: Any, request: Mapping[str, Any], params: Mapping[str, Any]
) -> Demand:
    """Return what a request asks of a deployment.

    request    what the caller passed
    params     the deployment's own parameters, which hold if the caller passed no others
    """
    limits = [
        limit for given in (request, params) for name in LIMITS if (limit := whole(given.get(name)))
    ]
    tier = request.get("service_tier") or params.get("service_tier") or ""
    return Demand(
        prompt_tokens,
        limits[0] if limits else None,
        whole(request.get("n") or params.get("n")) or 1,
        "cache_control" in f"{messages}{request.get('tools')}",
        "priority" if tier == "auto" else str(tier),
    )


def count_tokens(messages: Any, request: Mapping[str, Any], margin: float) -> int | None:
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


def whole(value: Any) -> int | None:
    """Return a positive whole number, or None."""
    try:
        return int(value) if value is not None and int(value) > 0 else None
    except (TypeError, ValueError):
        return None
