"""A campaign and its copy, restored under another name into the same file."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from purse import Campaign
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
        (name, who): subprocess.Popen(
            [sys.executable, "-c", WORKS, str(path), name, str(who)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for name in ("original", "copy")
        for who in range(WORKERS)
    }
    for each in (campaign, copy):
        tickets = [
            int(line)
            for (name, _), worker in workers.items()
            if name == each.name
            for line in worker.communicate()[0].split()
        ]
        entries = list(each.journal())
        asked = [entry.request for entry in entries if entry.kind == "asked"]
        told = [entry.ticket for entry in entries if entry.kind == "told"]
        assert sorted(tickets) == sorted(told)
        assert len(told) == len(asked) == WORKERS * N_PAIRS
        assert all(str(request).startswith(f"{each.name}-") for request in asked)
        assert each.audit().ok
    assert [worker.returncode for worker in workers.values()] == [0] * 2 * WORKERS
