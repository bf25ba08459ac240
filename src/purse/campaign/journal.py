"""The journal: an append-only list of entries, which is the truth. All else is folded from it.

kind       body
created    the terms
asked      n (tickets wanted), deadline (ms or null), tickets: id, t, arms, probabilities, held
           (units per resource), names (of arms, where the terms do not name them); mask: allowed or
           forbidden (arms by number), most (units per arm and resource), where the ask said so;
           left (units per resource), where an account had less left than the campaign itself;
           labels, where it has some
told       t, arms, probabilities, rewards, costs (units per resource), from (the state before the
           cost was known), spent, overrun; settled: true, where the money moved with an entry
           before; missing: true, where no reward came in time
settled    costs, from, spent, overrun: the cost is known, and the reward is not
rewarded   rewards: the reward is known, and the cost is not, or nothing is learnt from it
failed     costs, from, spent, overrun, reason: the call did not work
voided     from, released
expired    units
told, settled, failed, voided, expired   dropped: what of the refund of an ended period is not kept
conflict   report: what was said too late to count
topped_up  units
renewed    number (of the period that begins), at, next (when it begins and ends, ms), tz (the
           version of the time-zone data), allowance, dropped (units)
paused, resumed, closed   resumed: next, tz, where the period would have ended in the pause
arm_added, arm_retired, arm_changed   arm (its number), name, cost_min, cost_max (units)
alerts_set alerts: the rules from now on
event      what an alert is about, right after the entry that caused it: rule, key, period, resource
           or arm by name, balances (units per resource: budget, spent, held, presumed, overrun);
           refused: what an ask needed (units per resource), where a refusal caused it

Each entry has a digest of the journal up to it, so that two journals can be compared by their last
entries.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from hashlib import blake2b
from pathlib import Path
from typing import IO, Any

import orjson

from purse.base.json import compact, compact_bytes
from purse.campaign.entry import FORMAT, write_as
from purse.campaign.entry import Entry as Entry
from purse.errors import InvalidInput, shorten

EVENT = "event"
KINDS = (
    "created",
    "asked",
    "told",
    "settled",
    "rewarded",
    "failed",
    "voided",
    "expired",
    "conflict",
    "arm_added",
    "arm_retired",
    "arm_changed",
    "topped_up",
    "renewed",
    "paused",
    "resumed",
    "closed",
    "alerts_set",
    EVENT,
)
DIGEST_BYTES = 16
# terms that a copy of a campaign has of its own
OF_THIS_COPY = ("name", "id", "restored_from", "account")


def chain(digest: str, entry: Entry) -> str:
    """Return the digest of a journal up to an entry, from the digest up to the one before.

    A copy of a campaign, under whatever name, has the same digests.
    """
    body = entry.body
    if entry.kind == "created":
        body = {name: value for name, value in body.items() if name not in OF_THIS_COPY}
    text = compact_bytes([digest, *entry[:5], body])
    return blake2b(text, digest_size=DIGEST_BYTES).hexdigest()


def write_lines(file: IO[str], name: str, entries: Iterable[Entry], **more: Any) -> int:
    """A journal as JSON lines, the first of which says what it is, and `more` of it; returns the
    number of entries.
    """
    return write_as(compact, file, name, entries, **more)


def read_head(lines: Iterator[str]) -> dict[str, Any]:
    """The first line of a journal; refuses what is none, or has another format."""
    line = next(lines, "")
    head = parsed(1, line)
    if "format" not in head:
        raise InvalidInput(f"line 1: not the journal of a campaign: {shorten(line.strip())!r}")
    if head["format"] != FORMAT:
        raise InvalidInput(
            f"line 1: the journal has format {shorten(repr(head['format']))}, and this version of "
            f"purse reads format {FORMAT}: use the version of purse that wrote it"
        )
    return head


def read_lines(file: Iterable[str]) -> Iterator[Entry]:
    """The entries of a journal that `write_lines` wrote; refuses a line that is not one, with its
    number.
    """
    lines = iter(file)
    read_head(lines)
    last = 0
    for number, line in enumerate(lines, 2):
        if not line.strip():
            continue
        facts = parsed(number, line)
        try:
            entry = Entry(**facts)
        except TypeError:
            raise InvalidInput(
                f"line {number}: an entry has {', '.join(Entry._fields)}, not {', '.join(facts)}"
            ) from None
        if entry.kind not in KINDS or not isinstance(entry.body, dict):
            raise InvalidInput(f"line {number}: unknown kind of entry {entry.kind!r}")
        if type(entry.seq) is not int or entry.seq != last + 1:
            raise InvalidInput(
                f"line {number}: found entry {entry.seq!r}, expected entry {last + 1}"
            )
        yield entry
        last = entry.seq
    if last == 0:
        raise InvalidInput("the journal has no entries")


def read_journal(path: str | Path) -> Iterator[Entry]:
    """Yield the entries of an exported journal. Raise `InvalidInput` where it cannot be read."""
    try:
        with Path(path).open(encoding="utf-8") as lines:
            yield from read_lines(lines)
    except OSError as error:
        raise InvalidInput(f"cannot read {str(path)!r}: {error.strerror}") from None


def parsed(number: int, line: str) -> dict[str, Any]:
    """One line as an object."""
    try:
        facts = orjson.loads(line)
    except ValueError:
        facts = None
    if not isinstance(facts, dict):
        raise InvalidInput(f"line {number}: not JSON: {shorten(line.strip())!r}")
    return facts
