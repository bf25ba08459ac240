"""Reads exported journals: JSON lines, the first of which says what they are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any

import orjson

from purse.campaign.entry import Entry
from purse.campaign.journal import FORMAT
from purse.errors import InvalidInput, PurseError, shorten

FIELDS = ("seq", "at", "kind", "request", "ticket", "body")  # of a line
LONGEST_HEAD = 4_096  # bytes of the first line


def read_journal(file: str | Path | IO[str]) -> Iterator[Entry]:
    """Yield the entries of an export, from a path or an open text file.

    Raise `InvalidInput`, which names the line, if the file cannot be read or is no journal.
    """
    if not isinstance(file, (str, Path)):
        yield from read_lines(file)
        return
    try:
        with Path(file).open(encoding="utf-8") as lines:
            yield from read_lines(lines)
    except OSError as error:
        raise InvalidInput(f"cannot read {str(file)!r}: {error.strerror}") from None
    except UnicodeError:
        raise InvalidInput(f"cannot read {str(file)!r}: it is not text") from None


def is_journal(path: Path) -> bool:
    """Whether a file is the export of a campaign, which its first line says, whatever its name."""
    try:
        with path.open("rb") as file:
            head = parsed(1, file.readline(LONGEST_HEAD).decode())
    except (OSError, UnicodeDecodeError, PurseError):
        return False
    return {"purse", "format", "campaign"} <= set(head)


def read_lines(file: Iterable[str]) -> Iterator[Entry]:
    """Yield the entries of a journal, line by line."""
    lines = enumerate(file, 1)
    line = next(lines, (1, ""))[1]
    if parsed(1, line).get("format") != FORMAT:
        raise InvalidInput(
            f"line 1: not the journal of a campaign in format {FORMAT}: {shorten(line.strip())!r}"
        )
    last = 0
    for number, line in lines:
        if line.strip():
            last += 1
            yield entry_of(number, line, last)
    if last == 0:
        raise InvalidInput("the journal has no entries")


def entry_of(number: int, line: str, seq: int) -> Entry:
    """Return the entry of a line, which has to have this number in its journal."""
    facts = parsed(number, line)
    if set(facts) != set(FIELDS):
        raise InvalidInput(
            f"line {number}: an entry has {', '.join(FIELDS)}, not {', '.join(facts)}"
        )
    if type(facts["seq"]) is not int or facts["seq"] != seq:
        raise InvalidInput(f"line {number}: found entry {facts['seq']!r}, expected entry {seq}")
    if not isinstance(facts["kind"], str) or not isinstance(facts["body"], dict):
        raise InvalidInput(f"line {number}: unknown kind of entry {facts['kind']!r}")
    return Entry.of(**facts)


def parsed(number: int, line: str) -> dict[str, Any]:
    """Return one line as an object."""
    try:
        facts = orjson.loads(line)
    except ValueError:
        facts = None
    if not isinstance(facts, dict):
        raise InvalidInput(f"line {number}: not JSON: {shorten(line.strip())!r}")
    return facts
