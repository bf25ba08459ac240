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
from typing import NamedTuple

from purse.campaign.storage import schema
from purse.campaign.storage.sql import Database, Session, Statement
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


class _Step(NamedTuple):
    """The statements that make tables of the next version."""

    sqlite: tuple[str, ...]
    postgres: tuple[str, ...]


_STEPS = {  # by the version before
    9: _Step(_SQLITE_10, _POSTGRES_10),
    10: _Step(
        tuple(text.format(**schema.SQLITE_WORDS) for text in _TO_11),
        tuple(text.format(**schema.POSTGRES_WORDS) for text in _TO_11),
    ),
}
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

    Nobody else writes meanwhile. Raise `StorageUnavailable` if the tables are of a version that
    has no step, `NoSuchStorage` if there is no such file, and what `refold` raises.
    """
    scheme = address.partition(":")[0].lower()
    if scheme not in ("sqlite", "postgresql", "postgres"):
        raise invalid("storage", address, "must be a file of SQLite or a database of PostgreSQL")
    is_file = scheme == "sqlite"
    database = _opened(address, is_file)
    read, write = (
        ("PRAGMA user_version", "PRAGMA user_version")
        if is_file
        else ("SELECT version FROM purse_schema", "UPDATE purse_schema SET version")
    )

    def work() -> None:
        with database.writing() as session:
            session.read([(text, ()) for text in (() if is_file else _ALONE)])
            ((version,),) = session.read([(read, ())])[0]
            if version == schema.VERSION:  # another process has done it
                return
            for before in range(version, schema.VERSION):
                texts = _STEPS[before].sqlite if is_file else _STEPS[before].postgres
                session.read([(text, ()) for text in texts])
            session.read([(_NO_CACHES, ()), (database.unlock, ())])
            session.read([*refold(session), (database.relock, ())])
            session.write([(f"{write} = {schema.VERSION}", [()])])

    try:
        database.retried(work, again=False)
    finally:
        database.close()


def _opened(address: str, is_file: bool) -> Database:
    """Return the database with tables of any known version."""
    if is_file:
        from purse.campaign.storage.sqlite import Sqlite

        file = Sqlite(address, schema.check_known)
        file.prepare(create=False)
        return file
    from purse.campaign.storage.postgres import Postgres

    return Postgres(address, schema.check_known)
