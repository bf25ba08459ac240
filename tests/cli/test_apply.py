"""`purse apply FILE`: the difference, twice, cut off in the middle, and what is refused."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from purse import Account, Campaign
from purse.campaign.webhooks.file import read_file
from tests.support.cli import Command, check_mistake
from tests.support.paths import ROOT

STORED = "sqlite:///purse.db"
PAGE = (ROOT / "docs" / "budgets.md").read_text()
FILE = PAGE.split(":caption: budgets.toml\n\n")[1].split("```")[0]
NAMES = ("acme", "search", "prompts")
RECEIVER = '[webhooks.ops]\naddress_env = "HOOK"\nformat = "slack"\ncampaigns = ["*"]\n'
# the file with these changes asks for more than it may
REFUSED = {
    "[accounts.acme]": ("[account.acme]", "unknown section 'account'; did you mean 'accounts'"),
    'every = "month"\nalerts': ("evry = 1\nalerts", "unknown field of create 'evry'"),
    "budget = 500": ("budget = 500\nexist_ok = true", "[accounts.acme]: unknown field 'exist_ok'"),
    'account = "search"': ('account = "sarch"', "there is no account 'sarch'"),
    "[accounts.search]": ("[accounts.prompts]", "there is no account 'search'"),
    "budget = 150": ("budget = -1", "campaign 'prompts': budget="),
    'resources = ["USD"]': ('account = "search"', "there is no account 'search'"),
    "small = 0.01": ("small = {}", "campaign 'prompts': "),
    'alerts = ["80%"': ('alerts = ["0%"', "campaign 'prompts': alerts="),
    "large = 0.05": ("large = 0.05\n[webhooks.x]\nurl = 1", "x: unknown key 'url'"),
    "[campaigns.prompts.arms]": ("[campaigns]\nx = 1\n[arms]", "unknown section 'arms'"),
}


def write(text: str = FILE) -> None:
    Path("budgets.toml").write_text(text)


def journals() -> dict[str, list[tuple[str, Any]]]:
    """What each entry says, without what chance and clocks have a part in."""
    of: dict[str, type[Any]] = {"prompts": Campaign}
    gone = ("id", "seed", "first_end")
    return {
        name: [
            (entry.kind, {key: entry.body[key] for key in entry.body if key not in gone})
            for entry in of.get(name, Account).open(name, storage=STORED).journal()
        ]
        for kind in (Account, Campaign)
        for name in kind.names(storage=STORED)
    }


def test_the_page_works_as_pasted(command: Command, tmp_path: Path) -> None:
    """And the second run of each file writes nothing."""
    assert len(PAGE.split()) <= 400
    write()
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    screen = PAGE.split("```console\n")[1].split("```")[0]
    words = "\n".join(line[2:] for line in screen.splitlines() if line.startswith("$ "))
    said = "".join(f"{line}\n" for line in screen.splitlines() if not line.startswith("$ "))
    shell = subprocess.run(
        ["bash", "-c", words], env={**os.environ, "PATH": path}, stdout=-1, text=True
    )
    assert shell.stdout == said
    assert command("apply budgets.toml")[1] == said[said.rindex("~ account") :]
    before = journals()
    assert command("apply budgets.toml") == (0, "nothing to change\n", "")
    assert journals() == before
    assert [kind for kind, _ in before["prompts"]] == ["created", "arm_changed"]
    assert [kind for kind, _ in before["search"]] == ["created", "budget_set"]


def test_a_run_that_was_killed_is_finished_by_the_next(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After each of its steps; the journals are those of a run that nobody killed."""
    write()
    command("apply budgets.toml")
    whole = journals()
    killed = (
        "import os, signal, sys\nfrom purse import Account, Campaign, cli\n"
        "left, own = [int(sys.argv.pop())], Account._create.__func__\n"
        "def create(cls, arguments):\n"
        "    made, left[0] = own(cls, arguments), left[0] - 1\n"
        "    return made if left[0] else os.kill(os.getpid(), signal.SIGKILL)\n"
        "Account._create = Campaign._create = classmethod(create)\ncli.main()\n"
    )
    for steps in (1, 2):
        for file in Path().glob("purse.db*"):
            file.unlink()
        done = subprocess.run([sys.executable, "-c", killed, "apply", "budgets.toml", str(steps)])
        assert done.returncode == -signal.SIGKILL
        assert set(journals()) == set(NAMES[:steps])
        said = command("apply budgets.toml")[1]
        assert [line[2:].split()[1] for line in said.splitlines() if line[0] == "+"] == [
            *NAMES[steps:]
        ]
        assert journals() == whole


@pytest.mark.parametrize("old", REFUSED)
def test_a_file_with_a_mistake_writes_nothing(command: Command, tmp_path: Path, old: str) -> None:
    new, said = REFUSED[old]
    assert FILE.count(old) == 1
    write(FILE.replace(old, new))
    check_mistake(command, tmp_path, "apply budgets.toml", said)


def test_what_is_stored_is_checked_before_anything_is_written(command: Command) -> None:
    write()
    command("apply budgets.toml")
    before = journals()
    other = FILE.replace("budget = 200", "budget = 9").replace("[campaigns.prompts", "[campaigns.p")
    for text, said in (
        (FILE.replace("budget = 200", 'budget = 9\nevery = "day"'), "with other every than"),
        (other.replace("[campaigns.p", "[campaigns.acme"), "there is account 'acme' already"),
    ):
        write(text)
        found, out, err = command("apply budgets.toml")
        assert (found, out, said in err) == (2, "", True), err
    write(other)
    Account.open("acme", storage=STORED).end()
    assert "account 'acme' has ended" in command("apply budgets.toml")[2]
    ended = journals()
    assert {**ended, "acme": ended["acme"][:1]} == before
    assert (
        "must be the database's own address"
        in command("apply budgets.toml --storage http://127.0.0.1:1")[2]
    )


def test_a_server_takes_the_receivers_from_the_same_file(tmp_path: Path) -> None:
    path = tmp_path / "budgets.toml"
    path.write_text(FILE + RECEIVER)
    assert [one.name for one in read_file(path, {"HOOK": "https://hooks.slack.com/x"})] == ["ops"]
