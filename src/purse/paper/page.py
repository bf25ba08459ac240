"""From findings to the page: Markdown with pictures beside it, and one HTML file that holds
everything.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib.resources import files
from types import ModuleType

from purse.paper.figure import svg
from purse.paper.finding import Finding, Picture, Table

TITLE = "What the paper claims, what we measured, what is true"
INTRO = (
    "A. Rangi, M. Franceschetti and L. Tran-Thanh, *Unifying the stochastic and the adversarial "
    "Bandits with Knapsack* (2019), states five\n"
    "theorems about EXP3.BwK and EXP3++.BwK and shows no experiment. This page takes each claim, "
    "measures it, and says what is true. The tables and\n"
    "pictures are reproduced by"
)
NOTATION = (
    "K arms, budget B, costs in [c, 1], rewards in [0, 1], log is natural. r_t(i), c_t(i) and "
    "e_t(i) = r_t(i)/c_t(i) are the reward, cost and\n"
    "efficiency of arm i in round t; i_t is the arm played, τ the number of rounds that were paid "
    "for, σ the round in which the game ends, the\n"
    "pull that cannot be paid included, G the gain. T(i) is the number of rounds that arm i alone "
    "can be paid for, and i* the arm with the\n"
    "largest Σ_{t ≤ T(i)} e_t(i). In i.i.d. worlds μ(i) and ρ(i) are mean reward and mean cost, "
    "e(i) = μ(i)/ρ(i), e* the largest of them, Δ(i) =\n"
    "e* − e(i), N(i) the number of pulls; Σ ρ(i)Δ(i)N(i) is the pseudo-regret. Regret, where "
    "nothing else is said, is how much more the best\n"
    "fixed arm gains on the same draws. γ is the learning rate of EXP3.BwK; ε_t(i) the exploration "
    "rate of EXP3++.BwK, δ_t(i) its third term, Δ̂\n"
    "its estimate of Δ, η and λ what its confidence bounds are made from, c̄ a mean cost so far, p "
    "and p̃ its probabilities before and after\n"
    "exploration, and α, β the constants in them. Slopes are those of log regret against log B; "
    "their intervals are a bootstrap over paths, so\n"
    "they tell the noise and not how well a straight line fits, for which there are the slopes "
    "from budget to budget."
)
QUICK = (
    "**A quick look**: small budgets and few paths. The numbers on this page are not for quoting."
)


def markdown(studied: Sequence[tuple[ModuleType, Finding]], pictures: str, quick: bool) -> str:
    """The page as Markdown, with links to pictures in the folder of that name."""
    head = Table(
        ["claim", "verdict", "measured"],
        [
            [
                f"[{claim.TITLE}](#{slug(claim.TITLE)})",
                f"**{found.verdict}**",
                found.measured + ("" if found.agrees else " — **this run does not show it**"),
            ]
            for claim, found in studied
        ],
    )
    lines = [
        f"# {TITLE}",
        typeset(INTRO),
        f"    purse paper{' --quick' if quick else ''}",
        *([QUICK] if quick else []),
        "## Verdicts",
        table(head),
        "## Notation",
        typeset(NOTATION),
    ]
    for claim, found in studied:
        lines += [
            f"## {claim.TITLE}",
            f"*The claim.* {typeset(claim.SAYS)}",
            f"*Verdict.* **{typeset(capital(found.verdict))}.**",
        ]
        lines += [block(each, pictures) for each in found.blocks]
        lines += ["See it for yourself:", "\n".join(f"    {command}" for command in claim.COMMANDS)]
    return "\n\n".join(lines) + "\n"


def typeset(text: str) -> str:
    """x_t and Σ_{t ≤ T} as subscripts, B^α as superscripts, everywhere but in code."""

    def prose(part: str) -> str:
        return re.sub(
            r"\^([\d.]*\d|\w)",
            r"<sup>\1</sup>",
            re.sub(r"(?<=[^\s_])_(?:\{([^}]*)\}|(\w)(?!\w))", r"<sub>\1\2</sub>", part),
        )

    return "".join(
        part if part.startswith("`") else prose(part) for part in re.split(r"(`[^`]*`)", text)
    )


def block(each: str | Table | Picture, pictures: str) -> str:
    """A block of a section as Markdown."""
    if isinstance(each, Table):
        return table(each)
    if isinstance(each, Picture):
        return f"![{each.caption}]({pictures}/{each.name}.svg)\n\n*{each.caption}*"
    return typeset(each)


def table(each: Table) -> str:
    """A Markdown table; columns after the first that hold numbers are set to the right."""
    head = [typeset(cell) for cell in each.head]
    rows = [
        [typeset(re.sub(r"^-(0\.?0*)$", r"\1", str(cell))).replace("|", "\\|") for cell in row]
        for row in each.rows
    ]
    numeric = [
        all(re.fullmatch(r"[-−\d., e+±:%·⁰¹²³⁴⁵⁶⁷⁸⁹\[\]]*", row[column]) for row in rows)
        for column in range(len(each.head))
    ]
    rule = ["---:" if right else "---" for right in numeric]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in (head, rule, *rows))


def capital(text: str) -> str:
    """The text with a capital first letter."""
    return text[:1].upper() + text[1:]


def pictures(studied: Sequence[tuple[ModuleType, Finding]]) -> dict[str, str]:
    """All pictures as SVG text, by name."""
    return {
        each.name: svg(each)
        for _, found in studied
        for each in found.blocks
        if isinstance(each, Picture)
    }


def html(text: str, drawn: dict[str, str], folder: str) -> str:
    """The page as one HTML file that needs nothing else: pictures inside, headings that links find,
    tables that scroll.
    """
    from markdown_it import MarkdownIt

    body = str(MarkdownIt("commonmark").enable("table").render(text))
    body = re.sub(
        r"<h2>(.*?)</h2>", lambda found: f'<h2 id="{slug(found[1])}">{found[1]}</h2>', body
    )
    body = re.sub(r'href="#([^"]*)"', lambda found: f'href="#{unquoted(found[1])}"', body)
    body = body.replace("<table>", '<div class="table"><table>').replace(
        "</table>", "</table></div>"
    )
    for name, picture in drawn.items():
        before, mark, after = body.partition(f'<p><img src="{folder}/{name}.svg" alt="')
        caption, _, after = after.partition('" /></p>')
        body = (
            f'{before}<figure role="img" '
            f'aria-label="{caption}">{picture[picture.index("<svg") :]}</figure>{after}'
            if mark
            else body
        )
    style = files("purse.report").joinpath("templates", "page.css").read_text(encoding="utf-8")
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta '
        'name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{TITLE}</title>\n<style>\n{style}</style>\n</head>\n<body>\n<main>\n{body}</main>\n</body>\n</html>\n"
    )


def slug(heading: str) -> str:
    """The name that links know a heading by, as GitHub and Sphinx make it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def unquoted(link: str) -> str:
    """A link's target as the heading's id has it."""
    from urllib.parse import unquote

    return unquote(link)
