"""A journal is all that a campaign is: in another storage, under another name, and years later."""

import io
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from purse import Account, InvalidInput, PurseError
from purse.base import amounts
from purse.campaign.api.journal import FORMAT
from purse.campaign.campaign import Campaign
from purse.campaign.run import committer
from purse.campaign.run.learner import Learner
from purse.errors import CampaignExists
from purse.policies import replan
from tests.support.sample_campaigns import DIGESTS, FOLDER, OF_TEAM, SAMPLES, TEAM
from tests.support.storages import MemoryHarness, StorageHarness

Edit = Callable[[dict[str, Any]], Any]


def text_of(campaign: Any) -> str:
    file = io.StringIO()
    campaign.export(file)
    return file.getvalue()


def digest_of(campaign: Any) -> str:
    return str(campaign.storage.level(campaign.name)[-1].head.digest)


def test_a_journal_is_all_that_a_campaign_is(harness: StorageHarness, tmp_path: Path) -> None:
    campaign = SAMPLES["initial-pulls"](harness)
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
    campaign = SAMPLES["everything"](harness)
    text = text_of(campaign)
    with pytest.raises(CampaignExists, match="'everything'"):
        Campaign.restore(io.StringIO(text), storage=harness.storage())
    copy = Campaign.restore(io.StringIO(text), storage=harness.storage(), name="copy")
    assert (copy.name, copy.status().purses) == ("copy", campaign.status().purses)
    assert harness.open("copy").audit().ok
    assert sorted(Campaign.names(storage=harness.storage())) == ["copy", "everything"]


@pytest.mark.parametrize("name", SAMPLES)
def test_a_recorded_journal_comes_to_what_the_game_comes_to(
    harness: StorageHarness, name: str
) -> None:
    campaign = Campaign.restore(FOLDER / f"{name}.jsonl", storage=harness.storage())
    assert campaign.audit().findings == ()
    assert digest_of(campaign) == json.loads(DIGESTS.read_text())[name]
    text = (FOLDER / f"{name}.jsonl").read_text()
    assert text_of(campaign).splitlines()[2:] == text.splitlines()[2:]
    assert campaign.terms.restored_from == json.loads(text.splitlines()[1])["body"]["id"]


@pytest.mark.parametrize("name", SAMPLES)
def test_a_journal_of_the_first_rules_is_folded_and_handed_over(name: str) -> None:
    """By those, what was above a hold did not count: two of the games went on after it."""
    harness, file = MemoryHarness(), FOLDER / "first-rules" / f"{name}.jsonl"
    entries = [json.loads(line) for line in file.read_text().splitlines()[1:]]
    campaign = Campaign.restore(file, storage=harness.storage())
    costs = {
        entry["ticket"]: entry["body"]["costs"] for entry in entries if "costs" in entry["body"]
    }
    paid = [sum(column) for column in zip(*costs.values(), strict=True)]
    assert [part.spent for part in campaign.status().purses] == list(map(amounts.text, paid))
    journal = list(campaign.journal())
    assert [entry.kind for entry in journal[1 : len(entries)]] == [
        entry["kind"] for entry in entries[1:]
    ]
    assert {entry.kind for entry in journal[len(entries) :]} <= {"handed_over", "event"}
    assert campaign.audit().findings == ()


def test_an_export_of_an_earlier_version_of_a_policy_is_handed_over() -> None:
    """Version 2 of `replan` had an option `guard`."""
    file = FOLDER / "first-rules" / "guarded.jsonl"
    campaign = Campaign.restore(file, storage=MemoryHarness().storage())
    (entry,) = [entry for entry in campaign.journal() if entry.kind == "handed_over"]
    assert entry.body["before"] == ["replan:guard=0.5,looks=0.02", 2]
    assert entry.body["policy"] == ["replan:looks=0.02", replan.VERSION]
    campaign.tell(campaign.ask(), 1, "0.1")
    audit = campaign.audit()
    assert audit.findings == ()
    assert "were chosen by version 2 of replan:guard=0.5,looks=0.02" in "".join(audit.notes)


@pytest.mark.parametrize("name", SAMPLES)
def test_the_same_game_writes_the_same_journal(harness: StorageHarness, name: str) -> None:
    assert text_of(SAMPLES[name](harness)) == (FOLDER / f"{name}.jsonl").read_text()


def test_the_journal_of_an_account_is_the_same_every_time() -> None:
    campaign = SAMPLES[OF_TEAM](MemoryHarness())
    account = Account.open("team", storage=campaign.storage)
    assert account.audit().findings == ()
    assert text_of(account) == TEAM.read_text()


def test_every_kind_of_entry_is_recorded() -> None:
    lines = [line for path in FOLDER.glob("*.jsonl") for line in path.read_text().splitlines()]
    kinds = {json.loads(line).get("kind") for line in lines}
    for kind in (
        "created", "asked", "told", "settled", "rewarded", "failed", "voided", "expired",
        "conflict", "topped_up", "renewed", "alerts_set", "arm_added", "arm_retired",
        "arm_changed", "event", "joined", "paused", "resumed", "ended", "budget_set", "charged",
        "handed_over",
    ):  # fmt: skip
        assert kind in kinds


def changed(line: int, edit: Edit) -> str:
    """A recorded journal with one line changed."""
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
        ('{"purse": "0.1.0", "format": 1}', "line 1: not the journal of a campaign in format"),
        (f'{{"purse": "0.1.0", "format": {FORMAT}}}', "no entries"),
        (TEAM.read_text(), "line 1: the journal of account 'team', and only campaigns"),
    ],
)
def test_a_text_that_is_no_journal_is_refused(text: str, part: str) -> None:
    check_refused(text, part)


@pytest.mark.parametrize(
    ("line", "edit", "part"),
    [
        (3, lambda entry: entry.update(seq=9), "line 3: found entry 9, expected entry 2"),
        (3, lambda entry: entry.update(kind="lost"), "entry 2"),
        (3, lambda entry: entry.pop("at"), "line 3"),
        (3, lambda entry: entry.update(body=[]), "line 3"),
        (2, lambda entry: entry.update(kind="paused"), "terms"),
        (2, lambda entry: entry["body"].pop("arms"), "terms"),
        (3, lambda entry: entry["body"].update(arm=2), "entry 2"),
        (3, lambda entry: entry["body"].update(held=[10**12]), "entry 2"),
        (3, lambda entry: entry["body"].pop("held"), "entry 2"),
        (6, lambda entry: entry.update(ticket=77), "entry 5"),
        (7, lambda entry: entry["body"].update(costs=[1, 2]), "entry 6"),
        (7, lambda entry: entry["body"].pop("costs"), "entry 6"),
        (7, lambda entry: entry.update(kind="expired", body={}), "entry 6"),
    ],
)
def test_a_journal_that_does_not_hold_together_is_refused(line: int, edit: Edit, part: str) -> None:
    check_refused(changed(line, edit), part)


def check_refused(text: str, part: str) -> None:
    storage = MemoryHarness().storage()
    with pytest.raises(PurseError) as caught:
        Campaign.restore(io.StringIO(text), storage=storage)
    assert part in str(caught.value)
    assert "\n" not in str(caught.value)
    assert Campaign.names(storage=storage) == []


def test_a_file_that_cannot_be_read_is_refused_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "bytes").write_bytes(b"\xff\xfe\x00")
    for name in ("missing", "bytes"):
        with pytest.raises(InvalidInput, match=name):
            Campaign.restore(tmp_path / name, storage=MemoryHarness().storage())


def test_an_audit_finds_a_checkpoint_that_is_whole_and_wrong(
    harness: StorageHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(committer, "CHECKPOINT_EVERY", 10)
    campaign = SAMPLES["initial-pulls"](harness)
    wrong = Learner(campaign.terms)
    wrong.seq, wrong.digest, _ = campaign.storage.checkpoint(campaign.name, "policy")
    campaign.storage.keep(campaign.name, *wrong.stored())
    (finding,) = harness.open(campaign.name).audit(full=True).findings
    assert "the policy's checkpoint is not what the journal comes to" in finding
