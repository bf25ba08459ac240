"""Values of options from the environment, as click names them, and from a file: what is typed comes
first, then the environment, then the file.
"""

import os
import re
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import click

from purse.base.toml import read_toml
from purse.errors import InvalidInput, unknown

PREFIX = "PURSE"
_COMMON = {f"{PREFIX}_STORAGE", f"{PREFIX}_TOKEN"}
_CLOSE = 0.9  # of two names, from 0 to 1
# that Kubernetes sets for a service: the values of some, and other names
_ADDRESS = re.compile(r"(tcp|udp|sctp)://")
_OF_SERVICES = re.compile(r"_SERVICE_(HOST|PORT)|_PORT_\d+_")


def check_environment(command: click.Command) -> None:
    """Say which variables are ignored: addresses that Kubernetes has set, and misspelt names."""
    names = [name for name in os.environ if name.startswith(f"{PREFIX}_") and name not in _COMMON]
    known = {*_COMMON, *_variables(command, PREFIX)} if names else set()
    for name in names:
        if name not in known:
            near = [] if _OF_SERVICES.search(name) else get_close_matches(name, known, 1, _CLOSE)
            if near:
                words = f"{name} is ignored: no option has this name; did you mean {near[0]}?"
                click.echo(f"purse: {words}", err=True)
        elif _ADDRESS.match(os.environ[name]):
            words = f"{name}={os.environ.pop(name)} is ignored: Kubernetes sets it for a service"
            click.echo(f"purse: {words}", err=True)


def _options(command: click.Command) -> Iterator[click.Option]:
    return (part for part in command.params if isinstance(part, click.Option))


def _variables(command: click.Command, prefix: str) -> Iterator[str]:
    """Yield the names of the variables that a command and those below it read."""
    for part in _options(command):
        yield f"{prefix}_{part.name}".upper()
        yield from [part.envvar] if isinstance(part.envvar, str) else part.envvar or ()
    for name, below in getattr(command, "commands", {}).items():
        yield from _variables(below, f"{prefix}_{name}".replace("-", "_").upper())


def configure(context: click.Context, _: click.Parameter, file: Path | None) -> None:
    """Take the values of options from a file, in a table for each command; `storage` at the top is
    that of all commands.
    """
    if file is None:
        return
    tables = read_toml(file)
    shared = {"storage": tables.pop("storage")} if "storage" in tables else {}
    try:
        context.default_map = _defaults(context.command, tables, shared)
    except InvalidInput as error:
        raise InvalidInput(f"{file}: {error}") from None


def _defaults(
    command: click.Command, table: Mapping[str, Any], shared: Mapping[str, Any], path: str = ""
) -> dict[str, Any]:
    """Return the values in a table by the names of click's parameters."""
    options = {name.lstrip("-"): part for part in _options(command) for name in part.opts}
    commands: Mapping[str, click.Command] = getattr(command, "commands", {})
    known = [*commands, *(options if path else ())]
    for key, value in table.items():
        if key not in known or isinstance(value, dict) != (key in commands):
            raise unknown("key", path + key, [path + name for name in known])
    own = {key: value for key, value in {**shared, **table}.items() if key in options}
    values = {str(options[key].name): _typed(value) for key, value in own.items()}
    for key, below in commands.items():
        values[key] = _defaults(below, table.get(key, {}), shared, f"{path}{key}.")
    return values


def _typed(value: Any) -> Any:
    """Return a value, or several, as they are typed."""
    if isinstance(value, list):
        return list(map(_typed, value))
    return value if isinstance(value, bool) else str(value)
