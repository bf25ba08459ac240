"""Limits of labels held against books of their own: random calls with late reports, dear bills,
periods, and limits that move; calls by hand; and processes that are killed.
"""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from io import StringIO
from typing import Any

import pytest

from purse import BudgetExhausted, Campaign, InvalidInput, PurseError
from purse.campaign.storage.connect import connect
from purse.errors import BudgetHeld, CampaignExists, LabelExhausted, LabelHeld
from tests.support import storages
from tests.support.limit_books import HOUR, TERMS, Player, check
from tests.support.soak import SOAK, scale
from tests.support.storages import StorageHarness

SMALL = {"arms": ["small"], "labels": {"user": "ada"}}
PERIODS: list[dict[str, Any]] = [{}, {"every": "6h"}, {"every": "6h", "carry": "all"}]
MOVES = [1, 60_000, 700_000, HOUR, 7 * HOUR, 14 * HOUR]  # ms


@pytest.mark.parametrize("more", PERIODS, ids=["once", "renewed", "carried"])
@pytest.mark.parametrize("seed", range(scale(1, 100)))
def test_no_sequence_of_calls_passes_a_limit(
    seed: int, more: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    harness = storages.MemoryHarness()
    campaign = harness.create("c", **TERMS, **more)
    player = Player(campaign, seed)
    for step in range(scale(120, 300)):
        player.step()
        if player.draw.random() < 0.15:
            harness.clock += player.draw.choice(MOVES)
        if step % 40 == 39:
            check(campaign, full=False)
    books = check(campaign)
    assert books.grants > 10
    assert player.refused["LabelHeld"] + player.refused["LabelExhausted"] > 5
    file = StringIO()
    campaign.export(file)
    file.seek(0)
    monkeypatch.setattr("purse.campaign.run.restore._PAGE_SIZE", 7)  # budgets of earlier pages
    copy = Campaign.restore(file, storage=harness.storage(), name="copy")
    assert copy.labels() == campaign.labels()
    assert check(copy).used == books.used
    one, other = (
        [row[1:] for row in harness.memory.db._db.execute(ROWS, (level,))]  # type: ignore[attr-defined]
        for level in (1, 2)
    )
    assert one == other


ROWS = "SELECT * FROM purse_balances WHERE level = ? AND key <> '' ORDER BY key, value"


def test_children_share_what_is_left_of_a_run() -> None:
    campaign = storages.MemoryHarness().create("c", **TERMS)
    for agent in "abcd":
        campaign.ask(arms=["small"], labels={"run": "1", "agent": agent, "user": "x"})
    with pytest.raises(LabelHeld, match=r"run '1' has 0.5 left; 4 is held") as held:
        campaign.ask(labels={"run": "1", "agent": "e", "user": "x"})
    assert isinstance(held.value, BudgetHeld)
    assert (held.value.key, held.value.value, held.value.left) == ("run", "1", ("0.5",))
    for number in range(1, 5):
        campaign.tell(number, 1, 1)
    with pytest.raises(LabelExhausted, match=r"run '1' has 0.5 left$") as refused:
        campaign.ask(labels={"run": "1", "agent": "a"})
    assert not isinstance(refused.value, BudgetHeld)
    assert campaign.ask(labels={"run": "2", "agent": "a"}).arm in ("small", "large")


def test_a_lowered_limit_holds_at_once_and_a_raised_one_too() -> None:
    """What was taken above it is paid off first."""
    campaign = storages.MemoryHarness().create("c", **TERMS)
    tickets = campaign.ask_many(6, **SMALL)
    campaign.set_limit("user", 4, value="ada")
    for ticket in tickets[:2]:
        campaign.void(ticket)
    with pytest.raises(LabelHeld, match="user 'ada' has 0 left"):
        campaign.ask(**SMALL)
    campaign.set_limit("user", 0, value="ada")
    with pytest.raises(LabelExhausted, match="user 'ada' has -4 left") as refused:
        campaign.ask(**SMALL)
    assert not isinstance(refused.value, BudgetHeld)  # it never fits, whatever is told
    campaign.set_limit("user", 30, value="ada")
    assert len(campaign.ask_many(100, **SMALL)) == 26
    entries = campaign.status().entries
    campaign.set_limit("user", "30.0", value="ada")
    campaign.set_limit("user", 9)
    assert campaign.status().entries == entries  # nothing new was said
    campaign.set_limit("user", 1, value="eve")
    assert len(campaign.ask_many(100, arms=["small"], labels={"user": "eve"})) == 1
    campaign.set_limit("user", None, value="eve")
    assert len(campaign.ask_many(100, arms=["small"], labels={"user": "eve"})) == 8
    assert campaign.status().limits == {"run": ("4.5",), "user": ("9",)}
    check(campaign)


def test_a_key_that_gets_a_limit_counts_from_then_on() -> None:
    campaign = storages.MemoryHarness().create("c", **TERMS | {"limits": None})
    before = campaign.ask_many(3, **SMALL)
    campaign.set_limit("user", 2)
    campaign.tell(before[0], 1, "0.5")  # is of before, and frees nothing
    assert len(campaign.ask_many(9, **SMALL)) == 2
    campaign.void(before[1])
    with pytest.raises(LabelHeld, match="user 'ada' has 0 left"):
        campaign.ask(**SMALL)
    (label,) = campaign.labels()
    assert (label.tickets, label.spent, label.held, label.left) == (5, ("0.5",), ("3",), ("0",))
    check(campaign)


def test_a_bill_above_its_hold_counts_in_full_and_a_period_forgives_it() -> None:
    harness = storages.MemoryHarness()
    campaign = harness.create("c", **TERMS, every="6h")
    open_one, dear = campaign.ask_many(2, **SMALL)
    campaign.tell(dear, 1, "11.5")
    (label,) = campaign.labels("user")
    assert (label.spent, label.left) == (("11.5",), ("-3.5",))
    campaign.set_arm("small", cost_max=1)
    with pytest.raises(LabelExhausted, match=r"user 'ada' has -3.5 left; the next period begins"):
        campaign.ask(**SMALL)
    harness.clock += 7 * HOUR
    campaign.tell(open_one, 1, "0.25")  # of the old period: its refund is dropped
    assert len(campaign.ask_many(20, **SMALL)) == 9
    check(campaign)


def test_several_resources_have_limits_each() -> None:
    campaign = Campaign.create(
        "c",
        arms={"small": [1, 500]},
        budget=[100, 50_000],
        resources=["USD", "tokens"],
        limits={"user": {"USD": "2.5", "tokens": 900}},
        storage="memory:",
    )
    campaign.ask(labels={"user": "ada"})
    with pytest.raises(LabelHeld, match=r"500 tokens and user 'ada' has 400 left") as refused:
        campaign.ask(labels={"user": "ada"})
    assert refused.value.left == ("1.5", "400")
    campaign.set_limit("user", [2, 1000], value="ada")
    campaign.ask(labels={"user": "ada"})
    assert campaign.labels()[0].limit == ("2", "1000")
    assert campaign.audit(full=True).ok


def test_an_ask_without_the_label_is_refused_unless_that_is_allowed() -> None:
    campaign = storages.MemoryHarness().create("c", **TERMS | {"unlabelled": "refuse"})
    for labels in (None, {"user": "ada"}, {"agent": "a"}):
        with pytest.raises(InvalidInput, match=r"^labels: must have 'run', whose values have a"):
            campaign.ask(labels=labels)
    campaign.ask(labels={"user": "ada", "run": "1"})
    assert len(storages.MemoryHarness().create("c", **TERMS).ask_many(3)) == 3


def test_a_poor_user_does_not_end_the_game_of_others() -> None:
    """Nor is there an event about the campaign's budget, and what others see is the same."""
    terms = TERMS | {"policy": "replan", "arms": {"small": 1, "large": 5}, "horizon": 100}
    campaign, other = (
        storages.MemoryHarness().create("c", **terms, alerts=["100%"]) for _ in range(2)
    )
    campaign.ask_many(100, arms=["small"], labels={"user": "x"})
    other.ask_many(9, arms=["small"])
    campaign.set_limit("user", 1, value="x")
    with pytest.raises(LabelExhausted):
        campaign.ask(labels={"user": "x"})
    assert campaign.status().status == "running"
    assert campaign.probabilities() == other.probabilities()
    assert not [entry for entry in campaign.journal() if entry.kind == "event"]
    poor = campaign.ask(labels={"user": "z"}, arms={"small": 1, "large": 5})
    campaign.void(poor)
    campaign.set_limit("user", 1, value="z")
    assert campaign.ask(labels={"user": "z"}).arm == "small"  # which is all that fits
    assert not [entry for entry in campaign.journal() if "left" in entry.body]  # that it saw less
    check(campaign)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"limits": {}}, r"limits={}: must be 1 to 8 keys of labels with amounts"),
        ({"limits": "2"}, r"limits='2': must be 1 to 8 keys"),
        ({"limits": {"a=b": 2}}, r"limits='a=b': a key must be text of 1 to 50 printable"),
        ({"limits": {"user": -1}}, r"limits\['user'\]=-1: must not be negative"),
        ({"limits": {"user": [1, 2]}}, r"limits\['user'\]=\[1, 2\]: must be one amount for each"),
        ({"unlabelled": "maybe"}, r"unlabelled='maybe': must be one of 'refuse', 'allow'"),
    ],
)
def test_terms_that_cannot_be(values: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        storages.MemoryHarness().create("c", **TERMS | values)


def test_limits_that_cannot_be_set() -> None:
    campaign = storages.MemoryHarness().create("c", **TERMS)
    for arguments, words in (
        (("user", None), "amount=None: must be an amount; None is for one value of a key"),
        (("user", -1), "amount=-1: must not be negative"),
        (("agent", 1, "a"), "key='agent': must be a key of the labels of this campaign: run, user"),
        (("user", 1, ""), r"labels\['user'\]='': must be text of 1 to 200 printable characters"),
        (("a=b", 1), "key='a=b': a key must be text"),
        (("usr", 1), "key='usr': must be a key of the labels of this campaign: run, user"),
    ):
        with pytest.raises(InvalidInput, match=words):
            campaign.set_limit(*arguments[:2], **dict(zip(["value"], arguments[2:], strict=False)))
    campaign.charge(1, {"agent": "a"})
    campaign.set_limit("agent", 1)
    campaign.end()
    with pytest.raises(PurseError, match="has ended"):
        campaign.set_limit("user", 1)


def test_create_takes_other_limits_if_it_may_update(tmp_path: Any) -> None:
    place = {"storage": f"sqlite:///{tmp_path}/purse.db"}
    Campaign.create("c", **TERMS, **place).ask(**SMALL)
    limits = {"user": "3", "agent": "1"}
    with pytest.raises(CampaignExists, match="with other limits than these"):
        Campaign.create("c", **TERMS | {"limits": limits}, **place, exist_ok=True)
    campaign = Campaign.create("c", **TERMS | {"limits": limits}, **place, exist_ok="update")
    assert campaign.status().limits == {"agent": ("1",), "run": ("4.5",), "user": ("3",)}
    assert len(campaign.ask_many(9, **SMALL)) == 2
    check(campaign)
    many = {"limits": limits | {f"key-{number}": "1" for number in range(5)}}
    Campaign.create("c", **TERMS | many, **place, exist_ok="update")
    more = {"limits": {"more": "1"}}
    with pytest.raises(InvalidInput, match="labels='more': must be one of the 8 keys"):
        Campaign.create("c", **TERMS | more, **place, exist_ok="update")


@pytest.mark.parametrize("kind", ["sqlite", "postgres", "http"])
def test_every_storage_keeps_limits(
    make_harness: Callable[[str], StorageHarness], kind: str
) -> None:
    """Errors name the label over HTTP, too."""
    harness = make_harness(kind)
    campaign = harness.create("c", **TERMS)
    assert len(campaign.ask_many(20, **SMALL)) == 9
    campaign.set_limit("user", "0", value="ada")
    with pytest.raises(BudgetExhausted, match="user 'ada' has -9 left") as refused:
        campaign.ask(**SMALL)
    assert type(refused.value) is LabelExhausted
    assert (refused.value.key, refused.value.value, refused.value.left) == ("user", "ada", ("-9",))
    player = Player(campaign, 1)
    for _ in range(60):
        player.step()
    check(campaign)


def play(address: str, seed: int, n_users: int, said: int) -> None:
    """Play until killed; say now and then that something was done."""
    player, step = Player(Campaign.open("c", storage=address), seed, n_users), 0
    while True:
        player.tickets = player.tickets[-30:] or list(range(1, 40))
        with suppress(PurseError):
            player.step()
        step += 1
        if step % 3 == 0:
            os.write(said, b".")


def kill_players(address: str, kills: int, n_players: int, n_users: int) -> None:
    """Fork players and kill one after the other, each amid its work."""
    Campaign.create("warm", **TERMS, storage="memory:").ask()
    draw = random.Random(3)

    def forked(seed: int) -> tuple[int, int]:
        heard, said = os.pipe()
        if not (child := os.fork()):
            try:
                play(address, seed, n_users, said)
            finally:
                os._exit(1)
        os.close(said)
        return child, heard

    players = [forked(seed) for seed in range(n_players)]
    for killed in range(kills + n_players):
        place = draw.randrange(n_players) if killed < kills else killed - kills
        child, heard = players[place]
        os.read(heard, 1)
        time.sleep(draw.uniform(0, 0.02))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(heard)
        if killed < kills:
            players[place] = forked(100 + killed)


KILLER = """
import sys
from tests.campaign.ledger.test_limits import kill_players
kill_players(sys.argv[1], *map(int, sys.argv[2:]))
"""


@pytest.mark.parametrize("more", PERIODS[: 1 + SOAK])
@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_no_limit_is_passed_while_processes_are_killed(
    make_harness: Callable[[str], StorageHarness], kind: str, more: dict[str, Any]
) -> None:
    address = make_harness(kind).address
    storage = connect(address)
    terms = TERMS | {"budget": 10**6, "expires_after": 1, **more}
    campaign = Campaign.create("c", **terms, storage=storage)
    kills, n_players, n_users = scale(4, 40), scale(3, 32), scale(20, 3_333)
    # from a process of its own, which has no threads
    command = [sys.executable, "-c", KILLER, address, *map(str, (kills, n_players, n_users))]
    subprocess.run(command, check=True, timeout=900)
    books = check(campaign)
    entries = campaign.status().entries
    print(f"{kind}: {kills + n_players} killed, {entries} entries, {books.grants} grants")
    assert books.grants > kills
