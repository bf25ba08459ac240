"""Everything that a campaign does, over a socket: the same as directly."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from purse import CampaignExists, Conflict, InvalidInput, PurseError, StorageUnavailable
from purse.campaign import operations
from purse.campaign.checkpoint import KINDS
from purse.campaign.local.campaign import LocalCampaign as Campaign
from purse.campaign.states import STATES
from purse.campaign.storage.base import ReadSet, Storage
from purse.campaign.storage.connect import connect
from purse.campaign.storage.remote import remote_storage
from purse.campaign.storage.remote.remote_storage import RemoteStorage
from purse.campaign.terms import Terms
from tests.campaign.remote.conftest import LONG, serving
from tests.support.campaigns import TERMS
from tests.support.receiver import spent
from tests.support.storages import StorageHarness

Pair = tuple[Storage, RemoteStorage]


@pytest.fixture(params=["memory", "sqlite"])
def pair(
    request: pytest.FixtureRequest, make_harness: Callable[[str], StorageHarness], path: str
) -> Iterator[Pair]:
    """A storage, and the same one behind a socket."""
    storage = make_harness(request.param).storage()
    with serving(storage, path):
        remote = connect(f"unix:{path}")
        assert isinstance(remote, RemoteStorage)
        yield storage, remote
        remote.close()


def done(call: Callable[[], Any]) -> Any:
    """What a call returns or raises."""
    try:
        found = call()
    except PurseError as error:
        return type(error), str(error)
    if isinstance(found, list):
        return [(type(each), str(each)) if isinstance(each, PurseError) else each for each in found]
    return found


def play(campaign: Campaign) -> list[Any]:
    """The answers to a long list of calls: every verb, and every way to be refused."""
    calls: list[Callable[[], Any]] = [
        lambda: campaign.ask("a"),
        lambda: campaign.ask("a"),
        lambda: campaign.ask_many(3, "b"),
        lambda: campaign.ask_many(2, "b"),
        lambda: campaign.tell(1, 0.5, "0.25"),
        lambda: campaign.tell(1, 0.5, "0.25"),
        lambda: campaign.tell(1, 0.5, "0.5"),
        lambda: campaign.tell(99, 0.5, "0.5"),
        lambda: campaign.tell_many([(2, 1 / 3, "2.5"), (98, 0, 0), (3, 2, 0)]),
        lambda: campaign.void(3),
        lambda: campaign.void(3),
        lambda: campaign.void(1),
        lambda: campaign.top_up(5, "more"),
        lambda: campaign.top_up(5, "more"),
        lambda: campaign.top_up(6, "more"),
        campaign.probabilities,
        campaign.expire,
        lambda: campaign.ask_many(1000, "rest"),
        lambda: campaign.ask("held"),
        lambda: campaign.tell_many([(number, 1, 1) for number in range(4, 20)]),
        lambda: campaign.ask("exhausted"),
        campaign.pause,
        lambda: campaign.ask("paused"),
        campaign.resume,
        campaign.close,
        lambda: campaign.ask("closed"),
        lambda: campaign.top_up(1, "late"),
        campaign.status,
        lambda: campaign.tickets(STATES),
        lambda: campaign.ticket(2),
        lambda: [entry[1:] for entry in campaign.journal(1)],
        campaign.audit,
        lambda: campaign.audit(full=True),
    ]
    return [done(call) for call in calls]


def test_every_verb_answers_as_it_does_directly(
    pair: Pair, make_harness: Callable[[str], StorageHarness]
) -> None:
    alike = make_harness("memory").storage()
    direct = play(Campaign.create("test", **TERMS, storage=alike))
    remote = play(Campaign.create("test", **TERMS, storage=pair[1]))
    assert remote == direct
    assert Campaign.open("test", storage=pair[0]).audit(full=True).ok


def test_contexts_go_over_the_socket(pair: Pair) -> None:
    campaign = Campaign.create("test", **TERMS, features=["x", "y"], storage=pair[1])
    first = campaign.ask("a", context=[0.1, 2])
    assert campaign.ask("a", context={"y": 2, "x": 0.1}) == first
    assert len(campaign.ask_many(2, "b", contexts=[[1, 2], [3, 4]])) == 2
    assert campaign.probabilities(context=[1, 1]) == {"red": 0.5, "green": 0.5}
    with pytest.raises(Conflict, match="another context"):
        campaign.ask("a", context=[0.1, 3])
    for numbers in ([[1.0]], [[1.0, 2.0]] * 2):  # a client that reads them in another way
        with pytest.raises(InvalidInput, match="contexts: must be 1 of 2 numbers each"):
            campaign._committer.do(operations.ask(1, "c", None, [[each, 0] for each in numbers]))
    for value in ("x", None, 1e9):
        with pytest.raises(InvalidInput, match="must be numbers"):
            campaign._committer.do(
                operations.Operation("ask", (1, "c", None, [[[1, value], 0]]), done)
            )
    direct = Campaign.open("test", storage=pair[0])
    assert direct.audit(full=True).ok
    assert direct.status() == campaign.status()
    assert [each.most for each in campaign.status().features] == [3, 4]


def test_every_method_that_reads_answers_as_it_does_directly(pair: Pair, tmp_path: Path) -> None:
    storage, remote = pair
    campaign = Campaign.create("test", **TERMS, storage=storage)
    campaign.tell_many([(ticket, 0.5, "0.1") for ticket in campaign.ask_many(6)])
    campaign.archive(tmp_path / "archive")
    campaign.ask_many(2)
    campaign.audit()
    for kept in pair:
        assert kept.now() == storage.now()
    assert remote.identity() == storage.identity()
    assert remote.names() == ["test"]
    assert remote.overview("test") == storage.overview("test")
    assert remote.entries("test", 1, 5) == storage.entries("test", 1, 5)
    assert remote.archived("test", 2, 3) == storage.archived("test", 2, 3)
    assert remote.tickets("test", STATES, 0, 9) == storage.tickets("test", STATES, 0, 9)
    for after in (0, 3, 10, 99):
        assert remote.told("test", after, 4) == storage.told("test", after, 4)
    for kind in KINDS:
        assert remote.checkpoint("test", kind) == storage.checkpoint("test", kind)
    assert storage.checkpoint("test", "ledger") is not None


def test_tickets_come_an_answer_at_a_time(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    Campaign.create("test", **TERMS, storage=pair[0]).ask_many(7)
    monkeypatch.setattr(remote_storage, "MOST_TICKETS", 3)
    for limit in (1, 3, 6, 7, 2**62):
        found = pair[1].tickets("test", STATES, 1, limit)
        assert found == pair[0].tickets("test", STATES, 1, limit)


def test_a_campaign_is_made_once(pair: Pair) -> None:
    Campaign.create("test", **TERMS, storage=pair[1])
    with pytest.raises(CampaignExists, match="there is a campaign 'test' already"):
        Campaign.create("test", **TERMS, storage=pair[1])


def test_a_campaign_whose_creation_was_sent_twice_is_there_once(
    pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    call = pair[1]._call
    monkeypatch.setattr(pair[1], "_call", lambda *given: (call(*given), call(*given))[0])
    Campaign.create("test", **TERMS, storage=pair[1])
    assert pair[0].overview("test").seq == 1


def test_a_short_journal_can_be_restored_and_a_long_one_not(
    pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    campaign = Campaign.create("test", **TERMS, storage=pair[1])
    campaign.tell(campaign.ask(), 1, "0.5")
    exported = StringIO()
    campaign.export(exported)
    exported.seek(0)
    copy = Campaign.restore(exported, storage=pair[1], name="copy")
    assert copy.status().digest == campaign.status().digest
    assert copy.audit(full=True).ok
    assert copy.ask().id == 2
    monkeypatch.setattr("purse.campaign.restore.PAGE_SIZE", 2)
    exported.seek(0)
    with pytest.raises(InvalidInput, match="do it with the database's own address"):
        Campaign.restore(exported, storage=pair[1], name="long")
    assert pair[0].names() == ["copy", "test"]


def test_an_audit_only_reads(pair: Pair) -> None:
    campaign = Campaign.create("test", **TERMS, storage=pair[1])
    campaign.tell(campaign.ask(), 1, "0.5")
    assert campaign.audit().ok
    assert pair[0].checkpoint("test", "ledger") is None
    with pytest.raises(StorageUnavailable, match="do it with the database's own address"):
        pair[1].change("test", ReadSet(), lambda _: None)


def test_a_campaign_that_was_recreated_is_not_taken_for_the_old_one(pair: Pair) -> None:
    campaign = Campaign.create("test", **TERMS, storage=pair[1])
    campaign.ask()
    other = Terms.from_dict({**campaign.terms.as_dict(), "id": "0" * 16})
    stranger = Campaign(other, pair[1])
    said = done(stranger.ask)
    assert said == done(lambda: Campaign(other, pair[0]).ask())
    assert "was deleted and recreated since it was opened" in said[1]
    assert campaign.ask().id == 2


@pytest.mark.parametrize("address", ["unix:", "unix:///run/s", "unix://run"])
def test_an_address_needs_a_path(address: str) -> None:
    with pytest.raises(InvalidInput, match="must be unix:PATH"):
        connect(address)


def test_a_long_path_is_refused_when_it_is_given() -> None:
    with pytest.raises(InvalidInput, match="at most 107"):
        connect(f"unix:/{'a' * 107}")


def forked(work: Callable[[], None]) -> int:
    """A child that does something; it exits with 0 where that succeeds."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            work()
            code = 0
        finally:
            os._exit(code)
    return child


def test_threads_and_children_share_a_campaign(folder: Path, path: str) -> None:
    """Through the socket and beside it, on one file."""
    address = f"sqlite:///{folder / 'purse.db'}"
    storage = connect(address)
    Campaign.create("test", **{**TERMS, "budget": 1000}, storage=storage)

    def work(where: str | Storage) -> None:
        campaign = Campaign.open("test", storage=where)
        for _ in range(10):
            campaign.tell(campaign.ask(), 1, "0.5")
        campaign.storage.close()

    with serving(storage, path), ExitStack() as crew:
        remote = Campaign.open("test", storage=f"unix:{path}")
        remote.ask("before the fork")
        children = [forked(partial(work, where)) for where in (remote.storage, address)]
        for where in (remote.storage, remote.storage, f"unix:{path}", address):
            thread = threading.Thread(target=work, args=(where,))
            thread.start()
            crew.callback(thread.join, LONG)
        for child in children:
            assert os.waitpid(child, 0)[1] == 0
    assert storage.overview("test").seq == 2 + 6 * 20
    assert Campaign.open("test", storage=storage).audit(full=True).ok
    storage.close()


def test_webhooks_go_over_the_socket_and_the_server_delivers(pair: Pair) -> None:
    storage, remote = pair
    direct = spent("test", storage)
    campaign: Any = Campaign.open("test", storage=remote)
    assert campaign.set_alerts(["1%", "overrun"]).alerts == ("1%", "overrun")
    added = campaign.add_webhook("https://hooks.example.com/x")
    assert campaign.add_webhook("https://hooks.example.com/x", added.secret) == added
    direct.top_up(1)
    assert campaign.webhooks() == direct.webhooks()
    assert campaign.status() == direct.status()
    assert campaign.status().deliveries[0].waiting == 1
    assert remote.events("test", 0, 9) == storage.events("test", 0, 9)
    with pytest.raises(StorageUnavailable, match="with the database's own address"):
        remote.lease_webhook("a", 0, 1)
    assert campaign.remove_webhook(added.id)
    assert not campaign.remove_webhook(added.id)
