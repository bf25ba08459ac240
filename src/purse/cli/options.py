"""Options that several verbs share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from purse.campaign import defaults

F = TypeVar("F", bound=Callable[..., Any])
WORLD_HELP = "name or name:option=value,..., or the path of a world file; `purse worlds` lists them"

SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 7 * 86_400}
DEVICE_HELP = "cpu, or cuda for an NVIDIA GPU. Does not change any number."


workers_option = click.option(
    "--workers",
    type=int,
    metavar="N",
    help="Threads [default: all cores]. Does not change any number.",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
seed_option = click.option(
    "--seed", type=int, default=0, show_default=True, help="Same seed, same numbers."
)


class Budget(click.ParamType[float]):
    """A positive number such as 1000 or 1e4."""

    name = "number"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Leave the range to the library, which has the words for it."""
        try:
            return float(value)
        except ValueError:
            raise click.BadParameter(f"{value!r} is not a number") from None


class Duration(click.ParamType[float | None]):
    """A time such as 90, 90s, 30m, 1h, 7d or 4w, or never."""

    name = "time"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float | None:
        """Seconds, or None for never; leave the range to the library.

        >>> Duration().convert("90d", None, None), Duration().convert("never", None, None)
        (7776000.0, None)
        """
        number, seconds = (value[:-1], SECONDS[value[-1]]) if value[-1:] in SECONDS else (value, 1)
        try:
            return None if value == "never" else float(number) * seconds
        except ValueError:
            raise click.BadParameter(
                f"{value!r} is not a time; write 90s, 30m, 1h, 7d, 4w or never"
            ) from None


def stored(function: F) -> F:
    """The option that says where campaigns are kept."""
    return click.option(
        "--storage",
        default=defaults.STORAGE,
        show_default=True,
        envvar="PURSE_STORAGE",
        show_envvar=True,
        metavar="URL",
        help="Where campaigns are kept: sqlite:///FILE or postgresql://USER@HOST/DATABASE.",
    )(function)


def for_machines(function: F) -> F:
    """The option of verbs whose output is data."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON.")(function)


def common(function: F) -> F:
    """The options that `compare` and `simulate` share."""
    for option in (
        json_option,
        workers_option,
        click.option(
            "--stop",
            default="exit",
            show_default=True,
            help="What happens when a pull cannot be paid: exit, hold or retry.",
        ),
        seed_option,
    ):
        function = option(function)
    return function


def run_options(function: F) -> F:
    """The options of verbs that carry out a plan that is written down."""
    for option in (
        json_option,
        click.option(
            "--on",
            metavar="ADDRESS",
            help="A cluster: ray, ray://HOST:PORT, dask or dask://HOST:PORT. Does not change "
            "any number.",
        ),
        click.option("--device", default="cpu", show_default=True, help=DEVICE_HELP),
        workers_option,
    ):
        function = option(function)
    return function
