"""A campaign and its copy, restored under another name into the same file."""

from __future__ import annotations

from pathlib import Path

from purse import Campaign
from tests.support.processes import forked
from tests.support.storages import SqliteHarness

N_PAIRS, WORKERS = 20, 2
WORKS = """
import sys
import purse

path, name, who = sys.argv[1:]
campaign = purse.Campaign.open(name, storage=f"sqlite:///{path}")
for number in range(20):
    ticket = campaign.ask(request_id=f"{name}-{who}-{number}")
    campaign.tell(ticket, reward=1, cost="0.01")
    print(ticket.id)
"""


def test_work_on_a_campaign_and_on_its_copy_stays_with_each(tmp_path: Path) -> None:
    path = tmp_path / "purse.db"
    terms = {"arms": {"a": 1}, "budget": 100, "cost_min": "0.01", "policy": "uniform"}
    campaign = SqliteHarness(path).create("original", **terms)
    campaign.export(tmp_path / "original.jsonl")
    storage = f"sqlite:///{path}"
    copy = Campaign.restore(tmp_path / "original.jsonl", storage=storage, name="copy")
    workers = {
        (name, who): forked(WORKS, path, name, who, out=tmp_path / f"{name}-{who}")
        for name in ("original", "copy")
        for who in range(WORKERS)
    }
    for worker in workers.values():
        worker.join()
    assert [worker.exitcode for worker in workers.values()] == [0] * 2 * WORKERS
    for each in (campaign, copy):
        tickets = [
            int(line)
            for who in range(WORKERS)
            for line in (tmp_path / f"{each.name}-{who}").read_text().split()
        ]
        entries = list(each.journal())
        asked = [entry.request for entry in entries if entry.kind == "asked"]
        told = [entry.ticket for entry in entries if entry.kind == "told"]
        assert sorted(tickets) == sorted(told)
        assert len(told) == len(asked) == WORKERS * N_PAIRS
        assert all(str(request).startswith(f"{each.name}-") for request in asked)
        assert each.audit().ok
