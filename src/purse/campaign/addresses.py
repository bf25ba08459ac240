"""Which class of campaigns an address leads to.

The classes are named here and not imported: that of a server stands above this package, and that of
a database is slow to import, which a client of a server need not wait for.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from purse.errors import MissingExtra

LOCAL = "purse.campaign.local.campaign:LocalCampaign"
REMOTE = "purse.client.remote_campaign:RemoteCampaign"
LOCAL_ACCOUNT = "purse.campaign.local.account:LocalAccount"
REMOTE_ACCOUNT = "purse.client.remote_account:RemoteAccount"
SERVERS = ("http", "https")  # schemes of addresses


def class_of(storage: object) -> Any:
    """Return the class of the campaigns at an address, or of those of a connected storage, which
    may name it itself as `campaign_class`.
    """
    if isinstance(storage, str):
        name = REMOTE if is_server(storage) else LOCAL
    else:
        name = getattr(storage, "campaign_class", LOCAL)
    return imported(name, storage)


def account_class_of(storage: object) -> Any:
    """Return the class of the accounts at an address, or of those of a connected storage, which
    may name it itself as `account_class`.
    """
    if isinstance(storage, str):
        name = REMOTE_ACCOUNT if is_server(storage) else LOCAL_ACCOUNT
    else:
        name = getattr(storage, "account_class", LOCAL_ACCOUNT)
    return imported(name, storage)


def imported(name: str, storage: object) -> Any:
    """Return a class by its module and name. Raise `MissingExtra` where it needs a package that is
    not installed.
    """
    module, _, found = name.partition(":")
    try:
        return getattr(import_module(module), found)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] == "purse":
            raise
        raise MissingExtra(
            f"a campaign at {storage!r} needs all that purse depends on, and {error.name} is not "
            "installed; in the clone: pip install ."
        ) from error


def connected(storage: str) -> Any:
    """Return what an address leads to, connected: a storage, or a connection to a server. Several
    campaigns there can be opened with it.
    """
    return class_of(storage)._connected(storage, None)


def is_server(address: str) -> bool:
    """Whether an address is that of a server which speaks HTTP.

    >>> is_server("https://purse.example.com"), is_server("sqlite:///purse.db")
    (True, False)
    """
    return address.partition(":")[0].lower() in SERVERS
