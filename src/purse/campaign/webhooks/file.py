"""Reads the file that names receivers: a table of TOML for each, under its name; in a file of
budgets, which `purse apply` reads, under `webhooks.NAME`.

address        https://HOST/PATH
address_env    the environment variable that holds the address, if it is a secret
secret_env     the environment variable that holds the secret of `standard`
format         "standard" or "slack"
campaigns      patterns of the names of campaigns whose events are sent, such as ["search-*"]
accounts       likewise
allow_private  whether the address may be on this machine or in a private network, and http

No secret stands in the file, and no error shows a secret or an address.
"""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from purse.base.toml import read_toml
from purse.campaign.api.states import CAMPAIGN
from purse.campaign.webhooks.message import FORMATS, SLACK, STANDARD, read_secret
from purse.campaign.webhooks.sending import Target, is_address, is_public, read_target
from purse.errors import InvalidInput, invalid, unknown

_KEYS = ("address", "address_env", "secret_env", "format", "campaigns", "accounts", "allow_private")
BUDGETS = {"accounts", "campaigns", "webhooks"}  # the sections of a file of budgets
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_VARIABLE = re.compile(r"[A-Z_][A-Z0-9_]{0,99}")
_MOST = 100  # receivers, each of which has a thread


@dataclass(frozen=True)
class Receiver:
    """A receiver of events. Its text shows neither address nor secret."""

    name: str
    target: Target = field(repr=False)
    secret: bytes = field(repr=False)  # empty for `slack`
    format: str = STANDARD
    campaigns: tuple[str, ...] = ()
    accounts: tuple[str, ...] = ()
    allow_private: bool = False

    def wants(self, kind: str, name: str) -> bool:
        """Return whether it is told of the events of a campaign, or of an account."""
        patterns = self.campaigns if kind == CAMPAIGN else self.accounts
        return any(fnmatchcase(name, pattern) for pattern in patterns)


def read_file(path: Path, environment: Mapping[str, str] = os.environ) -> list[Receiver]:
    """Return the receivers that a file names. Raise `InvalidInput` if it is wrong."""
    tables = read_toml(path)
    try:
        if BUDGETS & tables.keys():
            tables = tables.get("webhooks", {})
        if not 1 <= len(tables) <= _MOST:
            raise invalid("receivers", len(tables), f"must be 1 to {_MOST} tables, one for each")
        return [_read_receiver(name, table, environment) for name, table in tables.items()]
    except InvalidInput as error:
        raise InvalidInput(f"{path}: {error}") from None


def _read_receiver(name: str, table: Any, environment: Mapping[str, str]) -> Receiver:
    """Return the receiver of one table."""
    if not _NAME.fullmatch(name):
        raise invalid("receiver", name, "must be 1 to 64 letters, digits, - and _")
    if not isinstance(table, dict):
        raise InvalidInput(f"{name}: must be a table, [{name}], with address_env or address")
    for key in table:
        if key not in _KEYS:
            raise InvalidInput(f"{name}: {unknown('key', key, _KEYS)}")
    chosen = table.get("format", STANDARD)
    if chosen not in FORMATS:
        raise invalid(f"{name}.format", chosen, f"must be {' or '.join(FORMATS)}")
    if ("address" in table) == ("address_env" in table):
        raise InvalidInput(f"{name}: must have either address or address_env")
    if chosen == SLACK and ("address" in table or "secret_env" in table):
        raise InvalidInput(
            f"{name}: must have address_env and no secret_env, since the address for slack is a "
            "secret"
        )
    if chosen == STANDARD and "secret_env" not in table:
        raise InvalidInput(f"{name}: must have secret_env, the environment variable of its secret")
    allow_private = table.get("allow_private", False)
    if not isinstance(allow_private, bool):
        raise invalid(f"{name}.allow_private", allow_private, "must be true or false")
    campaigns, accounts = (_patterns(name, key, table) for key in ("campaigns", "accounts"))
    if not campaigns and not accounts:
        raise InvalidInput(f"{name}: must have campaigns or accounts, such as campaigns = ['*']")
    secret = b""
    if chosen == STANDARD:
        label, text = _variable(name, "secret_env", table, environment)
        try:
            secret = read_secret(text)
        except ValueError as error:
            raise InvalidInput(f"{label} {error}") from None
    target = _address(name, table, allow_private, environment)
    return Receiver(name, target, secret, chosen, campaigns, accounts, allow_private)


def _patterns(name: str, key: str, table: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the patterns of names under a key."""
    patterns = table.get(key, [])
    if not isinstance(patterns, list) or not all(
        isinstance(pattern, str) and pattern for pattern in patterns
    ):
        raise invalid(f"{name}.{key}", patterns, "must be a list of patterns, such as ['search-*']")
    return tuple(patterns)


def _variable(
    name: str, key: str, table: Mapping[str, Any], environment: Mapping[str, str]
) -> tuple[str, str]:
    """Return words for a variable, and its value, which may be secret and is in no error."""
    variable = table[key]
    if not isinstance(variable, str) or not _VARIABLE.fullmatch(variable):
        raise InvalidInput(
            f"{name}.{key}: must be the name of an environment variable, in capitals, digits and _"
        )
    if not environment.get(variable):
        raise invalid(f"{name}.{key}", variable, "must be an environment variable that is set")
    return f"{name}.{key}={variable!r}: the variable", environment[variable]


def _address(
    name: str, table: Mapping[str, Any], allow_private: bool, environment: Mapping[str, str]
) -> Target:
    """Return the target of a receiver's messages."""
    label, address = f"{name}.address:", table.get("address")
    if "address_env" in table:
        label, address = _variable(name, "address_env", table, environment)
    if not isinstance(address, str):
        raise invalid(f"{name}.address", address, "must be text")
    try:
        target = read_target(address)
    except ValueError as error:
        raise InvalidInput(f"{label} {error}") from None
    is_private = is_address(target.host) and not is_public(target.host)
    if not allow_private and (target.scheme == "http" or is_private):
        raise InvalidInput(
            f"{label} must be https and on the public internet, or allow_private must be true"
        )
    return target
