"""From findings to the page: Markdown with pictures beside it, and one HTML file that holds
everything.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from types import ModuleType
from urllib.parse import unquote

from purse.base.text import write_markdown_table
from purse.lab.paper.finding import Finding, Picture, Table
from purse.lab.paper.notation import NOTATION
from purse.lab.report.charts.export import render_svg
from purse.lab.report.charts.themed import themed
from purse.lab.report.shell import prefix_ids, render_text

TITLE = "What the paper claims, what we measured, what is true"
INTRO = (
    "A. Rangi, M. Franceschetti and L. Tran-Thanh, *Unifying the stochastic and the adversarial "
    "Bandits with Knapsack* (2019), states five theorems about EXP3.BwK and EXP3++.BwK and shows "
    "no experiment.\n"
    "This page takes each claim, measures it, and says what is true.\n"
    "Claims of our own follow: Propositions A to C, and T1 to T6 about `tsallis-inf.coin`.\n"
    "Theorems, equations and algorithms have the numbers of the preprint.\n"
    "The tables and pictures are reproduced by"
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
        f"    purse lab paper{' --quick' if quick else ''}",
        *([QUICK] if quick else []),
        "## Verdicts",
        table(Table(["claim", "verdict", "measured"], rows)),
        "## Notation",
        table(Table(["symbol", "meaning"], list(NOTATION.items()))),
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
    """Set x_t and Σ_{t ≤ T} as subscripts, B^α as superscripts, everywhere but in code; and keep
    the stars of e*, i* and t* and the sign < as they are, which Markdown would take for its own.
    """

    def prose(part: str) -> str:
        kept = re.sub(r"(?<=\b[eit])\*(?!\*)", r"\\*", part.replace("<", "&lt;"))
        low = re.sub(r"(?<=[^\s_])_(?:\{([^}]*)\}|(\w)(?!\w))", r"<sub>\1\2</sub>", kept)
        return re.sub(r"\^([\d.]*\d|\w)", r"<sup>\1</sup>", low)

    return "".join(
        part if part.startswith("`") else prose(part) for part in re.split(r"(`[^`]*`)", text)
    )


def block(each: str | Table | Picture, pictures: str) -> str:
    """Write a block of a section as Markdown."""
    if isinstance(each, Table):
        return table(each)
    if isinstance(each, Picture):
        spoken = each.caption.replace("*", r"\*")  # an alternative text has no tags
        return f"![{spoken}]({pictures}/{each.name}.svg)\n\n*{typeset(each.caption)}*"
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
        each.name: themed(render_svg(each.draw().spec))
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
