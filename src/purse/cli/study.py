"""Verbs of studies: `compare`, `init`, `run`, `status`, `show`, `report`."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from purse.base.optional import check_lab
from purse.base.text import plain
from purse.cli.options import (
    PATH,
    WORLD_HELP,
    common,
    complete_worlds,
    delay_option,
    device_option,
    json_option,
    number,
    option,
    out_option,
    policies_argument,
    run_options,
)
from purse.cli.output import print_hanging, print_json, print_result
from purse.cli.results import (
    COMPARISON,
    RESULTS,
    chosen_options,
    folder_named,
    folder_of,
    study_folders,
    with_names,
)
from purse.errors import InvalidInput

if TYPE_CHECKING:
    from purse.lab.study.results import Study

# what tells one comparison from another
_DECIDES = ("policies", "worlds", "budgets", "paths", "seed", "stop", "delay")
_study_argument = click.argument(
    "study", metavar="[NAME|FOLDER|STUDY.TOML]", type=PATH, required=False
)


@click.command()
@policies_argument
@option(
    "-w --world WORLD worlds",
    f"{WORLD_HELP}; repeat it for several [default: four worlds].",
    multiple=True,
    shell_complete=complete_worlds,
)
@option(
    "-b --budget budgets",
    "Budget; repeat it for several [default: several].",
    multiple=True,
    type=number,
)
@option("-n --paths", "Independent paths per policy, world and budget.", type=int)
@out_option(f"Folder for results and report [default: one for each comparison in {RESULTS}].")
@delay_option
@device_option
@common
def compare(
    policies: tuple[str, ...],
    worlds: tuple[str, ...],
    budgets: tuple[float, ...],
    paths: int | None,
    folder: Path | None,
    n_workers: int | None,
    device: str,
    as_json: bool,
    **options: Any,
) -> None:
    """Compare policies on worlds over budgets.

    POLICY is a name, name:option=value,... or the path of a policy file. The default is replan, the
    paper's two algorithms and uniform play. Prints each policy's regret against the best fixed arm
    on the same draws, with a 95% interval. Writes the report (HTML), its figures (PNG, SVG, CSV)
    and the results (Parquet) to a folder of this comparison's own; `purse lab status` lists them.
    Finished parts are not computed again: the same command continues an interrupted run, and
    comparisons share what they have in common.
    """
    check_lab("compare")
    from purse.lab.study import compare as defaults
    from purse.lab.study.plan import Plan, WorldLike

    sources: Mapping[str, WorldLike] = {world: world for world in worlds} or defaults.DEFAULT_WORLDS
    plan = Plan.of(
        policies or defaults.DEFAULT_POLICIES,
        sources,
        budgets=budgets or defaults.DEFAULT_BUDGETS,
        n_paths=defaults.DEFAULT_PATHS if paths is None else paths,
        title=None,
        **options,
    )
    target = folder or folder_named(COMPARISON, plan.toml if chosen_options(_DECIDES) else None)
    how: dict[str, Any] = {"n_workers": n_workers, "device": device, "shared": folder is None}
    _present(defaults.run(plan, folder=target, **how), target, as_json)


@click.command()
@click.argument("path", default="study.toml", type=PATH)
def init(path: Path) -> None:
    """Write a commented study file to start from."""
    from purse.base.files import write_text
    from purse.lab.study.study_file import EXAMPLE

    if path.exists():
        raise InvalidInput(f"{str(path)!r} exists already; give another name, or remove it")
    write_text(path, EXAMPLE.format(name=path))
    click.echo(f"Written to {path}; edit it, then: purse lab run {path}")


@click.command()
@click.argument("study", metavar="STUDY.TOML|FOLDER", type=PATH)
@out_option("Folder for results and report [default: purse-results/NAME].")
@run_options
def run(study: Path, folder: Path | None, as_json: bool, **options: Any) -> None:
    """Run the study in a file, or continue the study in a folder.

    Finished parts are not played again: an interrupted study continues, and a changed one plays
    only what is new. Prints the regrets, and writes the report (HTML), its figures (PNG, SVG, CSV)
    and the results (Parquet).
    """
    check_lab("lab run")
    from purse.lab.study import manifest, study_file
    from purse.lab.study.compare import run as run_plan

    target = folder or folder_of(study)
    if study.is_dir():
        plan = study_file.parse(manifest.study(study), study / manifest.NAME)
    else:
        plan = study_file.load(study)
    # a comparison is continued with what it shares with others
    options["shared"] = folder is None and study.name.startswith(COMPARISON)
    _present(run_plan(plan, folder=target, **options), target, as_json)


@click.command()
@_study_argument
@option("--json as_json", "Print JSON instead of words.", is_flag=True)
def status(study: Path | None, as_json: bool) -> None:
    """Print how far a study has come; without a name, all studies.

    Without a name prints the last study and lists those before it.
    """
    from purse.lab.study import manifest

    target = _existing_folder(study)
    facts = manifest.load(target)
    done, planned, size = manifest.progress_of(target)
    others = study_folders()[1:] if study is None else []
    if as_json:
        facts_shown = {key: facts[key] for key in facts if key != "shards"}
        progress = {"folder": str(target), "shards": planned, "finished": done, "bytes": size}
        earlier = {"others": [str(folder) for folder in others]} if study is None else {}
        print_json({**progress, **facts_shown, **earlier})
        return
    late = f", delay={facts['delay']}" if facts.get("delay") else ""
    click.echo(
        f"{facts['title']}: {_size_of(facts)} × {facts['n_paths']:,} paths, seed {facts['seed']}, "
        f"stop={facts['stop']}{late}"
    )
    end = f"finished {facts['made']}" if facts["made"] else "not finished: run it again to continue"
    click.echo(f"{manifest.standing(target)}; {end}")
    if study is None:
        click.echo(f"in {target}")
    for index, folder in enumerate(others):
        before = manifest.load(folder)
        click.echo("" if index else "Earlier:", nl=not index)
        policies = ", ".join(before["policies"])
        print_hanging(
            f"  {folder}  ", f"{policies}: {_size_of(before)}; {before['made'] or 'not finished'}"
        )


def _size_of(facts: dict[str, Any]) -> str:
    """Return how many policies, worlds and budgets a study has, in words."""
    return " × ".join(
        f"{len(facts[key])} {key if len(facts[key]) > 1 else one}"
        for key, one in (("policies", "policy"), ("worlds", "world"), ("budgets", "budget"))
    )


@click.command()
@_study_argument
@json_option
def show(study: Path | None, as_json: bool) -> None:
    """Print the regrets of a study, or the gains of a replay.

    Without a name takes the last study; `purse lab status` lists all.
    """
    from purse.lab.study.results import Study

    target = _existing_folder(study)
    result = Study.load(target)
    if as_json:
        print_json(result.as_dict())
        return
    if study is None and len(study_folders()) > 1:
        click.echo(
            f"{target}, the last of {len(study_folders())}; `purse lab status` lists them", err=True
        )
    print_result(result, result.facts.worlds)


@click.command()
@_study_argument
@out_option("Folder for the page and its figures [default: the study's].")
def report(study: Path | None, folder: Path | None) -> None:
    """Write the report of a study: a page, and each figure.

    The page is one HTML file, and figures are PNG, SVG and CSV. Without a name takes the last
    study; `purse lab status` lists all.
    """
    from purse.lab.study.results import Study

    target = _existing_folder(study)
    for file in Study.load(target).publish(folder or target):
        click.echo(str(file))


def _existing_folder(study: Path | None) -> Path:
    """Return the folder of a study that exists.

    Raise `InvalidInput` with the studies that there are, if this one is not among them.
    """
    from purse.lab.study import manifest

    target = folder_of(study)
    try:
        manifest.load(target)
    except InvalidInput as error:
        raise with_names(error, study) from None
    return target


def _present(study: "Study", target: Path, as_json: bool) -> None:
    """Write the report, and print the regrets and what they say of each world."""
    files = study.publish(target)
    if as_json:
        print_files(target, files, **study.as_dict())
    else:
        print_result(study, study.facts.worlds)
        for world, verdict in study.verdicts().items():
            print_hanging("", plain(f"{world}: {verdict.sentence}"))
        click.echo(f"\n{where(target, files)}")


def print_files(target: Path, files: list[Path], **content: Any) -> None:
    """Print as JSON where the results and the report are, and the content."""
    print_json({"folder": str(target), "files": [str(file) for file in files], **content})


def where(target: Path, files: list[Path]) -> str:
    """Return a line that says where the results and the report are."""
    return f"Results and figures are in {target}\nThe report is {files[0]}"
