"""The errors of SQLite and of the file system, as those of a storage."""

from __future__ import annotations

import apsw

from purse.errors import PurseError, StorageUnavailable


class TranslatedErrors:
    """A context, which can be entered again within itself, that raises errors of SQLite and of the
    file system as `PurseError` and `StorageUnavailable`. As a generator it would take six times as
    long, in every transaction.
    """

    def __init__(self, path: str) -> None:
        self._path = path

    def __enter__(self) -> None:
        """Nothing is to be done."""

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        """Translate the error."""
        if isinstance(error, apsw.ConstraintError):
            raise PurseError(
                f"{self._path} rejected the write: it would violate a constraint ({error})"
            ) from error
        if isinstance(error, (apsw.Error, OSError)):
            raise StorageUnavailable(f"{self._path}: {error}") from error
