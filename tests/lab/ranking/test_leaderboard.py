from __future__ import annotations

import re
import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import purse
from purse import cli, policies, worlds
from purse.lab.ranking import leaderboard, parts
from purse.lab.ranking import page as ranking_page
from purse.lab.ranking.record import read_record, record_of, write_record
from purse.lab.ranking.scores import Alone, Leaderboard
from purse.lab.ranking.suite import CASES, VERSION, Case
from purse.lab.report.charts.export import render_svg
from tests.support.charts import checked_spec

FEW = ("exp3.bwk", "uniform", "fractional-kube")
COMMITTED = Path(__file__).parents[3] / "docs" / "leaderboard" / "which-policy.md"


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Leaderboard]:
    folder = tmp_path_factory.mktemp("board")
    return folder, purse.lab.leaderboard(FEW, quick=True, folder=folder)


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
        ("b", 1, 2.0, "one"),
        ("a", 2, 1.0, "two"),
    ]
    assert found.standings()["score"].to_list() == pytest.approx([0.25, (0.1 + 1.6 / 3) / 2])
    # the runs of "two" have standard deviation 0.1 / sqrt 3, those of "one" none: the error of the
    # mean of both is half that of "two"
    assert found.standings()["error"].to_list() == pytest.approx([0.05 / np.sqrt(3), 0.1 / 3 / 2])
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
    fluid = purse.lab.theory.fluid.lp_optimum(routing.world, routing.budget).value
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
        "purse.lab.study.executors.play_shard", lambda *_: pytest.fail("computed again")
    )
    again = purse.lab.leaderboard(FEW, quick=True, folder=folder)
    assert all((again.scores[key] == value).all() for key, value in first.scores.items())


def test_the_page_has_one_policy_for_each_situation(quick: tuple[Path, Leaderboard]) -> None:
    _, found = quick
    text = ranking_page.markdown(record_of(found), "leaderboard.svg")
    assert text.startswith("# Which policy should I use?\n")
    for case in found.cases:
        assert case.name in text
    # of those that need not be told what arms cost
    taken = dict(re.findall(r"\| ([^|]*) \| `([^`]*)` \|", text.partition("## Standings")[0]))
    assert taken["constant costs per arm"] in ("exp3.bwk", "uniform")
    assert "These have to be told what each arm costs: `fractional-kube`." in text
    assert "an adversary" not in taken
    assert "**An adversary.** Nobody can do well" in text


def test_a_record_is_read_as_it_was_written(tmp_path: Path) -> None:
    scores = {("a", "two arms"): np.array([0.25, 0.75]), ("b", "two arms"): np.full(2, 0.125)}
    cases = tuple(case for case in CASES if case.name == "two arms")
    alone = {"two arms": Alone(0.5, 0.75)}
    record = record_of(Leaderboard(cases, ("a", "b"), scores, {}, VERSION, alone))
    write_record(record, tmp_path / "suite.json")
    again = read_record(tmp_path / "suite.json", {VERSION: cases})
    assert again.standings[0] == ("b", 1, 0.125, 0.0, 1.0, 0.125, "two arms")
    assert again.scores["a", "two arms"].mean == 0.5
    assert again.scores["a", "two arms"].half == pytest.approx(
        record.scores["a", "two arms"].half or 0, abs=1e-6
    )
    assert (again.cases, again.wins, again.alone) == (cases, record.wins, alone)
    assert again.frame().columns == ["case", "situation", "policy", "regret", "half_interval"]


def test_the_command_prints_standings_and_writes_the_page(
    quick: tuple[Path, Leaderboard], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, found = quick
    words = ["lab", "leaderboard", *FEW, "--quick", "-o", str(folder)]
    result = CliRunner().invoke(cli.cli, words)
    assert result.exit_code == 0
    assert str(found) in result.output
    written = {path.name for path in folder.iterdir()}
    assert {"which-policy.md", "scores.csv", "leaderboard.png", "leaderboard.svg"} <= written
    # the figure is there already
    monkeypatch.setattr("purse.lab.report.charts.export.write_figure", lambda *_, **__: [])
    assert '"standings"' in CliRunner().invoke(cli.cli, [*words, "--json"]).output


def test_what_is_no_policy_is_refused_before_anything_runs(tmp_path: Path) -> None:
    with pytest.raises(purse.InvalidInput, match="unknown policy 'exp4'"):
        purse.lab.leaderboard(["uniform", "exp4"], quick=True, folder=tmp_path)
    with pytest.raises(purse.InvalidInput, match="n_workers=0"):
        purse.lab.leaderboard(["uniform"], quick=True, n_workers=0)
    with pytest.raises(purse.InvalidInput, match="suite='4': must be one of '1', '2', '3'"):
        purse.lab.leaderboard(["uniform"], suite="4", quick=True)
    assert leaderboard.YARDSTICKS == ("fixed", "oracle")
    assert leaderboard.ENDS_EARLY == ("best-arm",)
    for suite in ("1", "2"):
        players = leaderboard.players_of(suite)
        assert not {*leaderboard.YARDSTICKS, *leaderboard.ENDS_EARLY} & set(players)


def test_the_default_policy_is_what_the_committed_page_recommends_to_who_knows_nothing() -> None:
    page = COMMITTED.read_text()
    row = next(line for line in page.splitlines() if line.startswith(f"| {parts.ALL} |"))
    assert row.split("`")[1] == policies.DEFAULT
    assert purse.Policy(n_arms=2, budget=10, cost_min=0.5).name == policies.DEFAULT


@pytest.mark.parametrize("suite", leaderboard.SUITES)
def test_the_committed_pages_are_those_of_the_stored_numbers(suite: str) -> None:
    folder = COMMITTED.parent
    boards = runpy.run_path(str(folder.parent / "boards.py"))
    for name, text in boards["texts"](suite).items():
        assert (folder / name).read_text() == text, "run `python docs/boards.py`"
    svg = (folder / f"{parts.name_file('leaderboard', suite)}.svg").read_text()
    assert all(f">{each}</text>" in svg for each in boards["read"](suite).policies)


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
        ["b", "1", "0.250 ± 0.057", "2.0", "0.250", "one"],
        ["a", "2", "0.317 ± 0.033", "1.0", "0.533", "two"],
    ]


def test_the_standings_are_aligned_text() -> None:
    assert str(by_hand()).splitlines()[1:] == [
        "policy  cases  mean score ± 95%  mean rank  worst score",
        "b           1     0.250 ± 0.057        2.0        0.250  one",
        "a           2     0.317 ± 0.033        1.0        0.533  two",
    ]


def test_where_an_adversary_chooses_the_worse_world_counts() -> None:
    gains = [np.array([8.0, 10.0]), np.array([4.0, 1.0])]
    # on average 0.1 in the first world and 0.5 in the second
    assert leaderboard.score(gains, [10.0, 5.0]) == pytest.approx([0.2, 0.8])
    assert leaderboard.score(gains[:1], [10.0]) == pytest.approx([0.2, 0.0])


def test_the_heat_map_has_a_cell_for_each_case_that_a_policy_plays() -> None:
    figure = parts.heat_figure(record_of(by_hand()))
    assert figure.data.rows() == [
        ("b", "one", pytest.approx(0.25)),
        ("b", "two", None),
        ("a", "one", pytest.approx(0.1)),
        ("a", "two", pytest.approx(1.6 / 3)),
    ]
    spec = checked_spec(figure)
    (cells,) = spec["datasets"].values()
    assert [cell["label"] for cell in cells] == ["25", "10", "53"]
    axes = spec["concat"][0]["layer"][0]["encoding"]
    assert axes["y"]["scale"]["domain"] == ["b", "a"]
    assert axes["x"]["scale"]["domain"] == ["one", "two"]
    assert render_svg(spec) == render_svg(parts.heat_figure(record_of(by_hand())).spec)


def test_a_score_below_0_has_the_colour_of_the_end_and_its_own_label() -> None:
    scores = {("a", "one"): np.array([-0.2, -0.2]), ("b", "one"): np.array([-1e-9, -1e-9])}
    cases = (Case("one", "s", "w", 1),)
    board = record_of(Leaderboard(cases, ("a", "b"), scores, {}, "2"))
    figure = parts.heat_figure(board)
    assert figure.name == "leaderboard-2"
    (cells,) = figure.spec["datasets"].values()
    assert [cell["shade"] for cell in cells] == [0.001, 0.001]
    assert cells[0]["label"] == "-20.0"
    assert parts.cell(board, "b", "one") == "0.0\N{NO-BREAK SPACE}±\N{NO-BREAK SPACE}0.0"
