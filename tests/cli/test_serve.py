"""`purse token ...` and `purse webhook ...`."""

import base64
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from purse.cli.serve import token as token_command
from purse.errors import InvalidInput
from purse.service.tokens import TokenFile
from tests.support.cli import Command
from tests.support.receiver import SECRET, answering, receiver, spent

STORED = "sqlite:///purse.db"


@pytest.fixture
def campaign(command: Command, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("FINANCE", f"whsec_{base64.b64encode(SECRET).decode()}")
    return spent("p", STORED)


def write(url: str, more: str = "allow_private = true") -> None:
    Path("webhooks.toml").write_text(
        f"[finance]\naddress = '{url}'\nsecret_env = 'FINANCE'\ncampaigns = ['*']\n{more}\n"
    )


def test_what_is_due_is_sent_once(command: Command, campaign: Any) -> None:
    with receiver() as made:
        write(made.url)
        none = "finance: 0 delivered, 0 failed, 0 waiting, 0 skipped\n"
        assert command("webhook run webhooks.toml --once") == (0, none, "")
        campaign.top_up(1)
        for said in ("finance: 1 delivered, 0 failed, 0 waiting, 0 skipped\n", none):
            assert command("webhook run webhooks.toml --once") == (0, said, "")
        made.reply = answering(b"HTTP/1.1 500 X\r\n\r\n")
        campaign.top_up(1)
        said = command("webhook run webhooks.toml --once")[1]
        assert said == "finance: 0 delivered, 1 failed, 1 waiting, 0 skipped\n"
    assert made.keys == ["1%:0/0/1", "1%:0/0/2"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_follows_until_it_is_told_to_end(
    command: Command, campaign: Any, number: signal.Signals
) -> None:
    with receiver() as made:
        write(made.url)
        assert command("webhook run webhooks.toml --once")[0] == 0
        words = [sys.executable, "-m", "purse", "webhook", "run", "webhooks.toml"]
        with subprocess.Popen(words, stderr=subprocess.PIPE, text=True, env=os.environ) as follows:
            assert follows.stderr is not None
            assert follows.stderr.readline() == "following for finance\n"
            campaign.top_up(1)
            assert made.arrived.wait(60)
            follows.send_signal(number)
            assert (follows.wait(60), follows.stderr.read()) == (0, "")
    assert made.keys == ["1%:0/0/1"]


def test_mistakes_are_one_line_that_shows_no_secret(command: Command, campaign: Any) -> None:
    cases = {
        "ftp://sesame/": "finance.address: must look like https://HOST/PATH",
        "https://127.0.0.1/sesame": "finance.address: must be https and on the public internet",
    }
    for url, words in cases.items():
        write(url, "")
        code, out, err = command("webhook run webhooks.toml --once")
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert words in err
        assert "sesame" not in err
    write("https://hooks.example.com/")
    code, _, err = command("webhook run webhooks.toml --once --storage sqlite:///none.db")
    assert (code, err.count("\n")) == (2, 1)
    assert "none.db" in err
    assert not Path("none.db").exists()


def test_the_command_makes_lists_and_revokes(tmp_path: Path) -> None:
    file = str(tmp_path / "t.jsonl")
    run = CliRunner()
    made = run.invoke(token_command, ["new", "bot", "--role", "act", "--tokens", file])
    secret = made.stdout.strip()
    assert made.exit_code == 0
    assert "'bot' has the role act and expires 20" in made.stderr
    assert TokenFile(Path(file)).principal(secret) == ("bot", "act", None)
    again = run.invoke(token_command, ["rotate", "bot", "--tokens", file])
    assert "'bot' has the role act and expires 20" in again.stderr
    assert TokenFile(Path(file)).principal(again.stdout.strip()) == ("bot", "act", None)
    team = ["new", "team", "--role", "read", "--only", "a", "--only", "b", "--tokens", file]
    assert (
        "'team' has the role read in a, b alone and expires"
        in run.invoke(token_command, team).stderr
    )
    boss = ["new", "boss", "--role", "admin", "--expires", "never", "--tokens", file]
    assert run.invoke(token_command, boss).exit_code == 0
    listed = run.invoke(token_command, ["list", "--tokens", file]).stdout.splitlines()
    assert [line.split("\t")[:2] for line in listed] == [
        ["bot", "act"],
        ["bot", "act"],
        ["team", "read"],
        ["boss", "admin"],
    ]
    assert [line.split("\t")[4][:4] for line in listed] == ["used", "used", "neve", "neve"]
    assert [line.split("\t")[5] for line in listed] == ["everything"] * 2 + ["a, b", "everything"]
    assert secret not in "".join(listed)
    assert run.invoke(token_command, ["revoke", "bot", "--tokens", file]).exit_code == 0
    assert TokenFile(Path(file)).principal(secret) is None
    for words in (
        ["revoke", "bot", "--tokens", file],
        ["new", "x", "--role", "act", "--expires", "0d", "--tokens", file],
        ["new", "x", "--role", "act", "--expires", "99999w", "--tokens", file],
        ["list", "--tokens", file + "?"],
    ):
        assert isinstance(run.invoke(token_command, words).exception, InvalidInput)
    for word in ("soon", "90"):
        words = ["new", "x", "--role", "act", "--expires", word, "--tokens", file]
        assert f"'{word}' is not a time" in run.invoke(token_command, words).stderr
