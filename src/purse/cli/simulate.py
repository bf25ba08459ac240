"""Verbs that play: `simulate`, `regret`."""

from __future__ import annotations

from typing import Any

import click

from purse.cli.options import DEVICE_HELP, WORLD_HELP, Budget, common
from purse.cli.output import print_json


@click.command()
@click.argument("policy")
@click.option("-w", "--world", required=True, metavar="WORLD", help=f"{WORLD_HELP}.")
@click.option(
    "-b",
    "--budget",
    required=True,
    multiple=True,
    type=Budget(),
    help="Budget; for several resources repeat the option, in their order.",
)
@click.option("-n", "--paths", type=int, default=100, show_default=True, help="Independent paths.")
@click.option("--plays", type=int, default=1, show_default=True, help="Arms per round.")
@click.option("--horizon", type=int, metavar="T", help="Rounds after which the game ends.")
@click.option("--device", default="cpu", show_default=True, help=DEVICE_HELP)
@common
def simulate(
    policy: str,
    world: str,
    budget: tuple[float, ...],
    paths: int,
    plays: int,
    horizon: int | None,
    **options: Any,
) -> None:
    """Play one policy against one world.

    POLICY is a name, name:option=value,... or the path of a policy file. Prints gain, rounds,
    spending and how often each arm was pulled.
    """
    import purse

    run = purse.simulate(
        policy,
        world,
        budget[0] if len(budget) == 1 else list(budget),
        n_paths=paths,
        seed=options["seed"],
        stop=options["stop"],
        plays=plays,
        horizon=horizon,
        n_workers=options["workers"],
        device=options["device"],
    )
    if not options["as_json"]:
        click.echo(str(run))
        return
    facts = {
        "policy": run.policy,
        "world": run.world,
        "budget": run.budget.tolist(),
        "stop": run.stop,
        "seed": run.seed,
        "n_paths": run.n_paths,
    }
    print_json(
        {
            **facts,
            **{
                name: getattr(run, name).tolist()
                for name in ("gain", "rounds", "spent", "pulls", "ended")
            },
        }
    )


@click.command()
@click.argument("policy")
@click.option("-w", "--world", required=True, metavar="WORLD", help=f"{WORLD_HELP}.")
@click.option("-b", "--budget", required=True, type=Budget(), help="Budget of each path.")
@click.option("-n", "--paths", type=int, default=100, show_default=True, help="Independent paths.")
@common
def regret(policy: str, world: str, budget: float, paths: int, **options: Any) -> None:
    """Measure every notion of regret of one policy on one world.

    The literature has one name for several numbers; each has its own line here. The policy and its
    benchmarks play on the same draws. Each line is a mean over paths with half its 95% interval.
    """
    import purse

    found = purse.regrets(
        policy,
        world,
        budget,
        n_paths=paths,
        seed=options["seed"],
        stop=options["stop"],
        n_workers=options["workers"],
    )
    if options["as_json"]:
        facts = {
            "policy": found.policy,
            "world": found.world,
            "budget": found.budget,
            "stop": options["stop"],
            "seed": options["seed"],
            "n_paths": paths,
        }
        print_json(
            {**facts, "regrets": {name: each._asdict() for name, each in found.estimates.items()}}
        )
    else:
        click.echo(str(found))
