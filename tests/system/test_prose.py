"""The prose guide of CONTRIBUTING.md: one sentence per line and none of the words of a list on
pages that are written by hand, none of the turns of a list in docstrings and comments, names that
say what they hold, and files of a length that one can read.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.paths import ROOT

SOURCE = ROOT / "src" / "purse"
GENERATED = (
    "changelog.md",
    "leaderboard.md",
    "performance.md",
)  # the rest of what is generated lies in folders
PAGES = sorted(
    str(path.relative_to(ROOT))
    for path in (
        ROOT / "README.md",
        ROOT / "CONTRIBUTING.md",
        *(page for page in (ROOT / "docs").glob("*.md") if page.name not in GENERATED),
    )
)
WORDS = re.compile(r"\b(anew|of late|of the moment|who waits?|came of)\b", re.IGNORECASE)
# what needs a second reading: a clause without its noun, and "where" for "if"
TURNS = re.compile(
    r"\b(?:anew|afresh|of late|of the moment|came of|(?:is|are|be|was) none|needs? not|nobody"
    r"|somebody|whoever|so many|on the ground of|in the wrong|is at it|that which|if not so"
    r"|what is it|(?:of|to|for|by|than|from|and|or|as) who"
    r"|who (?:takes?|waits?|names?|knows?|wants?|has|have|is|are|asks?|reads?)"
    r"|where (?:there|it|they|that|none|nothing|no|this|he|she|its))\b"
    r"|(?:^|[.;:] )Where "
)
CLAUSES = {"What", "Who", "How", "Where", "Whether", "When", "Which"}  # no noun phrase
# beside code, or on lines of its own; formatted code has two spaces before one
COMMENT = re.compile(r"(?m)(?:^ *|(?<=  ))# .*(?:\n *# .*)*")
VAGUE = {"each", "found", "kept", "known", "made"}  # a name says what it holds
FACES = ("__init__", "__main__", "_version")  # of a package
SHORTEST, LONGEST, LONGEST_CLASS = 15, 400, 750
PUBLIC_CLASSES = ("campaign/campaign.py", "live/policy.py", "types.py")
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


def sentences_of(source: str, nodes: list[ast.AST]) -> Iterator[tuple[int, str]]:
    """The paragraphs of all docstrings and the comments of a module, each on one line, with the
    number of the line where the docstring or the comment begins.
    """
    for node in nodes:
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            for part in (ast.get_docstring(node) or "").split("\n\n"):
                yield (node.body[0].lineno if node.body else 1), " ".join(part.split())
    for comment in COMMENT.finditer(source):
        words = re.sub(r"\n *#", "", comment[0]).strip(" #")
        yield source.count("\n", 0, comment.start()) + 1, words


def names_of(nodes: list[ast.AST]) -> Iterator[tuple[int, str]]:
    """The variables and the parameters of a module; a field of a class may belong to a file."""
    bodies = [
        statement for node in nodes if isinstance(node, ast.ClassDef) for statement in node.body
    ]
    fields = {statement.target for statement in bodies if isinstance(statement, ast.AnnAssign)}
    for node in nodes:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node not in fields:
            yield node.lineno, node.id
        elif isinstance(node, ast.arg):
            yield node.lineno, node.arg


def offences(source: str) -> list[str]:
    """The turns of the list and the names that say nothing, with their lines."""
    nodes = list(ast.walk(ast.parse(source)))
    turns = ((line, TURNS.search(words)) for line, words in sentences_of(source, nodes))
    found = [f"{line}: {turn[0].strip()}" for line, turn in turns if turn]
    for node in nodes:
        if isinstance(node, ast.Module | ast.ClassDef):
            first = (ast.get_docstring(node) or "-").split()[0]
            if first in CLAUSES:
                found.append(f"{node.body[0].lineno}: no noun phrase: {first}")
    return found + [f"{line}: name {name}" for line, name in names_of(nodes) if name in VAGUE]


def test_docstrings_comments_and_names_of_package_and_examples_are_plain() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{offence}"
        for path in sorted([*SOURCE.rglob("*.py"), *(ROOT / "examples").glob("*.py")])
        for offence in offences(path.read_text())
    ]
    assert found == []


def test_the_check_finds_turns_across_lines_and_names() -> None:
    source = (
        '"""What a budget is.\n\nWhere it ends, asks fail."""\n'
        "# the lock, which is taken where\n# there is one\n"
        "found = [each for each in range(3)]  # so many\n"
    )
    expected = ["1: Where", "4: where there", "6: so many", "1: no noun phrase: What"]
    expected += ["6: name found", "6: name each"]
    assert offences(source) == expected


def test_source_files_are_neither_long_nor_slivers() -> None:
    lengths = {
        str(path.relative_to(SOURCE)): path.read_text().count("\n")
        for path in SOURCE.rglob("*.py")
        if path.stem not in FACES
    }
    found = {
        path: lines
        for path, lines in lengths.items()
        if not SHORTEST <= lines <= (LONGEST_CLASS if path in PUBLIC_CLASSES else LONGEST)
    }
    assert found == {}


def test_the_readme_fits_a_landing_page() -> None:
    lines = (ROOT / "README.md").read_text().splitlines()
    assert len(lines) <= README_LINES
    assert [line for line in lines if len(line) > README_COLUMNS] == []


def test_the_tests_of_the_promises_exist() -> None:
    page = (ROOT / "docs" / "stable.md").read_text()
    rows = re.findall(r"^\| P(\d) \|.*`(test_\w+\.py)` \|$", page, re.M)
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
