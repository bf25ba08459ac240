"""A campaign is what its journal says, to the last bit: after a restart, without its checkpoints,
with bad ones, in another storage, and years later.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from purse import CampaignExists, InvalidInput, PurseError
from purse.campaign import group_commit
from purse.campaign.learner import Learner
from purse.campaign.local.campaign import LocalCampaign as Campaign
from tests.support.sample_campaigns import FOLDER, SAMPLES, initial_pulls
from tests.support.storages import MemoryHarness, StorageHarness

# What the journals come to. These are a promise: a change of any of them means that a campaign
# which runs today would change its
# state, or its mind, with an upgrade; the changelog needs an entry for that, and the library a way
# from the old to the new.
GOLDEN = {
    "everything": "a115c70d85d624de837e16963cf49e965c7908532b302352892288d4c131603b",
    "initial-pulls": "d379c27c4ea6fe8aa038e9b6b81afe032c9519e06fa9b0da142c9a168224bf35",
    "to-the-end": "648dc20b92a436cd85f35bc35337c8be087426dd0813ff24aae5c166b9256fce",
}
POLICIES = ["exp3++.bwk", "primal-dual-bwk"]


@pytest.fixture
def checkpoints(monkeypatch: pytest.MonkeyPatch) -> None:
    """A checkpoint after every ten entries."""
    monkeypatch.setattr(group_commit, "CHECKPOINT_EVERY", 10)


def played(harness: StorageHarness, policy: str = "exp3++.bwk", rounds: int = 15) -> Any:
    campaign = harness.create(
        "test",
        arms={"red": 1, "green": 1, "blue": 1},
        budget=100,
        cost_min="0.1",
        policy=policy,
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


def mind(campaign: Campaign) -> dict[str, bytes]:
    """What the policy of a campaign has learnt, after the last entry, as bytes."""
    campaign.probabilities()
    return {name: array.tobytes() for name, array in campaign._committer.recovered().state.items()}


def folded(campaign: Campaign) -> dict[str, bytes]:
    """The same from the journal alone."""
    fresh = Learner(campaign.terms)
    for entry in campaign.journal():
        if entry.kind == "told":
            fresh.learn([(entry.seq, entry.body)], entry.seq, "")
    return {name: array.tobytes() for name, array in fresh.state.items()}


def text_of(campaign: Campaign) -> str:
    file = io.StringIO()
    campaign.export(file)
    return file.getvalue()


# after a restart


@pytest.mark.usefixtures("checkpoints")
@pytest.mark.parametrize("policy", POLICIES)
def test_what_was_learnt_is_the_fold_of_the_journal(harness: StorageHarness, policy: str) -> None:
    campaign = played(harness, policy)
    assert harness.storage().checkpoint("test", "policy").seq > 20
    expected = folded(campaign)
    assert mind(campaign) == expected
    assert mind(harness.open("test")) == expected
    harness.drop_checkpoints("test")
    assert harness.storage().checkpoint("test", "policy") is None
    assert mind(harness.open("test")) == expected


@pytest.mark.usefixtures("checkpoints")
def test_recovery_twice_gives_identical_bytes(harness: StorageHarness) -> None:
    played(harness)
    seen = []
    for _ in range(2):
        campaign = harness.open("test")
        chances = campaign.probabilities()
        seen.append(
            (
                campaign._committer.recovered().checkpoint(),
                chances,
                campaign.status(),
                campaign.tickets(),
                campaign.audit(),
                text_of(campaign),
            )
        )
    assert seen[0] == seen[1]
    assert seen[0][4].ok


@pytest.mark.usefixtures("checkpoints")
@pytest.mark.parametrize(
    "damage",
    [
        "body = substr(body, 1, 0)",
        "body = substr(body, 1, length(body) - 1)",
        "digest = 'wrong'",
        "checksum = 'wrong'",
        "seq = seq + 1",
    ],
)
@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_a_checkpoint_that_cannot_be_trusted_is_not(
    make_harness: Callable[[str], StorageHarness], kind: str, damage: str
) -> None:
    harness = make_harness(kind)
    expected = folded(played(harness))
    harness.execute(f"UPDATE purse_checkpoints SET {damage}")
    campaign = harness.open("test")
    assert mind(campaign) == expected
    campaign.tell(campaign.ask(), 1, "0.5")
    assert mind(campaign) == folded(campaign)


@pytest.mark.usefixtures("checkpoints")
def test_a_checkpoint_saves_reading_the_journal(
    make_harness: Callable[[str], StorageHarness],
) -> None:
    harness = make_harness("sqlite")
    played(harness)
    storage = harness.storage()
    after, told = [], storage.told
    storage.told = lambda name, seq, limit: after.append(seq) or told(name, seq, limit)
    Campaign.open("test", storage=storage).probabilities()
    assert min(after) == storage.checkpoint("test", "policy").seq > 20


def test_another_process_learns_what_this_one_was_told(harness: StorageHarness) -> None:
    ours = played(harness)
    theirs = Campaign.open("test", storage=harness.storage())
    for turn in range(6):
        asking, telling = (ours, theirs) if turn % 2 else (theirs, ours)
        telling.tell(asking.ask(), turn % 2, "0.5")
    assert ours.probabilities() == theirs.probabilities()
    assert mind(ours) == mind(theirs) == folded(ours)


@pytest.mark.usefixtures("checkpoints")
@pytest.mark.parametrize("policy", POLICIES)
def test_whoever_takes_a_checkpoint_takes_the_same(policy: str) -> None:
    """What one process has asked and another has not leaves no trace in what was learnt."""
    harness = MemoryHarness()
    played(harness, policy, rounds=3)
    for turn in range(20):
        campaign = harness.open("test")
        campaign.tell(campaign.ask(), turn % 3 / 2, "0.5")
        assert not campaign.audit().findings


# in another storage


def test_a_journal_is_all_that_a_campaign_is(harness: StorageHarness, tmp_path: Path) -> None:
    campaign = played(harness)
    audit = campaign.audit()
    assert campaign.export(tmp_path / "journal.jsonl") == audit.entries
    other = MemoryHarness()
    other.clock = harness.clock
    restored = Campaign.restore(tmp_path / "journal.jsonl", storage=other.storage())
    assert restored.audit() == audit
    assert audit.ok
    assert (restored.status(), restored.tickets()) == (campaign.status(), campaign.tickets())
    assert restored.terms == replace(
        campaign.terms, id=restored.terms.id, restored_from=campaign.terms.id
    )
    assert restored.terms.id != campaign.terms.id
    assert list(restored.journal())[1:] == list(campaign.journal())[1:]
    assert text_of(campaign) == (tmp_path / "journal.jsonl").read_text()
    assert restored.probabilities() == campaign.probabilities()
    assert restored.ask("next")._replace(asked_at=0) == campaign.ask("next")._replace(asked_at=0)


def test_a_journal_is_restored_under_its_own_name_or_another(harness: StorageHarness) -> None:
    campaign = played(harness, rounds=3)
    text = text_of(campaign)
    with pytest.raises(CampaignExists, match="'test'"):
        Campaign.restore(io.StringIO(text), storage=harness.storage())
    copy = Campaign.restore(io.StringIO(text), storage=harness.storage(), name="copy")
    assert (copy.name, copy.status().purses) == ("copy", campaign.status().purses)
    assert harness.open("copy").audit().ok
    assert sorted(harness.storage().names()) == ["copy", "test"]


def changed(line: int, edit: Callable[[dict[str, Any]], Any]) -> str:
    """A journal of old with one line changed."""
    lines = (FOLDER / "initial-pulls.jsonl").read_text().splitlines()
    facts = json.loads(lines[line - 1])
    edit(facts)
    lines[line - 1] = json.dumps(facts)
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("", "line 1"),
        ("nonsense", "line 1"),
        ('{"purse": "0.1.0"}', "line 1: not the journal of a campaign"),
        (
            '{"purse": "0.1.0", "format": 1}',
            "has format 1, and this version of purse reads format 2",
        ),
        ('{"purse": "0.1.0", "format": 2}', "no entries"),
    ],
)
def test_a_text_that_is_no_journal_is_refused(text: str, part: str) -> None:
    check_refused(text, part)


@pytest.mark.parametrize(
    ("line", "edit", "part"),
    [
        (3, lambda entry: entry.update(seq=9), "line 3: found entry 9, expected entry 2"),
        (3, lambda entry: entry.update(kind="lost"), "line 3"),
        (3, lambda entry: entry.pop("at"), "line 3"),
        (3, lambda entry: entry.update(body=[]), "line 3"),
        (2, lambda entry: entry.update(kind="paused"), "terms"),
        (2, lambda entry: entry["body"].pop("arms"), "terms"),
        (3, lambda entry: entry["body"]["tickets"][0].update(arms=[2]), "would be"),
        (3, lambda entry: entry["body"]["tickets"][0].update(held=[10**12]), "entry 2"),
        (3, lambda entry: entry["body"].pop("tickets"), "entry 2"),
        (4, lambda entry: entry.update(ticket=77), "entry 3"),
        (5, lambda entry: entry["body"].update(spent=[1]), "entry 4"),
        (5, lambda entry: entry["body"].pop("costs"), "entry 4"),
        (5, lambda entry: entry.update(kind="expired", body={}), "entry 4"),
    ],
)
def test_a_journal_that_does_not_hold_together_is_refused(
    line: int, edit: Callable[[dict[str, Any]], Any], part: str
) -> None:
    check_refused(changed(line, edit), part)


def check_refused(text: str, part: str) -> None:
    harness = MemoryHarness()
    with pytest.raises(PurseError) as caught:
        Campaign.restore(io.StringIO(text), storage=harness.storage())
    assert part in str(caught.value)
    assert "\n" not in str(caught.value)
    assert harness.memory.names() == []


def test_a_file_that_cannot_be_read_is_refused_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "bytes").write_bytes(b"\xff\xfe\x00")
    for name in ("missing", "bytes"):
        with pytest.raises(InvalidInput, match=name):
            Campaign.restore(tmp_path / name, storage=MemoryHarness().storage())


# recorded journals


@pytest.mark.parametrize("name", SAMPLES)
def test_a_recorded_journal_comes_to_what_the_game_comes_to(
    harness: StorageHarness, name: str
) -> None:
    campaign = Campaign.restore(FOLDER / f"{name}.jsonl", storage=harness.storage())
    played = SAMPLES[name](MemoryHarness()).audit()
    audit = campaign.audit()
    assert (audit.findings, audit.digest) == ((), played.digest)
    text = (FOLDER / f"{name}.jsonl").read_text()
    assert text_of(campaign).splitlines()[2:] == text.splitlines()[2:]
    assert campaign.terms.restored_from == json.loads(text.splitlines()[1])["body"]["id"]


@pytest.mark.parametrize("name", SAMPLES)
def test_the_same_game_writes_the_same_journal(harness: StorageHarness, name: str) -> None:
    assert text_of(SAMPLES[name](harness)) == (FOLDER / f"{name}.jsonl").read_text()


# what an audit finds


@pytest.mark.parametrize(
    ("statement", "part"),
    [
        ("UPDATE purse_purses SET spent = spent + 1", "purses"),
        ("UPDATE purse_purses SET overrun = overrun + 1", "purses"),
        ("UPDATE purse_purses SET held = held - 1000000000", "purses"),
        ("UPDATE purse_tickets SET state = 'void' WHERE id = 1", "ticket 1"),
        ("UPDATE purse_tickets SET deadline = deadline + 1 WHERE id = 1", "ticket 1"),
        (
            "UPDATE purse_tickets SET body = replace(body, '\"held\":[500000000]', "
            "'\"held\":[1]') WHERE id = 3",
            "ticket 3",
        ),
        ("DELETE FROM purse_tickets WHERE id = 4", "1 tickets are missing"),
        ("UPDATE purse_campaigns SET head = replace(head, '\"rounds\":', '\"rounds\":1')", "head"),
        ("UPDATE purse_campaigns SET head = replace(head, '\"told\":', '\"told\":1')", "head"),
        ("UPDATE purse_campaigns SET seq = seq + 1", "entries"),
        (
            "UPDATE purse_journal SET body = replace(body, '\"rewards\":[1.0]', "
            "'\"rewards\":[0.9]') WHERE kind = 'told'",
            "would be",
        ),
        (
            "UPDATE purse_journal SET body = replace(body, '\"spent\":[', "
            "'\"spent\":[1') WHERE seq = 21",
            "entry 21",
        ),
        (
            "UPDATE purse_journal SET body = replace(body, '\"held\":[2000000000]', "
            "'\"held\":[1]') WHERE seq = 2",
            "ticket 2",
        ),
        (
            "UPDATE purse_journal SET body = replace(body, '\"arms\":[2]', "
            "'\"arms\":[1]') WHERE kind = 'asked'",
            "would be",
        ),
        ("DELETE FROM purse_journal WHERE seq = 20", "entry 20"),
        ("DELETE FROM purse_journal WHERE seq = 28", "entries"),
    ],
)
def test_an_audit_finds_what_was_changed_behind_its_back(
    make_harness: Callable[[str], StorageHarness], statement: str, part: str
) -> None:
    harness = make_harness("sqlite")
    assert initial_pulls(harness).audit().ok
    harness.close()
    harness.execute("DROP TRIGGER purse_no_change; DROP TRIGGER purse_no_loss")
    harness.execute(statement)
    audit = harness.open("initial-pulls").audit(full=True)
    assert not audit.ok
    assert any(part in finding for finding in audit.findings), audit.findings


@pytest.mark.usefixtures("checkpoints")
def test_an_audit_finds_a_checkpoint_that_is_whole_and_wrong(
    make_harness: Callable[[str], StorageHarness],
) -> None:
    harness = make_harness("sqlite")
    campaign = played(harness)
    wrong = Learner(campaign.terms)
    found = harness.storage().checkpoint("test", "policy")
    wrong.seq, wrong.digest = found.seq, found.digest
    stored = wrong.checkpoint()
    harness.execute(
        f"UPDATE purse_checkpoints SET checksum = '{stored.checksum}', "
        f"body = X'{stored.body.hex()}'"
    )
    (finding,) = harness.open("test").audit().findings
    assert f"checkpoint after entry {stored.seq}" in finding


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_the_database_itself_refuses_what_would_break_a_promise(
    make_harness: Callable[[str], StorageHarness], kind: str
) -> None:
    harness = make_harness(kind)
    initial_pulls(harness)
    for statement in (
        "UPDATE purse_journal SET at = 0 WHERE seq = 1",
        "DELETE FROM purse_journal WHERE seq = 2",
        "UPDATE purse_purses SET held = budget + 1",
        "UPDATE purse_purses SET presumed = presumed + budget - spent - held + 1",
        "UPDATE purse_purses SET spent = -1",
        "INSERT INTO purse_journal SELECT campaign, 1000, at, kind, request, ticket, "
        "body, digest FROM purse_journal WHERE kind = 'told' LIMIT 1",
        "INSERT INTO purse_journal SELECT campaign, 1000, at, kind, request, ticket, "
        "body, digest FROM purse_journal WHERE request = 'initial'",
    ):
        with pytest.raises(Exception, match=r"(?i)append-only|check|unique"):
            harness.execute(statement)
        assert harness.open("initial-pulls").audit().ok, statement
