"""The content of the pages of a study and of a table's replay: they share most sections."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from purse.base.optional import pl
from purse.lab.replay import table_words
from purse.lab.report import frames
from purse.lab.report.charts import replays
from purse.lab.report.charts import study as charts
from purse.lab.report.charts.base import (
    NEUTRAL,
    Figure,
    colours,
    dashes,
    names_of,
    policies_of,
    worlds_of,
)
from purse.lab.report.charts.lines import merge_lines
from purse.lab.report.log_content import about_data
from purse.lab.report.prose import captions, overview, tables
from purse.lab.report.prose import replays as replay_prose
from purse.lab.report.prose import study as prose
from purse.lab.report.shell import Content, Part, Section, describe, inline
from purse.lab.study.results import TableStudy

if TYPE_CHECKING:
    from purse.lab.study.results import Study

_TITLES = {
    "players": "The policies and the arms",
    "regret": "Regret",
    "gain": "Gain",
    "left": "What was left of the budget",
    "shares": "Which arms were pulled",
    "runs": "From run to run",
    "growth": "How regret grows with the budget",
}
_STUDY = charts.regret, charts.gain, charts.left, charts.shares, charts.runs, charts.growth
_TABLE = replays.gain, charts.shares, charts.runs, charts.left, charts.regret


def figures_of(study: Any) -> list[Figure]:
    """Draw all figures that a study or the replay of a table has, in the order of its page."""
    draw: Sequence[Any] = _TABLE if isinstance(study, TableStudy) else _STUDY
    return [figure for figure in (figure_of(study) for figure_of in draw) if figure is not None]


def content(study: Study, drawn: Sequence[Figure]) -> Content:
    """Return what the page of a study holds."""
    facts, beside = study.facts, frames.differences(study)
    keys = {"regret": _bound_keys, "gain": _reference_keys}
    figures = {}
    for figure in drawn:
        dashed = keys[figure.name](figure, study) if figure.name in keys else []
        text = captions.caption(figure, study)
        figures[figure.name] = describe(figure, captions.LABELS[figure.name], text, dashed)
    return Content(
        prose.summary(study),
        {world: prose.finding(study, world, beside) for world in worlds_of(study.table())},
        policies_of(study.table()),
        _sections(
            players=_players(study),
            regret=_regret(study, figures, beside, tables.bound_table(study)),
            gain=[("figure", figures["gain"]), *_optimum(study)],
            left=_left(study, figures, prose.ended(study)),
            shares=_shares(figures),
            runs=[("figure", figures["runs"])],
            growth=_growth(study, figures),
        ),
        tables.details(facts, "runs", "Worlds", list(facts.worlds.items())),
        overview=[
            ("table", overview.overview(study, beside)),
            ("caption", inline(overview.caption(study))),
        ],
        toml=facts.study,
        answer_first=False,
    )


def table_content(study: TableStudy, drawn: Sequence[Figure]) -> Content:
    """Return what the page of a table's replay holds: its reader asks what could be had."""
    facts, figures = study.facts, {}
    for figure in drawn:
        dashed = _bound_keys(figure, study) if figure.name == "regret" else []
        text = captions.table_caption(figure, study)
        shown = describe(figure, captions.LABELS[figure.name], text, dashed)
        wide = figure.name == "gain" and len(figure.panels) == 1
        figures[figure.name] = shown | {"wide": wide}
    theorems = None if frames.bounds(study).drawn.is_empty() else tables.bound_table(study)
    gains: list[Part] = [("table", table) for table in table_words.gains(study)]
    caption = table_words.CAPTION if facts.n_paths > 1 else table_words.SINGLE
    measured = _regret(study, figures, frames.differences(study), theorems)
    return Content(
        replay_prose.table_summary(study),
        table_words.findings(study),
        policies_of(study.table()),
        _sections(
            gain=[*gains, ("caption", caption), ("figure", figures["gain"])],
            shares=_shares(figures),
            runs=[("figure", figures["runs"])],
            left=_left(study, figures, replay_prose.table_ended(study)),
            regret=[("text", prose.REGRET), *measured],
        ),
        tables.details(
            facts, "orders of the rounds", "Data", tables.describe_recording(facts.replay)
        ),
        remarks=about_data(facts.replay.notes),
        toml=facts.study,
    )


def _sections(**parts: Sequence[Part]) -> list[Section]:
    """Return the sections that have parts, in the order in which they are given."""
    return [Section(name, _TITLES[name], held) for name, held in parts.items() if held]


def _players(study: Study) -> list[Part]:
    """Return what is said of the policies and the arms."""
    policies = [("table", overview.players(study))] if study.facts.about else []
    arms = list(overview.arm_tables(study))
    if not policies and not arms:
        return []
    parts = [*policies, ("caption", inline(overview.PLAYERS))]
    more = [("h3", "The arms"), ("tables", arms), ("caption", overview.ARMS)]
    return [*parts, *(more if arms else [])]


def _regret(
    study: Study,
    figures: dict[str, Any],
    beside: pl.DataFrame,
    theorems: dict[str, Any] | None,
) -> list[Part]:
    """Return regret as a figure, what is proved about it, and its tables."""
    parts: list[Part] = [("figure", figures["regret"])]
    if theorems:
        parts.append(("folded", (f"{theorems['label']}, and why", [("table", theorems)])))
    parts.append(("h3", "The numbers"))
    parts += [("table", table) for table in tables.regrets(study, beside)]
    parts.append(("caption", tables.CAPTION if study.facts.n_paths > 1 else tables.SINGLE))
    return parts


def _optimum(study: Study) -> list[Part]:
    """Return gains against the LP with contexts, for worlds that have features."""
    parts: list[Part] = [("table", table) for table in tables.optimum_tables(study)]
    head: list[Part] = [("h3", "Against the LP with contexts")]
    return [*head, *parts, ("caption", tables.OPTIMUM)] if parts else []


def _left(study: Study, figures: dict[str, Any], ended: Sequence[str]) -> list[Part]:
    """Return what was left of the budget, as a figure or in a sentence, and whose world ended."""
    lines: list[Part] = [("lines", [inline(line) for line in ended])] if ended else []
    if "left" in figures:
        return [("figure", figures["left"]), *lines]
    return [("text", prose.left_over(study)), *lines]


def _shares(figures: dict[str, Any]) -> list[Part]:
    """Return which arms were pulled, if that was recorded."""
    return [("figure", figures["shares"])] if "shares" in figures else []


def _growth(study: Study, figures: dict[str, Any]) -> list[Part]:
    """Return how regret grows with the budget, if there are several budgets."""
    table = tables.growth(study)
    if table is None:
        return []
    drawn: list[Part] = [("figure", figures["growth"])] if "growth" in figures else []
    slopes: list[Part] = [("table", table), ("caption", tables.GROWTH)]
    return [*drawn, ("folded", ("The slopes as a table", slopes))]


def _bound_keys(figure: Figure, study: Study) -> list[dict[str, str]]:
    """Say what the dashes in the figure of regret mean."""
    bounds = frames.bounds(study).drawn
    # with one budget the bound of a policy is a line in its own row
    if figure.data["budget"].n_unique() == 1:
        return _dash_keys(bounds, bounds.filter(policy=prose.EVERY))
    return _line_keys(merge_lines(bounds, "value"), policies_of(figure.data))


def _reference_keys(figure: Figure, study: Study) -> list[dict[str, str]]:
    """Say what the dashes in the figure of gain mean."""
    references = frames.references(study)
    if figure.data["budget"].n_unique() == 1:
        return _dash_keys(references, references)
    return _line_keys(merge_lines(references, "gain"), [])


def _dash_keys(rows: pl.DataFrame, dashed: pl.DataFrame) -> list[dict[str, str]]:
    """Give the dash of each name that is drawn dashed; all known names share the dashes."""
    names = names_of(rows)
    return [
        {"name": name, "dash": " ".join(map(str, dash)), "colour": NEUTRAL}
        for name, dash in zip(names, dashes(names), strict=True)
        if name in dashed["name"]
    ]


def _line_keys(lines: pl.DataFrame, policies: Sequence[str]) -> list[dict[str, str]]:
    """Give the letter, dash, colour and names of each dashed line, and the policy it is about."""
    names = names_of(lines)
    dash_of = dict(zip(names, dashes(names), strict=True))
    colour_of = dict(zip(policies, colours(policies), strict=True))
    columns = [name for name in ("letter", "name", "policy") if name in lines.columns]
    return [
        {
            **row,
            "name": row["name"].removeprefix(f"{row['letter']} "),
            "dash": " ".join(map(str, dash_of[row["name"]])),
            "colour": colour_of.get(row.get("policy", ""), NEUTRAL),
        }
        for row in lines.select(columns).unique(maintain_order=True).iter_rows(named=True)
    ]
