"""The command line: its verbs are those of the library.

Results go to stdout and everything else to stderr. Bad input exits with 2.
"""

from __future__ import annotations

import io
import os
import sys

import click

from purse._version import __version__
from purse.cli import catalog, replay, serve, simulate, study, theory
from purse.cli.campaign import write
from purse.errors import PurseError

# verbs that find again what they had computed
CONTINUES = ("compare", "run", "leaderboard", "paper", "replay")


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="purse")
def cli() -> None:
    """Bandits with knapsacks: learn which option is worth it before the money runs out.

    \b
    purse compare                          the main job: policies on four worlds
    purse compare exp3.bwk uniform -w misleading_ratio -b 1e3 -b 1e4
    purse init; purse run study.toml       a study in a file: resumable, on one machine or many
    purse campaign new prompts --arm small=0.01 --arm large=0.05 --budget 25 --cost-min 0.0001
    purse campaign ask prompts             spend a real budget, never more: ask, tell, watch
    purse serve                            the same over HTTP, with a dashboard
    purse replay data.csv --budget 25      which policy would have spent my budget best?
    purse simulate exp3++.bwk -w "bernoulli:rewards=[.9,.6],costs=[.8,.3]" -b 1000
    purse regret exp3.bwk -w two_worlds -b 1e4          every notion of regret
    purse bounds --arms 10 --budget 1e4 --cost-min .1   every theorem, and whether it applies
    purse optimum -w linear_contexts -b 1300            what can be gained at most
    purse leaderboard                      every policy on the suite: which one should I use?
    purse paper                            the paper's claims, measured, on one page
    purse policies exp3++.bwk              what a policy does and which options it has
    """  # noqa: D301 - click reads the backspace as: keep these lines


for verb in (
    study.compare, study.init, study.run, study.status, study.show, study.report,
    write.campaign, serve.serve, serve.token, replay.replay, simulate.simulate, simulate.regret,
    theory.paper, theory.leaderboard, theory.bounds, theory.optimum, catalog.policies,
    catalog.worlds,
):  # fmt: skip
    cli.add_command(verb)


def main() -> None:
    """Run the command; every mistake of the user is one line and exit code 2."""
    words = sys.argv[1:] or ["--help"]
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # a terminal without ± is no reason to lose the table
            stream.reconfigure(errors="replace")
    try:
        code = cli(words, prog_name="purse", standalone_mode=False)
        sys.stdout.flush()
    except click.ClickException as error:
        code = complain(error.format_message())
    except PurseError as error:
        code = complain(str(error))
    except (KeyboardInterrupt, click.Abort):
        code = complain(
            "interrupted"
            + ("; the same command continues where it was" if words[0] in CONTINUES else ""),
            130,
        )
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 141
    except (MemoryError, OSError) as error:
        code = complain(f"{type(error).__name__}: {error}")
    sys.exit(code or 0)


def complain(message: str, code: int = 2) -> int:
    """Print one line on stderr and return the exit code."""
    click.echo("purse: " + " ".join(message.split()), err=True)
    return code
