"""The tables: one script for each dialect. Tables of another version are refused.

`{key}`, `{big}` and `{blob}` are what the two dialects call a counted key, whole numbers of 64 bits
and bytes; `{tail}` keeps SQLite's rows in the order of their key; `{event}` and `{number}` are the
key of an event and the number of a period in the body of an entry.
"""

from __future__ import annotations

from purse.errors import StorageUnavailable

VERSION = 9  # of the tables
# accounts are rows beside the campaigns, with purses and a journal of their own
TABLES = """
CREATE TABLE purse_campaigns (
  id {key},
  name TEXT NOT NULL UNIQUE,
  seq {big} NOT NULL,
  head TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('campaign', 'account')),
  parent {big} REFERENCES purse_campaigns (id)
);
CREATE INDEX purse_below ON purse_campaigns (parent) WHERE parent IS NOT NULL;
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
  digest {blob} NOT NULL,
  PRIMARY KEY (campaign, seq)
){tail};
CREATE UNIQUE INDEX purse_one_answer ON purse_journal (campaign, request) WHERE request IS NOT NULL;
CREATE UNIQUE INDEX purse_one_report ON purse_journal (campaign, ticket) WHERE kind = 'told';
CREATE UNIQUE INDEX purse_one_event ON purse_journal (campaign, ({event})) WHERE kind = 'event';
CREATE UNIQUE INDEX purse_one_renewal ON purse_journal (campaign, ({number}))
  WHERE kind = 'renewed';
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
CREATE INDEX purse_unused ON purse_tickets (campaign, state, id)
  WHERE state IN ('void', 'skipped');
CREATE INDEX purse_due_rewards ON purse_tickets (campaign, deadline)
  WHERE state = 'settled' AND deadline IS NOT NULL;
CREATE TABLE purse_checkpoints (
  campaign {big} NOT NULL REFERENCES purse_campaigns (id),
  kind TEXT NOT NULL,
  seq {big} NOT NULL,
  digest TEXT NOT NULL,
  checksum TEXT NOT NULL,
  body {blob} NOT NULL,
  PRIMARY KEY (campaign, kind)
);
CREATE TABLE purse_labels (
  campaign {big} NOT NULL REFERENCES purse_campaigns (id),
  key TEXT NOT NULL,
  value TEXT NOT NULL,
  resource INTEGER NOT NULL,
  tickets {big} NOT NULL,
  spent {big} NOT NULL,
  held {big} NOT NULL,
  presumed {big} NOT NULL,
  overrun {big} NOT NULL,
  PRIMARY KEY (campaign, key, value, resource)
){tail};
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
SQLITE_WORDS = {
    "key": "INTEGER PRIMARY KEY",
    "big": "INTEGER",
    "blob": "BLOB",
    "tail": " WITHOUT ROWID",
    "event": "json_extract(body, '$.key')",
    "number": "json_extract(body, '$.number')",
}
POSTGRES_WORDS = {
    "key": "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
    "big": "BIGINT",
    "blob": "BYTEA",
    "tail": "",
    "event": "body::json ->> 'key'",
    "number": "body::json ->> 'number'",
}
SQLITE = TABLES.format(**SQLITE_WORDS) + SQLITE_GUARDS
POSTGRES = TABLES.format(**POSTGRES_WORDS) + POSTGRES_GUARDS


def check_version(version: int, where: str) -> None:
    """Refuse tables of another version than this library's."""
    if version != VERSION:
        raise StorageUnavailable(
            f"{where} has tables of version {version}, and this version of purse reads version "
            f"{VERSION}: use the version of purse that made them, or another storage"
        )
