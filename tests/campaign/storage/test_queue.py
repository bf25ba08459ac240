"""Processes that wait leave a notice, and who is inside does what they want. Here guests are played
by hand, so that all happens in a known order.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from purse import BudgetHeld, Campaign, Conflict, PurseError, StorageUnavailable, TicketError
from purse._version import __version__
from purse.base import amounts
from purse.campaign import group_commit
from purse.campaign import operations as operations_module
from purse.campaign.learner import Learner, Snapshot
from purse.campaign.operations import (
    Operation,
    Report,
    apply_results,
    ask_operation,
    encode,
    encode_results,
    tell_operation,
)
from purse.campaign.results import Receipt
from purse.campaign.storage import board as boards
from purse.campaign.storage import places, postgres
from purse.campaign.storage.board import Board, waiting
from purse.campaign.storage.file_lock import FileLock
from purse.campaign.storage.memory import Memory
from purse.campaign.storage.queue import Queue, meeting_place
from tests.support.soak import scale

TERMS: dict[str, Any] = {"arms": ["a", "b", "c"], "budget": 100, "cost_min": "0.1", "cost_max": 1}
PATIENCE = 30.0


class Guest:
    """Another process, as far as the others can see it: somebody with a place and a bell, who
    waits.
    """

    def __init__(self, file: int) -> None:
        self.file, self.board = file, Board(PATIENCE)
        self.board.take_place(file)

    def wants(self, campaign: Campaign, *operations: Operation) -> None:
        """Leave a notice."""
        self.operations = operations
        text = encode(campaign.terms, operations)
        assert text is not None
        self.says(text)

    def says(self, text: bytes) -> None:
        """Leave any notice."""
        assert self.board.post(self.file, text)

    @property
    def reply(self) -> bytes | None:
        """What came of it."""
        return self.board._answer(self.file)

    def hears(self) -> list[Any]:
        """What came of each operation."""
        reply = self.reply
        assert reply is not None
        apply_results(self.operations, reply)
        return [operation.error or operation.answer for operation in self.operations]


@contextmanager
def met(folder: Path) -> Iterator[tuple[Campaign, Guest]]:
    """A campaign in a file, and somebody at its gate."""
    campaign = Campaign.create("c", **TERMS, storage=f"sqlite:///{folder}/purse.db")
    file = os.open(folder / "purse.db-gate", os.O_RDWR | os.O_CREAT)
    guest = Guest(file)
    try:
        yield campaign, guest
    finally:
        guest.board.renew()
        os.close(file)
        campaign.storage.close()


@pytest.fixture
def meeting(tmp_path: Path) -> Iterator[tuple[Campaign, Guest]]:
    """Both of them."""
    with met(tmp_path) as both:
        yield both


@pytest.fixture
def campaign(meeting: tuple[Campaign, Guest]) -> Campaign:
    """The campaign."""
    return meeting[0]


@pytest.fixture
def guest(meeting: tuple[Campaign, Guest]) -> Guest:
    """Who waits at its gate."""
    return meeting[1]


def no_choice(*_: Any) -> Any:
    """Guests do not choose."""
    raise AssertionError


def ask(request: str, n: int = 1) -> Operation:
    """An ask of a guest."""
    return ask_operation(n, request, no_choice)


def kinds(campaign: Campaign) -> list[str]:
    """The kinds of its entries."""
    return [entry.kind for entry in campaign.journal()]


def test_who_is_inside_does_what_others_want_in_the_same_transaction(
    campaign: Campaign, guest: Guest, monkeypatch: pytest.MonkeyPatch
) -> None:
    commits: list[int] = []
    change = type(campaign.storage).change
    monkeypatch.setattr(
        type(campaign.storage),
        "change",
        lambda *arguments: (commits.append(1), change(*arguments))[1],
    )
    guest.wants(campaign, ask("theirs", 2))
    mine = campaign.ask("mine")
    ((first, second),) = guest.hears()
    assert len(commits) == 1
    assert sorted((mine.id, first.id, second.id)) == [1, 2, 3]
    assert (first.state, first.body["held"], first.body["request"]) == (
        "held",
        [amounts.UNIT],
        "theirs",
    )
    assert [ticket.request_id for ticket in campaign.tickets()] == ["mine", "theirs", "theirs"]
    assert campaign.audit().ok


def test_a_guest_hears_what_it_would_have_found_itself(campaign: Campaign, guest: Guest) -> None:
    number = campaign.ask("r").id
    guest.wants(
        campaign,
        tell_operation([Report(number, [0.5], [3 * amounts.UNIT // 10]), Report(99, [0.5], [0])]),
        ask("r"),
    )
    campaign.ask()
    told, asked = guest.hears()
    assert told[0] == Receipt(number, "told", False, False, ("0.3",), ("0.7",), ("0",))
    assert isinstance(told[1], TicketError)
    assert "ticket 99" in str(told[1])
    assert [slot.id for slot in asked] == [number]  # the same request, the same ticket
    assert campaign.tell(number, 0.5, "0.3") == told[0]._replace(duplicate=True)
    with pytest.raises(Conflict):
        campaign.tell(number, 0.5, "0.4")


def test_a_guest_hears_of_its_error_and_nobody_else_does(tmp_path: Path) -> None:
    campaign = Campaign.create(
        "c", **{**TERMS, "budget": 1}, storage=f"sqlite:///{tmp_path}/purse.db"
    )
    campaign.ask("all")
    file = os.open(tmp_path / "purse.db-gate", os.O_RDWR)
    guest = Guest(file)
    guest.wants(campaign, ask("more"))
    # asks come first: the rest was not there yet
    assert campaign.tell(1, 1, "0.4").spent == ("0.4",)
    (error,) = guest.hears()
    assert type(error) is BudgetHeld
    assert "is held for open tickets" in str(error)
    guest.board.renew()
    os.close(file)
    campaign.storage.close()


def test_nothing_is_answered_before_it_is_durable(tmp_path: Path) -> None:
    """The commit fails: the guest has heard nothing, and does the work itself when it is inside."""
    with met(tmp_path) as (campaign, guest), pytest.MonkeyPatch.context() as patch:
        guest.wants(campaign, ask("theirs"))
        change = type(campaign.storage).change

        def fails(storage: Any, name: str, wants: Any, decide: Any) -> None:
            def then_stops(found: Any) -> None:
                decide(found)
                raise StorageUnavailable("the disk is gone")

            change(storage, name, wants, then_stops)

        patch.setattr(type(campaign.storage), "change", fails)
        with pytest.raises(StorageUnavailable, match="the disk is gone"):
            campaign.ask("mine")
        patch.undo()
        assert guest.reply is None
        assert kinds(campaign) == ["created"]
        campaign.ask("mine")
        assert [slot.body["request"] for slot in guest.hears()[0]] == ["theirs"]


@pytest.mark.parametrize(
    "text",
    [
        "not JSON",
        "7",
        '["0.0.0","ID",[["ask",1,"r"]]]',
        '["NOW","other",[["ask",1,"r"]]]',
        '["NOW","ID",[[]]]',
        '["NOW","ID",[["ask"]]]',
    ],
)
def test_a_notice_that_is_not_for_us_is_left_alone(
    campaign: Campaign, guest: Guest, text: str
) -> None:
    guest.says(text.replace("NOW", __version__).replace("ID", campaign.terms.id).encode())
    campaign.ask("mine")
    assert guest.reply is None
    assert kinds(campaign) == ["created", "asked"]


def test_a_damaged_notice_is_as_good_as_none(campaign: Campaign, guest: Guest) -> None:
    guest.wants(campaign, ask("theirs"))
    os.pwrite(guest.file, b"X", places.PAGE + guest.board._place * places.SIZE + places.FRONT + 5)
    campaign.ask("mine")
    assert guest.reply is None
    assert campaign.status().counts["held"] == 1


def test_a_notice_is_good_for_as_long_as_anybody_waits(
    campaign: Campaign, guest: Guest, monkeypatch: pytest.MonkeyPatch
) -> None:
    guest.wants(campaign, ask("theirs"))
    later = places.now() + 30_001
    monkeypatch.setattr(boards, "now", lambda: later)
    campaign.ask("mine")
    assert guest.reply is None
    assert campaign.status().counts["held"] == 1


def test_what_would_not_find_room_is_not_said(tmp_path: Path) -> None:
    """The bound holds for tickets, receipts and errors with the longest of everything."""
    plays, n_resources = scale(2, 5), scale(2, 3)  # two of each are compiled for other tests
    arms = ['"\\' * 30 + str(k) for k in range(6)]
    most: dict[str, Any] = {
        "resources": ["𝄞" * 50, "b", "c"][:n_resources],
        "budget": [10**9] * n_resources,
        "cost_min": "0.000000001",
        "cost_max": 10**6,
        "plays": plays,
        "policy": "uniform",
    }
    campaign = Campaign.create("n" * 100, arms=arms, **most, storage=Memory())
    request = "𝄞" * 100 + '"' * 100
    tickets = [ticket.id for ticket in campaign.ask_many(3, request)]
    costs = [amounts.UNIT * 10**6 - 1] * (plays * n_resources)
    told = tell_operation([Report(number, [0.123456789] * plays, costs) for number in tickets])
    again = tell_operation(
        [Report(number, [0.987654321] * plays, [cost - 1 for cost in costs]) for number in tickets]
    )
    for done in (
        ask_operation(3, request, no_choice),
        told,
        again,
        ask_operation(4, request, no_choice),
    ):
        try:
            done.answer = campaign._committer.do(done)
        except PurseError:
            assert done.error is not None
        text = encode_results([done])
        assert text is not None
        assert len(text) <= operations_module.room(campaign.terms, done)
    assert encode(campaign.terms, [ask("r", 2)]) is not None
    assert encode(campaign.terms, [ask("r", 10)]) is None
    assert encode(campaign.terms, [ask("r"), Operation(lambda book: book.void(1))]) is None
    assert encode(campaign.terms, [tell_operation([Report(1, [0.5], [2**70])])]) is None


def test_an_answer_for_which_there_is_no_room_after_all_is_found_when_asked_again(
    campaign: Campaign, guest: Guest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(operations_module, "ROOM", 10)
    monkeypatch.setattr(operations_module, "room", lambda *_: 0)
    guest.wants(campaign, ask("theirs"))
    campaign.ask("mine")
    assert guest.reply is None
    assert campaign.ask("theirs").id != campaign.ask("mine").id
    assert campaign.status().counts["held"] == 2
    assert campaign.audit().ok


def test_what_makes_a_guest_fail_is_not_our_failure(
    campaign: Campaign, guest: Guest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(group_commit, "encode_results", lambda _: 1 / 0)
    guest.wants(campaign, ask("theirs"))
    assert campaign.ask("mine").id == 1
    assert guest.reply is None
    assert campaign.status().counts["held"] == 1


def test_who_only_reports_chooses_for_nobody(
    tmp_path: Path, campaign: Campaign, guest: Guest
) -> None:
    """It would have to make a policy first, while all wait."""
    number = campaign.ask().id
    reporter = Campaign.open("c", storage=f"sqlite:///{tmp_path}/purse.db")
    guest.wants(campaign, ask("theirs"))
    reporter.tell(number, 1, "0.5")
    assert guest.reply is None
    assert reporter._committer.learner is None
    reporter.storage.close()


def test_the_next_takes_over_what_the_last_has_learnt(
    tmp_path: Path, campaign: Campaign, guest: Guest, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = Campaign.open("c", storage=f"sqlite:///{tmp_path}/purse.db")
    other.ask()
    for _ in range(20):
        campaign.tell(campaign.ask(), 0.5, "0.3")
    guest.wants(campaign, ask("one"))
    campaign.ask()  # leaves what it has learnt
    learnt: list[int] = []
    learn = Learner.learn
    monkeypatch.setattr(
        Learner,
        "learn",
        lambda mind, told, seq: (learnt.append(len(told)), learn(mind, told, seq))[1],
    )
    guest.wants(campaign, ask("two"))
    other.ask()
    assert learnt == [0]
    campaign.ask()  # so that it knows as much
    assert other._committer.recovered().state.keys() == campaign._committer.recovered().state.keys()
    assert (
        other._committer.recovered().snapshot().body
        == campaign._committer.recovered().snapshot().body
    )
    assert campaign.audit().ok
    other.storage.close()


def stranger_left() -> tuple[Campaign, Snapshot]:
    """A campaign with the same terms that has seen something else, and what it has learnt."""
    stranger = Campaign.create("c", **TERMS, storage=Memory())
    for _ in range(30):
        stranger.tell(stranger.ask(), 1, "0.1")
    stranger.ask()
    return stranger, stranger._committer.recovered().snapshot()


def found_there(folder: Path, text: Callable[[Campaign], bytes]) -> None:
    """Whatever was left, the policy is what the journal has made of it."""
    with met(folder) as (campaign, guest):
        campaign.ask()
        clean = Campaign.open("c", storage=campaign.storage)
        for _ in range(40):
            clean.tell(clean.ask(), 0.5, "0.3")
        guest.board.keep(guest.file, text(campaign))
        guest.wants(campaign, ask("theirs"))
        known = campaign._committer.learner
        campaign.ask()
        assert (
            campaign._committer.learner is known
        )  # it has learnt the rest, and not all of it again
        clean.ask()
        assert (
            campaign._committer.recovered().snapshot().body
            == clean._committer.recovered().snapshot().body
        )
        assert guest.reply is not None
        assert campaign.audit().ok


def test_what_was_left_at_another_moment_is_not_taken_over(tmp_path: Path) -> None:
    """As when a backup has taken the file's place since."""
    _, left = stranger_left()
    found_there(tmp_path, lambda campaign: left.packed(f"{campaign.terms.id} 0123456789abcdef"))


def test_what_was_left_for_others_or_is_damaged_is_not_taken_over(tmp_path: Path) -> None:
    stranger, left = stranger_left()
    damaged = left._replace(body=left.body[:-1] + b"?")
    for number, text in enumerate(
        (left.packed(f"{stranger.terms.id} 01"), damaged.packed(""), b"7", b"", b'[7,"7","a","b"]')
    ):
        (folder := tmp_path / str(number)).mkdir()

        def written(campaign: Campaign, text: bytes = text) -> bytes:
            return text.replace(b'""', f'"{campaign.terms.id} 01"'.encode())

        found_there(folder, written)


def test_who_is_called_has_the_reply_without_being_inside(tmp_path: Path) -> None:
    """Two real queues: one waits in a thread, with a place; the other does its work."""
    path = str(tmp_path / "gate")
    holder, waiter, third = Queue(path, PATIENCE), Queue(path, PATIENCE), Queue(path, PATIENCE)
    waiter._board.take_place(waiter._gate.file)
    heard: list[Any] = []

    def wait() -> None:
        with waiter.turn(lambda: b"please") as turn:
            heard.append(turn.reply)

    with holder.turn(lambda: None):
        thread = threading.Thread(target=wait)
        thread.start()
        while not holder._board.notices(holder._gate.file):
            pass
        (found,) = holder._board.notices(holder._gate.file)
        holder._board.answer(holder._gate.file, [found._replace(text=b"done")])
        holder._board.call(holder._gate.file, [found])
        thread.join()  # the gate is still shut
    assert heard == [b"done"]
    assert not third._board.crowded(third._gate.file)
    for each in (holder, waiter, third):
        each.close()


def test_one_who_waits_without_a_call_looks_by_himself(tmp_path: Path) -> None:
    waiter = Queue(str(tmp_path / "gate"), PATIENCE)
    waiter._board.take_place(waiter._gate.file)
    other = FileLock(str(tmp_path / "gate"))
    assert other.enter()

    def die() -> None:
        """Once the other has waited for long; nobody is called."""
        while waiter._gate._porter is None:
            time.sleep(0.001)
        other.close()

    threading.Thread(target=die).start()
    with waiter.turn(lambda: b"please") as turn:
        assert turn.reply is None
        assert not waiting(waiter._gate.file)  # the notice is taken down
    waiter.close()


def test_who_waits_too_long_gives_up_and_takes_the_notice_down(tmp_path: Path) -> None:
    waiter, other = Queue(str(tmp_path / "gate"), 0.1), FileLock(str(tmp_path / "gate"))
    waiter._board.take_place(waiter._gate.file)
    assert other.enter()
    with (
        pytest.raises(TimeoutError, match=r"could not lock .* has held it for 0\.1 seconds"),
        waiter.turn(lambda: b"please"),
    ):
        pass
    assert not waiting(other.file)
    other.close()
    with waiter.turn(lambda: b"please") as turn:
        assert turn.notices == []
    waiter.close()


def test_the_notice_of_a_dead_process_keeps_nobody_waiting(
    campaign: Campaign, guest: Guest, tmp_path: Path
) -> None:
    code = f"""
import os, signal
from purse.campaign.storage.board import Board, waiting
file = os.open({str(tmp_path / "purse.db-gate")!r}, os.O_RDWR)
board = Board(30)
board.take_place(file)
assert board.post(file, b'["another campaign"]')
os.kill(os.getpid(), signal.SIGKILL)
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == -9
    assert guest.board.crowded(guest.file)
    campaign.ask()
    assert not guest.board.crowded(guest.file)  # it was called, and there was nobody
    # he might be where we cannot call him, and is still served
    assert guest.board.notices(guest.file)


def test_one_who_is_called_and_does_not_come_keeps_nobody_waiting(
    campaign: Campaign, guest: Guest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As when he was stopped while he waited, and wants what others cannot do for him."""
    guest.says(b'["another campaign"]')
    campaign.ask()
    assert waiting(guest.file)
    later = places.now() + boards.ABSENT + 1
    monkeypatch.setattr(boards, "now", lambda: later)
    campaign.ask()
    assert not waiting(guest.file)
    assert guest.board.notices(guest.file)


def test_ones_own_notice_is_not_an_answer(guest: Guest) -> None:
    """A late answer to the notice before may leave its mark."""
    guest.says(b"before")
    (before,) = Board(PATIENCE).notices(guest.file)
    guest.says(b"now")
    places.mark(guest.file, places.ANSWER, guest.board._place)
    assert guest.reply is None
    guest.board.answer(guest.file, [before._replace(text=b"late")])
    assert guest.reply is None


def test_parent_and_children_are_not_the_same_on_the_board(campaign: Campaign) -> None:
    board = campaign.storage._queue._board  # type: ignore[attr-defined]
    campaign.storage._queue._gate._file = None  # type: ignore[attr-defined]  # as after a wait that was too long
    reader, writer = os.pipe()
    for _ in range(2):
        if os.fork() == 0:
            os.write(writer, board._me)
            os._exit(0)
        os.wait()
    seen = {os.read(reader, 16), os.read(reader, 16), board._me}
    os.close(reader)
    os.close(writer)
    assert len(seen) == 3


def test_a_child_leaves_the_parents_place_alone(tmp_path: Path) -> None:
    parent = Queue(str(tmp_path / "gate"), PATIENCE)
    parent._board.take_place(parent._gate.file)
    assert parent._board.post(parent._gate.file, b"please")
    if (child := os.fork()) == 0:
        parent.renew()
        os._exit(0)
    os.waitpid(child, 0)
    assert [each.text for each in Board(PATIENCE).notices(parent._gate.file)] == [b"please"]
    parent.close()
    again = FileLock(str(tmp_path / "gate"))
    assert not waiting(again.file)
    again.close()


def test_a_lock_that_came_too_late_is_given_back_whatever_was_forked_meanwhile(
    tmp_path: Path,
) -> None:
    holder, late, third = (FileLock(str(tmp_path / "gate")) for _ in range(3))
    assert holder.enter()
    with pytest.raises(TimeoutError):
        late.wait(0.01)  # its porter stands there still
    reader, writer = os.pipe()
    if (child := os.fork()) == 0:
        os.close(writer)
        os.read(reader, 1)
        os._exit(0)
    holder.close()
    third.wait(10)
    third.close()
    os.close(writer)
    os.waitpid(child, 0)
    os.close(reader)


def test_the_gate_is_for_those_for_whom_the_file_is(tmp_path: Path) -> None:
    storage = f"sqlite:///{tmp_path}/purse.db"
    campaign = Campaign.create("c", **TERMS, storage=storage)
    gate, file = tmp_path / "purse.db-gate", tmp_path / "purse.db"
    assert gate.stat().st_mode & 0o777 == file.stat().st_mode & 0o777
    campaign.storage.close()
    for mode in (0o600, 0o660):
        file.chmod(mode)
        campaign.ask()
        campaign.storage.close()
        assert gate.stat().st_mode & 0o777 == mode
    gate.rename(tmp_path / "elsewhere")
    gate.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StorageUnavailable):
        campaign.ask()
    campaign.storage.close()


def test_a_process_that_stands_still_here_does_not_shut_a_healthy_database(
    postgres_address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres, "MEETING", 0.1)
    campaign = Campaign.create("c", **TERMS, storage=postgres_address)
    campaign.ask()
    (path,) = (queue._gate._path for queue in campaign.storage._queues.values())  # type: ignore[attr-defined]
    other = FileLock(path)
    assert other.enter()
    assert campaign.ask().id == 2
    other.close()
    monkeypatch.setattr(
        FileLock, "file", property(lambda _: os.open("/nonexistent/gate", os.O_RDWR))
    )
    assert campaign.ask().id == 3
    monkeypatch.undo()
    campaign.storage.close()


def test_processes_of_a_machine_work_for_each_other_in_front_of_postgres(
    postgres_address: str,
) -> None:
    campaign = Campaign.create("c", **TERMS, storage=postgres_address)
    campaign.ask()
    (path,) = (queue._gate._path for queue in campaign.storage._queues.values())  # type: ignore[attr-defined]
    file = os.open(path, os.O_RDWR)
    guest = Guest(file)
    guest.wants(campaign, ask("theirs"), tell_operation([Report(1, [0.5], [amounts.UNIT])]))
    campaign.ask("mine")
    tickets, receipts = guest.hears()
    assert [slot.body["request"] for slot in tickets] == ["theirs"]
    assert [receipt.state for receipt in receipts] == ["told"]
    assert campaign.audit().ok
    guest.board.renew()
    os.close(file)
    campaign.storage.close()


def test_a_place_is_for_one(guest: Guest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(boards, "PLACES", 2)
    second, third = Board(PATIENCE), Board(PATIENCE)
    second.take_place(guest.file)
    third.take_place(guest.file)
    assert (guest.board._place, second._place, third._place) == (0, 1, -1)
    assert not third.post(guest.file, b"x")  # it waits at the gate, as if there were no board
    second.leave(guest.file)
    third.take_place(guest.file)
    assert third._place == -1  # it has looked just now
    third._full = 0
    third.take_place(guest.file)
    assert third._place == 1
    monkeypatch.setattr(boards, "now", lambda: places.now() + 60_001)
    fourth = Board(PATIENCE)
    fourth.take_place(guest.file)  # all have been silent for long
    assert fourth._place == 0
    assert not guest.board.post(guest.file, b"x")
    assert fourth.post(guest.file, b"x")
    for each in (second, third, fourth):
        each.renew()


def test_a_full_disk_only_takes_the_board_away(
    campaign: Campaign, guest: Guest, monkeypatch: pytest.MonkeyPatch
) -> None:
    guest.wants(campaign, ask("theirs"))

    def full(*_: Any) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("purse.campaign.storage.places.os.pwrite", full)
    assert campaign.ask("mine").id in (1, 2)
    monkeypatch.undo()
    assert guest.reply is None
    # as the guest would, once inside: what was done for it is found
    retried = campaign.ask("theirs")
    assert campaign.status().counts["tickets"] == 2
    assert {retried.id, campaign.ask("mine").id} == {1, 2}


@pytest.mark.parametrize("platform", ["darwin", "win32"])
def test_where_there_are_no_bells_processes_still_take_turns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, platform: str
) -> None:
    monkeypatch.setattr("purse.campaign.storage.queue.sys.platform", platform)
    campaign = Campaign.create("c", **TERMS, storage=f"sqlite:///{tmp_path}/purse.db")
    campaign.tell(campaign.ask(), 1, "0.5")
    assert campaign.status().counts["told"] == 1
    assert meeting_place("anything", 1) is None
    campaign.storage.close()


def test_processes_of_one_user_meet_in_a_folder_of_his_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    met = meeting_place("a database", PATIENCE)
    assert met is not None
    with met.turn(lambda: None):
        pass
    met.close()
    (folder,) = tmp_path.iterdir()
    assert folder.stat().st_mode & 0o777 == 0o700
    assert len(list(folder.iterdir())) == 1
    folder.chmod(0o777)
    assert meeting_place("a database", PATIENCE) is None  # others could read along
    folder.chmod(0o700)
    folder.rename(tmp_path / "real")
    folder.symlink_to(tmp_path / "real")
    assert meeting_place("a database", PATIENCE) is None
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "missing"))
    assert meeting_place("a database", PATIENCE) is None


def test_an_error_that_we_do_not_know_is_an_error_still() -> None:
    assert type(operations_module.error_of({"error": "Unheard", "text": "of"})) is PurseError
