"""Commands are made from methods: each verb has one, and each argument can be typed."""

import inspect
import re

import click
import pytest

from purse.campaign.account import Account
from purse.campaign.api.verb import _HERE, arguments_of, verbs
from purse.campaign.campaign import Campaign
from purse.cli import cli
from purse.cli.budgets import _ELSEWHERE
from purse.cli.made import _default_of, _flag
from purse.cli.option_texts import OPTIONS

WORD = re.compile("[A-Z]{2,}")


def commands(of: type[Campaign] | type[Account]) -> dict[str, click.Command]:
    group = cli.commands[of.KIND]
    assert isinstance(group, click.Group)
    return dict(group.commands)


@pytest.mark.parametrize("of", [Campaign, Account])
def test_every_verb_has_a_command_and_every_argument_can_be_typed(
    of: type[Campaign] | type[Account],
) -> None:
    for row in verbs(of):
        if row.name not in _ELSEWHERE:
            params = commands(of)[row.name.replace("_", "-")].params
            typed = {name for param in params for name in (*param.opts, param.name)}
            # such as VALUE in KEY[=VALUE]
            metavars = " ".join(param.metavar or "" for param in params)
            typed |= {word.lower() for word in WORD.findall(metavars)}
            arguments = row.arguments.values()
            assert [each for each in arguments if not {each.name, _flag(each)} & typed] == []


@pytest.mark.parametrize("of", [Campaign, Account])
def test_every_term_is_an_option_with_help_and_the_default_of_the_library(
    of: type[Campaign] | type[Account],
) -> None:
    made = commands(of)["new"]
    terms = [name for name in inspect.signature(of.create).parameters if name not in _HERE]
    assert [each.name for each in made.params][: len(terms)] == terms
    for each in arguments_of(of.create).values():
        option = next(param for param in made.params if param.name == each.name)
        if isinstance(option, click.Option):
            assert len(option.help or "") > 20
            assert _default_of(each) in (option.help or "")


def test_every_option_has_a_text_and_every_text_an_option() -> None:
    typed: set[tuple[str, str | None]] = set()
    for of in (Campaign, Account):
        for title, one in commands(of).items():
            params = {(title, param.name) for param in one.params}
            typed |= params | {(f"{of.KIND} {title}", name) for _, name in params}
            texts = OPTIONS.get(title, {}) | OPTIONS.get(f"{of.KIND} {title}", {})
            helps = {
                param.name: param.help for param in one.params if isinstance(param, click.Option)
            }
            assert all((helps.get(name) or text).startswith(text) for name, text in texts.items())
            assert all(len(text or "") > 10 for text in helps.values())
    assert {(title, name) for title, texts in OPTIONS.items() for name in texts} <= typed


def test_help_speaks_as_a_command_line_does() -> None:
    for of in (Campaign, Account):
        for name, made in commands(of).items():
            text = made.get_help(click.Context(made, info_name=name))
            assert not [word for word in ("None", "`create`", "return", "as for") if word in text]
