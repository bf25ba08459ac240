"""Verbs of theory: `bounds`, `optimum`."""

from typing import Any

import click
from click.core import ParameterSource

from purse.cli.options import json_option, number, option, seed_option, sizes_option, world_option
from purse.cli.output import print_bounds, print_json
from purse.errors import InvalidInput

_OF_WORLD = ("n_arms", "cost_min", "cost_max", "iid", "costs", "gaps")  # what a world says itself


@click.command()
@option("--arms K n_arms", "Number of arms.", type=int)
@option("-b --budget", "Budget B.", required=True, type=number)
@option("--cost-min C", "The least that a pull may cost.", type=float)
@option("--cost-max", "The most that a pull may cost.", default=1.0)
@option(
    "--iid", "Rewards and costs are independent and identically distributed in time.", is_flag=True
)
@option(
    "--costs",
    "Known of costs: any, per arm (constant for each arm) or one (the same for all).",
    default="any",
)
@option(
    "--gap gaps", "Gap in efficiency of a worse arm; repeat it for each.", type=float, multiple=True
)
@option("--alpha", "Theorem 5: costs up to B^alpha.", default=0.5)
@option("--horizon T", "Rounds, for the bounds that need it.", type=int)
@option("--all everything", "Add the bounds of all other policies.", is_flag=True)
@option("-w --world WORLD", "Take arms, costs and gaps from this world.")
@json_option
def bounds(
    budget: float,
    alpha: float,
    horizon: int | None,
    everything: bool,
    world: str | None,
    as_json: bool,
    **problem: Any,
) -> None:
    """Evaluate every theorem, and say which of them apply.

    \b
    purse lab bounds --arms 10 --budget 1e4 --cost-min 0.1
    purse lab bounds --budget 1e4 --world "bernoulli:rewards=[.9,.6],costs=[.8,.3]"
    """  # noqa: D301 - click reads the backspace as: keep these lines
    from purse.lab.theory import bound, bounds

    if world is not None:
        context = click.get_current_context()
        option_of = {param.name: param.opts[0] for param in context.command.params}
        source = context.get_parameter_source
        typed = [
            option_of[name] for name in _OF_WORLD if source(name) is not ParameterSource.DEFAULT
        ]
        if typed:
            names = ", ".join(typed)
            raise click.UsageError(f"--world and {names} exclude each other; leave one of them out")
        problem = bound.problem_of(world, budget)
    elif problem["n_arms"] is None or problem["cost_min"] is None:
        raise click.UsageError("give --arms and --cost-min, or --world")
    else:
        setting = bound.Setting(problem.pop("iid"), problem.pop("costs"))
        problem |= {"gaps": problem["gaps"] or None, "setting": setting}
    rows = bounds.table(budget=budget, alpha=alpha, **problem)
    if everything:
        from purse.lab.theory import coin_bounds, published_bounds

        rows += coin_bounds.table(budget=budget, **problem)
        rows += published_bounds.table(budget=budget, horizon=horizon, **problem)
    if as_json:
        print_json([row._asdict() for row in rows])
    else:
        print_bounds(rows)


@click.command()
@world_option
@sizes_option
@option("--horizon T", "Rounds [default: the world's own].", type=int)
@option("-n --paths", "Paths of the hindsight optimum.", default=20)
@seed_option
@json_option
def optimum(
    world: str, budget: tuple[float, ...], horizon: int | None, paths: int, seed: int, as_json: bool
) -> None:
    """Compute what can be gained at most, each optimum under its own name.

    The LP optimum is what a player that knows the means can expect at most. In a world with
    contexts there is one for players who do not see them and one for those who do, and the best
    linear policy between them. The hindsight optimum knows all draws; it needs a limit on rounds.

    \b
    purse lab optimum --world linear_contexts --budget 1300
    """  # noqa: D301 - click reads the backspace as: keep these lines
    from purse import worlds
    from purse.lab.theory import contexts

    sizes = budget[0] if len(budget) == 1 else list(budget)
    made_world = worlds.make(world, sizes)
    optima = contexts.optima(made_world, sizes, horizon=horizon)
    if horizon is not None or made_world.horizon is not None or made_world.n_rounds is not None:
        optima[contexts.HINDSIGHT] = contexts.hindsight_optimum(
            made_world, sizes, horizon=horizon, n_paths=paths, seed=seed
        )
    if not optima:
        raise InvalidInput(
            f"{made_world.name} changes from round to round and has no end: no optimum is known; "
            "pass --horizon"
        )
    if as_json:
        print_json({"world": made_world.name, "budget": sizes, "optima": optima})
    else:
        width = max(map(len, optima))
        for name, gain in optima.items():
            click.echo(f"{name:{width}}  {gain:>12,.1f}")
