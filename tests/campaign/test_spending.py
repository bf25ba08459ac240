"""`with campaign.spending()`: what is reported at the end of the block."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from purse import BudgetExhausted, Conflict, InvalidInput
from purse.campaign.spending import SpendingVerb
from tests.support.campaigns import counts, made, purse, refusal
from tests.support.loops import in_loop


class AsyncVerbs(SpendingVerb):
    """A campaign whose verbs are coroutines."""

    def __init__(self, campaign: Any) -> None:
        self.campaign = campaign

    async def ask(self, *given: Any, **named: Any) -> Any:
        await asyncio.sleep(0)
        return self.campaign.ask(*given, **named)

    async def tell(self, *given: Any) -> Any:
        return self.campaign.tell(*given)

    async def settle(self, *given: Any) -> Any:
        return self.campaign.settle(*given)

    async def fail(self, *given: Any) -> Any:
        return self.campaign.fail(*given)

    async def void(self, *given: Any) -> Any:
        return self.campaign.void(*given)


@pytest.fixture(params=["with", "async with", "coroutines"])
def spend(request: pytest.FixtureRequest) -> Any:
    """Runs a block `body(call)` in each kind of context."""
    kind: str = request.param

    def run(campaign: Any, body: Any, *given: Any, **named: Any) -> Any:
        if kind == "with":
            with campaign.spending(*given, **named) as call:
                body(call)
            return call
        verbs = campaign if kind == "async with" else AsyncVerbs(campaign)

        async def block() -> Any:
            async with verbs.spending(*given, **named) as call:
                body(call)
            return call

        return in_loop(block())

    return run


def test_a_report_is_made_at_the_end_of_the_block(spend: Any) -> None:
    campaign = made()

    def tells(call: Any) -> None:
        assert (call.ticket.id, call.arm) == (1, "green")
        assert (call.ticket.held, call.receipt) == (("0.5",), None)
        call.settle("0.1")
        call.tell(1.0, "0.2")  # the last note counts

    call = spend(campaign, tells, "row-1", arms={"green": "0.5"})
    assert (call.receipt.state, call.receipt.spent) == ("told", ("0.2",))
    assert call.ticket.request_id == "row-1"
    spend(campaign, lambda call: call.settle("0.3"))
    spend(campaign, lambda call: call.fail("0.1", "an empty answer"))
    assert counts(campaign) == {"tickets": 3, "told": 1, "settled": 1, "failed": 1}
    assert purse(campaign) == ("0.6", "0", "0", "9.4", "0")


def test_without_a_cost_the_hold_stays(spend: Any) -> None:
    campaign = made()
    assert spend(campaign, lambda call: None).receipt is None
    assert purse(campaign)[1] == "1"


def test_an_exception_is_a_failure_that_cost_nothing(spend: Any) -> None:
    campaign = made(cooldown=None)

    def breaks(call: Any) -> None:
        raise ConnectionError("no such host")

    def breaks_later(call: Any) -> None:
        call.settle("0.3")
        raise ConnectionError("no such host")

    def reported(call: Any) -> None:
        campaign.settle(call.ticket, "0.2")
        raise ConnectionError("no such host")

    for body in (breaks, breaks_later, reported):
        with pytest.raises(ConnectionError, match="no such host"):
            spend(campaign, body)
    # who reports by the campaign, and not by the call, reports twice: the first report stands
    assert counts(campaign) == {"tickets": 3, "failed": 1, "settled": 2, "conflicts": 1}
    assert purse(campaign)[:2] == ("0.5", "0")
    (entry,) = [each for each in campaign.journal() if each.kind == "failed"]
    assert entry.body["reason"] == "ConnectionError: no such host"


def test_what_may_be_billed_stays_held(spend: Any) -> None:
    campaign = made()

    def stopped(call: Any) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        spend(campaign, stopped)
    assert counts(campaign) == {"tickets": 1, "held": 1}


def test_refusals_leave_the_block(spend: Any) -> None:
    campaign = made(budget="1.5")
    refusal(InvalidInput, spend, campaign, lambda call: call.tell(1.0, "-1"))
    assert counts(campaign)["held"] == 1
    refusal(BudgetExhausted, spend, made(budget="0.5"), lambda call: None)
    campaign.tell(1, 1.0, "0.1")
    again = made(budget="1.5")
    spend(again, lambda call: call.tell(1.0, "0.1"), "same")
    refusal(Conflict, spend, again, lambda call: call.tell(0.0, "0.1"), "same")


def test_a_cancelled_ask_holds_nothing() -> None:
    for kind in (lambda campaign: campaign, AsyncVerbs):
        campaign = made()

        async def cancelled(campaign: Any = campaign, kind: Any = kind) -> None:
            async def block() -> None:
                async with kind(campaign).spending():
                    raise AssertionError("it was cancelled before")

            task = asyncio.ensure_future(block())
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

        in_loop(cancelled())
        assert counts(campaign).get("held", 0) == 0
