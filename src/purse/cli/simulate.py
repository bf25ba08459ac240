"""Verbs that play: `simulate`, `regret`."""

from typing import Any

import click

from purse.cli.options import (
    common,
    delay_option,
    device_option,
    number,
    option,
    policy_argument,
    sizes_option,
    world_option,
)
from purse.cli.output import print_json, print_notions

_paths_option = option("-n --paths n_paths", "Independent paths.", default=100)
_RESULTS = ("gain", "rounds", "spent", "pulls", "ended")  # arrays with a row for each path


@click.command()
@policy_argument
@world_option
@sizes_option
@_paths_option
@option("--plays", "Arms per round.", default=1)
@option("--horizon T", "Rounds after which the game ends.", type=int)
@delay_option
@device_option
@common
def simulate(
    policy: str, world: str, budget: tuple[float, ...], as_json: bool, **options: Any
) -> None:
    """Play one policy against one world.

    POLICY is a name, name:option=value,... or the path of a policy file. Prints gain, rounds,
    spending and how often each arm was pulled.
    """
    import purse

    sizes = budget[0] if len(budget) == 1 else list(budget)
    run = purse.simulate(policy, world, sizes, **options)
    if not as_json:
        click.echo(str(run))
        return
    names = ("policy", "world", "budget", "stop", "seed", "delay", "n_paths")
    facts = {name: getattr(run, name) for name in (*names, *_RESULTS)}
    print_json(facts | {name: facts[name].tolist() for name in ("budget", *_RESULTS)})


@click.command()
@policy_argument
@world_option
@option("-b --budget", "Budget of each path.", required=True, type=number)
@_paths_option
@device_option
@common
def regret(policy: str, world: str, as_json: bool, **options: Any) -> None:
    """Measure every notion of regret of one policy on one world.

    The literature has one name for several numbers; each has its own line here. The policy and its
    benchmarks play on the same draws. Each line is a mean over paths with half its 95% interval.
    """
    from purse.lab.study.regrets import regrets

    measured = regrets(policy, world, **options)
    if not as_json:
        print_notions(measured)
        return
    facts = measured.as_dict()
    named = {name: facts[name] for name in ("policy", "world", "budget")}
    print_json(named | {name: options[name] for name in ("stop", "seed")} | facts)
