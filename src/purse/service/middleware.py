"""The middleware around every request: it checks the sender, the size and the rate, answers errors
with problems, and logs and counts the answer.
"""

import os
import re
import time

from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from purse.campaign.storage.storage import Storage
from purse.errors import PurseError
from purse.service import problems
from purse.service.auth import (
    NEEDS_TOKEN,
    Guard,
    TokenBuckets,
    body_of,
    check_query,
    check_size,
    is_public,
)
from purse.service.metrics import Metrics
from purse.service.problems import BROKEN, NO_TOKEN, NOT_JSON, TOO_MANY, ProblemError
from purse.service.reach import Reach
from purse.service.settings import Settings
from purse.service.tokens import Principal

_REQUEST_ID = re.compile(r"[\x21-\x7e]{1,128}")
_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE")
_WITH_BODY = ("POST", "PUT", "PATCH")
_GONE = 499  # what is logged if the client left before the answer
_SAFE = ((b"cache-control", b"no-store"), (b"x-content-type-options", b"nosniff"))
_CAMPAIGN = "/campaigns/{name}"  # how the routes of one campaign begin
_ALIVE = "/healthz"  # never limited: a watchdog must not think the server dead


class RequestMiddleware:
    """The outermost layer of the app."""

    def __init__(
        self, app: ASGIApp, settings: Settings, guard: Guard, metrics: Metrics, storage: Storage
    ) -> None:
        self.app, self.settings, self.guard, self.metrics = app, settings, guard, metrics
        self.storage = storage
        self.buckets = None if settings.rate is None else TokenBuckets(settings.rate)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        context = _RequestContext(scope, send)
        try:
            await self.admit(context, receive)
            await self.app(scope, receive, context.send)
        except (ProblemError, PurseError) as error:
            reach: Reach | None = context.state.get("reach")
            answer = problems.answer_to(error, reach.hides if reach else None)
            await answer(scope, receive, context.send)
        except ClientDisconnect:
            pass
        except Exception:
            problems.LOGGER.exception(
                "a request failed", extra={problems.FACTS: {"request_id": context.request_id}}
            )
            if context.status == _GONE:
                detail = f"the server's log says more under {context.request_id}"
                await problems.response(BROKEN, detail)(scope, receive, context.send)
        finally:
            context.finish(self.metrics)

    async def admit(self, context: "_RequestContext", receive: Receive) -> None:
        """Let a request in, with its body read; or raise what is answered instead."""
        scope, headers, state = context.scope, context.headers, context.state
        context.principal = state["principal"] = principal = self.guard.principal(headers)
        only = None if principal is None else principal.only
        state["reach"] = None if only is None else Reach(self.storage, only)
        if self.buckets is not None and scope["path"] != _ALIVE:
            address = (scope.get("client") or ("unknown",))[0]
            named = principal is not None and principal.name
            wait = self.buckets.take(f"token {named}" if named else f"address {address}")
            if wait:
                detail = f"{self.buckets.rate:g} requests per second are allowed; wait {wait:.3g} s"
                raise ProblemError(TOO_MANY, detail, {"Retry-After": str(int(wait) + 1)})
        if principal is None and not is_public(scope["path"]):
            raise ProblemError(NO_TOKEN, NEEDS_TOKEN)
        check_query(scope["query_string"])
        announced = headers.get("content-length", "0")
        check_size(int(announced) if announced.isdecimal() else 0, self.settings.max_body)
        if scope["method"] not in _WITH_BODY:
            return
        state["body"] = body = await body_of(receive, self.settings.max_body)
        if body:
            kind = headers.get("content-type", "").partition(";")[0].strip().lower()
            if kind != "application/json":
                raise ProblemError(NOT_JSON, f"Content-Type {kind!r}: must be application/json")


class _RequestContext:
    def __init__(self, scope: Scope, send: Send) -> None:
        self.begun = time.perf_counter()
        self.scope, self._send = scope, send
        # by their names in small letters; of a header that comes twice the first
        self.headers = {
            name.decode("latin-1"): value.decode("latin-1")
            for name, value in reversed(scope["headers"])
        }
        self.state = scope.setdefault("state", {})
        self.state["headers"] = self.headers
        self.principal: Principal | None = None
        self.status = _GONE
        name = self.headers.get("x-request-id", "")
        self.request_id = name if _REQUEST_ID.fullmatch(name) else os.urandom(16).hex()

    async def send(self, message: Message) -> None:
        """Send a part of the answer, with what every answer says."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            names = [name for name, _ in message["headers"]]
            message["headers"] = [
                *message["headers"],
                *(header for header in _SAFE if header[0] not in names),
                (b"x-request-id", self.request_id.encode()),
            ]
            if self.principal is not None:
                message["headers"].append((b"x-purse-role", self.principal.role.encode()))
        await self._send(message)

    def finish(self, metrics: Metrics) -> None:
        """Log and count the request, by the route and never by the path: a path can be anything."""
        seconds = time.perf_counter() - self.begun
        route = self.state.get("route", "unknown")
        method = self.scope["method"] if self.scope["method"] in _METHODS else "other"
        metrics.answered(method, route, self.status, seconds)
        name = self.scope["path_params"]["name"] if route.startswith(_CAMPAIGN) else None
        problems.log_request(
            {
                "method": method,
                "route": route,
                "status": self.status,
                "ms": round(seconds * 1000, 3),
                "campaign": name,
                "request_id": self.request_id,
                "token": self.principal and self.principal.name,
            }
        )
