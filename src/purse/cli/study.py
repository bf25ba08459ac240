"""Verbs of studies: `compare`, `init`, `run`, `status`, `show`, `report`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import click

from purse.cli import complete
from purse.cli.options import (
    WORLD_HELP,
    Budget,
    common,
    delay_option,
    device_option,
    json_option,
    out_option,
    policies_argument,
    run_options,
)
from purse.cli.output import print_gains, print_json, print_regrets
from purse.errors import InvalidInput, MissingExtra

if TYPE_CHECKING:
    from purse.study.results import Study

RESULTS = Path("purse-results")
study_argument = click.argument(
    "study", metavar="FOLDER|STUDY.TOML", type=click.Path(path_type=Path), default=RESULTS
)


class Publishable(Protocol):
    """A result that can be written as a page."""

    def publish(self, folder: Path) -> list[Path]:
        """Write the page and its figures, and return the files."""


@click.command()
@policies_argument
@click.option(
    "-w",
    "--world",
    "worlds",
    multiple=True,
    metavar="WORLD",
    shell_complete=complete.worlds,
    help=f"{WORLD_HELP}; repeat it for several [default: four worlds].",
)
@click.option(
    "-b",
    "--budget",
    "budgets",
    multiple=True,
    type=Budget(),
    help="Budget; repeat it for several [default: several].",
)
@click.option("-n", "--paths", type=int, help="Independent paths per policy, world and budget.")
@out_option("Folder for results and report.", str(RESULTS))
@delay_option
@device_option
@common
def compare(
    policies: tuple[str, ...],
    worlds: tuple[str, ...],
    budgets: tuple[float, ...],
    paths: int | None,
    folder: str,
    workers: int | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Compare policies on worlds over budgets.

    POLICY is a name, name:option=value,... or the path of a policy file. The default is replan, the
    paper's two algorithms and uniform play. Prints each policy's regret against the best fixed arm
    on the same draws, with a 95% interval. Writes the report (HTML), its figures
    (PNG, SVG, CSV) and the results (Parquet) to the output folder. Finished parts are not computed
    again: an interrupted run continues where it stopped.
    """
    from purse.study import compare as defaults
    from purse.study.plan import WorldLike

    places: Mapping[str, WorldLike] = {world: world for world in worlds} or defaults.DEFAULT_WORLDS
    result = defaults.compare(
        policies or defaults.DEFAULT_POLICIES,
        places,
        budgets=budgets or defaults.DEFAULT_BUDGETS,
        n_paths=defaults.DEFAULT_PATHS if paths is None else paths,
        n_workers=workers,
        folder=folder,
        **options,
    )
    present(result, Path(folder), as_json)


@click.command()
@click.argument("path", default="study.toml", type=click.Path(path_type=Path))
def init(path: Path) -> None:
    """Write a commented study file to start from."""
    from purse.base.files import write_text
    from purse.study.study_file import EXAMPLE

    if path.exists():
        raise InvalidInput(f"{str(path)!r} exists already; give another name, or remove it")
    write_text(path, EXAMPLE.format(name=path))
    click.echo(f"Written to {path}; edit it, then: purse run {path}")


@click.command()
@click.argument("study", metavar="STUDY.TOML|FOLDER", type=click.Path(path_type=Path))
@out_option("Folder for results and report [default: purse-results/NAME].")
@run_options
def run(
    study: Path, folder: Path | None, workers: int | None, as_json: bool, **options: Any
) -> None:
    """Run the study in a file, or continue the study in a folder.

    Finished parts are not played again: an interrupted study continues, and a changed one plays
    only what is new. Prints the regrets, and writes the report (HTML), its figures (PNG, SVG, CSV)
    and the results (Parquet).
    """
    from purse.study import manifest, study_file
    from purse.study.compare import run as run_plan

    target = folder or folder_of(study)
    if study.is_dir():
        plan = study_file.parse(manifest.study(study), study / manifest.NAME)
    else:
        plan = study_file.load(study)
    present(run_plan(plan, n_workers=workers, folder=target, **options), target, as_json)


@click.command()
@study_argument
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of words.")
def status(study: Path, as_json: bool) -> None:
    """Print how many shards of a study are finished."""
    from purse.study import manifest

    target = folder_of(study)
    facts = manifest.load(target)
    done, planned, size = manifest.progress_of(target)
    if as_json:
        rest = {key: facts[key] for key in facts if key != "shards"}
        standing = {"folder": str(target), "shards": planned, "finished": done, "bytes": size}
        print_json({**standing, **rest})
        return
    counts = " × ".join(
        f"{len(facts[key])} {key if len(facts[key]) > 1 else one}"
        for key, one in (("policies", "policy"), ("worlds", "world"), ("budgets", "budget"))
    )
    late = f", delay={facts['delay']}" if facts.get("delay") else ""
    click.echo(
        f"{facts['title']}: {counts} × {facts['n_paths']:,} paths, seed {facts['seed']}, "
        f"stop={facts['stop']}{late}"
    )
    made = (
        f"finished {facts['made']}" if facts["made"] else "not finished: run it again to continue"
    )
    click.echo(f"{manifest.standing(target)}; {made}")


@click.command()
@study_argument
@json_option
def show(study: Path, as_json: bool) -> None:
    """Print the regrets of a finished study, or the gains of a replay."""
    from purse.study.results import Study, TableStudy

    result = Study.load(folder_of(study))
    if as_json:
        print_json({"worlds": result.facts.worlds, "rows": result.table().to_dicts()})
    elif isinstance(result, TableStudy):
        print_gains(result)
    else:
        print_regrets(result, result.facts.worlds)


@click.command()
@study_argument
@out_option("Folder for the page and its figures [default: the study's].")
def report(study: Path, folder: Path | None) -> None:
    """Write the report of a finished study: one HTML file, and each figure as PNG, SVG and CSV."""
    from purse.study.results import Study

    target = folder_of(study)
    for file in Study.load(target).publish(folder or target):
        click.echo(str(file))


def folder_of(study: Path) -> Path:
    """Return the folder of a study, from the folder or from its study file."""
    return results_of(study) if study.suffix == ".toml" else study


def results_of(file: Path) -> Path:
    """Return the folder for the results of a file, which is always one inside `RESULTS`.

    >>> [str(results_of(Path(name))) for name in ("log.csv", "..csv", "...csv")]
    ['purse-results/log', 'purse-results/..csv', 'purse-results/...csv']
    """
    return RESULTS / (file.stem if file.stem.strip(".") else file.name)


def present(study: Study, target: Path, as_json: bool) -> None:
    """Write the report and print the regrets."""
    files = wrote(study, target)
    if as_json:
        print_files(target, files, worlds=study.facts.worlds, rows=study.table().to_dicts())
    else:
        print_regrets(study, study.facts.worlds)
        click.echo(where(target, files))


def print_files(target: Path, files: list[Path], **content: Any) -> None:
    """Print as JSON where the results and the report are, and the content."""
    print_json({"folder": str(target), "files": [str(file) for file in files], **content})


def wrote(result: Publishable, target: Path) -> list[Path]:
    """Write the report and return its files, the page first.

    Where a package that it needs is not installed, print a line that says so and return no files.
    """
    try:
        return result.publish(target)
    except MissingExtra as error:
        click.echo(f"No report: {error}", err=True)
        return []


def where(target: Path, files: list[Path]) -> str:
    """Return a line that says where the results and the report are."""
    if not files:
        return f"Results are in {target}"
    return f"Results and figures are in {target}, the report is {files[0]}"
