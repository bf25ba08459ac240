"""Verbs of the service: `serve`, and `token new | list | revoke`."""

from __future__ import annotations

import re
import time
from pathlib import Path

import click

from purse.base.optional import needs
from purse.errors import InvalidInput, invalid

SECONDS = {"m": 60, "h": 3600, "d": 86_400, "w": 7 * 86_400}
STORAGE = "sqlite:///purse.db"
TOKENS = Path("purse-tokens.jsonl")
tokens_option = click.option(
    "--tokens",
    type=click.Path(path_type=Path),
    default=TOKENS,
    show_default=True,
    help="The file of tokens.",
)


@click.command()
@click.option(
    "--storage",
    envvar="PURSE_STORAGE",
    default=STORAGE,
    show_default=True,
    metavar="URL",
    help="Where campaigns are kept.",
)
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    help="Any other than this machine's own needs --tokens.",
)
@click.option("--port", type=int, default=8000, show_default=True, help="0 takes one that is free.")
@click.option(
    "--tokens",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Answer only who sends a token of this file.",
)
@click.option(
    "--rate",
    type=float,
    metavar="N",
    help="Requests per second of one token, or of one address [default: any].",
)
@click.option(
    "--max-body",
    type=int,
    default=1_000_000,
    show_default=True,
    metavar="BYTES",
    help="The largest body that is taken.",
)
@click.option(
    "--log",
    type=click.Choice(["json", "text"]),
    default="json",
    show_default=True,
    help="Lines on stderr for machines, or for people.",
)
def serve(
    storage: str,
    host: str,
    port: int,
    tokens: Path | None,
    rate: float | None,
    max_body: int,
    log: str,
) -> None:
    """Serve campaigns over HTTP, with a dashboard at /.

    On this machine no token is needed; `purse token new` makes one for everywhere else. SIGTERM or
    Ctrl-C finishes what was begun.
    """
    with needs("the service", "serve"):
        from purse.service.server import serve as run
        from purse.service.settings import Settings

    run(
        Settings(
            storage=storage,
            host=host,
            port=port,
            tokens=tokens,
            rate=rate,
            max_body=max_body,
            log=log,
        )
    )


@click.group()
def token() -> None:
    """Make, list and revoke the tokens of the service."""


@token.command()
@click.argument("name")
@click.option(
    "--role",
    type=click.Choice(["read", "act", "admin"]),
    required=True,
    help="read: look; act: also ask, tell and void; admin: everything.",
)
@click.option(
    "--expires",
    default="90d",
    show_default=True,
    help="After so many minutes, hours, days or weeks (30m, 12h, 90d, 4w), or never.",
)
@tokens_option
def new(name: str, role: str, expires: str, tokens: Path) -> None:
    """Print a new token. It is shown this once: the file holds its hash only."""
    from purse.service import tokens as kept

    click.echo(kept.new(tokens, name, role, seconds_of(expires), time.time()))
    until = "never expires" if expires == "never" else f"expires after {expires}"
    click.echo(
        f"{name!r} has the role {role} and {until}; keep the token, it is not shown again", err=True
    )


@token.command("list")
@tokens_option
def list_tokens(tokens: Path) -> None:
    """List the tokens: name, role, when made, until when."""
    from purse.service.tokens import TokenFile

    now = time.time()
    for each in TokenFile(tokens).current():
        until = (
            "never expires"
            if each.expires is None
            else f"{'expired' if each.expired(now) else 'expires'} {each.expires}"
        )
        click.echo(f"{each.name}\t{each.role}\tmade {each.created}\t{until}")


@token.command()
@click.argument("name")
@tokens_option
def revoke(name: str, tokens: Path) -> None:
    """Revoke a token. Servers that use the file refuse it from now on."""
    from purse.service import tokens as kept

    if not tokens.exists():
        raise InvalidInput(f"there is no tokens file {str(tokens)!r}")
    kept.revoke(tokens, name)
    click.echo(f"{name!r} is revoked")


def seconds_of(text: str) -> float | None:
    """A duration in seconds; None for never.

    >>> seconds_of("90d"), seconds_of("never")
    (7776000, None)
    """
    if text == "never":
        return None
    found = re.fullmatch(r"([1-9][0-9]{0,5})([mhdw])", text)
    if found is None:
        raise invalid("expires", text, "must be a number and m, h, d or w, such as 90d, or never")
    return int(found[1]) * SECONDS[found[2]]
