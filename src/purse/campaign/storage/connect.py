"""From the address of a storage to the storage; back-ends are imported when they are needed."""

from __future__ import annotations

from purse.campaign.storage.base import Storage
from purse.errors import invalid


def connect(storage: str | Storage, *, create: bool = True) -> Storage:
    """Return the storage behind an address; `create` says whether a file that is missing is made.

    A storage that is connected already is returned as it is. Raise `InvalidInput` where no storage
    has such an address.
    """
    if not isinstance(storage, str):
        return storage
    scheme = storage.partition(":")[0].lower()
    if scheme == "memory":
        from purse.campaign.storage.memory import Memory

        return Memory.shared(storage)
    if scheme == "sqlite":
        from purse.campaign.storage.sqlite import Sqlite

        return Sqlite(storage, create=create)
    if scheme in ("postgresql", "postgres"):
        from purse.campaign.storage.postgres import Postgres

        return Postgres(storage)
    raise invalid(
        "storage",
        storage,
        "must be memory:, sqlite:///FILE, sqlite:////ABSOLUTE/FILE or "
        "postgresql://USER@HOST/DATABASE",
    )
