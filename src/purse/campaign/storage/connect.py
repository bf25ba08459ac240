"""From the address of a storage to the storage; what a dialect needs is imported late."""

from __future__ import annotations

from purse.base.optional import needs
from purse.campaign.storage.storage import Storage
from purse.errors import invalid

_memories: dict[str, Storage] = {}  # those of this process, by their addresses


def connect(storage: str | Storage, *, create: bool = True) -> Storage:
    """Return the storage behind an address; `create` says whether a missing file is made.

    A storage that is connected already is returned as it is. Raise `InvalidInput` if no storage
    has such an address, `NoSuchStorage` if a file is missing that must be there.
    """
    if not isinstance(storage, str):
        return storage
    scheme = storage.partition(":")[0].lower()
    if scheme == "memory":
        return _memories.get(storage) or _memories.setdefault(storage, in_memory())
    if scheme == "sqlite":
        from purse.campaign.storage.sqlite import Sqlite

        return Storage(Sqlite(storage, create=create))
    if scheme in ("postgresql", "postgres"):
        with needs("a campaign in PostgreSQL", "postgres"):
            import psycopg  # noqa: F401
        from purse.campaign.storage.postgres import shared

        return Storage(shared(storage))
    raise invalid(
        "storage",
        storage,
        "must be memory:, sqlite:///FILE, sqlite:////ABSOLUTE/FILE or "
        "postgresql://USER@HOST/DATABASE",
    )


def in_memory() -> Storage:
    """Return a new storage in the memory of this process."""
    from purse.campaign.storage.sqlite import Memory

    return Storage(Memory())
