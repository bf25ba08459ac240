"""Seals: what is left of sealed entries decides, audits and shows as the entries did."""

import gzip
import io
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from shutil import copy
from typing import Any

import orjson
import pytest

from purse import Campaign, InvalidInput, PurseError
from purse.base import amounts
from purse.campaign.run import learner
from purse.campaign.run.audit import audit
from purse.campaign.run.seal import Sealed, audit_with, seal, seal_all
from purse.campaign.storage.connect import connect, in_memory
from purse.errors import TicketError
from tests.support.campaigns import exported
from tests.support.game import START
from tests.support.processes import forked
from tests.support.soak import scale
from tests.support.storages import TERMS, StorageHarness
from tests.support.tree import Tree, execute, findings, forge

DAY = 86_400_000


def played(harness: StorageHarness, steps: int = 160, **terms: Any) -> Tree:
    tree = Tree(harness.storage(), **terms)
    tree.play(steps)
    return tree


def seal_tree(tree: Tree, folder: Path, before: int | None = None) -> Sealed:
    """Seal what came before a time, or the first half of the time so far."""
    before = before or (START + tree.clock) // 2
    tree.clock = max(tree.clock, before + DAY)
    sealed = seal(tree.storage, "team", f"day-{before}", before, folder)
    assert sealed is not None
    return sealed


def shown(campaign: Campaign) -> list[Any]:
    """Return what readers make of a journal."""
    history = campaign._local.history.look(lambda history: history.as_dict())
    arms = [{**row, "recent_share": 0} for row in history["arms"]]
    return [arms, history["value"], history["incidents"], *labels(campaign)]


def labels(campaign: Campaign) -> list[Any]:
    return [campaign.labels(), campaign.labels(by="day")]


def test_all_goes_on_as_before(harness: StorageHarness, tmp_path: Path) -> None:
    tree = played(harness)
    one = tree.campaigns[0]
    before, n_before = shown(one), len(list(one.journal()))
    archives = [seal_tree(tree, tmp_path)]
    assert len(list(one.journal())) < n_before
    for campaign in (one, Campaign.open("one", storage=tree.storage)):  # live, and anew
        assert shown(campaign) == before
    for number in range(2):
        outcome = audit(tree.storage, "team")
        assert outcome.findings == ()
        assert outcome.after > 0
        assert any("are sealed" in note for note in outcome.notes)
        whole = audit_with(tree.storage, "team", [sealed.archive for sealed in archives])
        assert (whole.findings, whole.after, whole.digest) == ((), 0, outcome.digest)
        assert findings(tree.storage) == ()  # from the last audit on
        tree.play(60, seed=number + 2)
        if number == 0:
            archives.append(seal_tree(tree, tmp_path, tree.clock - 600_000))
    assert audit(tree.storage, "team").findings == ()


def test_open_tickets_stay_and_finished_ones_are_forgotten(
    harness: StorageHarness, tmp_path: Path
) -> None:
    tree = played(harness, 0, expires_after=None)
    one = tree.campaigns[0]
    done, waits = (one.ask(request_id=name) for name in ("done", "waits"))
    batch = one.ask_many(3, request_id="batch")
    for ticket in (done, batch[1]):
        one.tell(ticket, 1, "0.03")
    one.charge("0.01")  # the last entry stays
    seal_tree(tree, tmp_path, tree.clock + 1)
    assert one.ask(request_id="waits") == waits
    assert [each.id for each in one.ask_many(3, request_id="batch")] == [3, 5]
    assert one.ask(request_id="done").id == 6
    for refused in (lambda: one.tell(done, 1, "0.03"), lambda: one.ticket(done.id)):
        with pytest.raises(TicketError, match=r"^ticket 1 of campaign 'one' was finished, and is"):
            refused()
    for ticket in (waits, *batch[::2]):
        assert one.tell(ticket, 1, "0.03").state == "told"
    assert one.audit(full=True, acknowledged=[1, 2], noted=(1, "of before")).findings == ()
    assert one.audit(full=True, acknowledged=[7]).findings != ()


def test_an_export_begins_with_its_seal(tmp_path: Path, make_harness: Any) -> None:
    tree = played(make_harness("memory"))
    seal_tree(tree, tmp_path)
    tree.play(40, seed=9)
    one = tree.campaigns[0]
    one.expire()
    file = exported(one)
    assert [entry.kind for entry in one.journal()][:2] == ["created", "seal"]
    storage = make_harness("memory").storage()
    storage.now = lambda: tree.clock
    copy = Campaign.restore(io.StringIO(file.getvalue()), storage=storage)
    assert shown(copy) == shown(one)
    assert copy.audit(full=True).findings == ()
    for ticket in copy.tickets():
        copy.tell(ticket, 1, "0.01")
    copy.ask()
    assert copy.audit(full=True).findings == ()
    again = Campaign.restore(exported(copy), storage=storage, name="again")
    assert shown(again) == shown(copy)
    with pytest.raises(InvalidInput, match="a seal holds contexts"):
        one.export(io.StringIO(), contexts=False)


def test_what_cannot_be_sealed_is_refused_before_anything_is_written(
    tmp_path: Path, make_harness: Any
) -> None:
    tree = played(make_harness("memory"))
    entries = [*tree.campaigns[0].journal()]
    tree.clock += DAY
    for before, where, words in (
        (tree.clock - DAY + 1, tmp_path / "a", "must be a day that began at least a day ago"),
        (START + 9_000, tmp_path / "b", "is there already; must be a new file"),
    ):
        if "there" in words:
            where.mkdir()
            (where / "team-before-x.jsonl.gz").touch()
        with pytest.raises(InvalidInput, match=words):
            seal(tree.storage, "one", "x", before, where)
    assert seal(tree.storage, "team", "y", START, tmp_path / "c") is None
    assert not [*(tmp_path / "c").iterdir()]
    forge(tree.storage, "one", "told", lambda body: body.update(reward=0.25))
    with pytest.raises(PurseError, match=r"^nothing is sealed: the audit finds "):
        seal(tree.storage, "one", "z", tree.clock - DAY, tmp_path / "c")
    assert not [*(tmp_path / "c").iterdir()]
    assert len([*tree.campaigns[0].journal()]) == len(entries)


OF_ONE = "(SELECT id FROM purse_levels WHERE name = 'one')"
DAMAGE = [
    *(
        "UPDATE purse_seals SET body = "
        f"CAST(replace(CAST(body AS TEXT), '{was}', '{was}1') AS BLOB)"
        for was in ('"rounds":', '"history":[[', '"days":[["')
    ),
    f"UPDATE purse_seals SET seq = seq + 1 WHERE level = {OF_ONE}",
    "DELETE FROM purse_seals",
    'UPDATE purse_journal SET body = replace(body, \'"every":"day\', \'"every":"week\')'
    " WHERE seq = 1",
    f"UPDATE purse_journal SET at = at + 1 WHERE level = {OF_ONE} AND kind = 'asked'"
    f" AND seq < (SELECT seq FROM purse_seals WHERE level = {OF_ONE})",
    f"DELETE FROM purse_journal WHERE level = {OF_ONE}"
    f" AND seq = (SELECT seq + 3 FROM purse_seals WHERE level = {OF_ONE})",
    f"DELETE FROM purse_journal WHERE level = {OF_ONE} AND kind = 'sealed'",
]


@pytest.mark.parametrize("statement", DAMAGE)
def test_damage_to_what_is_left_is_found(tmp_path: Path, make_harness: Any, statement: str) -> None:
    tree = played(make_harness("memory"))
    seal_tree(tree, tmp_path)
    execute(tree.storage, statement)
    assert audit(tree.storage, "team").findings


def rewritten(archive: Path, change: Callable[[list[Any]], Any]) -> None:
    with gzip.open(archive) as file:
        lines = list(map(orjson.loads, file))
    change(lines)
    archive.write_bytes(gzip.compress(b"".join(orjson.dumps(line) + b"\n" for line in lines)))


def raise_a_reward(lines: list[Any]) -> None:
    told = [line for line in lines[1:] if line[4] == "told"]
    told[len(told) // 2][5]["reward"] = 0.25


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (raise_a_reward, "are not all that were sealed"),
        (lambda lines: lines.pop(), "are not all that were sealed"),
        (lambda lines: lines.pop(9), "must be all archives of the tree, the oldest first"),
        (lambda lines: lines.append([1]), "cannot be read"),
    ],
)
def test_a_changed_archive_is_refused(
    tmp_path: Path, make_harness: Any, change: Callable[[list[Any]], Any], words: str
) -> None:
    tree = played(make_harness("memory"))
    archive = seal_tree(tree, tmp_path).archive
    rewritten(archive, change)
    with pytest.raises(InvalidInput, match=words):
        audit_with(tree.storage, "team", [archive])


@pytest.mark.parametrize("why", ["an arm is added", "a bill raises an arm", "other code"])
def test_a_policy_that_learns_again_begins_with_the_sums(
    tmp_path: Path, make_harness: Any, monkeypatch: pytest.MonkeyPatch, why: str
) -> None:
    tree = played(make_harness("memory"))
    archive = seal_tree(tree, tmp_path).archive
    tree.play(20, seed=3)
    one = Campaign.open("one", storage=tree.storage)
    match why:
        case "an arm is added":
            one.add_arm("c", cost_max="0.2")
        case "a bill raises an arm":
            one.tell(one.ask(), 1, "0.9")
        case _:
            monkeypatch.setattr(learner, "fingerprint", lambda _: "another")
            execute(tree.storage, "DELETE FROM purse_checkpoints")
    tree.play(30, seed=4)
    with suppress(PurseError):
        one.ask()
    seals = [entry for entry in one.journal() if entry.kind == "seal"]
    handed = [entry for entry in one.journal() if entry.kind == "handed_over"]
    assert handed[-1].body["sealed"] == seals[0].seq
    whole = audit_with(tree.storage, "team", [archive])
    assert [audit(tree.storage, "team").findings, whole.findings] == [(), ()]
    again = Campaign.open("one", storage=tree.storage)
    execute(tree.storage, "DELETE FROM purse_checkpoints")
    assert again.probabilities() == one.probabilities()
    copy = Campaign.restore(exported(one), storage=tree.storage, name="copy")
    assert copy.audit(full=True).findings == ()


def test_the_sums_teach_a_policy_the_mean_of_each_arm() -> None:
    storage = in_memory()
    terms = Campaign.create(
        "c", arms={"a": 1, "b": 1}, budget=100, policy="ucb-bv1", storage=storage
    )._local.terms
    pupil = learner.Learner(terms)
    sums = {"0": [3, 1.5, [3 * amounts.UNIT // 2], []], "1": [5000, 1000.0, [10**12], []]}
    assert pupil.teach(learner.Lessons(7, "digest", 9_000, sums))
    assert (pupil.seq, pupil.digest) == (7, "digest")
    facts = {name: pupil.state[name].round(9).tolist() for name in ("pulls", "rewards", "costs")}
    assert facts == {"pulls": [3, 1000], "rewards": [1.5, 200], "costs": [1.5, 200]}


KILLED = """
import os, signal, sys
from pathlib import Path
from purse.campaign.run.seal import seal
from purse.campaign.storage.connect import connect
from purse.campaign.storage.sqlite import _SqliteSession

path, folder, before, now, left = sys.argv[1:]
storage, left, read = connect(f"sqlite:///{path}"), int(left), _SqliteSession.read
storage.now = lambda: int(now)

def counted(session, statements):
    global left
    rows = []
    for statement in statements:
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        rows += read(session, [statement])
    return rows

_SqliteSession.read = counted
seal(storage, "team", "day", int(before), Path(folder))
print(-left)
"""


def test_killed_anywhere_it_has_sealed_all_or_nothing(tmp_path: Path, make_harness: Any) -> None:
    harness = make_harness("sqlite")
    tree = played(harness, 40)
    tree.clock, before = tree.clock + 2 * DAY, tree.clock
    old = len([*tree.storage.entries("one", 0, 1_000)])
    harness.close()
    new, outcomes = 0, list[bool]()
    for number in range(scale(8, 50)):
        folder, path = tmp_path / f"killed-{number}", tmp_path / f"killed-{number}.db"
        copy(harness.path, path)
        # the first counts all statements; of the others, those of the transaction are the last
        left = 0 if number == 0 else new - scale(5, 2) * (number - 1)
        process = forked(
            KILLED, path, folder, before, tree.clock, left, out=(out := tmp_path / "out")
        )
        process.join(60)
        storage = connect(f"sqlite:///{path}")
        entries = len([*storage.entries("one", 0, 1_000)])
        archives = [*folder.glob("*.gz")]
        if number == 0:
            new = int(out.read_text())
        assert process.exitcode == (0 if number == 0 else -9)
        assert audit(storage, "team").findings == ()
        outcomes.append(entries < old)
        if outcomes[-1]:
            assert audit_with(storage, "team", archives).findings == ()
        storage.close()
    assert outcomes[0]
    assert not any(outcomes[1:]), "the commit is no statement"


def test_all_trees_are_sealed_by_day(tmp_path: Path, make_harness: Any) -> None:
    harness = make_harness("memory")
    for name in ("one", "two"):
        one = harness.create(name, **TERMS)
        one.tell(one.ask(), 1, "0.5")
    storage = harness.storage()
    harness.clock += 3 * DAY
    with pytest.raises(InvalidInput, match="before='soon': must be a day, such as 2027-01-01"):
        list(seal_all(storage, "soon", tmp_path))
    sealed = list(seal_all(storage, "2027-01-16", tmp_path))
    assert [(one.name, one.entries) for one in sealed] == [("one", 3), ("two", 3)]
    assert list(seal_all(storage, "2027-01-16", tmp_path)) == []
    harness.clock += 40 * DAY
    assert list(seal_all(storage, "2027-02-16", tmp_path)) == [], "seals are no reason for a seal"
    assert audit_with(storage, "one", [sealed[0].archive]).findings == ()
    with pytest.raises(InvalidInput, match="of 'two' does not come next"):
        audit_with(storage, "one", [sealed[1].archive])
