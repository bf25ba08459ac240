"""Who sent a request, and whether the role allows what it asks for."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated
from urllib.parse import urlsplit

from fastapi import Request, Security
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from starlette.datastructures import Headers

from purse.service.problems import FOREIGN, NO_TOKEN, WRONG_ROLE, ProblemError
from purse.service.settings import LOOPBACK
from purse.service.tokens import Principal, TokenFile

PUBLIC = ("/", "/healthz", "/readyz", "/openapi.json")  # these tell nothing of any campaign
PUBLIC_FOLDER = "/dashboard/"
ANYBODY_HERE = Principal(None, "admin")  # on this machine, where there are no tokens
FORWARDED = ("forwarded", "x-forwarded-for", "x-forwarded-host")
bearer = HTTPBearer(
    auto_error=False,
    scheme_name="token",
    description="A token of `purse token new`. None is needed on loopback without a tokens file.",
)


def is_public(path: str) -> bool:
    """Whether a path is answered without a token."""
    return path in PUBLIC or path.startswith(PUBLIC_FOLDER)


def authenticate(headers: Headers, tokens: TokenFile | None) -> Principal | None:
    """The holder of the token in a request; None without a valid one."""
    if tokens is None:
        return ANYBODY_HERE
    scheme, _, secret = headers.get("authorization", "").partition(" ")
    return tokens.principal(secret.strip()) if scheme.lower() == "bearer" else None


def reject_foreign_request(headers: Headers) -> None:
    """Without tokens, refuse what a foreign web page made the browser send here, by its own name
    for this machine or across origins.
    """
    host = headers.get("host", "")
    if host_of("//" + host) not in LOOPBACK:
        raise ProblemError(
            FOREIGN,
            f"Host {host!r} is not this machine: without tokens only "
            f"{', '.join(LOOPBACK)} are answered",
        )
    origin = headers.get("origin")
    if origin is not None and origin != f"http://{host}":
        raise ProblemError(
            FOREIGN,
            f"Origin {origin!r} is another site: without tokens only pages of this server "
            "may send requests",
        )
    if any(name in headers for name in FORWARDED):
        raise ProblemError(
            FOREIGN,
            "the request was forwarded by a proxy: start the server with --tokens to be "
            "reached through one",
        )


def host_of(address: str) -> str | None:
    """The host in an address, without its port."""
    try:
        return urlsplit(address).hostname
    except ValueError:
        return None


def require_role(role: str) -> Callable[..., Awaitable[None]]:
    """A dependency that lets a route be used only by those who have this role."""

    async def check_role(
        request: Request, _: Annotated[HTTPAuthorizationCredentials | None, Security(bearer)]
    ) -> None:
        principal: Principal | None = request.state.principal
        if principal is None:
            raise ProblemError(
                NO_TOKEN,
                "send the header Authorization: Bearer TOKEN with a token that is known "
                "and not expired",
            )
        if not principal.may(role):
            raise ProblemError(
                WRONG_ROLE,
                f"this needs the role {role}; the token {principal.name!r} has the role "
                f"{principal.role}",
            )

    return check_role


reader, actor, admin = require_role("read"), require_role("act"), require_role("admin")
