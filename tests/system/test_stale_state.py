"""What a living process believes may be out of date: another campaign of the same name, an older
journal, a changed policy, a clock that is wrong.
"""

import shutil
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import apsw
import pytest

from purse import InvalidInput
from purse.campaign.campaign import Campaign
from purse.campaign.run.learner import Learner, recovered
from purse.errors import NotFound
from tests.support.paths import ROOT
from tests.support.storages import StorageHarness, counts, kinds, without_guards

TERMS: dict[str, Any] = {
    "arms": {"a": 1, "b": 3},
    "budget": 1_000,
    "cost_min": "0.5",
    "policy": "exp3.bwk",
}
# a policy file that brings no code of its own: nothing has to be compiled
MINE = "from purse.policies.exp3_bwk import *\n"


def test_a_policy_forgets_what_an_older_file_does_not_know(tmp_path: Path) -> None:
    address = f"sqlite:///{tmp_path}/purse.db"
    campaign = Campaign.create("c", **TERMS, storage=address)
    for _ in range(10):
        campaign.tell(campaign.ask(), 1, 1)
    backup = apsw.Connection(str(tmp_path / "purse.db"))
    backup.execute("VACUUM INTO ?", (str(tmp_path / "backup.db"),))
    backup.close()
    for _ in range(20):
        campaign.tell(campaign.ask(), 0.25, 1)
    for path in tmp_path.glob("purse.db*"):
        path.unlink()
    shutil.move(tmp_path / "backup.db", tmp_path / "purse.db")
    for _ in range(30):
        campaign.tell(campaign.ask(), 0.5, 1)
    audit = campaign.audit()
    assert (audit.entries, audit.findings) == (1 + 2 * 40, ())
    campaign.storage.close()


def test_a_void_needs_no_policy_file(harness: StorageHarness, tmp_path: Path) -> None:
    policy = tmp_path / "mine.py"
    policy.write_text(MINE)
    harness.create("c", **{**TERMS, "policy": str(policy)}).ask()
    policy.unlink()
    campaign = harness.open("c")
    assert campaign.void(1).state == "void"
    assert campaign.status().purses[0].held == "0"
    with pytest.raises(InvalidInput, match=r"mine\.py"):
        campaign.ask()


def test_a_clock_that_was_ahead_does_not_keep_holds_from_expiring(harness: StorageHarness) -> None:
    campaign = harness.create("c", **TERMS, expires_after=60)
    harness.clock += 10**11
    campaign.ask()
    harness.clock -= 10**11
    campaign.ask()
    harness.clock += 61_000
    assert campaign.expire() == 1
    assert campaign.audit().ok


def test_an_audit_beside_a_campaign_that_runs_finds_nothing(make_harness: Any) -> None:
    harness = make_harness("sqlite")
    campaign = harness.create("c", **TERMS)
    over = threading.Event()

    def work() -> None:
        mine = Campaign.open("c", storage=harness.address)
        while not over.is_set():
            mine.tell(mine.ask(), 0.5, 1)
        mine.storage.close()

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    audits = [campaign.audit() for _ in range(5)]
    over.set()
    for thread in threads:
        thread.join()
    assert [audit.findings for audit in audits] == [()] * 5


def test_campaigns_of_a_file_share_connections_and_leave_none_open(tmp_path: Path) -> None:
    address = f"sqlite:///{tmp_path}/purse.db"
    fds = Path("/proc/self/fd")
    if not fds.exists():
        fds = Path("/dev/fd")
    before = len(list(fds.iterdir()))
    names = [f"c{number}" for number in range(20)]
    opened = [Campaign.create(name, **TERMS, storage=address) for name in names]
    opened += [Campaign.open(name, storage=address) for name in names]
    for campaign in opened:
        campaign.tell(campaign.ask(), 1, 1)
        assert campaign.status().counts["held"] == 0
    # the file twice, its log, its shared memory, the guard's two and the lock file
    assert before < len(list(fds.iterdir())) <= before + 8
    del opened, campaign
    assert len(list(fds.iterdir())) == before


def test_a_level_that_was_made_anew_is_not_the_one_that_was_opened(harness: StorageHarness) -> None:
    old = harness.create("c", **TERMS)
    old.ask()
    with without_guards(harness):
        for table in ("checkpoints", "open_tickets", "balances", "journal", "levels"):
            harness.execute(f"DELETE FROM purse_{table}")
    arms = {"x": 100, "y": 200, "z": 300}
    harness.create("other", arms=arms, budget=10_000, cost_min=1, policy="uniform")
    new = harness.create("c", arms=arms, budget=10_000, cost_min=1, policy="uniform")
    calls = (old.ask, old.status, lambda: old.tell(1, 1, 1), old.audit, lambda: [*old.journal()])
    for call in calls:
        with pytest.raises(NotFound, match="deleted and recreated"):
            call()
    assert counts(new) == {}
    assert harness.open("c").ask().arm in ("x", "y", "z")


def test_a_policy_forgets_a_journal_that_was_replaced_by_a_longer_one(
    harness: StorageHarness,
) -> None:
    """As when a dump is put back under processes that run: the digest is compared at every ask."""
    campaign, other = harness.create("c", **TERMS), harness.create("other", **TERMS)
    for _ in range(10):
        campaign.tell(campaign.ask(), 1, 1)
    for _ in range(30):
        other.tell(other.ask(), 0.25, 1)
    harness.execute("UPDATE purse_levels SET name = name || '-'")
    for new, old in (("c", "other-"), ("other", "c-")):
        harness.execute(
            f"UPDATE purse_levels SET name = '{new}', head = "
            f"replace(head, '{other.terms.id}', '{campaign.terms.id}') WHERE name = '{old}'"
        )
    assert kinds(campaign).count("told") == 30
    campaign.ask()
    expected = recovered(campaign.terms, campaign.storage)
    assert state_of(campaign._local.committer.policy) == state_of(expected)


def state_of(policy: Learner) -> dict[str, bytes]:
    return {name: part.tobytes() for name, part in policy.state.items()}


def test_a_process_that_ends_leaves_a_whole_file(tmp_path: Path) -> None:
    code = f"""
from purse.campaign.campaign import Campaign
terms = {{"arms": {{"a": 1}}, "budget": 10, "cost_min": 1, "policy": "uniform"}}
campaign = Campaign.create("c", **terms, storage="sqlite:///{tmp_path}/purse.db")
campaign.tell(campaign.ask(), 1, 1)
"""
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["purse.db", "purse.db-lock"]
    shutil.copy(tmp_path / "purse.db", tmp_path / "copy.db")
    campaign = Campaign.open("c", storage=f"sqlite:///{tmp_path}/copy.db")
    assert counts(campaign)["told"] == 1
    campaign.storage.close()
