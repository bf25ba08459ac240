"""Options that several verbs share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from purse.campaign import defaults
from purse.cli import complete

F = TypeVar("F", bound=Callable[..., Any])
WORLD_HELP = "Name, name:option=value,... or the path of a world file; see `purse lab worlds`"

policy_argument = click.argument("policy", shell_complete=complete.policies)
world_option = click.option(
    "-w",
    "--world",
    required=True,
    metavar="WORLD",
    shell_complete=complete.worlds,
    help=f"{WORLD_HELP}.",
)
policies_argument = click.argument(
    "policies", nargs=-1, metavar="[POLICY]...", shell_complete=complete.policies
)
workers_option = click.option(
    "--workers", type=int, metavar="N", help="Threads, which change no number [default: all cores]."
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
seed_option = click.option(
    "--seed", type=int, default=0, show_default=True, help="The same seed gives the same numbers."
)
device_option = click.option(
    "--device",
    default="cpu",
    show_default=True,
    help="cpu, cuda for an NVIDIA GPU, or python, slowly; it changes no number.",
)
delay_option = click.option(
    "--delay",
    default="0",
    show_default=True,
    metavar="D",
    help="Rounds by which reports come late: a whole number, or geometric:MEAN.",
)


class Budget(click.ParamType[float]):
    """A positive number such as 1000 or 1e4."""

    name = "number"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Return the number; the library checks its range."""
        try:
            return float(value)
        except ValueError:
            raise click.BadParameter(f"{value!r} is not a number") from None


class Duration(click.ParamType[float | None]):
    """A time such as 90, 90s, 30m, 1h, 7d or 4w; or never."""

    name = "time"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float | None:
        """Return seconds, or None for never; the library checks the range.

        >>> Duration().convert("90d", None, None), Duration().convert("never", None, None)
        (7776000, None)
        """
        from purse.campaign.kinds import seconds

        duration: float | str | None = seconds(value)
        if isinstance(duration, str):
            raise click.BadParameter(
                f"{value!r} is not a time; write 90s, 30m, 1h, 7d, 4w or never"
            )
        return duration


def out_option(help: str, default: str | None = None) -> Callable[[F], F]:
    """Return the option for the folder that a verb writes to."""
    how: dict[str, Any] = {"default": default, "show_default": True}
    if default is None:
        how = {"type": click.Path(path_type=Path)}
    return click.option("-o", "--out", "folder", help=help, **how)


def stored(function: F) -> F:
    """Add the option that says where campaigns are stored."""
    return click.option(
        "--storage",
        default=defaults.STORAGE,
        show_default=True,
        envvar="PURSE_STORAGE",
        show_envvar=True,
        metavar="URL",
        help="Storage: sqlite:///FILE, postgresql://USER@HOST/DATABASE, unix:SOCKET or a server's "
        "https://HOST, with its token in PURSE_TOKEN.",
    )(function)


def for_machines(function: F) -> F:
    """Add the option `--json` of verbs whose output is data."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON.")(function)


def common(function: F) -> F:
    """Add the options that `compare` and `simulate` share."""
    for option in (
        json_option,
        workers_option,
        click.option(
            "--stop",
            default="exit",
            show_default=True,
            help="Stop rule when a pull cannot be paid: exit, hold, retry or fit.",
        ),
        seed_option,
    ):
        function = option(function)
    return function


def run_options(function: F) -> F:
    """Add the options of verbs that run a study."""
    for option in (
        json_option,
        click.option(
            "--on",
            metavar="ADDRESS",
            help="Cluster: ray, ray://HOST:PORT, dask or dask://HOST:PORT; it changes no number.",
        ),
        device_option,
        workers_option,
    ):
        function = option(function)
    return function
