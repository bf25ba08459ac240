"""The dashboard: its files, which come from the package, hold no data, and may load nothing from
elsewhere; and the three routes that tell it of campaigns.
"""

from collections.abc import Iterator
from hashlib import sha256
from importlib.resources import files
from json import JSONDecoder
from typing import NamedTuple, cast, get_args

from starlette.responses import Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Scope

from purse.base.json import compact
from purse.campaign.views.time_series import ALL, Span
from purse.service import live_view
from purse.service.auth import Guard
from purse.service.live_view import LiveViews, Overview
from purse.service.problems import TOO_MANY, ProblemError
from purse.service.routes import JSON, Operation, answer_json, missing, option_of, route

_SPAN = "span"
_FOLDER = "static"
_INDEX = "index.html"
_KINDS = {"html": "text/html", "css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src "
    "'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_SAFE = {
    "Content-Security-Policy": _POLICY,
    # kept by the browser, and asked about each time: a new version shows at once
    "Cache-Control": "no-cache",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


class _Page(NamedTuple):
    """A file as it is sent."""

    body: bytes
    kind: str
    tag: str

    def answer(self, tags: str | None) -> Response:
        """Return the file, or that the browser has it: its tag is among the browser's."""
        headers = {**_SAFE, "ETag": self.tag}
        if tags is not None and self.tag in tags:
            return Response(status_code=304, headers=headers)
        return Response(self.body, headers=headers, media_type=self.kind)


def _load() -> dict[str, _Page]:
    pages = {}
    for file in files("purse.service").joinpath(_FOLDER).iterdir():
        if kind := _KINDS.get(file.name.rpartition(".")[2]):
            body = file.read_bytes()
            pages[file.name] = _Page(body, kind, f'"{sha256(body).hexdigest()[:20]}"')
    return pages


def dashboard_routes(views: LiveViews, overview: Overview, guard: Guard) -> Iterator[Route]:
    """Yield the routes of the page and its files, and the three that tell readers of campaigns."""
    pages = _load()

    async def file(scope: Scope) -> Response:
        page = pages.get(scope["path_params"].get("file", _INDEX))
        if page is None:
            raise missing(scope)
        return page.answer(scope["state"]["headers"].get("if-none-match"))

    async def look(scope: Scope) -> Response:
        reach = scope["state"]["reach"]
        facts = await views.read(lambda: overview.facts(reach))
        # the address of the storage, to which commands have to write, is for administrators
        is_admin = reach is None and scope["state"]["principal"].may("admin")
        return answer_json({**facts, "storage": overview.storage if is_admin else None})

    async def picture(scope: Scope) -> Response:
        latest = await views.look(scope["path_params"]["name"], _span_of(scope))
        return Response(_seen(latest.body, scope), media_type=JSON)

    async def events(scope: Scope) -> Response:
        name, span = scope["path_params"]["name"], _span_of(scope)
        principal = scope["state"]["principal"]
        sender = principal.name
        if views.is_full(sender):
            raise ProblemError(
                TOO_MANY,
                f"{live_view.VIEWER_LIMIT} viewers are here already, or "
                f"{live_view.TOKEN_VIEWER_LIMIT} with this token; wait until one leaves",
                {"Retry-After": "10"},
            )
        await views.look(name, span)  # a problem is answered as one, before the stream begins
        headers = scope["state"]["headers"]
        # the token may be revoked in the meantime, or another one of its name reach less
        parts = views.events(name, lambda: guard.principal(headers) == principal, span, sender)
        stream = (_seen(part, scope) async for part in parts)
        unbuffered = {"X-Accel-Buffering": "no"}
        return StreamingResponse(stream, media_type="text/event-stream", headers=unbuffered)

    yield route("/", GET=Operation(None, file))
    yield route("/dashboard/{file}", GET=Operation(None, file))
    yield route("/overview", GET=Operation("read", look))
    yield route("/campaigns/{name}/picture", GET=Operation("read", picture))
    yield route("/campaigns/{name}/events", GET=Operation("read", events))


def _seen(text: str, scope: Scope) -> str:
    """Return a picture, or a part of a stream, without what the sender does not reach."""
    reach = scope["state"]["reach"]
    before, mark, after = text.partition("{")
    if reach is None or not mark:
        return text
    picture, end = JSONDecoder().raw_decode(mark + after)
    return before + compact(reach.shown(picture)) + (mark + after)[end:]


def _span_of(scope: Scope) -> Span:
    return cast(Span, option_of(scope, _SPAN, get_args(Span), ALL))
