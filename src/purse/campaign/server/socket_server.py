"""The process that commits for others: `purse serve --socket PATH`.

It holds no lock between transactions, so processes that use the database themselves may work beside
it.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import replace
from typing import Any

from purse._version import __version__
from purse.campaign.account.above import create_campaign, read_terms
from purse.campaign.account.operations import ACCOUNT_OPERATIONS, AccountCommitter
from purse.campaign.operations import OPERATIONS
from purse.campaign.server.client_connection import ClientConnection
from purse.campaign.server.commit_queues import TOO_LATE, Answers, Call, CommitQueues, answer
from purse.campaign.server.socket_file import SocketFile
from purse.campaign.storage.base import Storage
from purse.campaign.storage.remote.unix_connection import different_versions
from purse.campaign.storage.remote.unix_socket import ROOT, frame
from purse.campaign.storage.remote.wire import (
    CREATE,
    CREATE_ACCOUNT,
    HELLO,
    account_write,
    write_set,
)
from purse.campaign.terms import Terms
from purse.errors import CampaignExists, InvalidInput, PurseError, StorageUnavailable, invalid

READS = (  # methods of a storage
    "identity",
    "now",
    "names",
    "accounts",
    "account",
    "overview",
    "entries",
    "account_entries",
    "told",
    "tickets",
    "archived",
    "checkpoint",
    "labels",
)
PAGED = ("entries", "account_entries", "told")  # may return fewer than their last argument says
READERS = 16  # calls that read at once
FLUSH_S = 5.0  # seconds that clients get to read their last answers


class SocketServer:
    """Answers the clients of a socket; for the thread of an event loop.

    storage   where campaigns are kept
    file      the socket
    """

    def __init__(self, storage: Storage, file: SocketFile) -> None:
        self.storage, self.file = storage, file
        self.connections: set[ClientConnection] = set()
        self._pending = 0  # calls without an answer

    async def start(self) -> None:
        """Accept clients."""
        self._loop = asyncio.get_running_loop()
        self._readers = ThreadPoolExecutor(READERS, "purse-read")
        self._queues = CommitQueues(self.storage, self._deliver)
        self._server = await self._loop.create_unix_server(
            lambda: ClientConnection(self.handle, self.connections), sock=self.file.socket
        )

    async def stop(self) -> None:
        """Accept nothing more, finish what was begun, and let clients go when they have their
        answers.
        """
        self._server.close()
        self.file.remove()
        for client in list(self.connections):
            client.transport.pause_reading()
        while self._pending:
            await asyncio.sleep(0.01)
        for client in list(self.connections):
            client.transport.close()
        end = time.monotonic() + FLUSH_S
        while self.connections and time.monotonic() < end:
            await asyncio.sleep(0.01)
        for client in list(self.connections):
            client.transport.abort()
        self._readers.shutdown()
        self._queues.threads.shutdown()

    def handle(
        self, client: ClientConnection, number: int, deadline: float, verb: str, given: list[Any]
    ) -> None:
        """Have a request done; the first of a client has to be a greeting."""
        if not client.is_greeted and verb != HELLO:
            client.transport.close()
            return
        self._pending += 1
        call = Call(client, number, deadline)
        try:
            if verb in OPERATIONS:
                name, campaign, *arguments = given
                operation = OPERATIONS[verb](*arguments)
                self._queues.add(str(name), str(campaign), call, operation)
            elif verb in READS:
                self._in_thread(self._readers, call, lambda: self._read(call, verb, given))
            elif verb == CREATE:
                self._in_thread(self._queues.threads, call, lambda: self._create(call, *given))
            elif verb == CREATE_ACCOUNT:
                self._in_thread(
                    self._queues.threads, call, lambda: self._create_account(call, *given)
                )
            elif verb in ACCOUNT_OPERATIONS:
                self._in_thread(
                    self._queues.threads, call, lambda: self._change_account(call, verb, *given)
                )
            elif verb == HELLO:
                self._greet(call, *given)
            else:
                raise invalid("verb", verb, "the server knows no such verb")
        except PurseError as error:
            self._deliver([(client, answer(call, None, error))])
        except (TypeError, ValueError) as error:
            wrong = InvalidInput(f"{verb}: these are not its arguments: {error}")
            self._deliver([(client, answer(call, None, wrong))])

    def _greet(self, call: Call, version: str) -> None:
        """Admit a client of our user, or of root, and of our version."""
        refusal: PurseError | None = None
        if call.client.user not in (os.getuid(), ROOT):
            refusal = StorageUnavailable(
                f"{self.file.path}: the server admits only user {os.getuid()}, who started it, "
                f"and root, not user {call.client.user}"
            )
        elif version != __version__:
            refusal = different_versions(self.file.path, __version__, version)
        if refusal is not None:
            self._deliver([(call.client, answer(call, None, refusal))])
            call.client.transport.close()
            return
        call.client.is_greeted = True
        self._in_thread(
            self._readers,
            call,
            lambda: answer(call, [__version__, self.storage.identity(), time.monotonic()]),
        )

    def _read(self, call: Call, verb: str, given: list[Any]) -> bytes:
        """Return what a storage answers; where that is too long, fewer of what was wanted."""
        while True:
            if call.is_late:
                raise StorageUnavailable(TOO_LATE)
            found = getattr(self.storage, verb)(*given)
            try:
                return frame([call.number, found])
            except InvalidInput:
                if verb not in PAGED or given[-1] <= 1:
                    raise
                given = [*given[:-1], given[-1] // 2]

    def _create(self, call: Call, name: str, row: Any) -> bytes:
        """Make a campaign, once: a client that lost the answer sends the same again."""
        if call.is_late:
            raise StorageUnavailable(TOO_LATE)
        change = write_set(row)
        try:
            create_campaign(self.storage, Terms.from_dict(change.entries[0].body), [change])
        except CampaignExists:
            if self.storage.overview(name).head.id != change.head.id:
                raise
        return answer(call, None)

    def _create_account(self, call: Call, row: Any, account: str) -> bytes:
        """Make an account, once, as `_create` does."""
        if call.is_late:
            raise StorageUnavailable(TOO_LATE)
        first = account_write(row)
        try:
            self.storage.create_account(first, account)
        except CampaignExists:
            if self.storage.account(first.name).head.id != first.head.id:
                raise
        return answer(call, None)

    def _change_account(self, call: Call, verb: str, name: str, id: str, *arguments: Any) -> bytes:
        """Do an operation on an account; a repeat has no second effect."""
        if call.is_late:
            raise StorageUnavailable(TOO_LATE)
        terms = replace(read_terms(self.storage, name), id=id)
        AccountCommitter(terms, self.storage).do(ACCOUNT_OPERATIONS[verb](*arguments))
        return answer(call, None)

    def _in_thread(self, threads: Executor, call: Call, work: Callable[[], bytes]) -> None:
        def run() -> None:
            try:
                found = work()
            except Exception as error:
                found = answer(call, None, error)
            self._loop.call_soon_threadsafe(self._deliver, [(call.client, found)])

        threads.submit(run)

    def _deliver(self, answers: Answers) -> None:
        self._pending -= len(answers)
        for client, found in answers:
            client.answer(found)
