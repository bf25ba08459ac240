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

_MOST = 64  # calls at once in a process; more of them wait
B = TypeVar("B", bound=Budget[Any])
B_co = TypeVar("B_co", bound=Budget[Any], covariant=True)
A = TypeVar("A")
P = ParamSpec("P")
R = TypeVar("R")


_threads = ThreadPoolExecutor(_MOST, "purse-async")


def _renew() -> None:
    """Begin without threads: a child of `fork` has none of its parent's."""
    global _threads
    _threads = ThreadPoolExecutor(_MOST, "purse-async")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew)


async def in_thread(
    call: Callable[[], R], undo: Callable[[R], object] | None = None, *, is_report: bool = False
) -> R:
    """Run a call in a thread and return its result. A call that has not begun when it is cancelled
    never begins, unless it is a report; one that has begun goes on, and `undo` is called in a
    thread with its result. The end of a program waits for both.
    """
    work: Future[R] = _threads.submit(call)
    waiting = asyncio.wrap_future(work)
    try:
        return await (asyncio.shield(waiting) if is_report else waiting)
    except asyncio.CancelledError:
        if undo is not None and work.done():
            _threads.submit(_undone, undo, work)
        elif undo is not None:
            work.add_done_callback(partial(_undone, undo))
        raise


def _undone(undo: Callable[[R], object], work: Future[R]) -> None:
    """Undo what a cancelled call has done."""
    if not work.cancelled() and work.exception() is None:
        undo(work.result())


def _awaited(
    verb: Callable[Concatenate[B, P], R],
    undo: Callable[[B, R], object] | None = None,
    *,
    is_report: bool = False,
) -> Callable[Concatenate[_AsyncBudget[B], P], Coroutine[Any, Any, R]]:
    """Return a method that is awaited, from one that blocks. `undo` is for a cancelled request
    without a name: there is no way to ask for its result again.
    """
    signature = inspect.signature(verb)

    @wraps(verb)
    async def method(self: _AsyncBudget[B], /, *args: P.args, **kwargs: P.kwargs) -> R:
        call, back = partial(verb, self.blocking, *args, **kwargs), None
        if undo is not None and not signature.bind(None, *args, **kwargs).arguments.get(
            "request_id"
        ):
            back = partial(undo, self.blocking)
        return await in_thread(call, back, is_report=is_report)

    return method


def _awaited_maker(
    make: Callable[P, R], kind: Callable[[R], A]
) -> staticmethod[P, Coroutine[Any, Any, A]]:
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


class _AsyncBudget(Generic[B_co]):
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


class AsyncAccount(_AsyncBudget[Account]):
    """`Account`, for coroutines."""

    create = _awaited_maker(Account.create, lambda account: AsyncAccount(account))
    open = _awaited_maker(Account.open, lambda account: AsyncAccount(account))
    names = _awaited_maker(Account.names, list)
    status = _awaited(Account.status)
    top_up = _awaited(Account.top_up)
    set_budget = _awaited(Account.set_budget)
    charge = _awaited(Account.charge)
    pause = _awaited(Account.pause)
    resume = _awaited(Account.resume)
    end = _awaited(Account.end)
    set_alerts = _awaited(Account.set_alerts)
    export = _awaited(Account.export)
    audit = _awaited(Account.audit)


class AsyncCampaign(_AsyncBudget[Campaign], SpendingVerb[AsyncSpending]):
    """`Campaign`, for coroutines.

    `AsyncCampaign(campaign)` has the verbs of a campaign that is open already.

    A cancelled call that has not begun is not made, unless it is a report. One that has begun goes
    on in its thread, and the end of the program waits for it. A cancelled `ask` without a
    `request_id` voids its ticket, so that no hold is left behind; with a `request_id` the same ask
    returns the same ticket later.
    """

    _call = AsyncSpending
    create = _awaited_maker(Campaign.create, lambda campaign: AsyncCampaign(campaign))
    open = _awaited_maker(Campaign.open, lambda campaign: AsyncCampaign(campaign))
    names = _awaited_maker(Campaign.names, list)
    restore = _awaited_maker(Campaign.restore, lambda campaign: AsyncCampaign(campaign))
    status = _awaited(Campaign.status)
    top_up = _awaited(Campaign.top_up)
    set_budget = _awaited(Campaign.set_budget)
    charge = _awaited(Campaign.charge)
    pause = _awaited(Campaign.pause)
    resume = _awaited(Campaign.resume)
    end = _awaited(Campaign.end)
    set_alerts = _awaited(Campaign.set_alerts)
    export = _awaited(Campaign.export)
    audit = _awaited(Campaign.audit)
    ask = _awaited(Campaign.ask, let_go)
    ask_many = _awaited(Campaign.ask_many, let_go)
    probabilities = _awaited(Campaign.probabilities)
    tell = _awaited(Campaign.tell, is_report=True)
    tell_many = _awaited(Campaign.tell_many, is_report=True)
    settle = _awaited(Campaign.settle, is_report=True)
    reward = _awaited(Campaign.reward, is_report=True)
    fail = _awaited(Campaign.fail, is_report=True)
    void = _awaited(Campaign.void, is_report=True)
    expire = _awaited(Campaign.expire)
    add_arm = _awaited(Campaign.add_arm)
    retire_arm = _awaited(Campaign.retire_arm)
    set_arm = _awaited(Campaign.set_arm)
    frame = _awaited(Campaign.frame)
    tickets = _awaited(Campaign.tickets)
    ticket = _awaited(Campaign.ticket)
    labels = _awaited(Campaign.labels)
    set_limit = _awaited(Campaign.set_limit)
    hand_over = _awaited(Campaign.hand_over)
    recommend = _awaited(Campaign.recommend)
    certificate = _awaited(Campaign.certificate)
