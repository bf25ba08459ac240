"""The verb that replays recorded rounds: `replay`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from purse.base.optional import check_lab
from purse.cli.options import Budget, F, json_option, out_option, seed_option, workers_option
from purse.cli.results import results_of
from purse.cli.study import print_files, where

COLUMNS = {
    "arm": "Column of the arm, in a log and in a table with a row for each round and arm.",
    "reward": "Column of the reward; in a wide table reward_ARM for each arm.",
    "cost": "Column of the cost; in a wide table cost_ARM for each arm.",
    "round": "Column of the round, in a table with a row for each round and arm.",
    "probability": "Column of the probability with which the arm was chosen: makes the data a log. "
    "Where there is none: uniform, if every arm was as likely, or frequency, if the choice had "
    "nothing to do with the round.",
}


class Horizon(click.ParamType[Any]):
    """A number of rounds, or none."""

    name = "rounds"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the number; the library checks its range."""
        try:
            return value if value == "none" else int(value)
        except ValueError:
            raise click.BadParameter(f"{value!r} is neither a whole number nor none") from None


class Features(click.ParamType[Any]):
    """Names of columns, or a file that declares features."""

    name = "columns"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the text, or what the file says; the library checks it."""
        if not isinstance(value, str) or not value.startswith("@"):
            return value
        try:
            features = json.loads(Path(value[1:]).read_text())
        except OSError as error:
            raise click.BadParameter(f"cannot read {value[1:]!r}: {error.strerror}") from None
        except ValueError as error:
            raise click.BadParameter(f"{value[1:]!r} is no JSON: {error}") from None
        if not isinstance(features, dict):
            raise click.BadParameter(f"{value[1:]!r} must be a JSON object from names")
        return features


def column_options(function: F) -> F:
    """Add an option for the name of each column."""
    for name, text in reversed(COLUMNS.items()):
        function = click.option(f"--{name}", default=name, show_default=True, help=text)(function)
    return function


@click.command()
@click.argument("data", type=click.Path(path_type=Path))
@click.argument("policies", nargs=-1, metavar="[POLICY]...")
@click.option(
    "-b",
    "--budget",
    "budgets",
    multiple=True,
    type=Budget(),
    help="Budget in the unit of the data's costs; repeat it for several [default: a campaign's "
    "own; needed for other data].",
)
@click.option(
    "--horizon",
    type=Horizon(),
    metavar="T",
    help="Rounds, known to the policy; none: no limit, for a log [default: as many as the data "
    "has; a campaign's own].",
)
@click.option(
    "-n",
    "--paths",
    type=int,
    help="Orders of a table's rows, or simulated games for a log [default: 100].",
)
@click.option(
    "--thorough",
    is_flag=True,
    help="Ten times as many orders or games, and for the intervals of a log 1,000 logs drawn again "
    "from it instead of 100.",
)
@column_options
@click.option(
    "--features",
    type=Features(),
    metavar="COLUMNS",
    help="Columns that policies see before they choose: length,code or 'x_*', or @FILE, a JSON "
    "object from names to ranges [low, high], classes, or null: as the data is.",
)
@click.option("--per-arm", is_flag=True, help="Each arm has features of its own.")
@click.option(
    "--decimal",
    metavar="MARK",
    help="The mark before decimals in a text file, a comma or a point [default: as each column "
    "tells].",
)
@click.option("--skip-empty", is_flag=True, help="Leave out rows with an empty cell.")
@click.option(
    "--save-prior",
    "prior",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Write what a log teaches to this file, for the option prior of policies; without "
    "--budget nothing else is done.",
)
@out_option("Folder for results and report [default: purse-results/NAME].")
@seed_option
@click.option(
    "--stop",
    help="Stop rule when a pull cannot be paid: exit, hold, retry or fit [default: retry where "
    "there is a horizon, else exit; a campaign's own].",
)
@workers_option
@json_option
def replay(
    data: Path,
    policies: tuple[str, ...],
    budgets: tuple[float, ...],
    paths: int | None,
    workers: int | None,
    folder: Path | None,
    as_json: bool,
    prior: Path | None,
    **options: Any,
) -> None:
    """Replay policies on your own data.

    DATA is a CSV, TSV, Parquet or JSON lines file, or - for standard input. A log has the chosen
    arm, its reward and cost, and the probability with which it was chosen; it gives estimates of
    each policy's gain, with intervals, beside what the log itself gained and each arm alone. The
    export of a campaign that explores is such a log. A full table has the reward and cost of every
    arm in every round; policies are replayed exactly. The default POLICY are two that take a
    horizon into account, and uniform play; with features also lin-ucb.price, which sees them.

    \b
    purse replay table.csv --budget 25
    purse replay table.csv --budget 25 --features length,code
    purse replay log.csv --budget 25 exp3.bwk uniform --reward clicks --cost dollars
    purse replay log.csv --budget 25 --probability uniform --thorough
    purse replay log.csv --features length,code --save-prior prior.npz
    purse replay export.jsonl uniform fixed:arm=1
    """  # noqa: D301 - click reads the backspace as: keep these lines
    check_lab("replay")
    import purse

    if prior is not None:
        from purse.lab.offline.prior_from_log import prior_from_log

        names = ("arm", "reward", "cost", "features", "per_arm")
        learnt = prior_from_log(data, prior, **{name: options[name] for name in names})
        click.echo(f"{prior}: {len(learnt.arms)} arms, SHA-256 {learnt.digest}", err=as_json)
        if not budgets:
            return
    target = folder or results_of(Path("stdin") if str(data) == "-" else data)
    given: dict[str, Any] = {"policies": policies} if policies else {}
    if budgets:
        given["budgets"] = budgets
    played = purse.replay(data, n_paths=paths, n_workers=workers, folder=target, **given, **options)
    files = played.publish(target)
    if as_json:
        print_files(target, files, rows=played.frame().to_dicts())
    else:
        click.echo(str(played))
        click.echo(where(target, files))
