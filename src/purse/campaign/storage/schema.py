"""The tables, as numbered migrations. A storage is brought to the newest version when it is opened;
one that is newer still is refused.

`{key}`, `{big}` and `{blob}` are what the two dialects call a counted key, whole numbers of 64 bits
and bytes; `{tail}` keeps SQLite's rows in the order of their key.
"""

from __future__ import annotations

from purse.errors import StorageUnavailable

TABLES = """
CREATE TABLE purse_campaigns (
  id {key},
  name TEXT NOT NULL UNIQUE,
  seq {big} NOT NULL,
  head TEXT NOT NULL
);
CREATE TABLE purse_purses (
  campaign {big} NOT NULL REFERENCES purse_campaigns (id),
  resource INTEGER NOT NULL,
  budget {big} NOT NULL CHECK (budget >= 0),
  spent {big} NOT NULL CHECK (spent >= 0),
  held {big} NOT NULL CHECK (held >= 0),
  presumed {big} NOT NULL CHECK (presumed >= 0),
  overrun {big} NOT NULL CHECK (overrun >= 0),
  CONSTRAINT never_overspent CHECK (spent + held + presumed <= budget),
  PRIMARY KEY (campaign, resource)
){tail};
CREATE TABLE purse_journal (
  campaign {big} NOT NULL REFERENCES purse_campaigns (id),
  seq {big} NOT NULL,
  at {big} NOT NULL,
  kind TEXT NOT NULL,
  request TEXT,
  ticket {big},
  body TEXT NOT NULL,
  PRIMARY KEY (campaign, seq)
){tail};
CREATE UNIQUE INDEX purse_one_answer ON purse_journal (campaign, request) WHERE request IS NOT NULL;
CREATE UNIQUE INDEX purse_one_report ON purse_journal (campaign, ticket) WHERE kind = 'told';
CREATE TABLE purse_tickets (
  campaign {big} NOT NULL REFERENCES purse_campaigns (id),
  id {big} NOT NULL,
  state TEXT NOT NULL,
  at {big} NOT NULL,
  deadline {big},
  body TEXT NOT NULL,
  PRIMARY KEY (campaign, id)
){tail};
CREATE INDEX purse_open ON purse_tickets (campaign, state, deadline)
  WHERE state IN ('held', 'presumed');
CREATE TABLE purse_snapshots (
  campaign {big} PRIMARY KEY REFERENCES purse_campaigns (id),
  seq {big} NOT NULL,
  code TEXT NOT NULL,
  digest TEXT NOT NULL,
  body {blob} NOT NULL
);
"""
SQLITE_GUARDS = """
CREATE TRIGGER purse_no_change BEFORE UPDATE ON purse_journal
  BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END;
CREATE TRIGGER purse_no_loss BEFORE DELETE ON purse_journal
  BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END;
"""
POSTGRES_GUARDS = """
CREATE FUNCTION purse_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN RAISE EXCEPTION 'the journal is append-only'; END $$;
CREATE TRIGGER purse_no_change BEFORE UPDATE OR DELETE OR TRUNCATE ON purse_journal
  FOR EACH STATEMENT EXECUTE FUNCTION purse_refuse();
"""
SQLITE = [
    TABLES.format(key="INTEGER PRIMARY KEY", big="INTEGER", blob="BLOB", tail=" WITHOUT ROWID")
    + SQLITE_GUARDS
]
POSTGRES = [
    TABLES.format(
        key="BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY", big="BIGINT", blob="BYTEA", tail=""
    )
    + POSTGRES_GUARDS
]


def steps_from(version: int, migrations: list[str], where: str) -> list[tuple[int, str]]:
    """The migrations that are still to be made, each with the version that it leads to."""
    if version > len(migrations):
        raise StorageUnavailable(
            f"{where} has schema version {version} and this version of purse knows "
            f"{len(migrations)}: upgrade purse"
        )
    return [(number, script) for number, script in enumerate(migrations, 1) if number > version]
