"""A campaign with very many reports: audits in bounded memory. `make soak` has a million, and
`benchmarks/long_journal.py` as many as it is told.
"""

from __future__ import annotations

from pathlib import Path

from benchmarks import long_journal

from tests.support.soak import SOAK

MILLION = 1_000_000
FEW = 1  # thousands, in a short test
MOST_MEMORY = 300  # MB


def test_a_long_journal_is_audited_and_used(tmp_path: Path) -> None:
    path = tmp_path / "long.db"
    if SOAK:
        found = long_journal.measure(path, MILLION)
        assert max(memory for _, _, memory in found) <= MOST_MEMORY
        return
    long_journal.fill(path, FEW * long_journal.AT_ONCE)
    for step in long_journal.STEPS:
        assert all(value > 0 for value in step(path).values())
    campaign = long_journal.opened(path)
    assert campaign.status().counts["told"] == FEW * long_journal.AT_ONCE + 201
