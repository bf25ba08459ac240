"""The file at which processes queue up: whose it is, and who may lock it.

Whoever can open it can keep everybody waiting. So nobody may who could not write the database, and
a file that somebody else put there is refused.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress

from purse.errors import StorageUnavailable

PRIVATE = 0o600


def open_lock_file(path: str, like: str) -> int:
    """Open the lock file, and make it where it is missing; return its descriptor.

    path   of the lock file; a symbolic link is not followed
    like   the path of the database; the lock file gets its owner and group

    Raise `StorageUnavailable` where it is no plain file, has another name, or belongs to somebody
    who may not write the database.
    """
    try:
        database: os.stat_result | None = os.stat(like)
    except FileNotFoundError:
        database = None
    mode = PRIVATE if database is None else writers_only(database.st_mode)
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    file = os.open(path, flags, mode)
    try:
        found = os.fstat(file)
        if not stat.S_ISREG(found.st_mode) or found.st_nlink != 1:
            raise StorageUnavailable(f"{path} must be a plain file with one name; remove it")
        if database is not None:
            adopt(file, database, mode)
            check_owner(path, os.fstat(file), like, database)
    except BaseException:
        os.close(file)
        raise
    return file


def adopt(file: int, database: os.stat_result, mode: int) -> None:
    """Give the lock file the owner, group and rights of the database, as far as we may."""
    found = os.fstat(file)
    with suppress(PermissionError):
        if os.geteuid() == 0 and found.st_uid != database.st_uid:
            os.fchown(file, database.st_uid, -1)
        if found.st_gid != database.st_gid and os.geteuid() in (0, found.st_uid):
            os.fchown(file, -1, database.st_gid)
    if os.geteuid() in (0, found.st_uid) and stat.S_IMODE(found.st_mode) != mode:
        os.fchmod(file, mode)


def check_owner(path: str, found: os.stat_result, like: str, database: os.stat_result) -> None:
    """Refuse a lock file that was put there by somebody who may not write the database."""
    is_trusted = (
        found.st_uid in (0, database.st_uid)
        or (database.st_mode & stat.S_IWGRP and found.st_gid == database.st_gid)
        or database.st_mode & stat.S_IWOTH
    )
    if not is_trusted:
        raise StorageUnavailable(
            f"{path} belongs to user {found.st_uid}, who may not write {like}; remove it"
        )


def writers_only(mode: int) -> int:
    """Leave out the rights of those who may read and not write.

    >>> oct(writers_only(0o644)), oct(writers_only(0o664))
    ('0o600', '0o660')
    """
    return sum(0o6 << place for place in (6, 3, 0) if (mode >> place) & 0o6 == 0o6)
