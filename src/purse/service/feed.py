"""What the dashboard lives on: pictures of campaigns, made by reading alone, as answers and as a
stream of events.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import anyio
from anyio.to_thread import run_sync
from fastapi import APIRouter, Depends, Response
from fastapi.responses import StreamingResponse

from purse.campaign.campaign import Campaign
from purse.campaign.history import History
from purse.campaign.journal import compact
from purse.campaign.storage import Storage
from purse.errors import NoSuchCampaign, PurseError
from purse.service.campaigns import Name
from purse.service.openapi import refusals
from purse.service.pages import pages
from purse.service.picture import PICTURE, Picture
from purse.service.problems import TOO_MANY, Refusal

FRESH = 0.5  # seconds for which a picture serves everybody
OLDEST = 50  # tickets in a picture
# histories; whichever was looked at longest ago is let go and folded again when it is wanted
MOST_KEPT = 64
MOST_VIEWERS = 100  # streams at once
BEAT = 1.0  # seconds between two looks of a stream
HEARTBEAT = 15  # beats without news after which a stream says that it is alive
# beats after which a stream ends, so that a token that was revoked is asked for again
LONGEST = 600
THREADS = 4  # reading takes no more than these from the requests that ask and tell
EVENTS: dict[str, Any] = {
    "description": "Server-sent events: the picture whenever something happened, at most once a "
    "second, and a comment every 15 seconds.",
    "content": {
        "text/event-stream": {
            "schema": {"type": "string"},
            "example": f"id: 3\nevent: picture\ndata: {compact(PICTURE)}\n\n",
        }
    },
}


class Shot(NamedTuple):
    """A picture, and what tells it from the next: how long the journal is and how many tickets are
    overdue.
    """

    version: tuple[int, int]
    body: str  # JSON


class Strand:
    """One campaign's history as it grows."""

    def __init__(self, campaign: Campaign) -> None:
        self.campaign = campaign
        self.history = History(campaign.terms)
        self._lock = threading.Lock()
        self._taken = -FRESH
        self._shot = Shot((0, 0), "")

    def shot(self) -> Shot:
        """A picture that is at most half a second old."""
        with self._lock:
            if time.monotonic() - self._taken >= FRESH:
                self._shot = self._take()
                self._taken = time.monotonic()
            return self._shot

    def _take(self) -> Shot:
        campaign = self.campaign
        status, now = campaign.status(), campaign.storage.now()
        self.history.fold(campaign.journal(after=self.history.seq))
        tickets = [
            {**ticket.as_dict(), "age": max(0.0, now / 1000 - ticket.asked_at)}
            for ticket in campaign.tickets(limit=OLDEST)
        ]
        facts = {
            "now": now / 1000,
            "status": status.as_dict(),
            "history": self.history.as_dict(now),
            "tickets": tickets,
        }
        return Shot((self.history.seq, status.overdue), compact(facts))


class Feed:
    """The pictures of all campaigns of a storage. However many look, each campaign is read at most
    every half second, and never locked.
    """

    def __init__(self, storage: Storage) -> None:
        self.storage = storage
        self.viewers = 0
        self.closed = False
        self._strands: OrderedDict[str, Strand] = OrderedDict()
        self._lock = threading.Lock()
        self._threads = anyio.CapacityLimiter(THREADS)

    def shot(self, name: str) -> Shot:
        """The picture of a campaign; one that was made anew since is opened again the next time."""
        try:
            return self._strand(name).shot()
        except NoSuchCampaign:
            with self._lock:
                self._strands.pop(name, None)
            raise

    def _strand(self, name: str) -> Strand:
        with self._lock:
            if name in self._strands:
                self._strands.move_to_end(name)
                return self._strands[name]
        opened = Strand(Campaign.open(name, storage=self.storage))
        with self._lock:
            kept = self._strands.setdefault(name, opened)
            if len(self._strands) > MOST_KEPT:
                self._strands.popitem(last=False)
            return kept

    async def look(self, name: str) -> Shot:
        """The picture of a campaign, read in another thread."""
        return await run_sync(self.shot, name, limiter=self._threads)

    def close(self) -> None:
        """End all streams within a second, so that a server that stops has no one to wait for."""
        self.closed = True

    @contextmanager
    def viewing(self) -> Iterator[None]:
        """Count a viewer."""
        self.viewers += 1
        try:
            yield
        finally:
            self.viewers -= 1

    async def events(self, name: str) -> AsyncIterator[str]:
        """What is sent to one viewer. It ends where the storage does not answer: who comes again is
        told why.
        """
        version, quiet = None, 0
        with self.viewing():
            for _ in range(LONGEST):
                try:
                    shot = await self.look(name)
                except PurseError:
                    return
                quiet += 1
                if shot.version != version:
                    version, quiet = shot.version, 0
                    yield f"id: {shot.version[0]}\nevent: picture\ndata: {shot.body}\n\n"
                elif quiet >= HEARTBEAT:
                    quiet = 0
                    yield ": still here\n\n"
                if self.closed:
                    return
                await anyio.sleep(BEAT)


def dashboard(feed: Feed, reader: Callable[..., Any]) -> APIRouter:
    """The page and its files, which tell nothing of any campaign, and the two routes that do, for
    who may read.
    """
    router = APIRouter(tags=["dashboard"])
    router.include_router(pages())
    read = [Depends(reader)]

    @router.get(
        "/campaigns/{name}/picture",
        summary="All that the dashboard shows",
        dependencies=read,
        response_model=Picture,
        responses=refusals(),
    )
    async def get_picture(name: Name) -> Response:
        return Response((await feed.look(name)).body, media_type="application/json")

    @router.get(
        "/campaigns/{name}/events",
        summary="The picture as it changes",
        dependencies=read,
        response_class=StreamingResponse,
        responses={**refusals(), 200: EVENTS},
    )
    async def follow_events(name: Name) -> Response:
        if feed.viewers >= MOST_VIEWERS:
            raise Refusal(
                TOO_MANY,
                f"{MOST_VIEWERS} viewers are here already; wait until one leaves",
                {"Retry-After": "10"},
            )
        await feed.look(name)  # a problem is answered as one, before the stream begins
        return StreamingResponse(
            feed.events(name), media_type="text/event-stream", headers={"X-Accel-Buffering": "no"}
        )

    return router
