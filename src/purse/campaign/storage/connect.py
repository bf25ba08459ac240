"""From the address of a storage to the storage; what a dialect needs is imported late."""

from typing import Any
from weakref import WeakValueDictionary

from purse.base.optional import needs
from purse.campaign.storage.storage import Storage
from purse.errors import invalid

_memories: dict[str, Storage] = {}  # those of this process, by their addresses
# files and databases whose connections are shared; each closes them when its last user is gone
_shared: WeakValueDictionary[Any, Any] = WeakValueDictionary()


def connect(storage: str | Storage, *, create: bool = True) -> Storage:
    """Return the storage behind an address; `create` says whether a missing file is made.

    A storage that is connected already is returned as it is, and all storages of this process at
    one address share connections. Raise `InvalidInput` if no storage has such an address,
    `NoSuchStorage` if a file is missing that must be there.
    """
    if not isinstance(storage, str):
        return storage
    scheme = storage.partition(":")[0].lower()
    if scheme == "memory":
        return _memories.get(storage) or _memories.setdefault(storage, in_memory())
    dialect: Any
    if scheme == "sqlite":
        from purse.campaign.storage import sqlite

        dialect = sqlite.Sqlite
    elif scheme in ("postgresql", "postgres"):
        with needs("a campaign in PostgreSQL", "postgres"):
            import psycopg  # noqa: F401
        from purse.campaign.storage import postgres

        dialect = postgres.Postgres
    else:
        raise invalid(
            "storage",
            storage,
            "must be memory:, sqlite:///FILE, sqlite:////ABSOLUTE/FILE or "
            "postgresql://USER@HOST/DATABASE",
        )
    key = dialect.identity(storage)
    database = _shared.get(key) or _shared.setdefault(key, dialect(storage))
    database.prepare(create=create)
    return Storage(database)


def in_memory() -> Storage:
    """Return a new storage in the memory of this process."""
    from purse.campaign.storage.sqlite import Memory

    return Storage(Memory())
