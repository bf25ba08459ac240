"""The pages of policies: when to use one, its scores on the leaderboard, its options, and the
docstring of its file; and an index in groups.
"""

from __future__ import annotations

import inspect
import re
import shutil
from pathlib import Path
from types import ModuleType

import boards
from docstrings import markdown, prose, summary
from score_bars import Bars, draw

from purse import policies
from purse.base.catalog import grouped
from purse.base.text import MISSING, keep_on_line, write_markdown_table
from research.leaderboard.page import PAGES
from research.leaderboard.record import ADVERSARY, Record
from research.leaderboard.suites import LONG_GAMES
from research.leaderboard.tables import TIE, anchor, link, name_page, percent, rank

ARXIV = re.compile(r"arXiv[ :](\d{4}\.\d{4,5})")
GUARANTEE = re.compile(r"Guarantee: (.*?\.)(?= [A-Z]| `|$)")  # its first sentence
MUCH = 0.02  # of the optimum: the default is worth leaving for a policy that is better by more
SUITES = {suite: page.title.lower() for suite, page in PAGES.items()}


def write(folder: Path) -> None:
    """Write a page for each policy, one for each group, and the index."""
    source = folder / "source"
    source.mkdir(parents=True, exist_ok=True)
    records = {suite: boards.read(suite) for suite in boards.played()}
    index = ["# Policies", f"`{policies.DEFAULT}` is the default."]
    entries = []
    for title, names in grouped(policies.GROUPS, policies.names()):
        modules = {name: policies.load(name) for name in names}
        for name, module in modules.items():
            assert module.__file__ is not None
            shutil.copy(module.__file__, source)
            text = page(name, module, title, records)
            (folder / f"{name_page(name)}.md").write_text(text, encoding="utf-8")
        table = write_markdown_table(
            ["policy", "what it is"],
            [
                [f"[`{name}`]({name_page(name)}.md)", prose(summary(module.__doc__), {})]
                for name, module in modules.items()
            ],
        )
        slug = "group-" + re.sub(r"\W+", "-", title.lower())
        pages = "\n".join(map(name_page, names))
        text = f"# {title}\n\n{table}\n\n```{{toctree}}\n:hidden:\n\n{pages}\n```\n"
        (folder / f"{slug}.md").write_text(text, encoding="utf-8")
        index += [f"## {title}", table]
        entries.append(slug)
    (folder / "guarantees.md").write_text(guarantees(), encoding="utf-8")
    index.append("[Which policy has which guarantee](guarantees.md) is a table of its own.")
    entries.append("guarantees")
    listed = "\n".join(entries)
    index.append(f"```{{toctree}}\n:hidden:\n\n{listed}\n```")
    (folder / "index.md").write_text("\n\n".join(index) + "\n", encoding="utf-8")


def page(name: str, module: ModuleType, group: str, records: dict[str, Record]) -> str:
    """Return the page of a policy."""
    assert module.__file__ is not None
    first, _, details = inspect.cleandoc(module.__doc__ or "").partition("\n\n")
    body = ARXIV.sub(r"[arXiv \1](https://arxiv.org/abs/\1)", markdown(details))
    parts = [
        f"# {name}",
        prose(first, {}),
        "## When to use it",
        "\n".join(advice(name, group, records)),
        *scores(name, records),
        "## How it works",
        body,
        f"Checked against: {policies.source(module)}.",
        "## Options",
        options(module),
        f"[The source]({'source/' + Path(module.__file__).name}) is one file.",
    ]
    return "\n\n".join(parts) + "\n"


def guarantees() -> str:
    """Return the page that says what is proved of each policy: the first sentence of its file on
    it.
    """
    rows = []
    for _, names in grouped(policies.GROUPS, policies.names()):
        for name in names:
            text = " ".join((policies.load(name).__doc__ or "").split())
            guarantee = GUARANTEE.search(text)
            assert guarantee is not None, name
            rows.append([f"[`{name}`]({name_page(name)}.md)", prose(guarantee[1], {})])
    return (
        "# Which policy has which guarantee\n\n"
        "What is proved, and not what was measured: a policy without a guarantee may do better.\n"
        "[What is true](../theory/what-is-true.md) has the proofs of `tsallis-inf.coin`, which "
        "has statements for random costs, for gaps and for an adversary at once, and of "
        "`replan`.\n\n"
        f"{write_markdown_table(['policy', 'guarantee'], rows)}\n"
    )


def advice(name: str, group: str, records: dict[str, Record]) -> list[str]:
    """Return when to use a policy: what it is for, and on which worlds it leads the leaderboard, or
    where the default does not.
    """
    leads: dict[str, list[str]] = {}  # suite -> situations in which none is better
    behind: dict[str, list[str]] = {}
    for suite, record in records.items():
        for situation in record.situations:
            choices = rank(record, [situation])
            mine = [choice for choice in choices if choice.policy.partition(":")[0] == name]
            # against an adversary all are alike if the reference is known only afterwards
            if not mine or (situation, suite) == (ADVERSARY, LONG_GAMES):
                continue
            best = mine[0].mean <= choices[0].mean + (MUCH if name == policies.DEFAULT else TIE)
            variant = mine[0].policy.removeprefix(name).removeprefix(":")
            how = f" (`{variant}`)" if variant and best else ""
            (leads if best else behind).setdefault(suite, []).append(situation + how)
    if name == policies.DEFAULT:
        first = f"It is the default. Another policy is better by more than {MUCH:.0%} in:"
        return [first, "", *by_suite(behind)]
    lines = [f"It is in the group *{group[0].lower()}{group[1:]}*."]
    if better := policies.dominated().get(name):
        lines.append(
            f"{link(better, '.')} dominates it on the leaderboard: worse in no situation, and "
            "better on average."
        )
    if leads:
        lines += [f"None is better by more than {TIE:.1%} in:", "", *by_suite(leads)]
    elif behind:
        lines.append(
            "On the leaderboard another policy is better in every situation: take this one to "
            "compare with it, or for its guarantee."
        )
    return lines


def by_suite(situations: dict[str, list[str]]) -> list[str]:
    """Return a line for each suite."""
    return [
        f"- [{SUITES[suite]}]({suite_link(suite)}): {'; '.join(names)}"
        for suite, names in situations.items()
    ]


def suite_link(suite: str) -> str:
    """Return where a suite is on the page of the leaderboard."""
    return f"../leaderboard.md#{anchor(PAGES[suite].title)}"


def scores(name: str, records: dict[str, Record]) -> list[str]:
    """Return the section with the scores of a policy and of its variants, if it was played."""
    rows = []
    for suite, record in records.items():
        for position, standing in enumerate(record.standings, 1):
            if standing.policy.partition(":")[0] == name:
                variant = standing.policy.partition(":")[2]
                rows.append(
                    [
                        f"[{SUITES[suite]}]({suite_link(suite)})"
                        + (f", `{variant}`" if variant else ""),
                        f"{100 * standing.score:.1f}",
                        keep_on_line(f"{position} of {len(record.standings)}"),
                        keep_on_line(f"{standing.cases} of {len(record.cases)}"),
                        f"{percent(standing.worst)} ({standing.worst_case})",
                    ]
                )
    if not rows:
        return []
    head = ["suite", "mean regret, %", "place", "cases", "in its worst case"]
    return [
        "## Scores",
        "Mean regret in percent of a reference: 0 is as good, 100 is nothing gained.",
        write_markdown_table(head, rows, right=[1]),
        *by_situation(name, records[LONG_GAMES]),
    ]


def by_situation(name: str, record: Record) -> list[str]:
    """Return a picture and a table of regrets by situation, beside the default and the best."""
    rows, bars = [], []
    for situation, cases in record.situations.items():
        mine = record.mean_over(name, cases)
        if mine is None:
            continue
        usual = record.mean_over(policies.DEFAULT, cases)
        best = rank(record, [situation])[0]
        bars.append(Bars(situation, mine, usual, best.mean))
        cells = [percent(mine), MISSING if usual is None else percent(usual)]
        rows.append(
            [
                situation,
                *cells[: 1 if name == policies.DEFAULT else 2],
                f"{percent(best.mean)} ({link(best.policy, '.')})",
            ]
        )
    if not rows:
        return []
    names = dict.fromkeys([name, policies.DEFAULT])
    head = ["situation in long games", *(link(player, ".") for player in names), "the best"]
    right = range(1, 1 + len(names))
    return [draw(name, policies.DEFAULT, bars), write_markdown_table(head, rows, right=right)]


def options(module: ModuleType) -> str:
    """Return the options with their types and defaults; the docstring says what they are."""
    _, *parameters = inspect.signature(module.params).parameters.values()
    if not parameters:
        return "None."
    rows = [
        [
            f"`{option.name}`",
            f"`{inspect.formatannotation(option.annotation)}`".replace("|", "\\|"),
            f"`{option.default!r}`",
        ]
        for option in parameters
    ]
    table = write_markdown_table(["option", "type", "default"], rows)
    example = ",".join(f"{option.name}={option.default}" for option in parameters[:2])
    return f"{table}\n\nAs text: `{module.NAME}:{example}`."
