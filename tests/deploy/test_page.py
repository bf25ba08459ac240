"""The commands of the page on operations are ones that purse, the compose file and shells take."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest
import yaml

from purse import Campaign
from purse.cli import cli
from tests.support.deployment import PAGE, commands, read_yaml, settings_of
from tests.support.paths import ROOT

TEXT = PAGE.read_text()
COMPOSE = read_yaml("compose.yaml")
VERBS = ("build", "run", "up", "exec", "stop", "start")


def arguments_of_purse() -> list[list[str]]:
    """What the page gives to the command, on this machine and in containers."""
    found = []
    for line in commands(TEXT):
        words = line[: line.index(">")] if ">" in line else line
        plain = [word for word in words if not word.startswith("-")]
        in_container = plain[:4] in (
            ["docker", "compose", "exec", "purse"],
            ["docker", "compose", "run", "purse"],
        )
        # without arguments it is the image's command
        if in_container or (words[:2] == ["docker", "run"] and words[-1] != "purse"):
            # `exec` names the service and the program; `run` has the image's entry point
            found.append(words_after(words, 2 if "exec" in words else 1))
        elif "/opt/purse/bin/purse" in words:
            found.append(words[words.index("/opt/purse/bin/purse") + 1 :])
    return found


def words_after(words: list[str], count: int) -> list[str]:
    """The words after `purse` has come so often."""
    places = [place for place, word in enumerate(words) if word == "purse"]
    return words[places[count - 1] + 1 :]


@pytest.mark.parametrize("words", arguments_of_purse(), ids=" ".join)
def test_purse_takes_the_commands_of_the_page(words: list[str]) -> None:
    command: click.Command = cli
    context = click.Context(cli)
    while isinstance(command, click.Group):
        _, found, words = command.resolve_command(context, words)
        assert found is not None
        command = found
    command.make_context(command.name, words)  # raises where it does not know a word


def test_services_and_verbs_of_compose_are_known() -> None:
    lines = [words for words in commands(TEXT) if words[:2] == ["docker", "compose"]]
    assert (len(lines) >= 12, len(arguments_of_purse()) >= 8) == (True, True)
    for words in lines:
        assert words[2] in VERBS
        named = [word for word in words[3:] if not word.startswith("-")]
        if named:
            assert named[0] in COMPOSE["services"]


def test_the_files_that_the_commands_write_are_those_that_compose_reads() -> None:
    (token,) = (words for words in commands(TEXT) if "prometheus" in words)
    (secret,) = COMPOSE["secrets"].values()
    assert token[-2:] == [">", secret["file"].removeprefix("./")]
    assert "-T" in token  # else the terminal's line ends, and the words on stderr, are in the file
    wanted = set(re.findall(r"\$\{(\w+):", str(COMPOSE)))
    assert wanted == set(re.findall(r"([A-Z_]+)=%s", TEXT))


def test_the_command_behind_a_proxy_is_taken() -> None:
    (block,) = re.findall(r"```yaml\n(services:.*?)```", TEXT, re.DOTALL)
    settings = settings_of(yaml.safe_load(block)["services"]["purse"]["command"])
    assert settings.trusted_proxies == ("172.16.0.0/12",)


def test_files_that_the_page_names_exist() -> None:
    named = set(re.findall(r"`((?:deploy|examples)/[\w./-]+)`", TEXT))
    assert len(named) >= 3
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_bash_completes_a_verb_with_the_script_that_the_page_has_printed(tmp_path: Path) -> None:
    for shell in ("bash", "zsh", "fish"):
        source = f"_PURSE_COMPLETE={shell}_source"
        assert [words[1:3] for words in commands(TEXT) if words[0] == source] == [["purse", ">"]]
    program, script = tmp_path / "purse", tmp_path / "script"
    printed = subprocess.run(
        ["env", "_PURSE_COMPLETE=bash_source", sys.executable, "-m", "purse"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    program.write_text(f"#!/bin/sh\nexec {shlex.quote(sys.executable)} -m purse\n")
    program.chmod(0o700)
    script.write_text(printed)
    typed = "COMP_WORDS=(purse camp); COMP_CWORD=1"
    code = f'source {script}; {typed}; _purse_completion {program}; echo "${{COMPREPLY[@]}}"'
    done = subprocess.run(["bash", "-c", code], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("campaign\n", "")


def test_the_backup_of_a_file_is_whole_while_it_is_used_and_for_its_owner(tmp_path: Path) -> None:
    campaign = Campaign.create(
        "p", arms={"a": 1}, budget=5, storage=f"sqlite:///{tmp_path}/purse.db"
    )
    campaign.ask()
    (line,) = re.findall(r"`(\(umask .*?\))`", TEXT)
    line = line.replace("python", sys.executable)
    subprocess.run(["sh", "-c", line], cwd=tmp_path, check=True, timeout=60)
    backup = tmp_path / "backup.db"
    assert backup.stat().st_mode & 0o077 == 0
    campaign.ask()  # it goes on
    copy = Campaign.open("p", storage=f"sqlite:///{backup}")
    assert (copy.status().rounds, copy.audit().ok) == (1, True)


def test_each_storage_says_what_to_install() -> None:
    needed = TEXT.partition("\n### PostgreSQL\n")[2].partition("\n#")[0]
    assert '$ pip install ".[postgres]"\n' in needed
