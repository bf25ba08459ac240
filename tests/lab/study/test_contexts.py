from __future__ import annotations

import pytest

import purse
from purse import worlds
from purse.lab.study.results import Study
from purse.lab.theory import contexts

WORLD = worlds.function("class_contexts")(classes=3, arms=2, rows=20, horizon=60)
NAMES = [contexts.WITHOUT, contexts.LINEAR, contexts.WITH]


@pytest.fixture(scope="module")
def study() -> Study:
    blind = worlds.function("bernoulli")(rewards=[0.9, 0.6], costs=[0.8, 0.3])
    return purse.compare(
        "uniform", {"seen": WORLD, "blind": blind}, budgets=[10, 20], n_paths=5, seed=1
    )


def test_references_have_each_optimum_under_its_own_name(study: Study) -> None:
    known = study.references().filter(world="seen", budget=20)
    assert known["name"].to_list()[1:] == NAMES
    gains = dict(zip(known["name"], known["gain"], strict=True))
    assert gains[contexts.WITH] == contexts.lp_with_contexts(WORLD, 20)
    assert gains[contexts.WITHOUT] == contexts.lp_without_contexts(WORLD, 20)
    assert gains[contexts.LINEAR] == contexts.best_linear_policy(WORLD, 20)
    plain = study.references().filter(world="blind", budget=20)
    assert plain["name"].to_list()[1:] == ["LP optimum"]


def test_tables_tell_regret_and_share_against_the_lp_with_contexts(study: Study) -> None:
    ((world, grid),) = study.optimum_grids()
    assert world == "seen"
    assert grid[0] == ["regret (share) against the LP with contexts", "B = 10", "B = 20"]
    assert [row[0] for row in grid[1:]] == ["uniform", contexts.WITHOUT, contexts.LINEAR]
    gain = study.table().filter(world="seen", budget=20)["gain"].item()
    share = gain / contexts.lp_with_contexts(WORLD, 20)
    assert grid[1][2].endswith(f"({share:.1%})")
    text = str(study)
    assert text.count("regret against the best fixed arm") == 2
    assert text.count("against what one can expect at most who sees contexts") == 1
    assert study._repr_html_().count("<table") == 3


def test_the_page_shows_them() -> None:
    page = purse.compare("uniform", {"seen": WORLD}, budgets=[10], n_paths=5).html()
    assert page.count("Against the LP with contexts") == 1
    assert "Regret against the LP with contexts in seen" in page


def test_regrets_count_against_each_optimum() -> None:
    found = purse.lab.regrets("uniform", WORLD, 20, n_paths=5, seed=1)
    for name, optimum in zip(
        ("lp_without_contexts", "best_linear_policy", "lp_with_contexts"),
        contexts.optima(WORLD, 20).values(),
        strict=True,
    ):
        assert found[name].mean == pytest.approx(optimum - found.evidence.gain.mean())
        assert any(line.startswith(name) for line in str(found).splitlines())
    assert "greedy" not in found.estimates
    plain = purse.lab.regrets("uniform", "bernoulli:rewards=[.9,.6],costs=[.8,.3]", 20, n_paths=5)
    assert "lp_with_contexts" not in plain.estimates
