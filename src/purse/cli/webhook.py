"""The verb of webhooks: `purse webhook run`."""

from __future__ import annotations

import signal
from pathlib import Path

import click

from purse.cli.options import stored


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
    kept = connect(storage, create=False)
    followers = [Follower(kept, each) for each in receivers]
    if once:
        deliver(followers)
        for each in followers:
            counts = ", ".join(f"{each.counts[word]} {word}" for word in ("delivered", "failed"))
            waiting = f"{len(each.waiting)} waiting, {each.counts['skipped']} skipped"
            click.echo(f"{each.receiver.name}: {counts}, {waiting}")
    else:
        ends = (signal.SIGINT, signal.SIGTERM)
        signal.pthread_sigmask(signal.SIG_BLOCK, ends)  # threads that begin now do not get them
        with following(followers):
            click.echo(f"following for {', '.join(each.name for each in receivers)}", err=True)
            signal.sigwait(ends)
    kept.close()
