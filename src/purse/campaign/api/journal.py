"""One entry of a journal, and a journal as JSON lines. This imports nothing heavy, for the client's
sake.
"""

from collections.abc import Callable, Iterable
from typing import IO, Annotated, Any, NamedTuple

from purse._version import __version__

FORMAT = 3  # of exported journals; 2 had no salts
CONTEXT, CLIPPED = _WORDS = ("context", "clipped")  # of what an ask has seen


class Entry(NamedTuple):
    """One line of the journal; amounts in it are whole numbers of units of 1e-9."""

    seq: int  # 1, 2, ... without a gap
    at: Annotated[int, "Milliseconds since 1970."]
    kind: str
    request: str | None
    ticket: int | None
    body: dict[str, Any]
    salt: Annotated[str | None, "Hex, of personal fields: the chain holds a hash of both."] = None


def write_as(
    dumps: Callable[[Any], str],
    file: IO[str],
    name: str,
    entries: Iterable[Entry],
    kind: str = "campaign",
    **more: Any,
) -> int:
    """Write a journal as JSON lines; return the number of entries. The first line says what the
    journal is, with `more` facts.

    dumps   writes a value as JSON on one line
    kind    of what the journal is: a campaign or an account
    """
    head = {"purse": __version__, "format": FORMAT, kind: name, **more}
    file.write(dumps(head) + "\n")
    count = 0
    for entry in entries:
        file.write(dumps(entry._asdict()) + "\n")
        count += 1
    return count


def without_contexts(body: dict[str, Any]) -> dict[str, Any]:
    """Return the body of an entry without what it says of contexts."""
    return {name: value for name, value in body.items() if name not in _WORDS}
