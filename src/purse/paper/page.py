"""From findings to the page: Markdown with pictures beside it, and one HTML file that holds
everything.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from types import ModuleType
from urllib.parse import unquote

from purse.base.text import write_markdown_table
from purse.paper.finding import Finding, Picture, Table
from purse.report.charts.export import render_svg
from purse.report.shell import prefix_ids, render_text

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


def markdown(results: Sequence[tuple[ModuleType, Finding]], pictures: str, quick: bool) -> str:
    """Write the page as Markdown, with links to pictures in the folder of that name."""
    rows = []
    for claim, finding in results:
        doubt = "" if finding.agrees else " — **this run does not show it**"
        link = f"[{claim.TITLE}](#{slug(claim.TITLE)})"
        rows.append([link, f"**{finding.verdict}**", finding.measured + doubt])
    lines = [
        f"# {TITLE}",
        typeset(INTRO),
        f"    purse paper{' --quick' if quick else ''}",
        *([QUICK] if quick else []),
        "## Verdicts",
        table(Table(["claim", "verdict", "measured"], rows)),
        "## Notation",
        typeset(NOTATION),
    ]
    for claim, finding in results:
        lines += [
            f"## {claim.TITLE}",
            f"*The claim.* {typeset(claim.SAYS)}",
            f"*Verdict.* **{typeset(capital(finding.verdict))}.**",
        ]
        lines += [block(each, pictures) for each in finding.blocks]
        lines += ["See it for yourself:", "\n".join(f"    {command}" for command in claim.COMMANDS)]
    return "\n\n".join(lines) + "\n"


def typeset(text: str) -> str:
    """Set x_t and Σ_{t ≤ T} as subscripts, B^α as superscripts, everywhere but in code."""

    def prose(part: str) -> str:
        low = re.sub(r"(?<=[^\s_])_(?:\{([^}]*)\}|(\w)(?!\w))", r"<sub>\1\2</sub>", part)
        return re.sub(r"\^([\d.]*\d|\w)", r"<sup>\1</sup>", low)

    return "".join(
        part if part.startswith("`") else prose(part) for part in re.split(r"(`[^`]*`)", text)
    )


def block(each: str | Table | Picture, pictures: str) -> str:
    """Write a block of a section as Markdown."""
    if isinstance(each, Table):
        return table(each)
    if isinstance(each, Picture):
        return f"![{each.caption}]({pictures}/{each.name}.svg)\n\n*{each.caption}*"
    return typeset(each)


def table(each: Table) -> str:
    """Write a Markdown table; columns after the first that hold numbers are set to the right."""
    head = [typeset(cell) for cell in each.head]
    rows = [
        [typeset(re.sub(r"^-(0\.?0*)$", r"\1", str(cell))).replace("|", "\\|") for cell in row]
        for row in each.rows
    ]
    numeric = [
        column
        for column in range(len(each.head))
        if all(re.fullmatch(r"[-−\d., e+±:%·⁰¹²³⁴⁵⁶⁷⁸⁹\[\]]*", row[column]) for row in rows)
    ]
    return write_markdown_table(head, rows, numeric)


def capital(text: str) -> str:
    """Give the text a capital first letter."""
    return text[:1].upper() + text[1:]


def pictures(results: Sequence[tuple[ModuleType, Finding]]) -> dict[str, str]:
    """Draw all pictures as SVG text, by name."""
    return {
        each.name: render_svg(each.draw().spec)
        for _, finding in results
        for each in finding.blocks
        if isinstance(each, Picture)
    }


def html(text: str, drawings: dict[str, str], folder: str) -> str:
    """Write the page as one HTML file that needs nothing else: pictures inside, headings that links
    find, tables that scroll.
    """
    from markdown_it import MarkdownIt

    body = str(MarkdownIt("commonmark").enable("table").render(text))
    body = re.sub(
        r"<h2>(.*?)</h2>", lambda match: f'<h2 id="{slug(match[1])}">{match[1]}</h2>', body
    )
    body = re.sub(r'href="#([^"]*)"', lambda match: f'href="#{unquote(match[1])}"', body)
    body = body.replace("<table>", '<div class="table"><table>')
    body = body.replace("</table>", "</table></div>")

    def figure(match: re.Match[str]) -> str:
        svg = prefix_ids(drawings[match[1]], match[1])
        return f'<figure role="img" aria-label="{match[2]}">{svg}</figure>'

    body = re.sub(rf'<p><img src="{folder}/([\w-]+)\.svg" alt="([^"]*)" /></p>', figure, body)
    return render_text(TITLE, body)


def slug(heading: str) -> str:
    """Give the name that links know a heading by, as GitHub and Sphinx make it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
