from __future__ import annotations

from collections import Counter
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import purse
from purse import cli, policies, worlds
from purse.base import amounts
from purse.lab.ranking import games, page2
from purse.lab.ranking.parts import ALL, case_row
from purse.lab.ranking.record import record_of
from purse.lab.ranking.scores import Leaderboard
from purse.lab.ranking.suite2 import CASES, HEAVY, LIGHT, VERSION, write_ten_arms

COMMITTED = Path(__file__).parents[3] / "docs" / "leaderboard" / f"{page2.NAME}.md"
BY_NAME = {case.name: case for case in CASES}
DIGEST = "7ac160288b425b8b"


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Leaderboard]:
    folder = tmp_path_factory.mktemp("board")
    return folder, purse.lab.leaderboard(["uniform"], suite="2", quick=True, folder=folder)


def test_every_case_has_a_name_of_its_own_and_a_world() -> None:
    assert len(BY_NAME) == len(CASES)
    for case in CASES:
        for world in games.worlds_of(case):
            resources = len(case.budget) if isinstance(case.budget, tuple) else 1
            assert world.n_resources == resources
            assert games.make_case_job("uniform", case, world, seed=0).delay.mean == case.delay


def test_the_cases_are_those_of_this_version() -> None:
    text = "\n".join(map(repr, CASES))
    assert (VERSION, sha256(text.encode()).hexdigest()[:16]) == ("2", DIGEST), (
        "a case has changed: give the suite a new version, play it and renew its page"
    )


def test_small_budgets_and_decades_are_played_with_other_bounds_too() -> None:
    found = Counter(case.situation for case in CASES)
    for situation in ("small budgets", "costs over three decades"):
        assert found[f"{situation}, bounds three times too wide"] == found[situation]
        # where all arms are declared alike, one bound for all is nothing new
        alike = [
            case.name
            for case in CASES
            if case.situation == situation and case.world.startswith("two_point")
        ]
        assert found[f"{situation}, one bound for all arms"] == found[situation] - len(alike)
    for case in CASES:
        own = BY_NAME[case.name.removesuffix(", one bound").removesuffix(", wide bounds")]
        assert case[2:5] == own[2:5]
        assert (case is own) == (case.bounds == "own")


@pytest.mark.parametrize("name", [case.name for case in CASES if case.bounds == "own"])
def test_no_case_takes_long(name: str) -> None:
    case = BY_NAME[name]
    for world in games.worlds_of(case):
        horizon = case.horizon or world.horizon
        if horizon is None:
            halfway = (world.cost_min + world.cost_max) / 2
            typical = halfway if world.cost_means is None else world.cost_means * amounts.UNIT
            horizon = int(amounts.budget_array(case.budget, 1)[0] / typical.min())
        assert horizon * case.n_paths <= 2.05e5


@pytest.mark.parametrize(("tail", "most"), [(LIGHT, 2), (HEAVY, 20)])
@pytest.mark.parametrize("rising", [True, False])
def test_ten_arms_cost_over_three_decades(
    tail: tuple[tuple[float, float], ...], most: float, rising: bool
) -> None:
    world = worlds.make(write_ten_arms(7, tail, rising=rising), 1)
    assert world.cost_means is not None
    assert world.reward_means is not None
    assert (world.cost_means.min(), world.cost_means.max()) == pytest.approx((0.001, 1))
    assert world.cost_max.max() == most * 1e9
    assert ((world.reward_means > 0.04) & (world.reward_means < 0.97)).all()
    order = np.corrcoef(np.log(world.cost_means[:, 0]), world.reward_means)[0, 1]
    assert (order > 0.9) == rising
    assert write_ten_arms(7, tail, rising=rising) != write_ten_arms(8, tail, rising=rising)


@pytest.mark.parametrize(
    "name",
    [
        "easy gaps, 2 pulls, wide bounds",
        "ten arms, horizon, one bound",
        "routing, 10 rounds late",
        "outages, money",
        "auctions, little money",
    ],
)
def test_a_score_is_the_share_of_the_optimum_that_was_not_gained(
    quick: tuple[Path, Leaderboard], name: str
) -> None:
    case = BY_NAME[name]
    (world,) = games.worlds_of(case)
    least, most = games.declared_bounds(case, world)
    told = {"stop": case.stop, "horizon": case.horizon, "delay": case.delay}
    run = purse.simulate(
        "uniform", world, case.budget, n_paths=4, cost_min=least, cost_max=most, **told
    )
    _, board = quick
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


def test_arms_alone_on_cases_by_hand(quick: tuple[Path, Leaderboard]) -> None:
    _, board = quick
    # always saving earns nothing in one world, always spending 1/9 of 9 B in the other: 1/9 of v
    assert board.alone["two worlds, least cost 0.1"] == pytest.approx((0, (1 / 9) / (9 / 17)))
    assert board.alone["same costs"] == pytest.approx((1, 1))
    # all arms cost the same, so the best of them is the cheapest
    rises = board.alone["an arm rises"]
    assert rises.cheapest == rises.best < 1
    assert board.alone["ten arms, money"] == board.alone["ten arms, money, wide bounds"]


def test_a_second_board_computes_nothing_and_the_command_writes_the_page(
    quick: tuple[Path, Leaderboard], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, board = quick
    monkeypatch.setattr(
        "purse.lab.study.executors.play_shard", lambda *_: pytest.fail("computed again")
    )
    words = ["lab", "leaderboard", "uniform", "--suite", "2", "--quick", "-o", str(folder)]
    result = CliRunner().invoke(cli.cli, words)
    assert result.exit_code == 0, result.output
    assert str(board) in result.output
    written = {path.name for path in folder.iterdir()}
    assert {"what-users-have.md", "scores-2.csv", "leaderboard-2.svg"} <= written
    assert (folder / "what-users-have.md").read_text() == page2.markdown(
        record_of(board), "leaderboard-2.svg"
    )


def test_the_committed_page_is_of_this_suite_and_recommends_the_default() -> None:
    page = COMMITTED.read_text()
    assert f"suite {VERSION}: {len(CASES)} cases" in page
    assert all("| " + " | ".join(case_row(case)) + " |" in page for case in CASES), (
        "run `make leaderboard`: a case has changed"
    )
    row = next(line for line in page.splitlines() if line.startswith(f"| {ALL} |"))
    assert row.split("`")[1] == policies.DEFAULT
