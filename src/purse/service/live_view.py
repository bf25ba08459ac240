"""Pictures of campaigns for the dashboard, as answers and as a stream of events: status, history,
the oldest tickets, and the first lines of the page. To take one only reads.
"""

import threading
import time
from collections import Counter, OrderedDict
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import anyio
from anyio.to_thread import run_sync

from purse._version import __version__
from purse.base import spec
from purse.base.json import compact
from purse.campaign.api.results import Status, write_time
from purse.campaign.campaign import Campaign
from purse.campaign.ledger.records import Head
from purse.campaign.storage.storage import Storage
from purse.campaign.views.certificate import certificate_of
from purse.campaign.views.history import FollowedHistory, History
from purse.campaign.views.recommendation import recommendation_of
from purse.campaign.views.time_series import ALL, Span
from purse.errors import NotFound, PurseError
from purse.identification.recommendation import CONFIDENCE, REWARD
from purse.service.budgets import Budgets, without_folder
from purse.service.problems import ProblemError
from purse.service.reach import Reach
from purse.service.settings import absolute, address_shown

_FRESH = 0.5  # seconds for which a picture serves everybody
_OLDEST = 50  # tickets in a picture
# histories in memory; the one that was looked at longest ago goes first, and is folded again
_VIEW_LIMIT = 256
_QUIET = 10.0  # seconds for which a summary serves while nothing happens: rates fade
VIEWER_LIMIT = 100  # streams at once
TOKEN_VIEWER_LIMIT = 25  # of these
_BEAT = 1.0  # seconds between two looks of a stream
_HEARTBEAT = 15  # beats without news after which a stream says that it is alive
# beats after which a stream ends, so that a token that was revoked is asked for again
_LONGEST = 600
_THREADS = 4  # reading takes no more than these from the requests that ask and tell
_BEST_ARM = "best-arm"  # the policy whose campaigns are a question
_OPTIONS = ("cap", "confidence", "within")  # of the policy, which the question has, too

_Result = TypeVar("_Result")


class _ViewVersion(NamedTuple):
    """A picture, and the numbers that tell it from the next."""

    version: tuple[int | str, ...]  # entries, overdue tickets, alarms, period, state
    body: str  # JSON


class _LiveView:
    """One campaign's history as it grows."""

    def __init__(self, campaign: Campaign) -> None:
        self.campaign = campaign
        self._followed = FollowedHistory(campaign.terms, campaign.storage)
        self._lock = threading.Lock()
        self._latest: dict[Span, tuple[float, _ViewVersion]] = {}  # and when it was taken
        self._summary: tuple[float, dict[str, Any]] | None = None

    def version(self, span: Span = ALL) -> _ViewVersion:
        """Return a picture that is at most half a second old."""
        with self._lock:
            taken_at, latest = self._latest.get(span, (-_FRESH, None))
            if latest is None or time.monotonic() - taken_at >= _FRESH:
                latest = self._take(span)
                self._latest[span] = time.monotonic(), latest
            return latest

    def summary(self, status: Status) -> dict[str, Any] | None:
        """Return the facts of a campaign for a list, given its status; None before its first
        picture, which may take long.
        """
        if not self._latest or not self._lock.acquire(blocking=False):
            return self._summary and self._summary[1]
        try:
            taken_at, summary = self._summary or (-_QUIET, {"seq": 0})
            if summary["seq"] < status.entries or time.monotonic() - taken_at >= _QUIET:
                summary = self._followed.follow().summary(
                    self.campaign.storage.now(), status.status
                )
                self._summary = time.monotonic(), summary
            return summary
        finally:
            self._lock.release()

    def _take(self, span: Span) -> _ViewVersion:
        campaign = self.campaign
        status, now = campaign.status(), campaign.storage.now()
        history = self._followed.follow()
        shown = history.as_dict(now, span, status.status)
        ends = [purse["projection"] for purse in shown["purses"]]
        first_lines = _answers(history, campaign._local.campaign.head, status, ends)
        tickets = [
            {**ticket.as_dict(), "age": max(0.0, now / 1000 - ticket.asked_at)}
            for ticket in campaign.tickets(limit=_OLDEST)
        ]
        facts = {
            "now": now / 1000,
            "status": without_folder(status.as_dict()),
            "history": {**shown, **first_lines},
            "tickets": tickets,
        }
        period = status.period.number if status.period else 0
        # the status is read first: with what came since, the next picture is another one
        return _ViewVersion(
            (status.entries, status.overdue, len(status.alarms), period, status.status),
            compact(facts),
        )


class LiveViews:
    """The pictures of all campaigns of a storage. However many look, each campaign is read at most
    every half second. It is locked only to leave a checkpoint, once in many thousand entries.
    """

    def __init__(self, storage: Storage) -> None:
        self.storage = storage
        self._viewers: Counter[str | None] = Counter()  # by the names of their tokens
        self.closed = False
        self._views: OrderedDict[str, _LiveView] = OrderedDict()
        self._lock = threading.Lock()
        self._threads = anyio.CapacityLimiter(_THREADS)

    @property
    def viewers(self) -> int:
        """The number of streams."""
        return self._viewers.total()

    def is_full(self, sender: str | None) -> bool:
        """Return whether there is no room for one more viewer with a token; None: without one."""
        of_one = 0 if sender is None else self._viewers[sender]
        return self.viewers >= VIEWER_LIMIT or of_one >= TOKEN_VIEWER_LIMIT

    def version(self, name: str, span: Span = ALL) -> _ViewVersion:
        """Return the picture of a campaign. One that another replaced is `NotFound` once, and the
        next call opens the other.
        """
        try:
            return self._view(name).version(span)
        except NotFound:
            with self._lock:
                self._views.pop(name, None)
            raise

    def _view(self, name: str) -> _LiveView:
        with self._lock:
            if name in self._views:
                self._views.move_to_end(name)
                return self._views[name]
        opened = _LiveView(Campaign.open(name, storage=self.storage))
        with self._lock:
            view = self._views.setdefault(name, opened)
            if len(self._views) > _VIEW_LIMIT:
                self._views.popitem(last=False)
            return view

    def summary(self, status: Status) -> dict[str, Any] | None:
        """Return the facts of a campaign for a list; None if its history is not in memory."""
        with self._lock:
            view = self._views.get(status.name)
        return None if view is None else view.summary(status)

    async def look(self, name: str, span: Span = ALL) -> _ViewVersion:
        """Return the picture of a campaign, read in another thread."""
        return await self.read(lambda: self.version(name, span))

    async def read(self, work: Callable[[], _Result]) -> _Result:
        """Run a function that reads the storage in a worker thread."""
        return await run_sync(work, limiter=self._threads)

    def close(self) -> None:
        """End all streams within a second, so that a server that stops has no one to wait for."""
        self.closed = True

    async def events(
        self,
        name: str,
        may_look: Callable[[], bool] = lambda: True,
        span: Span = ALL,
        sender: str | None = None,
    ) -> AsyncIterator[str]:
        """Yield what is sent to one viewer. It ends if the storage does not answer, if `may_look`
        says no, or if there are too many viewers: the next request is told why.
        """
        version, quiet = None, 0
        if self.is_full(sender):
            return
        self._viewers[sender] += 1
        try:
            for _ in range(_LONGEST):
                try:
                    if not may_look():
                        return
                    latest = await self.look(name, span)
                except (PurseError, ProblemError):
                    return
                quiet += 1
                if latest.version != version:
                    version, quiet = latest.version, 0
                    yield f"id: {latest.version[0]}\nevent: picture\ndata: {latest.body}\n\n"
                elif quiet >= _HEARTBEAT:
                    quiet = 0
                    yield ": still here\n\n"
                if self.closed:
                    return
                await anyio.sleep(_BEAT)
        finally:
            self._viewers[sender] -= 1
            self._viewers += Counter()  # without those that have left


class Overview:
    """All campaigns of a storage, for the first page; read at most every half second, and for at
    most a quarter of the time.
    """

    def __init__(self, budgets: Budgets, views: LiveViews, storage: str | Storage) -> None:
        self.budgets, self.views = budgets, views
        self.storage = absolute(address_shown(storage))
        self._lock = threading.Lock()
        self._stale_at, self._latest = 0.0, dict[str, Any]()

    def facts(self, reach: Reach | None = None) -> dict[str, Any]:
        """Return the status of each campaign that is reached, with a summary if its history is in
        memory, and of the accounts that are below no other of these.
        """
        with self._lock:
            if (begun := time.monotonic()) >= self._stale_at:
                self._latest = self._take()
                taken = time.monotonic()
                self._stale_at = taken + max(_FRESH, 3 * (taken - begun))
            latest = self._latest
        campaigns, accounts = latest["campaigns"], latest["accounts"]
        if reach is not None:
            names = reach.names()
            campaigns = [
                {**row, "status": reach.shown(row["status"])}
                for row in campaigns
                if row["status"]["name"] in names
            ]
            accounts = [reach.shown(account) for account in accounts if account["name"] in names]
        tops = [account for account in accounts if not account["account"]]
        return {**latest, "campaigns": campaigns, "accounts": tops}

    def _take(self) -> dict[str, Any]:
        levels, now = self.budgets.read(), self.budgets.storage.now() / 1000
        rows = [
            {"status": without_folder(status.as_dict()), "summary": self.views.summary(status)}
            for status in levels.campaigns()
        ]
        accounts = [status.as_dict() for status in levels.accounts()]
        return {"now": now, "version": __version__, "campaigns": rows, "accounts": accounts}


def _answers(
    history: History, head: Head, status: Status, projections: Sequence[Mapping[str, float] | None]
) -> dict[str, Any]:
    """Return the first lines of a campaign's page: its answer, the worth of a request, its
    certificate.

    head          as it is stored
    projections   when each resource runs out at this speed
    """
    name, options = spec.parse(history.level.policy[0])
    if name == _BEST_ARM:  # which does not try to gain: nothing is certified
        answer = _recommended_arm(history, options)
        answer = answer or _runs_out(status, projections)
        return {"answer": answer, "worth": history.worth, "certificate": None}
    certificate = certificate_of(history, CONFIDENCE)
    return {
        "answer": _runs_out(status, projections),
        "worth": history.worth,
        "certificate": {
            "share": certificate.share,
            "confidence": certificate.confidence,
            "reason": certificate.notes[0] if certificate.share is None else "",
        },
    }


def _recommended_arm(history: History, options: Mapping[str, Any]) -> str:
    """Return which arm is best, for a campaign of the policy that finds it; "" before a report.

    options   of the policy
    """
    question = {"cap": None, "confidence": CONFIDENCE, "within": 0.0}
    question |= {option: options[option] for option in _OPTIONS if option in options}
    by = str(options.get("by", REWARD))
    best = recommendation_of(history.level, history.arm_sums(), by, None, **question)
    if best.arm is None:
        return best.answer
    if best.certain:
        return f"{best.arm} is best {best.question}, {best.sureness} sure"
    return (
        f"{best.arm} leads {best.question}, {best.sureness} sure"
        if best.confidence >= 0.001
        else ""
    )


def _runs_out(status: Status, projections: Sequence[Mapping[str, float] | None]) -> str:
    """Return when the first resource runs out at this speed; "" if none does."""
    ends = [
        (projection["at"], purse.resource)
        for purse, projection in zip(status.purses, projections, strict=True)
        if projection is not None
    ]
    if not ends:
        return ""
    at, resource = min(ends)
    limit = status.period.ends_at if status.period else status.until
    if limit is not None and at > limit:
        which = "this period" if status.period else "the campaign"
        return f"at this speed {resource} lasts longer than {which}"
    return f"at this speed {resource} lasts until {write_time(at, status.time_zone)}"
