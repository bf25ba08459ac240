"""What every storage must do. Each check fails with a sentence that says what is wrong."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from typing import Any

from purse.campaign.checkpoint import POLICY, checkpoint
from purse.campaign.group_commit import write_set
from purse.campaign.journal import EVENT, Entry
from purse.campaign.labels import LabelRow
from purse.campaign.rules import Transaction
from purse.campaign.states import ACCOUNT, CAMPAIGN, STATES
from purse.campaign.storage.base import LockedState, ReadSet, WriteSet
from purse.errors import CampaignExists, NoSuchCampaign, PurseError
from tests.support.conformance_accounts import (
    check_account_changes,
    check_account_names,
    check_booking,
    check_join,
    check_no_lost_booking,
)
from tests.support.conformance_steps import (
    THREADS,
    TURNS,
    Open,
    ask,
    begun,
    book_of,
    changed,
    in_threads,
    raises,
)


def check_storage(opened: Open) -> None:
    """Check that a storage keeps, isolates and refuses what every storage must.

    opened   a function that makes a new connection to one place, which has no campaigns yet; it may
             return the same object where there is nothing to connect to
    """
    check_names(opened)
    check_write_and_read(opened)
    check_due_rewards(opened)
    check_refusals(opened)
    check_reading_while_writing(opened)
    check_no_lost_update(opened)
    check_labels(opened)
    check_event_once(opened)
    check_account_names(opened)
    check_kept(opened)
    check_account_changes(opened)
    check_booking(opened)
    check_join(opened)
    check_no_lost_booking(opened)


def check_names(opened: Open) -> None:
    """A campaign is there once it is created, for every connection, and only once."""
    storage = opened()
    assert storage.names() == [], f"a new storage has campaigns: {storage.names()}"
    begun(storage, "first")
    assert opened().names() == ["first"], (
        f"another connection sees {opened().names()} instead of the new campaign"
    )
    for refused, act in (
        (CampaignExists, lambda: begun(opened(), "first")),
        (NoSuchCampaign, lambda: storage.overview("none")),
    ):
        assert raises(refused, act), f"{refused.__name__} was not raised"
    assert raises(NoSuchCampaign, lambda: storage.change("none", ReadSet(), lambda _: None)), (
        "a change of a campaign that does not exist was not refused"
    )
    look = storage.overview("first")
    assert (look.seq, look.balances[0].budget, look.oldest, look.overdue) == (
        1,
        100 * 10**9,
        None,
        0,
    ), f"a new campaign looks like {look}"


def check_write_and_read(opened: Open) -> None:
    """What is written is found: tickets, requests, reports, due holds, snapshots, entries in
    order.
    """
    storage, other = opened(), opened()
    made = begun(storage, "round")
    changed(storage, made, ReadSet(requests=("r",)), lambda transaction: ask(transaction, 3, "r"))
    changed(
        storage,
        made,
        ReadSet(tickets=(2,)),
        lambda transaction: transaction.tell(2, [0.1 + 0.2], [10**9]),
    )
    (found,) = changed(
        other,
        made,
        ReadSet(tickets=(2, 99), requests=("r", "s"), told_after=0, due=10_000),
        lambda _: None,
    )
    assert set(found.requests) == {"r"}, f"requests {set(found.requests)} were found instead of r"
    assert set(found.tickets) == {1, 2, 3}, (
        f"tickets {set(found.tickets)} were found: wanted, of the request, and due are 1, 2 and 3"
    )
    assert [record.id for record in found.due] == [1, 3], (
        f"tickets {[record.id for record in found.due]} are due instead of 1 and 3"
    )
    assert found.tickets[2].body["report"]["rewards"] == [0.1 + 0.2], (
        "a reward came back with other bits"
    )
    assert [seq for seq, _ in found.told] == [3], (
        f"reports {found.told} were found instead of that of entry 3"
    )
    assert changed(other, made, ReadSet(told_after=3), lambda _: None)[0].told in ([], ()), (
        "a report was found that is not after the entry asked for"
    )
    entries = other.entries("round", 0, 10)
    assert [entry.seq for entry in entries] == [1, 2, 3], (
        f"entries {[entry.seq for entry in entries]} instead of 1, 2, 3"
    )
    assert other.entries("round", 1, 1) == entries[1:2], "a page of entries is not what follows"
    assert entries[0].body == _listed(made.as_dict()), "the terms came back changed"
    assert [record.id for record in other.tickets("round", STATES, 1, 1)] == [2], (
        "a page of tickets is not what follows"
    )
    assert [record.id for record in other.tickets("round", ("held",), 0, 9)] == [1, 3], (
        "tickets of one state are not those in it"
    )
    assert other.checkpoint("round", POLICY) == checkpoint(POLICY, 2, "digest", b"\0body"), (
        f"the checkpoint came back as {other.checkpoint('round', POLICY)}"
    )
    page = other.told("round", 0, 5)
    assert list(page.rows) == list(found.told), "reports that are read are not those that are found"
    assert (page.digest, page.seq) == ("", 3), f"reports up to entry 3 came back as {page}"
    look = other.overview("round")
    assert page.last == look.head.digest, "the digest up to the last entry is not the campaign's"
    assert (look.balances[0].spent, look.balances[0].held, look.oldest, look.overdue) == (
        10**9,
        2 * 10**9,
        2_000,
        2,
    ), f"after a report it looks like {look}"


def check_due_rewards(opened: Open) -> None:
    """A settled ticket is due when its reward has not come in time, and to those who ask."""
    storage, other = opened(), opened()
    made = begun(storage, "rewards")
    changed(storage, made, ReadSet(requests=("r",)), lambda transaction: ask(transaction, 2, "r"))
    changed(
        storage, made, ReadSet(tickets=(2,)), lambda transaction: transaction.settle(2, [10**9])
    )
    for due_rewards, due, wanted in ((False, 3_000, [1]), (True, 3_000, [1, 2]), (True, 2_999, [])):
        (found,) = changed(other, made, ReadSet(due=due, due_rewards=due_rewards), lambda _: None)
        late = [record.id for record in found.due]
        assert late == wanted, f"tickets {late} are due at {due} instead of {wanted}"
        assert set(found.tickets) == set(wanted), f"tickets {set(found.tickets)} were not found"


def check_event_once(opened: Open) -> None:
    """An event is made once."""
    storage, made = opened(), begun(opened(), "events")

    def add_event() -> None:
        def decide(found: LockedState) -> WriteSet:
            entry = Entry(found.seq + 1, 0, EVENT, None, None, {"key": "80%"})
            return WriteSet(entry.seq, found.head, found.balances, [], [entry], ["00"])

        storage.change(made.name, ReadSet(), decide)

    add_event()
    assert raises(PurseError, add_event), "an event was made twice"
    kinds = [entry.kind for entry in opened().entries(made.name, 1, 9)]
    assert kinds == [EVENT], f"after an event the journal has {kinds}"


def check_kept(opened: Open) -> None:
    """Checkpoints of campaigns and accounts are kept beside changes, one of each kind."""
    storage, made = opened(), begun(opened(), "kept")
    before = storage.entries(made.name, 0, 9)
    for name in (made.name, "team"):  # an account
        assert storage.checkpoint(name, "webhook a") is None, "a new name has a checkpoint"
        for seq in (1, 2):
            storage.keep(name, "webhook a", seq, "digest", b"\0body")
        storage.keep(name, "webhook b", 7, "", b"")
        found = [opened().checkpoint(name, f"webhook {each}") for each in "ab"]
        wanted = [
            checkpoint("webhook a", 2, "digest", b"\0body"),
            checkpoint("webhook b", 7, "", b""),
        ]
        assert found == wanted, f"checkpoints came back as {found}"
    assert raises(NoSuchCampaign, lambda: storage.keep("nobody", "webhook a", 1, "", b"")), (
        "a checkpoint of a campaign that does not exist was kept"
    )
    assert opened().entries(made.name, 0, 9) == before, "a checkpoint has changed the journal"
    ends = {name: (kind, seq) for kind, name, seq in opened().journals()}
    known = {CAMPAIGN: opened().names(), ACCOUNT: opened().accounts()}
    assert {name: kind for name, (kind, _) in ends.items()} == {
        name: kind for kind, names in known.items() for name in names
    }, f"the journals are {ends}"
    assert (ends[made.name], ends["team"]) == ((CAMPAIGN, 1), (ACCOUNT, 1)), (
        f"the journals end at {ends}"
    )


def check_labels(opened: Open) -> None:
    """What is booked for a label is added to its sums."""
    storage, other = opened(), opened()
    made = begun(storage, "labels")
    for request, value in (("r", "x"), ("s", "x"), ("t", "ü'\"")):
        asked = partial(ask, n=2, request=request, labels={"tenant": value})
        changed(storage, made, ReadSet(), asked)
    changed(
        storage,
        made,
        ReadSet(tickets=(1,)),
        lambda transaction: transaction.tell(1, [1.0], [3 * 10**9]),
    )
    table = other.labels("labels")
    wanted = [
        LabelRow("tenant", "x", 0, 4, 10**9, 3 * 10**9, 0, 2 * 10**9),
        LabelRow("tenant", "ü'\"", 0, 2, 0, 2 * 10**9, 0, 0),
    ]
    assert table.rows == wanted, f"the sums of labels came back as {table.rows}"
    assert table.seq == 5, f"the sums are those of entry {table.seq} instead of 5"


def check_refusals(opened: Open) -> None:
    """Nothing is written when `decide` raises or says None, when it would overspend, or answer a
    request or a ticket twice.
    """
    storage = opened()
    made = begun(storage, "refusals", budget=2)
    changed(storage, made, ReadSet(), lambda transaction: ask(transaction, 1, "r"))
    changed(
        storage,
        made,
        ReadSet(tickets=(1,)),
        lambda transaction: transaction.tell(1, [1.0], [10**9]),
    )
    before = storage.overview("refusals")

    def broken(_: LockedState) -> WriteSet | None:
        raise ZeroDivisionError

    def overspends(found: LockedState) -> WriteSet | None:
        transaction = book_of(made, found)
        transaction.add("topped_up", {"units": [0]})
        return write_set(transaction)._replace(
            balances=[found.balances[0]._replace(held=2 * 10**9)]
        )

    def repeats(
        request: str | None, ticket: int | None
    ) -> Callable[[LockedState], WriteSet | None]:
        def decide(found: LockedState) -> WriteSet | None:
            entry = Entry(
                found.seq + 1,
                2_000,
                "asked" if request else "told",
                request,
                ticket,
                {"tickets": []},
            )
            return WriteSet(entry.seq, found.head, found.balances, [], [entry], ["00"])

        return decide

    def begins_twice(found: LockedState) -> WriteSet | None:
        entries = [
            Entry(found.seq + place, 2_000, "renewed", None, None, {"number": 2})
            for place in (1, 2)
        ]
        return WriteSet(
            entries[-1].seq, found.head, found.balances, [], entries, ["00"] * len(entries)
        )

    for what, decide in (
        ("an error", broken),
        ("overspending", overspends),
        ("a second answer to a request", repeats("r", None)),
        ("a second report on a ticket", repeats(None, 1)),
        ("a period that begins twice", begins_twice),
    ):
        refused = raises(
            (ZeroDivisionError, PurseError),
            partial(storage.change, "refusals", ReadSet(), decide),
        )
        assert refused, f"{what} was not refused"
    storage.change("refusals", ReadSet(), lambda _: None)
    assert opened().overview("refusals") == before, (
        "a change that was refused left something behind"
    )


def check_reading_while_writing(opened: Open) -> None:
    """A reader does not wait for a writer, and sees what was committed last."""
    storage, other = opened(), opened()
    made = begun(storage, "reading")
    if storage is other:
        return
    looked: list[int] = []

    def act(transaction: Transaction) -> None:
        ask(transaction, 1, "r")
        reader = threading.Thread(target=lambda: looked.append(other.overview("reading").seq))
        reader.start()
        reader.join(20)

    changed(storage, made, ReadSet(), act)
    assert looked == [1], (
        f"while a change was being made a reader saw {looked or 'nothing'} instead of entry 1"
    )


def check_no_lost_update(opened: Open) -> None:
    """Changes by several connections at once follow one another."""
    made = begun(opened(), "crowd", budget=10_000)
    stores = [opened() for _ in range(THREADS)]

    def work(number: int) -> None:
        for k in range(TURNS):
            changed(
                stores[number],
                made,
                ReadSet(),
                lambda transaction, k=k: ask(transaction, 1, f"{number}-{k}"),  # type: ignore[misc]
            )

    in_threads(work, THREADS)
    look, entries = stores[0].overview("crowd"), stores[0].entries("crowd", 0, 10_000)
    assert [entry.seq for entry in entries] == list(range(1, THREADS * TURNS + 2)), (
        f"{len(entries)} entries of {THREADS * TURNS + 1}"
    )
    assert look.balances[0].held == THREADS * TURNS * 10**9, (
        f"{THREADS * TURNS} holds came to {look.balances[0].held} units"
    )
    assert (
        len({each["id"] for entry in entries[1:] for each in entry.body["tickets"]})
        == THREADS * TURNS
    ), "two tickets have the same number"


def _listed(value: Any) -> Any:
    """Tuples as JSON gives them back."""
    if isinstance(value, dict):
        return {name: _listed(part) for name, part in value.items()}
    return [_listed(part) for part in value] if isinstance(value, (list, tuple)) else value
