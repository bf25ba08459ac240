import runpy
from hashlib import sha256

import numpy as np
import pytest

import purse
from purse import policies, worlds
from research.leaderboard import case as cases
from research.leaderboard import sealed, suites
from research.leaderboard.case import Case
from research.leaderboard.page import PAGES
from research.leaderboard.suites import (
    IN_TRAFFIC,
    LONG_GAMES,
    SEALED,
    SUITES,
    WHAT_USERS_HAVE,
    WITH_CONTEXTS,
)
from research.leaderboard.tables import anchor, rank, recommend
from tests.support.paths import ROOT

COMMITTED = ROOT / "docs" / "leaderboard"
WORLD = "atoms:probabilities=[[.5,.5],[1,0]],rewards=[[1,0],[1,1]],costs=[[.3,.6],[.9,.9]]"
FIXED = "bernoulli:rewards=[.9,.5],costs=[.9,.3]"
DIGESTS = {
    "sealed": "5737ceb1a1267541",
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
            assert (world.n_features > 0) == (
                version == WITH_CONTEXTS or case.situation == "contexts"
            )
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
    for version in boards["played"]():
        assert f"#{anchor(PAGES[version].title)}:target" in style  # a tab of the page
        record = boards["read"](version)
        svg = (COMMITTED / f"{suites.name_file('leaderboard', version)}.svg").read_text()
        assert all(f">{policy}</text>" in svg for policy in record.policies)
        choice = recommend(rank(record, list(record.situations)))
        assert choice is not None
        if version == SEALED:
            continue  # whoever wins
        if version == WITH_CONTEXTS:
            assert suites.sees_contexts(choice.policy)
        else:
            player = purse.Policy(n_arms=2, budget=10, cost_min=0.5)
            assert choice.policy == policies.DEFAULT == player.name


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


def test_a_seed_draws_cases_of_every_kind_that_can_be_played() -> None:
    drawn = list(sealed.draw_cases(11, each=2))
    assert drawn == list(sealed.draw_cases(11, each=3))[:2] + drawn[2:]
    assert [case.situation for case in drawn[::2]] == list(sealed.KINDS)
    others = list(sealed.draw_cases(12, each=2))
    assert not {case.world for case in drawn} & {case.world for case in others}
    for case in (*drawn, *others):
        (world,) = cases.worlds_of(case)
        assert world.n_resources == 1 + (case.situation == "two resources")
        assert cases.make_case_job("uniform", case, world, seed=0).problem.n_arms == world.n_arms
    assert sealed.seed_of_default() < 2**32


def test_what_a_policy_was_tuned_on() -> None:
    assert suites.tuned_on("replan") == "all but sealed"
    assert suites.tuned_on("c-ucb:alpha=0.5") == suites.tuned_on("primal-dual-bwk") == "suite 1"
    assert suites.tuned_on("c-ucb") == suites.tuned_on("uniform") == ""


def test_the_readme_says_what_the_table_shows() -> None:
    record = runpy.run_path(str(COMMITTED.parent / "boards.py"))["read"](SEALED)
    whole = {row.policy: row for row in record.standings if row.cases == len(record.cases)}
    mine = whole[policies.DEFAULT]
    best = min(whole.values(), key=lambda row: row.score)
    said = " ".join((ROOT / "README.md").read_text().split())
    assert (
        f"of {mine.cases} sealed cases the default policy, `{mine.policy}`, wins "
        f"{record.wins(mine.policy)}, with a mean regret of {mine.score:.1%}; "
        f"`{best.policy}` has the least, {best.score:.1%}"
    ) in said


def test_the_policies_that_play_a_suite() -> None:
    assert suites.YARDSTICKS == ("fixed", "oracle")
    assert suites.ENDS_EARLY == ("best-arm",)
    left_out = {*suites.YARDSTICKS, *suites.ENDS_EARLY}
    memory = {"b-kube", "budget-ucb", "exp3", "exp3.m.b", "exp3.p", "lin-cbwk", "sao"}
    memory |= {"sw-ucb-bwk"}
    assert {name for name in policies.names() if not suites.is_checked(name)} == memory
    expected = {*policies.names(), *suites.VARIANTS} - left_out - memory
    for version in (LONG_GAMES, WHAT_USERS_HAVE, IN_TRAFFIC):
        assert set(suites.players_of(version)) == expected
    seeing = {name for name in policies.names() if suites.sees_contexts(name)}
    assert set(suites.players_of(WITH_CONTEXTS)) == {*seeing, *suites.BLIND} - memory
    assert "lin-ucb.price" in seeing
    assert not seeing & set(suites.BLIND)
    assert suites.sees_contexts("lin-ucb.price:eta=0.1")
    # classes are what it sees; other contexts are one class
    assert suites.sees_contexts("classes.resolve", suites.TABLE)
    assert not suites.sees_contexts("classes.resolve", suites.FITS)


# a case


@pytest.mark.parametrize(
    ("bounds", "low", "high"),
    [
        ("own", [0.3, 0.9], [0.6, 0.9]),
        ("common", [0.3, 0.3], [0.9, 0.9]),
        ("wide", [0.1, 0.3], [1.8, 2.7]),
    ],
)
def test_the_bounds_that_players_are_told(bounds: str, low: list[float], high: list[float]) -> None:
    case = Case("c", "s", WORLD, 10, bounds=bounds)
    (world,) = cases.worlds_of(case)
    problem = cases.make_case_job("uniform", case, world, seed=0).problem
    assert problem.cost_min.ravel().tolist() == [round(1e9 * cost) for cost in low]
    assert problem.cost_max.ravel().tolist() == [round(1e9 * cost) for cost in high]


def test_several_resources_have_a_common_bound_each() -> None:
    world = worlds.ad_slots(clicks=[0.1, 0.2], values=[1, 1], prices=[0.5, 0.1], views=10)
    low, high = cases.declared_bounds(Case("c", "s", "", (5, 10), bounds="common"), world)
    assert (low.tolist(), high.tolist()) == ([[0, 1]] * 2, [[0.5, 1]] * 2)


def test_constant_costs_are_told_with_the_arms_own_bounds_only() -> None:
    case = Case("c", "s", FIXED, 10)
    (world,) = cases.worlds_of(case)
    assert cases.make_case_job("kube", case, world, seed=0).problem.costs is not None
    with pytest.raises(purse.InvalidInput, match="needs to know what each arm costs"):
        cases.make_case_job("kube", case._replace(bounds="wide"), world, seed=0)
    with pytest.raises(purse.InvalidInput, match="bounds='any': must be one of 'own'"):
        cases.make_case_job("kube", case._replace(bounds="any"), world, seed=0)


def test_stop_rule_horizon_and_delay_reach_the_game() -> None:
    case = Case("c", "s", FIXED, 10, horizon=7, stop="hold", delay=3)
    (world,) = cases.worlds_of(case)
    job = cases.make_case_job("uniform", case, world, seed=5)
    assert (job.problem.stop, job.problem.horizon, job.game.seed) == ("hold", 7, 5)
    assert job.delay.mean == 3


def test_arms_alone_have_own_bounds_and_no_other_rule() -> None:
    case = Case("c", "s", FIXED, 10, bounds="wide", stop="retry", delay=2)
    (world,) = cases.worlds_of(case)
    jobs = cases.make_alone_jobs(case, world, seed=0)
    assert [job.name for job in jobs] == ["fixed:arm=0", "fixed:arm=1"]
    for job in jobs:
        assert job.problem.stop == "exit"
        assert (job.problem.cost_max == world.cost_max).all()
        assert job.delay.mean == 0


def test_the_cheapest_arm_is_that_of_the_smallest_part_of_a_budget() -> None:
    case = Case("c", "s", FIXED, 10)
    (world,) = cases.worlds_of(case)
    assert cases.find_cheapest(case, world, np.array([1.0, 0.5])) == 1
    same = worlds.bernoulli(rewards=[0.1, 0.9, 0.5], costs=[0.5, 0.5, 0.6])
    assert cases.find_cheapest(case, same, np.array([0.2, 0.9, 1.0])) == 1
    # of 1 the first arm takes half, of 100 the second takes a tenth
    two = worlds.bernoulli(rewards=[0.5, 0.5], costs=[[0.5, 1], [0.1, 10]])
    many = case._replace(budget=(1.0, 100.0))
    assert cases.find_cheapest(many, two, np.array([1.0, 0.5])) == 1
    changing = worlds.switching(
        segments=5, rewards=[[1, 1], [0, 1]], costs=[[0.2, 0.4], [0.8, 0.4]]
    )
    assert cases.find_cheapest(case, changing, np.array([1.0, 0.5])) == 1
