from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import purse
from purse import cli, policies, worlds
from purse.ranking import leaderboard
from purse.ranking import page as ranking_page
from purse.ranking.scores import Leaderboard
from purse.ranking.suite import CASES, VERSION, Case
from purse.report.charts.export import render_svg
from tests.support.charts import checked_spec

FEW = ("exp3.bwk", "uniform", "fractional-kube")
COMMITTED = Path(__file__).parents[2] / "docs" / "leaderboard" / "which-policy.md"


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Leaderboard]:
    folder = tmp_path_factory.mktemp("board")
    return folder, purse.leaderboard(FEW, quick=True, folder=folder)


def by_hand() -> Leaderboard:
    cases = (Case("one", "s", "w", 1), Case("two", "s", "w", 1))
    scores = {
        ("a", "one"): np.array([0.1, 0.1, 0.1]),
        ("b", "one"): np.array([0.2, 0.25, 0.3]),
        ("a", "two"): np.array([0.5, 0.5, 0.6]),
    }
    return Leaderboard(cases, ("a", "b"), scores, {("b", "two"): "b needs a horizon"})


def test_every_case_of_the_suite_has_a_name_of_its_own_and_a_world() -> None:
    assert len({case.name for case in CASES}) == len(CASES)
    for case in CASES:
        world = worlds.make(case.world, case.budget)
        assert world.n_resources == (len(case.budget) if isinstance(case.budget, tuple) else 1)


def test_ranks_standings_and_wins_by_hand() -> None:
    found = by_hand()
    assert found.ranks("one") == {"a": 1, "b": 2}
    assert found.ranks("two") == {"a": 1}
    assert found.standings().select("policy", "cases", "rank", "worst_case").rows() == [
        ("a", 2, 1.0, "two"),
        ("b", 1, 2.0, "one"),
    ]
    assert found.standings()["score"].to_list() == pytest.approx([(0.1 + 1.6 / 3) / 2, 0.25])
    # the runs of "two" have standard deviation 0.1 / sqrt 3, those of "one" none: the error of the
    # mean of both is half that of "two"
    assert found.standings()["error"].to_list() == pytest.approx([0.1 / 3 / 2, 0.05 / np.sqrt(3)])
    assert found.wins().tolist() == [[0, 1], [0, 0]]
    assert found.score("b", "two") is None
    assert found.frame().filter(policy="b", case="two")["refused"].item() == "b needs a horizon"


def test_scores_are_the_share_of_the_optimum_that_was_not_gained(
    quick: tuple[Path, Leaderboard],
) -> None:
    _, found = quick
    cases = {case.name: case for case in found.cases}

    def gain(policy: str, name: str) -> Any:
        case = cases[name]
        return purse.simulate(policy, case.world, case.budget, n_paths=case.n_paths).gain

    best = max(gain(f"fixed:arm={arm}", "misleading ratio").mean() for arm in range(2))
    routing = cases["routing"]
    fluid = purse.theory.fluid.lp_optimum(routing.world, routing.budget).value
    for name, optimum in (("misleading ratio", best), ("routing", fluid)):
        score = 1 - gain("uniform", name) / optimum
        assert found.scores["uniform", name] == pytest.approx(score)


def test_a_policy_that_cannot_play_a_case_is_left_out_there_and_says_why(
    quick: tuple[Path, Leaderboard],
) -> None:
    _, found = quick
    refusal = found.refusals["fractional-kube", "misleading ratio"]
    assert "needs to know what each arm costs" in refusal
    assert ("fractional-kube", "easy gaps") in found.scores
    assert found.standings()["cases"].max() == len(CASES)


def test_a_second_board_computes_nothing(
    quick: tuple[Path, Leaderboard], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, first = quick
    monkeypatch.setattr(
        "purse.study.executors.play_shard", lambda *_: pytest.fail("computed again")
    )
    again = purse.leaderboard(FEW, quick=True, folder=folder)
    assert all((again.scores[key] == value).all() for key, value in first.scores.items())


def test_the_page_recommends_the_best_for_each_situation(quick: tuple[Path, Leaderboard]) -> None:
    _, found = quick
    rows = {label: (free, known) for label, free, known in ranking_page.recommendations(found)}
    assert [policy for policy, _ in rows["constant costs per arm"][1]] == ["fractional-kube"]
    assert {policy for policy, _ in rows["random costs"][0]} == {"exp3.bwk", "uniform"}
    text = ranking_page.markdown(found, "leaderboard.svg")
    assert text.startswith("# Which policy should I use?\n")
    for case in found.cases:
        assert case.name in text


def test_the_command_prints_standings_and_writes_the_page(
    quick: tuple[Path, Leaderboard], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, found = quick
    words = ["leaderboard", *FEW, "--quick", "-o", str(folder)]
    result = CliRunner().invoke(cli.cli, words)
    assert result.exit_code == 0
    assert str(found) in result.output
    written = {path.name for path in folder.iterdir()}
    assert {"which-policy.md", "scores.csv", "leaderboard.png", "leaderboard.svg"} <= written
    # the figure is there already
    monkeypatch.setattr("purse.report.charts.export.write_figure", lambda *_, **__: [])
    assert '"standings"' in CliRunner().invoke(cli.cli, [*words, "--json"]).output


def test_what_is_no_policy_is_refused_before_anything_runs(tmp_path: Path) -> None:
    with pytest.raises(purse.InvalidInput, match="unknown policy 'exp4'"):
        purse.leaderboard(["uniform", "exp4"], quick=True, folder=tmp_path)
    with pytest.raises(purse.InvalidInput, match="n_workers=0"):
        purse.leaderboard(["uniform"], quick=True, n_workers=0)
    with pytest.raises(purse.InvalidInput, match="suite='4': must be one of '1', '2', '3'"):
        purse.leaderboard(["uniform"], suite="4", quick=True)
    assert leaderboard.YARDSTICKS == ("fixed", "oracle")


def test_the_default_policy_is_what_the_committed_page_recommends_to_who_knows_nothing() -> None:
    page = COMMITTED.read_text()
    row = next(line for line in page.splitlines() if line.startswith(f"| {ranking_page.NOTHING} |"))
    assert row.split("`")[1] == policies.DEFAULT
    assert purse.Policy(n_arms=2, budget=10, cost_min=0.5).name == policies.DEFAULT


def test_the_committed_page_is_of_this_suite() -> None:
    page = COMMITTED.read_text()
    assert f"suite {VERSION}:" in page
    assert all(f"| {case.name} | {case.situation} | `{case.world}` |" in page for case in CASES), (
        "run `make leaderboard`: a case has changed"
    )


def test_a_notebook_shows_the_standings() -> None:
    shown = by_hand()._repr_html_()
    assert shown.startswith(
        f"<p>suite {VERSION}: 2 cases, 2 policies; normalised regret 1 - G/OPT, smaller "
        "is better</p><table>"
    )
    rows = [
        re.findall(r"<t[hd][^>]*>([^<]*)</t[hd]>", row)
        for row in re.findall(r"<tr>(.*?)</tr>", shown)
    ]
    assert rows == [
        ["policy", "cases", "mean score ± 95%", "mean rank", "worst score", "on"],
        ["a", "2", "0.317 ± 0.033", "1.0", "0.533", "two"],
        ["b", "1", "0.250 ± 0.057", "2.0", "0.250", "one"],
    ]


def test_the_standings_are_aligned_text() -> None:
    assert str(by_hand()).splitlines()[1:] == [
        "policy  cases  mean score ± 95%  mean rank  worst score",
        "a           2     0.317 ± 0.033        1.0        0.533  two",
        "b           1     0.250 ± 0.057        2.0        0.250  one",
    ]


def test_where_an_adversary_chooses_the_worse_world_counts() -> None:
    gains = [np.array([8.0, 10.0]), np.array([4.0, 1.0])]
    # on average 0.1 in the first world and 0.5 in the second
    assert leaderboard.score(gains, [10.0, 5.0]) == pytest.approx([0.2, 0.8])
    assert leaderboard.score(gains[:1], [10.0]) == pytest.approx([0.2, 0.0])


def test_the_heat_map_has_a_cell_for_each_case_that_a_policy_plays() -> None:
    figure = ranking_page.heat_figure(by_hand())
    assert figure.data.rows() == [
        ("a", "one", pytest.approx(0.1)),
        ("a", "two", pytest.approx(1.6 / 3)),
        ("b", "one", pytest.approx(0.25)),
        ("b", "two", None),
    ]
    spec = checked_spec(figure)
    (cells,) = spec["datasets"].values()
    assert [cell["label"] for cell in cells] == ["10", "53", "25"]
    axes = spec["concat"][0]["layer"][0]["encoding"]
    assert axes["y"]["scale"]["domain"] == ["a", "b"]
    assert axes["x"]["scale"]["domain"] == ["one", "two"]
    assert render_svg(spec) == render_svg(ranking_page.heat_figure(by_hand()).spec)


def test_a_score_below_0_has_the_colour_of_the_end_and_its_own_label() -> None:
    scores = {("a", "one"): np.array([-0.2, -0.2]), ("b", "one"): np.array([-1e-9, -1e-9])}
    cases = (Case("one", "s", "w", 1),)
    board = Leaderboard(cases, ("a", "b"), scores, {}, "2")
    figure = ranking_page.heat_figure(board)
    assert figure.name == "leaderboard-2"
    (cells,) = figure.spec["datasets"].values()
    assert [cell["shade"] for cell in cells] == [0.001, 0.001]
    assert cells[0]["label"] == "-20.0"
    assert ranking_page.cell(board, "b", "one") == "0.0 ± 0.0"
