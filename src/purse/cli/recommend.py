"""`purse recommend`: which arm is best, in a campaign or in a simulated world."""

import shlex
import sys
from pathlib import Path
from typing import Any

import click

from purse.base import exit_codes
from purse.cli.options import (
    WORLD_HELP,
    complete_campaigns,
    complete_criteria,
    complete_worlds,
    for_machines,
    number,
    option,
    stored,
)
from purse.cli.show import show
from purse.errors import InvalidInput, NoSuchStorage, NotFound
from purse.identification.recommendation import CONFIDENCE, CRITERIA, REWARD

_SIMULATED = {"budget": "--budget", "n_paths": "--paths", "seed": "--seed"}


@click.command()
@click.argument("name", required=False, shell_complete=complete_campaigns)
@option(
    "--by WHAT",
    f"What the best arm has the most of: {' or '.join(CRITERIA)} (reward per cost).",
    default=REWARD,
    shell_complete=complete_criteria,
)
@option("--cap AMOUNT", "The most that a pull of the best arm may cost, on average.")
@option("--confidence SHARE", "How sure the answer has to be.", type=str, default=CONFIDENCE)
@option("--within X", "By how much the best arm may be missed.", default="0")
@option("--resource", "What costs are counted in [default: the first resource].")
@option("-w --world WORLD", f"Simulate instead. {WORLD_HELP}.", shell_complete=complete_worlds)
@option("-b --budget", "With --world: budget of each path.", type=number)
@option("-n --paths n_paths", "With --world: paths [default: 100].", type=int)
@option("--seed", "With --world: the same seed gives the same numbers.", type=int)
@for_machines
@stored
def recommend(
    name: str | None,
    world: str | None,
    resource: str | None,
    budget: float | None,
    n_paths: int | None,
    seed: int | None,
    as_json: bool,
    storage: str,
    **question: Any,
) -> None:
    """Say which arm is best, and how sure that is.

    NAME is a campaign. The confidence stays valid however often this is asked. The exit code is 0
    if the answer is certain, and 8 if it is not certain yet.

    \b
    purse recommend prompts
    purse recommend prompts --by ratio --cap 0.01

    With --world, plays policy best-arm on simulated paths, and says how often its answer was
    certain, how often it was wrong and what it spent, beside uniform sampling.

    \b
    purse recommend -w "bernoulli:rewards=[.9,.6],costs=[.8,.3]" -b 1000
    """  # noqa: D301 - click reads the backspace as: keep these lines
    from purse.campaign.api import kinds

    question |= {key: kinds.number(question[key]) for key in ("confidence", "within")}
    simulated = {"budget": budget, "n_paths": n_paths, "seed": seed}
    options: dict[str, Any] = {key: value for key, value in simulated.items() if value is not None}
    if world is None:
        if name is None:
            raise InvalidInput("recommend: name a campaign, or a world with --world")
        for field in options:
            raise InvalidInput(f"{_SIMULATED[field]} is for --world, and a campaign is named")
        from purse.campaign.campaign import Campaign

        try:
            campaign = Campaign.open(name, storage=storage)
        except (NotFound, NoSuchStorage):
            if not Path(name).is_file():
                raise
            raise InvalidInput(
                f"recommend {name}: is a file and no campaign; for the rows of a file: purse "
                f"replay {shlex.quote(name)}"
            ) from None
        best = campaign.recommend(resource=resource, **question)
        show(best, as_json)
        sys.exit(exit_codes.OK if best.certain else exit_codes.UNSURE)
    elif name is not None:
        raise InvalidInput(f"recommend {name}: name a campaign or --world, not both")
    elif resource is not None:
        raise InvalidInput("--resource is for campaigns: a world has costs of its first resource")
    elif budget is None:
        raise InvalidInput("--budget is missing: the budget of each simulated path")
    else:
        import purse

        show(purse.recommend(world, **options, **question), as_json)
