"""The folders of results: one for each comparison, study and replay, all in one home."""

from __future__ import annotations

import hashlib
from pathlib import Path

from purse.errors import InvalidInput, suggest

RESULTS = Path("purse-results")
COMPARISON = "compare"
MARK = 8  # characters that tell comparisons apart


def results_of(file: Path) -> Path:
    """Return the folder for the results of a file, which is always one inside `RESULTS`.

    >>> [str(results_of(Path(name))) for name in ("log.csv", "..csv", "...csv")]
    ['purse-results/log', 'purse-results/..csv', 'purse-results/...csv']
    """
    return RESULTS / (file.stem if file.stem.strip(".") else file.name)


def comparison_of(plan: str | None) -> Path:
    """Return the folder of a comparison: another one for each plan, so that no report replaces
    another; without a plan that of the default comparison.

    >>> str(comparison_of(None)), str(comparison_of("seed = 0"))
    ('purse-results/compare', 'purse-results/compare-989713f4')
    """
    if plan is None:
        return RESULTS / COMPARISON
    return RESULTS / f"{COMPARISON}-{hashlib.sha256(plan.encode()).hexdigest()[:MARK]}"


def folder_of(study: Path | None) -> Path:
    """Return a study's folder from the folder, its name, its study file, or the last one."""
    from purse.lab.study import manifest

    if study is None:
        studies = kept()
        return studies[0] if studies else RESULTS
    if study.suffix == ".toml":
        return results_of(study)
    if (study / manifest.NAME).is_file() or not (RESULTS / study / manifest.NAME).is_file():
        return study
    return RESULTS / study


def kept() -> list[Path]:
    """Return the folders of all studies in `RESULTS`, the last one first."""
    from purse.lab.study import manifest

    manifests = [path for path in RESULTS.glob(f"*/{manifest.NAME}") if path.is_file()]
    manifests.sort(key=lambda path: path.stat().st_mtime_ns, reverse=True)
    return [path.parent for path in manifests]


def with_names(error: InvalidInput, study: Path | None) -> InvalidInput:
    """Return the error about a folder without a study, with the studies that there are."""
    names = [folder.name for folder in kept()]
    if not names:
        return error
    hint = suggest("" if study is None else study.name, names)
    return InvalidInput(f"{error}; {hint or RESULTS.name + ' has ' + ', '.join(names)}")
