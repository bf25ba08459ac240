"""P1 to P7 over random operations on two campaigns below an account.

What a promise says is computed here, from the journal and from answers alone.
"""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from purse.campaign.campaign import Campaign
from purse.campaign.storage.connect import connect
from purse.campaign.storage.sqlite import Sqlite
from purse.errors import PurseError, StorageUnavailable
from tests.support.tree import Tree

SEEDS = range(4)
STEPS = 60


def journal(campaign: Any) -> list[Any]:
    return list(campaign.journal())


def balance(tree: Tree, name: str) -> Any:
    return tree.storage.level(name)[-1].balances[0]


def check_budgets(tree: Tree) -> None:
    """P1: on every level no more is taken than granted, and an account has what is below it."""
    team, one, two = (balance(tree, name) for name in ("team", "one", "two"))
    for each in (team, one, two):
        assert min(each) >= 0
        assert each.spent + each.held + each.presumed <= each.budget
    assert team[1:] == tuple(a + b for a, b in zip(one[1:], two[1:], strict=True))


def check_sums(tree: Tree, campaign: Any) -> None:
    """P3 and P6: each report counts once, up to its hold as spent and beyond it as overrun."""
    entries = journal(campaign)
    about = Counter((entry.ticket, entry.kind) for entry in entries if entry.kind != "conflict")
    assert max(count for (ticket, _), count in about.items() if ticket) == 1
    held = {entry.ticket: entry.body["held"][0] for entry in entries if entry.kind == "asked"}
    costs: dict[int, tuple[int, str]] = {}
    for entry in entries:
        if entry.ticket and "costs" in entry.body:
            costs[entry.ticket] = entry.body["costs"][0], entry.body["from"]
    paid = {ticket: min(cost, held[ticket] if state != "void" else 0)
            for ticket, (cost, state) in costs.items()}  # fmt: skip
    found = balance(tree, campaign.name)
    assert found.spent == sum(paid.values())
    assert found.overrun == sum(cost for cost, _ in costs.values()) - found.spent


def check_repeats(campaign: Any, rng: random.Random) -> None:
    """P3 and P4: what is said or asked for again changes nothing."""
    entries = journal(campaign)
    told = [entry for entry in entries if entry.kind == "told" and entry.body["from"] == "held"]
    asked = [entry for entry in entries if entry.kind == "asked"]
    for entry in rng.sample(told, min(3, len(told))):
        cost = f"{entry.body['costs'][0]}e-9"
        assert campaign.tell(entry.ticket, entry.body["reward"], cost).duplicate
    for entry in rng.sample(asked, min(3, len(asked))):
        try:
            again = campaign.ask(entry.request, labels=entry.body.get("labels"))
        except PurseError as error:
            assert "nothing is held for it" in str(error)  # noqa: PT017
        else:
            assert (again.id, again.t) == (entry.ticket, entry.body["t"])
    assert len(journal(campaign)) == len(entries)


@pytest.mark.parametrize("seed", SEEDS)
def test_promises_hold_after_every_operation(seed: int) -> None:
    tree, rng = Tree(policy="exp3++.bwk"), random.Random(seed)
    for step in range(STEPS):
        tree.play(1, seed=1000 * seed + step)
        check_budgets(tree)
    for campaign in tree.campaigns:
        campaign.expire()
        check_sums(tree, campaign)
        check_repeats(campaign, rng)
        fresh = Campaign.open(campaign.name, storage=tree.storage)
        assert fresh.probabilities() == campaign.probabilities()  # P5
    assert tree.account.audit().findings == ()


def test_what_was_acknowledged_is_there_for_whoever_comes_next(tmp_path: Path) -> None:
    """P2, of the file; what a process or a disk does when it dies is tested elsewhere."""
    tree = Tree(connect(f"sqlite:///{tmp_path}/purse.db"))
    campaign = tree.campaigns[0]
    receipts = [campaign.tell(campaign.ask(), 1, "0.03") for _ in range(5)]
    another = Campaign.open("one", storage=connect(f"sqlite:///{tmp_path}/purse.db"))
    assert [another.ticket(receipt.ticket).state for receipt in receipts] == ["told"] * 5
    assert balance(tree, "one").spent == 5 * 30_000_000


def test_without_the_storage_nothing_is_spent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """P7."""
    tree = Tree(connect(f"sqlite:///{tmp_path}/purse.db"))
    campaign, before = tree.campaigns[0], len(journal(tree.campaigns[0]))

    def broken(*_: Any) -> Any:
        raise StorageUnavailable("the disk is gone")

    with monkeypatch.context() as patch:
        patch.setattr(Sqlite, "writing", broken)
        with pytest.raises(StorageUnavailable, match="the disk is gone"):
            campaign.ask()
    assert len(journal(campaign)) == before
    assert balance(tree, "one").held == 0
    campaign.ask()
