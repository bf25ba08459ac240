"""Routes: one for each path, made from the rows of the verbs; and the threads in which verbs use
the storage. Those that write may wait for its lock, and those that read have threads of their own.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from typing import Any, NamedTuple, TypeVar
from urllib.parse import parse_qs

from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from purse.base.json import compact, compact_bytes
from purse.base.plain_validation import choice, integer
from purse.base.problem_types import OF_ERRORS, ProblemType
from purse.campaign.account import Account
from purse.campaign.api.journal import Entry
from purse.campaign.api.verb import Role, Verb, verbs
from purse.campaign.budget import MOST_PAGE, PAGE
from purse.campaign.campaign import Campaign
from purse.client import wire
from purse.errors import InvalidInput, PurseError, StorageUnavailable, shorten, unknown
from purse.service.auth import check_role
from purse.service.budgets import AnyBudget, Budgets, without_folder
from purse.service.metrics import Metrics
from purse.service.problems import NO_SUCH_PATH, NOT_ALLOWED, ProblemError
from purse.service.reach import Reach

CLASSES: tuple[type[AnyBudget], ...] = (Campaign, Account)
_FIRST = ("/asks", "/tell")  # to look for a route takes time, and these are asked for most
_BYTE_LIMIT = 4_000_000  # of a journal in one answer, and the rest of the last entry
_STEP = 100  # entries of a journal that are read at a time: each may be large
JSON = "application/json"

_WRITERS = 40  # requests that write at once; those that wait together share a transaction
_WAITING_LIMIT = 200  # requests that wait for one of these threads; more are answered with 503
_READERS = 20  # requests that read at once
_T = TypeVar("_T")
_Answer = Callable[[Scope], Awaitable[Response]]


class Operation(NamedTuple):
    """The handler of one path and method."""

    role: Role | None  # that it needs; None: everybody may
    answer: _Answer


class _Endpoint:
    """The operations of one path. A route calls it directly: Starlette's own way to a function
    makes a request first.
    """

    def __init__(self, path: str, operations: Mapping[str, Operation]) -> None:
        self.path, self.operations = path, operations

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        state, method = scope["state"], scope["method"]
        state["route"] = self.path
        operation = self.operations.get(method)
        if operation is None:
            raise missing(scope, NOT_ALLOWED, Allow=", ".join(sorted(self.operations)))
        if operation.role is not None:
            check_role(state["principal"], operation.role)
            if (reach := state["reach"]) is not None:
                await reach.admit(self.path, scope["path_params"].get("name"))
        response = await operation.answer(scope)
        await response(scope, receive, send)


def missing(scope: Scope, kind: ProblemType = NO_SUCH_PATH, **headers: str) -> ProblemError:
    """Return the error for a path, or a method, that there is not."""
    detail = f"{scope['method']} {shorten(scope['path'])}: {kind.title.lower()}"
    return ProblemError(kind, detail, headers)


async def absent(scope: Scope, _receive: Receive, _send: Send) -> None:
    """Refuse a request for a path that there is not."""
    raise missing(scope)


def route(path: str, **operations: Operation) -> Route:
    """Return the route of a path, with its operations by method."""
    return Route(path, _Endpoint(path, operations))


def verb_routes(budgets: Budgets, threads: "Threads", metrics: Metrics) -> list[Route]:
    """Return the routes of all verbs, asks and tells first."""
    operations: dict[str, dict[str, Operation]] = {}
    for of in CLASSES:
        for row in verbs(of):
            answer = _answering(of, row, budgets, threads, metrics)
            at = operations.setdefault(row.address(of), {})
            at[row.method] = Operation(row.role, answer)
    paths = sorted(operations, key=lambda path: not path.endswith(_FIRST))
    return [route(path, **operations[path]) for path in paths]


def _answering(
    of: type[AnyBudget], row: Verb, budgets: Budgets, threads: "Threads", metrics: Metrics
) -> _Answer:
    """Return the handler of the requests of a verb."""
    parts = [argument.name for argument in row.arguments.values() if argument.location == "path"]
    run = threads.read if row.method == "GET" else threads.write
    status = status_of(row)
    counter = {"ask": metrics.asks, "tell": metrics.tells, "tell_many": metrics.tells}.get(row.name)

    def act(name: str, arguments: dict[str, Any], reach: Reach | None) -> Response:
        if row.lines:
            pages = partial(budgets.do, of, row, name)
            text = "".join(_journal_lines(lambda **page: pages(page), reach, **arguments))
            return Response(text, media_type=wire.LINES)
        result = budgets.do(of, row, name, arguments, reach)
        if counter is not None:
            answers = result if row.key else [result]
            counter.labels(name).inc(sum(not isinstance(one, PurseError) for one in answers))
        return answer_json(result, row.key, status, reach)

    async def answer(scope: Scope) -> Response:
        state, path = scope["state"], scope["path_params"]
        arguments = row.read(
            {name: path[name] for name in parts},
            _query_of(scope),
            _read_json(state["body"]) if row.method == "POST" else None,
            state["headers"].get("idempotency-key"),
        )
        return await run(lambda: act(path.get("name", ""), arguments, state["reach"]))

    return answer


def status_of(row: Verb) -> int:
    """Return the status of an answer that is no problem."""
    return 201 if row.path is None and row.method == "POST" else 200


def answer_json(
    result: Any, key: str = "", status: int = 200, reach: Reach | None = None
) -> Response:
    """Return a result as a reply; it is built from plain values, so nothing looks at it again."""
    facts = wire.plain(result) if reach is None else reach.shown(wire.plain(result))
    if isinstance(facts, dict) and "policy" in facts:
        facts = without_folder(facts)
    return Response(compact_bytes({key: facts} if key else facts), status, media_type=JSON)


def _journal_lines(
    page: Callable[..., Iterable[Entry]],
    reach: Reach | None = None,
    after: Any = 0,
    limit: Any = PAGE,
) -> Iterator[str]:
    """Yield entries as lines; after `_BYTE_LIMIT` no more.

    page   returns the entries after one, at most `limit`
    """
    limit, size = integer("limit", limit, low=1, high=MOST_PAGE), 0
    while limit > 0 and size < _BYTE_LIMIT:
        entries = list(page(after=after, limit=min(limit, _STEP)))
        if not entries:
            return
        after, limit = entries[-1].seq, limit - len(entries)
        for entry in entries:
            terms = "policy" in entry.body  # of a campaign; an account has no policy
            body = without_folder(entry.body) if terms else entry.body
            body = body if reach is None else reach.shown(body)
            line = compact({**entry._asdict(), "body": body}) + "\n"
            yield line
            size += len(line)
            if size >= _BYTE_LIMIT:
                return


def _query_of(scope: Scope) -> dict[str, list[str]]:
    """Return the words of a query by name."""
    query = scope["query_string"]
    return parse_qs(query.decode("latin-1"), keep_blank_values=True) if query else {}


def option_of(scope: Scope, name: str, allowed: Sequence[str], default: str) -> str:
    """Return the only option that a query may have. Raise `InvalidInput` if it has another one."""
    query = _query_of(scope)
    for other in query:
        if other != name:
            raise unknown("field", other, [name])
    return choice(name, query.get(name, [default])[-1], allowed)


def _read_json(body: bytes) -> Any:
    """Read a body as JSON; no body is an empty object."""
    try:
        return json.loads(body) if body else {}
    except json.JSONDecodeError as error:
        raise InvalidInput(f"body: is not JSON: {error.msg} at character {error.pos}") from None
    except (ValueError, RecursionError):
        raise InvalidInput("body: is not JSON in UTF-8, or is nested too deeply") from None


class Threads:
    """The threads of one app."""

    def __init__(self) -> None:
        self._writers = ThreadPoolExecutor(_WRITERS, "purse-writer")
        self._readers = ThreadPoolExecutor(_READERS, "purse-reader")
        self._writing = 0  # requests that write, or wait to

    @property
    def waiting(self) -> int:
        """Requests that wait for a thread that writes."""
        return max(0, self._writing - _WRITERS)

    async def write(self, work: Callable[[], _T]) -> _T:
        """Do what writes; refuse it at once if too many wait already."""
        if self.waiting >= _WAITING_LIMIT:
            raise ProblemError(
                OF_ERRORS[StorageUnavailable],
                f"{self.waiting} requests wait for the storage already; nothing is lost, send the "
                "same request again",
            )
        self._writing += 1
        try:
            return await _run(self._writers, work)
        finally:
            self._writing -= 1

    async def read(self, work: Callable[[], _T]) -> _T:
        """Do what only reads."""
        return await _run(self._readers, work)


async def _run(threads: Executor, work: Callable[[], _T]) -> _T:
    """Do something in another thread, which may do what the request may."""
    return await asyncio.get_running_loop().run_in_executor(threads, copy_context().run, work)
