"""Which share of the best a campaign has earned for certain."""

import re
from typing import Any

import pytest

from purse import Campaign, InvalidInput
from purse.campaign.views.history import History
from purse.identification.certify import most_gain
from tests.support import storages
from tests.support.campaigns import made, refusal, spend
from tests.support.storages import StorageHarness

COST = "0.1"
KNOWN: dict[str, Any] = {"arms": {"red": "0.8", "green": COST}, "cost_min": ["0.8", COST]}


@pytest.fixture(autouse=True)
def masks_as_choices(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Masks choose the arms of these tests: they count as choices of the policy."""
    if "masks" not in request.node.name:
        monkeypatch.setattr(History, "_count_mask", lambda *_: None)


def busy(harness: StorageHarness | None = None, **changes: Any) -> Any:
    """A campaign with 200 pulls of green and 20 of red, which is worse."""
    campaign = made(harness, **{"budget": 1000, "cooldown": None, **KNOWN, **changes})
    spend(campaign, "green", [1, 1, 1, 1, 0] * 40, COST)
    spend(campaign, "red", [1, 0, 0, 0] * 5, "0.8")
    return campaign


@pytest.mark.parametrize("horizon", [None, 1_000])
def test_the_share_is_of_what_was_paid_so_far(horizon: int | None) -> None:
    campaign = busy(horizon=horizon)
    ranges = [[(0.8, 0.8)], [(0.1, 0.1)]]
    for confidence in (0.95, 0.5):
        most = most_gain(
            [20, 200],
            [5, 160],
            [[16], [20]],
            paid=[36],
            cost_squares=[20 * 0.64, 200 * 0.01],
            rounds=None if horizon is None else 220,
            cost_ranges=ranges,
            confidence=confidence,
        )
        found = campaign.certificate(confidence)
        assert (found.most, found.gain) == (pytest.approx(most), 165)
        assert found.share == pytest.approx(165 / most)
    campaign.ask()  # held, not paid
    again = campaign.certificate(0.5)
    assert again.most == pytest.approx(most * (221 / 220 if again.most > found.most else 1))
    assert "of what the best way to spend this money could have brought" in str(found)


def test_money_without_a_reward_counts_for_the_best_way_alone() -> None:
    harness = storages.MemoryHarness()
    campaign = busy(harness, expires_after=60)
    before = campaign.certificate()
    campaign.fail(campaign.ask(arms=["red"]), "0.8", "503")
    campaign.ask(arms=["red"])
    harness.clock += 61_000
    assert campaign.expire() == 1  # presumed spent
    after = campaign.certificate()
    assert after.most == pytest.approx(before.most * 37.6 / 36)
    assert after.share == pytest.approx(before.share * 36 / 37.6)
    assert after.notes[1].startswith("2 calls without a reward")


def test_retired_arms_are_left_out_and_new_ones_may_be_better() -> None:
    campaign = busy(capacity=3)
    before = campaign.certificate()
    campaign.add_arm("blue", cost_max="0.8")
    widest = campaign.certificate()
    assert widest.most == pytest.approx(36 / 0.1)  # a reward of 1 at the least cost
    campaign.retire_arm("blue")
    assert campaign.certificate() == before
    spend(campaign, "red", [1], "0.8")
    campaign.retire_arm("red")
    assert campaign.certificate().gain == before.gain + 1


def test_masks_that_leave_out_an_arm_silence_it() -> None:
    campaign = made(budget=100)
    campaign.tell(campaign.ask(arms=["red", "green"]), 1, "0.5")
    assert campaign.certificate().share > 0
    campaign.tell(campaign.ask(arms=["red"]), 1, "0.5")
    found = campaign.certificate()
    assert found.notes == ("1 ask allowed only some arms: masks decide what is best, too",)
    assert found.share is None


@pytest.mark.parametrize("policy", ["replan", "uniform"])
def test_a_change_makes_it_void_whatever_the_policy(policy: str) -> None:
    campaign = made(budget=100_000, policy=policy, arms={"red": 1, "green": 1}, cost_min=1)
    change, found = 300, 0
    while found == 0 or campaign.certificate().share is not None:
        assert found < 700
        ticket = campaign.ask()
        good = "red" if ticket.t <= change else "green"
        campaign.tell(ticket, float(ticket.arm == good), 1)
        found = ticket.t
    assert found > change
    (note,) = campaign.certificate().notes
    word, named, since = re.findall(r"(void) since (round) (\d+)", note)[0]
    assert (word, named) == ("void", "round")
    assert change < int(since) <= found
    assert note.endswith(": rewards or costs of an arm changed")
    reopened = Campaign.open("test", storage=campaign.storage)
    assert reopened.certificate().notes == (note,)
    assert campaign.audit(full=True).ok


def test_where_nothing_is_claimed_a_line_says_why() -> None:
    def line(campaign: Any) -> str:
        found = campaign.certificate()
        (note,) = found.notes
        assert (found.share, found.most) == (None, None)
        assert str(found) == f"nothing is certified\n  ! {note}"
        return str(note)

    assert line(made(budget=10)) == "nothing was paid so far, or nothing can be gained"
    waiting = busy(reward_within=60, missing_reward=0)
    ticket = waiting.ask()
    waiting.settle(ticket, COST)
    assert line(waiting).startswith("1 pull with a known cost and no reward so far")
    waiting.tell(ticket, 1, COST)
    assert waiting.certificate().share > 0.5
    over = busy(budget=100)
    over.tell(over.ask(arms=["red"]), 0, "0.9")
    assert line(over) == "1 report cost more than was held: bounds on costs do not hold"
    outside = busy(reward_range=(0, 2))
    outside.tell(outside.ask(arms=["green"]), 3, COST)
    assert line(outside) == "1 reward outside reward_range: bounds on rewards do not hold"
    assert line(made(budget=10, features=2)).startswith("contexts decide")
    message = refusal(InvalidInput, made(budget=10).certificate, 95)
    assert message == "confidence=95: must be above 0 and below 1; 95% is 0.95"
