"""Options from the environment and from a file, and which variables are said to be ignored."""

import os
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from purse.cli import cli
from purse.cli.environment import PREFIX, _variables
from tests.support.cli import Command, check_mistake

IGNORED = "is ignored: no option has this name; did you mean"
# what a file says, and the complaint
WRONG = {
    "[serve]\nprot = 1": "unknown key 'serve.prot'; did you mean 'serve.port'?",
    "[sevre]\nport = 1": "unknown key 'sevre'; did you mean 'serve'?",
    "port = 1": "unknown key 'port'",
    "[serve.port]\nx = 1": "unknown key 'serve.port'",
    "[serve]\nport = 'x'": "'x' is not a valid integer",
    "[serve": "purse.toml: ",
}


def leaves(command: click.Command, context: click.Context) -> Iterator[click.Context]:
    yield context
    for name, below in getattr(command, "commands", {}).items():
        made = click.Context(below, parent=context, info_name=name)
        yield from leaves(below, made)


def test_every_option_of_every_command_has_the_name_that_click_gives_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    known, seen = set(_variables(cli, PREFIX)), 0
    for name in known:
        monkeypatch.setenv(name, f"value of {name}")
    monkeypatch.delenv("PURSE_STORAGE")  # which every command shares
    top = click.Context(cli, info_name="purse", auto_envvar_prefix=PREFIX)
    for context in leaves(cli, top):
        for part in context.command.params:
            if isinstance(part, click.Option) and part.allow_from_autoenv:
                own = f"{context.auto_envvar_prefix}_{part.name}".upper()
                assert part.resolve_envvar_value(context) == f"value of {own}"
                assert own in known
                seen += 1
    assert seen > 200
    assert {"PURSE_SERVE_PORT", "PURSE_PORT", "PURSE_HOST", "PURSE_CAMPAIGN_NEW_BUDGET"} <= known


def test_what_is_typed_comes_first_then_the_environment_then_the_file(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("purse.toml").write_text(
        'storage = "sqlite:///own.db"\n[campaign.new]\nbudget = 25\npolicy = "uniform"\n'
        'arm = ["small=0.01", "large=0.05"]\ncost-min = ["0.001"]\n[account.new]\nbudget = 3\n'
    )
    monkeypatch.delenv("PURSE_STORAGE", raising=False)
    monkeypatch.setenv("PURSE_CONFIG", "purse.toml")
    for name, words, budget in (("a", "", 25), ("b", "", 7), ("c", "--budget 5", 5)):
        if name == "b":
            monkeypatch.setenv("PURSE_CAMPAIGN_NEW_BUDGET", "7")
        code, out, err = command(f"campaign new {name} {words}")
        assert (code, f"of {budget}," in out) == (0, True), err
    assert Path("own.db").exists()
    monkeypatch.setenv("PURSE_STORAGE", "sqlite:///other.db")
    assert command("account new d")[0] == 0
    assert Path("other.db").exists()


@pytest.mark.parametrize("text", WRONG)
def test_mistakes_in_the_file_are_named(command: Command, tmp_path: Path, text: str) -> None:
    Path("purse.toml").write_text(text)
    words = "--config purse.toml serve" if "port = 'x'" in text else "--config purse.toml policies"
    check_mistake(command, tmp_path, words, WRONG[text])


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("PURSE_PORT", "tcp://10.0.0.1:80", "PURSE_PORT=tcp://10.0.0.1:80 is ignored: Kubernetes"),
        ("PURSE_SERVE_PORT", "udp://10.0.0.1", "is ignored: Kubernetes sets it for a service"),
        ("PURSE_SERVE_PROT", "8055", f"PURSE_SERVE_PROT {IGNORED} PURSE_SERVE_PORT?"),
        ("PURSE_STORAG", "sqlite:///x.db", f"PURSE_STORAG {IGNORED} PURSE_STORAGE?"),
        ("PURSE_SERVICE_PORT", "80", ""),
        ("PURSE_PORT_80_TCP", "tcp://10.0.0.1:80", ""),
        ("PURSE_FINANCE_SECRET", "whsec_x", ""),
        ("PURSE_VERSION", "3", ""),
    ],
)
def test_a_variable_without_effect_is_one_line(
    command: Command, monkeypatch: pytest.MonkeyPatch, name: str, value: str, said: str
) -> None:
    monkeypatch.setenv(name, value)
    code, out, err = command("serve --grafana")
    assert (code, out[:1], err.count("\n")) == (0, "{", bool(said))
    assert said in err


def test_serve_listens_where_the_environment_says(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PURSE_HOST", "0.0.0.0")
    assert "host='0.0.0.0': can be reached from other machines" in command("serve")[2]
    monkeypatch.setenv("PURSE_PORT", "99999")
    assert "port=99999: must be" in command("serve --host 127.0.0.1")[2]
    monkeypatch.setenv("PURSE_SERVE_PORT", "99998")
    assert "port=99998: must be" in command("serve --host 127.0.0.1")[2]
    assert "port=99997: must be" in command("serve --host 127.0.0.1 --port 99997")[2]
    assert os.environ["PURSE_PORT"] == "99999"
