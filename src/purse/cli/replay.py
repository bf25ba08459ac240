"""The verb that replays recorded rounds: `replay`."""

import json
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from purse.base.optional import check_lab
from purse.cli.options import (
    PATH,
    F,
    json_option,
    number,
    option,
    out_option,
    seed_option,
    workers_option,
)
from purse.cli.results import chosen_options, results_of
from purse.cli.study import print_files, where
from purse.errors import InvalidInput

if TYPE_CHECKING:
    from purse.lab.data.rounds import Rounds

_COLUMNS = {
    "arm": "Column of the arm, in a log and in a table with a row for each round and arm.",
    "reward": "Column of the reward; in a wide table reward_ARM for each arm.",
    "cost": "Column of the cost; in a wide table cost_ARM for each arm.",
    "round": "Column of the round, in a table with a row for each round and arm.",
    "probability": "Column of the probability with which the arm was chosen: makes the data a log. "
    "Without one: uniform, if every arm was as likely, or frequency, if the choice had "
    "nothing to do with the round.",
}

_LOG_COLUMNS = ("arm", "reward", "cost")


class _Amount(float):
    """A number, and how it was written."""

    text: str


def _amount_of(text: str) -> _Amount:
    """Return an amount such as 1000, 1e4 or $10; the library checks its range."""
    bare = text.strip().strip("$€ ")
    amount = _Amount(number(bare))
    amount.text = bare
    return amount


def _part_of(text: str) -> float:
    """Return a part such as 2% or 0.02; the library checks its range."""
    return number(text[:-1]) / 100 if text.endswith("%") else number(text)


def _check_marks(budgets: Sequence[_Amount], rounds: "Rounds") -> None:
    """Refuse 50.000 for a budget if the numbers of the data have decimal commas."""
    from purse.lab.data.text_file import BY_COMMAS

    if any(BY_COMMAS in note for note in rounds.notes):
        for text in (budget.text for budget in budgets if _either(budget)):
            small, large = f"{float(text):g}", text.replace(".", "")
            raise InvalidInput(
                f"budgets={text}: may be {small} or {large} beside the decimal commas of "
                f"{rounds.name}; write {small} or {large}"
            )


def _either(budget: _Amount) -> bool:
    """Return whether a point in an amount may stand before decimals, or between thousands."""
    from purse.lab.data.text_file import EITHER_POINT

    return re.search(EITHER_POINT, budget.text) is not None


def _horizon_of(text: str) -> int | str:
    """Return a number of rounds, or none; the library checks its range."""
    try:
        return text if text == "none" else int(text)
    except ValueError:
        raise click.BadParameter(f"{text!r} is neither a whole number nor none") from None


def _features_of(text: str) -> Any:
    """Return names of columns, or what a file declares; the library checks it."""
    if not text.startswith("@"):
        return text
    try:
        features = json.loads(Path(text[1:]).read_text())
    except OSError as error:
        raise click.BadParameter(f"cannot read {text[1:]!r}: {error.strerror}") from None
    except ValueError as error:
        raise click.BadParameter(f"{text[1:]!r} is no JSON: {error}") from None
    if not isinstance(features, dict):
        raise click.BadParameter(f"{text[1:]!r} must be a JSON object from names")
    return features


def _column_options(function: F) -> F:
    for name, text in reversed(_COLUMNS.items()):
        function = option(f"--{name}", text, default=name)(function)
    return function


@click.command()
@click.argument("data", type=PATH)
@click.argument("policies", nargs=-1, metavar="[POLICY]...")
@option(
    "-b --budget budgets",
    "Budget in the unit of the data's costs, such as 10 or '$10'; repeat it for several "
    "[default: a campaign's own; for other data the question is what would have been saved].",
    multiple=True,
    type=_amount_of,
    metavar="NUMBER",
)
@option(
    "--within PART",
    "Without --budget: the part of the log's gain that may be missing, such as 2%.",
    type=_part_of,
    default="2%",
)
@option(
    "--create NAME",
    "Without --budget: create a campaign that buys the calls the answer lacks, where "
    "PURSE_STORAGE says.",
)
@option(
    "--horizon T",
    "Rounds, known to the policy; none: no limit, for a log [default: as many as the data "
    "has; a campaign's own].",
    type=_horizon_of,
)
@option(
    "-n --paths", "Orders of a table's rows, or simulated games for a log [default: 100].", type=int
)
@option(
    "--thorough",
    "Ten times as many orders or games, and for the intervals of a log 1,000 logs drawn again "
    "from it instead of 100.",
    is_flag=True,
)
@_column_options
@option(
    "--rewards FILE",
    "A file of judged answers, for some of the rows or all; --reward names its column.",
    type=PATH,
)
@option("--on ID", "Column of ids that the data and --rewards share [default: an export's own].")
@option("--block COLUMN", "Column of sessions, whose rows are not independent.")
@option(
    "--features COLUMNS",
    "Columns that policies see before they choose: length,code or 'x_*', or @FILE, a JSON "
    "object from names to ranges [low, high], classes, or null: as the data is.",
    type=_features_of,
)
@option("--per-arm", "Each arm has features of its own.", is_flag=True)
@option(
    "--map MAP",
    "Random cosines of the features that policies see, too, such as fourier:48, so that they can "
    "learn what is not linear.",
)
@option(
    "--decimal MARK",
    "The mark before decimals in a text file, a comma or a point [default: as each column tells].",
)
@option(
    "--skip-empty",
    "Leave out rows with an empty cell; among numbers n/a, NA, null, nan, none and - are empty.",
    is_flag=True,
)
@option(
    "--empty WORD",
    "A further word for an empty cell, such as missing; repeat it for several.",
    multiple=True,
)
@option(
    "--save-prior FILE prior",
    "Write what a log teaches to this file, for the option prior of policies; without "
    "--budget nothing else is done.",
    type=PATH,
)
@out_option("Folder for results and report [default: one for each replay in purse-results].")
@seed_option
@option(
    "--stop",
    "Stop rule when a pull cannot be paid: exit, hold, retry or fit [default: retry if "
    "there is a horizon, else exit; a campaign's own].",
)
@workers_option
@json_option
def replay(
    data: Path,
    policies: tuple[str, ...],
    budgets: tuple[_Amount, ...],
    paths: int | None,
    n_workers: int | None,
    folder: Path | None,
    as_json: bool,
    prior: Path | None,
    create: str | None,
    **options: Any,
) -> None:
    """Ask your own data what would have been saved, or which policy spends a budget best.

    DATA is a CSV, TSV, Parquet, JSON or JSON lines file, perhaps packed as .gz, or - for standard
    input; exports of LiteLLM, Langfuse and OpenTelemetry are known by their headers. A log has the
    chosen arm, its reward and cost, and the probability with which it was chosen. A full table has
    the reward and cost of every arm in every round.

    Without a budget says which arm, or which two, would have been as good as the log for less, with
    a 95% interval; or that the log cannot tell, and what it would cost to know.

    With a budget replays policies: estimates of each one's gain beside what the log itself gained
    and each arm alone; on a table exactly. The export of a campaign that explores is such a log.
    The default POLICY are two that take a horizon into account, and uniform play; with features
    also lin-ucb.price, which sees them.

    \b
    purse replay log.csv
    purse replay spend.csv --rewards judged.csv --on request_id
    purse replay table.csv --budget 25
    purse replay table.csv --budget 25 --features length,code
    purse replay log.csv --budget 25 exp3.bwk uniform --reward clicks --cost dollars
    purse replay log.csv --budget 25 --probability uniform --thorough
    purse replay log.csv --features length,code --save-prior prior.npz
    purse replay export.jsonl uniform fixed:arm=1
    """  # noqa: D301 - click reads the backspace as: keep these lines
    check_lab("replay")
    import purse
    from purse.lab.data.question import Question
    from purse.lab.data.rounds import open_rounds

    if prior is not None:
        from purse.lab.replay.prior_from_log import prior_from_log

        names = (*_LOG_COLUMNS, "features", "per_arm", "map", "decimal", "skip_empty", "empty")
        learnt = prior_from_log(data, prior, **{name: options[name] for name in names})
        click.echo(f"{prior}: {len(learnt.arms)} arms, SHA-256 {learnt.digest}", err=as_json)
        if not budgets:
            return
    fields: dict[str, Any] = {
        **options,
        "policies": policies or None,
        "budgets": budgets or None,
        "n_paths": paths,
    }
    question = Question(**fields)
    rounds: Any = data
    if any(map(_either, budgets)):
        rounds = open_rounds(data, question)
        _check_marks(budgets, rounds)
    decides = chosen_options(("policies", "budgets", "paths", *options))
    target = folder or results_of(
        Path("stdin") if str(data) == "-" else data,
        json.dumps([str(data), decides], sort_keys=True, default=str) if decides else None,
    )
    played = purse.replay(rounds, n_workers=n_workers, folder=target, **fields)
    if create is not None:
        _create(create, played)
        return
    files = played.publish(target)
    if as_json:
        print_files(target, files, **played.as_dict())
    else:
        click.echo(str(played))
        click.echo(where(target, files))


def _create(name: str, played: Any) -> None:
    """Create the campaign that buys what an answer lacks, and say what it is."""
    from purse.campaign.api import defaults
    from purse.campaign.campaign import Campaign
    from purse.lab.replay.savings_result import QUANTILE, SavingsResult

    if not isinstance(played, SavingsResult):
        raise InvalidInput(f"create={name!r}: goes without a budget (--budget)")
    terms = played.campaign()
    storage = os.environ.get("PURSE_STORAGE", defaults.STORAGE)
    Campaign.create(name, **terms, storage=storage)
    most = ", ".join(f"{arm} {amount}" for arm, amount in terms["arms"].items())
    click.echo(
        f"{name}: a campaign of {terms['horizon']:,} calls with a budget of {terms['budget']}, "
        f"each arm as likely; a call costs at most what {QUANTILE:.0%} of them cost: {most}"
    )
    click.echo(f"Ask it with: purse campaign ask {name}")
