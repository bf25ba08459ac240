"""Verbs that judge: `paper`, `leaderboard`, `bounds`, `optimum`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from purse.cli.options import (
    device_option,
    json_option,
    number,
    option,
    out_option,
    policies_argument,
    seed_option,
    sizes_option,
    workers_option,
    world_option,
)
from purse.cli.output import print_bounds, print_json
from purse.errors import InvalidInput

OF_WORLD = ("n_arms", "cost_min", "cost_max", "iid", "costs", "gaps")  # what a world says itself
quick_option = option(
    "--quick", "Small budgets and few paths: a look, not for quoting.", is_flag=True
)


@click.command()
@out_option("Folder for the page and its data.", "purse-results/paper")
@quick_option
@workers_option
@device_option
@json_option
def paper(folder: str, quick: bool, workers: int | None, device: str, as_json: bool) -> None:
    """Study every claim of the paper, and write the page that says which are true.

    Runs Theorems 1 to 5, the equations that they need, and what holds instead. Prints the
    verdicts, and writes paper.html (one file), paper.md and pictures. The same command continues an
    interrupted run.
    """
    from purse.lab.paper import study

    report = study(folder, quick=quick, n_workers=workers, device=device)
    if as_json:
        verdicts = {
            title: {"verdict": claim.verdict, "measured": claim.measured, "agrees": claim.agrees}
            for title, claim in report.findings.items()
        }
        files = {"page": str(report.page), "files": [str(path) for path in report.files]}
        print_json({**files, "agrees": report.agrees, "claims": verdicts})
    else:
        for title, claim in report.findings.items():
            doubt = "" if claim.agrees else "\n    THIS RUN DOES NOT SHOW IT"
            click.echo(f"{title}: {claim.verdict}\n    {claim.measured}{doubt}")
        click.echo(f"\nWritten to {report.page}")
    sys.exit(0 if report.agrees else 1)


@click.command()
@policies_argument
@option(
    "--suite",
    "1: long games of every kind; 2: what users have, little money and late reports included; "
    "3: contexts; traffic: late reports, requests that allow some arms, and how many come.",
    default="1",
)
@out_option("Folder for the page and its data.", "purse-results/leaderboard")
@quick_option
@seed_option
@workers_option
@device_option
@json_option
def leaderboard(
    policies: tuple[str, ...], folder: str, workers: int | None, as_json: bool, **options: Any
) -> None:
    """Play a suite with every policy, and say which one to use.

    POLICY is a name, name:option=value,... or the path of a policy file. The default is every
    policy that purse ships, and for suite 3 those that see contexts and a few others. Prints the
    standings, and writes a page (leaderboard.md for suite 1, leaderboard-2.md for suite 2 and so
    on), a figure, tables of scores and of cases, and the numbers of the page. The same command
    continues an interrupted run. Several processes may play some policies each into one folder.
    """
    from purse.base.files import write_atomically, write_text
    from purse.lab.ranking.leaderboard import leaderboard as play
    from purse.lab.ranking.page import markdown
    from purse.lab.ranking.record import record_of, write_record
    from purse.lab.ranking.suites import name_file
    from purse.lab.ranking.tables import cases_csv, heat_figure
    from purse.lab.report.charts.export import write_figure

    board = play(policies or None, n_workers=workers, folder=folder, **options)
    target, record = Path(folder), record_of(board)
    figure = heat_figure(record)
    files = write_figure(figure, target, kinds=("png", "svg"))
    text, numbers = f"{figure.name}.md", f"suite-{board.suite}.json"
    scores, cases = (f"{name_file(kind, board.suite)}.csv" for kind in ("scores", "cases"))
    write_text(target / text, markdown(record))
    write_text(target / cases, cases_csv(record.cases))
    write_record(record, target / numbers)
    write_atomically(target / scores, board.frame().write_csv)
    if as_json:
        frames = {"standings": board.standings(), "scores": board.frame()}
        rows = {name: frame.to_dicts() for name, frame in frames.items()}
        print_json({"folder": str(target), **rows})
    else:
        names = ", ".join([text, scores, cases, numbers, *(file.name for file in files)])
        click.echo(f"{board}\nWritten to {target}: {names}")


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
        given = {param.name: param.opts[0] for param in context.command.params}
        source = context.get_parameter_source
        typed = [given[name] for name in OF_WORLD if source(name) is not ParameterSource.DEFAULT]
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
    world: str,
    budget: tuple[float, ...],
    horizon: int | None,
    paths: int,
    seed: int,
    as_json: bool,
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
    place = worlds.make(world, sizes)
    optima = contexts.optima(place, sizes, horizon=horizon)
    if horizon is not None or place.horizon is not None or place.n_rounds is not None:
        optima[contexts.HINDSIGHT] = contexts.hindsight_optimum(
            place, sizes, horizon=horizon, n_paths=paths, seed=seed
        )
    if not optima:
        raise InvalidInput(
            f"{place.name} changes from round to round and has no end: no optimum is known; "
            "pass --horizon"
        )
    if as_json:
        print_json({"world": place.name, "budget": sizes, "optima": optima})
    else:
        width = max(map(len, optima))
        for name, gain in optima.items():
            click.echo(f"{name:{width}}  {gain:>12,.1f}")
