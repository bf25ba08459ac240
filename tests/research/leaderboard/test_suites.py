from __future__ import annotations

import runpy
from hashlib import sha256
from pathlib import Path

import pytest

import purse
from purse import policies
from research.leaderboard import case as cases
from research.leaderboard import suites
from research.leaderboard.page import PAGES
from research.leaderboard.suites import (
    IN_TRAFFIC,
    LONG_GAMES,
    SUITES,
    WHAT_USERS_HAVE,
    WITH_CONTEXTS,
)
from research.leaderboard.tables import anchor, rank, recommend

COMMITTED = Path(__file__).parents[3] / "docs" / "leaderboard"
DIGESTS = {
    "1": "bf9f4e7e45c6b1b9",
    "2": "e0dba5dc65c5ebd9",
    "3": "90cea7e6fd8b9652",
    "traffic": "d633f5360c4e712d",
}


@pytest.mark.parametrize("version", SUITES)
def test_every_case_has_a_name_of_its_own_and_a_world_that_can_be_played(version: str) -> None:
    suite = SUITES[version]
    assert len({case.name for case in suite}) == len(suite)
    for case in suite:
        for world in cases.worlds_of(case):
            resources = len(case.budget) if isinstance(case.budget, tuple) else 1
            assert world.n_resources == resources
            assert (world.n_features > 0) == (version == WITH_CONTEXTS)
            assert cases.make_case_job("uniform", case, world, seed=0).delay.value == case.delay


@pytest.mark.parametrize("version", SUITES)
def test_the_cases_are_those_of_this_version(version: str) -> None:
    text = "\n".join(map(repr, SUITES[version]))
    assert sha256(text.encode()).hexdigest()[:16] == DIGESTS[version], (
        "a case has changed: give the suite a new version, play it and renew its page"
    )


def test_the_committed_files_are_those_of_the_stored_numbers() -> None:
    boards = runpy.run_path(str(COMMITTED.parent / "boards.py"))
    for path, text in boards["texts"]().items():
        assert path.read_text() == text, "run `python docs/boards.py`"
    style = (COMMITTED.parent / "static" / "site.css").read_text()
    for version in SUITES:
        assert f"#{anchor(PAGES[version].title)}:target" in style  # a tab of the page
        record = boards["read"](version)
        svg = (COMMITTED / f"{suites.name_file('leaderboard', version)}.svg").read_text()
        assert all(f">{policy}</text>" in svg for policy in record.policies)
        taken = recommend(rank(record, list(record.situations)))
        assert taken is not None
        if version == WITH_CONTEXTS:
            assert suites.sees_contexts(taken.policy)
        else:
            player = purse.Policy(n_arms=2, budget=10, cost_min=0.5)
            assert taken.policy == policies.DEFAULT == player.name


def test_a_case_of_traffic_comes_in_both_orders_of_the_arms() -> None:
    suite = SUITES[IN_TRAFFIC]
    for one, other in zip(suite[::2], suite[1::2], strict=True):
        assert other.name == f"{one.name}, reversed"
        assert other._replace(name=one.name, world=one.world) == one
        first, second = (cases.worlds_of(case)[0] for case in (one, other))
        assert first.costs is not None
        assert second.costs is not None
        assert (first.costs == second.costs[::-1]).all()
        assert (first.outages is None) == (second.outages is None)
        if first.outages is not None and second.outages is not None:
            assert (first.outages.up == second.outages.up[:, ::-1]).all()
    rare = [case.n_paths for name in SUITES for case in SUITES[name] if "rare" in case.name]
    assert min(rare) >= 400


def test_the_policies_that_play_a_suite() -> None:
    assert suites.YARDSTICKS == ("fixed", "oracle")
    assert suites.ENDS_EARLY == ("best-arm",)
    left_out = {*suites.YARDSTICKS, *suites.ENDS_EARLY}
    expected = {*policies.names(), *suites.VARIANTS} - left_out
    for version in (LONG_GAMES, WHAT_USERS_HAVE, IN_TRAFFIC):
        assert set(suites.players_of(version)) == expected
    seeing = {name for name in policies.names() if suites.sees_contexts(name)}
    assert set(suites.players_of(WITH_CONTEXTS)) == {*seeing, *suites.BLIND}
    assert "lin-ucb.price" in seeing
    assert not seeing & set(suites.BLIND)
    assert suites.sees_contexts("lin-ucb.price:eta=0.1")
    # classes are what it sees; other contexts are one class
    assert suites.sees_contexts("classes.resolve", suites.TABLE)
    assert not suites.sees_contexts("classes.resolve", suites.FITS)
