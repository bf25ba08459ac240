"""What it brings that rounds may pass: `python -m research.evidence.skipping`.

The default policy plays with and without its option `skip`, as campaigns with and without `skip`
do, while a part of the requests allows only the dearest arm.
"""

import click

import purse
from purse.cli import execute
from purse.types import World
from research.commands import quick_option

REQUESTS = 2_000
ARMS = "bernoulli:rewards=[.5,.7,.8],costs=[.1,.3,1]"
BUDGETS = (500, 200)


def requests(dear: int) -> World | str:
    """Return a world in which `dear` of ten requests allow only the dearest arm."""
    up = [[1, 1, 1]] * (10 - dear) + [[0, 0, 1]] * dear
    return purse.worlds.outages(ARMS, up=up, segments=1) if dear else ARMS


@click.command()
@quick_option
def main(quick: bool) -> None:
    """Print what is earned without `skip`, of what is earned with it, and which rounds pass."""
    for budget in BUDGETS:
        for dear in (0, 1, 2, 5):
            skipping, forced = (
                purse.simulate(
                    policy, requests(dear), budget, n_paths=2 if quick else 100, horizon=REQUESTS
                )
                for policy in ("replan", "replan:skip=0")
            )
            passed = 1 - (skipping.pulls.sum(axis=-1) / skipping.rounds).mean()
            print(
                f"{budget / REQUESTS:g} for a request, {dear} in 10 only dear: "
                f"{forced.gain.mean() / skipping.gain.mean():.0%}, {passed:.0%} pass"
            )


if __name__ == "__main__":
    execute(main, "python -m research.evidence.skipping")
