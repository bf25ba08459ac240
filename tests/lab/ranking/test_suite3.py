from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest

from purse import policies
from purse.lab.ranking import games, page3, suite3
from purse.lab.ranking.leaderboard import SUITES, players_of
from purse.lab.ranking.parts import ALL, case_row
from purse.lab.ranking.record import record_of
from purse.lab.ranking.scores import Leaderboard
from purse.lab.ranking.suite import Case
from purse.lab.ranking.suite3 import CASES, VERSION

COMMITTED = Path(__file__).parents[3] / "docs" / "leaderboard" / f"{page3.NAME}.md"
DIGEST = "90cea7e6fd8b9652"


def test_every_case_has_a_name_of_its_own_and_contexts() -> None:
    assert len({case.name for case in CASES}) == len(CASES)
    assert all(world.n_features > 0 for case in CASES for world in games.worlds_of(case))
    assert SUITES[VERSION] == CASES


def test_the_cases_are_those_of_this_version() -> None:
    text = "\n".join(map(repr, CASES))
    assert (VERSION, sha256(text.encode()).hexdigest()[:16]) == ("3", DIGEST), (
        "a case has changed: give the suite a new version, play it and renew its page"
    )


def test_all_policies_that_see_contexts_play_beside_a_few_that_do_not() -> None:
    found = players_of(VERSION)
    seeing = {name for name in policies.names() if suite3.sees_contexts(name)}
    assert set(found) == {*seeing, *suite3.BLIND}
    assert "lin-ucb.price" in seeing
    assert not seeing & set(suite3.BLIND)
    assert suite3.sees_contexts("lin-ucb.price:eta=0.1")
    # classes are what it sees; other contexts are one class
    assert suite3.sees_contexts("classes.resolve", suite3.TABLE)
    assert not suite3.sees_contexts("classes.resolve", suite3.FITS)


def test_the_page_says_what_contexts_are_worth_and_who_gets_it() -> None:
    cases = (
        Case("one", "s", "linear_contexts:rows=64,horizon=100", 13),
        Case("two", "s", "linear_contexts:rows=64,horizon=100,strength=0", 13),
    )
    means = {("lin-ucb.price", "one"): 0.1, ("replan", "one"): 0.4, ("replan", "two"): 0.05}
    scores = {key: np.full(4, mean) for key, mean in means.items()}
    board = Leaderboard(cases, ("lin-ucb.price", "replan"), scores, {}, VERSION, {})
    text = page3.markdown(record_of(board), "leaderboard-3.svg")
    assert text.startswith(f"# {page3.TITLE}\n")
    known = page3.blind_share(cases[0])
    assert (
        f"| one | {1 / known - 1:+.0%} | 60.0% (`replan`) | 90.0% (`lin-ucb.price`) | +50.0% | yes"
        in text
    )
    assert "| two | +0% | 95.0% (`replan`) | — | — | — |" in text
    assert page3.blind_share(cases[1]) == pytest.approx(1)


def test_the_committed_page_is_of_this_suite() -> None:
    page = COMMITTED.read_text()
    assert f"suite {VERSION}: {len(CASES)} cases" in page
    assert all("| " + " | ".join(case_row(case)) + " |" in page for case in CASES), (
        "run `make leaderboard`: a case has changed"
    )
    row = next(line for line in page.splitlines() if line.startswith(f"| {ALL} |"))
    assert suite3.sees_contexts(row.split("`")[1])
