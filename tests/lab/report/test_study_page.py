from __future__ import annotations

import base64
import json
import re
import sys
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

import purse
from purse import PurseError
from purse.lab.report.charts.base import Figure
from purse.lab.report.differences import differences
from purse.lab.report.prose import bound_table, captions, overview, tables
from purse.lab.report.prose import study as study_prose
from purse.lab.report.study_page import figures_of
from tests.lab.report.made_up import page_of, plain

SECTIONS = [
    "in-short",
    "players",
    "regret",
    "gain",
    "left",
    "shares",
    "runs",
    "growth",
    "what-was-run",
]


@pytest.fixture(scope="module")
def text(page: Path) -> str:
    return page.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def simple(one_budget: Any) -> str:
    return page_of(replace(one_budget, policies=("learns",)))


def test_every_section_is_there_in_order(text: str) -> None:
    assert re.findall(r'<section id="([\w-]+)"', text) == SECTIONS
    assert "<title>Four policies &amp; two worlds</title>" in text
    assert "purse 0.9 · 2026-11-15 11:44:37 UTC" in text


def test_the_page_needs_nothing_else(text: str) -> None:
    assert not re.search(
        r"<(link|img|iframe|script)[^>]+(src|href)=",
        re.sub(r"(<script[^>]*>).*?</script>", r"\1", text, flags=re.DOTALL),
    )
    assert "@import" not in text
    assert 1_000_000 < len(text) < 3_000_000


def test_names_are_shown_and_not_obeyed(text: str) -> None:
    body = re.sub(r"<script.*?</script>", "", text, flags=re.DOTALL)
    assert "learns &lt;fast&gt;" in body
    assert "<fast>" not in body
    assert "&lt;stochastic&gt;" in body
    assert "<fast>" not in "".join(
        re.findall(r'<script type="application/json"[^>]*>(.*?)</script>', text, re.DOTALL)
    )


def test_the_table_of_regrets_is_exact(study: Any, text: str) -> None:
    row = study.table().filter(world="stochastic", policy="uniform", budget=1e5).row(0, named=True)
    cell = f"{row['regret']:,.0f} ± {row['high'] - row['regret']:,.0f}"
    assert f"<td>{cell}</td>" in plain(text)
    assert "e+0" not in "".join(re.findall(r"<td>.*?</td>", text))


def test_the_least_of_each_column_is_bold_but_not_where_nobody_can_learn(study: Any) -> None:
    stochastic, adversarial = tables.regrets(study, differences(study))
    best = {row["policy"]: row["best"] for row in stochastic["rows"]}
    assert best == {name: [1, 2, 3, 4] if name == "oracle" else [] for name in study.policies}
    assert {tuple(row["best"]) for row in adversarial["rows"]} == {()}
    assert adversarial["head"] == ["policy", "B = 1,000", "B = 3,000", "B = 10,000", "B = 100,000"]


def test_the_figures_specs_and_csv_are_in_the_page(figures: list[Figure], text: str) -> None:
    for figure in figures:
        spec = json.loads(re.search(rf'id="spec-{figure.name}">(.*?)</script>', text, re.DOTALL)[1])  # type: ignore[index]
        assert spec == figure.spec
        coded = re.search(
            rf'href="data:text/csv;charset=utf-8;base64,([^"]*)" download="{figure.name}.csv"', text
        )[1]  # type: ignore[index]
        assert base64.b64decode(coded).decode() == figure.data.write_csv()
        assert text.count(f'data-figure="{figure.name}"') == len(figure.panels)
    # drawn already, for readers without scripts
    assert text.count("<svg xmlns") == sum(len(figure.panels) for figure in figures)
    assert len(set(ids := re.findall(r' id="([^"]+)"', text))) == len(ids)


def test_in_short_says_what_was_run(study: Any, one_path: Any) -> None:
    assert study_prose.summary(study).startswith(
        "Four policies on two worlds with four budgets from 1,000 to 100,000, 20 runs "
        "each: 640 games in all, where every "
    )
    assert "(seed 0, stop rule exit)" in study_prose.summary(study)
    late = replace(study.facts, delay="geometric:3")
    shown = dict(chain(*(group["entries"] for group in tables.details(late, "runs", "Worlds", []))))
    assert shown["delay"] == "geometric:3"
    assert study_prose.summary(one_path).endswith(
        "One run tells nothing about chance: there are no intervals on this page."
    )


def test_a_finding_tells_a_clear_difference_from_chance(study: Any) -> None:
    three = replace(study, policies=("learns", "learns <fast>", "uniform"))
    clear = plain(study_prose.finding(three, "stochastic", differences(three)))
    assert re.match(
        r"`learns <fast>` has the least regret at B = 100,000: \d+ ± \d+; the next, "
        r"`learns`, has [\d,]+ ± \d+ more on the same draws, ",
        clear,
    )
    assert (
        "a difference beyond its 95% interval. The regret of `learns <fast>` grows about like "
        "the budget to the power 0.2" in clear
    )


def test_where_nobody_can_learn_nobody_is_crowned(study: Any, text: str) -> None:
    says = plain(study_prose.finding(study, "adversarial", differences(study)))
    assert says.startswith("Nobody learns here, and nobody can: this world has a twin")
    assert re.search(r"At B = 100,000 the policies gain between \S+% \(`uniform`\) and ", says)
    assert "least regret" not in says
    table = overview.overview(study, differences(study))
    assert table["notes"] == [None, None, "nobody can learn"]
    assert [row["best"] for row in table["rows"]] == [[], [], [], [1]]
    assert "<small>nobody can learn</small>" in text


def test_the_overview_is_the_share_of_the_optimum(study: Any, one_path: Any) -> None:
    gain = study.table().filter(world="stochastic", policy="uniform", budget=1e5)["gain"][0]
    row = next(
        row
        for row in overview.overview(study, differences(study))["rows"]
        if row["policy"] == "uniform"
    )
    assert row["cells"][1] == f"{gain / 1.5e5:.1%}"
    assert row["heat"][1] == round(100 * gain / 1.5e5)
    assert overview.overview(one_path, differences(one_path))["rows"][0]["cells"][1] == "—"


def test_the_page_says_who_the_policies_and_what_the_arms_are(study: Any, text: str) -> None:
    assert "<td>learns</td><td>What learns is.</td>" in text
    stochastic = next(overview.arm_tables(study))
    assert stochastic["rows"][2]["cells"] == ["arm 2 (best)", "0.3", "0.2", "1.5", "150,000"]
    many = next(overview.arm_tables(replace(study, n_arms=30)))
    assert many["title"] == "stochastic: the 10 of 30 arms that gain most alone"
    labelled = replace(study.facts, about={"bold": {"spec": "exp3:gamma=1", "says": "It is."}})
    study_with_label = replace(study)
    study_with_label.facts = labelled
    assert "<code>exp3:gamma=1</code>" in overview.players(study_with_label)["rows"][0]["cells"][1]


def test_all_that_cannot_be_told_from_the_least_are_bold(study: Any) -> None:
    alike = {"learns": 6.0, "learns <fast>": 6 * 1e5**0.25}
    close = replace(study, policies=tuple(alike), scales=alike, n_paths=5, worlds=("stochastic",))
    (table,) = tables.regrets(close, differences(close))
    assert [row["best"][-1] for row in table["rows"]] == [4, 4]


def test_contents_name_the_sections(text: str) -> None:
    links = re.findall(r'<a href="#([\w-]+)">', text)
    assert links == SECTIONS


def test_a_finding_says_so_where_policies_cannot_be_told_apart(study: Any) -> None:
    alike = {"learns": 6.0, "learns <fast>": 6 * 1e5**0.25}  # the same mean at the largest budget
    close = replace(study, policies=tuple(alike), scales=alike, n_paths=5)
    tied = study_prose.finding(close, "stochastic", differences(close))
    assert "cannot be told from it: a difference within the 95% interval" in tied


def test_a_lone_policy_is_not_compared(one_budget: Any) -> None:
    uniform = replace(one_budget, policies=("uniform",))
    alone = plain(study_prose.finding(uniform, "stochastic", differences(uniform)))
    assert re.fullmatch(r"At B = 5,000 the regret of `uniform` is 2,\d+ ± \d+\.", alone)


def test_a_folded_table_says_where_a_bound_is_drawn_and_why_not_elsewhere(
    study: Any, text: str
) -> None:
    table = bound_table.bound_table(study)
    assert table is not None
    assert table["label"] == "Bounds from theorems: 2 drawn, 3 not"
    cells = {
        re.sub("<.*?>", "", row["cells"][0]): [*map(str, row["cells"][1:4])]
        for row in table["rows"]
    }
    code, adversarial = "<code>learns</code>", "<em>adversarial</em>"
    held = "its condition does not hold"
    assert cells == {
        "Theorem 1 (at most)": [code, "<em>stochastic</em>", f"{adversarial}: {held}"],
        "Lower bound (at least)": ["every player", adversarial, f"<em>stochastic</em>: {held}"],
        "Theorem 3 (growth order)": [
            "<code>learns &lt;fast&gt;</code>",
            "nowhere",
            "gives the order of growth and no constant",
        ],
        "Loose (at most)": [code, "nowhere", "more than 100 times above all that was measured"],
        "Vain (at most)": ["<code>uniform</code>", "nowhere", held],
    }
    assert '<details class="folded"><summary>Bounds from theorems: 2 drawn, 3 not, and why' in text
    assert "(<code>two_worlds</code>)" in text


def test_a_fitted_shape_is_named_only_where_it_is_close(study: Any) -> None:
    table = tables.growth(study)
    assert table is not None
    told = [row["cells"][-1] for row in table["rows"]]
    assert set(told) > {"none within 5%"}
    for text, row in zip(told, study.growth().iter_rows(named=True), strict=True):
        close = f"{row['shape']}, {row['misfit']:.1%} off"
        assert text == (close if row["misfit"] <= 0.05 else "none within 5%")


def test_what_was_left_is_a_sentence(study: Any, text: str) -> None:
    says = study_prose.left_over(study)
    assert re.fullmatch(r"At most 0\.0\d+% of the budget was left on average, whatever .*\.", says)
    assert f"<p>{says}</p>" in text


def test_the_end_of_a_world_is_mentioned(study: Any) -> None:
    assert study_prose.ended(study) == [
        "In *adversarial* the world ended before the budget did, in runs of `uniform` (12 of 80)."
    ]


def test_captions_explain_only_what_is_there(
    study: Any, figures: list[Figure], one_path: Any, one_budget: Any
) -> None:
    drawn = [(study, figures), *((each, figures_of(each)) for each in (one_path, one_budget))]
    full, bare, single = (
        {figure.name: captions.caption(figure, each) for figure in of_each}
        for each, of_each in drawn
    )
    assert "Bands are 95% confidence" in full["regret"]
    assert "Dashed lines are bounds" in full["regret"]
    assert "Hollow points" in full["regret"]
    assert bare["regret"] == "Mean regret against the budget, both axes logarithmic."
    assert bare["gain"] == "Mean gain for each unit of the budget, so that budgets can be compared."
    assert bare["runs"] == "Regret of the single run at B = 10,000."
    assert single["regret"].startswith(
        "Mean regret at B = 5,000. Lines are 95% confidence intervals of the mean. "
        "Upright lines are bounds"
    )


def test_one_budget_and_one_policy_make_a_page(simple: str) -> None:
    assert re.findall(r'<section id="([\w-]+)"', simple) == [
        name for name in SECTIONS if name != "growth"
    ]
    assert "with a budget of 5,000" in simple


def test_one_path_without_bounds_or_references_makes_a_page(one_path: Any) -> None:
    text = page_of(one_path)
    assert 'class="remarks"' not in text
    assert "±" not in re.sub(r"<(script|style).*?</\1>", "", text, flags=re.DOTALL)


def test_details_name_everything_but_the_shards(study: Any) -> None:
    entries = {
        name: value
        for group in tables.details(study.facts, "runs", "Worlds", [*study.facts.worlds.items()])
        for name, value in group["entries"]
    }
    assert entries["budgets"] == "1,000; 3,000; 10,000; 100,000"
    assert (entries["runs"], entries["stop rule"], entries["cores"]) == ("20", "exit", "2")
    assert entries["stochastic"].endswith("<stochastic>")
    assert not {"shards", "study", "title"} & set(entries)


@pytest.mark.parametrize("missing", ["altair", "vl_convert", "jinja2"])
def test_without_the_extra_one_line_says_what_to_install(
    one_budget: Any, monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(
        PurseError, match=rf"^the report needs {missing}: pip install 'purse-bandits\[lab\]'$"
    ):
        page_of(one_budget)


def test_a_real_study_makes_a_page(tmp_path: Path) -> None:
    study = purse.compare(
        ["uniform", "fixed"], {"small": "misleading_ratio"}, budgets=[20, 60, 200], n_paths=6
    )
    text = study.report(tmp_path / "report.html").read_text(encoding="utf-8")
    assert list(tmp_path.iterdir()) == [tmp_path / "report.html"]
    assert re.findall(r'<section id="([\w-]+)"', text) == SECTIONS
    assert "best arm alone" in text
    assert "purse lab run study.toml" in text
