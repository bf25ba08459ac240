from __future__ import annotations

import runpy
from collections import Counter
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest

import purse
from purse import policies, worlds
from purse.base import amounts
from purse.lab.ranking import case as cases
from purse.lab.ranking import suites, with_contexts
from purse.lab.ranking.case import Case
from purse.lab.ranking.page import ALL, PAGES
from purse.lab.ranking.suites import LONG_GAMES, SUITES, WHAT_USERS_HAVE, WITH_CONTEXTS
from purse.lab.ranking.tables import case_row
from purse.lab.ranking.what_users_have import HEAVY, LIGHT, write_ten_arms

COMMITTED = Path(__file__).parents[3] / "docs" / "leaderboard"
DIGESTS = {"1": "bf9f4e7e45c6b1b9", "2": "7ac160288b425b8b", "3": "90cea7e6fd8b9652"}
USERS = {case.name: case for case in SUITES[WHAT_USERS_HAVE]}


@pytest.mark.parametrize("version", SUITES)
def test_every_case_has_a_name_of_its_own_and_a_world_that_can_be_played(version: str) -> None:
    suite = SUITES[version]
    assert len({case.name for case in suite}) == len(suite)
    for case in suite:
        for world in cases.worlds_of(case):
            resources = len(case.budget) if isinstance(case.budget, tuple) else 1
            assert world.n_resources == resources
            assert (world.n_features > 0) == (version == WITH_CONTEXTS)
            assert cases.make_case_job("uniform", case, world, seed=0).delay.mean == case.delay


@pytest.mark.parametrize("version", SUITES)
def test_the_cases_are_those_of_this_version(version: str) -> None:
    text = "\n".join(map(repr, SUITES[version]))
    assert sha256(text.encode()).hexdigest()[:16] == DIGESTS[version], (
        "a case has changed: give the suite a new version, play it and renew its page"
    )


@pytest.mark.parametrize("version", SUITES)
def test_the_committed_pages_are_those_of_the_stored_numbers(version: str) -> None:
    boards = runpy.run_path(str(COMMITTED.parent / "boards.py"))
    for name, text in boards["texts"](version).items():
        assert (COMMITTED / name).read_text() == text, "run `python docs/boards.py`"
    svg = (COMMITTED / f"{suites.name_file('leaderboard', version)}.svg").read_text()
    assert all(f">{policy}</text>" in svg for policy in boards["read"](version).policies)
    page = (COMMITTED / f"{PAGES[version].name}.md").read_text()
    assert f"suite {version}: {len(SUITES[version])} cases" in page
    assert all("| " + " | ".join(case_row(case)) + " |" in page for case in SUITES[version])
    row = next(line for line in page.splitlines() if line.startswith(f"| {ALL} |"))
    taken = row.split("`")[1]
    if version == WITH_CONTEXTS:
        assert with_contexts.sees_contexts(taken)
    else:
        assert taken == policies.DEFAULT == purse.Policy(n_arms=2, budget=10, cost_min=0.5).name


def test_the_policies_that_play_a_suite() -> None:
    assert suites.YARDSTICKS == ("fixed", "oracle")
    assert suites.ENDS_EARLY == ("best-arm",)
    left_out = {*suites.YARDSTICKS, *suites.ENDS_EARLY}
    expected = {*policies.names(), *suites.VARIANTS} - left_out
    for version in (LONG_GAMES, WHAT_USERS_HAVE):
        assert set(suites.players_of(version)) == expected
    seeing = {name for name in policies.names() if with_contexts.sees_contexts(name)}
    assert set(suites.players_of(WITH_CONTEXTS)) == {*seeing, *with_contexts.BLIND}
    assert "lin-ucb.price" in seeing
    assert not seeing & set(with_contexts.BLIND)
    assert with_contexts.sees_contexts("lin-ucb.price:eta=0.1")
    # classes are what it sees; other contexts are one class
    assert with_contexts.sees_contexts("classes.resolve", with_contexts.TABLE)
    assert not with_contexts.sees_contexts("classes.resolve", with_contexts.FITS)


def test_small_budgets_and_decades_are_played_with_other_bounds_too() -> None:
    found = Counter(case.situation for case in USERS.values())
    for situation in ("small budgets", "costs over three decades"):
        assert found[f"{situation}, bounds three times too wide"] == found[situation]
        # if all arms are declared alike, one bound for all is nothing new
        alike = [
            case
            for case in USERS.values()
            if case.situation == situation and case.world.startswith("two_point")
        ]
        assert found[f"{situation}, one bound for all arms"] == found[situation] - len(alike)
    for case in USERS.values():
        own = USERS[case.name.removesuffix(", one bound").removesuffix(", wide bounds")]
        assert case[2:5] == own[2:5]
        assert (case is own) == (case.bounds == "own")


def longest(case: Case) -> float:
    """The rounds of a case on all its paths, in the longest of its worlds."""
    horizons = []
    for world in cases.worlds_of(case):
        halfway = (world.cost_min + world.cost_max) / 2
        typical = halfway if world.cost_means is None else world.cost_means * amounts.UNIT
        budget = amounts.budget_array(case.budget, world.n_resources)[0]
        horizons.append(case.horizon or world.horizon or int(budget / typical.min()))
    return max(horizons) * case.n_paths


def test_no_case_of_what_users_have_takes_long() -> None:
    rounds = {name: longest(case) for name, case in USERS.items() if case.bounds == "own"}
    assert [name for name, number in rounds.items() if number > 2.05e5] == []


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
