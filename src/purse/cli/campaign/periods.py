"""Options of a budget that is renewed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from purse.campaign import defaults

F = TypeVar("F", bound=Callable[..., Any])


def renewed(command: F) -> F:
    """Add the options of periods."""
    for option in reversed(
        (
            click.option(
                "--every",
                metavar="day|week|month|6h",
                help="How often the budget is renewed [default: never].",
            ),
            click.option(
                "--time-zone",
                default=defaults.TIME_ZONE,
                show_default=True,
                help="Time zone of days, weeks and months, such as Europe/Berlin.",
            ),
            click.option(
                "--carry",
                default=defaults.CARRY,
                show_default=True,
                metavar="none|all",
                help="What is kept at the end of a period of the money that is left.",
            ),
        )
    ):
        command = option(command)
    return command
