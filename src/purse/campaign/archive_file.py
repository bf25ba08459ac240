"""Files with archived entries: written beside a campaign, and read back in their place.

An archive is a journal like an export, of a range of entries; its first line says which.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from purse.campaign.journal import Entry, chain, read_head, read_lines
from purse.errors import InvalidInput


class Archive(NamedTuple):
    """An archive file, as its first line describes it."""

    path: Path
    first: int  # entry
    last: int


def describe(path: str | Path) -> Archive:
    """Read which entries an archive holds. Raise `InvalidInput` where it is not one."""
    with open_text(path) as lines:
        head = read_head(lines)
    first, last = head.get("first"), head.get("last")
    if not isinstance(first, int) or not isinstance(last, int):
        raise InvalidInput(f"{str(path)!r} is a journal, and not an archive of one")
    return Archive(Path(path), first, last)


def complete(
    entries: Iterable[Entry], archives: Sequence[str | Path], after: int = 0
) -> Iterator[Entry]:
    """Yield the entries of a journal without a gap, with archived ones from their files.

    after   the entry before the first one wanted

    Raise `InvalidInput`, which names the range, where no file has the entries that are missing, and
    where a file is not the one that the journal speaks of.
    """
    known = sorted((describe(path) for path in archives), key=lambda each: each.first)
    digests: dict[int, str] = {}  # at the ends of archives, where all before is known
    digest = "" if after == 0 and known else None  # nobody compares it where there are no archives
    wanted = after + 1
    for entry in entries:
        while wanted < entry.seq:
            archive = next((each for each in known if each.first <= wanted <= each.last), None)
            if archive is None:
                raise InvalidInput(missing(wanted, entry.seq - 1))
            for old in read_archive(archive, wanted):
                yield old
                digest = None if digest is None else chain(digest, old)
                wanted = old.seq + 1
            if digest is not None:
                digests[archive.last] = digest
        if entry.seq < wanted:
            continue  # it stayed in the journal, and was in the archive, too
        if entry.kind == "archived":
            check_digest(entry.body["file"], digests)
        yield entry
        digest = None if digest is None else chain(digest, entry)
        wanted = entry.seq + 1


def missing(first: int, last: int) -> str:
    """Say that entries are missing.

    >>> missing(2, 2), missing(2, 9)
    ('entry 2 is missing: give the archive that holds it', \
'entries 2 to 9 are missing: give the archives that hold them')
    """
    return (
        f"entry {first} is missing: give the archive that holds it"
        if first == last
        else f"entries {first} to {last} are missing: give the archives that hold them"
    )


def read_archive(archive: Archive, wanted: int) -> Iterator[Entry]:
    """Yield the entries of an archive from one on."""
    with open_text(archive.path) as lines:
        count = archive.first
        for entry in read_lines(lines):
            if entry.seq != count:
                raise InvalidInput(
                    f"{str(archive.path)!r}: found entry {entry.seq}, expected entry {count}"
                )
            count += 1
            if entry.seq >= wanted:
                yield entry
    if count != archive.last + 1:
        raise InvalidInput(f"{str(archive.path)!r} ends before entry {archive.last}")


def check_digest(file: dict[str, Any], digests: dict[int, str]) -> None:
    """Refuse an archive that is not the one that the journal speaks of."""
    if digests.get(file["last"], file["digest"]) != file["digest"]:
        raise InvalidInput(
            f"entries {file['first']} to {file['last']} are not those that were archived: their "
            f"digest is not the one of {file['name']!r}"
        )


def read_journal(path: str | Path) -> Iterator[Entry]:
    """Yield the entries of an exported journal."""
    with open_text(path) as lines:
        yield from read_lines(lines)


def open_text(path: str | Path) -> Any:
    """Open a text file to read; raise `InvalidInput` where that is not possible."""
    try:
        return Path(path).open(encoding="utf-8")
    except OSError as error:
        raise InvalidInput(f"cannot read {str(path)!r}: {error.strerror}") from None
