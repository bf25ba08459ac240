"""`with campaign.spending()`: what is reported at the end of the block."""

import asyncio
import threading
from typing import Any

import pytest

from purse import AsyncCampaign, BudgetExhausted, Campaign, Conflict, InvalidInput
from tests.support.campaigns import balance, counts, made, refusal
from tests.support.processes import in_loop


@pytest.fixture(params=["with", "async with"])
def spend(request: pytest.FixtureRequest) -> Any:
    """Runs a block `body(call)` in each kind of context."""
    kind: str = request.param

    def run(campaign: Any, body: Any, *given: Any, **named: Any) -> Any:
        if kind == "with":
            with campaign.spending(*given, **named) as call:
                body(call)
            return call

        async def block() -> Any:
            async with AsyncCampaign(campaign).spending(*given, **named) as call:
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
    assert balance(campaign) == ("0.6", "0", "0", "9.4", "0")


def test_without_a_cost_the_hold_stays(spend: Any) -> None:
    campaign = made()
    assert spend(campaign, lambda call: None).receipt is None
    assert balance(campaign)[1] == "1"


def test_an_exception_is_a_failure_and_its_hold_stays(spend: Any) -> None:
    campaign = made(cooldown=None)

    def breaks(call: Any) -> None:
        raise ConnectionError("no such host")

    def breaks_for_nothing(call: Any) -> None:
        call.fail(cost=0, reason="no such host")
        raise ConnectionError("no such host")

    def breaks_later(call: Any) -> None:
        call.settle("0.3")
        raise ConnectionError("no such host")

    def reported(call: Any) -> None:
        campaign.settle(call.ticket, "0.2")
        raise ConnectionError("no such host")

    for body in (breaks, breaks_later, reported, breaks_for_nothing):
        with pytest.raises(ConnectionError, match="no such host"):
            spend(campaign, body)
    # who reports by the campaign, and not by the call, reports twice: the first report stands
    expected = {"tickets": 4, "held": 1, "failed": 1, "settled": 2, "conflicts": 1}
    assert counts(campaign) == expected
    assert balance(campaign)[:2] == ("0.5", "1")
    reasons = [
        (each.kind, each.body["reason"]) for each in campaign.journal() if "reason" in each.body
    ]
    assert reasons == [("broken", "ConnectionError: no such host"), ("failed", "no such host")]
    assert campaign.audit(full=True).ok


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


def test_a_cancelled_ask_holds_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    campaign, begun, go_on, real = made(), threading.Event(), threading.Event(), Campaign._ask

    def slow(*given: Any, **named: Any) -> Any:
        begun.set()
        assert go_on.wait(30)
        return real(*given, **named)

    monkeypatch.setattr(Campaign, "_ask", slow)

    async def cancelled() -> None:
        async def block() -> None:
            async with AsyncCampaign(campaign).spending():
                raise AssertionError("it was cancelled before")

        task = asyncio.ensure_future(block())
        assert await asyncio.to_thread(begun.wait, 30)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        go_on.set()
        while not counts(campaign).get("void"):
            await asyncio.sleep(0.001)

    in_loop(asyncio.wait_for(cancelled(), 30))
    assert counts(campaign) == {"tickets": 1, "void": 1}


def test_each_class_has_its_own_kind_of_block() -> None:
    """The other kind is an error before anything is asked for."""
    campaign = made()

    async def wrong() -> None:
        async with campaign.spending():  # type: ignore[attr-defined]
            pass

    with pytest.raises(TypeError, match="asynchronous context manager"):
        in_loop(wrong())
    blocks: Any = AsyncCampaign(campaign).spending()
    with pytest.raises(TypeError, match="context manager"), blocks:
        pass
    assert counts(campaign) == {}
