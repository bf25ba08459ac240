"""`AsyncCampaign` and `AsyncAccount`: the same methods, each awaited, in threads."""

from __future__ import annotations

import asyncio
import inspect
import os
from collections.abc import AsyncIterator, Callable, Coroutine
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import partial, wraps
from itertools import islice
from typing import Any, Concatenate, Generic, ParamSpec, Self, TypeVar

from purse.campaign.account import Account
from purse.campaign.api.journal import Entry
from purse.campaign.api.results import CampaignTicket
from purse.campaign.budget import PAGE, Budget
from purse.campaign.campaign import Campaign
from purse.campaign.spending import AsyncSpending, SpendingVerb
from purse.errors import PurseError

MOST = 64  # calls at once in a process; more of them wait
B = TypeVar("B", bound=Budget[Any])
B_co = TypeVar("B_co", bound=Budget[Any], covariant=True)
A = TypeVar("A")
P = ParamSpec("P")
R = TypeVar("R")


threads = ThreadPoolExecutor(MOST, "purse-async")


def renew() -> None:
    """Begin without threads: a child of `fork` has none of its parent's."""
    global threads
    threads = ThreadPoolExecutor(MOST, "purse-async")


os.register_at_fork(after_in_child=renew)


async def in_thread(call: Callable[[], R], undo: Callable[[R], object] | None = None) -> R:
    """Return what a call in a thread returns. A call that has not begun when it is cancelled never
    begins; one that has begun goes on, and `undo` is called in a thread with what it returns. The
    end of a program waits for both.
    """
    work: Future[R] = threads.submit(call)
    try:
        return await asyncio.wrap_future(work)
    except asyncio.CancelledError:
        if undo is not None and work.done():
            threads.submit(undone, undo, work)
        elif undo is not None:
            work.add_done_callback(partial(undone, undo))
        raise


def undone(undo: Callable[[R], object], work: Future[R]) -> None:
    """Undo what a cancelled call has done."""
    if not work.cancelled() and work.exception() is None:
        undo(work.result())


def awaited(
    verb: Callable[Concatenate[B, P], R], undo: Callable[[B, R], object] | None = None
) -> Callable[Concatenate[AsyncBudget[B], P], Coroutine[Any, Any, R]]:
    """Return a method that is awaited, from one that blocks. `undo` is for a cancelled request
    without a name: there is no way to ask for its result again.
    """
    signature = inspect.signature(verb)

    @wraps(verb)
    async def method(self: AsyncBudget[B], /, *args: P.args, **kwargs: P.kwargs) -> R:
        call, back = partial(verb, self.blocking, *args, **kwargs), None
        if undo is not None and not signature.bind(None, *args, **kwargs).arguments.get(
            "request_id"
        ):
            back = partial(undo, self.blocking)
        return await in_thread(call, back)

    return method


def made(make: Callable[P, R], kind: Callable[[R], A]) -> staticmethod[P, Coroutine[Any, Any, A]]:
    """Return a class method to be awaited, with `kind` of what it returns."""

    @wraps(make)
    async def method(*args: P.args, **kwargs: P.kwargs) -> A:
        return kind(await in_thread(partial(make, *args, **kwargs)))

    return staticmethod(method)


def let_go(campaign: Campaign, tickets: CampaignTicket | list[CampaignTicket]) -> None:
    """Cancel the tickets of a cancelled ask."""
    for ticket in tickets if isinstance(tickets, list) else [tickets]:
        with suppress(PurseError):
            campaign.void(ticket)


class AsyncBudget(Generic[B_co]):
    """A budget whose verbs are awaited; `blocking` is the one whose verbs block."""

    def __init__(self, blocking: B_co) -> None:
        self.blocking = blocking

    def __repr__(self) -> str:
        return f"<Async{repr(self.blocking)[1:]}"

    @property
    def name(self) -> str:
        """The name of the budget, unique in its storage."""
        return self.blocking.name

    async def journal(self, after: int = 0) -> AsyncIterator[Entry]:
        """Yield the entries of the journal whose number is above `after`, in order."""
        entries = self.blocking.journal(after)
        while page := await in_thread(lambda: list(islice(entries, PAGE))):
            for entry in page:
                yield entry

    async def close(self) -> None:
        """Let go of the connections to a server. A storage stays connected: others may use it."""
        self.blocking.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


class AsyncAccount(AsyncBudget[Account]):
    """`Account`, for coroutines."""

    create = made(Account.create, lambda account: AsyncAccount(account))
    open = made(Account.open, lambda account: AsyncAccount(account))
    names = made(Account.names, list)
    status = awaited(Account.status)
    top_up = awaited(Account.top_up)
    pause = awaited(Account.pause)
    resume = awaited(Account.resume)
    end = awaited(Account.end)
    set_alerts = awaited(Account.set_alerts)
    export = awaited(Account.export)
    audit = awaited(Account.audit)


class AsyncCampaign(AsyncBudget[Campaign], SpendingVerb[AsyncSpending]):
    """`Campaign`, for coroutines.

    `AsyncCampaign(campaign)` has the verbs of a campaign that is open already.

    A cancelled call that has not begun is not made. One that has begun goes on in its thread, and
    the end of the program waits for it. A cancelled `ask` without a `request_id` voids its ticket,
    so that no hold is left behind; with a `request_id` the same ask returns the same ticket later.
    """

    _call = AsyncSpending
    create = made(Campaign.create, lambda campaign: AsyncCampaign(campaign))
    open = made(Campaign.open, lambda campaign: AsyncCampaign(campaign))
    names = made(Campaign.names, list)
    restore = made(Campaign.restore, lambda campaign: AsyncCampaign(campaign))
    status = awaited(Campaign.status)
    top_up = awaited(Campaign.top_up)
    pause = awaited(Campaign.pause)
    resume = awaited(Campaign.resume)
    end = awaited(Campaign.end)
    set_alerts = awaited(Campaign.set_alerts)
    export = awaited(Campaign.export)
    audit = awaited(Campaign.audit)
    ask = awaited(Campaign.ask, let_go)
    ask_many = awaited(Campaign.ask_many, let_go)
    probabilities = awaited(Campaign.probabilities)
    tell = awaited(Campaign.tell)
    tell_many = awaited(Campaign.tell_many)
    settle = awaited(Campaign.settle)
    reward = awaited(Campaign.reward)
    fail = awaited(Campaign.fail)
    void = awaited(Campaign.void)
    expire = awaited(Campaign.expire)
    add_arm = awaited(Campaign.add_arm)
    retire_arm = awaited(Campaign.retire_arm)
    set_arm = awaited(Campaign.set_arm)
    tickets = awaited(Campaign.tickets)
    ticket = awaited(Campaign.ticket)
    labels = awaited(Campaign.labels)
    recommend = awaited(Campaign.recommend)
    certificate = awaited(Campaign.certificate)
