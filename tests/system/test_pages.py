"""Pages by hand: one sentence per line, a README that fits a landing page, a short sidebar; places,
programs and tests that they name exist; the toy policy and the toy world of CONTRIBUTING.md work as
written, and their tests pass.
"""

import re
import runpy
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from purse.testing import check_policy
from tests.support.paths import ROOT
from tests.support.soak import SOAK

# the other generated pages lie in folders
GENERATED = ("changelog.md", "leaderboard.md", "performance.md")
PAGES = sorted(
    str(path.relative_to(ROOT))
    for path in (
        ROOT / "README.md",
        ROOT / "CONTRIBUTING.md",
        *(page for page in (ROOT / "docs").glob("*.md") if page.name not in GENERATED),
    )
)
# a full stop, then what may open a sentence; but not after an initial or an abbreviation
TWO_SENTENCES = re.compile(
    r"(?<!\b[A-Z])(?<!\bal)(?<!\be\.g)(?<!\beq)(?<!\bi\.e)(?<!\bi\.i\.d)(?<!\bvs)"
    r"[.!?][)\"'*_”]*\s+[(\"'*_“\[]*[A-Z0-9]"
)
# `engine/loop.py: play` and `tests/system/test_kills.py`, as pages write them
PLACE = re.compile(r"`((?:[\w.-]+/)+\w+\.py)(?:: ([\w.]+))?`")
BASES = (ROOT, ROOT / "src" / "purse")
TOYS = re.compile(r"`[\w/]*/(?:test_)?(?:optimist|sale|MODULE)\.py`")  # of CONTRIBUTING.md
# `python -m research.paper`: a program of a clone
PROGRAM = re.compile(r"python -m ((?:benchmarks|research|tests)\.[\w.]*\w)")
TOY_FILES = re.findall(
    r"^\d\. Write `([^`]+)`.*?^   ```python\n(.*?)^   ```",
    (ROOT / "CONTRIBUTING.md").read_text(),
    re.DOTALL | re.MULTILINE,
)
README_LINES, README_COLUMNS = 130, 100


def prose(text: str) -> list[tuple[int, str]]:
    """The lines of prose with their numbers: without code, tables, headings and list marks; inline
    code and links become one word, as code may open a sentence.
    """
    lines, inside = [], False
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        if stripped.startswith("```"):
            inside = not inside
        elif not inside and not stripped.startswith(("|", "#", ":")):
            words = re.sub(r"^(?:[-*]|\d+\.)\s+", "", stripped)
            words = re.sub(r"`[^`]*`", "Code", words)
            lines.append((number, re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", words)))
    return lines


@pytest.mark.parametrize("page", PAGES)
def test_a_line_has_one_sentence(page: str) -> None:
    lines = prose((ROOT / page).read_text())
    assert [f"{page}:{number}" for number, line in lines if TWO_SENTENCES.search(line)] == []


def test_the_readme_fits_a_landing_page() -> None:
    lines = (ROOT / "README.md").read_text().splitlines()
    assert len(lines) <= README_LINES
    assert [line for line in lines if len(line) > README_COLUMNS] == []


def test_the_tests_of_the_promises_exist() -> None:
    page = (ROOT / "docs" / "stable.md").read_text()
    rows = re.findall(r"^\| P(\d) \|.*`(test_\w+\.py)` \|$", page, re.M)
    assert [number for number, _ in rows] == list("1234567")
    assert [file for _, file in rows if not (Path(__file__).parent / file).is_file()] == []


@pytest.mark.parametrize("page", PAGES)
def test_the_places_and_programs_that_a_page_names_exist(page: str) -> None:
    text = TOYS.sub("", (ROOT / page).read_text())
    missing = []
    for path, name in PLACE.findall(text):
        files = [base / path for base in BASES if (base / path).is_file()]
        defined = rf"(?m)^\s*(?:(?:async )?def|class) {name.rpartition('.')[2]}\b"
        if not files or (name and not re.search(defined, files[0].read_text())):
            missing.append(f"{path}: {name}")
    for module in PROGRAM.findall(text):
        path = ROOT / module.replace(".", "/")
        if not (path.with_suffix(".py").is_file() or (path / "__main__.py").is_file()):
            missing.append(module)
    assert missing == []


def test_the_sidebar_is_short_and_machines_get_the_same_pages() -> None:
    parts = re.findall(r"```{toctree}\n(.*?)```", (ROOT / "docs" / "index.md").read_text(), re.S)
    groups = [re.findall(r"(?m)^(?:.*<)?([\w/-]+)>?$", part) for part in parts]
    assert len(groups) == 9  # the last one has measurements
    assert max(map(len, groups)) <= 7
    named = re.findall(r"\]\(([\w/-]+)\.html\)", (ROOT / "docs" / "llms.txt").read_text())
    pages = [page for group in groups[:-1] for page in group]
    assert named[: len(pages)] == pages
    assert set(named[len(pages) :]) <= set(groups[-1])


@pytest.mark.parametrize(
    ("line", "sentences"),
    [
        ("One sentence, with 3.51.3 and 0.1 in it.", 1),
        ("A. Rangi and L. Tran-Thanh (Li et al. 2011) say so.", 1),
        ("Write `a. B` and [this. That](page.md#a).", 2),
        ("One ends. Another begins.", 2),
        ("**Bold.** Then more.", 2),
        ("One ends (as here.) `code` begins.", 2),
        ("1. Write it.", 1),
    ],
)
def test_the_check_tells_one_sentence_from_two(line: str, sentences: int) -> None:
    ((_, words),) = prose(line)
    assert (2 if TWO_SENTENCES.search(words) else 1) == sentences


@pytest.mark.parametrize("kind", ["policies", "worlds"])
def test_a_newcomers_file_passes_its_test(kind: str, tmp_path: Path) -> None:
    (source, code), (check, text) = [file for file in TOY_FILES if f"/{kind}/" in file[0]]
    file, test = tmp_path / Path(source).name, tmp_path / Path(check).name
    file.write_text(dedent(code))
    text = dedent(text).replace(f'"{file.stem}', f'"{file}')
    test.write_text(text)
    functions = {
        name: value for name, value in runpy.run_path(str(test)).items() if "test_" in name
    }
    assert functions
    for function in functions.values():
        for arguments in runs_of(function):
            function(**arguments)
    if SOAK and kind == "policies":  # as the cards of all policies do
        check_policy(str(file))


def runs_of(test: Callable[..., None]) -> list[dict[str, Any]]:
    """The arguments of each run of a test, which has one parameter or none."""
    marks = getattr(test, "pytestmark", [])
    return [{mark.args[0]: value} for mark in marks for value in mark.args[1]] or [{}]
