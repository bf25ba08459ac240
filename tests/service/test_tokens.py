import errno
import json
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
    assert file.principal(made["expired"]) == ("expired", "admin", None)
    clock[0] = 1010.0
    assert file.principal(made["expired"]) is None
    assert file.principal(made["act"]) == ("act", "act", None)


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
    assert TokenFile(path).principal(secret) == ("later", "read", None)


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
    assert TokenFile(path).principal(made["act"]) == ("act", "act", None)


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


def test_a_scope_is_names_and_older_lines_reach_everything(tmp_path: Path) -> None:
    path, made = token_file(tmp_path)
    assert "only" not in path.read_text()  # which an earlier purse would not know
    secret = tokens.new(path, "team", "act", None, 0, ["team-a", "prompts"])
    assert TokenFile(path).principal(secret) == ("team", "act", ("team-a", "prompts"))
    assert TokenFile(path).principal(made["admin"]) == ("admin", "admin", None)
    for only in ([], ["no name"], "team-a", [1]):
        with pytest.raises(InvalidInput, match=r"^only="):
            tokens.new(path, "other", "act", None, 0, only)
        line = json.loads(path.read_text().splitlines()[-1])
        (tmp_path / "edited").write_text(json.dumps({**line, "only": only}))
        with pytest.raises(InvalidInput, match=r"line 1 of .* is not a token"):
            TokenFile(tmp_path / "edited").current()


def test_two_tokens_of_a_name_are_good_for_a_while(tmp_path: Path) -> None:
    path, clock = tmp_path / "t.jsonl", [0.0]
    file = TokenFile(path, now=lambda: clock[0])
    secrets = [tokens.new(path, "bot", "act", 1000, 0, ["team-a"])]
    other = tokens.new(path, "other", "read", None, 0)
    for now in (100, 110):
        secrets.append(tokens.rotate(path, "bot", None, 50, now))
    clock[0] = 110
    good = ("bot", "act", ("team-a",))
    assert [file.principal(secret) for secret in secrets] == [None, good, good]
    clock[0] = 160
    assert [file.principal(secret) for secret in secrets] == [None, None, good]
    tokens.revoke(path, "bot")
    assert [file.principal(secret) for secret in (*secrets, other)][3:] == [("other", "read", None)]
    assert file.principal(secrets[-1]) is None
    with pytest.raises(InvalidInput, match="bot"):
        tokens.rotate(path, "bot", None, 50, 0)


def test_the_last_use_is_noted_once_a_minute_beside_the_file(tmp_path: Path) -> None:
    path, made = token_file(tmp_path)
    clock = [1000.0]
    file = TokenFile(path, now=lambda: clock[0])
    act = next(token for token in file.current() if token.name == "act")
    assert file.last_used(act) == ""
    for now, noted in ((1000, 1000), (1059, 1000), (1060, 1060)):
        clock[0] = now
        assert file.principal(made["act"])
        assert file.last_used(act) == tokens._moment(noted)
    assert TokenFile(path).last_used(act) == tokens._moment(1060)  # another process
    used = tmp_path / "tokens.jsonl.used"
    assert used.stat().st_mode & 0o777 == 0o700
    assert made["act"] not in str(list(used.iterdir()))
    for each in used.iterdir():
        each.unlink()
    used.rmdir()
    used.touch()  # a folder that cannot be made is no reason to refuse
    clock[0] = 2000
    assert file.principal(made["act"])
