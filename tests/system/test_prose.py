"""The pages that are written by hand have one sentence per line and none of the words that the
prose guide in CONTRIBUTING.md rules out; public docstrings have none of these words either.
"""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

import purse

ROOT = Path(__file__).parent.parent.parent
GENERATED = ("changelog.md", "performance.md")  # the rest of what is generated lies in folders
PAGES = sorted(
    str(path.relative_to(ROOT))
    for path in (
        ROOT / "README.md",
        ROOT / "CONTRIBUTING.md",
        *(page for page in (ROOT / "docs").glob("*.md") if page.name not in GENERATED),
    )
)
WORDS = re.compile(r"\b(anew|of late|of the moment|who waits?|came of)\b", re.IGNORECASE)
# a full stop, then what may open a sentence; but not after an initial or an abbreviation
TWO_SENTENCES = re.compile(
    r"(?<!\b[A-Z])(?<!\bal)(?<!\be\.g)(?<!\beq)(?<!\bi\.e)(?<!\bi\.i\.d)(?<!\bvs)"
    r"[.!?][)\"'*_”]*\s+[(\"'*_“\[]*[A-Z0-9]"
)
# `engine/loop.py: play` and `tests/system/test_kills.py`, as pages write them
PLACE = re.compile(r"`((?:[\w.-]+/)+\w+\.py)(?:: ([\w.]+))?`")
BASES = (ROOT, ROOT / "src" / "purse")
README_LINES, README_COLUMNS = 150, 100


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
    found = [
        f"{page}:{number}: {line}"
        for number, line in prose((ROOT / page).read_text())
        if TWO_SENTENCES.search(line)
    ]
    assert found == []


@pytest.mark.parametrize("page", PAGES)
def test_pages_avoid_the_words_of_the_list(page: str) -> None:
    lines = enumerate((ROOT / page).read_text().splitlines(), 1)
    assert [f"{page}:{number}: {line}" for number, line in lines if WORDS.search(line)] == []


def test_public_docstrings_avoid_the_words_of_the_list() -> None:
    found = []
    for module in (purse, purse.lab, purse.errors):
        for name, value in inspect.getmembers(module):
            members = inspect.getmembers(value) if isinstance(value, type) else []
            public = [(f"{name}.{each}", member) for each, member in members if each[0] != "_"]
            found += [
                f"{module.__name__}.{each}"
                for each, member in [(name, value), *public]
                if name[0] != "_" and WORDS.search(inspect.getdoc(member) or "")
            ]
    assert found == []


def test_the_readme_fits_a_landing_page() -> None:
    lines = (ROOT / "README.md").read_text().splitlines()
    assert len(lines) <= README_LINES
    assert [line for line in lines if len(line) > README_COLUMNS] == []


def test_the_tests_of_the_promises_exist() -> None:
    rows = re.findall(r"^\| P(\d) \|.*`(test_\w+\.py)` \|$", (ROOT / "README.md").read_text(), re.M)
    assert [number for number, _ in rows] == list("1234567")
    assert [file for _, file in rows if not (Path(__file__).parent / file).is_file()] == []


@pytest.mark.parametrize("page", [page for page in PAGES if page != "CONTRIBUTING.md"])
def test_the_places_in_the_code_that_a_page_names_exist(page: str) -> None:
    missing = []
    for path, name in PLACE.findall((ROOT / page).read_text()):
        files = [base / path for base in BASES if (base / path).is_file()]
        defined = rf"(?m)^\s*(?:def|class) {name.rpartition('.')[2]}\b"
        if not files or (name and not re.search(defined, files[0].read_text())):
            missing.append(f"{path}: {name}")
    assert missing == []


def test_every_failure_names_a_test_that_there_is() -> None:
    table = (ROOT / "docs" / "operations.md").read_text().split("## Failures\n")[1]
    rows = [line.split(" | ") for line in table.splitlines() if line.startswith("| ")][1:]
    assert len(rows) > 40
    named = [row[-1].strip(" |`") for row in rows]
    assert named.count("") == 1  # NFS
    for test in filter(None, named):
        path, _, name = test.partition("::")
        source = (ROOT / "tests" / path).read_text()
        assert f"def {name}(" in source or not name, test


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
