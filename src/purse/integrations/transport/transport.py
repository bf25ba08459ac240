"""The transport around that of a client: each request that costs money gets a model, a hold and a
report.

Each attempt of an SDK has a ticket of its own. What is known to have cost nothing is released at
once; if nobody knows, the hold stays, and counts as spent once it expires.
"""

import logging
import math
import time
from asyncio import sleep
from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import lru_cache, partial
from typing import Any, Final

from purse.asynchronous import AsyncCampaign, in_thread
from purse.base import token_prices, validation
from purse.base.token_prices import Price
from purse.campaign.campaign import Campaign
from purse.errors import InvalidInput, PurseError, invalid
from purse.integrations.campaign_costs import (
    ANY,
    check_campaign,
    chosen_arm,
    largest_costs,
    pause_before_next_ask,
)
from purse.integrations.transport import wire
from purse.integrations.transport.attempt import Attempt, Offer
from purse.integrations.transport.tickets import remember
from purse.integrations.transport.verdicts import (
    Report,
    library_of,
    of_exception,
    of_response,
    refusal,
)

_VALID: Final = "valid"  # the name of the default reward
_TICKET, _LABELS = "x-purse-ticket", "x-purse-labels"
_LEAST = 16  # tokens of an answer that are worth a call
_log = logging.getLogger("purse.http_client")


class Transport:
    """A transport around another one, which does the work: synchronous, asynchronous, or both.

    `http_client` says what the arguments are.
    """

    def __init__(
        self,
        campaign: Campaign,
        inner: Any,
        *,
        models: Mapping[str, str] | None = None,
        reward: Callable[[dict[str, Any], wire.Answer], float | None] | str | None = _VALID,
        labels: Callable[[Any, dict[str, Any]], Mapping[str, str] | None] | None = None,
        session: Callable[[Any, dict[str, Any]], str | None] | None = None,
        context: Callable[[Any, dict[str, Any]], Any] | None = None,
        price: Price = token_prices.price,
        tokens: Callable[[bytes], int] | None = None,
        answer_tokens: int = 16_384,
        margin: float | None = None,
        wait: float = 2.0,
    ) -> None:
        check_campaign("campaign", campaign)
        if hasattr(campaign, "terms") and campaign.terms.may_skip:
            raise invalid("campaign", campaign, "must have skip=False: no request passes here")
        if reward not in (None, _VALID) and not callable(reward):
            raise invalid(
                "reward", reward, "must be 'valid', None, or a function of a request and an answer"
            )
        self.campaign, self.inner, self.models = campaign, inner, models
        self._awaited = AsyncCampaign(campaign)
        self.reward, self.labels, self.context = reward, labels or _labels_of, context
        self.session = session or _session_of
        self.price, self.tokens = price, tokens
        self.answer_tokens = validation.integer("answer_tokens", answer_tokens, low=1)
        self.margin = margin and validation.number("margin", margin, low=1, high=100)
        self.wait = validation.number("wait", wait, low=0, high=3600)

    # one attempt, and the same awaited

    def handle_request(self, request: Any) -> Any:
        """Return the answer to a request, or why no money is held for it."""
        attempt = self._read(request, request.read())
        if not isinstance(attempt, Attempt):
            return attempt or self.inner.handle_request(request)
        begun = time.monotonic()
        while True:
            try:
                attempt.ticket = self.campaign.ask(**self._wishes(request, attempt))
                chosen_arm(attempt.ticket)
                break
            except PurseError as error:
                if (pause := pause_before_next_ask(error, begun, self.wait)) is None:
                    return refusal(request, error)
            time.sleep(pause)
        try:
            response = self.inner.handle_request(_sent(request, attempt))
        except Exception as error:
            self._report(attempt, of_exception(error))
            raise
        self._report(attempt, verdict := of_response(response))
        return self._watched(attempt, response, verdict)

    async def handle_async_request(self, request: Any) -> Any:
        """Return the answer to a request, or why no money is held for it."""
        attempt = self._read(request, await request.aread())
        if not isinstance(attempt, Attempt):
            return attempt or await self.inner.handle_async_request(request)
        begun = time.monotonic()
        while True:
            try:
                wishes = await in_thread(partial(self._wishes, request, attempt))
                attempt.ticket = await self._awaited.ask(**wishes)
                chosen_arm(attempt.ticket)
                break
            except PurseError as error:
                if (pause := pause_before_next_ask(error, begun, self.wait)) is None:
                    return refusal(request, error)
            await sleep(pause)
        try:
            response = await self.inner.handle_async_request(_sent(request, attempt))
        except Exception as error:
            await self._report_async(attempt, of_exception(error))
            raise
        await self._report_async(attempt, verdict := of_response(response))
        return self._watched(attempt, response, verdict)

    # before

    def _read(self, request: Any, content: bytes) -> Any:
        """Return the attempt that a request is; None if it is free; or a refusal."""
        try:
            form = wire.form_of(request.method, request.url.path)
            if form is None:
                return None
            attempt = Attempt(request, form, content)
            wire.check_priced(attempt.body, counted=self.tokens is not None)
            return attempt
        except ValueError as error:
            return refusal(request, InvalidInput(f"this request is not made: {error}"))

    def _wishes(self, request: Any, attempt: Attempt) -> dict[str, Any]:
        """Return the arguments of the ask: the models that may answer, labels and session."""
        attempt.offers = offers = self._offers(attempt)
        labels = dict(self.labels(request, attempt.body) or {})
        if ANY in offers:
            labels["model"] = offers[ANY].model
        wishes: dict[str, Any] = {"arms": {arm: offer.maximum for arm, offer in offers.items()}}
        wishes |= {"labels": labels or None, "session": self.session(request, attempt.body)}
        if self.context is not None:
            wishes["context"] = self.context(request, attempt.body)
        return wishes

    def _offers(self, attempt: Attempt) -> dict[str, Offer]:
        """Return {arm: what it offers}. Raise `InvalidInput` if no arm can pay the request."""
        offers, reasons = dict[str, Offer](), list[str]()
        for arm, largest in largest_costs(self.campaign).items():
            model = str(attempt.body.get("model")) if arm == ANY else arm
            if self.models is not None:
                model = self.models.get(arm, "")
            try:
                if model:
                    offers[arm] = self._offer(attempt, model, largest)
            except InvalidInput as error:
                reasons.append(str(error))
        if not offers:
            reason = "; ".join(reasons) or "models= names no arm of the campaign"
            raise InvalidInput(f"this request is not made: {reason}")
        return offers

    def _offer(self, attempt: Attempt, model: str, largest: Decimal) -> Offer:
        """Return the offer of a model. Raise `InvalidInput` if it has no price at this address, or
        if `largest` does not pay for the request.
        """
        rates = self._rates(attempt, model)
        limit = None
        if attempt.form.limits:
            paid = rates.affordable(largest) // attempt.answers
            limit = min(attempt.limit or self.answer_tokens, paid)
        maximum = rates.maximum((limit or 0) * attempt.answers)
        least = min(_LEAST, attempt.limit or _LEAST)
        if maximum > largest or (limit is not None and limit < least):
            raise InvalidInput(
                f"{model!r} may cost more for it than {largest}, the most of a call: shorten it, "
                "or raise that"
            )
        more = wire.names_more(attempt.body)
        return Offer(model, largest if more else maximum, limit)

    def _rates(self, attempt: Attempt, model: str) -> token_prices.Rates:
        """Return the most that the prompt of a request costs, and each token of its answer."""
        tokens = (self.tokens or len)(attempt.content)
        conditions = tuple(wire.conditions_of(attempt.body).items())
        hour = b'"1h"' in attempt.content  # of the provider's cache
        try:
            return token_prices.rates(self.price, model, attempt.url, conditions, tokens, hour=hour)
        except LookupError:
            raise InvalidInput(f"no price of {model!r} is known for {attempt.url}") from None

    # after

    def _watched(self, attempt: Attempt, response: Any, verdict: Report) -> Any:
        """Return the response, whose stream is read on its way to the caller."""
        headers = response.headers.copy()
        headers[_TICKET] = f"{attempt.ticket.campaign}/{attempt.ticket.id}"
        attempt.is_stream = headers.get("content-type", "").startswith("text/event-stream")
        for name in ("content-encoding", "content-length"):  # it is decoded here
            headers.pop(name, None)
        if verdict and verdict[0] == "fail" and len(attempt.offers) > 1:
            headers["retry-after-ms"] = "20"  # another arm need not wait for this one
        return type(response)(
            response.status_code,
            headers=headers,
            stream=_watched_stream(library_of(response))(self, attempt, response),
            extensions=response.extensions,
        )

    def _report(self, attempt: Attempt, report: Report) -> None:
        """Report to the ledger, once. The caller gets the answer even if that fails."""
        if report is None or attempt.is_reported:
            return
        attempt.is_reported = True
        verb, *values = report
        try:
            getattr(self.campaign, verb)(attempt.ticket, *values)
        except PurseError:  # the hold stays, and is presumed spent
            _log.exception("%s: no %s", _title(attempt), verb)

    async def _report_async(self, attempt: Attempt, report: Report) -> None:
        if report is not None and not attempt.is_reported:
            await in_thread(partial(self._report, attempt, report), is_report=True)

    def outcome(self, attempt: Attempt) -> Report:
        """Return the report on an answer that is over; None while its cost is not known."""
        answer, form = attempt.answer, attempt.form
        if answer.error:
            return "fail", self._estimate(attempt), answer.error
        if attempt.is_reported or not answer.is_over:
            return None
        remember(answer.id, self.campaign, attempt.ticket)
        conditions = {**wire.conditions_of(attempt.body), **answer.conditions}
        try:
            usage = token_prices.usage_of(
                attempt.url, form.provider, form.flavor, answer.usage or {}
            )
            cost = token_prices.rounded(
                self.price(attempt.offer.model, usage, attempt.url, tuple(conditions.items()))
            )
        except (LookupError, ValueError):  # nobody will ever say what it cost
            _log.warning("%s: no usage, so all that was held is spent", _title(attempt))
            return "settle", self._estimate(attempt) or attempt.offer.maximum
        reward = self._reward(attempt)
        return ("settle", cost) if reward is None else ("tell", reward, cost)

    def broken(self, attempt: Attempt) -> Report:
        """Return the report on an answer that its caller, or its provider, has broken off."""
        cost = self._estimate(attempt)
        return None if cost is None else ("settle", cost)

    def _estimate(self, attempt: Attempt) -> Decimal | None:
        """Return the dollars of what came of an answer, times the margin; None without one."""
        if self.margin is None:
            return None
        answer = attempt.answer
        size = max(answer.size, sum(len(text) for texts in answer.texts.values() for text in texts))
        tokens = math.ceil(self.margin * size)
        rates = self._rates(attempt, attempt.offer.model)
        return min(rates.maximum(tokens), attempt.offer.maximum)

    def _reward(self, attempt: Attempt) -> float | None:
        """Return the reward of an answer; None if it comes later."""
        if self.reward is None:
            return None
        if self.reward == _VALID:
            return float(attempt.answer.is_valid(wire.wants_json(attempt.body)))
        try:
            assert callable(self.reward)
            return self.reward(attempt.body, attempt.answer)
        except Exception:  # the cost stands; the reward may still come by hand
            _log.exception("%s: no reward", _title(attempt))
            return None

    # what a client does with a transport

    def __enter__(self) -> "Transport":
        self.inner.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self.inner.__exit__(*error)

    def close(self) -> None:
        """Close the transport that does the work."""
        self.inner.close()

    async def __aenter__(self) -> "Transport":
        await self.inner.__aenter__()
        return self

    async def __aexit__(self, *error: Any) -> None:
        await self.inner.__aexit__(*error)

    async def aclose(self) -> None:
        """Close the transport that does the work."""
        await self.inner.aclose()


@lru_cache
def _watched_stream(library: Any) -> Any:
    """Return the class of streams that report when they end, for httpx or httpx2."""

    class WatchedStream(library.SyncByteStream, library.AsyncByteStream):  # type: ignore[misc]
        """The stream of an answer. What ends normally is reported before its last bytes go on."""

        def __init__(self, transport: Transport, attempt: Attempt, response: Any) -> None:
            self.transport, self.attempt, self.response = transport, attempt, response
            self.is_plain = "content-encoding" not in response.headers
            self.parts: Any = None

        def __iter__(self) -> Any:
            attempt, transport = self.attempt, self.transport
            self.parts = iter(self.response.stream if self.is_plain else self.response.iter_bytes())
            for data in self.parts:
                passed = attempt.take(data)
                transport._report(attempt, transport.outcome(attempt))
                if passed:
                    yield passed
            kept_back = attempt.end()
            transport._report(attempt, transport.outcome(attempt))
            yield kept_back

        async def __aiter__(self) -> Any:
            attempt, transport = self.attempt, self.transport
            stream = self.response.stream if self.is_plain else self.response.aiter_bytes()
            self.parts = aiter(stream)
            async for data in self.parts:
                passed = attempt.take(data)
                await transport._report_async(attempt, transport.outcome(attempt))
                if passed:
                    yield passed
            kept_back = attempt.end()
            await transport._report_async(attempt, transport.outcome(attempt))
            yield kept_back

        def close(self) -> None:
            attempt, transport = self.attempt, self.transport
            try:
                if self.is_nearly_over:
                    for data in self.parts:
                        attempt.take(data)
                    transport._report(attempt, transport.outcome(attempt))
                transport._report(attempt, transport.broken(attempt))
            finally:
                self.response.close()

        async def aclose(self) -> None:
            attempt, transport = self.attempt, self.transport
            try:
                if self.is_nearly_over:
                    async for data in self.parts:
                        attempt.take(data)
                    await transport._report_async(attempt, transport.outcome(attempt))
                await transport._report_async(attempt, transport.broken(attempt))
            finally:
                await self.response.aclose()

        @property
        def is_nearly_over(self) -> bool:
            """Whether the caller broke off at the end of an answer, before its usage came."""
            answer = self.attempt.answer
            return self.attempt.is_stream and bool(answer.ends) and not answer.is_over

    return WatchedStream


def _sent(request: Any, attempt: Attempt) -> Any:
    """Return the request as the provider gets it."""
    headers = [
        (name, value)
        for name, value in request.headers.raw
        if name.lower() != b"content-length" and not name.lower().startswith(b"x-purse-")
    ]
    return type(request)(
        request.method,
        request.url,
        headers=headers,
        content=attempt.rewritten(),
        extensions=request.extensions,
    )


def _labels_of(request: Any, body: dict[str, Any]) -> dict[str, str]:
    """Return the labels in the header of a request: `user=ann, run=7`."""
    pairs = (part.partition("=") for part in request.headers.get(_LABELS, "").split(","))
    return {key.strip(): value.strip() for key, _, value in pairs if value.strip()}


def _session_of(request: Any, body: dict[str, Any]) -> str | None:
    """Return the conversation that a request belongs to; None: unknown."""
    return wire.session_of(request.headers, body)


def _title(attempt: Attempt) -> str:
    """Return the name of an attempt's ticket, for a log."""
    return f"ticket {attempt.ticket.id} of campaign {attempt.ticket.campaign}"
