"""Audits find damage of every kind, changed behind the library's back or forged with all digests
made right again; they go on from the last one, and say what they do not decide again.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from shutil import copy
from typing import Any

import orjson
import pytest

from purse import Account, Campaign, PurseError
from purse.campaign.ledger.records import AUDIT, HISTORY
from purse.campaign.rules import asks
from purse.campaign.run.audit import audit
from purse.campaign.run.learner import Learner
from purse.campaign.storage.connect import connect, in_memory
from purse.campaign.storage.postgres import _PostgresSession
from purse.campaign.storage.sqlite import _SqliteSession
from purse.campaign.storage.storage import Storage
from purse.errors import StorageUnavailable
from purse.policies import replan
from tests.support.campaigns import balance, campaign, company
from tests.support.level_mutations import look_at_the_campaign_only
from tests.support.mutations import NEVER_OVERSPENT, let_asks_overdraw, without
from tests.support.soak import SOAK, scale
from tests.support.storages import MemoryHarness, StorageHarness
from tests.support.tree import Change, Tree, execute, findings, forge

LAST = "(SELECT max(seq) FROM purse_journal WHERE level = 2)"
BEHIND_ITS_BACK = [
    "UPDATE purse_journal SET body = replace(body, '\"reward\":0.5', '\"reward\":0.25') "
    "WHERE kind = 'told'",
    "DELETE FROM purse_journal WHERE level = 2 AND seq = 9",
    f"DELETE FROM purse_journal WHERE level = 2 AND seq = {LAST}",
    "UPDATE purse_balances SET spent = spent + 1 WHERE key = '' AND level = 1",
    "UPDATE purse_balances SET overrun = overrun + 1 WHERE key = '' AND level = 2",
    "UPDATE purse_balances SET tickets = tickets + 1 WHERE value = 'x'",
    "UPDATE purse_levels SET head = replace(head, '\"rounds\":', '\"rounds\":1') WHERE id = 2",
    "DELETE FROM purse_open_tickets WHERE ticket = (SELECT min(ticket) FROM purse_open_tickets)",
    "UPDATE purse_open_tickets SET deadline = 5 WHERE deadline IS NOT NULL",
    "UPDATE purse_journal SET turn = turn + 1000 WHERE level = 2 AND seq = 20",
]


def more(field: str, change: Any) -> Change:
    """Return a change that adds to an amount, to each of several, or to a number."""

    def changed(body: dict[str, Any]) -> None:
        was = body[field]
        body[field] = [part + change for part in was] if isinstance(was, list) else was + change

    return changed


FORGED: dict[str, tuple[str, str, Change]] = {
    "a larger hold": ("one", "asked", more("held", 1)),
    "a smaller hold": ("one", "asked", more("held", -1)),
    "another probability": ("one", "asked", more("p", -0.0001)),
    "a later deadline": ("one", "asked", more("deadline", 1)),
    "another arm": ("one", "asked", lambda body: body.update(arm=1 - body["arm"])),
    "another period": (
        "one", "asked", lambda body: body.update(periods={**body["periods"], "own": 9}),
    ),
    "a larger cost": ("one", "told", more("costs", 1)),
    "a larger reward": ("one", "told", more("reward", 0.1)),
    "another round": ("one", "told", more("t", 1)),
    "another state before": ("one", "told", lambda body: body.update({"from": "presumed"})),
    "a larger cost of a failure": ("one", "failed", more("costs", 1)),
    "a larger cost of what was settled": ("one", "settled", more("costs", 1)),
    "a longer period": ("team", "renewed", more("next", 3_600_000)),
    "an event of another period": ("one", "event", more("period", 1)),
}  # fmt: skip


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a file with two campaigns below an account, in which an audit finds nothing."""
    path: Path = tmp_path_factory.mktemp("played") / "purse.db"
    tree = Tree(connect(f"sqlite:///{path}"))
    tree.play(160)
    assert findings(tree.storage) == ()
    tree.storage.close()
    return path


@pytest.fixture
def storage(played: Path, tmp_path: Path) -> Iterator[Storage]:
    """Open a copy of it."""
    storage = connect(f"sqlite:///{copy(played, tmp_path / 'copy.db')}")
    yield storage
    storage.close()


@pytest.mark.parametrize("statement", BEHIND_ITS_BACK)
def test_what_is_changed_behind_its_back_is_found(storage: Storage, statement: str) -> None:
    execute(storage, statement)
    assert findings(storage)


@pytest.mark.parametrize("what", FORGED)
def test_a_forged_entry_is_found(storage: Storage, what: str) -> None:
    forge(storage, *FORGED[what])
    found = findings(storage)
    assert found
    assert not any("another digest" in line for line in found), "the digests were made right again"


TREE_TERMS: dict[str, Any] = {
    "arms": {"a": "0.02", "b": "0.05"},
    "budget": "30",
    "cost_min": "0.001",
    "policy": "ucb-bv1",
    "capacity": 3,
    "account": "team",
    "every": "1h",
}


def begin(name: str, audited: Storage) -> Campaign:
    return Campaign.create(name, **TREE_TERMS, storage=audited)


@pytest.fixture
def audited() -> Storage:
    """A audited with an account and two campaigns below it that have been audited."""
    kept = in_memory()
    Account.create("team", budget="100", alerts=["1%"], storage=kept)
    for name in ("one", "two"):
        play_one(begin(name, kept))
    one = opened("one", kept)
    one.add_arm("c", cost_max="0.04")
    assert one.audit().ok
    return kept


def opened(name: str, audited: Storage) -> Campaign:
    return Campaign.open(name, storage=audited)


def play_one(campaign: Campaign) -> None:
    tickets = campaign.ask_many(6, labels={"user": "x"})
    campaign.tell(tickets[0], 1, "0.03")
    campaign.settle(tickets[1], "0.02")
    campaign.fail(tickets[2], 0)
    campaign.void(tickets[3])


def test_the_next_audit_decides_only_what_came_since(audited: Storage) -> None:
    one, two = opened("one", audited), opened("two", audited)
    before = one.status().entries
    again = one.audit()
    assert (again.after, again.findings) == (before, ())
    open_tickets = one.tickets(states=["held", "settled"])
    for ticket in open_tickets:
        one.tell(ticket, 0.5, "0.02")
    one.tell(4, 0, "0.01")  # it was void
    play_one(two)
    begin("three", audited)
    play_one(opened("three", audited))
    found = one.audit()
    assert (found.after, found.findings) == (before, ())
    assert opened("three", audited).audit().after == opened("three", audited).status().entries
    assert one.audit(full=True).after == 0
    assert Account.open("team", storage=audited).audit().ok


def test_an_outage_is_no_finding(audited: Storage, monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(*_: Any) -> Any:
        raise StorageUnavailable("connection failed")

    with suppress(PurseError):
        opened("one", audited).tell(1, 0, "0.01")  # a conflict, for which a ticket is looked up
    monkeypatch.setattr(Storage, "about", gone)
    with pytest.raises(StorageUnavailable, match=r"^connection failed$"):
        opened("one", audited).audit()


def test_what_was_changed_since_is_found(audited: Storage) -> None:
    one = opened("one", audited)
    play_one(one)
    for statement, words in (
        ("UPDATE purse_balances SET spent = spent + 1 WHERE level = 2 AND key = ''", "balances"),
        ("UPDATE purse_balances SET tickets = tickets + 1 WHERE key = 'user'", "sums of labels"),
        ("DELETE FROM purse_open_tickets WHERE level = 2", "open tickets"),
    ):
        with audited.db.writing() as session:
            session.read([(statement, ())])
        found = one.audit()
        assert found.after > 0
        assert any(words in text for text in found.findings), found.findings


@pytest.mark.parametrize("name", ["team", "two"])
@pytest.mark.parametrize("body", [b"", b"x" * 40])
def test_a_damaged_checkpoint_sends_the_audit_back_to_the_first_entry(
    audited: Storage, name: str, body: bytes
) -> None:
    kept = audited.checkpoint(name, AUDIT)
    assert kept is not None
    audited.keep(name, AUDIT, kept.seq, kept.digest, body)
    found = opened("one", audited).audit()
    assert (found.after, found.findings) == (0, ())


def test_a_policy_of_other_code_sends_the_audit_back_to_the_first_entry(
    audited: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Learner, "begin_at", lambda *_: False)
    found = opened("one", audited).audit()
    assert (found.after, found.findings) == (0, ())


VERSION_TERMS: dict[str, Any] = {"arms": {"a": 1, "b": 1}, "budget": 100, "policy": "replan"}


@pytest.fixture
def of_version_one(monkeypatch: pytest.MonkeyPatch) -> Campaign:
    """A of_version_one with ten reports, whose policy is of the next version by now."""
    made = Campaign.create("c", **VERSION_TERMS, explore=0.1, storage=in_memory())
    for turn in range(10):
        made.tell(made.ask(), turn % 2, "0.5")
    assert made.audit(full=True).notes == ()
    monkeypatch.setattr(replan, "VERSION", replan.VERSION + 1)
    return made


def test_choices_of_another_version_are_not_made_again_and_that_is_said_once(
    of_version_one: Campaign,
) -> None:
    found = of_version_one.audit(full=True)
    assert found.ok
    (note,) = found.notes
    now = replan.VERSION
    assert f"tickets of campaign 'c' were chosen by version {now - 1} of replan, which" in note


def test_all_else_is_still_decided_again(of_version_one: Campaign) -> None:
    with of_version_one.storage.db.writing() as session:
        session.read([("DROP TRIGGER purse_no_update", ())])
        ((text,),) = session.read([("SELECT body FROM purse_journal WHERE seq = 2", ())])[0]
        body = orjson.dumps({**orjson.loads(text), "held": [1]}).decode()
        session.read([("UPDATE purse_journal SET body = ? WHERE seq = 2", (body,))])
    assert any("would be" in finding for finding in of_version_one.audit(full=True).findings)


def test_the_terms_say_which_version_chooses() -> None:
    made = Campaign.create("c", **VERSION_TERMS, storage=in_memory())
    assert made.terms.policy_version == replan.VERSION
    other = Campaign.create("o", **{**VERSION_TERMS, "policy": "uniform"}, storage=in_memory())
    assert "policy_version" not in other.terms.as_dict()


def all_findings(*levels: Any) -> str:
    """All that audits of these find, in one text."""
    return "\n".join(text for level in levels for text in level.audit().findings)


def test_an_ask_that_a_paused_account_let_through(monkeypatch: pytest.MonkeyPatch) -> None:
    harness = MemoryHarness()
    storage = harness.storage()
    top, _ = company(storage)
    below = campaign(storage, "below")
    top.pause()
    with monkeypatch.context() as patch:
        patch.setattr(asks, "_refuse_stopped", lambda _: None)
        below.ask()
    for level in (top, below):
        assert "would be refused: account 'company' is paused" in all_findings(level)


def test_a_campaign_that_is_not_below() -> None:
    harness = MemoryHarness()
    storage = harness.storage()
    _, team = company(storage)
    below = campaign(storage, "below")
    below.ask()
    harness.execute("UPDATE purse_levels SET parent = NULL WHERE name = 'below'")
    assert "the balances of account 'team'" in all_findings(team)
    with pytest.raises(PurseError, match="was deleted and recreated"):
        Campaign.open("below", storage=harness.storage()).ask()


def test_a_restored_campaign_that_spent_nothing_joins_too(tmp_path: Path) -> None:
    storage = in_memory()
    top, team = company(storage)
    alone = campaign(storage, "alone", None)
    alone.void(alone.ask())
    alone.export(tmp_path / "journal")
    joined = Campaign.restore(tmp_path / "journal", name="joined", account="team", storage=storage)
    assert [*joined.journal()][-1].kind == "joined"
    assert all_findings(top, team, joined) == ""
    assert joined.audit(full=True).ok


def test_the_database_stands_behind_the_rules(
    shared: StorageHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is written on any level."""
    storage = shared.storage()
    top, team = company(storage, team=2)
    below = campaign(storage, "below")
    below.ask_many(2)
    look_at_the_campaign_only(monkeypatch)
    with pytest.raises(PurseError, match="would violate a constraint"):
        below.ask()
    monkeypatch.undo()
    for level, left in ((top, "8"), (team, "0"), (below, "98")):
        assert balance(level) == ("0", "2", "0", left, "0")
        assert level.audit().ok


def test_without_the_check_an_audit_finds_it(
    shared: StorageHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    without(monkeypatch, NEVER_OVERSPENT)
    storage = shared.storage()
    _, team = company(storage, team=2)
    below = campaign(storage, "below")
    look_at_the_campaign_only(monkeypatch)
    below.ask_many(3)
    monkeypatch.undo()
    found = team.audit().findings
    assert found[0].startswith("entry 2 would be ")  # it saw 2 as left, not 100
    assert any("team" in finding and "is overspent" in finding for finding in found), found


def test_an_ask_above_the_budget_is_found_whatever_rules_and_fold_say(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """P1 itself, not what the fold takes for covered."""
    let_asks_overdraw(monkeypatch)
    asked = campaign(MemoryHarness().storage(), "asked", account=None, budget=1)
    asked.ask_many(2)
    assert asked.audit().findings == ("entry 3: campaign 'asked' is overspent",)


def test_what_ends_between_the_levels_leaves_nothing(
    shared: StorageHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All is written but the last thing, which fails."""
    storage = shared.storage()
    top, team = company(storage)
    below = campaign(storage, "below")
    ticket = below.ask()
    with monkeypatch.context() as patch:
        for session in (_SqliteSession, _PostgresSession):
            patch.setattr(session, "write", then_fails(session.write))
        for call in (lambda: below.ask("r"), lambda: below.tell(ticket, 1, 1)):
            with pytest.raises(PurseError, match="purse_nowhere"):
                call()
    for level, left in ((top, "9"), (team, "5"), (below, "99")):
        assert balance(level) == ("0", "1", "0", left, "0")
        assert level.audit().ok
    assert below.ask("r").id == 2


def then_fails(write: Callable[..., None]) -> Callable[..., None]:
    """Return a method that writes, and then into a table that is not there."""

    def writes(session: Any, statements: list[Any]) -> None:
        write(session, [*statements, ("DELETE FROM purse_nowhere", [()])])

    return writes


FAR = 1000  # beyond all numbers in the tree


# what an audit of the tree may not see
CACHE = "a cache: its reader begins at an earlier entry if it is not whole, or of another journal"
NO_LEVEL = "the row is of no level, and nobody reads it"
OTHER_TREE = "the level is in no tree that is audited"
UNSEEN: dict[tuple[str, str | None, str | None], str] = {
    ("purse_levels", "a row more", "account"): OTHER_TREE,
    ("purse_balances", "a row more by level", None): NO_LEVEL,
    ("purse_journal", "a row more by level", None): NO_LEVEL,
    ("purse_open_tickets", "a row more by level", None): NO_LEVEL,
    ("purse_checkpoints", None, "audit"): CACHE,
    ("purse_checkpoints", None, HISTORY): CACHE,
    **{
        ("purse_checkpoints", what, "policy"): CACHE  # its body and its digest are compared
        for what in ("level", "kind", "seq", "a row less", "a row more by level")
    },
    ("purse_checkpoints", "a row more by kind", "policy"): CACHE,
}


# entries that the audit compares as it does those of other kinds
OTHER_KINDS = (
    *("settled", "failed", "voided", "rewarded", "expired", "conflict", "paused", "resumed"),
    *("arm_added", "arm_retired", "arm_changed", "alerts_set"),
)
TABLES = ("levels", "balances", "journal", "open_tickets", "checkpoints")


@pytest.fixture(scope="module")
def tree() -> Tree:
    """Two campaigns below an account with entries of every kind, in which nothing is wrong."""
    tree = Tree(capacity=3)
    tree.play(scale(12, 60))
    one, two = tree.campaigns
    tree.account.top_up("1")
    one.add_arm("c", cost_max="0.04")
    one.set_arm("c", cost_max="0.05")
    one.retire_arm("c")
    one.pause()
    one.resume()
    one.ask(request_id="one")
    two.ask_many(2, request_id="two")
    two.set_alerts(["80%"])
    assert not seen(tree)
    execute(tree.storage, "PRAGMA ignore_check_constraints = ON")
    return tree


def seen(tree: Tree) -> tuple[str, ...]:
    """Return the findings of a whole audit, or the refusal to go on."""
    try:
        return audit(tree.storage, "team", full=True).findings
    except PurseError as error:
        return (str(error),)


def others(value: Any) -> list[Any]:
    """Return other values; one for each field of a text in JSON."""
    if isinstance(value, str) and value.startswith("{"):
        facts = orjson.loads(value)
        return [
            orjson.dumps(facts | {name: other}).decode()
            for name, fact in facts.items()
            for other in others(fact)
        ]
    match value:
        case None:
            return [FAR]
        case int() | float():
            return [value + FAR]
        case str():
            return [value + "x"]
        case bytes():
            return [bytes([value[0] ^ 1]) + value[1:]]
        case list():
            return [[*value, 1]]
        case _:
            return [value | {"x": 1}]


def changes(table: str, rows: list[dict[str, Any]], keys: list[str]) -> Iterator[Any]:
    """Yield a change of one row each: what it is called, the kind of the row, and the row after it;
    None if it is removed. In `make test` one row of some kinds changes, in soak every row.
    """
    kinds = set[Any]() if SOAK or table != "purse_journal" else set(OTHER_KINDS)
    for row in rows:
        kind = row.get("kind", row.get("state", row.get("key")))
        if kind in kinds and not SOAK:
            continue
        kinds.add(kind)
        for column, value in row.items():
            # a digest is of the whole body
            for other in others(value)[: 1 if column == "body" else None]:
                yield column, kind, row, {**row, column: other}
        yield "a row less", kind, row, None
        if table == "purse_levels":
            yield "a row more", kind, None, {**row, "id": FAR, "name": "more"}
        else:
            for column in keys:
                once = {name: None for name in ("request", "ticket") if table == "purse_journal"}
                more = {**once, column: others(row[column])[0]}
                yield f"a row more by {column}", kind, None, {**row, **more}


@pytest.mark.parametrize("table", [f"purse_{name}" for name in TABLES])
def test_every_change_of_every_column_is_seen(tree: Tree, table: str) -> None:
    columns = execute(tree.storage, f"PRAGMA table_info({table})")
    names, keys = [row[1] for row in columns], [row[1] for row in columns if row[5]]
    stored = [tuple(row) for row in execute(tree.storage, f"SELECT * FROM {table}")]
    put = f"INSERT INTO {table} VALUES ({', '.join('?' * len(names))})"

    def write(rows: list[tuple[Any, ...]]) -> None:
        with tree.storage.db.writing() as session:
            session.read([(f"DELETE FROM {table}", ()), (put, rows)])

    unseen, count, excused = [], 0, 0
    for what, kind, before, after in changes(
        table, [dict(zip(names, row, strict=True)) for row in stored], keys
    ):
        rest = [row for row in stored if before is None or row != tuple(before.values())]
        write([*rest, *([] if after is None else [tuple(after.values())])])
        count += 1
        allowed = {(table, what, kind), (table, what, None), (table, None, kind)} & UNSEEN.keys()
        if not seen(tree):
            excused += bool(allowed)
            unseen += [(what, kind)] * (not allowed)
        write(stored)
    print(f"{table}: {len(names)} columns, {len(stored)} rows, {count} changes, {excused} unseen")
    assert not unseen
    assert count > len(names)
    assert not seen(tree), "everything is as it was"


def test_the_tables_are_all_there_are(tree: Tree) -> None:
    rows = execute(tree.storage, "SELECT name FROM sqlite_master WHERE type = 'table'")
    # `test_seal` changes what is in seals
    assert {name for (name,) in rows} == {f"purse_{name}" for name in (*TABLES, "seals")}
