"""What names a person is in no table, file or log any more; sums, money and choices stay."""

import gzip
from dataclasses import replace
from pathlib import Path
from typing import Any

import apsw
import pytest

from purse import AskRefused, Campaign, Conflict, InvalidInput
from purse.campaign.ledger.entry import LedgerEntry
from purse.campaign.run import audit as audits
from purse.campaign.run.forget import Forgotten, forget
from purse.campaign.run.seal import audit_with, seal
from purse.campaign.storage import sqlite_file
from purse.errors import NotFound
from purse.lab.data.journal import read_journal_log
from purse.lab.data.question import Question
from tests.support.storages import MemoryHarness, PostgresHarness, SqliteHarness, StorageHarness

DAY = 86_400_000
ADA = "ada.lovelace@example.org"
BLIND = {
    "arms": {"a": "1", "b": "1"}, "budget": 1000, "cooldown": None, "policy": "uniform",
    "features": {"x": [0, 1]}, "limits": {"user": "20"},
}  # fmt: skip
SEEING = BLIND | {"policy": "square-cbwk"}  # whose probabilities tell what it has learnt
HERS = "20 entries were forgotten in campaign 'c'"  # 10 asks, 8 reports, a charge and a limit


def played(harness: StorageHarness, terms: dict[str, Any] = BLIND) -> Any:
    """A campaign in which every third round is Ada's; every fifth ticket is open."""
    campaign = harness.create("c", **terms)
    play(campaign, ADA, 30)
    campaign.charge("0.5", labels={"user": ADA}, note=f"a refund for {ADA}", request_id="refund")
    campaign.set_limit("user", "15", value=ADA)
    return campaign


def play(campaign: Any, third: str, n: int = 15) -> None:
    for number in range(n):
        x, user = ((0.123456, third), (number / n, "bob"), (0.7, "cy"))[number % 3]
        ticket = campaign.ask(context={"x": x}, labels={"user": user, "team": "blue"})
        if number % 5:
            campaign.tell(ticket, number % 2, "0.5")


def forgotten(harness: StorageHarness, value: str = ADA) -> Forgotten:
    return forget(harness.storage(), "user", value)


def is_there(harness: StorageHarness, text: object = ADA) -> bool:
    """Whether a text is in the file or its log, or in the tables and what is known of them."""
    if isinstance(harness, SqliteHarness):
        files = [harness.path, Path(f"{harness.path}-wal")]
        return any(str(text).encode() in file.read_bytes() for file in files if file.exists())
    tables = [f"purse_{name}" for name in ("levels", "balances", "journal", "checkpoints")]
    if isinstance(harness, PostgresHarness):
        tables.append("pg_stats WHERE schemaname = current_schema()")
    with harness.storage().db.reading() as session:
        rows = session.read([(f"SELECT * FROM {table}", ()) for table in tables])
    cells = (cell for table in rows for row in table for cell in row)
    texts = (c.decode("latin-1") if isinstance(c, bytes) else str(c) for c in cells)
    return any(str(text) in each for each in texts)


def sums(campaign: Any) -> dict[str, Any]:
    return {row.value: replace(row, value="") for row in campaign.labels("user")}


def test_a_name_is_nowhere_and_all_else_is_as_it_was(harness: StorageHarness) -> None:
    campaign = played(harness)
    assert campaign.audit().ok  # which leaves a checkpoint
    if isinstance(harness, PostgresHarness):
        harness.execute("ANALYZE")
    before, booked = campaign.status(), sums(campaign)
    first = next(entry for entry in campaign.journal() if entry.kind == "asked")
    hers = (ADA, first.body["context"][0])
    assert [is_there(harness, text) for text in hers] == [True, True]
    done = forgotten(harness)
    with pytest.raises(Exception, match="append-only"):
        harness.execute("UPDATE purse_journal SET at = 0")
    assert [is_there(harness, text) for text in hers] == [False, False]
    assert (done.entries, done.rest) == ({"c": 20}, [])
    assert campaign.status() == before
    booked[done.pseudonym] = booked.pop(ADA)
    assert sums(campaign) == booked
    audit = campaign.audit(full=True, noted=(before.entries, before.digest))
    assert (audit.findings, audit.notes) == ((), (HERS,))
    with pytest.raises(NotFound, match="no campaign has a label user='ada"):
        forgotten(harness)
    assert forgotten(harness, done.pseudonym).entries == {"c": 20}  # it is a value like others
    assert campaign.audit(full=True).notes == (HERS,)


@pytest.mark.parametrize("terms", [BLIND, SEEING], ids=["blind", "seeing"])
def test_what_is_open_elsewhere_goes_on_and_brings_nothing_back(
    harness: StorageHarness, terms: dict[str, Any]
) -> None:
    what_is_open_elsewhere_goes_on(harness, terms)


def what_is_open_elsewhere_goes_on(harness: StorageHarness, terms: dict[str, Any] = SEEING) -> None:
    """Two processes have learnt and hold tickets of Ada's."""
    one = played(harness, terms)
    two = Campaign.open("c", storage=harness.storage())
    two.probabilities(context={"x": 0.5})
    play(one, ADA)  # which `two` has not learnt
    done = forgotten(harness)
    for ticket in one.tickets():
        two.tell(ticket, 1, "0.5")
    play(two, "dora")
    play(one, "dora")
    one.add_arm("c", cost_max="1")  # the policy learns again, from what is left
    play(two, "dora")
    play(one, "dora")
    audit = one.audit(full=True)
    assert audit.findings == ()
    assert (len(audit.notes), one.audit().findings) == (1 + (terms is SEEING), ())
    assert not is_there(harness)
    (hers,) = [row for row in one.labels("user") if row.value == done.pseudonym]
    assert (hers.tickets, hers.held, hers.limit) == (15, ("0",), ("15",))


def test_audits_say_which_choices_they_take_as_they_are_written(harness: StorageHarness) -> None:
    campaign = played(harness, SEEING)
    harness.drop_checkpoints("c")
    last = campaign.status().entries
    forgotten(harness)
    taken = (
        f"contexts of campaign 'c' are forgotten: from entry 2 to {last}, arms and probabilities "
        "were taken as they are written"
    )
    assert campaign.audit(full=True).notes == (HERS, taken)
    play(campaign, "dora")
    ((_, arm),) = [(e.seq, e.body["arm"]) for e in campaign.journal() if e.kind == "asked"][-1:]
    assert campaign.audit(full=True).findings == ()
    with pytest.MonkeyPatch.context() as patch:  # choices after that are made again
        patch.setattr(type(campaign._local.committer.policy), "choose", lambda *_: (1 - arm, 0.5))
        assert "would be" in campaign.audit(full=True).findings[-1]


@pytest.mark.parametrize("terms", [BLIND, SEEING], ids=["blind", "seeing"])
def test_a_copy_has_the_same_chain_and_goes_on(terms: dict[str, Any], tmp_path: Path) -> None:
    harness, other, file = MemoryHarness(), MemoryHarness(), tmp_path / "c.jsonl"
    campaign = played(harness, terms)
    forgotten(harness)
    campaign.export(file)
    assert ADA not in file.read_text()
    assert (
        "left out, as their contexts are forgotten: 8 rewards"
        in read_journal_log(file, Question()).notes
    )
    copy = Campaign.restore(file, storage=other.storage())
    assert copy.status().digest == campaign.status().digest
    play(copy, "dora")
    assert copy.audit(full=True).findings == ()


def test_who_comes_back_is_another_value_with_the_limit_of_its_key(harness: StorageHarness) -> None:
    campaign = harness.create("c", **BLIND | {"limits": {"user": "2"}})
    for request in ("1", "2"):
        campaign.ask(request, context={"x": 0}, labels={"user": ADA})
    with pytest.raises(AskRefused):
        campaign.ask(context={"x": 0}, labels={"user": ADA})
    forgotten(harness)
    with pytest.raises(Conflict, match="another request"):  # its answer names nobody
        campaign.ask("1", context={"x": 0}, labels={"user": ADA})
    assert campaign.ask("3", context={"x": 0}, labels={"user": ADA}).id == 3
    assert campaign.audit(full=True).ok


def test_an_audit_beside_it_keeps_no_name(harness: StorageHarness) -> None:
    campaign, keep = played(harness), audits._keep

    def later(*given: Any) -> None:
        forgotten(harness)
        keep(*given)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(audits, "_keep", later)
        assert campaign.audit().ok
    assert not is_there(harness)


def test_equal_labels_leave_no_equal_hashes() -> None:
    body = {"t": 1, "context": [0.5], "labels": {"user": ADA, "team": "blue"}, "n": 2}
    one, two = (LedgerEntry.of(2, 3, "asked", body, "r", 1) for _ in range(2))
    after = one.forgotten("user", ADA, "nobody")
    assert after.body == {
        "t": 1, "context": None, "labels": {"user": "nobody", "team": "blue"}, "n": 2,
        "forgotten": after.body["forgotten"],
    }  # fmt: skip
    assert after.salt is None
    assert after.chain("x") == one.chain("x") != two.chain("x")
    assert after.body["forgotten"] != two.forgotten("user", ADA, "nobody").body["forgotten"]
    changed = LedgerEntry.of(2, 3, "asked", body | {"context": [0.6]}, "r", 1, one.salt)
    assert changed.chain("x") != one.chain("x")


def test_a_reader_may_keep_the_log_of_sqlite(
    make_harness: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_file, "_LOCK_TIMEOUT_S", 0.1)
    played(harness := make_harness("sqlite"))
    reader = apsw.Connection(str(harness.path))
    reader.execute("BEGIN; SELECT count(*) FROM purse_levels").fetchall()
    assert forgotten(harness).rest == [f"{harness.path}-wal: another process has read it for long"]
    reader.close()
    harness.storage().db.shrink()
    assert not is_there(harness)


@pytest.mark.parametrize("terms", [BLIND, SEEING], ids=["blind", "seeing"])
@pytest.mark.parametrize("is_given", [True, False], ids=["given", "missed"])
def test_seals_and_archives_forget_too(
    shared: StorageHarness, tmp_path: Path, terms: dict[str, Any], is_given: bool
) -> None:
    campaign, archives = played(shared, terms), list[Path]()
    for ticket in campaign.tickets():
        campaign.tell(ticket, 1, "0.5")
    for day in ("first", "second"):
        shared.clock += 3 * DAY
        sealed = seal(shared.storage(), "c", day, shared.clock - DAY, tmp_path)
        assert sealed is not None
        archives.append(sealed.archive)
        play(campaign, ADA if is_given else "dora")
        for ticket in campaign.tickets():
            campaign.tell(ticket, 1, "0.5")
    given = archives if is_given else archives[1:]
    done = forget(shared.storage(), "user", ADA, given)
    assert not is_there(shared)
    assert campaign.audit(full=True).findings == ()
    assert set(done.entries) == {"c", *map(str, archives if is_given else ())}
    if not is_given:
        assert done.rest == ["archives of 'c' with entries 1 to 63: they were not given"]
        assert audit_with(shared.storage(), "c", archives).findings
        again = forget(shared.storage(), "user", ADA, archives[:1], done.pseudonym)
        assert list(again.entries) == [str(archives[0])]
    for archive in archives:
        assert ADA.encode() not in gzip.decompress(archive.read_bytes())
    play(campaign, "dora")
    assert audit_with(shared.storage(), "c", archives).findings == ()
    assert campaign.audit(full=True).findings == ()
    values = {row.value for row in campaign.labels("user", by="day")}
    assert values == {done.pseudonym, "bob", "cy", "dora"}


def test_other_campaigns_keys_and_values_stay(harness: StorageHarness) -> None:
    campaign = played(harness)
    others = harness.create("d", arms={"a": "1"}, budget=9)
    labels = {"user": f"{ADA}.uk", "team": ADA}
    others.ask(labels=labels)
    journal = list(others.journal())
    forgotten(harness)
    assert list(others.journal()) == journal
    assert {row.value for row in campaign.labels("team")} == {"blue"}
    with pytest.raises(InvalidInput, match=r"labels\['user'\]=''"):
        forgotten(harness, "")
