"""The command line: its verbs are those of the library.

Results go to stdout and everything else to stderr. `purse.base.exit_codes` has the exit codes.
"""

import io
import json
import logging
import os
import sys
from typing import Any

import click

from purse._version import __version__
from purse.base import exit_codes
from purse.base.problem_types import OF_ERRORS, facts, kind_of, of_error
from purse.base.text import legible
from purse.cli import (
    apply,
    catalog,
    demo,
    environment,
    lab,
    recommend,
    replay,
    serve,
    storage,
    study,
)
from purse.cli.groups import Sections, account, campaign
from purse.cli.options import PATH, option
from purse.errors import InvalidInput, PurseError

_LONGEST = 4_000  # characters of a complaint: it may quote what a server or a file says
# verbs that find again what they had computed
_CONTINUES = ("compare", "replay", "lab run")


@click.group(
    cls=Sections,
    with_codes=True,
    context_settings={
        "help_option_names": ["-h", "--help"],
        "max_content_width": 100,
        "auto_envvar_prefix": environment.PREFIX,
    },
)
@click.version_option(__version__, prog_name="purse", allow_from_autoenv=False)
@option(
    "--config FILE",
    "Values of options in TOML, as port = 8055 under [serve]; PURSE_SERVE_PORT comes before it.",
    type=PATH,
    callback=environment.configure,
    expose_value=False,
)
def cli() -> None:
    """Bandits with knapsacks: learn which option is worth it before the money runs out.

    \b
    purse demo                         20 seconds of made-up calls under a budget
    purse campaign new prompts --arm small=0.01 --arm large=0.05 --budget 25
    purse campaign ask prompts         spend a real budget: ask, tell, watch
    purse recommend prompts            which arm is best, and how sure is that?
    purse replay data.csv --budget 25  which policy would have spent it best?
    purse compare                      policies on four worlds
    purse compare exp3.bwk uniform -w misleading_ratio -b 1e3 -b 1e4
    purse policies exp3++.bwk          what a policy does, and its options
    purse lab                          simulations, studies in files, theory
    """  # noqa: D301 - click reads the backspace as: keep these lines


cli.add_sections(
    {
        "Spend a budget": [
            campaign,
            account,
            apply.apply,
            recommend.recommend,
            serve.serve,
            serve.token,
            serve.webhook,
            storage.storage,
            demo.demo,
        ],
        "Ask your own data": [replay.replay],
        "Compare policies": [study.compare, lab.lab],
        "Look up": [catalog.policies, catalog.warm],
    }
)


class _Terminal(logging.Handler):
    """Shows what the client of a server is waiting for, to those who wait with it."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write it to a terminal."""
        if sys.stderr.isatty():
            click.echo(f"purse: {record.getMessage()}", err=True)


logging.getLogger("purse.client").addHandler(_Terminal())


def main() -> None:
    """Run the command of the wheel."""
    execute(cli, "purse", sys.argv[1:] or ["--help"])


def execute(command: click.Command, name: str, words: list[str] | None = None) -> None:
    """Run a command; every mistake of the user is one line and an exit code.

    words   its arguments; None: those of this process
    """
    words = sys.argv[1:] if words is None else words
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # a terminal without ± is no reason to lose the table
            stream.reconfigure(errors="replace")
    as_json = "--json" in words
    try:
        if command is cli:
            environment.check_environment(cli)
        code = command(words, prog_name=name, standalone_mode=False)
        sys.stdout.flush()
    except getattr(click.exceptions, "NoArgsIsHelpError", ()) as error:  # click 8.1 prints it
        click.echo(error.ctx.get_help())
        code = exit_codes.OK
    except click.ClickException as error:
        problem = facts(OF_ERRORS[InvalidInput], error.format_message())
        code = _complain(problem, exit_codes.MISTAKE, as_json)
    except PurseError as error:
        code = _complain(of_error(error), kind_of(error).exit_code, as_json)
    except (KeyboardInterrupt, click.Abort):
        again = "; the same command continues where it was"
        continues = command is not cli or " ".join(words).startswith(_CONTINUES)
        click.echo(f"purse: interrupted{again if continues else ''}", err=True)
        code = exit_codes.INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = exit_codes.BROKEN_PIPE
    except (MemoryError, OSError) as error:
        problem = facts(OF_ERRORS[PurseError], f"{type(error).__name__}: {error}")
        code = _complain(problem, exit_codes.MISTAKE, as_json)
    sys.exit(code or 0)


def _complain(problem: dict[str, Any], code: int, as_json: bool) -> int:
    """Print a problem as one line on stderr and return the exit code.

    as_json   whether the line is JSON: stdout then holds a whole result or nothing
    """
    detail = legible(problem["detail"], _LONGEST)
    if as_json:
        problem = {**problem, "detail": detail, "exit_code": code}
        click.echo(json.dumps(problem, ensure_ascii=False), err=True)
    else:
        click.echo(f"purse: {detail}", err=True)
    return code
