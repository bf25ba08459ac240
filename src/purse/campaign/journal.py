"""The journal: an append-only list of entries, which is the truth. All else is folded from it.

kind       body
created    the terms
asked      n (tickets wanted), deadline (ms or null), tickets: id, t, arms, probabilities, held
           (units per resource)
told       t, arms, probabilities, rewards, costs (units per play and resource, flat), from (the
           state before), spent, overrun
voided     from, released
expired    to (`presumed` or `released`), units
conflict   report: what was said too late to count
topped_up  units
paused, resumed, closed
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import IO, Annotated, Any, NamedTuple

import orjson

from purse._version import __version__
from purse.base.json import compact
from purse.errors import InvalidInput, shorten

FORMAT = 1
KINDS = (
    "created",
    "asked",
    "told",
    "voided",
    "expired",
    "conflict",
    "topped_up",
    "paused",
    "resumed",
    "closed",
)


class Entry(NamedTuple):
    """One line of the journal; amounts in it are whole numbers of units of 1e-9."""

    seq: int  # 1, 2, ... without a gap
    at: Annotated[int, "Milliseconds since 1970."]
    kind: str
    request: str | None
    ticket: int | None
    body: dict[str, Any]


def write_lines(file: IO[str], name: str, entries: Iterable[Entry]) -> int:
    """A journal as JSON lines, the first of which says what it is; returns the number of
    entries.
    """
    file.write(compact({"purse": __version__, "format": FORMAT, "campaign": name}) + "\n")
    count = 0
    for entry in entries:
        file.write(compact(entry._asdict()) + "\n")
        count += 1
    return count


def read_lines(file: Iterable[str]) -> Iterator[Entry]:
    """The entries of a journal that `write_lines` wrote; refuses a line that is not one, with its
    number.
    """
    lines = enumerate(file, 1)
    number, line = next(lines, (1, ""))
    head = parsed(number, line)
    if head.get("format") != FORMAT:
        raise InvalidInput(
            f"line {number}: not the journal of a campaign in format {FORMAT}: "
            f"{shorten(line.strip())!r}"
        )
    wanted = 1
    for number, line in lines:
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
        if entry.seq != wanted:
            raise InvalidInput(f"line {number}: found entry {entry.seq!r}, expected entry {wanted}")
        yield entry
        wanted += 1
    if wanted == 1:
        raise InvalidInput("the journal has no entries")


def parsed(number: int, line: str) -> dict[str, Any]:
    """One line as an object."""
    try:
        facts = orjson.loads(line)
    except ValueError:
        facts = None
    if not isinstance(facts, dict):
        raise InvalidInput(f"line {number}: not JSON: {shorten(line.strip())!r}")
    return facts
