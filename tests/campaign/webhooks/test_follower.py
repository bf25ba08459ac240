"""Deliveries: in order, at least once, with the same key, and nobody waits for a bad receiver."""

import base64
import hashlib
import hmac
import json
import logging
import re
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from io import StringIO
from typing import Any

import pytest

from purse import Account, Campaign
from purse.campaign.storage.connect import in_memory
from purse.campaign.storage.storage import Storage
from purse.campaign.webhooks import follower as module
from purse.campaign.webhooks.follower import _ReaderPosition, following
from purse.campaign.webhooks.sending import NotSent
from purse.errors import BudgetExhausted, PurseError, StorageUnavailable
from tests.support.campaigns import exported
from tests.support.paths import ROOT
from tests.support.receiver import (
    OK,
    SECRET,
    TERMS,
    answering,
    drip,
    endless,
    follower,
    receiver,
    spent,
)
from tests.support.storages import START
from tests.support.tree import execute

DAY = 86_400_000
FAILS = answering(b"HTTP/1.1 503 X\r\n\r\n")


class Clock:
    def __init__(self, storage: Any) -> None:
        self.now = START
        storage.now = lambda: self.now


@pytest.fixture
def storage() -> Storage:
    return in_memory()


@pytest.fixture
def clock(storage: Storage) -> Clock:
    return Clock(storage)


@contextmanager
def followed(storage: Storage, *reply: Any) -> Iterator[tuple[Any, Any, Any]]:
    """A campaign with alerts, a receiver, and a follower that has seen the campaign's journal."""
    campaign = spent("p", storage)
    with receiver(*reply) as made:
        follows = follower(storage, made)
        follows.look()
        yield campaign, made, follows


def counts(made: Any) -> tuple[int, int, int]:
    return made.counts["delivered"], made.counts["failed"], made.counts["skipped"]


def test_events_arrive_in_order_signed_with_key_and_balances(
    storage: Storage, clock: Clock
) -> None:
    with followed(storage) as (campaign, made, follows):
        campaign.top_up(1)
        clock.now += 3_000
        campaign.top_up(2)
        follows.look()
        follows.look()
    assert made.keys == ["1%:0/0/1", "1%:0/0/2"]  # not that of before the receiver was seen
    assert (counts(follows), follows.waiting) == ((2, 0, 0), {})
    message = made.messages[0]
    key, at = message.headers["webhook-id"], message.headers["webhook-timestamp"]
    assert at == str(START // 1000 + 3)
    signed = f"{key}.{at}.".encode() + message.body
    digest = base64.b64encode(hmac.new(SECRET, signed, hashlib.sha256).digest()).decode()
    assert message.headers["webhook-signature"] == f"v1,{digest}"
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


def test_slack_gets_a_line_of_text(storage: Storage) -> None:
    campaign = spent("p", storage, resources=["<USD>"])
    with receiver() as made:
        follows = follower(storage, made, format="slack")
        follows.look()
        campaign.top_up(1)
        follows.look()
    (message,) = made.messages
    assert json.loads(message.body) == {
        "text": "campaign p: alert 1% (&lt;USD&gt;); 1 of 3 &lt;USD&gt; spent, 2 left"
    }
    assert not [name for name in message.headers if name.startswith("webhook-")]


def test_slack_says_what_is_left_of_a_period(storage: Storage, clock: Clock) -> None:
    campaign = spent("p", storage, every="day")
    with receiver() as made:
        follows = follower(storage, made, format="slack")
        follows.look()
        clock.now += DAY
        campaign.tell(campaign.ask(arms=["a"]), 1, 1)
        follows.look()
    (message,) = made.messages
    left = "1 units left in period 2, whose allowance is 2"
    assert json.loads(message.body) == {"text": f"campaign p: alert 1% (units); {left}"}


def test_every_field_of_a_message_is_on_the_page(storage: Storage, clock: Clock) -> None:
    campaign = Campaign.create(
        "p", arms={"a": 3}, budget=4, every="day", alerts=["100%"], storage=storage
    )
    campaign.tell(campaign.ask(), 1, 3)
    with receiver() as made:
        follows = follower(storage, made)
        follows.look()
        with pytest.raises(BudgetExhausted):
            campaign.ask()
        follows.look()
    data = json.loads(made.messages[0].body)["data"]
    assert (data["refused"], data["period"]) == (["3"], 1)
    page = (ROOT / "docs" / "alerts.md").read_text()
    assert not [field for field in data if f"`{field}`" not in page and f'"{field}":' not in page]


def test_campaigns_and_accounts_by_their_patterns(storage: Storage) -> None:
    team: Any = Account.create("team", budget=4, alerts=["25%"], storage=storage)
    campaigns = [spent(name, storage, account="team") for name in ("a1", "a2", "b1")]
    with receiver() as made, receiver() as other:
        patterns: Any = {"campaigns": ("a*",), "accounts": ()}
        both = follower(storage, made), follower(storage, other, "others", **patterns)
        for each in both:
            each.look()
        for campaign in campaigns:
            campaign.top_up(1)
        team.top_up(1)
        for each in both:
            each.look()
    found = [json.loads(message.body)["data"] for message in made.messages]
    kinds = {(each["kind"], each["name"]) for each in found}
    assert kinds == {("campaign", name) for name in ("a1", "a2", "b1")} | {("account", "team")}
    (told,) = [each for each in found if each["kind"] == "account"]
    assert (told["rule"], told["key"]) == ("25%", f"{team.terms.id}/25%:0/0/1")
    assert {json.loads(each.body)["data"]["name"] for each in other.messages} == {"a1", "a2"}


def test_where_a_follower_begins(storage: Storage, clock: Clock) -> None:
    old = spent("old", storage)
    with receiver() as made:
        follows = follower(storage, made)
        follows.look()
        clock.now += 1_000
        spent("new", storage)  # its first event comes before the next look
        clock.now += 1_000
        follows.look()
        assert made.keys == ["1%:0/0/0"]
        assert b'"name":"new"' in made.messages[0].body
        clock.now += 1_000
        spent("newer", storage)
        follower(storage, made).look()  # after a restart
        assert b'"name":"newer"' in made.messages[1].body
        old.top_up(1)
        follower(storage, made).look()
        assert len(made.messages) == 3
        follower(storage, made, "another").look()  # whom nobody has seen before
        assert len(made.messages) == 3


def test_a_failure_is_tried_again_later_with_the_same_key_and_body(
    storage: Storage, clock: Clock
) -> None:
    with followed(storage, FAILS) as (campaign, made, follows):
        campaign.top_up(1)
        follows.look()
        follows.look()
        follower(storage, made).look()  # another knows that it waits
        assert (len(made.messages), counts(follows)) == (1, (0, 1, 0))
        assert follows.waiting == {"p": (START, START + 5_000)}
        clock.now += 5_000
        follows.look()
        made.reply = answering(OK)
        clock.now += 10_000
        campaign.top_up(1)
        follows.look()
    first, again, once_more, _ = made.messages
    assert len({each.body for each in (first, again, once_more)}) == 1
    assert made.keys == ["1%:0/0/1"] * 3 + ["1%:0/0/2"]
    assert (counts(follows), follows.waiting) == ((2, 2, 0), {})


def test_an_event_is_given_up_after_three_days_and_the_next_follows(
    storage: Storage, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    campaign = spent("p", storage)
    with receiver(FAILS) as made:
        follower(storage, made).look()
        campaign.top_up(1)
        while clock.now < START + 3 * DAY:
            follower(storage, made).look()  # attempts and their beginning outlive a follower
            clock.now += 3_600_000
        campaign.top_up(1)
        assert len(made.messages) == 72
        follows = follower(storage, made)
        follows.look()
    assert set(made.keys[:-1]) == {"1%:0/0/1"}
    assert made.keys[-1] == "1%:0/0/2"
    assert (counts(follows), set(follows.waiting)) == ((0, 2, 1), {"p"})
    assert "event 1%:0/0/1 of p was not delivered to webhook finance: HTTP 503; it was given" in (
        caplog.text
    )


def test_the_decision_to_try_again_depends_on_nothing_but_its_arguments() -> None:
    first = _ReaderPosition(7, 5).failed(8, 6, START)
    assert first == (7, 6, 1, START, 0)
    assert first.next_attempt(START + 1) == START + 5_000
    second = first.failed(8, 6, START + 9)
    assert (second, second.next_attempt(START)) == ((7, 6, 2, START + 9, 9), START + 9 + 10_000)
    back = second.failed(8, 6, START - DAY)  # the clock went back
    assert (back.failing, back.next_attempt(START - DAY)) == (9, START - DAY + 20_000)
    assert second.next_attempt(START - DAY) == START - DAY
    ahead = second.failed(8, 6, START + 365 * DAY)  # for one attempt
    assert (ahead.seq, ahead.failing) == (7, DAY + 9)
    late = ahead._replace(failing=2 * DAY)
    assert late.failed(8, 6, ahead.at + DAY) == (8, 6, 0, 0, 0)


def test_bad_receivers_keep_neither_asks_nor_others_waiting(
    storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_PAUSE_S", 0.05)
    campaign: Any = spent("p", storage)
    free, asked = threading.Event(), 0
    bad = [
        lambda _: free.wait(60) and None,
        FAILS,
        lambda connected: None if free.is_set() else drip(connected),
        endless(b"HTTP/1.1 200 OK\r\n", b"X: y\r\n"),
    ]
    replies = [bad[0]] * 6 + bad + [answering(OK)]
    with ExitStack() as block:
        receivers = [block.enter_context(receiver(reply)) for reply in replies]
        followers = [follower(storage, made, f"r{k}") for k, made in enumerate(receivers)]
        for each in followers:
            each.look()
        quick = followers[-1]
        with following(followers):
            campaign.top_up(1)
            begun = time.monotonic()
            while not quick.counts["delivered"] or not all(made.messages for made in receivers):
                campaign.tell(1, 1, 1)
                asked += 1
                assert time.monotonic() - begun < 30  # less than one of them is waited for
            assert followers[0].waiting.keys() == {"p"}
            free.set()
    assert asked > 1


def test_a_storage_that_fails_is_asked_again(storage: Storage, caplog: Any) -> None:
    spent("p", storage)
    with receiver() as made:
        follows = follower(storage, made)
        works, tries = storage.journals, 0

        def fails(kind: str) -> Any:
            nonlocal tries
            tries += 1
            if tries == 4:
                follows.stop()
            if tries in (1, 2):
                raise StorageUnavailable("gone")
            return works(kind)

        storage.journals = fails  # type: ignore[method-assign]
        follows.stopped.wait = lambda *_: False  # type: ignore[method-assign]
        follows.run()
        assert tries == 4
        assert caplog.text.count("webhook finance cannot read on: gone") == 1


def test_a_name_server_that_hangs_holds_no_service_up(
    storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "SEND_S", -0.9)
    begun, free = threading.Event(), threading.Event()

    def hangs(*_: Any, **__: Any) -> None:
        begun.set()
        assert free.wait(60)

    with receiver() as made:
        follows = follower(storage, made)
        follows.look()
        spent("p", storage)
        follows.send = hangs
        with following([follows]):
            assert begun.wait(60)
        assert not free.is_set()
        free.set()


BROKEN = """UPDATE purse_journal SET body = '{' WHERE level = 1
AND seq = (SELECT max(seq) FROM purse_journal WHERE level = 1)"""
NO_RULE = """UPDATE purse_journal SET body = replace(body, '"rule"', '"role"') WHERE level = 1
AND seq = (SELECT max(seq) FROM purse_journal WHERE level = 1)"""


def test_an_event_that_cannot_be_written_stops_no_other(storage: Storage) -> None:
    campaigns = [spent(name, storage) for name in "ab"]
    with receiver() as made:
        follows = follower(storage, made)
        follows.look()
        for campaign in campaigns:
            campaign.top_up(1)
        execute(storage, NO_RULE)
        follows.look()
    assert (len(made.messages), counts(follows)) == (1, (1, 1, 0))
    assert set(follows.waiting) == {"a"}


def test_two_followers_go_on_where_the_other_was(storage: Storage) -> None:
    campaign = spent("p", storage)
    with receiver() as made:
        both = follower(storage, made), follower(storage, made)
        for each in both:
            each.look()
        for _ in range(3):
            campaign.top_up(1)
            for each in both:
                each.look()
    assert made.keys == ["1%:0/0/1", "1%:0/0/2", "1%:0/0/3"]


def test_a_follower_that_is_behind_does_not_take_back_another(storage: Storage) -> None:
    campaign: Any = spent("p", storage)
    with receiver() as made:
        slow, quick = follower(storage, made), follower(storage, made)
        slow.look()

        def overtaken(*_: Any, **__: Any) -> None:
            campaign.top_up(1)
            quick.look()
            raise NotSent("timeout")

        slow.send = overtaken
        campaign.top_up(1)
        slow.look()
        follower(storage, made).look()
    assert made.keys == ["1%:0/0/1", "1%:0/0/2"]


def test_a_campaign_made_amid_a_long_look_is_told_after_a_restart(
    storage: Storage, clock: Clock
) -> None:
    with followed(storage) as (campaign, made, follows):
        works = follows.send

        def last(*given: Any, **more: Any) -> None:
            spent("q", storage)
            clock.now += 600_000
            works(*given, **more)
            follows.stop()

        follows.send = last
        campaign.top_up(1)
        follows.look()
        follower(storage, made).look()
    assert made.keys == ["1%:0/0/1", "1%:0/0/0"]


def test_what_cannot_be_stored_is_not_sent_again(storage: Storage, clock: Clock) -> None:
    campaign: Any = spent("p", storage)
    move = storage.move_checkpoint

    def full(*_: Any) -> None:
        raise StorageUnavailable("full")

    with receiver() as made:
        follows = follower(storage, made)
        follows.look()
        campaign.top_up(1)
        for reply, looks in ((FAILS, 1), (answering(OK), 2)):
            made.reply = reply
            storage.move_checkpoint = full  # type: ignore[assignment, method-assign]
            for _ in range(3):
                with pytest.raises(StorageUnavailable, match="full"):
                    follows.look()
            assert len(made.messages) == looks
            storage.move_checkpoint = move  # type: ignore[method-assign]
            follows.look()
            clock.now += 5_000
    assert counts(follows) == (1, 1, 0)


def test_a_journal_that_cannot_be_read_stops_no_other(storage: Storage) -> None:
    campaigns = [spent(name, storage) for name in "ab"]
    with receiver() as made:
        follows = follower(storage, made)
        follows.look()
        for campaign in campaigns:
            campaign.top_up(1)
        execute(storage, BROKEN)
        with pytest.raises(PurseError, match=r"^campaign 'a': JSONDecodeError$"):
            follows.look()
    (message,) = made.messages
    assert b'"name":"b"' in message.body


@pytest.mark.parametrize("is_running", [True, False])
def test_a_restored_campaign_is_told_from_its_restore(
    storage: Storage, clock: Clock, is_running: bool
) -> None:
    file = StringIO()
    old: Any = Campaign.create("old", **TERMS, alerts=["1%"], storage=storage)
    old.tell(old.ask(), 1, 1)
    old.export(file)
    with receiver() as made:
        follows = follower(storage, made)
        follows.look()
        clock.now += DAY
        for name in ("copy", "early"):
            restored = Campaign.restore(StringIO(file.getvalue()), storage=storage, name=name)
            restored.top_up(1)
            made_after = follows if is_running else follower(storage, made)
            made_after.look()
            clock.now += DAY
    assert made.keys == ["1%:0/0/1"] * 2
    names = [json.loads(message.body)["data"]["name"] for message in made.messages]
    assert names == ["copy", "early"]


def delete(storage: Storage) -> None:
    """Delete all that is stored."""
    for table in ("checkpoints", "open_tickets", "balances", "journal", "levels"):
        execute(storage, f"DELETE FROM purse_{table}")


def test_a_campaign_that_was_deleted_and_made_again_is_told_from_its_first_entry(
    storage: Storage, clock: Clock
) -> None:
    with followed(storage) as (campaign, made, follows):
        for _ in range(3):
            campaign.top_up(1)
        follows.look()
        delete(storage)
        spent("p", storage)
        follows.look()
    assert made.keys == [*(f"1%:0/0/{number}" for number in (1, 2, 3)), "1%:0/0/0"]


def test_secrets_and_addresses_stand_nowhere(
    storage: Storage, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    with followed(storage, FAILS) as (campaign, made, follows):
        campaign.top_up(1)
        follows.look()

        def broken(*_: Any, **__: Any) -> None:
            raise RuntimeError(made.url)

        other = follower(storage, made, "other")
        other.look()
        other.send = broken
        campaign.top_up(1)
        other.look()
        assert "other: RuntimeError" in caplog.text
    file = exported(campaign)
    said: list[Any] = [follows.receiver, follows.counts, follows.waiting, campaign.status()]
    said += [str(campaign.status()), campaign.audit(), storage.overview("p"), file.getvalue()]
    said += [
        list(campaign.journal()),
        execute(storage, "SELECT * FROM purse_checkpoints"),
        campaign.terms,
    ]
    said += [(record.getMessage(), record.__dict__.get("facts")) for record in caplog.records]
    text = repr(said)
    encoded = base64.b64encode(SECRET).decode()
    for secret in (encoded, encoded[10:], "sesame", "/hook", str(made.port)):
        assert secret not in text


def test_the_receiver_of_the_page_knows_genuine_messages() -> None:
    page = (ROOT / "docs" / "alerts.md").read_text()
    (block,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    scope: dict[str, Any] = {}
    exec(compile(block, "alerts.md", "exec"), scope)
    is_genuine, storage = scope["is_genuine"], in_memory()
    with followed(storage) as (campaign, made, follows):
        campaign.top_up(1)
        follows.look()
    (message,) = made.messages
    headers, secret = message.headers, f"whsec_{base64.b64encode(SECRET).decode()}"
    assert is_genuine(secret, headers, message.body)
    assert not is_genuine(secret, headers, message.body + b" ")
    assert not is_genuine(secret.replace("1", "2"), headers, message.body)
    old = {**headers, "webhook-timestamp": str(int(headers["webhook-timestamp"]) - 999)}
    assert not is_genuine(secret, old, message.body)
