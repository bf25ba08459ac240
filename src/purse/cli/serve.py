"""Verbs of the service: `serve`, `token new | list | revoke` and `webhook run`."""

from __future__ import annotations

import json
import signal
import sys
import time
from importlib.resources import files
from pathlib import Path
from typing import Any

import click

from purse.base.optional import needs
from purse.cli.options import Duration, stored
from purse.errors import InvalidInput

TOKENS = Path("purse-tokens.jsonl")
tokens_option = click.option(
    "--tokens",
    type=click.Path(path_type=Path),
    default=TOKENS,
    show_default=True,
    help="Tokens file.",
)


@click.command()
@stored
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    help="Address to listen on; any but this machine's own needs --tokens.",
)
@click.option(
    "--port",
    type=int,
    default=8000,
    show_default=True,
    help="Port to listen on; 0 takes a free one.",
)
@click.option(
    "--socket",
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="Listen on a Unix socket instead, which only its owner can open: who does is an admin.",
)
@click.option(
    "--tokens",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Answer only requests with a token of this file.",
)
@click.option(
    "--rate",
    type=float,
    metavar="N",
    help="Most requests per second of one token, or of one address [default: no limit].",
)
@click.option(
    "--trusted-proxy",
    "trusted_proxies",
    multiple=True,
    metavar="ADDRESS",
    help="Proxy whose X-Forwarded-For says who sent a request; repeat it for several.",
)
@click.option(
    "--max-body",
    type=int,
    default=1_000_000,
    show_default=True,
    metavar="BYTES",
    help="Largest body of a request.",
)
@click.option(
    "--allow-policy-files",
    is_flag=True,
    help="Run the .py files that campaigns in the storage name as their policy.",
)
@click.option(
    "--webhooks",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Send events to the receivers that this file names, as `purse webhook run` does.",
)
@click.option(
    "--log",
    type=click.Choice(["json", "text"]),
    help="Form of log lines on stderr: for machines, or for people  [default: text on a terminal, "
    "else json].",
)
@click.option(
    "--grafana",
    is_flag=True,
    help="Print a Grafana dashboard for /metrics as JSON, and do not serve.",
)
@click.option(
    "--openapi",
    is_flag=True,
    help="Print the OpenAPI description of the service as JSON, and do not serve.",
)
def serve(grafana: bool, openapi: bool, log: str | None, **settings: Any) -> None:
    """Serve campaigns over HTTP, with a dashboard at /.

    A server on this machine's own address needs no tokens. On any other address it needs a tokens
    file, which `purse token new` writes. Clients of a Unix socket use the address unix:PATH. After
    SIGTERM or Ctrl-C the server finishes the requests that it has begun.
    """
    if grafana:
        click.echo(files("purse.service").joinpath("grafana.json").read_text("utf-8"), nl=False)
        return
    if openapi:
        print_openapi()
        return
    settings["log"] = log or ("text" if sys.stderr.isatty() else "json")
    with needs("serve", "serve"):
        from purse.service.server import serve as run
        from purse.service.settings import Settings

    run(Settings(**settings))


def print_openapi() -> None:
    """Print the document that the service has at /openapi.json, whatever its settings."""
    with needs("serve", "serve"):
        from purse.service.openapi import document

    click.echo(json.dumps(document(), indent=1, ensure_ascii=False))


@click.group()
def token() -> None:
    """Make, list and revoke the tokens of the service."""


@token.command()
@click.argument("name")
@click.option(
    "--role",
    type=click.Choice(["read", "act", "admin"]),
    required=True,
    help="read: only read; act: also ask, tell and void; admin: everything.",
)
@click.option(
    "--expires",
    "expires_after",
    type=Duration(),
    default="90d",
    show_default=True,
    help="Time until the token expires: 30m, 12h, 90d, 4w or never.",
)
@tokens_option
def new(name: str, role: str, expires_after: float | None, tokens: Path) -> None:
    """Print a new token, once: the file holds only its hash."""
    from purse.service import tokens as token_file

    now = time.time()
    click.echo(token_file.new(tokens, name, role, expires_after, now))
    until = "never expires"
    if expires_after is not None:
        until = f"expires {token_file.moment(now + expires_after)}"
    words = f"{name!r} has the role {role} and {until}; keep the token, it is not shown again"
    click.echo(words, err=True)


@token.command("list")
@tokens_option
def list_tokens(tokens: Path) -> None:
    """List the tokens: name, role, time of creation and of expiry."""
    from purse.service.tokens import TokenFile

    now = time.time()
    for line in TokenFile(tokens).current():
        until = "never expires"
        if line.expires is not None:
            until = f"{'expired' if line.expired(now) else 'expires'} {line.expires}"
        click.echo(f"{line.name}\t{line.role}\tmade {line.created}\t{until}")


@token.command()
@click.argument("name")
@tokens_option
def revoke(name: str, tokens: Path) -> None:
    """Revoke a token; servers that use the file refuse it from now on."""
    from purse.service import tokens as token_file

    if not tokens.exists():
        raise InvalidInput(f"there is no tokens file {str(tokens)!r}")
    token_file.revoke(tokens, name)
    click.echo(f"{name!r} is revoked")


@click.group()
def webhook() -> None:
    """Tell other systems of events: budgets that run out, overruns, arms that fail."""


@webhook.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--once", is_flag=True, help="Send what is due, print how that went, and end.")
@stored
def run(file: Path, once: bool, storage: str) -> None:
    """Send the events of campaigns and accounts to the receivers that FILE names.

    It goes on until SIGTERM or Ctrl-C. A receiver is told of events from the moment it is first
    seen. `purse serve --webhooks FILE` does the same beside the service.
    """
    from purse.campaign.storage.connect import connect
    from purse.campaign.webhooks.file import read_file
    from purse.campaign.webhooks.follower import Follower, deliver, following

    receivers = read_file(file)
    place = connect(storage, create=False)
    followers = [Follower(place, receiver) for receiver in receivers]
    if once:
        deliver(followers)
        for follower in followers:
            counts = follower.counts
            sent = f"{counts['delivered']} delivered, {counts['failed']} failed"
            rest = f"{len(follower.waiting)} waiting, {counts['skipped']} skipped"
            click.echo(f"{follower.receiver.name}: {sent}, {rest}")
    else:
        ends = (signal.SIGINT, signal.SIGTERM)
        signal.pthread_sigmask(signal.SIG_BLOCK, ends)  # threads that begin now do not get them
        with following(followers):
            click.echo(
                f"following for {', '.join(receiver.name for receiver in receivers)}", err=True
            )
            signal.sigwait(ends)
    place.close()
