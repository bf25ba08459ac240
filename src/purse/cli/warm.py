"""The verb that compiles ahead: `warm`."""

from __future__ import annotations

from typing import Any

import click

from purse.cli.options import policies_argument, workers_option


@click.command()
@policies_argument
@workers_option
def warm(policies: tuple[str, ...], workers: int | None) -> None:
    """Compile policies now, so that nothing has to wait for it later.

    POLICY is a name, name:option=value,... or the path of a policy file. The default is what
    compare, replay and campaigns take where no policy is named. Compiles on all cores what
    simulations, replays and live use need. Prints where the machine code is kept.
    """
    from purse.lab.offline import warm as ahead

    given: dict[str, Any] = {"policies": policies} if policies else {}
    click.echo(f"Compiled code is in {ahead.warm(**given, n_workers=workers)}")
