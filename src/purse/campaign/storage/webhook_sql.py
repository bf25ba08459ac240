"""The statements about webhooks, in the words of both databases; `?` is a value."""

from __future__ import annotations

WAITING = (
    "SELECT {what} FROM purse_journal j WHERE j.campaign = w.campaign AND j.kind = 'event' "
    "AND j.seq > w.cursor"
)
# a time that lies too far ahead was written by a clock that was wrong, and nobody waits for it
DUE = f"""w.next_at NOT BETWEEN ? AND ? AND w.lease_until NOT BETWEEN ? AND ?
AND EXISTS ({WAITING.format(what="1")})"""
ADD = """INSERT INTO purse_webhooks
  (id, url, shown, secret, created, next_at, cursor, campaign)
SELECT ?, ?, ?, ?, ?, 0, seq, id FROM purse_campaigns WHERE id = ?
ON CONFLICT (campaign, url, secret) DO NOTHING"""
FIND = "SELECT id FROM purse_webhooks WHERE campaign = ? AND url = ? AND secret = ?"
REMOVE = "DELETE FROM purse_webhooks WHERE campaign = ? AND id = ? RETURNING id"
LIST = f"""SELECT w.id, w.shown, ({WAITING.format(what="count(*)")}), w.delivered, w.failed,
  w.skipped, w.attempts, w.next_at, w.error, w.created
FROM purse_webhooks w WHERE w.campaign = ? ORDER BY w.created, w.id"""
ANY_DUE = f"SELECT 1 FROM purse_webhooks w WHERE {DUE} LIMIT 1"
FIRST_DUE = f"SELECT w.id FROM purse_webhooks w WHERE {DUE} ORDER BY w.next_at, w.id LIMIT 1"
LEASE = """UPDATE purse_webhooks SET lease = ?, lease_until = ? WHERE id = ({first})
RETURNING id, (SELECT name FROM purse_campaigns c WHERE c.id = purse_webhooks.campaign), url,
  secret, cursor, attempts, since, lease"""
SETTLE = """UPDATE purse_webhooks
SET cursor = ?, attempts = ?, since = ?, next_at = ?, error = ?, delivered = delivered + ?,
  failed = failed + ?, skipped = skipped + ?, lease = '', lease_until = 0
WHERE id = ? AND lease = ? RETURNING id"""
EVENTS = """SELECT seq, at, kind, request, ticket, body FROM purse_journal
WHERE campaign = ? AND kind = 'event' AND seq > ? ORDER BY seq LIMIT ?"""
