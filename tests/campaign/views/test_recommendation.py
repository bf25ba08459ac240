"""Which arm of a campaign is best."""

import os
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import pytest

from purse import Campaign, InvalidInput
from purse.campaign.views.arm_stats import ArmSums
from purse.campaign.views.history import History
from purse.identification.recommend import recommend
from purse.identification.recommendation import Recommendation
from tests.support import storages
from tests.support.campaigns import made, refusal, spend
from tests.support.storages import StorageHarness

BETTER = "0.1"  # what green costs; red costs 0.8


def busy(harness: StorageHarness | None = None, **changes: Any) -> Any:
    """A campaign that knows that green is better: 60 pulls of each arm."""
    campaign = made(harness, **{"budget": 1000, "cooldown": None, **changes})
    spend(campaign, "green", [1, 1, 1, 1, 0] * 12, BETTER)
    spend(campaign, "red", [1, 0, 0, 0, 0] * 12, "0.8")
    return campaign


def verdicts(found: Recommendation) -> dict[str, str]:
    return {each.arm: each.verdict for each in found.arms}


def test_the_answer_is_that_of_the_sums_of_the_journal() -> None:
    campaign = busy()
    questions: list[dict[str, Any]] = [
        {},
        {"by": "ratio"},
        {"cap": 0.5},
        {"confidence": 0.5, "within": 0.1},
    ]
    for question in questions:
        sums = [60, 60], [12, 48], [48, 6]
        expected = recommend(["red", "green"], *sums, cost_min=0.1, resource="units", **question)
        found = campaign.recommend(**question)
        assert found.as_dict() == pytest.approx(expected.as_dict())
        assert (found.arm, found.certain, found.notes) == ("green", True, ())
    assert verdicts(campaign.recommend(cap="0.5")) == {"red": "above the cap", "green": "best"}


def test_it_may_be_asked_again_and_again_and_follows_the_journal() -> None:
    harness = storages.MemoryHarness()
    campaign, other = made(harness, budget=100), harness.open("test")
    assert campaign.recommend().arm is None
    before = 0.0
    for round_ in range(1, 13):
        spend(other, "green", [1], BETTER)  # somewhere else
        spend(campaign, "red", [0], BETTER)
        found = campaign.recommend()
        assert [each.pulls for each in found.arms] == [round_, round_]
        assert found.confidence >= before
        before = found.confidence
    assert before > 0.95
    assert harness.open("test").recommend() == found


def test_known_costs_need_no_bounds() -> None:
    campaign = busy(arms={"red": "0.8", "green": BETTER}, cost_min=["0.8", BETTER])
    found = campaign.recommend("ratio")
    assert [(each.cost.low, each.cost.high) for each in found.arms] == [(0.8, 0.8), (0.1, 0.1)]
    spend(campaign, "red", [0], "0.5")  # so the cost was not known
    low = campaign.recommend("ratio").arms[0].cost.low
    assert low is not None
    assert low < 0.79


def test_a_ceiling_covers_what_an_arm_ever_cost() -> None:
    campaign = busy(cost_ceiling=2)
    wide = campaign.recommend("ratio").arms[0].cost
    campaign.set_arm("red", cost_max="0.9")
    assert campaign.recommend("ratio").arms[0].cost == wide
    assert wide == recommend(
        ["red", "green"], [60, 60], [12, 48], [48, 6], by="ratio", cost_min=0.1, cost_max=2
    ).arms[0].cost  # fmt: skip


def test_rewards_are_taken_in_their_range() -> None:
    campaign = made(budget=100, reward_range=(0, 20))
    spend(campaign, "green", [20] * 20, BETTER)
    spend(campaign, "red", [1] * 20, BETTER)
    found = campaign.recommend()
    assert (found.arm, found.arms[1].reward.mean, found.arms[1].reward.high) == ("green", 20, 20)
    spend(campaign, "green", [25], BETTER)
    (note,) = campaign.recommend().notes
    assert note == "1 reward outside reward_range: the bounds on rewards do not hold"


def test_what_the_answer_leaves_out_is_said() -> None:
    harness = storages.MemoryHarness()
    campaign = busy(harness, reward_within=60, missing_reward=0, expires_after=60)
    campaign.fail(campaign.ask(arms=["red"]), "0.5", "503")
    campaign.settle(campaign.ask(arms=["red"]), "0.5")
    campaign.ask()
    assert campaign.recommend().notes == (
        "1 call failed: the answer is about calls that worked",
        "not counted yet: 1 pull with a known cost and no reward so far",
    )
    harness.clock += 61_000
    campaign.tell(campaign.ask(arms=["red"]), 0, "1.5")
    campaign.tell(campaign.ask(arms=["red"]), 0, "0.01")
    found = campaign.recommend("ratio")
    assert found.notes == (
        "1 call failed: the answer is about calls that worked",
        "not counted: 1 ticket without a report",
        "1 report cost more than was held: the bounds take it that none costs more than the most "
        "so far",
        "1 report cost less than cost_min: the bounds assume a least cost of 0",
    )
    assert [each.pulls for each in found.arms] == [63, 60]
    assert "! 1 call failed" in str(found)


def test_retired_arms_are_not_recommended_and_still_share_the_error() -> None:
    campaign = busy(capacity=3)
    one = campaign.recommend()
    campaign.add_arm("blue")
    new = campaign.recommend()
    assert (new.arm, new.certain, verdicts(new)["blue"]) == ("green", False, "not tried")
    campaign.retire_arm("blue")
    again = campaign.recommend()
    assert again.confidence == one.confidence  # the error is shared among three places
    assert again.notes == ("not among them, because retired: blue",)
    campaign.retire_arm("green")
    assert campaign.recommend().arm == "red"


def test_costs_of_another_resource() -> None:
    campaign = made(
        budget=[100, 1000],
        resources=["USD", "tokens"],
        cost_min="0.1",
        arms={"red": [1, 10], "green": [1, 10]},
    )
    units = 10**9
    sums = {
        "red": ArmSums(40, 0, 0, 20.0, (36 * units, 40 * units)),
        "green": ArmSums(40, 0, 0, 20.0, (8 * units, 320 * units)),
    }
    vars(campaign._local)["history"] = SimpleNamespace(look=lambda _: sums)
    money, tokens = campaign.recommend("ratio"), campaign.recommend("ratio", resource="tokens")
    assert (money.arm, money.resource) == ("green", "USD")
    assert (tokens.arm, tokens.resource, tokens.arms[1].cost.mean) == ("red", "tokens", 8)
    assert refusal(InvalidInput, campaign.recommend, resource="EUR") == (
        "resource='EUR': must be one of 'USD', 'tokens'"
    )


def test_arms_that_were_chosen_by_the_context_are_not_compared() -> None:
    terms = {"features": ["length"], "budget": 100}
    blind = made(**terms)
    blind.tell(blind.ask(context=[0.5]), 1, BETTER)
    assert blind.recommend().arm is not None
    message = refusal(InvalidInput, made(**terms, policy="lin-ucb.price").recommend)
    assert message.startswith("campaign 'test': lin-ucb.price chooses arms by the context")


def test_threads_that_ask_at_once_get_the_same_answer() -> None:
    campaign = busy()
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda _: campaign.recommend(), range(8)))
    assert all(answer == found[0] for answer in found)


def test_a_child_process_can_ask_though_a_thread_of_the_parent_was_asking(
    make_harness: Any,
) -> None:
    campaign = made(make_harness("sqlite"))
    spend(campaign, "green", [1], BETTER)
    campaign.recommend()
    assert isinstance(campaign, Campaign)
    with campaign._local.history._lock:  # as if another thread were reading
        child = os.fork()
        if child == 0:  # pragma: no cover - in another process
            os._exit(0 if campaign.recommend().arm == "green" else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_an_arm_that_the_terms_have_no_place_for_is_counted() -> None:
    campaign = busy()
    campaign.recommend()
    campaign.add_arm("blue", cost_max="0.8")
    spend(campaign, "blue", [1] * 9, "0.5")
    assert {each.arm for each in campaign.recommend().arms} == {"green", "red", "blue"}
    history = campaign._local.history.look(lambda history: history)
    again = History.from_json(history.terms, history.to_json())
    assert again.to_json() == history.to_json()
    spend(campaign, "blue", [1], "0.5")
    assert campaign._local.history.look(lambda history: history.drifted) == 0
