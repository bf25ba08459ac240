"""The command line. Its verbs are the library's; results go to stdout, everything else to stderr; bad input exits with 2."""

from __future__ import annotations

import inspect
import io
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import click
from click.core import ParameterSource

from purse import __version__
from purse.errors import PurseError
from purse.printing import describe, print_bounds, print_json, print_regrets

F = TypeVar("F", bound=Callable[..., Any])
BOUND_OPTIONS = {"n_arms": "--arms", "cost_min": "--cost-min", "cost_max": "--cost-max", "iid": "--iid", "costs": "--costs", "gaps": "--gap"}
WORLD_HELP = "name or name:option=value,..., or the path of a world file; `purse environments` lists them"

DEVICE_HELP = "cpu, or cuda for an NVIDIA GPU. Does not change any number."


class Budget(click.ParamType[float]):
    """A positive number such as 1000 or 1e4."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Leave the range to the library, which has the words for it."""
        try:
            return float(value)
        except ValueError:
            raise click.BadParameter(f"{value!r} is not a number") from None


def common(function: F) -> F:
    """The options that `compare` and `simulate` share."""
    for option in (
        click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table."),
        click.option("--workers", type=int, metavar="N", help="Threads [default: all cores]. Does not change any number."),
        click.option("--stop", default="exit", show_default=True, help="What happens when a pull cannot be paid: exit, hold or retry."),
        click.option("--seed", type=int, default=0, show_default=True, help="Same seed, same numbers."),
    ):
        function = option(function)
    return function


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, package_name="purse")
def cli() -> None:
    """Bandits with knapsacks: learn which option is worth it before the money runs out.

    \b
    purse compare                                     the main job: policies on four worlds
    purse compare exp3.bwk uniform -w misleading_ratio -b 1e3 -b 1e4
    purse simulate exp3++.bwk -w "bernoulli:rewards=[.9,.6],costs=[.8,.3]" -b 1000
    purse regret exp3.bwk -w two_worlds -b 1e4        every notion of regret, under its own name
    purse bounds --arms 10 --budget 1e4 --cost-min .1 every theorem, and whether it applies
    purse leaderboard                                 every policy on the suite: which one should I use?
    purse paper                                       the paper's claims, measured, on one page
    purse policies exp3++.bwk                         what a policy does and which options it has
    """  # noqa: D301 - click reads the backspace as: keep these lines


@cli.command()
@click.argument("policies", nargs=-1, metavar="[POLICY]...")
@click.option("-w", "--world", "worlds", multiple=True, metavar="WORLD", help=f"{WORLD_HELP}; may be repeated [default: four worlds].")
@click.option("-b", "--budget", "budgets", multiple=True, type=Budget(), help="May be repeated [default: several].")
@click.option("-n", "--paths", type=int, help="Independent runs per policy, world and budget.")
@click.option("-o", "--out", "folder", default="purse-results", show_default=True, help="Folder for results and figures.")
@click.option("--device", default="cpu", show_default=True, help=DEVICE_HELP)
@common
def compare(policies: tuple[str, ...], worlds: tuple[str, ...], budgets: tuple[float, ...], paths: int | None, folder: str, **options: Any) -> None:
    """Compare policies on worlds over budgets.

    POLICY is a name or name:option=value,... or the path of a policy file; without any, the paper's two algorithms,
    our variant with a price, and uniform play are compared. Prints each policy's regret against the best fixed arm on the
    same draws, with a 95% interval, and writes a figure (PNG, SVG) and the results (Parquet) to the output folder. Parts
    that are there already are not computed again: an interrupted run continues where it was.
    """
    from purse import study
    from purse.files import write_atomically
    from purse.report.figure import regret_figure

    places: Mapping[str, study.WorldLike] = {world: world for world in worlds} or study.DEFAULT_WORLDS
    result = study.compare(
        policies or study.DEFAULT_POLICIES,
        places,
        budgets=budgets or study.DEFAULT_BUDGETS,
        n_paths=study.DEFAULT_PATHS if paths is None else paths,
        seed=options["seed"],
        stop=options["stop"],
        n_workers=options["workers"],
        device=options["device"],
        folder=folder,
    )
    target, table = Path(folder), result.table()
    write_atomically(target / "results.parquet", result.frame().write_parquet)
    write_atomically(target / "regret.csv", table.write_csv)
    files = [*regret_figure(table, target), target / "results.parquet", target / "regret.csv"]
    if options["as_json"]:
        print_json({"folder": str(target), "files": [str(file) for file in files], "worlds": {k: str(v) for k, v in places.items()}, "rows": table.to_dicts()})
        return
    print_regrets(result, places)
    click.echo(f"Written to {target}: " + ", ".join(file.name for file in files))


@cli.command()
@click.argument("policy")
@click.option("-w", "--world", required=True, metavar="WORLD", help=f"{WORLD_HELP}.")
@click.option("-b", "--budget", required=True, multiple=True, type=Budget(), help="One number; for several resources one each, in their order.")
@click.option("-n", "--paths", type=int, default=100, show_default=True, help="Independent runs.")
@click.option("--plays", type=int, default=1, show_default=True, help="Arms per round.")
@click.option("--horizon", type=int, metavar="T", help="Rounds after which the game ends.")
@click.option("--device", default="cpu", show_default=True, help=DEVICE_HELP)
@common
def simulate(policy: str, world: str, budget: tuple[float, ...], paths: int, plays: int, horizon: int | None, **options: Any) -> None:
    """Play one policy against one world.

    POLICY is a name or name:option=value,... or the path of a policy file. Prints gain, rounds, spending and how often each arm was pulled.
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
    facts = {"policy": run.policy, "world": run.world, "budget": run.budget.tolist(), "stop": run.stop, "seed": run.seed, "n_paths": run.n_paths}
    print_json({**facts, **{name: getattr(run, name).tolist() for name in ("gain", "rounds", "spent", "pulls", "ended")}})


@cli.command()
@click.argument("policy")
@click.option("-w", "--world", required=True, metavar="WORLD", help=f"{WORLD_HELP}.")
@click.option("-b", "--budget", required=True, type=Budget())
@click.option("-n", "--paths", type=int, default=100, show_default=True, help="Independent runs.")
@common
def regret(policy: str, world: str, budget: float, paths: int, **options: Any) -> None:
    """Measure every notion of regret of one policy on one world.

    They have one name in the literature and are different numbers. Benchmarks meet the same draws as the policy; each line is
    a mean over paths with half its 95% interval.
    """
    import purse

    found = purse.regrets(policy, world, budget, n_paths=paths, seed=options["seed"], stop=options["stop"], n_workers=options["workers"])
    if options["as_json"]:
        facts = {"policy": found.policy, "world": found.world, "budget": found.budget, "stop": options["stop"], "seed": options["seed"], "n_paths": paths}
        print_json({**facts, "regrets": {name: each._asdict() for name, each in found.estimates.items()}})
    else:
        click.echo(str(found))


@cli.command()
@click.option("-o", "--out", "folder", default="purse-results/paper", show_default=True, help="Folder for the page and for what it is made from.")
@click.option("--quick", is_flag=True, help="Small budgets and few paths: a look, not for quoting.")
@click.option("--workers", type=int, metavar="N", help="Threads [default: all cores]. Does not change any number.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
def paper(folder: str, quick: bool, workers: int | None, as_json: bool) -> None:
    """Study every claim of the paper, and write the page that says what is true.

    Runs Theorems 1 to 5, the equations they rest on, and the propositions that do hold; prints the verdicts and writes
    paper.html (one file), paper.md and pictures. An interrupted run continues where it was.
    """
    from purse.paper import study

    found = study(folder, quick=quick, n_workers=workers)
    if as_json:
        verdicts = {title: {"verdict": each.verdict, "measured": each.measured, "agrees": each.agrees} for title, each in found.findings.items()}
        print_json({"page": str(found.page), "files": [str(path) for path in found.files], "agrees": found.agrees, "claims": verdicts})
    else:
        for title, each in found.findings.items():
            click.echo(f"{title}: {each.verdict}\n    {each.measured}" + ("" if each.agrees else "\n    THIS RUN DOES NOT SHOW IT"))
        click.echo(f"\nWritten to {found.page}")
    sys.exit(0 if found.agrees else 1)


@cli.command()
@click.argument("policies", nargs=-1, metavar="[POLICY]...")
@click.option("-o", "--out", "folder", default="purse-results/leaderboard", show_default=True, help="Folder for the page and for what it is made from.")
@click.option("--quick", is_flag=True, help="Small budgets and few paths: a look, not for quoting.")
@click.option("--seed", type=int, default=0, show_default=True, help="Same seed, same numbers.")
@click.option("--workers", type=int, metavar="N", help="Threads [default: all cores]. Does not change any number.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
def leaderboard(policies: tuple[str, ...], folder: str, quick: bool, seed: int, workers: int | None, as_json: bool) -> None:
    """Play the suite with every policy, and say which one to use.

    POLICY is a name or name:option=value,... or the path of a policy file; without any, all that purse ships play. Prints the
    standings, and writes which-policy.md, a figure and scores.csv. An interrupted run continues where it was.
    """
    import purse
    from purse.files import write_atomically, write_text
    from purse.report import ranking

    board = purse.leaderboard(policies or None, quick=quick, seed=seed, n_workers=workers, folder=folder)
    target = Path(folder)
    files = ranking.heat_figure(board, target)
    write_text(target / "which-policy.md", ranking.markdown(board, "leaderboard.svg"))
    write_atomically(target / "scores.csv", board.frame().write_csv)
    if as_json:
        print_json({"folder": str(target), "standings": board.standings().to_dicts(), "scores": board.frame().to_dicts()})
    else:
        click.echo(str(board))
        click.echo(f"Written to {target}: which-policy.md, scores.csv, " + ", ".join(file.name for file in files))


@cli.command()
@click.option("--arms", "n_arms", type=int, metavar="K", help="Number of arms.")
@click.option("-b", "--budget", required=True, type=Budget())
@click.option("--cost-min", type=float, metavar="C", help="The least that a pull may cost.")
@click.option("--cost-max", type=float, default=1.0, show_default=True, help="The most that a pull may cost.")
@click.option("--iid", is_flag=True, help="Rewards and costs are independent and identically distributed in time.")
@click.option(
    "--costs",
    default="any",
    show_default=True,
    help="What is known of costs: any, per arm (each arm's is constant) or one (the same for all).",
)
@click.option("--gap", "gaps", type=float, multiple=True, help="How much less efficient a worse arm is; may be repeated.")
@click.option("--alpha", type=float, default=0.5, show_default=True, help="Theorem 5: costs up to B^alpha.")
@click.option("--horizon", type=int, metavar="T", help="Rounds, for the bounds that need it.")
@click.option("--all", "everything", is_flag=True, help="The published bounds of all other policies, too.")
@click.option("-w", "--world", metavar="WORLD", help="Take all of this from a world instead.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
def bounds(budget: float, alpha: float, horizon: int | None, everything: bool, world: str | None, as_json: bool, **known: Any) -> None:
    """Evaluate every theorem, and say which of them apply.

    \b
    purse bounds --arms 10 --budget 1e4 --cost-min 0.1
    purse bounds --budget 1e4 --world "bernoulli:rewards=[.9,.6],costs=[.8,.3]"
    """  # noqa: D301 - click reads the backspace as: keep these lines
    from purse import bounds as theory

    if world is not None:
        source = click.get_current_context().get_parameter_source
        if given := [option for name, option in BOUND_OPTIONS.items() if source(name) is not ParameterSource.DEFAULT]:
            raise click.UsageError(f"--world says all that {', '.join(given)} would say; leave one of them out")
        problem = theory.problem_of(world, budget)
    elif known["n_arms"] is None or known["cost_min"] is None:
        raise click.UsageError("give --arms and --cost-min, or --world")
    else:
        problem = {name: known[name] for name in ("n_arms", "cost_min", "cost_max")} | {"gaps": known["gaps"] or None}
        problem["setting"] = theory.Setting(known["iid"], known["costs"])
    rows = theory.table(budget=budget, alpha=alpha, **problem)
    if everything:
        from purse import published

        rows += published.table(budget=budget, horizon=horizon, **problem)
    if as_json:
        print_json([row._asdict() for row in rows])
    else:
        print_bounds(rows)


@cli.command()
@click.argument("name", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
def policies(name: str | None, as_json: bool) -> None:
    """List the policies, or explain one."""
    from purse import policies as shelf

    modules = {each: shelf.load(each) for each in ([name] if name else shelf.names())}
    describe("policy", name, {each: (module.params, inspect.getdoc(module) or "") for each, module in modules.items()}, as_json)


@cli.command()
@click.argument("name", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
def environments(name: str | None, as_json: bool) -> None:
    """List the worlds, or explain one."""
    from purse import environments as shelf

    makers = {each: shelf.function(each) for each in ([name] if name else shelf.names())}
    describe("world", name, {each: (maker, f"{inspect.getmodule(maker).__doc__}\n\n{inspect.getdoc(maker)}") for each, maker in makers.items()}, as_json)


def main() -> None:
    """Run the command; every mistake of the user is one line and exit code 2."""
    words = sys.argv[1:] or ["--help"]
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without ± is no reason to lose the table
    try:
        code = cli(words, prog_name="purse", standalone_mode=False)
        sys.stdout.flush()
    except click.ClickException as error:
        code = complain(error.format_message())
    except PurseError as error:
        code = complain(str(error))
    except (KeyboardInterrupt, click.Abort):
        code = complain("interrupted" + ("; the same command continues where it was" if words[0] in ("compare", "leaderboard", "paper") else ""), 130)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 141
    except (MemoryError, OSError) as error:
        code = complain(f"{type(error).__name__}: {error}")
    sys.exit(code or 0)


def complain(message: str, code: int = 2) -> int:
    """One line on stderr."""
    click.echo("purse: " + " ".join(message.split()), err=True)
    return code
