"""One attempt of a request: what it asks for, its ticket, and what is known of its answer."""

from decimal import Decimal
from typing import Any, NamedTuple

import orjson

from purse.campaign.api.results import CampaignTicket
from purse.integrations.transport import wire


class Offer(NamedTuple):
    """A model for one request.

    maximum   the most that the call may cost, in dollars
    limit     the tokens that its answer may have; None: it has none
    """

    model: str
    maximum: Decimal
    limit: int | None


class Attempt:
    """One attempt of a request: what it asks for, its ticket, and what is known of its answer."""

    ticket: CampaignTicket

    def __init__(self, request: Any, form: wire.Form, content: bytes) -> None:
        body = orjson.loads(content)
        if not isinstance(body, dict):
            raise ValueError("its body is no JSON object")
        self.form, self.content, self.url, self.body = form, content, str(request.url), body
        limits = [name for name in form.limits if body.get(name)]
        self.limit_name = (limits or list(form.limits) or [""])[0]
        self.limit: int | None = body[limits[0]] if limits else None
        self.answers = int(body.get("n") or 1)
        self.hides_usage = False
        self.offers: dict[str, Offer] = {}
        self.answer, self.events, self.parts = wire.Answer(), wire.Events(), list[bytes]()
        self.is_stream = self.is_reported = False

    @property
    def offer(self) -> Offer:
        """What the campaign chose."""
        return self.offers[self.ticket.arm]

    def rewritten(self) -> bytes:
        """Return the body with the model that was chosen, its limit, and a wish for usage."""
        body = {**self.body, "model": self.offer.model}
        if self.offer.limit is not None:
            body[self.limit_name] = self.offer.limit
        if body.get("stream") and self.form.flavor == "chat":
            options = body.get("stream_options") or {}
            self.hides_usage = not options.get("include_usage")
            body["stream_options"] = {**options, "include_usage": True}
        return self.content if body == self.body else orjson.dumps(body)

    def take(self, data: bytes) -> bytes:
        """Take in a part of the answer, and return what the caller gets of it."""
        if not self.is_stream:
            self.parts.append(data)
            return data
        events = self.events.cut(data)
        return b"".join(event for event, text in events if not self._is_hidden(text))

    def _is_hidden(self, text: bytes) -> bool:
        """Take in an event, and return whether the caller did not ask for it."""
        event = _loaded(text)
        self.answer.is_over |= wire.is_last(event, text)
        if event.get("error") and not event.get("choices"):
            self.answer.error = str(event["error"])
        self.form.read(self.answer, event)
        return self.hides_usage and bool(event.get("usage")) and not event.get("choices")

    def end(self) -> bytes:
        """Take in that nothing more comes, and return what was kept back."""
        if not self.is_stream:
            self.form.read(self.answer, _loaded(b"".join(self.parts)))
        self.answer.is_over = not self.answer.error
        return self.events.rest


def _loaded(text: bytes) -> dict[str, Any]:
    """Return a JSON object; an empty one if it is none."""
    try:
        event = orjson.loads(text)
    except ValueError:
        return {}
    return event if isinstance(event, dict) else {}
