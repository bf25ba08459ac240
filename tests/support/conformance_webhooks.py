"""What every storage must do with events and webhooks."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from purse.campaign.journal import EVENT, Entry
from purse.campaign.records import Balance, CampaignRecord
from purse.campaign.storage.base import LockedState, ReadSet, Storage, WriteSet
from purse.campaign.webhooks.records import NewWebhook, Settlement
from purse.errors import NoSuchCampaign, PurseError

NAME = "webhooks"
SECRET = "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"


def check_webhooks(opened: Callable[[], Storage]) -> None:
    """Events are made once; webhooks are leased one at a time, and settled by who leased them."""
    storage, other = opened(), opened()
    entry = Entry(1, 0, "created", None, None, {})
    head = CampaignRecord(id="0" * 16)
    storage.create(NAME, [WriteSet(1, head, [Balance(1)], [], [entry], ["00"])])
    add_event(storage, "before")
    with suppress(PurseError):
        add_event(storage, "before")
    found = [each.body["key"] for each in other.events(NAME, 0, 9)]
    assert found == ["before"], f"events {found} were found: an event was made twice, or never"
    check_list(storage, other)
    check_leases(storage, other)


def add_event(storage: Storage, key: str) -> None:
    """Make an event."""

    def decide(found: LockedState) -> WriteSet:
        entry = Entry(found.seq + 1, 0, EVENT, None, None, {"key": key})
        return WriteSet(entry.seq, found.head, found.balances, [], [entry], ["00"])

    storage.change(NAME, ReadSet(), decide)


def new(number: int) -> NewWebhook:
    """A webhook."""
    url = f"https://hooks.example.com/{number}"
    return NewWebhook(f"w{number}", url, "https://hooks.example.com", SECRET, number)


def check_list(storage: Storage, other: Storage) -> None:
    """The same webhook is added once, and what is shown of it is no secret."""
    ids = [storage.add_webhook(NAME, new(number)) for number in (1, 2)]
    again = other.add_webhook(NAME, new(1)._replace(id="w3"))
    assert ids == ["w1", "w2"], f"webhooks were stored as {ids}"
    assert again == "w1", f"the same webhook again got the id {again}"
    found = other.webhooks(NAME)
    assert [each.id for each in found] == ids, f"{found} are not the webhooks in their order"
    assert [each.waiting for each in found] == [0, 0], (
        "an event of before a webhook was added waits for it"
    )
    assert "/1" not in str(found) and SECRET not in str(found), "a list shows a secret"  # noqa: PT018
    assert not storage.remove_webhook(NAME, "w9"), "a webhook was removed that is not there"
    try:
        storage.webhooks("nobody")
    except NoSuchCampaign:
        return
    raise AssertionError("webhooks of a campaign that does not exist were listed")


def check_leases(storage: Storage, other: Storage) -> None:
    """A webhook that is due has one lease at a time, until it is settled or has ended."""
    assert storage.lease_webhook("a", 10, 20) is None, "a webhook was leased that has nothing to do"
    add_event(storage, "first")
    add_event(storage, "second")
    first, second = storage.lease_webhook("a", 10, 20), other.lease_webhook("b", 10, 20)
    assert first and second and {first.id, second.id} == {"w1", "w2"}, (  # noqa: PT018
        f"two webhooks are due, and {first} and {second} were leased"
    )
    assert first.url == f"https://hooks.example.com/{first.id[1]}", "a lease has another address"
    assert (first.name, first.secret, first.lease) == (NAME, SECRET, "a"), f"a lease is {first}"
    assert other.lease_webhook("c", 19, 30) is None, "a webhook was leased twice at once"
    assert storage.remove_webhook(NAME, second.id), "a webhook was not removed"
    again = other.lease_webhook("d", 20, 30)
    assert again is not None, "a lease that has ended is still there"
    events = other.events(NAME, again.cursor, 9)
    assert [each.body["key"] for each in events] == ["first", "second"], f"{events} wait"
    done = Settlement(events[0].seq, 0, 0, 40, "", delivered=1)
    assert not storage.settle_webhook(first.id, "a", done), "a lease that has ended was settled"
    assert storage.settle_webhook(again.id, "d", done), "a lease could not be settled"
    assert other.lease_webhook("e", 39, 50) is None, "a webhook was leased before its time"
    (shown,) = other.webhooks(NAME)
    assert (shown.waiting, shown.delivered) == (1, 1), f"after a delivery it is {shown}"
    last = other.lease_webhook("f", 40, 50)
    assert last is not None and last.cursor == events[0].seq, f"the next lease is {last}"  # noqa: PT018
    failed = Settlement(last.cursor, 1, 40, 45, "HTTP 500", failed=1)
    assert other.settle_webhook(last.id, "f", failed), "a failure could not be recorded"
    (shown,) = storage.webhooks(NAME)
    assert (shown.failed, shown.error, shown.next_at, shown.delivered) == (1, "HTTP 500", 45, 1), (
        f"after a failure it is {shown}"
    )
    last = storage.lease_webhook("g", 45, 50)
    assert last is not None and (last.attempts, last.since) == (1, 40), f"{last} is leased"  # noqa: PT018
