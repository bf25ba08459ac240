"""What a storage reads and writes, on every dialect."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from purse import Campaign, PurseError
from purse.campaign.api.states import UNFINISHED
from purse.campaign.ledger.records import Balance
from purse.campaign.storage.sql import ReadRequest, Writes
from purse.errors import CampaignExists, NotFound
from tests.support import storages
from tests.support.storages import SqliteHarness, StorageHarness, balance, counts, kinds

TERMS: dict[str, Any] = {**storages.TERMS, "budget": 100, "expires_after": 60}


def played(harness: StorageHarness, **more: Any) -> Any:
    """Return a campaign with tickets in many states."""
    campaign = harness.create("c", **{**TERMS, **more})
    for number in range(12):
        ticket = campaign.ask(f"r{number}", arms=["a"], labels={"team": f"t{number % 4}"})
        if number % 3 == 0:
            campaign.settle(ticket, "0.5")
        elif number % 3 == 1:
            campaign.tell(ticket, 1, "0.75")
        harness.clock += 1_000
    return campaign


def test_levels_are_found_by_kind_name_and_place(harness: StorageHarness) -> None:
    harness.account("top", budget=1_000)
    harness.account("mid", budget=500, account="top")
    for name, above in (("alone", None), ("one", "mid"), ("two", "top")):
        harness.create(name, **TERMS, account=above)
    storage = harness.storage()
    assert storage.names() == ["alone", "one", "two"]
    assert storage.names("account") == ["mid", "top"]
    assert [found.name for found in storage.level("one")] == ["top", "mid", "one"]
    named = lambda glances: [glance.levels[-1].name for glance in glances]  # noqa: E731
    assert named(storage.glances()) == ["top", "mid", "alone", "one", "two"]
    assert named(storage.glances("top")) == ["mid", "one", "two"]
    assert storage.glances("one") == []
    for name in ("one", "two", "mid", "top"):
        assert [each.level.name for each in storage.tree(name)] == ["top", "mid", "two", "one"]
    assert [each.level.name for each in storage.tree("alone")] == ["alone"]
    assert storage.created("mid", "account").body["name"] == "mid"
    campaigns = [("campaign", name, 1) for name in ("alone", "one", "two")]
    accounts = [("account", name, 1) for name in ("mid", "top")]
    found = [journal[:3] for journal in storage.journals("webhook a")]
    assert found == sorted(campaigns + accounts, key=lambda row: row[1])


def test_the_place_of_a_reader_is_begun_once_and_moved_only_from_where_it_is(
    harness: StorageHarness,
) -> None:
    harness.create("c", **TERMS)
    storage = harness.storage()

    def place() -> Any:
        ((*_, read, body, has_more),) = storage.journals("webhook a")
        return read, body and bytes(body), bool(has_more)

    assert place() == (None, None, False)
    storage.begin_checkpoints("webhook a", [("c", 1, b"[1]"), ("gone", 1, b"[]")])
    storage.begin_checkpoints("webhook a", [("c", 2, b"[2]")])
    assert place() == (1, b"[1]", False)
    storage.move_checkpoint("c", "webhook a", 2, 3, b"[3]")
    assert place() == (1, b"[1]", False)
    storage.move_checkpoint("c", "webhook a", 1, 3, b"[3]")
    assert place() == (3, b"[3]", False)


def test_what_is_not_there_is_named(harness: StorageHarness) -> None:
    harness.account("top", budget=1_000)
    campaign = harness.create("c", **TERMS, account="top")
    storage = harness.storage()
    with pytest.raises(NotFound, match=r"^there is no campaign 'top'"):
        storage.created("top", "campaign")
    with pytest.raises(NotFound, match=r"^there is no account 'c'"):
        storage.created("c", "account")
    for read in (
        lambda: storage.level("x"),
        lambda: storage.overview("x"),
        lambda: storage.entries("x", 0, 1),
        lambda: storage.events("x", 0, 1),
        lambda: storage.reports("x", 0, 1),
        lambda: storage.about("x", 1),
        lambda: storage.checkpoint("x", "policy"),
        lambda: storage.keep("x", "policy", 1, "", b""),
        lambda: storage.tree("x"),
        lambda: storage.change("x", ReadRequest(), lambda _: None),
    ):
        with pytest.raises(NotFound, match=r"^there is no campaign or account 'x'$"):
            read()
    with pytest.raises(NotFound, match=r"^there is no account 'c'"):
        harness.create("below", **TERMS, account="c")
    with pytest.raises(CampaignExists, match=r"^there is an account 'top' already"):
        harness.create("top", **TERMS)
    with pytest.raises(CampaignExists, match=r"^there is a campaign 'c' already"):
        harness.account("c", budget=1)
    assert campaign.audit().ok


def test_one_of_many_who_create_the_same_at_once_succeeds(shared: StorageHarness) -> None:
    shared.storage()
    start = threading.Barrier(6)

    def create(_: int) -> str:
        storage = shared.connect()
        start.wait()
        try:
            Campaign.create("c", **TERMS, storage=storage)
        except CampaignExists:
            return "exists"
        finally:
            storage.close()
        return "made"

    with ThreadPoolExecutor(6) as threads:
        assert sorted(threads.map(create, range(6))) == ["exists"] * 5 + ["made"]
    assert kinds(shared.open("c")) == ["created"]


def test_tickets_are_read_by_state_and_by_page(harness: StorageHarness) -> None:
    campaign = played(harness)
    storage = campaign.storage

    def numbers(states: Any, after: int, limit: int) -> list[int]:
        entries = storage.open_tickets("c", states, after, limit)
        return list(dict.fromkeys(entry.ticket for entry in entries))

    assert numbers(UNFINISHED, 0, 100) == [1, 3, 4, 6, 7, 9, 10, 12]
    assert numbers(UNFINISHED, 4, 3) == [6, 7, 9]
    assert numbers(("settled",), 0, 100) == [1, 4, 7, 10]
    assert numbers(("held",), 3, 2) == [6, 9]
    assert numbers(("presumed",), 0, 100) == []
    assert [entry.kind for entry in storage.about("c", 1)] == ["asked", "settled"]
    assert storage.about("c", 99) == []
    entries = storage.tickets("c", 10, 3)
    assert [(entry.ticket, entry.kind) for entry in entries] == [
        (11, "asked"),
        (11, "told"),
        (12, "asked"),
    ]


def test_an_overview_knows_what_is_late(harness: StorageHarness) -> None:
    campaign = played(harness)
    look = campaign.storage.overview("c")
    third = campaign.storage.about("c", 3)[0].at
    assert (look.overdue, look.oldest, look.danger) == (0, third, None)
    harness.clock += 55_000
    assert campaign.storage.overview("c").overdue == 2  # those of 3 and 6; settled ones are not
    campaign.expire()
    look = campaign.storage.overview("c")
    assert look.overdue == 0
    assert look.oldest == campaign.storage.about("c", 9)[0].at


def test_labels_are_read_by_size_with_all_resources(harness: StorageHarness) -> None:
    campaign = harness.create(
        "c",
        arms={"a": [1, 2]},
        budget=[10, 20],
        resources=["USD", "tokens"],
        cost_min="0.5",
        policy="uniform",
    )
    for team, cost in (("x", "0.6"), ("y", "0.9"), ("z", 3)):
        campaign.tell(campaign.ask(labels={"team": team}), 1, [cost, 2])
    keys = [("c", "team"), ("c", ""), ("c", "who")]
    (rows, *others), unit = campaign.storage.largest(keys, 2), 10**9
    sums = [(*row[:4], *row[5:9]) for row in map(tuple, rows)]
    assert sorted(sums) == [  # without what only labels with a limit have
        ("team", "y", 0, 1, 9 * unit // 10, 0, 0, 0),
        ("team", "y", 1, 1, 2 * unit, 0, 0, 0),
        ("team", "z", 0, 1, 3 * unit, 0, 0, 2 * unit),
        ("team", "z", 1, 1, 2 * unit, 0, 0, 0),
    ]
    assert [list(rows) for rows in others] == [[], []]


def test_entries_come_in_order_by_page_with_their_digests(harness: StorageHarness) -> None:
    campaign = played(harness)
    pages = [campaign.storage.digested("c", after, 7) for after in range(0, 28, 7)]
    read = [each for page in pages for each in page]
    assert [entry.seq for entry, _, _ in read] == list(range(1, 22))
    digest = ""
    for entry, turn, stored in read:
        digest = entry.chain(digest)
        assert (stored, turn) == (digest, None)
    assert campaign.storage.level("c")[-1].head.digest == digest


def test_events_are_read_without_what_lies_between(harness: StorageHarness) -> None:
    campaign = harness.create("c", **{**TERMS, "budget": 2}, alerts=["50%", "100%"])
    campaign.tell(campaign.ask(arms=["a"]), 1, 1)
    campaign.tell(campaign.ask(arms=["a"]), 1, 1)
    events = campaign.storage.events("c", 0, 10)
    assert [(entry.kind, entry.body["rule"]) for entry in events] == [
        ("event", "50%"),
        ("event", "100%"),
    ]
    assert campaign.storage.events("c", events[0].seq, 10) == events[1:]
    assert campaign.storage.events("c", 0, 1) == events[:1]


def test_a_checkpoint_of_a_kind_replaces_the_last_one(harness: StorageHarness) -> None:
    storage = played(harness).storage
    assert storage.checkpoint("c", "mine") is None
    storage.keep("c", "mine", 3, "digest", b"\x00\x01")
    storage.keep("c", "mine", 7, "other", b"body")
    storage.keep("c", "yours", 1, "", b"")
    found = storage.checkpoint("c", "mine")
    assert found is not None
    assert (found[0], found[1], bytes(found[2])) == (7, "other", b"body")


def test_a_change_that_raises_leaves_nothing(harness: StorageHarness) -> None:
    campaign = played(harness)
    before = (balance(campaign), kinds(campaign))
    found = campaign.storage.level("c")[-1]
    row = (found.key, 99, 0, "paused", None, None, "{}", None, b"", None, None)

    def overspend(_: Any) -> Writes:
        moves = [(found.key, 0, [0, 101 * 10**9, 0, 0, 0, 0])]
        return Writes([(99, "{}", found.key)], moves, [row], [], [])

    with pytest.raises(PurseError, match="rejected the write: it would violate a constraint"):
        campaign.storage.change("c", ReadRequest(), overspend)

    def broken(_: Any) -> Writes:
        raise RuntimeError("no")

    with pytest.raises(RuntimeError, match="no"):
        campaign.storage.change("c", ReadRequest(), broken)
    assert (balance(campaign), kinds(campaign)) == before
    assert campaign.audit().ok


def test_balances_move_by_differences_whatever_the_caller_believes(harness: StorageHarness) -> None:
    """The database's own counters decide whether a budget is exceeded."""
    campaign = harness.create("c", **{**TERMS, "budget": 10})
    real = campaign._local.committer.level

    def believes(levels: Any) -> Any:
        levels[-1].balances[:] = [Balance(10 * 10**9)]  # as if nothing were held
        return real(levels)

    campaign.ask_many(3, arms={"b": 3})
    campaign._local.committer.level = believes
    with pytest.raises(PurseError, match="constraint"):
        campaign.ask(arms={"b": 3})
    campaign._local.committer.level = real
    assert balance(campaign)[2] == 9 * 10**9
    assert campaign.audit().ok


def test_a_level_above_is_read_again_where_a_file_says_otherwise(
    make_harness: Callable[[str], Any],
) -> None:
    """A storage remembers which levels are above one; a file that takes the place of another may
    have others there.
    """
    one, other = make_harness("sqlite"), make_harness("sqlite")
    assert isinstance(one, SqliteHarness)
    assert isinstance(other, SqliteHarness)
    one.account("top", budget=100)
    campaign = one.create("c", **TERMS, account="top")
    campaign.ask()
    for name in ("zero", "mid"):
        other.account(name, budget=100)
    theirs = other.create("c", **TERMS, account="mid")
    theirs.ask()
    theirs.tell(1, 1, 1)
    other.close()
    one.close()
    other.path.replace(one.path)
    assert [found.name for found in campaign.storage.level("c")] == ["mid", "c"]
    for call in (campaign.ask, lambda: campaign.tell(1, 1, 1)):
        with pytest.raises(NotFound, match="campaign 'c' was deleted and recreated"):
            call()
    again = one.open("c")
    assert counts(again) == {"tickets": 1, "told": 1}
    again.ask()
    assert again.audit().ok


def test_rows_of_a_level_that_was_deleted_by_hand_go_to_no_other(make_harness: Any) -> None:
    harness = make_harness("sqlite")  # which gives a key again; no other dialect lets rows be left
    harness.account("team", budget=100)
    campaign = harness.create("c", **TERMS, account="team")
    campaign.ask()
    harness.execute("DELETE FROM purse_levels WHERE name = 'team'")
    harness.account("other", budget=100)
    with pytest.raises(PurseError, match="the levels above 'c' are missing"):
        campaign.ask()
    harness.execute("DELETE FROM purse_levels WHERE name = 'c' OR name = 'other'")
    with pytest.raises(PurseError, match=r"'new' would get the rows .* purse_balances WHERE level"):
        harness.create("new", **TERMS)
    assert harness.storage().names() == []
