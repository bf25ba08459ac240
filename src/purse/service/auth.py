"""Who sent a request, and whether the role allows what it asks for."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Annotated
from urllib.parse import urlsplit

from fastapi import Request, Security
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

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


def authenticate(headers: Mapping[str, str], tokens: TokenFile | None) -> Principal | None:
    """The holder of the token in a request; None without a valid one."""
    if tokens is None:
        return ANYBODY_HERE
    scheme, _, secret = headers.get("authorization", "").partition(" ")
    return tokens.principal(secret.strip()) if scheme.lower() == "bearer" else None


def reject_foreign_request(headers: Mapping[str, str]) -> None:
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


@lru_cache(maxsize=16)
def host_of(address: str) -> str | None:
    """The host in an address, without its port."""
    try:
        return urlsplit(address).hostname
    except ValueError:
        return None


class Role:
    """A dependency that lets a route be used only by those who have this role."""

    def __init__(self, name: str) -> None:
        self.name = name

    def check(self, principal: Principal | None) -> None:
        """Raise an error where the principal lacks this role."""
        if principal is None:
            raise ProblemError(
                NO_TOKEN,
                "send the header Authorization: Bearer TOKEN with a token that is known "
                "and not expired",
            )
        if not principal.may(self.name):
            raise ProblemError(
                WRONG_ROLE,
                f"this needs the role {self.name}; the token {principal.name!r} has the role "
                f"{principal.role}",
            )

    async def __call__(
        self, request: Request, _: Annotated[HTTPAuthorizationCredentials | None, Security(bearer)]
    ) -> None:
        """Raise an error where the principal of a request lacks this role."""
        self.check(request.state.principal)


reader, actor, admin = Role("read"), Role("act"), Role("admin")
