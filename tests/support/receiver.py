"""A receiver of webhooks on this machine, good or bad, and campaigns that make events."""

import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple

from purse import Campaign
from purse.campaign.rules import asks
from purse.campaign.rules.transaction import Transaction
from purse.campaign.run.committer import writes_of
from purse.campaign.storage.sql import LockedLevels, ReadRequest, Writes
from purse.campaign.webhooks.file import Receiver as Named
from purse.campaign.webhooks.follower import Follower
from purse.campaign.webhooks.sending import read_target
from tests.support.game import Script

SECRET = b"sesame-sesame-sesame-sesame"
OK = b"HTTP/1.1 204 No Content\r\n\r\n"
TERMS: dict[str, Any] = {"arms": {"a": 1, "b": 3}, "budget": 2, "policy": "uniform"}


class Message(NamedTuple):
    path: str
    headers: dict[str, str]
    body: bytes


class Receiver:
    """Listens on loopback; `reply` says what is done with each connection once it was read."""

    def __init__(self, reply: Callable[[socket.socket], None], tls: ssl.SSLContext | None) -> None:
        self.reply, self.tls = reply, tls
        self.messages: list[Message] = []
        self.arrived = threading.Event()  # the first of them
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.url = f"http{'s' if tls else ''}://127.0.0.1:{self.port}/hook/sesame"
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self) -> None:
        with suppress(OSError):
            while True:
                connected, _ = self.listener.accept()
                threading.Thread(target=self.serve, args=(connected,), daemon=True).start()

    def serve(self, connected: socket.socket) -> None:
        with suppress(OSError, ValueError, IndexError, KeyError):  # not everybody sends HTTP
            if self.tls:
                connected = self.tls.wrap_socket(connected, server_side=True)
            with connected, connected.makefile("rb") as file:
                path = file.readline().split()[1].decode()
                pairs = iter(lambda: file.readline().decode().strip(), "")
                headers = dict(pair.split(": ", 1) for pair in pairs)
                body = file.read(int(headers["Content-Length"]))
                self.messages.append(Message(path, headers, body))
                self.arrived.set()
                self.reply(connected)

    @property
    def keys(self) -> list[str]:
        """The keys of messages, without the campaign."""
        return [each.headers["webhook-id"].partition("/")[2] for each in self.messages]


@contextmanager
def receiver(
    reply: Callable[[socket.socket], None] = lambda connected: connected.sendall(OK),
    tls: ssl.SSLContext | None = None,
) -> Iterator[Receiver]:
    made = Receiver(reply, tls)
    try:
        yield made
    finally:
        made.listener.close()


def follower(storage: Any, made: Receiver, name: str = "finance", **more: Any) -> Follower:
    """A follower that sends the events of all campaigns and accounts to a receiver."""
    facts: dict[str, Any] = {"campaigns": ("*",), "accounts": ("*",), "allow_private": True, **more}
    return Follower(storage, Named(name, read_target(made.url), SECRET, **facts))


def answering(text: bytes) -> Callable[[socket.socket], None]:
    return lambda connected: connected.sendall(text)


def drip(connected: socket.socket) -> None:
    """Answer a byte at a time."""
    for letter in OK * 50:
        connected.sendall(bytes([letter]))
        time.sleep(0.05)


def endless(head: bytes, part: bytes) -> Callable[[socket.socket], None]:
    def reply(connected: socket.socket) -> None:
        connected.sendall(head)
        while True:
            connected.sendall(part)

    return reply


def spent(name: str, storage: Any, **terms: Any) -> Campaign:
    """A campaign whose first ticket cost 1; nothing is compiled. With the rule `1%` each top-up of
    it makes an event.
    """
    made: Any = Campaign.create(name, **{**TERMS, "alerts": ["1%"], **terms}, storage=storage)
    ask(made)
    made.tell(1, 1, 1)
    return made


def ask(campaign: Any) -> None:
    storage = campaign.storage

    def decide(locked: LockedLevels) -> Writes:
        level = campaign._local.committer.level(locked.levels)
        transaction = Transaction(level, storage.now(), Script(0))
        transaction.renew()
        asks.ask(transaction, 1, f"r{level.seq}")
        return writes_of(transaction, locked.levels)

    storage.change(campaign.name, ReadRequest(), decide)
