"""Options that several verbs share, and completions for the Tab key."""

from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial, reduce
from importlib import import_module
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import click

from purse.campaign.api import defaults
from purse.client.address import is_server
from purse.errors import invalid
from purse.identification.recommendation import CRITERIA

F = TypeVar("F", bound=Callable[..., Any])
PATH: click.Path = click.Path(path_type=Path)
WORLD_HELP = "Name, name:option=value,... or the path of a world file; see `purse lab worlds`"
_Completion: TypeAlias = Callable[[click.Context, click.Parameter, str], list[str]]


def _among(names: Callable[[], Iterable[str]]) -> _Completion:
    """Return the completion of a word by the names that begin with it."""
    return lambda context, parameter, typed: [name for name in names() if name.startswith(typed)]


complete_policies = _among(lambda: import_module("purse.policies").names())
complete_worlds = _among(lambda: import_module("purse.worlds").names())
complete_criteria = _among(lambda: CRITERIA)


def _names_of(
    kind: str, context: click.Context, parameter: click.Parameter, typed: str
) -> list[str]:
    """Return the campaigns or accounts that begin so; [] if the storage cannot be read."""
    storage = context.params.get("storage") or defaults.STORAGE
    with suppress(Exception):
        of = getattr(import_module(f"purse.campaign.{kind}"), kind.title())
        return [name for name in of.names(storage=storage) if name.startswith(typed)]
    return []


complete_campaigns, complete_accounts = (
    partial(_names_of, kind) for kind in ("campaign", "account")
)


def option(flags: str, text: str, **how: Any) -> Callable[[F], F]:
    """Return an option with its help, which shows the default if there is one.

    flags   as the help shows them, such as "--rate N", and the parameter if it has another name
    """
    words = flags.split()
    metavar = next((word for word in words if word.isupper()), None)
    names = [word for word in words if word != metavar]
    how = {"show_default": "default" in how, "metavar": metavar, **how}
    return click.option(*names, help=text, **how)


policy_argument = click.argument("policy", shell_complete=complete_policies)
world_option = option(
    "-w --world WORLD", f"{WORLD_HELP}.", required=True, shell_complete=complete_worlds
)
policies_argument = click.argument(
    "policies", nargs=-1, metavar="[POLICY]...", shell_complete=complete_policies
)
workers_option = option(
    "--workers N n_workers", "Threads, which change no number [default: all cores].", type=int
)
json_option = option("--json as_json", "Print JSON instead of a table.", is_flag=True)
seed_option = option("--seed", "The same seed gives the same numbers.", default=0)
device_option = option(
    "--device",
    "cpu, cuda for an NVIDIA GPU, or python, slowly; it changes no number.",
    default="cpu",
)
delay_option = option(
    "--delay D",
    "Rounds by which reports come late: a whole number, or geometric:MEAN.",
    default="0",
)


def number(text: str) -> float:
    """Return a number such as 1000 or 1e4; the library checks its range."""
    try:
        return float(text)
    except ValueError:
        raise click.BadParameter(f"{text!r} is not a number") from None


def out_option(text: str, default: str | None = None) -> Callable[[F], F]:
    """Return the option for the folder that a verb writes to."""
    how: dict[str, Any] = {"type": PATH} if default is None else {"default": default}
    return option("-o --out folder", text, **how)


# one number for each resource
sizes_option = option(
    "-b --budget",
    "Budget; for several resources repeat the option, in their order.",
    required=True,
    multiple=True,
    type=number,
)
# where campaigns are stored
stored = option(
    "--storage URL",
    "Storage: sqlite:///FILE, postgresql://USER@HOST/DATABASE, unix:SOCKET or a server's "
    "https://HOST, with its token in PURSE_TOKEN.",
    default=defaults.STORAGE,
    envvar="PURSE_STORAGE",
    show_envvar=True,
)


def refuse_server(address: str) -> None:
    """Refuse the address of a server, for a command that reads the storage itself."""
    if is_server(address):
        allowed = "must be the database's own address: a server does not have this command"
        raise invalid("storage", address, allowed)


for_machines = option("--json as_json", "Print JSON.", is_flag=True)


def _chained(*options: Callable[[F], F]) -> Callable[[F], F]:
    """Return a decorator that adds several options."""
    return lambda function: reduce(lambda command, add: add(command), options, function)


_stop_option = option(
    "--stop", "Stop rule when a pull cannot be paid: exit, hold, retry or fit.", default="exit"
)
_on_option = option("--on ADDRESS", "Cluster: ray or ray://HOST:PORT; it changes no number.")
# those that `compare` and `simulate` share, and those of verbs that run a study
common = _chained(json_option, workers_option, _stop_option, seed_option)
run_options = _chained(json_option, _on_option, device_option, workers_option)
