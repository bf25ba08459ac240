"""Arms whose calls fail: how long they are left out, in ms."""

from __future__ import annotations

import pytest

from purse.campaign import asks, cooldown, reports
from purse.campaign.cooldown import LONGEST, CoolDown
from purse.campaign.mask import Mask
from purse.campaign.records import Head
from purse.errors import ArmsCoolingDown
from tests.support.levels import START, Game


def after(*calls: tuple[str, int, int], first: int = 1000) -> Head:
    """Return the head after calls of arm 0: what happened, ticket and time."""
    head = Head(counts={"tickets": 0})
    for what, ticket, now in calls:
        head.counts["tickets"] = max(head.counts["tickets"], ticket)
        match what:
            case "issued":
                cooldown.issued(head, 0, ticket, now)
            case "failed":
                cooldown.failed(head, 0, ticket, now, first)
            case "worked":
                cooldown.succeeded(head, 0, ticket)
            case "void":
                cooldown.ended(head, 0, ticket)
    return head


def test_the_next_failure_doubles_it_up_to_five_minutes() -> None:
    calls, lengths = [], []
    for ticket in range(1, 11):
        calls += [("issued", ticket, ticket), ("failed", ticket, ticket)]
        lengths.append(after(*calls).cooling[0][2])
    assert lengths == [1000 * 2**k for k in range(9)] + [LONGEST]
    assert after(*calls, first=400_000).cooling[0][2] == 400_000  # the first one is longer


def test_a_success_ends_it_and_an_old_ticket_says_nothing() -> None:
    calls = [("issued", 1, 0), ("issued", 2, 0), ("failed", 2, 10)]
    assert after(*calls, ("worked", 1, 20)).cooling == [[0, 10, 1000, 2, 0, 0]]
    assert after(*calls, ("failed", 1, 20)).cooling == [[0, 10, 1000, 2, 0, 0]]
    probe = [*calls, ("issued", 3, 1010)]
    assert after(*probe).cooling == [[0, 10, 1000, 2, 3, 1010]]
    assert after(*probe, ("worked", 3, 1020)).cooling == [[0, 10, 0, 2, 0, 0]]
    assert after(*probe, ("void", 3, 1020)).cooling == [[0, 10, 1000, 2, 0, 0]]
    assert after(*probe, ("failed", 3, 1020)).cooling == [[0, 1020, 2000, 3, 0, 0]]


def test_how_long_an_arm_is_left_out() -> None:
    plain = CoolDown(0, 10_000, 1000, 2)
    assert [plain.wait(now) for now in (10_000, 10_999, 11_000)] == [1000, 1, 0]
    assert plain.wait(9_999) == 0  # a clock that went back makes it no longer
    probed = plain._replace(probe=3, probed=11_000)
    assert probed.wait(11_000) == 1000  # the probe may be back by then
    assert probed.wait(11_000 + LONGEST - 1) == 1
    assert probed.wait(11_000 + LONGEST) == 0  # nobody waits longer for a lost probe
    assert probed._replace(length=0).wait(11_000) == 0


def test_asks_leave_it_out_and_try_it_one_ticket_at_a_time() -> None:
    game, only = Game(budget=100), Mask((0,))
    game.do(reports.fail, game.do(asks.ask, 1, "first", only)[0].id, [0], "429")
    with pytest.raises(ArmsCoolingDown, match=r"calls of 'red' failed.* in 1 s"):
        game.do(asks.ask, 1, "second", only)
    game.do(asks.ask, 1, "any")
    assert game.policy.saw[-1][4] == [1]  # the policy may choose the other one
    game.now = START + 1000
    assert len(game.do(asks.ask, 3, "probe", only)) == 1
    with pytest.raises(ArmsCoolingDown):
        game.do(asks.ask, 1, "another", only)
    assert game.do(asks.foresee, None, None) == [0.5, 0.5]
