"""Entries that were moved to a file: everything goes on as if they were still there."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from purse import Conflict, InvalidInput, PurseError
from purse.campaign import archive as archive_module
from purse.campaign.learner import Learner
from purse.campaign.local.campaign import LocalCampaign as Campaign
from tests.support.storages import MemoryHarness, StorageHarness

TERMS: dict[str, Any] = {
    "arms": {"a": 1, "b": 3},
    "budget": 1_000,
    "cost_min": "0.5",
    "policy": "exp3.bwk",
    "expires_after": 60,
}


def played(harness: StorageHarness) -> Campaign:
    """A campaign with tickets of all states, none of them open."""
    campaign = harness.create("c", **TERMS)
    for number in range(8):
        tickets = campaign.ask_many(3, f"batch-{number}")
        campaign.tell(tickets[0], number % 3 / 2, "0.75")
        campaign.tell(tickets[1], 1, 4 if number == 2 else 1)
        campaign.void(tickets[2])
        harness.clock += 1_000
    campaign.top_up(5, "more")
    with pytest.raises(Conflict):
        campaign.tell(1, 1, "0.9")
    campaign.ask("late")
    harness.clock += 61_000
    assert campaign.expire() == 1
    campaign.tell(25, 1, 1)
    return campaign


def state_of(campaign: Campaign) -> dict[str, bytes]:
    campaign.probabilities()
    return {name: part.tobytes() for name, part in campaign._committer.recovered().state.items()}


def answers(campaign: Campaign) -> list[Any]:
    """All that a client hears who repeats everything that he ever said."""
    heard: list[Any] = []
    for number in range(8):
        tickets = campaign.ask_many(3, f"batch-{number}")
        heard += [*tickets, campaign.tell(tickets[0], number % 3 / 2, "0.75")]
        heard += [campaign.tell(tickets[1], 1, 4 if number == 2 else 1), campaign.void(tickets[2])]
    for call in (
        lambda: campaign.ask_many(2, "batch-1"),
        lambda: campaign.ask("more"),
        lambda: campaign.top_up(6, "more"),
    ):
        with pytest.raises(Conflict) as caught:
            call()
        heard.append(str(caught.value))
    return [*heard, campaign.ask("late"), campaign.tell(25, 1, 1), campaign.ticket(3).state]


def test_whoever_repeats_something_hears_the_same_as_before(
    harness: StorageHarness, tmp_path: Path
) -> None:
    campaign = played(harness)
    before, status, state = answers(campaign), campaign.status(), state_of(campaign)
    moved = campaign.archive(tmp_path / "old.jsonl")
    assert (moved.first, moved.last, moved.tickets) == (2, status.entries, 25)
    assert [entry.kind for entry in campaign.journal()] == ["created", "topped_up", "archived"]
    assert answers(campaign) == before
    again = harness.open("c")
    assert answers(again) == before
    assert again.status().purses == status.purses
    assert again.status().counts == status.counts
    assert again.status().entries == status.entries + 1
    assert state_of(again) == state_of(campaign) == state
    assert campaign.top_up(5, "more").purses == status.purses
    assert again.audit().ok


def test_what_was_archived_is_learnt_again_without_a_checkpoint(
    harness: StorageHarness, tmp_path: Path
) -> None:
    campaign = played(harness)
    campaign.archive(tmp_path / "old.jsonl")
    for _ in range(3):
        campaign.tell(campaign.ask(), 1, "0.5")
    expected = state_of(campaign)
    harness.drop_checkpoints("c")
    assert state_of(harness.open("c")) == expected
    campaign = harness.open("c")
    campaign.tell(campaign.ask(), 1, "0.5")
    assert campaign.audit(full=True, archives=[tmp_path / "old.jsonl"]).ok


def test_another_process_follows_an_archive(harness: StorageHarness, tmp_path: Path) -> None:
    campaign = played(harness)
    other = Campaign.open("c", storage=harness.storage())
    other.probabilities()
    campaign.archive(tmp_path / "old.jsonl")
    assert other.probabilities() == campaign.probabilities()
    other.tell(other.ask(), 1, 1)
    assert campaign.audit().ok


def test_a_late_report_on_an_archived_ticket_counts(
    harness: StorageHarness, tmp_path: Path
) -> None:
    campaign = played(harness)
    first, second = tmp_path / "first.jsonl", tmp_path / "second.jsonl"
    campaign.archive(first)
    receipt = campaign.tell(3, 1, 2)  # it was void
    assert (receipt.state, receipt.late, receipt.overrun) == ("told", True, ("2",))
    assert campaign.tell(3, 1, 2).duplicate
    with pytest.raises(Conflict, match="reward 1, cost 2"):
        campaign.tell(3, 1, 1)
    assert campaign.audit().ok
    campaign.archive(second)
    assert campaign.tell(3, 1, 2).duplicate
    assert [ticket.state for ticket in campaign.ask_many(3, "batch-0")] == ["told"] * 3
    assert campaign.audit().ok
    assert campaign.audit(full=True, archives=[second, first]).ok
    assert state_of(harness.open("c")) == state_of(campaign)


def test_a_ticket_that_is_told_after_the_archive_ends_is_learnt_in_its_order(
    harness: StorageHarness, tmp_path: Path
) -> None:
    campaign = harness.create("c", **TERMS)
    tickets = campaign.ask_many(4, "r")
    harness.clock += 5_000
    for ticket in reversed(tickets):
        campaign.tell(ticket, ticket.id / 4, 1)
    asked_at = (harness.clock - 1) / 1000
    files = [tmp_path / "first.jsonl", tmp_path / "second.jsonl"]
    assert campaign.archive(files[0], before=asked_at).last == 2
    expected = state_of(campaign)
    campaign.archive(files[1])
    harness.drop_checkpoints("c")
    assert state_of(harness.open("c")) == expected
    assert campaign.audit(full=True, archives=files).ok


def test_tickets_that_are_not_finished_are_not_archived(
    harness: StorageHarness, tmp_path: Path
) -> None:
    campaign = harness.create("c", **TERMS)
    campaign.tell(campaign.ask(), 1, 1)
    campaign.ask()
    campaign.tell(campaign.ask(), 1, 1)
    assert campaign.archive(tmp_path / "old.jsonl").last == 3
    before = list(campaign.journal())
    with pytest.raises(PurseError, match="nothing can be archived: ticket 2 is held"):
        campaign.archive(tmp_path / "more.jsonl")
    assert list(campaign.journal()) == before
    campaign.void(2)
    before = list(campaign.journal())
    with pytest.raises(PurseError, match="exists already"):
        campaign.archive(tmp_path / "old.jsonl")
    assert list(campaign.journal()) == before
    assert sorted(path.name for path in tmp_path.glob("*.jsonl")) == ["old.jsonl"]


def test_an_archive_without_tickets_is_not_made(harness: StorageHarness, tmp_path: Path) -> None:
    campaign = played(harness)
    campaign.archive(tmp_path / "old.jsonl")
    campaign.pause()
    with pytest.raises(PurseError, match="no ticket was finished since the last archive"):
        campaign.archive(tmp_path / "more.jsonl")
    assert not (tmp_path / "more.jsonl").exists()
    with pytest.raises(Conflict):
        campaign.tell(1, 1, "0.8")
    campaign.archive(tmp_path / "more.jsonl")  # the conflict alone
    assert [entry.kind for entry in campaign.journal()].count("conflict") == 0
    assert campaign.audit().ok


def test_what_came_after_the_audit_is_not_archived(
    harness: StorageHarness, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    campaign = played(harness)
    audit, seen = campaign.audit, campaign.status().entries

    def and_more() -> Any:
        found = audit()
        campaign.tell(campaign.ask(), 1, 1)
        return found

    monkeypatch.setattr(campaign, "audit", and_more)
    assert campaign.archive(tmp_path / "old.jsonl").last == seen
    found = audit()
    assert (found.ok, found.after) == (True, seen)
    assert [entry.kind for entry in campaign.journal()].count("told") == 1


def test_nothing_is_archived_where_an_audit_finds_something(
    make_harness: Callable[[str], StorageHarness], tmp_path: Path
) -> None:
    harness = make_harness("sqlite")
    campaign = played(harness)
    harness.execute("UPDATE purse_purses SET spent = spent + 1")
    with pytest.raises(PurseError, match="nothing was archived, because of the audit: the purses"):
        campaign.archive(tmp_path / "old.jsonl")
    assert not (tmp_path / "old.jsonl").exists()


def test_an_archive_that_was_interrupted_is_taken_up_where_it_stopped(
    harness: StorageHarness, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    campaign = played(harness)
    before = answers(campaign)
    monkeypatch.setattr(archive_module, "MOST_TICKETS", 6)
    move, moved = archive_module.Mover.move, [0]

    def interrupted(mover: Any) -> int:
        moved[0] += 1
        if moved[0] == 3:
            raise KeyboardInterrupt
        return move(mover)

    monkeypatch.setattr(archive_module.Mover, "move", interrupted)
    with pytest.raises(KeyboardInterrupt):
        campaign.archive(tmp_path / "first.jsonl")
    assert answers(campaign) == before
    assert campaign.audit().ok
    campaign.archive(tmp_path / "second.jsonl")
    assert answers(campaign) == before
    files = [tmp_path / "first.jsonl", tmp_path / "second.jsonl"]
    assert campaign.audit(full=True, archives=files).ok
    campaign.export(tmp_path / "rest.jsonl")
    copy = Campaign.restore(
        tmp_path / "rest.jsonl", storage=MemoryHarness().storage(), archives=files
    )
    assert copy.status().digest == campaign.status().digest


def test_a_copy_from_an_export_and_its_archives_is_the_same(
    harness: StorageHarness, tmp_path: Path
) -> None:
    campaign = played(harness)
    campaign.archive(tmp_path / "old.jsonl")
    campaign.tell(campaign.ask(), 1, 1)
    campaign.export(tmp_path / "rest.jsonl")
    other = MemoryHarness()
    other.clock = harness.clock
    with pytest.raises(InvalidInput, match="entries 2 to 33 are missing"):
        Campaign.restore(tmp_path / "rest.jsonl", storage=other.storage())
    copy = Campaign.restore(
        tmp_path / "rest.jsonl", storage=other.storage(), archives=[tmp_path / "old.jsonl"]
    )
    assert copy.audit().digest == campaign.audit().digest
    assert copy.status() == campaign.status()
    assert answers(copy) == answers(campaign)
    assert copy.audit(full=True).ok


@pytest.mark.parametrize(
    ("old", "new", "part"),
    [
        ('"rewards":[0.5]', '"rewards":[0.4]', "not those that were archived"),
        ('"last":38', '"last":39', "ends before entry 39"),
        ('"first":2,', "", "not an archive"),
        ('"seq":7,', '"seq":8,', "found entry 8, expected entry 7"),
    ],
)
def test_another_archive_than_the_one_that_was_written_is_refused(
    tmp_path: Path, old: str, new: str, part: str
) -> None:
    campaign = played(MemoryHarness())
    path = tmp_path / "old.jsonl"
    campaign.archive(path)
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    campaign.export(tmp_path / "rest.jsonl")
    with pytest.raises(PurseError) as caught:
        Campaign.restore(
            tmp_path / "rest.jsonl", storage=MemoryHarness().storage(), archives=[path]
        )
    assert part in str(caught.value) or "would be" in str(caught.value)
    try:
        findings = campaign.audit(full=True, archives=[path]).findings
    except InvalidInput as error:
        findings = (str(error),)
    assert findings


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_an_archive_is_the_only_way_to_delete(
    make_harness: Callable[[str], StorageHarness], tmp_path: Path, kind: str
) -> None:
    harness = make_harness(kind)
    campaign = played(harness)
    campaign.archive(tmp_path / "old.jsonl")
    campaign.tell(campaign.ask(), 1, 1)
    for statement in (
        "DELETE FROM purse_journal WHERE kind = 'created'",
        "DELETE FROM purse_journal WHERE kind = 'topped_up'",
        "DELETE FROM purse_journal WHERE kind = 'archived'",
        "DELETE FROM purse_journal WHERE kind = 'told'",
        "UPDATE purse_journal SET body = '{}'",
    ):
        with pytest.raises(Exception, match="append-only"):
            harness.execute(statement)
        assert campaign.audit().ok, statement


def test_a_policy_that_learns_all_anew_gets_the_reports_as_they_were(tmp_path: Path) -> None:
    harness = MemoryHarness()
    campaign = played(harness)
    fresh = Learner(campaign.terms)
    told = [(entry.seq, entry.body) for entry in campaign.journal() if entry.kind == "told"]
    fresh.learn(told, told[-1][0], "")
    campaign.archive(tmp_path / "old.jsonl")
    harness.drop_checkpoints("c")
    expected = {name: part.tobytes() for name, part in fresh.state.items()}
    assert state_of(harness.open("c")) == expected


def test_an_audit_begins_at_a_checkpoint_that_older_code_made(
    harness: StorageHarness, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After an upgrade the policy's state is computed again, from archived reports, too."""
    campaign = played(harness)
    campaign.archive(tmp_path / "old.jsonl")
    campaign.tell(campaign.ask(), 1, 1)
    expected = campaign.audit(full=True, archives=[tmp_path / "old.jsonl"])
    restore, refused = Learner.restore, [0]

    def of_other_code(learner: Learner, stored: Any) -> bool:
        refused[0] += 1
        return False

    monkeypatch.setattr(Learner, "restore", of_other_code)
    found = harness.open("c").audit()
    assert found == expected
    assert found.ok
    assert found.after > 0
    assert refused[0] > 0
    monkeypatch.setattr(Learner, "restore", restore)
