"""Exports and what is made from them: read line by line, restored as a whole, and gone on with."""

import io
import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from purse import Campaign
from purse.campaign.account import Account as Account
from purse.campaign.run import restore
from purse.campaign.storage.connect import in_memory
from purse.errors import BudgetExhausted, InvalidInput, PurseError
from tests.support.campaigns import exported
from tests.support.processes import forked
from tests.support.storages import SqliteHarness
from tests.support.tree import Tree

OWN = ("id", "checkpoint", "joined", "digest", "changed")  # facts that a copy has of its own


def exported_of(tree: Tree) -> io.StringIO:
    tree.campaigns[0].expire()  # begins the periods that are due, as a copy does when it joins
    return exported(tree.campaigns[0])


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
    monkeypatch.setattr(restore, "_PAGE_SIZE", 7)  # tickets span pages
    tree = Tree()
    tree.play(120)
    one, file = tree.campaigns[0], exported_of(tree)
    copy = copied(tree, file, budget)
    mine, its = (each.storage.level(each.name)[-1] for each in (one, copy))
    assert its.balances == mine.balances
    assert facts(copy) == facts(one)
    assert (its.head.digest == mine.head.digest) is not bool(budget)  # it joins by an entry
    assert copy.audit().findings == ()
    above = copy.storage.level("copy")[0].balances[0]
    if budget:
        assert above[1:] == mine.balances[0][1:]  # all that it has spent and holds
        assert [*copy.journal()][-1].kind == "joined"
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
        copied(tree, exported_of(tree), "0.01")


TERMS: dict[str, Any] = {"arms": {"a": 1, "b": 1}, "budget": 100, "policy": "uniform"}


@pytest.fixture
def campaign() -> Campaign:
    return Campaign.create("c", **TERMS, storage=in_memory())


@pytest.fixture
def lines(campaign: Campaign) -> list[str]:
    campaign.tell(campaign.ask(), 1, "0.5")
    file = io.StringIO()
    assert campaign.export(file) == 3
    return file.getvalue().splitlines(keepends=True)


def test_no_storage_is_made_for_what_is_no_journal(tmp_path: Path) -> None:
    file = tmp_path / "new.db"
    with pytest.raises(InvalidInput):
        Campaign.restore(io.StringIO("no journal\n"), storage=f"sqlite:///{file}")
    assert not file.exists()


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


def nested(depth: int) -> Any:
    return [] if depth == 0 else [nested(depth - 1)]


EDITED: list[tuple[str, dict[str, Any], dict[str, Any]]] = [  # kind; columns and fields that change
    ("asked", {"request": "\nperiod 2"}, {}),
    ("asked", {"request": "\nalert 80%:0/0/0"}, {}),
    ("asked", {"request": 7}, {}),
    ("asked", {"request": 2**63}, {}),
    ("asked", {}, {"session": 5}),
    ("rewarded", {}, {"reward": 7}),
    ("rewarded", {}, {"reward": 1e308}),
    ("rewarded", {}, {"reward": True}),
    ("conflict", {}, {"report": {"reward": 7}}),
    ("conflict", {}, {"report": {"settle": [1e308]}}),
    ("failed", {}, {"reason": "\x1b[2J"}),
    ("failed", {}, {"reason": 5}),
    ("arm_added", {}, {"name": 5}),
    ("arm_added", {}, {"name": ["c"]}),
    ("arm_added", {}, {"name": "c\x1b[2J"}),
    ("failed", {}, {"reason": nested(500)}),
]


def test_what_no_method_takes_is_not_restored() -> None:
    one = Campaign.create("c", **TERMS, capacity=3, storage=in_memory())
    rewarded, failed = one.ask(session="s").id, one.ask().id
    one.reward(rewarded, 0.5)
    one.fail(failed, 0, "timeout")
    with suppress(PurseError):
        one.reward(rewarded, 0.75)
    one.add_arm("c")
    lines = exported(one).getvalue().splitlines()
    Campaign.restore(io.StringIO("\n".join(lines)), storage=in_memory())
    for kind, columns, fields in EDITED:
        place = next(number for number, line in enumerate(lines) if f'"kind":"{kind}"' in line)
        entry = json.loads(lines[place])
        entry |= {**columns, "body": entry["body"] | fields}
        edited = [*lines[:place], json.dumps(entry), *lines[place + 1 :]]
        with pytest.raises(InvalidInput, match=r"^(entry|line) \d") as refused:
            Campaign.restore(io.StringIO("\n".join(edited)), storage=in_memory())
        assert str(refused.value).isprintable()
        assert "would be" not in str(refused.value)
