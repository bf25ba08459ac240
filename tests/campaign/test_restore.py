"""Exports and what is made from them: a copy agrees with the original, alone and below an account,
and goes on like it.
"""

from __future__ import annotations

import io
from contextlib import suppress
from typing import Any

import pytest

from purse.campaign import restore
from purse.campaign.account import Account as Account
from purse.campaign.campaign import Campaign
from purse.campaign.storage.connect import in_memory
from purse.errors import BudgetExhausted, PurseError
from tests.support.tree import Tree

OWN = ("id", "checkpoint", "joined", "digest", "changed")  # facts that a copy has of its own


def exported(tree: Tree) -> io.StringIO:
    file, one = io.StringIO(), tree.campaigns[0]
    one.expire()  # begins the periods that are due, as a copy does when it joins
    one.export(file)
    file.seek(0)
    return file


def copied(tree: Tree, file: io.StringIO, budget: str = "") -> Campaign:
    """Return a copy in a new place, below an account if it is given a budget."""
    storage = in_memory()
    storage.now = lambda: tree.clock
    if budget:
        Account.create("new", budget=budget, resources=["USD"], every="1h", storage=storage)
    return Campaign.restore(file, storage=storage, name="copy", account="new" if budget else None)


def facts(campaign: Campaign) -> dict[str, Any]:
    head = vars(campaign.storage.level(campaign.name)[-1].head)
    return {name: fact for name, fact in head.items() if name not in OWN}


@pytest.mark.parametrize("budget", ["", "900"])
def test_a_copy_agrees_with_the_original_and_goes_on(
    budget: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(restore, "PAGE_SIZE", 7)  # tickets span pages
    tree = Tree()
    tree.play(120)
    one, file = tree.campaigns[0], exported(tree)
    copy = copied(tree, file, budget)
    mine, its = (each.storage.level(each.name)[-1] for each in (one, copy))
    assert its.balances == mine.balances
    assert facts(copy) == facts(one)
    assert (its.head.digest == mine.head.digest) is not bool(budget)  # it joins by an entry
    assert copy.audit().findings == ()
    above = copy.storage.level("copy")[0].balances[0]
    if budget:
        assert above[1:] == mine.balances[0][1:]  # all that it has spent and holds
    for _ in range(10):
        tree.clock += 700_000
        for ticket in copy.tickets()[:3]:
            with suppress(PurseError):
                copy.tell(ticket.id, 0.5, "0.004")
        with suppress(PurseError):
            copy.ask()
    assert copy.audit().findings == ()


def test_a_copy_that_does_not_fit_below_an_account_is_refused_as_a_whole() -> None:
    tree = Tree()
    tree.play(60)
    with pytest.raises(BudgetExhausted, match=r"'copy' has spent or held .* has 0\.01 left"):
        copied(tree, exported(tree), "0.01")


def test_a_journal_that_contradicts_itself_is_refused_as_a_whole() -> None:
    tree = Tree()
    tree.play(60)
    lines = exported(tree).getvalue().splitlines()
    number = next(at for at, line in enumerate(lines) if '"told"' in line)
    forged = [*lines[:number], lines[number].replace('"t":', '"t":9'), *lines[number + 1 :]]
    with pytest.raises(PurseError, match="the journal contradicts itself"):
        copied(tree, io.StringIO("\n".join(forged)))
