"""A policy learns again when an arm costs more than it can know, or when an arm was added."""

import time
from collections.abc import Callable
from io import StringIO
from typing import Any

import orjson
import pytest

from purse import Campaign, InvalidInput
from purse.campaign.run import committer, teacher
from purse.campaign.run.learner import Learner, learn_all, parsed
from purse.policies import replan
from tests.support.campaigns import TERMS, made
from tests.support.storages import MemoryHarness, StorageHarness, balance, without_guards

NOW = replan.VERSION
POLICIES = ("replan", "exp3++.bwk", "uniform", "primal-dual-bwk")


def handed_over(campaign: Any) -> list[int]:
    """The entries with which another policy took over."""
    return [entry.seq for entry in campaign.journal() if entry.kind == "handed_over"]


def taught(campaign: Any) -> list[list[Any]]:
    """What the policy in charge knows of arms that the terms do not say."""
    rows: list[list[Any]] = campaign.storage.level(campaign.name)[-1].head.taught
    return rows


def until(condition: Callable[[], bool]) -> None:
    """Wait for another thread."""
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.fixture
def earlier(shared: StorageHarness, monkeypatch: pytest.MonkeyPatch) -> Campaign:
    """A campaign with a checkpoint and an open ticket, whose policy has the next version by now."""
    monkeypatch.setattr(committer, "CHECKPOINT_EVERY", 8)
    campaign: Campaign = shared.create(
        "c", arms={"a": 1, "b": 1}, budget=100, policy="replan", explore=0.1
    )
    for turn in range(10):
        campaign.tell(campaign.ask(), turn % 2, "0.5")
    campaign.ask()
    monkeypatch.setattr(replan, "VERSION", NOW + 1)
    return Campaign.open("c", storage=shared.place())


@pytest.mark.parametrize("policy", POLICIES)
def test_an_arm_without_a_place_joins_and_is_pulled(policy: str) -> None:
    campaign = made(policy=policy, budget=200, cost_min=None)
    for _ in range(20):
        campaign.tell(campaign.ask(), 0.1, "0.9")
    campaign.add_arm("blue", cost_max="0.5")
    arms = set()
    for _ in range(60):
        ticket = campaign.ask()
        arms.add(ticket.arm)
        campaign.tell(ticket, 1 if ticket.arm == "blue" else 0.1, ticket.held[0])
    assert "blue" in arms
    assert len(handed_over(campaign)) == 1
    assert taught(campaign) == [[2, [1_000_000], [10**9]]]  # the bounds of any other arm
    assert campaign.audit().findings == ()


def test_a_dearer_model_and_a_cheaper_price_need_no_ceiling() -> None:
    campaign = made(budget=100)
    campaign.set_arm("red", cost_max=3)
    assert campaign.ask(arms=["red"]).held == ("3",)
    assert taught(campaign) == [[0, [100_000_000], [4 * 10**9]]]  # 1 doubled until it covers 3
    campaign.set_arm("red", cost_max="0.05")
    assert campaign.ask(arms=["red"]).held == ("0.05",)
    assert taught(campaign) == [[0, [50_000_000], [10**9]]]
    campaign.set_arm("red", cost_min="0.1", cost_max=1)
    campaign.ask()
    assert taught(campaign) == []
    assert len(handed_over(campaign)) == 3
    with pytest.raises(InvalidInput, match="cost_min=2, cost_max=1 units"):
        campaign.set_arm("red", cost_min=2, cost_max=1)
    with pytest.raises(InvalidInput, match="cost_min=0: must be positive"):
        campaign.set_arm("red", cost_min=0)
    assert campaign.audit().findings == ()


def test_what_is_set_back_is_learnt_as_what_is_possible() -> None:
    """100 was typed for 0.10; set back, the policy is the one that was told of the most, 1."""
    wrong, right = made(budget=1000, policy="exp3++.bwk"), made(budget=1000, policy="exp3++.bwk")
    for campaign, cost in ((wrong, 100), (right, 1)):
        for number in range(30):
            ticket = campaign.ask(arms=["red" if number % 2 else "green"])
            campaign.tell(ticket, 0.5, cost if number == 7 else "0.1")
            if number == 20:
                campaign.set_arm("red", cost_max=1)
    assert [wrong.ask().probability for _ in range(5)] == [
        right.ask().probability for _ in range(5)
    ]
    assert wrong.audit().findings == right.audit().findings == ()


def test_a_long_journal_is_learnt_beside_the_asks(
    harness: StorageHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The policy of before plays on until the next one has learnt, in this process and in others;
    then one entry says so.
    """
    monkeypatch.setattr(teacher, "_FEW", 10)
    waits: list[bool] = []
    campaign = made(harness, budget=1000, policy="exp3++.bwk")
    other = Campaign.open("test", storage=harness.storage())
    for _ in range(20):
        campaign.tell(campaign.ask(), 0.5, "0.5")
    other.ask()

    def slowly(*values: Any) -> Learner:
        until(lambda: bool(waits))
        return learn_all(*values)

    monkeypatch.setattr(teacher, "learn_all", slowly)
    campaign.tell(campaign.ask(arms=["red"]), 0.5, 2)
    for each in (campaign, other, campaign):
        assert each.ask(arms=["red"]).held == ("2",)  # the hold is that of the bill at once
    assert handed_over(campaign) == taught(campaign) == []
    waits.append(True)
    until(lambda: bool(campaign.ask() and handed_over(campaign)))
    assert taught(campaign) == [[0, [100_000_000], [2 * 10**9]]]
    for _ in range(3):
        other.ask()
    assert len(handed_over(campaign)) == 1
    again = Campaign.open("test", storage=harness.storage())
    assert again.probabilities() == other.probabilities() == campaign.probabilities()
    assert campaign.audit().findings == ()


def test_an_arm_is_asked_for_once_the_policy_knows_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(teacher, "_FEW", 0)
    go: list[bool] = []

    def slowly(*values: Any) -> Learner:
        until(lambda: bool(go))
        return learn_all(*values)

    monkeypatch.setattr(teacher, "learn_all", slowly)
    campaign = made(MemoryHarness(), budget=100)
    campaign.add_arm("blue", cost_max=1)
    assert {campaign.ask().arm for _ in range(20)} == {"red", "green"}
    with pytest.raises(Exception, match="the policy is learning about these arms: ask again"):
        campaign.ask(arms=["blue"])
    go.append(True)
    until(lambda: bool(campaign.ask() and handed_over(campaign)))
    assert campaign.ask(arms=["blue"]).arm == "blue"
    assert campaign.audit().findings == ()


def test_asks_are_refused_until_the_next_version_takes_over(
    earlier: Campaign, shared: StorageHarness
) -> None:
    other = shared.open("c")
    words = (
        f"campaign 'c' was played by version {NOW} of replan, and this is version {NOW + 1}, which "
        "takes over by `purse campaign hand-over c`; reports, audits and exports work as before"
    )
    for call in (other.ask, lambda: other.ask_many(2), other.probabilities):
        with pytest.raises(InvalidInput) as refused:
            call()
        assert str(refused.value) == words
    assert other.tell(11, 1, "0.5").state == "told"
    assert other.export(StringIO()) == other.status().entries
    audit = other.audit(full=True)
    assert audit.ok  # though the checkpoint is not what this version comes to
    assert f"tickets of campaign 'c' were chosen by version {NOW} of replan" in "".join(audit.notes)
    assert other.audit().ok  # from there on
    before = balance(other)
    said = other.hand_over()
    assert said == (
        f"handed over campaign 'c' from version {NOW} of replan to version {NOW + 1} of replan"
    )
    assert "is in charge already" in earlier.hand_over()
    assert balance(other) == before
    for turn, campaign in enumerate((earlier, other) * 5):
        campaign.tell(campaign.ask(), turn % 2, "0.5")
    (entry,) = [entry for entry in other.journal() if entry.kind == "handed_over"]
    assert entry.body == {"policy": ["replan", NOW + 1], "before": ["replan", NOW]}
    anew = learn_all(other.terms.in_charge(["replan", NOW + 1]), other.storage, ())
    policy = earlier._local.committer.policy
    assert policy is not None
    policy.learn(parsed(other.storage.reports("c", policy.seq, 99)[1]), anew.seq, anew.digest)
    assert policy.stored() == anew.stored()
    for full in (True, False):
        audit = other.audit(full=full)
        assert (audit.findings, len(audit.notes)) == ((), int(full))


@pytest.mark.parametrize("is_after", [False, True])
def test_probabilities_are_decided_again_after_the_hand_over_and_not_before(
    earlier: Campaign, shared: StorageHarness, is_after: bool
) -> None:
    earlier.hand_over()
    earlier.ask()
    storage, seq = earlier.storage, earlier.status().entries if is_after else 22
    (entry,) = storage.entries("c", seq - 1, 1)
    body = orjson.dumps({**entry.body, "p": 0.25}).decode()
    with without_guards(shared), storage.db.writing() as session:
        session.read([])
        session.write([("UPDATE purse_journal SET body = ? WHERE seq = ?", [(body, seq)])])
    found = "".join(earlier.audit(full=True).findings)
    assert f"entry {seq} of campaign 'c' has another digest" in found
    assert (f"entry {seq} would be" in found) is is_after


def test_a_version_before_the_one_in_charge_has_to_be_upgraded(
    earlier: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also one that has been asking when the other took over."""
    earlier.hand_over()
    earlier.ask()
    monkeypatch.setattr(replan, "VERSION", NOW)
    for call in (earlier.hand_over, Campaign.open("c", storage=earlier.storage).ask):
        with pytest.raises(InvalidInput, match=f"this is version {NOW}: upgrade purse"):
            call()


@pytest.mark.parametrize("moves", ["handed over", "restored"])
def test_options_that_the_next_version_no_longer_has_are_dropped(
    moves: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy, params = "replan:looks=0.1,scale=0.7", replan.params
    campaign = made(policy=policy, capacity=3)
    campaign.tell(campaign.ask(), 1, "0.5")
    campaign.ask()
    monkeypatch.setattr(replan, "VERSION", NOW + 1)
    monkeypatch.setattr(replan, "params", lambda problem, *, scale=0.5: params(problem))
    campaign = Campaign.open("test", storage=campaign.storage)
    with pytest.raises(InvalidInput, match=f"by version {NOW} of {policy}, and this is"):
        campaign.ask()
    assert campaign.tell(2, 1, "0.5").state == "told"
    audit = campaign.audit(full=True)
    assert audit.ok
    assert f"were chosen by version {NOW} of {policy}" in audit.notes[0]
    if moves == "restored":
        file = StringIO()
        campaign.export(file)
        file.seek(0)
        campaign = Campaign.restore(file, storage=campaign.storage, name="copy")
    else:
        said = campaign.hand_over()
        assert said.endswith(f"to version {NOW + 1} of replan:scale=0.7, without looks")
    assert campaign.status().policy == "replan:scale=0.7"
    terms: dict[str, Any] = {**TERMS, "policy": "replan:scale=0.7", "capacity": 3}
    again = Campaign.create(campaign.name, **terms, storage=campaign.storage, exist_ok=True)
    assert again.status().policy == "replan:scale=0.7"
    campaign.add_arm("blue")
    campaign.tell(campaign.ask(), 1, "0.5")
    audit = campaign.audit(full=True)
    assert (audit.findings, len(audit.notes)) == ((), 1)
