"""The tables. Words in braces are those that the two dialects spell differently.

A level's own balances have the key and the value ''. Those of a label have its key and its value,
and no budget unless the key has a limit, see `purse.campaign.ledger.limits`: then `period` is not
NULL.
"""

from collections.abc import Callable

from purse.errors import StorageUnavailable

Check = Callable[[int, str], None]  # of the version of tables, and where they are
VERSION = 11  # of the tables; files and databases of another version are refused
FIRST = 9  # the earliest version that is migrated
_TABLES = """
CREATE TABLE purse_levels (
  id {key},
  name TEXT NOT NULL UNIQUE,
  kind TEXT NOT NULL,
  parent {big} REFERENCES purse_levels (id),
  seq {big} NOT NULL,
  head TEXT NOT NULL
);
CREATE INDEX purse_below ON purse_levels (parent) WHERE parent IS NOT NULL;
CREATE TABLE purse_balances (
  level {big} NOT NULL REFERENCES purse_levels (id),
  key TEXT NOT NULL,
  value TEXT NOT NULL,
  resource {big} NOT NULL,
  tickets {big} NOT NULL,
  budget {big} NOT NULL,
  spent {big} NOT NULL,
  held {big} NOT NULL,
  presumed {big} NOT NULL,
  overrun {big} NOT NULL,
  overdraft {big} NOT NULL,
  before {big} NOT NULL,
  own {big},
  period {big},
  CONSTRAINT never_negative CHECK (
    key <> '' OR (budget >= 0 AND spent >= 0 AND held >= 0 AND presumed >= 0 AND overrun >= 0
      AND overdraft >= 0)),
  CONSTRAINT never_overspent CHECK (
    (key <> '' AND period IS NULL) OR spent + held + presumed <= budget + overdraft),
  PRIMARY KEY (level, key, value, resource)
){tail};
CREATE INDEX purse_largest
  ON purse_balances (level, key, spent DESC, tickets DESC, value)
  WHERE key <> '' AND resource = 0;
CREATE TABLE purse_journal (
  level {big} NOT NULL REFERENCES purse_levels (id),
  seq {big} NOT NULL,
  at {big} NOT NULL,
  kind TEXT NOT NULL,
  request TEXT,
  ticket {big},
  body TEXT NOT NULL,
  digest {blob} NOT NULL,
  turn {big},
  session TEXT,
  salt {blob},
  PRIMARY KEY (level, seq)
){tail};
CREATE INDEX purse_sessions ON purse_journal (level, session, seq) WHERE session IS NOT NULL;
CREATE UNIQUE INDEX purse_one_answer ON purse_journal (level, request) WHERE request IS NOT NULL;
CREATE UNIQUE INDEX purse_one_of_each ON purse_journal (level, ticket, kind)
  WHERE ticket IS NOT NULL AND kind <> 'conflict';
CREATE INDEX purse_events ON purse_journal (level, kind, seq) WHERE kind = 'event';
CREATE TABLE purse_open_tickets (
  level {big} NOT NULL REFERENCES purse_levels (id),
  state TEXT NOT NULL,
  ticket {big} NOT NULL,
  deadline {big},
  PRIMARY KEY (level, state, ticket)
){tail};
CREATE INDEX purse_due ON purse_open_tickets (level, deadline) WHERE deadline IS NOT NULL;
CREATE TABLE purse_checkpoints (
  level {big} NOT NULL REFERENCES purse_levels (id),
  kind TEXT NOT NULL,
  seq {big} NOT NULL,
  digest TEXT NOT NULL,
  body {blob} NOT NULL,
  PRIMARY KEY (level, kind)
);
"""
SEALS = """CREATE TABLE purse_seals (
  level {big} PRIMARY KEY REFERENCES purse_levels (id),
  seq {big} NOT NULL,
  body {blob} NOT NULL
)"""
SQLITE_WORDS = {
    "key": "INTEGER PRIMARY KEY",
    "big": "INTEGER",
    "blob": "BLOB",
    "tail": " WITHOUT ROWID",
}
POSTGRES_WORDS = {
    "key": "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
    "big": "BIGINT",
    "blob": "BYTEA",
    "tail": "",
}
APPEND_ONLY = "".join(
    f"CREATE TRIGGER purse_no_{event} BEFORE {event} ON purse_journal "
    "BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END;\n"
    for event in ("update", "delete")
)
_ALL = f"{_TABLES}{SEALS};"
SQLITE = _ALL.format(**SQLITE_WORDS) + APPEND_ONLY + f"PRAGMA user_version = {VERSION};"
POSTGRES = (
    _ALL.format(**POSTGRES_WORDS)
    + f"""
CREATE FUNCTION purse_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN RAISE EXCEPTION 'the journal is append-only'; END $$;
CREATE TRIGGER purse_no_change BEFORE UPDATE OR DELETE OR TRUNCATE ON purse_journal
  FOR EACH STATEMENT EXECUTE FUNCTION purse_refuse();
CREATE TABLE purse_schema (version INTEGER NOT NULL);
INSERT INTO purse_schema VALUES ({VERSION});
"""
)


class OldTables(StorageUnavailable):
    """Tables of an earlier version, which can be migrated."""


def check_version(version: int, where: str) -> None:
    """Refuse tables of another version than this library's."""
    check_known(version, where)
    if version != VERSION:
        raise OldTables(
            f"{where} has schema version {version} and this version of purse knows {VERSION}: "
            "`purse storage migrate` takes it there"
        )


def check_known(version: int, where: str) -> None:
    """Refuse tables that no step makes tables of this library."""
    if not FIRST <= version <= VERSION:
        raise StorageUnavailable(
            f"{where} has schema version {version} and this version of purse knows {VERSION}: "
            + ("upgrade purse" if version > VERSION else "use the purse that made it")
        )
