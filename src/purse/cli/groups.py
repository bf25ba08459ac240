"""Groups of commands, whose help lists them by what they are for; and two of them: `campaign`, a
budget with its tickets, and `account`, one budget for many campaigns.
"""

from collections.abc import Callable, Mapping, MutableMapping, Sequence
from typing import Any, TypeAlias

import click

from purse.base.exit_codes import MEANINGS
from purse.errors import InvalidInput, unknown

_Commands: TypeAlias = Mapping[str, Sequence[click.Command]]  # by section


class Sections(click.Group):
    """A group whose commands come in sections, in the order in which they are given.

    with_codes   whether the help ends with the exit codes
    """

    def __init__(self, *args: Any, with_codes: bool = False, **options: Any) -> None:
        super().__init__(*args, **options)
        self.with_codes = with_codes
        self.sections: dict[str, list[str]] = {}

    def add_sections(self, sections: _Commands) -> None:
        """Add commands under the titles of their sections."""
        for title, commands in sections.items():
            self.sections[title] = [str(command.name) for command in commands]
            for command in commands:
                self.add_command(command)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command of the first word.

        Raise `InvalidInput` for an unknown one, with the groups that have a command of this name.
        """
        name = args[0]
        if self.get_command(ctx, name) is None and not ctx.resilient_parsing:
            places = [
                f"'{ctx.command_path} {group} {name}'"
                for group, command in self.commands.items()
                if isinstance(command, click.Group) and name in command.commands
            ]
            if places:
                hint = " or ".join(places)
                raise InvalidInput(f"unknown command {name!r}; did you mean {hint}?")
            raise unknown("command", name, self.commands)
        return super().resolve_command(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands, section by section."""
        return list(self.commands)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands, section by section."""
        width = max(map(len, self.commands))
        room = formatter.width - width - 6
        for title, names in self.sections.items():
            rows = [
                (name.ljust(width), self.commands[name].get_short_help_str(room)) for name in names
            ]
            with formatter.section(title):
                formatter.write_dl(rows)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the exit codes, if the help has them."""
        if self.with_codes:
            with formatter.section("Exit codes"):
                formatter.write_dl([(str(code), words) for code, words in MEANINGS.items()])


class _Late(Sections):
    """A group whose commands are made when the first of them is needed, because that takes a while.

    make   returns the commands by section
    """

    def __init__(self, *args: Any, make: Callable[[], _Commands], **options: Any) -> None:
        self.make: Callable[[], _Commands] | None = None
        super().__init__(*args, **options)
        self.make = make

    @property
    def commands(self) -> MutableMapping[str, click.Command]:
        """The commands by name."""
        if self.make is not None:
            make, self.make = self.make, None
            self.add_sections(make())
        return self._by_name

    @commands.setter
    def commands(self, commands: MutableMapping[str, click.Command]) -> None:
        self._by_name = commands


def _account_commands() -> _Commands:
    from purse.campaign.account import Account
    from purse.cli import budgets, reconcile, statement
    from purse.cli.made import command

    new = command(Account, "create", "new")
    keep = [budgets.export(Account), command(Account, "audit"), reconcile.command(Account)]
    keep.append(statement.statement)
    return budgets.sections(Account, {budgets.SPEND: [new], budgets.KEEP: keep})


@click.group(cls=_Late, with_codes=True, make=_account_commands)
def account() -> None:
    """Share a budget: one account for many campaigns, and for accounts below it.

    \b
    purse account new company --budget 1000 --resource USD
    purse account new team-a --budget 300 --account company
    purse campaign new prompts --account team-a --budget 100 \\
        --arm small=0.01 --arm large=0.05
    purse account status company         what is left on each level
    """  # noqa: D301 - click reads the backspace as: keep these lines


def _campaign_commands() -> _Commands:
    from purse.cli.campaign import commands

    return commands()


@click.group(cls=_Late, with_codes=True, make=_campaign_commands)
def campaign() -> None:
    """Spend a real budget: ask for an arm, and tell its reward and cost.

    \b
    purse campaign new prompts --arm small=0.01 --arm large=0.05 --budget 25
    purse campaign ask prompts              ticket, arm, probability, held
    purse campaign ask prompts --arm small  only this arm may be chosen
    purse campaign tell prompts 1 --reward 0.93 --cost 0.0021
    purse campaign watch prompts
    """  # noqa: D301 - click reads the backspace as: keep these lines
