"""Tables of version 9 become those of version 10, in one transaction.

Up to version 9 the part of a bill above its hold was an `overrun` and no part of what was `spent`.
Now it is both, and `overdraft` is how far all that is spent, held and presumed is above the budget.
Rows of labels can have a limit, and asks a session, which none has yet.

Counters only grow, so what they are now follows from what they were. The budget of a period does
not: without carrying over, a debt of an earlier period is forgiven, and no table says in which
period a bill came. So heads, budgets and overdrafts are folded from the journals again, which a
storage cannot: the function `refold` of the caller does it in the same transaction. It may compare
all other counters with what it finds.
"""

from collections.abc import Callable, Iterable

from purse.campaign.storage.sql import Database, Session, Statement
from purse.errors import invalid

_Refold = Callable[[Session], Iterable[Statement]]  # reads the new tables; what it writes in them
_BEFORE, _AFTER = 9, 10  # versions of the tables

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
# of what an older fold has made; how far webhooks were told, and when a copy was made, stays
_NO_CACHES = "DELETE FROM purse_checkpoints WHERE kind IN ('policy', 'history', 'audit')"

_SQLITE = (
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
    _NO_CACHES,
)
_ALONE = (  # the version is read behind these locks
    "SET LOCAL statement_timeout = 0",  # a fold may take longer than what others do
    "SET LOCAL idle_in_transaction_session_timeout = 0",
    "LOCK TABLE purse_levels, purse_balances, purse_journal, purse_open_tickets, purse_checkpoints",
)
_POSTGRES = (
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
    _NO_CACHES,
)


def migrate(address: str, refold: _Refold) -> None:
    """Make tables of version 10 of those of version 9 at an address, all of it or nothing.

    Nobody else writes meanwhile. Raise `StorageUnavailable` if the tables are of another
    version, `NoSuchStorage` if there is no such file, and what `refold` raises.
    """
    scheme = address.partition(":")[0].lower()
    if scheme not in ("sqlite", "postgresql", "postgres"):
        raise invalid("storage", address, "must be a file of SQLite or a database of PostgreSQL")
    is_file = scheme == "sqlite"
    database = _opened(address, is_file)

    def work() -> None:
        with database.writing() as session:
            for texts in ((), _SQLITE) if is_file else (_ALONE, _POSTGRES):
                session.read([(text, ()) for text in texts])
            written = refold(session)
            version = "PRAGMA user_version" if is_file else "UPDATE purse_schema SET version"
            session.write([*written, (f"{version} = {_AFTER}", [()])])

    try:
        database.retried(work, again=False)
    finally:
        database.close()


def _opened(address: str, is_file: bool) -> Database:
    """Return the database with tables of before."""
    if is_file:
        from purse.campaign.storage.sqlite import Sqlite

        return Sqlite(address, create=False, version=_BEFORE)
    from purse.campaign.storage.postgres import of_version

    return of_version(address, _BEFORE)
