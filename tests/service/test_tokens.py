from __future__ import annotations

import errno
import os
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from purse.errors import InvalidInput, PurseError
from purse.service import tokens
from purse.service.tokens import TokenFile
from tests.support.service import token_file


def test_a_token_ends_at_its_time(tmp_path: Path) -> None:
    path, made = token_file(tmp_path, now=1000)
    clock = [1009.0]
    file = TokenFile(path, now=lambda: clock[0])
    assert file.principal(made["expired"]) == ("expired", "admin")
    clock[0] = 1010.0
    assert file.principal(made["expired"]) is None
    assert file.principal(made["act"]) == ("act", "act")


def test_the_file_holds_no_token_and_only_its_owner_reads_it(tmp_path: Path) -> None:
    path, made = token_file(tmp_path)
    text = path.read_text()
    for secret in made.values():
        assert (secret.startswith("purse_"), len(secret), secret[6:] in text) == (True, 49, False)
    assert path.stat().st_mode & 0o777 == 0o600
    tokens.revoke(path, "act")
    assert path.stat().st_mode & 0o777 == 0o600
    assert [token.name for token in tokens._read(path)] == ["read", "admin", "expired"]
    with pytest.raises(InvalidInput, match="there is a token of this name already"):
        tokens.new(path, "admin", "read", None, 0)
    path.write_text(path.read_text().rstrip("\n"))  # a missing newline is no harm
    secret = tokens.new(path, "later", "read", None, 0)
    assert TokenFile(path).principal(secret) == ("later", "read")


def test_a_file_is_changed_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, made = token_file(tmp_path)
    path.chmod(0o640)  # a service of the group reads it
    before = path.read_bytes()

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        for change in (
            partial(tokens.new, path, "b", "read", None, 0),
            partial(tokens.revoke, path, "act"),
        ):
            with pytest.raises(PurseError, match="No space left"):
                change()
            assert path.read_bytes() == before
    tokens.new(path, "b", "read", None, 0)
    assert path.read_bytes().startswith(before)
    assert path.stat().st_mode & 0o777 == 0o640
    assert TokenFile(path).principal(made["act"]) == ("act", "act")


def test_tokens_revoked_and_made_at_once_stay_so(tmp_path: Path) -> None:
    path, names = tmp_path / "t.jsonl", [f"t{number}" for number in range(8)]
    for _ in range(10):
        for name in names:
            tokens.new(path, name, "admin", None, 0)
        acts: list[Any] = [partial(tokens.revoke, path, name) for name in names]
        acts += [partial(tokens.new, path, f"n{name}", "read", None, 0) for name in names]
        with ThreadPoolExecutor(len(acts)) as pool:
            for done in [pool.submit(act) for act in acts]:
                done.result()
        assert {token.name for token in tokens._read(path)} == {f"n{name}" for name in names}
        path.unlink()
