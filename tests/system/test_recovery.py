"""P5: what a policy has learnt is the fold of the journal, to the last bit: after a restart,
without its checkpoints, with bad ones, and beside other processes.
"""

from collections.abc import Callable
from typing import Any

import pytest

from purse.campaign.campaign import Campaign
from purse.campaign.run import committer, learner
from purse.campaign.run.learner import Learner, parsed
from tests.support.soak import scale
from tests.support.storages import MemoryHarness, StorageHarness, kinds

POLICIES = ["exp3++.bwk", "primal-dual-bwk"]


@pytest.fixture(autouse=True)
def checkpoints(monkeypatch: pytest.MonkeyPatch) -> None:
    """A checkpoint after every ten entries."""
    monkeypatch.setattr(committer, "CHECKPOINT_EVERY", 10)


@pytest.fixture
def memory() -> MemoryHarness:
    """The storage of what does not depend on one."""
    return MemoryHarness()


def played(harness: StorageHarness, name: str = "exp3++.bwk", rounds: int = 15) -> Any:
    campaign = harness.create(
        "test",
        arms={"red": 1, "green": 1, "blue": 1},
        budget=100,
        cost_min="0.1",
        policy=name,
        expires_after=60,
    )
    for turn in range(rounds):
        tickets = campaign.ask_many(3)
        campaign.tell(tickets[2], turn % 3 / 2, f"0.{turn % 9 + 1}")
        if turn % 4:
            campaign.tell(tickets[0], 1, "1.5" if turn % 5 == 0 else "0.05")
        else:
            campaign.void(tickets[0])
        harness.clock += 25_000
    return campaign


def mind(campaign: Any) -> dict[str, bytes]:
    """What the policy of a campaign has learnt, after the last entry, as bytes."""
    campaign.probabilities()
    return bytes_of(campaign._local.committer.policy)


def bytes_of(learnt: Learner) -> dict[str, bytes]:
    return {name: array.tobytes() for name, array in learnt.state.items()}


def blank(campaign: Any) -> Learner:
    """A policy that has learnt nothing, with what arms may cost as the one in charge knows it."""
    return Learner(campaign.terms, campaign.storage.level("test")[-1].head.taught)


def folded(campaign: Any) -> dict[str, bytes]:
    """The same from the journal alone, one entry after the other."""
    fresh = blank(campaign)
    for entry in campaign.journal():
        if entry.kind == "told":
            fresh.learn([(entry.seq, entry.body)], entry.seq, "")
    return bytes_of(fresh)


@pytest.mark.parametrize("name", POLICIES)
def test_what_was_learnt_is_the_fold_of_the_journal(harness: StorageHarness, name: str) -> None:
    campaign = played(harness, name)
    stored = campaign.storage.checkpoint("test", "policy")
    assert stored[0] > 20
    expected = folded(campaign)
    assert mind(campaign) == expected
    assert mind(harness.open("test")) == expected
    harness.execute("DELETE FROM purse_checkpoints")
    opened = harness.open("test")
    assert opened.storage.checkpoint("test", "policy") is None
    assert mind(opened) == expected
    assert opened.audit().ok


def test_recovery_twice_gives_identical_bytes(memory: MemoryHarness) -> None:
    played(memory)
    seen = []
    for _ in range(2):
        campaign = memory.open("test")
        chances = campaign.probabilities()
        seen.append((campaign._local.committer.policy.stored(), chances, campaign.audit()))
    assert seen[0] == seen[1]
    assert seen[0][2].ok


@pytest.mark.parametrize(
    "damage",
    [
        "body = substr(body, 1, 0)",
        "body = substr(body, 1, length(body) - 1)",
        "body = substr(body, 2)",
        "digest = 'wrong'",
        "seq = seq + 1",
    ],
)
def test_a_checkpoint_that_cannot_be_trusted_is_not(memory: MemoryHarness, damage: str) -> None:
    expected = folded(played(memory))
    memory.execute(f"UPDATE purse_checkpoints SET {damage}")
    campaign = memory.open("test")
    assert mind(campaign) == expected
    campaign.tell(campaign.ask(), 1, "0.5")
    assert mind(campaign) == folded(campaign)


def test_a_checkpoint_of_other_code_is_not_used(memory: MemoryHarness) -> None:
    """It holds a fingerprint of the code and the parameters that made it. After an upgrade there
    are such checkpoints, and an audit has nothing to say of them.
    """
    campaign = played(memory)
    expected, stored = folded(campaign), campaign.storage.checkpoint("test", "policy")
    other = blank(campaign)
    assert other.begin_at(stored)
    other.code = "of another beginning"
    kind, _, _, body = other.stored()
    campaign.storage.keep("test", kind, stored[0], stored[1], body)
    fresh = blank(campaign)
    assert not fresh.begin_at(campaign.storage.checkpoint("test", "policy"))
    assert mind(memory.open("test")) == expected
    assert campaign.audit(full=True).findings == ()


def test_a_checkpoint_saves_reading_the_journal(memory: MemoryHarness) -> None:
    played(memory)
    storage: Any = memory.storage()
    after, told = list[int](), storage.reports

    def noted(name: str, seq: int, limit: int) -> Any:
        after.append(seq)
        return told(name, seq, limit)

    storage.reports = noted
    Campaign.open("test", storage=storage).probabilities()
    kept = storage.checkpoint("test", "policy")
    assert kept is not None
    assert min(after) == kept[0] > 20


def test_a_journal_longer_than_a_page_is_read_page_by_page(
    memory: MemoryHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    campaign = played(memory)
    monkeypatch.setattr(learner, "_PAGE_SIZE", 4)
    memory.execute("DELETE FROM purse_checkpoints")
    assert mind(memory.open("test")) == folded(campaign)


def test_another_process_learns_what_this_one_was_told(harness: StorageHarness) -> None:
    ours = played(harness)
    theirs = Campaign.open("test", storage=harness.storage())
    for turn in range(6):
        asking, telling = (ours, theirs) if turn % 2 else (theirs, ours)
        telling.tell(asking.ask(), turn % 2, "0.5")
    assert ours.probabilities() == theirs.probabilities()
    assert mind(ours) == mind(theirs) == folded(ours)


@pytest.mark.parametrize("name", POLICIES)
def test_whoever_takes_a_checkpoint_takes_the_same(name: str) -> None:
    """What one process has asked and another has not leaves no trace in what was learnt."""
    harness = MemoryHarness()
    played(harness, name, rounds=3)
    for turn in range(20):
        campaign = harness.open("test")
        campaign.tell(campaign.ask(), turn % 3 / 2, "0.5")
        assert not campaign.audit().findings


def test_what_an_ask_reads_does_not_grow_with_the_journal(
    make_harness: Callable[[str], StorageHarness], monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQLite counts the steps of its machine: as many for a long journal as for a short one."""
    monkeypatch.setattr(committer, "CHECKPOINT_EVERY", 1_000)
    harness = make_harness("memory")
    campaign = harness.create("c", arms={"a": 1}, budget=10**6, cost_min="0.1", policy="uniform")
    db: Any = campaign.storage.db._db

    def steps(pairs: int) -> float:
        counted = [0]
        db.set_progress_handler(lambda: counted.__setitem__(0, counted[0] + 1) or False, 10)
        for _ in range(pairs):
            campaign.tell(campaign.ask(), 1, "0.5")
        db.set_progress_handler(None)
        return counted[0] / pairs

    steps(20)
    few = steps(20)
    steps(scale(400, 20_000))
    assert steps(20) < 1.5 * few
    assert kinds(campaign).count("told") > 400


# what an audit, a copy or another machine could not do without


def test_an_ask_below_accounts_says_what_was_left_above(memory: MemoryHarness) -> None:
    memory.account("top", budget=4)
    campaign = memory.create("c", arms={"a": 1}, budget=10, policy="uniform", account="top")
    alone = memory.create("alone", arms={"a": 1}, budget=10, policy="uniform")
    bodies = [
        next(entry.body for entry in each.journal() if entry.kind == "asked")
        for each in (campaign, alone)
        if each.ask()
    ]
    assert bodies[0]["left"] == [4 * 10**9]
    assert "left" not in bodies[1]


def test_a_refusal_leaves_an_event(memory: MemoryHarness) -> None:
    campaign = memory.create("c", arms={"a": 3}, budget=4, policy="uniform", alerts=["100%"])
    campaign.tell(campaign.ask(), 1, 3)
    with pytest.raises(Exception, match="left"):
        campaign.ask()
    (event,) = campaign.storage.events("c", 0, 10)
    assert event.body["refused"] == [3 * 10**9]
    assert memory.open("c").audit().ok


def test_a_period_in_a_time_zone_says_by_which_data_it_ends(memory: MemoryHarness) -> None:
    terms: dict[str, Any] = {"arms": {"a": 1}, "budget": 4, "policy": "uniform", "every": "day"}
    campaign = memory.create("c", **terms, time_zone="Europe/Berlin")
    memory.clock += 86_400_000
    campaign.ask()
    (renewed,) = [entry for entry in campaign.journal() if entry.kind == "renewed"]
    assert renewed.body["tz"]


def test_reports_are_read_all_at_once() -> None:
    assert parsed([(3, b"", '{"t":1}'), (5, b"", '{"t":2}')]) == [(3, {"t": 1}), (5, {"t": 2})]
    assert parsed([]) == []
