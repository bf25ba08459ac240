"""What tokens cost, in dollars, by the table of genai-prices."""

from collections.abc import Callable, Iterable, Mapping
from decimal import ROUND_UP, Decimal
from functools import lru_cache
from typing import Any, NamedTuple

from purse.base.optional import needs
from purse.base.plain_validation import integer
from purse.errors import InvalidInput, invalid

with needs("a price of tokens", "prices"):
    from genai_prices import Usage, calc_price
    from genai_prices.data_snapshot import get_snapshot

_SMALLEST = Decimal("1e-9")
_STEP = 64  # tokens by which prompts are rounded up, so that few prices are looked up
_MANY = 1_000_000
_LONGEST = 2**40  # tokens
Conditions = tuple[tuple[str, str], ...]  # what else a price depends on, such as a service tier
# of a model, a usage, the address of a request and its conditions
Price = Callable[[str, Any, str, Conditions], Decimal]


def price(model: str, usage: Any, url: str = "", conditions: Conditions = ()) -> Decimal:
    """Return the dollars of a usage: at the provider of an address if that is a known one, else
    at whoever makes the model. Raise `LookupError` if the table has no such price.
    """
    priced = calc_price(
        usage, model, provider_id=_provider_at(url), price_context=dict(conditions) or None
    )
    return rounded(priced.total_price)


def rounded(dollars: Decimal) -> Decimal:
    """Return an amount rounded up to nine decimals, as campaigns count."""
    return dollars.quantize(_SMALLEST, ROUND_UP)


@lru_cache(maxsize=256)
def _provider_at(url: str) -> str | None:
    """Return the id of the provider at an address; None if it is not a known one."""
    try:
        return str(get_snapshot().find_provider(None, None, url).id) if url else None
    except LookupError:
        return None


class Rates(NamedTuple):
    """The most that a prompt costs, and each token of its answer, in dollars."""

    prompt: Decimal
    token: Decimal

    def maximum(self, tokens: int) -> Decimal:
        """Return the most that the prompt and so many tokens of answers cost."""
        return rounded(self.prompt + self.token * tokens)

    def affordable(self, dollars: Decimal) -> int:
        """Return how many tokens of answers an amount pays for, beside the prompt."""
        return int((dollars - self.prompt) / self.token) if self.token else _LONGEST


def rates(
    price: Price, model: str, url: str, conditions: Conditions, prompt: int, *, hour: bool = False
) -> Rates:
    """Return the rates for a prompt of at most so many tokens, all of which may be written to the
    provider's cache; `hour` says for an hour. Raise `LookupError` if there is no price.
    """
    return _rates(price, model, url, conditions, -(-prompt // _STEP) * _STEP, hour)


@lru_cache(maxsize=4096)
def _rates(
    price: Price, model: str, url: str, conditions: Conditions, prompt: int, hour: bool
) -> Rates:
    """Return the rates for a rounded prompt: long ones are dearer for some models."""
    kinds = ("cache_write_tokens", "cache_write_1h_tokens")[: 1 + hour]
    cached: list[dict[str, int]] = [{}, {kinds[0]: prompt}, dict.fromkeys(kinds, prompt)]
    prompts = [price(model, Usage(input_tokens=prompt, **more), url, conditions) for more in cached]
    answered = Usage(input_tokens=prompt, output_tokens=_MANY)
    return Rates(max(prompts), (price(model, answered, url, conditions) - prompts[0]) / _MANY)


def usage_of(url: str, provider: str, flavor: str, usage: Mapping[str, Any]) -> Any:
    """Return what a provider reports as used, as `price` takes it. Raise `ValueError` if no
    provider reports it so.

    provider, flavor   whose kind of answer it is, if the address is not of a known one
    """
    for name in (_provider_at(url), provider):
        try:
            return get_snapshot().extract_usage({"usage": usage}, name, None, flavor).usage
        except (LookupError, ValueError):
            continue
    raise ValueError(f"no usage: {usage}")


def arm_costs(
    models: Iterable[str], prompt_tokens: Any, answer_tokens: Any
) -> tuple[dict[str, Decimal], dict[str, Decimal]]:
    """Return {model: the most that a call may cost} and {model: the least}, in dollars.

    prompt_tokens, answer_tokens   the longest prompt, and the longest answer

    Raise `InvalidInput` if the table has no price of a model.
    """
    if isinstance(models, (str, Mapping)):
        raise invalid("arms", models, "must be a list of models if prompt_tokens are set")
    prompt = integer("prompt_tokens", prompt_tokens, low=1, high=_LONGEST)
    answer = integer("answer_tokens", answer_tokens, low=0, high=_LONGEST)
    largest, smallest = dict[str, Decimal](), dict[str, Decimal]()
    for model in models:
        try:
            largest[model] = _rates(price, model, "", (), prompt, False).maximum(answer)
            smallest[model] = price(model, Usage(input_tokens=1, output_tokens=min(1, answer)))
        except LookupError:
            raise InvalidInput(
                f"arms: genai-prices knows no price of model {model!r}: say what a call may cost, "
                'as in arms={"' + model + '": "0.01"}'
            ) from None
    return largest, smallest
