from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import purse
from research.leaderboard import __main__ as command
from research.leaderboard import case as cases
from research.leaderboard import leaderboard
from research.leaderboard.case import Case
from research.leaderboard.page import markdown
from research.leaderboard.record import read_record, record_of, write_record
from research.leaderboard.scores import Alone, Leaderboard
from research.leaderboard.suites import LONG_GAMES, SUITES, WHAT_USERS_HAVE

PLAYED = (  # a few cases of suite 2, with and without a horizon and an adversary
    *("easy gaps, 2 pulls, wide bounds", "ten arms, horizon, one bound"),
    *("ten arms, money", "ten arms, money, wide bounds"),
    *("outages, money", "auctions, little money", "ads, 30 pulls", "an arm rises"),
    *("two worlds, least cost 0.1", "same costs"),
)


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Leaderboard]]:
    """A quick board of these cases, and its folder."""
    few = tuple(case for case in SUITES[WHAT_USERS_HAVE] if case.name in PLAYED)
    folder = tmp_path_factory.mktemp("board")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(leaderboard, "SUITES", {**SUITES, WHAT_USERS_HAVE: few})
        yield folder, leaderboard.leaderboard(["uniform"], suite="2", quick=True, folder=folder)


def by_hand() -> Leaderboard:
    pair = (Case("one", "s", "w", 1), Case("two", "s", "w", 1))
    scores = {
        ("a", "one"): np.array([0.1, 0.1, 0.1]),
        ("b", "one"): np.array([0.2, 0.25, 0.3]),
        ("a", "two"): np.array([0.5, 0.5, 0.6]),
    }
    return Leaderboard(pair, ("a", "b"), scores, {("b", "two"): "b needs a horizon"}, LONG_GAMES)


def test_ranks_and_standings_by_hand() -> None:
    board = by_hand()
    assert board.ranks("one") == {"a": 1, "b": 2}
    assert board.ranks("two") == {"a": 1}
    assert board.standings().select("policy", "cases", "rank", "worst_case").rows() == [
        ("b", 1, 2.0, "one"),
        ("a", 2, 1.0, "two"),
    ]
    assert board.standings()["score"].to_list() == pytest.approx([0.25, (0.1 + 1.6 / 3) / 2])
    # the runs of "two" have standard deviation 0.1 / sqrt 3, those of "one" do not differ: the
    # error of the mean of both is half that of "two"
    assert board.standings()["error"].to_list() == pytest.approx([0.05 / np.sqrt(3), 0.1 / 3 / 2])
    assert board.score("b", "two") is None
    assert board.frame().filter(policy="b", case="two")["refused"].item() == "b needs a horizon"


@pytest.mark.parametrize("name", PLAYED[:7])
def test_a_score_is_the_share_of_the_optimum_that_was_not_gained(
    played: tuple[Path, Leaderboard], name: str
) -> None:
    board = played[1]
    case = next(case for case in board.cases if case.name == name)
    (world,) = cases.worlds_of(case)
    low, high = cases.declared_bounds(case, world)
    options = {"stop": case.stop, "horizon": case.horizon, "delay": case.delay}
    run = purse.simulate(
        "uniform", world, case.budget, n_paths=4, cost_min=low, cost_max=high, **options
    )
    scores = board.scores["uniform", name]
    optimum = run.gain.sum() / (1 - scores).sum()
    assert scores == pytest.approx(1 - run.gain / optimum)
    if world.horizon or case.horizon:
        fluid = purse.lab.theory.fluid.lp_optimum(world, case.budget, horizon=case.horizon).value
        assert optimum == pytest.approx(fluid)
    else:
        alone = [
            purse.simulate(f"fixed:arm={arm}", world, case.budget, n_paths=4).gain.mean()
            for arm in range(world.n_arms)
        ]
        assert optimum == pytest.approx(max(alone)) or (optimum > max(alone) and world.outages)


def test_arms_alone_on_cases_by_hand(played: tuple[Path, Leaderboard]) -> None:
    alone = played[1].alone
    # always saving earns nothing in one world, always spending 1/9 of 9 B in the other: 1/9 of v
    assert alone["two worlds, least cost 0.1"] == pytest.approx((0, (1 / 9) / (9 / 17)))
    assert alone["same costs"] == pytest.approx((1, 1))
    # all arms cost the same, so the best of them is the cheapest
    assert alone["an arm rises"].cheapest == alone["an arm rises"].best < 1
    assert alone["ten arms, money"] == alone["ten arms, money, wide bounds"]


def test_a_policy_that_cannot_play_a_case_is_left_out_there_and_says_why() -> None:
    jobs, refusals = leaderboard.make_jobs(["uniform", "kube"], SUITES[LONG_GAMES], 0)
    assert len(jobs["uniform"]) == len(SUITES[LONG_GAMES])
    assert "needs to know what each arm costs" in refusals["kube", "misleading ratio"]
    assert jobs["kube"].keys() >= {"easy gaps", "hard gaps"}


def test_quick_games_of_suite_1_have_small_budgets() -> None:
    short = {case.name: leaderboard.shorten(case) for case in SUITES[LONG_GAMES]}
    assert {case.n_paths for case in short.values()} == {4}
    assert short["easy gaps"].budget == 1000
    assert short["ads"].budget == (25, 1000)
    assert short["routing"].budget == 4000  # as many prompts as before


def test_a_second_board_computes_nothing_and_the_command_writes_the_page(
    played: tuple[Path, Leaderboard], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, board = played
    monkeypatch.setattr(
        "purse.lab.study.executors.play_shard", lambda *_: pytest.fail("computed again")
    )
    words = ["uniform", "--suite", "2", "--quick", "-o"]
    result = CliRunner().invoke(command.leaderboard, [*words, str(folder)])
    assert result.exit_code == 0, result.output
    assert str(board) in result.output
    written = {path.name for path in folder.iterdir()}
    assert {"scores-2.csv", "leaderboard-2.png", "leaderboard-2.svg", "suite-2.json"} <= written
    assert (folder / "cases-2.csv").read_text().count("\n") == 1 + len(board.cases)
    assert (folder / "leaderboard-2.md").read_text() == markdown(record_of(board))
    # the figure is there already
    monkeypatch.setattr(command, "write_figure", lambda *_, **__: [])
    assert (
        '"standings"'
        in CliRunner().invoke(command.leaderboard, [*words, str(folder), "--json"]).output
    )


def test_a_record_is_read_as_it_was_written(tmp_path: Path) -> None:
    scores = {("a", "two arms"): np.array([0.25, 0.75]), ("b", "two arms"): np.full(2, 0.125)}
    suite = tuple(case for case in SUITES[LONG_GAMES] if case.name == "two arms")
    alone = {"two arms": Alone(0.5, 0.75)}
    record = record_of(Leaderboard(suite, ("a", "b"), scores, {}, LONG_GAMES, alone))
    write_record(record, tmp_path / "suite.json")
    again = read_record(tmp_path / "suite.json", {LONG_GAMES: suite})
    assert again.standings[0] == ("b", 1, 0.125, 0.0, 1.0, 0.125, "two arms")
    assert again.scores["a", "two arms"].mean == 0.5
    assert again.scores["a", "two arms"].half == pytest.approx(
        record.scores["a", "two arms"].half or 0, abs=1e-6
    )
    assert (again.cases, again.alone) == (suite, alone)
    assert again.frame().columns == ["case", "situation", "policy", "regret", "half_interval"]


@pytest.mark.parametrize(
    ("names", "options", "message"),
    [
        (["uniform", "exp4"], {}, "unknown policy 'exp4'"),
        (["uniform"], {"n_workers": 0}, "n_workers=0"),
        (["uniform"], {"suite": "4"}, "suite='4': must be one of '1', '2', '3'"),
        (["uniform"], {"device": "tpu"}, "device='tpu': must be one of 'cpu', 'cuda'"),
    ],
)
def test_what_cannot_be_played_is_refused_before_anything_runs(
    names: list[str], options: dict[str, str], message: str
) -> None:
    with pytest.raises(purse.InvalidInput, match=message):
        leaderboard.leaderboard(names, quick=True, **options)


def test_standings_as_text() -> None:
    assert str(by_hand()).splitlines() == [
        "suite 1: 2 cases, 2 policies; normalised regret 1 - G/OPT, smaller is better",
        "policy  cases  mean score ± 95%  mean rank  worst score",
        "b           1     0.250 ± 0.057        2.0        0.250  one",
        "a           2     0.317 ± 0.033        1.0        0.533  two",
    ]


def test_with_an_adversary_the_worse_world_counts() -> None:
    gains = [np.array([8.0, 10.0]), np.array([4.0, 1.0])]
    # on average 0.1 in the first world and 0.5 in the second
    assert leaderboard.score(gains, [10.0, 5.0]) == pytest.approx([0.2, 0.8])
    assert leaderboard.score(gains[:1], [10.0]) == pytest.approx([0.2, 0.0])
