"""The findings as pages: Markdown with pictures beside it, for the claims of the paper and for our
own, and one HTML file with everything.
"""

import re
from collections.abc import Mapping, Sequence
from urllib.parse import unquote

from purse.base.text import write_markdown_table
from purse.lab.figure import render_svg
from purse.lab.page.charts.base import themed
from purse.lab.page.shell import prefix_ids, render_text
from research.paper.claims import OWN
from research.paper.finding import Claim, Finding, Picture, Table
from research.paper.notation import NOTATION

TITLE = "What the paper claims, what we measured, what is true"
INTRO = (
    "A. Rangi, M. Franceschetti and L. Tran-Thanh, *Unifying the stochastic and the adversarial "
    "Bandits with Knapsack* (2019), states five theorems about EXP3.BwK and EXP3++.BwK and shows "
    "no experiment.\n"
    "This page takes each claim, measures it, and says what is true.\n"
    "Theorems, equations and algorithms have the numbers of the preprint."
)
OWN_TITLE = "Own results"
OWN_INTRO = (
    "What holds in the place of the paper's theorems: Propositions A to C, T1 to T6 about "
    "`tsallis-inf.coin`, what a guarantee costs, and R1 about the default.\n"
    "[What is true](what-is-true.md) has proofs; nobody outside has checked them."
)
COMMAND = "All tables and pictures are reproduced by"
PAPER_FILE, OWN_FILE = "paper.md", "own-results.md"
QUICK = (
    "**A quick look**: small budgets and few paths. The numbers on this page are not for quoting."
)


Results = Sequence[tuple[Claim, Finding]]


def parts(results: Results, pictures: str, quick: bool) -> dict[str, str]:
    """Write the page of the paper's claims and that of our own, by the names of their files."""
    files = {slug(claim.title): OWN_FILE if claim in OWN else PAPER_FILE for claim, _ in results}
    heads = {PAPER_FILE: (TITLE, INTRO), OWN_FILE: (OWN_TITLE, OWN_INTRO)}
    texts = {}
    for file, (title, intro) in heads.items():
        mine = [(claim, found) for claim, found in results if files[slug(claim.title)] == file]
        if mine:
            texts[file] = link_files(markdown(mine, pictures, quick, title, intro), file, files)
    return texts


def link_files(text: str, own: str, files: Mapping[str, str]) -> str:
    """Let links to sections of another file, by the files of all sections, say its name."""

    def link(match: re.Match[str]) -> str:
        file = files.get(match[1], own)
        return match[0] if file == own else f"]({file}#{match[1]})"

    return re.sub(r"\]\(#([^)]+)\)", link, text)


def markdown(
    results: Results, pictures: str, quick: bool, title: str = TITLE, intro: str = INTRO
) -> str:
    """Write claims as Markdown, with links to pictures in the folder of that name."""
    rows = []
    for claim, finding in results:
        doubt = "" if finding.agrees else " — **this run does not show it**"
        link = f"[{claim.title}](#{slug(claim.title)})"
        rows.append([link, f"**{finding.verdict}**", finding.measured + doubt])
    lines = [
        f"# {title}",
        typeset(intro),
        COMMAND,
        f"    python -m research.paper{' --quick' if quick else ''}",
        *([QUICK] if quick else []),
        "## Verdicts",
        table(Table(["claim", "verdict", "measured"], rows)),
        "## Notation",
        table(Table(["symbol", "meaning"], list(NOTATION.items()))),
    ]
    for claim, finding in results:
        lines += [
            f"## {claim.title}",
            f"*The claim.* {typeset(claim.says)}",
            f"*Verdict.* **{typeset(capital(finding.verdict))}.**",
        ]
        lines += [write_block(block, pictures) for block in finding.blocks]
        lines += ["See it for yourself:", "\n".join(f"    {command}" for command in claim.commands)]
    return "\n\n".join(lines) + "\n"


def typeset(text: str) -> str:
    """Set x_t and Σ_{t ≤ T} as subscripts and B^α as superscripts, everywhere but in code.

    The stars of e*, i* and t* and the sign < are escaped, because they are marks of Markdown.
    """

    def prose(part: str) -> str:
        escaped = re.sub(r"(?<=\b[eit])\*(?!\*)", r"\\*", part.replace("<", "&lt;"))
        low = re.sub(r"(?<=[^\s_])_(?:\{([^}]*)\}|(\w)(?!\w))", r"<sub>\1\2</sub>", escaped)
        return re.sub(r"\^([\d.]*\d|\w)", r"<sup>\1</sup>", low)

    return "".join(
        part if part.startswith("`") else prose(part) for part in re.split(r"(`[^`]*`)", text)
    )


def write_block(block: str | Table | Picture, pictures: str) -> str:
    """Write a block of a section as Markdown."""
    if isinstance(block, Table):
        return table(block)
    if isinstance(block, Picture):
        spoken = block.caption.replace("*", r"\*")  # an alternative text has no tags
        return f"![{spoken}]({pictures}/{block.name}.svg)\n\n*{typeset(block.caption)}*"
    return typeset(block)


def table(source: Table) -> str:
    """Write a Markdown table; columns after the first that hold numbers are set to the right."""
    head = [typeset(cell) for cell in source.head]
    rows = [
        [typeset(re.sub(r"^-(0\.?0*)$", r"\1", str(cell))).replace("|", "\\|") for cell in row]
        for row in source.rows
    ]
    numeric = [
        column
        for column in range(len(source.head))
        if all(re.fullmatch(r"[-−\d., e+±:%·⁰¹²³⁴⁵⁶⁷⁸⁹\[\]]*", row[column]) for row in rows)
    ]
    return write_markdown_table(head, rows, numeric)


def capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def pictures(results: Sequence[tuple[Claim, Finding]]) -> dict[str, str]:
    """Draw all pictures as SVG text, by name."""
    return {
        block.name: themed(render_svg(block.draw().spec))
        for _, finding in results
        for block in finding.blocks
        if isinstance(block, Picture)
    }


def html(text: str, drawings: dict[str, str], folder: str) -> str:
    """Write the page as one HTML file with its pictures; headings have anchors, tables scroll."""
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
    """Return the anchor of a heading, as GitHub and Sphinx make it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
