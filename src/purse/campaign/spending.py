"""`with campaign.spending() as call:` asks before the block and reports after it. For
`AsyncCampaign` it is `async with`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

from purse.errors import Conflict, TicketError

if TYPE_CHECKING:
    from purse.campaign.api import kinds
    from purse.campaign.api.results import CampaignTicket, Receipt


_Note = tuple[Callable[..., Any] | None, tuple[Any, ...]]  # a verb and its values


class Call:
    """One ticket, from ask to report; the last note counts.

    ticket    what `ask` returned
    receipt   the answer to the report; None until the block has ended, and without a report
    """

    ticket: CampaignTicket

    def __init__(self, campaign: Any, request_id: str | None, **wishes: Any) -> None:
        self._campaign = campaign
        self._request, self._wishes = request_id, wishes
        self._note: _Note | None = None
        self.receipt: Receipt | None = None

    @property
    def arm(self) -> str:
        """The arm to pull. Raise `TicketError` if the round passes without a pull."""
        return self.ticket.arm

    def tell(self, reward: kinds.Reward, cost: kinds.Amounts) -> None:
        """Note the reward and the cost, as `Campaign.tell` takes them."""
        self._note = self._campaign.tell, (reward, cost)

    def settle(self, cost: kinds.Amounts) -> None:
        """Note the cost; the reward comes later, by `Campaign.reward(call.ticket, reward)`."""
        self._note = self._campaign.settle, (cost,)

    def fail(
        self, cost: kinds.Amounts | None = None, reason: str = "", rest: float | None = None
    ) -> None:
        """Note that the call did not work, as `Campaign.fail` takes it."""
        self._note = self._campaign.fail, (cost, reason, rest)

    @contextmanager
    def _reporting(self, error: BaseException | None) -> Iterator[_Note]:
        """Yield the verb and its values; no verb if nothing is known of the cost. After a failure
        without a note, errors hide that say that the caller has reported already.
        """
        if self._note is not None or error is None:
            yield self._note or (None, ())
            return
        fails = self._campaign.fail, (None, reason_of(error))
        with suppress(Conflict, TicketError):
            yield fails if isinstance(error, Exception) else (None, ())


def reason_of(error: BaseException | None) -> str:
    """Return the reason of a failure, for people."""
    return f"{type(error).__name__}: {error}"


class Spending(Call):
    """A call by a campaign whose verbs block, for `with`."""

    def __enter__(self) -> Self:
        self.ticket = self._campaign.ask(self._request, **self._wishes)
        return self

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        with self._reporting(error) as (verb, values):
            if verb is not None:
                self.receipt = verb(self.ticket, *values)


class AsyncSpending(Call):
    """A call by a campaign whose verbs are awaited, for `async with`."""

    async def __aenter__(self) -> Self:
        self.ticket = await self._campaign.ask(self._request, **self._wishes)
        return self

    async def __aexit__(self, _: object, error: BaseException | None, __: object) -> None:
        with self._reporting(error) as (verb, values):
            if verb is not None:
                self.receipt = await verb(self.ticket, *values)


C = TypeVar("C", bound=Call)


class SpendingVerb(Generic[C]):
    """The verb of those who make one call after another."""

    _call: type[C]

    def spending(
        self,
        request_id: str | None = None,
        *,
        arms: Sequence[str] | Mapping[str, Any] | None = None,
        context: Any = None,
        labels: Mapping[str, str] | None = None,
        session: str | None = None,
    ) -> C:
        """Return a context manager that asks for a ticket and reports how its call ended.

        request_id, arms, context, labels, session   as for `ask`

        Use it with `with`, that of an `AsyncCampaign` with `async with`, once. Inside, `ticket` and
        `arm` say what to call; `tell(reward, cost)`, `settle(cost)` or `fail(cost, reason, rest)`
        note what is reported at the end of the block. Without such a note:

        - an `Exception` that leaves the block is reported as a failure, and the arm cools down;
        - a clean end, a cancelled task and Ctrl-C are not reported;
        - the cost is unknown each time, as the call may be billed: the hold stays until it expires,
          and then counts as spent at its maximum until a report comes.

        `fail(cost=0)` is for a call that is known to be free: refused, not sent, an error status.
        Exceptions leave the block as they are. Raise what `ask` and the verb noted raise.
        """
        return self._call(
            self, request_id, arms=arms, context=context, labels=labels, session=session
        )
