"""The callback of a LiteLLM router.

Every attempt, each retry and each fallback included, needs a ticket that holds the most that this
very call may cost. Calls that LiteLLM would make without asking are refused.
"""

import asyncio
import inspect
import logging
import time
import weakref
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Literal

from purse.asynchronous import AsyncCampaign
from purse.base import validation
from purse.base.optional import needs
from purse.campaign.api.results import CampaignTicket
from purse.campaign.ledger.ask_inputs import read_labels
from purse.campaign.spending import reason_of
from purse.errors import (
    ArmsCoolingDown,
    AskRefused,
    CampaignEnded,
    CampaignPaused,
    InvalidInput,
    invalid,
    shorten,
)
from purse.integrations.campaign_costs import check_campaign, chosen_arm, pause_before_next_ask
from purse.integrations.litellm.attempts import (
    KEY,
    METADATA,
    TICKET,
    Attempt,
    Attempts,
    metadata_of,
)
from purse.integrations.litellm.costs import Offer, offers_of
from purse.integrations.litellm.defaults import VALID, labels_of, session_of, valid_answer
from purse.integrations.transport.wire import wants_json

with needs("purse.integrations.litellm", "litellm"):
    import litellm
    from litellm.exceptions import (
        AuthenticationError,
        BadRequestError,
        BudgetExceededError,
        NotFoundError,
        PermissionDeniedError,
        RateLimitError,
        ServiceUnavailableError,
        UnprocessableEntityError,
    )
    from litellm.integrations.custom_logger import CustomLogger

# errors after which the deployment is as well as before
_THE_REQUESTS_FAULT = (BadRequestError, UnprocessableEntityError)
# errors of a provider that did not begin; LiteLLM makes others of broken answers, too
_FREE = (
    AuthenticationError,
    PermissionDeniedError,
    NotFoundError,
    RateLimitError,
    ServiceUnavailableError,
)
_REFUSED = "purse_refused"  # in the metadata: why a campaign refused this request
# the calls whose costs LiteLLM reports
_PAID = ("completion", "acompletion", "text_completion", "atext_completion", "embedding")
_PAID_TOO = ("aembedding", "responses", "aresponses", "anthropic_messages")
_STEP = 0.02  # seconds between two asks while money is held

_Reward = Callable[[Any, Any], float | Awaitable[float | None] | None]
_Labels = Callable[[Mapping[str, Any]], Mapping[str, str] | None]
_log = logging.getLogger("purse.litellm")


class PurseRouter(CustomLogger):  # type: ignore[misc]
    """A LiteLLM callback that spends by campaigns. There may be one in a process.

    campaigns   {model group: campaign}; groups may share a campaign, and with it a budget
    reward      "valid": 1 for an answer that ended normally, is not empty, and is JSON if JSON was
                asked for, else 0; or `reward(answer, messages)`, from 0 to 1 or None, a function or
                a coroutine, called after the answer was returned; None: the reward comes later, by
                `ticket_of`
    labels      `labels(metadata)` of a request, which its ticket gets; by default team, user and
                key, as the proxy knows them; None: no labels
    wait        seconds that a request waits for money that other calls hold, or for a deployment
                that cools down
    answer_tokens   `max_tokens` of calls that set none; None: as many as the arm's maximum pays for
    margin      by how much a provider may count more tokens of a prompt than LiteLLM's tokenizer

    Raise `InvalidInput` when a value is not allowed, or another instance is in use.
    """

    _instance: "weakref.ref[PurseRouter] | None" = None

    def __init__(
        self,
        campaigns: Mapping[str, Any],
        *,
        reward: _Reward | Literal["valid"] | None = VALID,
        labels: _Labels | None = labels_of,
        wait: float = 2.0,
        answer_tokens: int | None = None,
        margin: float = 1.25,
    ) -> None:
        super().__init__()
        if not isinstance(campaigns, Mapping) or not campaigns:
            raise invalid("campaigns", campaigns, "must be {model group: campaign}")
        for group, campaign in campaigns.items():
            check_campaign(f"campaigns[{group!r}]", campaign)
        if reward not in (None, VALID) and not callable(reward):
            allowed = "must be 'valid', None, or a function of an answer and its messages"
            raise invalid("reward", reward, allowed)
        if labels is not None and not callable(labels):
            raise invalid("labels", labels, "must be None, or a function of a request's metadata")
        self.campaigns = dict(campaigns)
        self.reward, self.labels = reward, labels
        self.wait = validation.number("wait", wait, low=0, high=3600)
        self.answer_tokens = answer_tokens
        if answer_tokens is not None:
            self.answer_tokens = validation.integer("answer_tokens", answer_tokens, low=1)
        self.margin = validation.number("margin", margin, low=1, high=100)
        self._attempts = Attempts()
        other = PurseRouter._instance and PurseRouter._instance()
        if other is not None:
            raise InvalidInput(
                "there is a PurseRouter already, and LiteLLM reports to the first one only: give "
                "it all campaigns, as {model group: campaign}, or close() it"
            )
        PurseRouter._instance = weakref.ref(self)

    def close(self) -> None:
        """Take the callback out of LiteLLM, so that another one may take its place."""
        for name in [name for name in vars(litellm) if name.endswith(("callback", "callbacks"))]:
            if isinstance(callbacks := getattr(litellm, name), list):
                callbacks[:] = [callback for callback in callbacks if callback is not self]
        if PurseRouter._instance is not None and PurseRouter._instance() is self:
            PurseRouter._instance = None

    async def flush(self, seconds: float = 5.0) -> int:
        """Wait until LiteLLM has reported all answers, at most `seconds`.

        Return the number of calls that it has not reported: under way, or broken off.
        """
        until = time.monotonic() + seconds
        while len(self._attempts) and time.monotonic() < until:
            await asyncio.sleep(_STEP)
        return len(self._attempts)

    # before a call

    async def async_filter_deployments(
        self,
        model: str,
        healthy_deployments: list[Any],
        messages: list[Any] | None,
        request_kwargs: dict[str, Any] | None = None,
        parent_otel_span: Any = None,
    ) -> list[dict[str, Any]]:
        """Return the deployments of the arm that the campaign chose: for the first attempt, each
        retry and each fallback.
        """
        request = {} if request_kwargs is None else request_kwargs
        field = next((name for name in METADATA[::-1] if name in request), METADATA[0])
        metadata = request.get(field) or {}
        # a copy for each attempt: LiteLLM hands one and the same to all attempts of a request
        request[field] = own = {
            name: metadata[name] for name in metadata if name not in (KEY, TICKET)
        }
        campaign = self.campaigns.get(model)
        if campaign is None:
            if _REFUSED in own and request.get("fallback_depth"):
                raise BudgetExceededError(
                    0, 0, f"{own[_REFUSED]}; group {model!r} has no campaign to pay a fallback"
                )
            return healthy_deployments
        waited = AsyncCampaign(campaign)
        metadata.pop(_REFUSED, None)  # of an earlier request, if the caller keeps the metadata
        try:
            offers = await asyncio.to_thread(
                offers_of,
                campaign,
                model,
                healthy_deployments,
                messages,
                request,
                self.answer_tokens,
                self.margin,
            )
            ticket = await self._ask(waited, offers, self._labels(own), session_of(request))
            offer = offers[chosen_arm(ticket)]
        except ArmsCoolingDown as error:
            raise ServiceUnavailableError(str(error), "purse", model) from error
        except AskRefused as error:
            says_whose = isinstance(error, (CampaignPaused, CampaignEnded))
            reason = str(error) if says_whose else f"campaign {campaign.name!r}: {error}"
            metadata[_REFUSED] = reason
            purse = (await waited.status()).purses[0]
            raise BudgetExceededError(float(purse.spent), float(purse.budget), reason) from error
        except InvalidInput as error:
            raise BadRequestError(shorten(str(error), 400), model, "purse") from error
        attempt = Attempt(waited, ticket, wants_json(request))
        await self._attempts.add(attempt)
        if offer.answer_tokens is not None:
            request["max_tokens"] = offer.answer_tokens
        own.update({KEY: attempt.key, TICKET: attempt.names()})
        return offer.deployments

    def _labels(self, metadata: Mapping[str, Any]) -> dict[str, str] | None:
        """Return the labels of a request; none if the function for them fails."""
        try:
            return read_labels(self.labels and self.labels(metadata))
        except Exception:  # a call whose user is not known is made all the same
            _log.exception("no labels for a request")
            return None

    async def _ask(
        self,
        campaign: AsyncCampaign,
        offers: Mapping[str, Offer],
        labels: Mapping[str, str] | None,
        session: str | None,
    ) -> CampaignTicket:
        """Return a ticket; wait a little for money that is held, and for arms that cool down."""
        begun = time.monotonic()
        maxima = {arm: offer.maximum for arm, offer in offers.items()}
        arms = list(maxima) if None in maxima.values() else maxima
        while True:
            try:
                return await campaign.ask(arms=arms, labels=labels, session=session)
            except AskRefused as error:
                if (pause := pause_before_next_ask(error, begun, self.wait)) is None:
                    raise
            await asyncio.sleep(pause)

    async def async_pre_call_deployment_hook(
        self, kwargs: dict[str, Any], call_type: Any
    ) -> dict[str, Any] | None:
        """Refuse a call to a deployment of ours that no ticket is held for."""
        groups = [one.get("deployment_model_name") for one in metadata_of(kwargs)]
        group = next((name for name in groups if name in self.campaigns), None)
        attempt = self._attempts.find(kwargs)
        if group is None and attempt is None:
            return None
        kind = str(getattr(call_type, "value", call_type))
        if attempt is None:
            raise _refusal(
                str(group), "was addressed by the id of a deployment, so no ticket is held for it"
            )
        if kind not in _PAID + _PAID_TOO:
            await attempt.end("void")
            raise _refusal(str(group), f"is of kind {kind!r}, whose cost LiteLLM does not report")
        attempt.started = True  # the call is on its way, and may cost something
        return None

    def pre_call_check(self, deployment: dict[str, Any]) -> dict[str, Any] | None:
        """Refuse the synchronous calls of a router: LiteLLM runs no other hook for them."""
        if deployment.get("model_name") in self.campaigns:
            raise _refusal(
                deployment["model_name"],
                "is synchronous, and LiteLLM asks no callback before it: use the async method, "
                "such as acompletion",
            )
        return None

    # after a call

    async def async_post_call_success_deployment_hook(
        self, request_data: dict[str, Any], response: Any, call_type: Any
    ) -> Any:
        """Settle the cost before the caller gets the answer; streams are told at their end."""
        attempt = self._attempts.find(request_data)
        if attempt is None or not hasattr(response, "_hidden_params"):
            return None
        response._hidden_params[TICKET] = attempt.names()
        logged = request_data.get("litellm_logging_obj")
        model_id = (request_data.get("model_info") or {}).get("id")
        cost = logged and logged.response_cost_calculator(
            result=response, litellm_model_name=request_data.get("model"), router_model_id=model_id
        )
        if cost:
            await attempt.end("settle", float(cost))
        return None

    async def async_log_success_event(
        self, kwargs: dict[str, Any], response_obj: Any, start_time: Any, end_time: Any
    ) -> None:
        """Report the reward, and the cost of a stream."""
        attempt = self._attempts.find(kwargs.get("litellm_params"))
        if attempt is None or attempt.succeeded:  # it may come twice
            return
        attempt.succeeded = True
        cost = (kwargs.get("standard_logging_object") or {}).get("response_cost")
        cost = cost or kwargs.get("response_cost")
        try:
            if kwargs.get("cache_hit"):
                await attempt.end("void")
            elif attempt.ended or cost:
                await attempt.end("settle", float(cost or 0))
                await self._reward(attempt, response_obj, kwargs.get("messages"))
            else:
                _log.warning(
                    "LiteLLM reports no cost of ticket %s of campaign %s: the hold stays until it "
                    "expires, and then counts as spent",
                    attempt.ticket.id,
                    attempt.ticket.campaign,
                )
        finally:
            self._attempts.forget(attempt)

    async def _reward(self, attempt: Attempt, answer: Any, messages: Any) -> None:
        judge: Any = self.reward
        try:
            reward: Any
            if judge is None:
                reward = None
            elif judge == VALID:
                reward = valid_answer(answer, attempt.is_json)
            elif inspect.iscoroutinefunction(judge):
                reward = await judge(answer, messages)
            else:
                reward = await asyncio.to_thread(judge, answer, messages)
                reward = await reward if inspect.isawaitable(reward) else reward
            if reward is not None:
                await attempt.campaign.reward(attempt.ticket, reward)
        except Exception:  # the cost stands; the reward may still come by hand
            ticket = attempt.ticket
            _log.exception("no reward for ticket %s of campaign %s", ticket.id, ticket.campaign)

    async def async_post_call_failure_deployment_hook(
        self,
        request_data: Mapping[str, Any],
        exception: Exception,
        call_type: Any,
        fallback_depth: int | None = None,
    ) -> None:
        """Report that an attempt failed, before the next one is made."""
        attempt = self._attempts.find(request_data)
        if attempt is not None:
            if isinstance(exception, _THE_REQUESTS_FAULT):
                await attempt.end("void")
            else:  # no subclass is free: an error amid a stream is one
                cost = 0 if type(exception) in _FREE else None
                await attempt.end("fail", cost, reason_of(exception))
            self._attempts.forget(attempt)

    async def async_log_failure_event(
        self, kwargs: dict[str, Any], response_obj: Any, start_time: Any, end_time: Any
    ) -> None:
        """Report a failure that no other hook did: a stream that broke in the middle."""
        attempt = self._attempts.find(kwargs.get("litellm_params"))
        if attempt is not None:
            error: Any = kwargs.get("exception")
            cost = kwargs.get("response_cost")
            await attempt.end("fail", float(cost) if cost else None, reason_of(error))
            self._attempts.forget(attempt)

    async def async_post_call_response_headers_hook(
        self, data: dict[str, Any], user_api_key_dict: Any, response: Any, *_: Any, **__: Any
    ) -> dict[str, str] | None:
        """Return the header by which a client of the proxy reports the reward later."""
        names = ticket_of(response)
        return names and {"x-purse-ticket": f"{names['campaign']}/{names['ticket']}"}


def ticket_of(response: Any) -> dict[str, Any] | None:
    """Return {"campaign", "ticket", "arm"} of an answer or a stream of a guarded group.

    With it the reward can be reported later: `campaign.reward(found["ticket"], 1.0)`.
    """
    hidden = getattr(response, "_hidden_params", None)
    if isinstance(hidden, Mapping) and TICKET in hidden:
        return dict(hidden[TICKET])
    details = getattr(getattr(response, "logging_obj", None), "model_call_details", {})
    metadata = metadata_of(details.get("litellm_params"))
    return next((dict(one[TICKET]) for one in metadata if TICKET in one), None)


def _refusal(group: str, why: str) -> BadRequestError:
    """Return the error for a call that would spend outside of the budget."""
    return BadRequestError(f"a call to group {group!r} {why}; it is not made", group, "purse")
