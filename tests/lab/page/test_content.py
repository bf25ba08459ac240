import base64
import json
import re
import sys
from dataclasses import replace
from html import unescape
from itertools import chain
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import purse
from purse import InvalidInput
from purse.base.text import format_digits, format_gain
from purse.errors import MissingExtra
from purse.lab.figure import Figure
from purse.lab.page import captions, tables
from purse.lab.page.charts.base import policies_of
from purse.lab.page.charts.replays import _MOST_ARMS, _players_of, estimates
from purse.lab.replay.log_result import LogResult
from purse.lab.replay.table_replay import TableReplay
from purse.lab.study.manifest import Recording
from purse.lab.study.results import Study, TableStudy, differences
from purse.lab.study.standings import NOTES
from tests.lab.page.made_up import ARMS, made_up, plain, recorded_log
from tests.support.lab import checked_spec
from tests.support.replays import estimated

FIGURES = ["regret", "gain", "left", "shares", "runs", "growth"]
SECTIONS = ["in-short", "players", *FIGURES, "what-was-run"]
ALIKE = {"learns": 6.0, "learns <fast>": 6 * 1e5**0.25}  # the same mean at the largest budget


@pytest.fixture(scope="module")
def text(texts: dict[str, str]) -> str:
    return texts["study"]


def without_scripts(text: str) -> str:
    return re.sub(r"<(script|style).*?</\1>", "", text, flags=re.DOTALL)


def sections(text: str) -> list[str]:
    return re.findall(r'<section id="([\w-]+)"', text)


def finding(study: Study, world: str = "stochastic") -> str:
    return plain(study.verdicts()[world].sentence)


def test_every_section_is_there_in_order_and_the_page_needs_nothing_else(text: str) -> None:
    assert sections(text) == re.findall(r'<a href="#([\w-]+)">', text) == SECTIONS
    assert "<title>Four policies &amp; two worlds</title>" in text
    assert "purse 0.9 · 2026-11-15 11:44:37 UTC" in text
    bare = re.sub(r"(<script[^>]*>).*?</script>", r"\1", text, flags=re.DOTALL)
    assert not re.search(r"<(link|img|iframe|script)[^>]+(src|href)=", bare)
    assert "@import" not in text
    assert 1_000_000 < len(text) < 3_000_000


def test_names_are_shown_and_not_obeyed(text: str) -> None:
    body = without_scripts(text)
    assert "learns &lt;fast&gt;" in body
    assert "&lt;stochastic&gt;" in body
    specs = re.findall(r'<script type="application/json"[^>]*>(.*?)</script>', text, re.DOTALL)
    assert "<fast>" not in body + "".join(specs)


def test_the_tables_of_regret_are_exact_and_the_least_are_bold(study: Study, text: str) -> None:
    row = study.table().filter(world="stochastic", policy="uniform", budget=1e5).row(0, named=True)
    cell = f"{row['regret']:,.0f} ± {row['high'] - row['regret']:,.0f}"
    assert f"<td>{cell}</td>" in plain(text)
    assert "e+0" not in "".join(re.findall(r"<td>.*?</td>", text))
    stochastic, adversarial = tables.regrets(study, differences(study))
    best = {row["policy"]: row["best"] for row in stochastic["rows"]}
    assert best == {name: [1, 2, 3, 4] if name == "oracle" else [] for name in study.facts.policies}
    # nobody can learn there
    assert {tuple(row["best"]) for row in adversarial["rows"]} == {()}
    assert adversarial["head"] == ["policy", "B = 1,000", "B = 3,000", "B = 10,000", "B = 100,000"]


def test_the_figures_specs_and_csv_are_in_the_page(figures: list[Figure], text: str) -> None:
    for figure in figures:
        (spec,) = re.findall(rf'id="spec-{figure.name}">(.*?)</script>', text, re.DOTALL)
        assert json.loads(spec) == figure.spec
        (coded,) = re.findall(
            rf'href="data:text/csv;charset=utf-8;base64,([^"]*)" download="{figure.name}.csv"', text
        )
        assert base64.b64decode(coded).decode() == figure.data.write_csv()
        assert text.count(f'data-figure="{figure.name}"') == len(figure.panels)
    # drawn already, for readers without scripts
    assert text.count("<svg xmlns") == sum(len(figure.panels) for figure in figures)
    assert len(set(ids := re.findall(r' id="([^"]+)"', text))) == len(ids)


def test_in_short_says_what_was_run(study: Study, one_path: Study) -> None:
    assert captions.study_summary(study.facts, 640).startswith(
        "Four policies on two worlds with four budgets from 1,000 to 100,000, 20 runs each: 640 "
        "games in all, where every policy meets the same draws (seed 0, stop rule exit). "
    )
    assert captions.study_summary(one_path.facts, 4).endswith(
        " there are no intervals on this page."
    )


def test_findings_tell_a_clear_difference_from_chance(study: Study, one_budget: Study) -> None:
    assert re.match(
        r"`learns <fast>` has the least regret at B = 100,000: \d+ ± \d+; the next, `learns`, has "
        r"[\d,]+ ± \d+ more on the same draws, a difference beyond its 95% interval; the regret of "
        r"`learns <fast>` grows about like the budget to the power 0.2",
        finding(made_up(policies=("learns", "learns <fast>", "uniform"))),
    )
    close = made_up(policies=tuple(ALIKE), scales=ALIKE, n_paths=5, worlds=("stochastic",))
    assert "cannot be told from it: a difference within the 95% interval" in finding(close)
    assert close.verdicts()["stochastic"].outcome == "tied"
    (table,) = tables.regrets(close, differences(close))
    assert [row["best"][-1] for row in table["rows"]] == [4, 4]
    alone = made_up(worlds=("stochastic",), policies=("uniform",), budgets=(5e3,))
    said = r"At B = 5,000 the regret of `uniform` is 2,\d+ ± \d+\."
    assert re.fullmatch(said, finding(alone))


def test_where_nobody_can_learn_nobody_is_crowned(study: Study, text: str) -> None:
    says = finding(study, "adversarial")
    assert says.startswith("Nobody learns here, and nobody can: this world has a twin")
    assert re.search(r"At B = 100,000 the policies gain between \S+% \(`uniform`\) and ", says)
    assert "least regret" not in says
    assert study.verdicts()["adversarial"].outcome == "refused"
    table = tables.overview(study, differences(study))
    assert table["notes"] == [None, None, "nobody can learn"]
    assert [row["best"] for row in table["rows"]] == [[], [], [], [1]]
    assert "<small>nobody can learn</small>" in text


def test_the_overview_is_the_share_of_the_optimum(study: Study, one_path: Study) -> None:
    gain = study.table().filter(world="stochastic", policy="uniform", budget=1e5)["gain"][0]
    rows = {row["policy"]: row for row in tables.overview(study, differences(study))["rows"]}
    assert rows["uniform"]["cells"][1] == f"{gain / 1.5e5:.1%}"
    assert rows["uniform"]["heat"][1] == round(100 * gain / 1.5e5)
    assert tables.overview(one_path, differences(one_path))["rows"][0]["cells"][1] == "—"


def test_the_page_says_who_the_policies_and_what_the_arms_are(study: Study, text: str) -> None:
    assert "<td>learns</td><td>What learns is.</td>" in text
    stochastic = next(tables.arm_tables(study))
    assert stochastic["rows"][2]["cells"] == ["arm 2 (best)", "0.3", "0.2", "1.5", "150,000"]
    many = next(tables.arm_tables(made_up(n_arms=30, policies=("uniform",))))
    assert many["title"] == "stochastic: the 10 of 30 arms that gain most alone"
    labelled = replace(study.facts, about={"bold": {"spec": "exp3:gamma=1", "says": "It is."}})
    (row,) = tables.players(replace(study, facts=labelled))["rows"]
    assert "<code>exp3:gamma=1</code>" in row["cells"][1]


def test_a_folded_table_says_where_a_bound_is_drawn_and_why_not_elsewhere(
    study: Study, text: str
) -> None:
    table = tables.bound_table(study)
    assert table is not None
    assert table["label"] == "Bounds from theorems: 2 drawn, 3 not"
    cells = {
        re.sub("<.*?>", "", row["cells"][0]): [*map(str, row["cells"][1:4])]
        for row in table["rows"]
    }
    code, adversarial = "<code>learns</code>", "<em>adversarial</em>"
    held, fast = "its condition does not hold", "<code>learns &lt;fast&gt;</code>"
    assert cells == {
        "Theorem 1 (at most)": [code, "<em>stochastic</em>", f"{adversarial}: {held}"],
        "Lower bound (at least)": ["every player", adversarial, f"<em>stochastic</em>: {held}"],
        "Theorem 3 (growth order)": [fast, "nowhere", "gives the order of growth and no constant"],
        "Loose (at most)": [code, "nowhere", "more than 100 times above all that was measured"],
        "Vain (at most)": ["<code>uniform</code>", "nowhere", held],
    }
    assert '<details class="folded"><summary>Bounds from theorems: 2 drawn, 3 not, and why' in text
    assert "(<code>two_worlds</code>)" in text


def test_a_fitted_shape_is_named_only_where_it_is_close(study: Study) -> None:
    table = tables.growth(study)
    assert table is not None
    told = [row["cells"][-1] for row in table["rows"]]
    assert set(told) > {"none within 5%"}
    for text, row in zip(told, study.growth().iter_rows(named=True), strict=True):
        close = f"{row['shape']}, {row['misfit']:.1%} off"
        assert text == (close if row["misfit"] <= 0.05 else "none within 5%")


def test_what_was_left_and_the_end_of_a_world_are_sentences(study: Study, text: str) -> None:
    left = r"<p>At most 0\.0\d+% of the budget was left on average, whatever [^<]*\.</p>"
    assert re.search(left, text)
    assert tables.ended(study) == [
        "In *adversarial* the world ended before the budget did, in runs of `uniform` (12 of 80)."
    ]


def test_captions_tell_of_intervals_only_where_there_are_any(
    text: str, one_path: Study, one_budget: Study
) -> None:
    for page, count in ((text, 2), (one_budget.html(), 2), (one_path.html(), 0)):
        assert page.count(captions.INTERVAL) == count
    drawn = [name for name in FIGURES if f'id="figure-{name}"' in text]
    assert all(captions.LABELS[name] in unescape(text) for name in drawn)
    assert "Dashed and upright lines are bounds" in text


def test_one_budget_or_one_path_makes_a_page(one_budget: Study, one_path: Study) -> None:
    simple = one_budget.html()
    assert sections(simple) == [name for name in SECTIONS if name != "growth"]
    assert "with a budget of 5,000" in simple
    text = one_path.html()
    assert 'class="remarks"' not in text
    assert "±" not in without_scripts(text)


def test_details_name_everything_but_the_shards(study: Study) -> None:
    facts = replace(study.facts, delay="geometric:3")
    groups = tables.details(facts, "runs", "Worlds", [*study.facts.worlds.items()])
    entries = dict(chain(*(group["entries"] for group in groups)))
    assert entries["budgets"] == "1,000; 3,000; 10,000; 100,000"
    assert (entries["runs"], entries["stop rule"], entries["cores"]) == ("20", "exit", "2")
    assert (entries["delay"], entries["stochastic"][-12:]) == ("geometric:3", "<stochastic>")
    assert not {"shards", "study", "title"} & set(entries)


@pytest.fixture(scope="module")
def real() -> Study:
    worlds = {"small & square": "misleading_ratio"}
    return purse.compare({"<u>": "uniform"}, worlds, budgets=[20, 60, 200], n_paths=3)


def test_a_real_study_has_a_page_and_shows_tables_escaped_and_a_picture(real: Study) -> None:
    text = real.html()
    assert sections(text) == SECTIONS
    assert "best arm alone" in text
    shown: dict[str, Any] = real._repr_mimebundle_(include=None, exclude=None)
    assert list(shown) == ["text/html", "text/plain"]
    assert shown["text/plain"] == str(real)
    page = shown["text/html"]
    assert "<p>small &amp; square</p><table>" in page
    assert "&lt;u&gt;" in page
    assert "<u>" not in page
    assert page.count("<th ") == 4
    picture = re.match(r'<img [^>]*alt="regret" src="data:image/svg\+xml;base64,(.*?)">', page)
    assert picture is not None
    svg = base64.b64decode(picture[1]).decode()
    assert svg.startswith("<svg")
    assert "small &amp; square" in svg
    assert "background:#fff" in picture[0]


def test_a_study_gives_its_figures_by_name_and_is_one_line_in_a_list(real: Study) -> None:
    assert real.plot().name == "regret"
    assert real.plot("gain")._repr_html_().startswith("<img ")
    assert repr(real.plot()).startswith("<Figure 'regret': 1 panel; ")
    with pytest.raises(InvalidInput, match=r"unknown figure of this study 'gian'.* 'gain'"):
        real.plot("gian")
    line = "<Study of <u> on small & square: one policy, one world, three budgets, three paths>"
    assert repr([real]) == f"[{line}]"


REPLAY_SECTIONS = {
    "table": ["in-short", "gain", "shares", "runs", "left", "regret", "what-was-run"],
    "log": ["in-short", "gain", "arms", "what-was-run"],
}


@pytest.mark.parametrize("kind", REPLAY_SECTIONS)
def test_each_kind_has_its_sections_and_shows_names_escaped(
    texts: dict[str, str], kind: str
) -> None:
    text = texts[kind]
    assert re.findall(r'<section id="([\w-]+)"', text) == REPLAY_SECTIONS[kind]
    assert f"<title>{kind}.csv: which policy spends a budget best?</title>" in text
    assert "big &lt;one&gt;" in text
    assert "<one>" not in re.sub(r"<script.*?</script>", "", text, flags=re.DOTALL)


def test_the_table_of_gains_has_policies_and_references_the_largest_gain_first(
    table_replay: TableReplay, texts: dict[str, str]
) -> None:
    rows = re.findall(
        r'<tr(?: data-policy="[^"]*")?( class="reference")?>((?:<td>.*?</td>)+)</tr>',
        texts["table"].split('<section id="shares"')[0],
    )
    best = table_replay.frame().sort("gain", descending=True, maintain_order=True)
    expected = [row for budget in (0.5, 2.5) for row in best.filter(budget=budget).to_dicts()]
    for (grey, cells), row in zip(rows, expected, strict=True):
        player, gain, share, *_ = re.findall(r"<td>(?:<b>)?(.*?)(?:</b>)?</td>", cells)
        assert unescape(player) == row["player"]
        assert (grey != "", share) == (row["kind"] != "policy", f"{row['share']:.1%}")
        assert gain.startswith(format_digits(row["gain"]))
    # the best policy with each budget
    assert len(re.findall(r"<td><b>", "".join(cells for _, cells in rows))) == 2


def test_a_table_says_in_short_what_was_replayed(table_replay: TableReplay) -> None:
    study = table_replay.study
    short = captions.table_summary(study.facts, study.facts.replay, study.lp_name)
    assert short.startswith(
        "Two policies on 60 rounds of three arms with budgets of 0.5 and 2.5, in eight "
        "random orders of the rounds, the same for every policy (seed 0, stop rule retry). Gain is "
        "the sum of rewards"
    )
    one = replace(
        study, facts=replace(study.facts, n_paths=1), data=study.lazy().filter(pl.col("path") == 0)
    )
    assert "One order tells nothing about chance" in one.html()
    assert "interval" not in "".join(one.answers())


def test_verdicts_are_about_the_optimum_and_the_best_single_arm(
    table_replay: TableReplay, texts: dict[str, str]
) -> None:
    verdicts = table_replay.verdicts()
    assert list(verdicts) == ["B = 0.5", "B = 2.5"]
    frame = table_replay.frame().filter(budget=0.5).sort("gain")
    best, arm = (frame.filter(kind=kind).row(-1, named=True) for kind in ("policy", "arm"))
    amount, other = (format_gain(row["gain"], row["gain_high"]) for row in (best, arm))
    says = plain(verdicts["B = 0.5"].sentence)
    assert says.startswith(
        f"On these 60 rows **`{best['player']}` gains most of the policies**: {amount}, "
        f"{best['share']:.1%} of the LP optimum; the best single arm, `small`, gains {other}: "
    )
    (lead,) = [line for line in table_replay.remarks() if line.startswith("B = 0.5: always")]
    assert re.match(r"B = 0.5: always small is [\d.]+ ± [\d.]+ ahead of ", plain(lead))
    assert plain(lead).replace("<", "&lt;").replace(">", "&gt;") in plain(texts["table"])


def test_the_page_of_a_table_says_which_rounds_are_left_out() -> None:
    rows = pl.DataFrame({"reward_a": [1.0, None] * 5, "cost_a": 1, "reward_b": 1.0, "cost_b": 2})
    result = purse.replay(rows, policies="uniform", budgets=4, n_paths=2, skip_empty=True)
    assert isinstance(result, TableReplay)
    text = result.study.html()
    assert "<h3>About the data</h3>" in text
    assert "<li>5 of 10 rows are left out, since a cell is empty" in text


def test_the_gain_figure_has_a_panel_for_each_budget_and_a_row_for_each_player(
    table_replay: TableReplay,
) -> None:
    figures = {figure.name: figure for figure in table_replay.study.figures()}
    assert list(figures) == ["gain", "shares", "runs", "left", "regret"]
    assert [panel.world for panel in figures["gain"].panels] == ["B = 0.5", "B = 2.5"]
    layers = checked_spec(figures["gain"])["concat"][0]["layer"]
    ranked = table_replay.frame().filter(budget=0.5).sort("gain", descending=True)
    rows = ranked["player"].str.replace(NOTES, "").to_list()
    assert layers[1]["encoding"]["y"]["scale"]["domain"] == rows
    assert "gain" in figures["runs"].spec["concat"][0]["layer"][0]["encoding"]["x"]["field"]
    gains = [float(arm % 10) for arm in range(20)]
    names = [f"always {arm}" for arm in range(20)]
    many = _players_of(pl.DataFrame({"player": names, "kind": "arm", "gain": gains}))
    assert many == [f"always {arm}" for arm in (*range(6, 10), *range(16, 20))]
    assert len(many) == _MOST_ARMS


def test_the_folder_of_a_table_knows_that_it_is_a_replay(
    table_replay: TableReplay, home: Path
) -> None:
    again = Study.load(home / "table")
    assert isinstance(again, TableStudy)
    assert again.facts.replay == Recording("table", "table.csv", 60, 60, list(ARMS))
    table = home / "table.csv"
    told = f"purse replay {table} --budget 0.5 --budget 2.5 uniform fixed:arm=0 --paths 8"
    assert again.facts.command == told
    assert again.verdicts() == table_replay.verdicts()


def test_one_order_of_worthless_rounds_makes_a_page(tmp_path: Path) -> None:
    rewards = {f"reward_{arm}": [0.0] * 9 for arm in "ab"}
    costs = {"cost_a": [1.0] * 9, "cost_b": [2.0] * 9}
    found = purse.replay(pl.DataFrame(rewards | costs), policies="uniform", budgets=5, n_paths=1)
    assert isinstance(found, TableReplay)
    assert found.frame()["share"].null_count() == found.frame().height
    says = "On these 9 rows `uniform` gains 0; the best single arm, `a`, gains 0: as much."
    assert found.verdicts() == {"B = 5": ("best", says)}
    assert "uniform</code> gains 0;" in found.study.html()


def test_the_page_of_a_log_has_every_part(texts: dict[str, str], log_result: LogResult) -> None:
    text = texts["log"]
    assert "the effective sample size" in text
    assert "600 logged rounds of three arms (10 simulated games, seed 0, stop rule exit)" in text
    assert text.count('class="warnings"') == len(log_result.warnings) == 0
    (spec,) = re.findall(r'id="spec-estimates">(.*?)</script>', text, re.DOTALL)
    assert json.loads(spec)["concat"]
    (coded,) = re.findall(r'base64,([^"]*)" download="estimates.csv"', text)
    assert base64.b64decode(coded).decode() == log_result.frame().write_csv()


def test_refusals_are_rows_of_the_table_with_their_reason_and_no_points(
    texts: dict[str, str], log_result: LogResult
) -> None:
    refused = log_result.frame().filter(pl.col("refused").is_not_null())
    assert set(refused["policy"]) >= {"uniform"}
    reason = "<li>too few rows: plays arm &#39;wasteful&#39;, whose effective sample size is"
    assert reason in texts["log"]
    cells = re.findall(r"<td>(too few rows)</td>", texts["log"])
    assert len(cells) == refused.height
    figure = estimates(log_result.frame())
    assert figure is not None
    drawn = [row for rows in checked_spec(figure)["datasets"].values() for row in rows]
    answered = log_result.frame().filter(pl.col("refused").is_null())
    assert len(drawn) == answered.select("policy", "budget").n_unique()
    assert policies_of(figure.data) == ["fixed:arm=0", "fixed:arm=1", "uniform"]


def test_a_log_that_tells_nothing_makes_a_page_without_a_figure(
    log_result: LogResult, tmp_path: Path
) -> None:
    why = "plays arm 'x', which was never logged"
    refused = tuple(answer._replace(refused=why) for answer in log_result.estimates)
    files = replace(log_result, estimates=refused).publish(tmp_path)
    assert [file.name for file in files] == ["report.html", "arms.csv", "estimates.csv"]
    text = files[0].read_text(encoding="utf-8")
    assert "This log can tell nothing: every player is refused." in text
    assert "spec-estimates" not in text


def test_doubtful_probabilities_are_a_warning_on_top(tmp_path: Path) -> None:
    wrong = recorded_log().with_columns(
        probability=pl.when(pl.col("arm") == "small").then(0.3).otherwise("probability")
    )
    found = estimated(wrong, policies="fixed:arm=0", budgets=0.4, n_paths=4)
    text = found.publish(tmp_path)[0].read_text(encoding="utf-8")
    assert text.index('class="warnings"') < text.index("In short")
    assert "<b>Warning.</b> frame: the probabilities of arm" in text
    command = (
        "purse.replay(frame, budgets=[0.4], policies=['fixed:arm=0'], horizon='none', n_paths=4)"
    )
    assert command in unescape(text)


def test_replays_publish_their_page_their_figures_and_their_tables(
    table_replay: TableReplay, log_result: LogResult, home: Path, tmp_path: Path
) -> None:
    page, *files = table_replay.publish(tmp_path)
    assert page == tmp_path / "report.html"
    assert {file.stem for file in files} == {"gain", "shares", "runs", "left", "regret"}
    assert all(file.stat().st_size for file in files)
    gains = pl.read_csv(tmp_path / "figures" / "gain.csv")
    columns = "budget player kind gain gain_low gain_high spent pulls detail "
    columns += "rival ahead ahead_error share"
    assert " ".join(gains.columns) == columns
    assert gains["player"].to_list() == table_replay.frame()["player"].to_list()
    folder = home / "log" / "figures"  # where the page of the log was published
    assert sorted(file.name for file in folder.iterdir()) == [
        "arms.csv", "estimates.csv", "estimates.png", "estimates.svg",
    ]  # fmt: skip
    keys = ["policy", "budget"]
    estimated = pl.read_csv(folder / "estimates.csv").select(keys)
    assert estimated.equals(log_result.frame().select(keys))
    assert pl.read_csv(folder / "arms.csv")["rows"].sum() == 600


def test_nothing_is_written_where_the_extra_is_missing(
    log_result: LogResult, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "altair", None)
    with pytest.raises(MissingExtra, match="the report needs altair"):
        log_result.publish(tmp_path / "new")
    assert not (tmp_path / "new").exists()
