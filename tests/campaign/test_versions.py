"""Policies whose rule has another version than the one that has chosen so far."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest

from purse import Campaign, InvalidInput, Policy
from purse.campaign.run import committer
from purse.campaign.storage.connect import in_memory
from purse.policies import replan
from tests.support.campaigns import refusal

TERMS: dict[str, Any] = {"arms": {"a": 1, "b": 1}, "budget": 100, "policy": "replan"}
NOW = replan.VERSION


@pytest.fixture
def earlier(monkeypatch: pytest.MonkeyPatch) -> Campaign:
    """A campaign with a checkpoint and an open ticket, whose policy has the next version by now."""
    monkeypatch.setattr(committer, "CHECKPOINT_EVERY", 8)
    made = Campaign.create("c", **TERMS, storage=in_memory())
    for turn in range(10):
        made.tell(made.ask(), turn % 2, "0.5")
    made.ask()
    monkeypatch.setattr(replan, "VERSION", NOW + 1)
    return made


def test_asks_are_refused_in_a_line_that_says_what_to_do(earlier: Campaign) -> None:
    campaign = Campaign.open("c", storage=earlier.storage)
    words = (
        f"campaign 'c' was played by version {NOW} of replan, and this is version {NOW + 1}, which "
        "cannot go on: ask with the purse that played it, or create a new campaign; reports, "
        "audits and exports work as before"
    )
    for call in (campaign.ask, lambda: campaign.ask_many(2), campaign.probabilities):
        assert refusal(InvalidInput, call) == words
    assert campaign.status().rounds == 11


def test_reports_audits_exports_and_the_end_work_as_before(earlier: Campaign) -> None:
    assert earlier.tell(11, 1, "0.5").state == "told"
    assert earlier.export(io.StringIO()) == earlier.status().entries
    audit = earlier.audit(full=True)
    assert audit.ok  # though the checkpoint is not what this version comes to
    assert len(audit.notes) == 1
    assert earlier.end().status == "ended"


def test_a_journal_is_not_restored(earlier: Campaign, tmp_path: Path) -> None:
    path, storage = tmp_path / "c.jsonl", in_memory()
    with path.open("w") as file:
        earlier.export(file)
    words = refusal(InvalidInput, lambda: Campaign.restore(path, storage=storage))
    assert f"was played by version {NOW} of replan, and this is version {NOW + 1}" in words
    assert storage.names("campaign") == []


@pytest.mark.parametrize("policy", ["replan", "lin-ucb.price"])
def test_a_saved_policy_is_not_loaded(
    policy: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "policy.npz"
    live = Policy(policy, n_arms=2, budget=10, cost_min="0.1")
    live.tell(live.ask(), 1, 1)
    live.save(path)
    Policy.load(path)
    module = live._module
    monkeypatch.setattr(module, "VERSION", module.VERSION + 1)
    with pytest.raises(InvalidInput) as refused:
        Policy.load(path)
    assert "\n" not in str(refused.value)
    assert (
        f"version {module.VERSION - 1} of {policy} has learnt it, and this is version "
        f"{module.VERSION}, which cannot go on; load it with the purse that saved it, or begin a "
        "new policy"
    ) in str(refused.value)


def test_a_policy_without_versions_is_loaded(tmp_path: Path) -> None:
    live = Policy("uniform", n_arms=2, budget=10, cost_min="0.1")
    live.save(tmp_path / "policy.npz")
    assert Policy.load(tmp_path / "policy.npz").ask().arm == live.ask().arm
