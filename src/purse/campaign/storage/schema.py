"""The tables, as numbered migrations. A storage is brought to the newest version when it is opened;
one that is newer still is refused.

`{key}`, `{big}` and `{blob}` are what the two dialects call a counted key, whole numbers of 64 bits
and bytes; `{tail}` keeps SQLite's rows in the order of their key; `{random}` is 16 random hex
digits; `{number}` is the number of a period in the body of an entry.
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
# The digest of each entry, checkpoints, archives, an identity. The guards are made again in version
# 3, after the digests of old entries have been written.
ARCHIVES = """
{drop_guards}
ALTER TABLE purse_journal ADD COLUMN digest {blob};
ALTER TABLE purse_campaigns ADD COLUMN archived {big} NOT NULL DEFAULT 0;
DROP TABLE purse_snapshots;
CREATE TABLE purse_checkpoints (
  campaign {big} NOT NULL REFERENCES purse_campaigns (id),
  kind TEXT NOT NULL,
  seq {big} NOT NULL,
  digest TEXT NOT NULL,
  checksum TEXT NOT NULL,
  body {blob} NOT NULL,
  PRIMARY KEY (campaign, kind)
);
CREATE TABLE purse_archived (
  campaign {big} NOT NULL REFERENCES purse_campaigns (id),
  id {big} NOT NULL,
  told {big},
  request {blob},
  body TEXT NOT NULL,
  PRIMARY KEY (campaign, id)
){tail};
CREATE INDEX purse_archived_requests ON purse_archived (campaign, request)
  WHERE request IS NOT NULL;
CREATE INDEX purse_archived_reports ON purse_archived (campaign, told) WHERE told IS NOT NULL;
CREATE INDEX purse_unused ON purse_tickets (campaign, state, id)
  WHERE state IN ('void', 'released', 'skipped');
CREATE TABLE purse_identity (id TEXT NOT NULL);
INSERT INTO purse_identity VALUES ({random});
"""
# An entry about tickets may be deleted once an archive that holds it is recorded; no other may.
ARCHIVABLE = "('asked', 'told', 'settled', 'rewarded', 'failed', 'voided', 'expired', 'conflict')"
ARCHIVABLE_4 = ARCHIVABLE.replace(")", ", 'unrewarded')")
SQLITE_ARCHIVE_GUARDS = f"""
CREATE TRIGGER purse_no_change BEFORE UPDATE ON purse_journal
  BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END;
CREATE TRIGGER purse_no_loss BEFORE DELETE ON purse_journal
  WHEN OLD.kind NOT IN {ARCHIVABLE}
    OR OLD.seq > (SELECT archived FROM purse_campaigns WHERE id = OLD.campaign)
  BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END;
"""
POSTGRES_REFUSE_LOSS = f"""
CREATE FUNCTION purse_refuse_loss() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF OLD.kind IN {ARCHIVABLE}
      AND OLD.seq <= (SELECT archived FROM purse_campaigns WHERE id = OLD.campaign)
    THEN RETURN OLD; END IF;
    RAISE EXCEPTION 'the journal is append-only';
  END $$;
"""
POSTGRES_ARCHIVE_GUARDS = f"""{POSTGRES_REFUSE_LOSS}
CREATE TRIGGER purse_no_change BEFORE UPDATE OR TRUNCATE ON purse_journal
  FOR EACH STATEMENT EXECUTE FUNCTION purse_refuse();
CREATE TRIGGER purse_no_loss BEFORE DELETE ON purse_journal
  FOR EACH ROW EXECUTE FUNCTION purse_refuse_loss();
"""
# Rewards that do not come; the guards are made again, because there are more kinds of entries.
REWARDS = """
CREATE INDEX purse_unrewarded ON purse_tickets (campaign, deadline)
  WHERE state = 'settled' AND deadline IS NOT NULL;
"""
# Accounts are rows beside the campaigns, with purses and a journal of their own.
ACCOUNTS = """
ALTER TABLE purse_campaigns ADD COLUMN kind TEXT NOT NULL DEFAULT 'campaign'
  CHECK (kind IN ('campaign', 'account'));
ALTER TABLE purse_campaigns ADD COLUMN parent {big} REFERENCES purse_campaigns (id);
CREATE INDEX purse_below ON purse_campaigns (parent) WHERE parent IS NOT NULL;
"""
# What was spent for each label of asks.
LABELS = """
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
# Each period begins once.
PERIODS = """
CREATE UNIQUE INDEX purse_one_renewal ON purse_journal (campaign, ({number}))
  WHERE kind = 'renewed';
"""
SQLITE_WORDS = {
    "key": "INTEGER PRIMARY KEY",
    "big": "INTEGER",
    "blob": "BLOB",
    "tail": " WITHOUT ROWID",
    "random": "lower(hex(randomblob(8)))",
    "number": "json_extract(body, '$.number')",
    "drop_guards": "DROP TRIGGER IF EXISTS purse_no_change; DROP TRIGGER IF EXISTS purse_no_loss;",
}
POSTGRES_WORDS = {
    "key": "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
    "big": "BIGINT",
    "blob": "BYTEA",
    "tail": "",
    "random": "substr(md5(random()::text || clock_timestamp()::text), 1, 16)",
    "number": "body::json ->> 'number'",
    "drop_guards": "DROP TRIGGER IF EXISTS purse_no_change ON purse_journal;",
}
SQLITE = [
    TABLES.format(**SQLITE_WORDS) + SQLITE_GUARDS,
    ARCHIVES.format(**SQLITE_WORDS),
    SQLITE_ARCHIVE_GUARDS,
    REWARDS + SQLITE_WORDS["drop_guards"] + SQLITE_ARCHIVE_GUARDS.replace(ARCHIVABLE, ARCHIVABLE_4),
    ACCOUNTS.format(**SQLITE_WORDS),
    LABELS.format(**SQLITE_WORDS),
    PERIODS.format(**SQLITE_WORDS),
]
POSTGRES = [
    TABLES.format(**POSTGRES_WORDS) + POSTGRES_GUARDS,
    ARCHIVES.format(**POSTGRES_WORDS),
    POSTGRES_ARCHIVE_GUARDS,
    REWARDS
    + POSTGRES_REFUSE_LOSS.replace("CREATE", "CREATE OR REPLACE").replace(ARCHIVABLE, ARCHIVABLE_4),
    ACCOUNTS.format(**POSTGRES_WORDS),
    LABELS.format(**POSTGRES_WORDS),
    PERIODS.format(**POSTGRES_WORDS),
]
NEEDS_DIGESTS = 2  # after this version the storage fills in the digests of old entries


def check_version(version: int, known: int, where: str) -> None:
    """Refuse tables that another process has brought to a newer version since they were opened."""
    if version != known:
        raise StorageUnavailable(
            f"{where} has schema version {version} and this version of purse knows {known}: "
            + ("upgrade purse" if version > known else "open it again")
        )


def steps_from(version: int, migrations: list[str], where: str) -> list[tuple[int, str]]:
    """The migrations that are still to be made, each with the version that it leads to."""
    if version > len(migrations):
        check_version(version, len(migrations), where)
    return [(number, script) for number, script in enumerate(migrations, 1) if number > version]
