"""The folders of results: one for each comparison, study and replay, all in one home.

A comparison or a replay that is asked for with options has them in the name of its folder, as a
hash, so that no report replaces another.
"""

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from purse.errors import InvalidInput, suggest

RESULTS = Path("purse-results")
COMPARISON = "compare"
_MARK = 8  # characters that tell apart what has the same name


def results_of(file: Path, options: str | None = None) -> Path:
    """Return the folder for the results of a file, which is always one inside `RESULTS`.

    options   see `folder_named`

    >>> [str(results_of(Path(name))) for name in ("log.csv", "..csv", "...csv")]
    ['purse-results/log', 'purse-results/..csv', 'purse-results/...csv']
    """
    return folder_named(file.stem if file.stem.strip(".") else file.name, options)


def folder_named(name: str, options: str | None) -> Path:
    """Return the folder of this name inside `RESULTS`, another one for each text of options.

    options   what decides the results, as text; None: what is usual

    >>> str(folder_named("compare", None)), str(folder_named("compare", "seed = 0"))
    ('purse-results/compare', 'purse-results/compare-989713f4')
    """
    if options is None:
        return RESULTS / name
    return RESULTS / f"{name}-{hashlib.sha256(options.encode()).hexdigest()[:_MARK]}"


def chosen_options(names: Iterable[str]) -> dict[str, Any]:
    """Return the options of the running command with these names that were typed."""
    context = click.get_current_context()
    return {
        name: context.params[name]
        for name in names
        if context.get_parameter_source(name) is not ParameterSource.DEFAULT
    }


def folder_of(study: Path | None) -> Path:
    """Return a study's folder from the folder, its name, its study file, or the last one."""
    from purse.lab.study import manifest

    if study is None:
        studies = study_folders()
        return studies[0] if studies else RESULTS
    if study.suffix == ".toml":
        return results_of(study)
    if (study / manifest.NAME).is_file() or not (RESULTS / study / manifest.NAME).is_file():
        return study
    return RESULTS / study


def study_folders() -> list[Path]:
    """Return the folders of all studies in `RESULTS`, the last one first."""
    from purse.lab.study import manifest

    manifests = [path for path in RESULTS.glob(f"*/{manifest.NAME}") if path.is_file()]
    manifests.sort(key=lambda path: path.stat().st_mtime_ns, reverse=True)
    return [path.parent for path in manifests]


def with_names(error: InvalidInput, study: Path | None) -> InvalidInput:
    """Return the error about a folder without a study, with the studies that there are."""
    names = [folder.name for folder in study_folders()]
    if not names:
        return error
    hint = suggest("" if study is None else study.name, names)
    return InvalidInput(f"{error}; {hint or RESULTS.name + ' has ' + ', '.join(names)}")
