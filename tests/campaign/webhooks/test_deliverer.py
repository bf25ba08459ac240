"""Deliveries: in order, at least once, with the same key, and nobody waits for a bad receiver."""

from __future__ import annotations

import json
import logging
import threading
import time
from contextlib import ExitStack
from io import StringIO
from typing import Any

import pytest

from purse.campaign.storage.memory import Memory
from purse.campaign.webhooks import deliverer as module
from purse.campaign.webhooks import retry
from purse.campaign.webhooks.background import delivering
from purse.campaign.webhooks.deliverer import Deliverer
from purse.campaign.webhooks.errors import NotSent
from purse.campaign.webhooks.records import Lease
from purse.campaign.webhooks.sending import Sender
from purse.campaign.webhooks.signature import new_secret, sign
from purse.errors import InvalidInput
from tests.support.receiver import OK, answering, drip, endless, receiver, spent
from tests.support.storages import START

DAY = 86_400_000
FAILS = answering(b"HTTP/1.1 503 X\r\n\r\n")


class Clock:
    def __init__(self, *storages: Any) -> None:
        self.now = START
        for each in storages:
            each.now = lambda: self.now


@pytest.fixture
def storage() -> Memory:
    return Memory()


@pytest.fixture
def clock(storage: Memory) -> Clock:
    return Clock(storage)


def deliver(storage: Any, **how: Any) -> int:
    return Deliverer(storage, Sender(**{"allow_private": True, **how})).run(forever=False)


def test_events_arrive_in_order_signed_with_key_and_balances(storage: Memory, clock: Clock) -> None:
    campaign = spent("p", storage)
    with receiver() as made:
        added = campaign.add_webhook(made.url)
        campaign.top_up(1)
        clock.now += 3_000
        campaign.top_up(2)
        assert campaign.status().deliveries[0].waiting == 2
        assert deliver(storage) == 2
    assert made.keys == ["1%:0/0/1", "1%:0/0/2"]  # not that of before the webhook was added
    message = made.messages[0]
    key, at = message.headers["webhook-id"], message.headers["webhook-timestamp"]
    assert at == str(START // 1000 + 3)
    assert message.headers["webhook-signature"] == sign(added.secret, key, int(at), message.body)
    owner = storage.overview("p").head.id
    assert json.loads(message.body) == {
        "type": "purse.alert",
        "timestamp": "2027-01-15T08:00:00.000+00:00",
        "data": {
            "kind": "campaign",
            "name": "p",
            "key": f"{owner}/1%:0/0/1",
            "entry": 6,
            "rule": "1%",
            "resource": "units",
            "purses": [
                {"resource": "units", "budget": "3", "spent": "1", "held": "0", "presumed": "0",
                 "overrun": "0", "left": "2"}
            ],
        },
    }  # fmt: skip
    (found,) = campaign.webhooks()
    assert (found.waiting, found.delivered, found.failed, found.error) == (0, 2, 0, "")
    assert deliver(storage) == 0


def test_a_failure_is_tried_again_later_with_the_same_key_and_body(
    storage: Memory, clock: Clock
) -> None:
    campaign = spent("p", storage)
    with receiver(FAILS) as made:
        campaign.add_webhook(made.url)
        campaign.top_up(1)
        assert deliver(storage) == 1
        assert deliver(storage) == 0  # it waits
        (found,) = campaign.webhooks()
        assert (found.error, found.failed, found.next_at) == ("HTTP 503", 1, START / 1000 + 5)
        assert "last error: HTTP 503" in str(campaign.status())
        clock.now += 5_000
        assert deliver(storage) == 1
        made.reply = answering(b"HTTP/1.1 200 OK\r\n\r\n")
        clock.now += 10_000
        campaign.top_up(1)
        assert deliver(storage) == 2
    first, again, once_more, _ = made.messages
    assert len({each.body for each in (first, again, once_more)}) == 1
    assert made.keys == ["1%:0/0/1"] * 3 + ["1%:0/0/2"]
    (found,) = campaign.webhooks()
    assert (found.delivered, found.failed, found.error, found.next_at) == (2, 2, "", None)


def test_an_event_is_given_up_after_three_days_and_the_next_follows(
    storage: Memory, clock: Clock
) -> None:
    campaign = spent("p", storage)
    with receiver(FAILS) as made:
        campaign.add_webhook(made.url)
        campaign.top_up(1)
        while clock.now < START + 3 * DAY:
            assert deliver(storage) == 1
            clock.now += 3_600_000
        campaign.top_up(1)
        assert deliver(storage) == 2
    assert set(made.keys[:-1]) == {"1%:0/0/1"}
    assert made.keys[-1] == "1%:0/0/2"
    (found,) = campaign.webhooks()
    assert (found.skipped, found.waiting, found.delivered) == (1, 1, 0)
    assert "1 given up" in str(campaign.status())


def test_the_decision_to_try_again_depends_on_nothing_but_its_arguments() -> None:
    lease = Lease("w", "p", "", "", 7, 0, 0, "l")
    first = retry.failed(lease, 8, "timeout", START)
    assert first == (7, 1, START, START + 5_000, "timeout", 0, 1, 0)
    later = lease._replace(attempts=1, since=START)
    assert retry.failed(later, 8, "x", START + 9).next_at == START + 9 + 10_000
    assert (
        retry.failed(later, 8, "x", START - DAY).next_at == START - DAY + 10_000
    )  # clock went back
    end = START + 3 * DAY
    assert retry.failed(later, 8, "x", end) == (8, 0, 0, end - retry.SLACK, "x", 0, 1, 1)
    assert retry.delivered(8, START) == (8, 0, 0, START - retry.SLACK, "", 1, 0, 0)


def test_bad_receivers_keep_neither_asks_nor_others_waiting(
    storage: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "SEND_S", 40.0)
    monkeypatch.setattr(module, "PAUSE_S", 0.05)
    campaign: Any = spent("p", storage)
    free, asked = threading.Event(), 0
    replies = (
        lambda _: free.wait(60) and None,
        FAILS,
        lambda connected: None if free.is_set() else drip(connected),
        endless(b"HTTP/1.1 200 OK\r\n", b"X: y\r\n"),
        answering(OK),
    )
    with ExitStack() as block:
        receivers = [block.enter_context(receiver(reply)) for reply in replies]
        for made in receivers:
            campaign.add_webhook(made.url)
        with delivering(storage, allow_private=True):
            campaign.top_up(1)
            begun = time.monotonic()
            while not all(made.messages for made in receivers):
                campaign.tell(1, 1, 1)
                asked += 1
                assert time.monotonic() - begun < 30  # less than one of them is waited for
            free.set()
    assert asked > 1


def test_a_lease_that_has_ended_before_the_message_was_sent_sends_nothing(
    storage: Memory, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    campaign = spent("p", storage)
    with receiver() as made:
        campaign.add_webhook(made.url)
        campaign.top_up(1)
        monkeypatch.setattr(module, "SEND_S", -1.0)  # the process slept after it had the lease
        assert deliver(storage) == 1
        assert made.messages == []
    assert campaign.webhooks()[0].error == "timeout"


def test_the_longest_message_is_shorter_than_a_lease() -> None:
    assert module.SEND_S * 1000 * 3 < module.LEASE


def test_a_storage_that_fails_is_asked_again(storage: Memory, caplog: Any) -> None:
    from purse.errors import StorageUnavailable

    def fails(*_: Any) -> None:
        raise StorageUnavailable("gone")

    storage.lease_webhook = fails  # type: ignore[method-assign, assignment]
    worker = Deliverer(storage, Sender(allow_private=True))
    worker.stopped.wait = lambda *_: worker.stop()  # type: ignore[method-assign, assignment]
    assert worker.run(forever=True) == 0
    assert "gone" in caplog.text
    with pytest.raises(StorageUnavailable, match="gone"):
        deliver(storage)


def test_a_webhook_that_is_removed_meanwhile_is_told_of_nothing_more(storage: Memory) -> None:
    campaign = spent("p", storage)
    with receiver() as made:
        added = campaign.add_webhook(made.url)
        campaign.top_up(1)
        worker = Deliverer(storage, Sender(allow_private=True))
        lease, latest = worker.lease()
        assert campaign.remove_webhook(added.id)
        assert lease is not None
        worker.finish(lease, latest)
        campaign.top_up(1)
        assert deliver(storage) == 0
    assert not campaign.remove_webhook(added.id)


def test_the_same_address_and_secret_are_one_webhook(storage: Memory) -> None:
    campaign, secret = spent("p", storage), new_secret()
    first = campaign.add_webhook("https://hooks.example.com/a", secret)
    assert campaign.add_webhook("https://hooks.example.com/a", secret) == first
    assert campaign.add_webhook("https://hooks.example.com/a").id != first.id
    assert len(campaign.webhooks()) == 2
    for number in range(18):
        campaign.add_webhook(f"https://hooks.example.com/{number}")
    with pytest.raises(InvalidInput, match="has 20 webhooks already"):
        campaign.add_webhook("https://hooks.example.com/more")
    assert len(campaign.webhooks()) == 20
    assert campaign.add_webhook("https://hooks.example.com/a", secret) == first


def test_a_clock_that_was_ahead_once_stops_no_delivery(storage: Memory, clock: Clock) -> None:
    campaign = spent("p", storage)
    with receiver() as made:
        campaign.add_webhook(made.url)
        clock.now += 365 * DAY
        campaign.top_up(1)
        assert deliver(storage) == 1
        clock.now -= 365 * DAY
        campaign.top_up(1)
        assert deliver(storage) == 1


@pytest.mark.parametrize("secret", ["", "sesame", "whsec_", "whsec_c2VzYW1l", "whsec_!", 7])
def test_a_secret_that_is_none_is_refused_without_showing_it(storage: Memory, secret: Any) -> None:
    with pytest.raises(InvalidInput, match="secret: must be whsec_ and 24 to 64") as caught:
        spent("p", storage).add_webhook("https://hooks.example.com/", secret)
    assert "sesame" not in str(caught.value)
    assert "c2VzYW1l" not in str(caught.value)


def test_secrets_and_addresses_stand_nowhere_but_in_the_storage(
    storage: Memory, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    campaign: Any = spent("p", storage)
    said: list[Any] = []
    with receiver(FAILS) as made:
        added = campaign.add_webhook(made.url)
        campaign.top_up(1)
        deliver(storage)

        def broken(*_: Any) -> None:
            raise RuntimeError(made.url)

        campaign.add_webhook(made.url)
        Deliverer(storage, broken).run(forever=False)
    now = storage.now()
    lease = storage.lease_webhook("l", now + 10**6, now + 2 * 10**6)
    with pytest.raises(NotSent) as caught:
        Sender()(made.url, {}, b"", time.monotonic() + 1)
    file = StringIO()
    campaign.export(file)
    said += [added, lease, caught.value, campaign.webhooks(), campaign.status(), campaign.audit()]
    said += [str(campaign.status()), campaign.status().as_dict(), storage.overview("p")]
    said += [list(campaign.journal()), file.getvalue(), campaign.terms]
    said += [(record.getMessage(), record.__dict__.get("facts")) for record in caplog.records]
    assert caplog.records
    text = repr(said)
    for secret in (added.secret, added.secret[10:], "sesame", "/hook", str(made.port)):
        assert secret not in text
