"""What all pages share: one HTML file with its style, its scripts and its figures inside, which
needs nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

from purse.base.optional import extra
from purse.report.charts.bundle import javascript
from purse.report.charts.export import version
from purse.report.charts.palette import GLYPHS, NEUTRAL, colours, dark_rules, shapes
from purse.report.prose import tables


def render(
    template: str,
    facts: Mapping[str, Any],
    *,
    short: str,
    findings: Mapping[str, str],
    by: str,
    series: Sequence[str],
    **content: Any,
) -> str:
    """The page. `short` and `findings` are Markdown; `series` are what colours and shapes tell
    apart, which the marks of figures have as their field `by`.
    """
    jinja2, safe = extra("jinja2"), extra("markupsafe").Markup
    looks = zip(series, colours(series), shapes(series), strict=True)
    return str(
        jinja2.Environment(autoescape=True, loader=jinja2.FunctionLoader(asset))
        .get_template(template)
        .render(
            title=facts["title"],
            made=made(facts),
            short=inline(short),
            findings={name: inline(says) for name, says in findings.items()},
            by=by,
            series=[
                {"name": name, "colour": colour, "glyph": GLYPHS[shape]}
                for name, colour, shape in looks
            ],
            details=tables.details(facts),
            command=facts["command"],
            toml=facts.get("study"),
            neutral=NEUTRAL,
            style=safe(asset("page.css") + asset("study.css") + dark_rules()),
            bundle=safe(javascript(version())),
            script=safe(asset("study.js")),
            **content,
        )
    )


def inline(text: str) -> Any:
    """Markdown within a paragraph as HTML; tags in it are shown and not obeyed."""
    from markdown_it import MarkdownIt

    return extra("markupsafe").Markup(MarkdownIt("commonmark", {"html": False}).renderInline(text))


def made(facts: Mapping[str, Any]) -> str:
    """When and with what the page was made."""
    parts = [
        f"purse {facts['versions']['purse']}" if "purse" in facts["versions"] else "",
        (facts.get("made") or "").replace("T", " ").replace("+00:00", " UTC"),
    ]
    return " · ".join(part for part in parts if part)


def asset(name: str) -> str:
    """A file that lies beside this one."""
    return files("purse.report").joinpath("templates", name).read_text(encoding="utf-8")
