"""Tables of an earlier version become those of this one, in one transaction.

There is a step from each version to the next. What a step cannot say in SQL, the journals say: they
are folded again, which a storage cannot: the function `refold` of the caller does it in the same
transaction, after the last step. It may compare what is stored with what it finds.

Up to version 9 the part of a bill above its hold was an `overrun` and no part of what was `spent`.
Now it is both, and `overdraft` is how far all that is spent, held and presumed is above the budget.
Rows of labels can have a limit, and asks a session, which none has yet. Counters only grow, so what
they are now follows from what they were. The budget of a period does not: without carrying over, a
debt of an earlier period is forgiven, and no table says in which period a bill came.
"""

from collections.abc import Callable, Iterable
from pathlib import Path

from purse.base.optional import needs
from purse.campaign.storage import schema
from purse.campaign.storage.sql import Database, Rows, Session, Statement
from purse.campaign.storage.sqlite_file import SqliteFile
from purse.errors import invalid

_Refold = Callable[[Session], Iterable[Statement]]  # reads the new tables; what it writes in them

_BALANCED = """(key <> '' AND period IS NULL)
    OR spent + held + presumed <= budget + overdraft"""
_POSITIVE = " AND ".join(
    f"{name} >= 0" for name in ("budget", "spent", "held", "presumed", "overrun", "overdraft")
)
_LARGEST = """CREATE INDEX purse_largest
  ON purse_balances (level, key, spent DESC, tickets DESC, value)
  WHERE key <> '' AND resource = 0"""
_SESSIONS = (
    "ALTER TABLE purse_journal ADD COLUMN session TEXT",
    """CREATE INDEX purse_sessions ON purse_journal (level, session, seq)
  WHERE session IS NOT NULL""",
)
_USED = "spent + overrun + held + presumed"
_OVERDRAFT = f"CASE WHEN key = '' AND {_USED} > budget THEN {_USED} - budget ELSE 0 END"

_SQLITE_10 = (
    "ALTER TABLE purse_balances RENAME TO purse_old_balances",
    f"""CREATE TABLE purse_balances (
  level INTEGER NOT NULL REFERENCES purse_levels (id),
  key TEXT NOT NULL,
  value TEXT NOT NULL,
  resource INTEGER NOT NULL,
  tickets INTEGER NOT NULL,
  budget INTEGER NOT NULL,
  spent INTEGER NOT NULL,
  held INTEGER NOT NULL,
  presumed INTEGER NOT NULL,
  overrun INTEGER NOT NULL,
  overdraft INTEGER NOT NULL,
  before INTEGER NOT NULL,
  own INTEGER,
  period INTEGER,
  CONSTRAINT never_negative CHECK (
    key <> '' OR ({_POSITIVE})),
  CONSTRAINT never_overspent CHECK (
    {_BALANCED}),
  PRIMARY KEY (level, key, value, resource)
) WITHOUT ROWID""",
    f"""INSERT INTO purse_balances SELECT level, key, value, resource, tickets, budget,
  spent + overrun, held, presumed, overrun, {_OVERDRAFT}, 0, NULL, NULL FROM purse_old_balances""",
    "DROP TABLE purse_old_balances",  # with its index
    _LARGEST,
    *_SESSIONS,
)
_POSTGRES_10 = (
    "DROP INDEX purse_largest",
    """ALTER TABLE purse_balances DROP CONSTRAINT never_negative, DROP CONSTRAINT never_overspent,
  ADD COLUMN overdraft BIGINT NOT NULL DEFAULT 0, ADD COLUMN before BIGINT NOT NULL DEFAULT 0,
  ADD COLUMN own BIGINT, ADD COLUMN period BIGINT""",
    f"UPDATE purse_balances SET spent = spent + overrun, overdraft = {_OVERDRAFT}",
    f"""ALTER TABLE purse_balances ALTER COLUMN overdraft DROP DEFAULT,
  ALTER COLUMN before DROP DEFAULT,
  ADD CONSTRAINT never_negative CHECK (key <> '' OR ({_POSITIVE})),
  ADD CONSTRAINT never_overspent CHECK ({_BALANCED})""",
    _LARGEST,
    *_SESSIONS,
)


# with the words of `schema.SQLITE_WORDS` and `POSTGRES_WORDS`
_TO_11 = ("ALTER TABLE purse_journal ADD COLUMN salt {blob}", schema.SEALS)


_STEPS = {  # by the version before: the statements of PostgreSQL, and those of SQLite
    9: (_POSTGRES_10, _SQLITE_10),
    10: tuple(
        tuple(text.format(**words) for text in _TO_11)
        for words in (schema.POSTGRES_WORDS, schema.SQLITE_WORDS)
    ),
}
_VERSION = ("SELECT version FROM purse_schema", "PRAGMA user_version")  # likewise
_SET_VERSION = (
    f"UPDATE purse_schema SET version = {schema.VERSION}",
    f"PRAGMA user_version = {schema.VERSION}",
)
# of what an older fold has made; how far webhooks were told, and when a copy was made, stays
_NO_CACHES = (
    "DELETE FROM purse_checkpoints WHERE kind IN ('policy', 'history', 'history-2', 'audit')"
)
_ALONE = (  # the version is read behind these locks
    "SET LOCAL statement_timeout = 0",  # a fold may take longer than what others do
    "SET LOCAL idle_in_transaction_session_timeout = 0",
    "LOCK TABLE purse_levels, purse_balances, purse_journal, purse_open_tickets, purse_checkpoints",
)


def migrate(address: str, refold: _Refold) -> None:
    """Make tables of this version of earlier ones at an address, all of it or nothing.

    Nobody else writes meanwhile. A copy of a file lies beside it until that is done. Raise
    `StorageUnavailable` if the tables are of a version that has no step, `NoSuchStorage` if there
    is no such file, and what `refold` raises.
    """
    database, copies = _opened(address), list[Path]()
    file = database if isinstance(database, SqliteFile) else None
    is_file = file is not None

    def work() -> None:
        with database.writing() as session:
            session.read([(text, ()) for text in (() if is_file else _ALONE)])
            ((version,),) = session.read([(_VERSION[is_file], ())])[0]
            if file is not None:
                copies.append(Path(f"{file.path}-before-{schema.VERSION}"))
            if version == schema.VERSION:  # another process has done it
                return
            if file is not None:
                file.copy(copies[0])
            for before in range(version, schema.VERSION):
                session.read([(text, ()) for text in _STEPS[before][is_file]])
            session.read([(_NO_CACHES, ()), (database.unlock, ())])
            session.read([*refold(session), (database.relock, ())])
            session.write([(_SET_VERSION[is_file], [()])])

    try:
        database.retried(work, again=False)
    finally:
        database.close()
        for copy in copies:
            copy.unlink(missing_ok=True)


def look(address: str, query: str) -> tuple[int, Rows]:
    """Return the version of the tables at an address, and the rows of a query."""
    database = _opened(address)

    def work() -> tuple[int, Rows]:
        with database.reading() as session:
            version = _VERSION[isinstance(database, SqliteFile)]
            ((number,),), rows = session.read([(version, ()), (query, ())])
            return number, rows

    try:
        return database.retried(work)
    finally:
        database.close()


def _opened(address: str) -> Database:
    """Return the database with tables of any known version."""
    scheme = address.partition(":")[0].lower()
    if scheme == "sqlite":
        from purse.campaign.storage.sqlite import Sqlite

        file = Sqlite(address, schema.check_known)
        file.prepare(create=False)
        return file
    if scheme not in ("postgresql", "postgres"):
        raise invalid("storage", address, "must be a file of SQLite or a database of PostgreSQL")
    with needs("a campaign in PostgreSQL", "postgres"):
        from purse.campaign.storage.postgres import Postgres

    return Postgres(address, schema.check_known)
