"""`purse storage`: a file or a database as a whole."""

import re
from pathlib import Path
from unittest.mock import patch

from purse.campaign.storage import schema
from purse.campaign.storage.sqlite import Sqlite
from purse.policies import replan
from tests.support.cli import Command, check_mistake
from tests.support.old_storages import load
from tests.support.storages import START, TERMS, SqliteHarness

DAY = 86_400_000  # ms
OVER = f"campaign 'forecast' from version 2 of replan to version {replan.VERSION} of replan"


def test_a_migration_is_rehearsed_and_done_and_says_what_it_does(
    command: Command, tmp_path: Path
) -> None:
    file = tmp_path / "purse.db"
    load(SqliteHarness(file))
    before = file.read_bytes()
    now, what = schema.VERSION, "17 budgets with 518 entries"
    assert command("storage migrate --dry-run") == (
        0,
        f"tables of version 9 would have version {now} in about 1 second: {what}\n"
        f"would hand over {OVER}\n",
        "",
    )
    assert file.read_bytes() == before
    code, out, err = command("storage migrate")
    assert (code, err) == (0, "")
    assert re.sub(r"after [\d.]+ s", "after 1 s", out).splitlines() == [
        f"handed over {OVER}",
        f"tables have version {now} after 1 s: {what}",
        "digests that were noted before may match no more: note them again",
    ]
    for words, said in (("", "have version 11 as before"), (" --dry-run", "of version 11 stay")):
        assert said in command(f"storage migrate{words}")[1]
    assert command("campaign ask forecast")[0] == 0


def test_only_a_storage_that_is_there_is_migrated(command: Command, tmp_path: Path) -> None:
    for words, said in (
        ("", "there is no file"),
        ("--storage https://localhost:1", "a server does not have this command"),
        ("--storage memory:", "must be a file of SQLite or a database of PostgreSQL"),
    ):
        check_mistake(command, tmp_path, f"storage migrate {words}", said)


def test_entries_are_sealed_and_audited_with_their_archive(
    command: Command, tmp_path: Path
) -> None:
    harness = SqliteHarness(tmp_path / "purse.db")
    one = harness.create("one", **TERMS)
    one.tell(one.ask(), 1, "0.5")
    harness.close()
    archive = tmp_path / "old" / "one-before-2027-01-16.jsonl.gz"
    words = "storage seal --before 2027-01-16 --archives old"
    with patch.object(Sqlite, "now", lambda _: START + 3 * DAY):
        sealed = f"one: 3 entries sealed, and archived in {archive.relative_to(tmp_path)}\n"
        assert command(words) == (0, sealed, "")
        assert command(words) == (0, "", "")
    code, out, _ = command(f"storage audit one --archive {archive}")
    assert (code, out[: out.index(";")]) == (0, "one: 4 entries, all agree with the journal")
    check_mistake(command, tmp_path, "storage audit one", "the entries of 'one' are not all that")
    check_mistake(command, tmp_path, words.replace("16", "x"), "before='2027-01-x': must be a day")


def test_a_label_is_forgotten(command: Command, tmp_path: Path) -> None:
    harness = SqliteHarness(tmp_path / "purse.db")
    one = harness.create("one", **TERMS)
    for user in ("ada", "ada", "bob"):
        one.ask(labels={"user": user})
    with patch.object(Sqlite, "now", lambda _: START + 3 * DAY):
        command("storage seal --before 2027-01-16 --archives old")
    words = "storage forget --label user=ada"
    code, out, err = command(words)
    assert (code, err) == (
        0,
        "it may still be in archives of 'one' with entries 1 to 4: they were not given\n",
    )
    said = re.search(r"the value is (forgotten-[0-9a-f]{16}) now$", out)
    assert said is not None
    assert out.startswith("one: 3 entries forgotten\n")
    archive = Path("old", "one-before-2027-01-16.jsonl.gz")
    assert command(f"{words} --archive {archive} --pseudonym {said[1]}") == (
        0,
        f"{archive}: 2 entries forgotten\nthe value is {said[1]} now\n",
        "",
    )
    code, out, _ = command(f"storage audit one --archive {archive}")
    assert (code, out.splitlines()[0]) == (0, "3 entries were forgotten in campaign 'one'")
    check_mistake(command, tmp_path, words, "no campaign has a label user='ada'")
    check_mistake(command, tmp_path, words.replace("=ada", ""), "label='user': must be KEY=VALUE")
