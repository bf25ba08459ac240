"""The attempts of a router: each has a ticket of its own, which ends once.

A request is one attempt, or several if it is retried or falls back to another group. LiteLLM
reports on an attempt by several hooks, some of them later and from other tasks; the first report
that says something about the money counts.
"""

import asyncio
import itertools
import logging
import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

from purse.asynchronous import AsyncCampaign, let_go
from purse.campaign.api.results import CampaignTicket
from purse.errors import Conflict, PurseError

KEY = "purse_attempt"  # in the metadata of a request
TICKET = "purse_ticket"  # the same for people: campaign, ticket and arm
METADATA = ("metadata", "litellm_metadata")  # which of them, the kind of call decides
_FORGOTTEN = 86_400  # seconds after which no report of an attempt is expected any more

_log = logging.getLogger("purse.litellm")


@dataclass(eq=False)
class Attempt:
    """One call of one deployment.

    is_json     whether the request asks for JSON
    started     whether the call was handed to the provider
    ended       whether the money is reported
    succeeded   whether LiteLLM has said so
    """

    campaign: AsyncCampaign
    ticket: CampaignTicket
    is_json: bool = False
    key: str = field(default_factory=lambda: secrets.token_hex(8))
    begun: float = field(default_factory=time.monotonic)
    started: bool = False
    ended: bool = False
    succeeded: bool = False

    def names(self) -> dict[str, Any]:
        """Return campaign, ticket and arm, for the metadata of request and answer."""
        ticket = self.ticket
        return {"campaign": ticket.campaign, "ticket": ticket.id, "arm": ticket.arm}

    async def end(self, verb: str, *values: Any) -> None:
        """Report the money by a verb of the campaign, once."""
        if self.ended:
            return
        self.ended = True
        try:
            await getattr(self.campaign, verb)(self.ticket, *values)
        except Conflict as error:  # another process reported by the ticket's number: that stands
            _log.warning("ticket %s of %s: %s", self.ticket.id, self.ticket.campaign, error)
        except PurseError:
            self.ended = False  # the hold stays, and a later hook may report
            _log.exception("ticket %s of %s", self.ticket.id, self.ticket.campaign)
            raise


def metadata_of(params: Mapping[str, Any] | None) -> list[Mapping[str, Any]]:
    """Return the metadata among the parameters of a call."""
    places = [(params or {}).get(name) for name in METADATA]
    return [one for one in places if isinstance(one, Mapping)]


class Attempts:
    """All attempts that are under way in this process."""

    def __init__(self) -> None:
        self._by_key: dict[str, Attempt] = {}
        self._latest: WeakKeyDictionary[asyncio.Task[Any], Attempt] = WeakKeyDictionary()

    def __len__(self) -> int:
        return len(self._by_key)

    async def add(self, attempt: Attempt) -> None:
        """Note an attempt of the current task, until its call starts."""
        task = asyncio.current_task()
        assert task is not None
        if task in self._latest:
            await self.give_up(task)
        else:
            task.add_done_callback(self._done)
        self._by_key[attempt.key] = self._latest[task] = attempt
        for key, old in list(itertools.islice(self._by_key.items(), 2)):  # the oldest come first
            if time.monotonic() - old.begun > _FORGOTTEN:
                del self._by_key[key]

    async def give_up(self, task: asyncio.Task[Any]) -> None:
        """Void the attempt that a task has asked for and never started: it will not, any more."""
        attempt = self._latest[task]
        if not attempt.started:
            self._by_key.pop(attempt.key, None)
            await attempt.end("void")

    def find(self, params: Mapping[str, Any] | None) -> Attempt | None:
        """Return the attempt that the metadata of a call name."""
        keys = (str(one.get(KEY)) for one in metadata_of(params))
        return next((self._by_key[key] for key in keys if key in self._by_key), None)

    def forget(self, attempt: Attempt) -> None:
        """Expect no more reports of an attempt."""
        self._by_key.pop(attempt.key, None)

    def _done(self, task: asyncio.Task[Any]) -> None:
        """Void what a task asked for and never started, even if it was the last of its loop."""
        attempt = self._latest[task]
        if attempt.started or attempt.ended:
            return
        attempt.ended = True
        self.forget(attempt)
        loop = asyncio.get_running_loop()  # whose end waits for this
        loop.run_in_executor(None, let_go, attempt.campaign.blocking, attempt.ticket)
