"""Verbs of the service: `serve`, `token new | list | revoke` and `webhook run`."""

import json
import signal
import sys
import time
from importlib.resources import files
from pathlib import Path
from typing import Any

import click

from purse.base.optional import needs
from purse.cli.options import PATH, option, stored
from purse.errors import InvalidInput

_TOKENS = Path("purse-tokens.jsonl")
_tokens_option = option("--tokens", "Tokens file.", type=PATH, default=_TOKENS)


@click.command()
@stored
@option(
    "--host",
    "Address to listen on; any but this machine's own needs --tokens.",
    default="127.0.0.1",
    envvar=["PURSE_SERVE_HOST", "PURSE_HOST"],
)
@option(
    "--port",
    "Port to listen on; 0 takes a free one.",
    default=8000,
    envvar=["PURSE_SERVE_PORT", "PURSE_PORT"],
)
@option(
    "--socket PATH",
    "Listen on a Unix socket instead, which only its owner can open: who does is an admin.",
    type=PATH,
)
@option("--tokens FILE", "Answer only requests with a token of this file.", type=PATH)
@option(
    "--rate N",
    "Most requests per second of one token, or of one address [default: no limit].",
    type=float,
)
@option(
    "--trusted-proxy ADDRESS trusted_proxies",
    "Proxy whose X-Forwarded-For says who sent a request; repeat it for several.",
    multiple=True,
)
@option("--max-body BYTES", "Largest body of a request.", default=1_000_000)
@option(
    "--allow-policy-files",
    "Run the .py files that campaigns in the storage name as their policy.",
    is_flag=True,
)
@option(
    "--webhooks FILE",
    "Send events to the receivers that this file names, as `purse webhook run` does.",
    type=PATH,
)
@option(
    "--log",
    "Form of log lines on stderr: for machines, or for people  [default: text on a terminal, "
    "else json].",
    type=click.Choice(["json", "text"]),
)
@option(
    "--grafana", "Print a Grafana dashboard for /metrics as JSON, and do not serve.", is_flag=True
)
@option(
    "--openapi",
    "Print the OpenAPI description of the service as JSON, and do not serve.",
    is_flag=True,
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
        with needs("serve", "serve"):
            from purse.service.openapi import document

        click.echo(json.dumps(document(), indent=1, ensure_ascii=False))
        return
    settings["log"] = log or ("text" if sys.stderr.isatty() else "json")
    with needs("serve", "serve"):
        from purse.service.server import serve as run
        from purse.service.settings import Settings

    run(Settings(**settings))


def _duration(text: str) -> float | None:
    """Return the seconds of a time such as 90s or 7d, or None for never; the library checks the
    range.

    >>> _duration("90d"), _duration("never")
    (7776000, None)
    """
    from purse.campaign.api.kinds import seconds

    span: float | str | None = seconds(text)
    if isinstance(span, str) or text[-1:].isdigit():  # 90 of what?
        raise click.BadParameter(f"{text!r} is not a time; write 90s, 30m, 1h, 7d, 4w or never")
    return span


@click.group()
def token() -> None:
    """Make, list and revoke the tokens of the service."""


_expires_option = option(
    "--expires TIME expires_after",
    "Time until the token expires: 30m, 12h, 90d, 4w or never.",
    type=_duration,
    default="90d",
)


@token.command()
@click.argument("name")
@option(
    "--role",
    "read: only read; act: also ask, tell and void; admin: everything.",
    type=click.Choice(["read", "act", "admin"]),
    required=True,
)
@option(
    "--only NAME",
    "Account or campaign that the token reaches, with all below it, and nothing else; repeat it "
    "for several.",
    multiple=True,
)
@_expires_option
@_tokens_option
def new(
    name: str, role: str, only: tuple[str, ...], expires_after: float | None, tokens: Path
) -> None:
    """Print a new token, once: the file holds only its hash."""
    from purse.service import tokens as token_file

    now = time.time()
    click.echo(token_file.new(tokens, name, role, expires_after, now, list(only) or None))
    click.echo(f"{_shown(tokens, name)}; keep the token, it is not shown again", err=True)


@token.command()
@click.argument("name")
@option(
    "--overlap TIME", "Time for which the token before is still good.", type=_duration, default="1d"
)
@_expires_option
@_tokens_option
def rotate(name: str, overlap: float, expires_after: float | None, tokens: Path) -> None:
    """Print another token of a name, with the same role and reach; then the one before ends."""
    from purse.service import tokens as token_file

    click.echo(token_file.rotate(tokens, name, expires_after, overlap, time.time()))
    click.echo(f"{_shown(tokens, name)}; keep the token, it is not shown again", err=True)


def _shown(path: Path, name: str) -> str:
    """Return the role and the reach of the newest token of a name, in words."""
    from purse.service.tokens import TokenFile

    newest = [line for line in TokenFile(path).current() if line.name == name][-1]
    until = "never expires" if newest.expires is None else f"expires {newest.expires}"
    reach = "" if newest.only is None else f" in {', '.join(newest.only)} alone"
    return f"{name!r} has the role {newest.role}{reach} and {until}"


@token.command("list")
@_tokens_option
def _list_tokens(tokens: Path) -> None:
    """List the tokens: name, role, creation, expiry, last use and reach."""
    from purse.service.tokens import TokenFile

    now, file = time.time(), TokenFile(tokens)
    for line in file.current():
        until = "never expires"
        if line.expires is not None:
            until = f"{'expired' if line.expired(now) else 'expires'} {line.expires}"
        used, reach = file.last_used(line), ", ".join(line.only or ("everything",))
        cells = (f"made {line.created}", until, f"used {used}" if used else "never used", reach)
        click.echo("\t".join((line.name, line.role, *cells)))


@token.command()
@click.argument("name")
@_tokens_option
def revoke(name: str, tokens: Path) -> None:
    """Revoke all tokens of a name; servers that use the file refuse them from now on."""
    from purse.service import tokens as token_file

    if not tokens.exists():
        raise InvalidInput(f"there is no tokens file {str(tokens)!r}")
    token_file.revoke(tokens, name)
    click.echo(f"{name!r} is revoked")


@click.group()
def webhook() -> None:
    """Tell other systems of events: budgets that run out, overruns, arms that fail."""


@webhook.command()
@click.argument("file", type=PATH)
@option("--once", "Send what is due, print how that went, and end.", is_flag=True)
@stored
def run(file: Path, once: bool, storage: str) -> None:
    """Send the events of campaigns and accounts to the receivers that FILE names.

    It goes on until SIGTERM or Ctrl-C. A receiver is told of events from the moment it is first
    seen. `purse serve --webhooks FILE` does the same beside the service.
    """
    from purse.campaign.run.local_level import connect_storage
    from purse.campaign.webhooks.file import read_file
    from purse.campaign.webhooks.follower import Follower, deliver, following

    receivers = read_file(file)
    opened = connect_storage(storage)
    followers = [Follower(opened, receiver) for receiver in receivers]
    if once:
        deliver(followers)
        for follower in followers:
            counts = follower.counts
            sent = f"{counts['delivered']} delivered, {counts['failed']} failed"
            unsent = f"{len(follower.waiting)} waiting, {counts['skipped']} skipped"
            click.echo(f"{follower.receiver.name}: {sent}, {unsent}")
    else:
        ends = (signal.SIGINT, signal.SIGTERM)
        signal.pthread_sigmask(signal.SIG_BLOCK, ends)  # threads that begin now do not get them
        with following(followers):
            click.echo(
                f"following for {', '.join(receiver.name for receiver in receivers)}", err=True
            )
            signal.sigwait(ends)
    opened.close()
