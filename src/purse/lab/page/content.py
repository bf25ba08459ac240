"""The content of the page of a result: a study, the replay of a table or the replay of a log."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from purse.base.optional import pl
from purse.lab.figure import Figure
from purse.lab.page import captions, frames, tables
from purse.lab.page.charts import replays
from purse.lab.page.charts import study as charts
from purse.lab.page.charts.base import NEUTRAL, colours, dashes, names_of, policies_of
from purse.lab.page.charts.lines import merge_lines
from purse.lab.page.shell import Content, Part, Section, describe, inline
from purse.lab.replay.log_result import LogResult, precision
from purse.lab.replay.savings_result import SavingsResult
from purse.lab.study.results import Study, TableStudy, differences

_STUDY = charts.regret, charts.gain, charts.left, charts.shares, charts.runs, charts.growth
_TABLE = replays.gain, charts.shares, charts.runs, charts.left, charts.regret


def figures_of(result: Study | LogResult | SavingsResult) -> list[Figure]:
    """Draw all figures of a result, in the order of its page."""
    if isinstance(result, SavingsResult):
        return [] if result.curve().is_empty() else [replays.savings(result)]
    if isinstance(result, LogResult):
        figure = replays.estimates(result.frame())
        return [] if figure is None else [figure]
    draw: Sequence[Any] = _TABLE if isinstance(result, TableStudy) else _STUDY
    return [figure for figure in (figure_of(result) for figure_of in draw) if figure is not None]


def content(result: Study | LogResult | SavingsResult, figures: Sequence[Figure]) -> Content:
    """Return the content of the page of a result."""
    if isinstance(result, SavingsResult):
        parts = _savings(result, figures)
    elif isinstance(result, LogResult):
        parts = _log(result, figures)
    elif isinstance(result, TableStudy):
        parts = _table(result, figures)
    else:
        parts = _study(result, figures)
    findings = {name: verdict.sentence for name, verdict in result.verdicts().items()}
    return parts._replace(findings=findings)


def _study(study: Study, drawn: Sequence[Figure]) -> Content:
    facts, beside = study.facts, differences(study)
    keys = {"regret": _bound_keys, "gain": _reference_keys}
    figures = {
        figure.name: _figure(
            figure, study, keys[figure.name](figure, study) if figure.name in keys else []
        )
        for figure in drawn
    }
    shares = captions.SHARES + (f" {captions.BOLD}" if facts.n_paths > 1 else "")
    policies: list[Part] = [("table", tables.players(study))] if facts.about else []
    arms: list[Part] = [("tables", rows)] if (rows := list(tables.arm_tables(study))) else []
    if arms:
        arms = [("h3", "The arms"), *arms, ("caption", captions.ARMS)]
    players: list[Part] = [*policies, ("caption", inline(captions.PLAYERS)), *arms]
    optima: list[Part] = [("table", table) for table in tables.optima(study)]
    if optima:
        optima = [("h3", "Against the LP with contexts"), *optima, ("caption", captions.OPTIMUM)]
    growth: list[Part] = []
    if (slopes := tables.growth(study)) is not None:
        fitted: list[Part] = [("table", slopes), ("caption", captions.GROWTH)]
        growth = [*_shown(figures, "growth"), ("folded", ("The slopes as a table", fitted))]
    return Content(
        captions.study_summary(facts, int(study.table()["n_paths"].sum())),
        {},
        policies_of(study.table()),
        _sections(
            players=players if policies or arms else [],
            regret=_regret(study, figures, beside, tables.bound_table(study)),
            gain=[*_shown(figures, "gain"), *optima],
            left=_left(study, figures),
            shares=_shown(figures, "shares"),
            runs=_shown(figures, "runs"),
            growth=growth,
        ),
        tables.details(facts, "runs", "Worlds", list(facts.worlds.items())),
        overview=[("table", tables.overview(study, beside)), ("caption", inline(shares))],
        toml=facts.study,
        answer_first=False,
    )


def _table(study: TableStudy, drawn: Sequence[Figure]) -> Content:
    """Return the content of the page of a table's replay: its reader asks what could be had."""
    facts, figures = study.facts, {}
    for figure in drawn:
        keys = _bound_keys(figure, study) if figure.name == "regret" else []
        wide = figure.name == "gain" and len(figure.panels) == 1
        figures[figure.name] = _figure(figure, study, keys) | {"wide": wide}
    theorems = None if frames.bounds(study).drawn.is_empty() else tables.bound_table(study)
    gains: list[Part] = [("table", table) for table in tables.gains(study)]
    leads: list[Part] = [("lines", study.leads())]
    regret = _regret(study, figures, differences(study), theorems)
    return Content(
        captions.table_summary(facts, facts.replay, study.lp_name),
        {},
        policies_of(study.table()),
        _sections(
            gain=[*gains, *leads, ("caption", captions.GAINS), *_shown(figures, "gain")],
            shares=_shown(figures, "shares"),
            runs=_shown(figures, "runs"),
            left=_left(study, figures),
            regret=[("text", captions.REGRET), *regret],
        ),
        tables.details(facts, "orders of the rounds", "Data", tables.recording(facts.replay)),
        remarks=_about_data(facts.replay.notes),
        toml=facts.study,
    )


def _log(result: LogResult, drawn: Sequence[Figure]) -> Content:
    frame, facts, missing = result.frame(), result.facts, result.reasons()
    chart: list[Part] = [("figure", _figure(figure, None) | {"wide": True}) for figure in drawn]
    gains: list[Part] = [("table", table) for table in tables.estimates(result)]
    gains.append(("caption", captions.ESTIMATES))
    if missing:
        gains += [("h4", "Why some are missing"), ("lines", missing)]
    arms: list[Part] = [("table", tables.log_arms(result.arms())), ("caption", captions.LOG_ARMS)]
    sight = captions.SEEING if facts.replay.features else captions.BLIND
    lines = (captions.TELLS, precision(facts.replicates), *captions.ASSUMPTIONS, sight)
    rests: list[Part] = [("lines", [inline(line) for line in lines])]
    return Content(
        captions.log_summary(facts),
        {},
        replays.policies_in(frame),
        [
            Section("gain", captions.TITLES["estimates"], gains),
            Section("arms", captions.TITLES["arms"], arms),
        ],
        tables.details(facts, "simulated games", "Data", tables.recording(facts.replay)),
        overview=chart,
        remarks=[("folded", ("What this rests on", rests)), *_about_data(result.log.notes)],
        warnings=result.warnings,
        contents=False,
    )


def _savings(result: SavingsResult, drawn: Sequence[Figure]) -> Content:
    """Return the content of the page about savings: the chart first, the methods folded."""
    facts, keys = result.facts, list[dict[str, str]]()
    if drawn:
        points = replays.savings_points(result).select(name="choice", colour="colour")
        keys = [{**row, "dash": ""} for row in points.to_dicts()]
    chart: list[Part] = [
        ("figure", _figure(figure, None, keys) | {"wide": True}) for figure in drawn
    ]
    methods: list[Part] = [("lines", [inline(line) for line in captions.SAVINGS])]
    table: Part = ("table", tables.savings(result))
    return Content(
        f"{captions.SAVED} {result.condition}",
        {},
        [],
        [
            Section(
                "choices",
                captions.TITLES["choices"],
                [table, ("folded", ("How this is found", methods))],
            )
        ],
        tables.details(facts, "simulated games", "Data", tables.recording(facts.replay)),
        overview=chart,
        remarks=_about_data(facts.replay.notes),
        contents=False,
    )


def _figure(
    figure: Figure, study: Study | None, keys: Sequence[dict[str, str]] = ()
) -> dict[str, Any]:
    """Return a figure with its label and caption; `keys` say what its dashes mean."""
    caption = captions.FIGURES[figure.name]
    if isinstance(study, TableStudy) and figure.name == "gain":
        caption = captions.TABLE_GAIN
    if study is not None and study.facts.n_paths > 1 and figure.name in ("regret", "gain"):
        caption = f"{caption} {captions.INTERVAL}"
    return describe(figure, captions.LABELS[figure.name], caption, keys)


def _sections(**parts: Sequence[Part]) -> list[Section]:
    """Return the sections that have parts, in the order in which they are given."""
    return [Section(name, captions.TITLES[name], held) for name, held in parts.items() if held]


def _shown(figures: Mapping[str, Any], name: str) -> list[Part]:
    """Return the figure of this name, if it was drawn."""
    return [("figure", figures[name])] if name in figures else []


def _about_data(notes: Sequence[str]) -> list[Part]:
    """Return the notes that were made when the data were read."""
    return [("h3", "About the data"), ("lines", notes)] if notes else []


def _regret(
    study: Study, figures: Mapping[str, Any], beside: pl.DataFrame, theorems: tables.Table | None
) -> list[Part]:
    """Return regret as a figure, what is proved about it, and its tables."""
    parts = _shown(figures, "regret")
    if theorems:
        parts.append(("folded", (f"{theorems['label']}, and why", [("table", theorems)])))
    parts.append(("h3", "The numbers"))
    parts += [("table", table) for table in tables.regrets(study, beside)]
    parts.append(("caption", captions.REGRETS if study.facts.n_paths > 1 else captions.SINGLE))
    return parts


def _left(study: Study, figures: Mapping[str, Any]) -> list[Part]:
    """Return the part of the budget that was left, as a figure or a sentence, and ended worlds."""
    shown = _shown(figures, "left")
    if not shown:
        part = float(frames.left(study)["part"].max())  # type: ignore[arg-type]
        amount = f"At most {100 * part:.2g}%" if part > 0 else "Nothing"
        scope = "whatever the policy, world and budget"
        shown = [("text", f"{amount} of the budget was left on average, {scope}.")]
    lines = [inline(line) for line in tables.ended(study)]
    return [*shown, ("lines", lines)] if lines else shown


def _bound_keys(figure: Figure, study: Study) -> list[dict[str, str]]:
    """Say what the dashes in the figure of regret mean."""
    bounds = frames.bounds(study).drawn
    # with one budget the bound of a policy is a line in its own row
    if figure.data["budget"].n_unique() == 1:
        return _dash_keys(bounds, bounds.filter(policy="every player"))
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
