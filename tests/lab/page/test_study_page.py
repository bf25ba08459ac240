from __future__ import annotations

import base64
import json
import re
from dataclasses import replace
from html import unescape
from itertools import chain
from typing import Any

import pytest

import purse
from purse import InvalidInput
from purse.lab.figure import Figure
from purse.lab.page import captions, tables
from purse.lab.study.results import Study, differences
from tests.lab.page.made_up import made_up, plain

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
