"""The files of the dashboard. They come from the package, hold no data, and may load nothing from
elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from importlib.resources import files
from typing import Annotated, Any, NamedTuple

from fastapi import APIRouter, Depends, Header, Request, Response
from fastapi.responses import StreamingResponse
from starlette.exceptions import HTTPException

from purse.campaign.time_series import ALL, Span
from purse.service import live_view
from purse.service.auth import authenticate
from purse.service.live_view import LiveViews
from purse.service.overview import Overview
from purse.service.problems import TOO_MANY, ProblemError
from purse.service.routes.common import Name, answer

FOLDER = "static"
INDEX = "index.html"
KINDS = {
    ".html": "text/html",
    ".css": "text/css",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
}
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src "
    "'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
SAFE = {
    "Content-Security-Policy": POLICY,
    # kept by the browser, and asked about each time: a new version shows at once
    "Cache-Control": "no-cache",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
Tag = Annotated[str | None, Header(alias="If-None-Match")]


class Page(NamedTuple):
    """A file as it is sent."""

    body: bytes
    kind: str
    tag: str

    def answer(self, known: str | None) -> Response:
        """The file, or that it is the one which the browser has."""
        headers = {**SAFE, "ETag": self.tag}
        if known is not None and self.tag in known:
            return Response(status_code=304, headers=headers)
        return Response(self.body, headers=headers, media_type=self.kind)


def load() -> dict[str, Page]:
    """All files by name."""
    found = {}
    for file in files("purse.service").joinpath(FOLDER).iterdir():
        if kind := KINDS.get("." + file.name.rpartition(".")[2]):
            body = file.read_bytes()
            found[file.name] = Page(body, kind, f'"{sha256(body).hexdigest()[:20]}"')
    return found


def pages() -> APIRouter:
    """The page and its files."""
    router, known = APIRouter(), load()

    @router.get("/", include_in_schema=False)
    async def get_page(tag: Tag = None) -> Response:
        return known[INDEX].answer(tag)

    @router.get("/dashboard/{file}", include_in_schema=False)
    async def get_file(file: str, tag: Tag = None) -> Response:
        if file not in known:
            raise HTTPException(404)
        return known[file].answer(tag)

    return router


def dashboard(views: LiveViews, overview: Overview, reader: Callable[..., Any]) -> APIRouter:
    """The page and its files, which tell nothing of any campaign, and the three routes that do, for
    who may read.
    """
    router = APIRouter(tags=["dashboard"])
    router.include_router(pages())
    read = [Depends(reader)]

    @router.get("/overview", dependencies=read, include_in_schema=False)
    async def get_overview(request: Request) -> Response:
        facts = await views.read(overview.facts)
        # where the storage is, and so where commands have to write, is for administrators
        storage = overview.storage if request.state.principal.may("admin") else None
        return answer({**facts, "storage": storage})

    @router.get("/campaigns/{name}/picture", dependencies=read, include_in_schema=False)
    async def get_picture(name: Name, span: Span = ALL) -> Response:
        return Response((await views.look(name, span)).body, media_type="application/json")

    @router.get("/campaigns/{name}/events", dependencies=read, include_in_schema=False)
    async def follow_events(name: Name, request: Request, span: Span = ALL) -> Response:
        if views.viewers >= live_view.MOST_VIEWERS:
            raise ProblemError(
                TOO_MANY,
                f"{live_view.MOST_VIEWERS} viewers are here already; wait until one leaves",
                {"Retry-After": "10"},
            )
        await views.look(name, span)  # a problem is answered as one, before the stream begins

        def may_look() -> bool:
            """Whether the token still holds: it may be revoked while somebody looks."""
            return authenticate(request.headers, request.app.state.tokens) is not None

        return StreamingResponse(
            views.events(name, may_look, span),
            media_type="text/event-stream",
            headers={"X-Accel-Buffering": "no"},
        )

    return router
