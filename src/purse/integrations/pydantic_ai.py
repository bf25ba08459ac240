"""`PurseModel`: a campaign chooses the model of each request of a pydantic-ai agent.

    models = {"small": "openai:gpt-5-mini", "large": "openai:gpt-5.4"}
    most = most_of(models, prompt_tokens=4_000, answer_tokens=500)
    campaign = purse.Campaign.create("agent", arms=most, budget="5.00", resources=["USD"])
    agent = Agent(PurseModel(campaign, models, answer_tokens=500))

Prices come from genai-prices.
"""

from __future__ import annotations

import inspect
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from purse.asynchronous import AsyncCampaign
from purse.base import amounts, validation
from purse.base.optional import needs
from purse.campaign.campaign import Campaign
from purse.campaign.spending import AsyncSpending, Call, reason_of
from purse.errors import InvalidInput, invalid
from purse.integrations.campaign_costs import check_campaign, chosen_arm, largest_costs

with needs("purse.integrations.pydantic_ai", "pydantic-ai"):
    from pydantic_ai.exceptions import ModelAPIError, ModelHTTPError
    from pydantic_ai.messages import ModelMessagesTypeAdapter, ModelResponse
    from pydantic_ai.models import Model, infer_model
    from pydantic_ai.models.wrapper import WrapperModel
    from pydantic_ai.settings import ModelSettings
    from pydantic_ai.usage import RequestUsage

    from purse.base.token_prices import price

if TYPE_CHECKING:
    from pydantic_ai import RunContext
    from pydantic_ai.messages import ModelMessage
    from pydantic_ai.models import ModelRequestParameters, StreamedResponse

__all__ = ["PurseModel", "most_of", "ticket_of"]

_TICKET = "purse_ticket"  # in the metadata of a response
_TIMEOUTS = (408, 504)  # statuses after which a provider may go on, and charge
_NOT_SENT = ("pool", "connect")  # phases of a connection that failed
_Reward = Callable[[Any, Any], float | Awaitable[float | None] | None]
_log = logging.getLogger("purse.pydantic_ai")


class PurseModel(WrapperModel):  # type: ignore[misc]
    """A model that asks a campaign which of several models answers a request, and can be paid.

    campaign   its arms are the names of the models, its only resource US dollars
    models     {arm: a model, or its name as pydantic-ai knows it}; the profile and the settings of
               the first one count for all
    reward     `reward(response, messages)`, from 0 to 1 or None, a function or a coroutine, called
               before the response is returned; None: the reward comes later, by `ticket_of`
    answer_tokens   `max_tokens` of requests that set none; None: the arm's whole maximum is held

    Raise `InvalidInput` if an arm has no model, or a model has no price.
    """

    def __init__(
        self,
        campaign: Campaign,
        models: Mapping[str, Any],
        *,
        reward: _Reward | None = None,
        answer_tokens: int | None = None,
    ) -> None:
        players = {arm: infer_model(model) for arm, model in dict(models).items()}
        check_campaign("campaign", campaign)
        status = campaign.status()
        if not players or set(players) != set(status.arms):
            arms = ", ".join(status.arms)
            raise invalid("models", models, f"must have a model for each of the arms {arms}")
        for model in players.values():
            _price(model, RequestUsage(input_tokens=1, output_tokens=1))
        super().__init__(next(iter(players.values())))
        self.campaign, self.models, self.reward = campaign, players, reward
        self.answer_tokens = answer_tokens
        if answer_tokens is not None:
            self.answer_tokens = validation.integer("answer_tokens", answer_tokens, low=1)

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        """Return the answer of the model that the campaign chose."""
        settings = self._limited(model_settings)
        async with self._spending(messages, settings, model_request_parameters) as call:
            model = self.models[chosen_arm(call.ticket)]
            with _refusals(call):
                response = await model.request(messages, settings, model_request_parameters)
            self._settle(call, model, response)
        await self._rewarded(call, response, messages)
        names = {"campaign": call.ticket.campaign, "ticket": call.ticket.id, "arm": call.arm}
        return replace(response, metadata={**(response.metadata or {}), _TICKET: names})

    @asynccontextmanager
    async def request_stream(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
        run_context: RunContext[Any] | None = None,
    ) -> AsyncGenerator[StreamedResponse]:
        """Yield the stream of the model that the campaign chose. The money for one that is broken
        off stays held, as its cost is unknown.
        """
        settings = self._limited(model_settings)
        async with self._spending(messages, settings, model_request_parameters) as call:
            model = self.models[chosen_arm(call.ticket)]
            async with AsyncExitStack() as stack:
                with _refusals(call):
                    stream = await stack.enter_async_context(
                        model.request_stream(
                            messages, settings, model_request_parameters, run_context
                        )
                    )
                yield stream
            response = stream.get()
            if response.state == "complete":
                self._settle(call, model, response)
        if response.state == "complete":
            await self._rewarded(call, response, messages)

    def _limited(self, settings: ModelSettings | None) -> ModelSettings | None:
        if self.answer_tokens is None or (settings or {}).get("max_tokens"):
            return settings
        return ModelSettings(**{**(settings or {}), "max_tokens": self.answer_tokens})

    def _spending(
        self, messages: Any, settings: ModelSettings | None, parameters: ModelRequestParameters
    ) -> AsyncSpending:
        """Return the context of one request, which holds the most that it may cost.

        A prompt has at most as many tokens as bytes; what that makes of a long one is not above the
        arm's own maximum.
        """
        limit = (settings or {}).get("max_tokens")
        arms: Any = list(self.models)
        if limit:
            tools = repr((parameters.function_tools, parameters.output_tools))
            prompt = len(ModelMessagesTypeAdapter.dump_json(messages)) + len(tools.encode())
            usage = RequestUsage(input_tokens=prompt, output_tokens=limit)
            largest = largest_costs(self.campaign)
            arms = {
                arm: min(_price(model, usage), largest.get(arm, Decimal("Infinity")))
                for arm, model in self.models.items()
            }
        return AsyncCampaign(self.campaign).spending(arms=arms)

    def _settle(self, call: Call, model: Model, response: ModelResponse) -> None:
        """Note what an answer cost. If that cannot be told, the hold stays, and the answer counts
        all the same.
        """
        usage = response.usage
        if usage.input_tokens or usage.output_tokens:
            with suppress(Exception):  # a price table may choke on what a provider counts
                cost = _price(model, usage)
                if amounts.to_units("cost", cost) >= 0:
                    call.settle(cost)
                    return
        _log.warning(
            "no price of ticket %s of campaign %s, with %s: the hold stays until it expires, and "
            "then counts as spent",
            call.ticket.id,
            call.ticket.campaign,
            usage,
        )

    async def _rewarded(self, call: Call, response: Any, messages: Any) -> None:
        if self.reward is None:
            return
        try:
            reward: Any = self.reward(response, messages)
            reward = await reward if inspect.isawaitable(reward) else reward
            if reward is not None:
                await AsyncCampaign(self.campaign).reward(call.ticket, reward)
        except Exception:  # the cost stands; the reward may still come by hand
            _log.exception("no reward for ticket %s", call.ticket.id)


@contextmanager
def _refusals(call: Call) -> Iterator[None]:
    """Note that a call was free if its request was refused or never sent, before any answer."""
    try:
        yield
    except ModelAPIError as error:
        begun = getattr(error, "in_stream", False)
        refused = isinstance(error, ModelHTTPError) and error.status_code not in _TIMEOUTS
        if not begun and (refused or getattr(error, "phase", None) in _NOT_SENT):
            call.fail(cost=0, reason=reason_of(error))
        raise


def most_of(
    models: Mapping[str, Any], *, prompt_tokens: int, answer_tokens: int
) -> dict[str, Decimal]:
    """Return {arm: the most that a request costs}, in dollars, as `Campaign.create` takes `arms`.

    Raise `InvalidInput` if genai-prices knows no price.
    """
    validation.integer("prompt_tokens", prompt_tokens, low=1)
    validation.integer("answer_tokens", answer_tokens, low=1)
    usage = RequestUsage(input_tokens=prompt_tokens, output_tokens=answer_tokens)
    return {arm: _price(infer_model(model), usage) for arm, model in models.items()}


def _price(model: Model, usage: RequestUsage) -> Decimal:
    """Return the price of a request in dollars, rounded up to nine decimals."""
    try:
        return price(str(model.model_name), usage, model.base_url or "")
    except LookupError:
        raise InvalidInput(
            f"genai-prices knows no price of model {model.model_name!r} of {model.system!r}: use "
            "campaign.spending() and prices of your own"
        ) from None


def ticket_of(response: ModelResponse) -> dict[str, Any] | None:
    """Return {"campaign", "ticket", "arm"} of a response, by which its reward is reported later."""
    names = (response.metadata or {}).get(_TICKET)
    return None if names is None else dict(names)
