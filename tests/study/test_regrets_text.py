from __future__ import annotations

import math
import re
from html import unescape

import pytest

import purse
import purse.engine.counterfactual
from purse.base.text import split_mean
from purse.study.regrets import first_line
from purse.theory.notions import NOTIONS

PLAIN = "bernoulli:rewards=[.9,.6],costs=[.8,.3]"
MEANS = {"best_efficiency", "pseudo_regret", "paper_pseudo_regret"}
BENCHMARKS = {"greedy", "knapsack", "optimum"}


def test_estimates_are_means_with_students_interval() -> None:
    found = purse.regrets("uniform", PLAIN, 20, n_paths=5, seed=3)
    for name, each in found.estimates.items():
        values = NOTIONS[name](found.evidence)
        assert values is not None
        assert each.mean == pytest.approx(values.mean())
        error = math.sqrt(math.fsum((value - each.mean) ** 2 for value in values.tolist()) / 4 / 5)
        assert each.error == pytest.approx(error)
        assert each.high - each.mean == pytest.approx(2.776445105 * error)
        assert each.mean - each.low == pytest.approx(2.776445105 * error)
        assert found[name] is each


def test_a_constant_has_an_interval_of_no_width() -> None:
    found = purse.regrets("fixed:arm=0", "bernoulli:rewards=[1,1],costs=[1,.25]", 10, n_paths=4)
    assert found["best_fixed_arm"] == (30, 0, 30, 30)


def test_one_path_has_means_and_no_intervals() -> None:
    found = purse.regrets("uniform", PLAIN, 20, n_paths=1)
    for each in found.estimates.values():
        assert math.isfinite(each.mean)
        assert all(map(math.isnan, each[1:]))
    assert "±" not in str(found)
    assert "nan" not in str(found)
    assert str(found).startswith(f"uniform on {PLAIN}: 1 path, budget 20\n")


def test_thousands_of_paths_have_a_comma() -> None:
    assert (
        str(purse.regrets("uniform", PLAIN, 1, n_paths=1000))
        .splitlines()[0]
        .endswith(": 1,000 paths, budget 1")
    )


def test_notions_keep_their_order_and_those_without_a_number_are_left_out() -> None:
    all_, some = (
        purse.regrets("uniform", PLAIN, 20, n_paths=2),
        purse.regrets("uniform", "two_worlds", 20, n_paths=2),
    )
    assert list(all_.estimates) == list(NOTIONS)
    assert list(some.estimates) == [
        name for name in NOTIONS if name not in MEANS | {"greedy", "knapsack"}
    ]


@pytest.mark.parametrize(
    ("notion", "hint"),
    [
        ("best_fixed_arms", "did you mean 'best_fixed_arm'?"),
        ("line1", "did you mean 'line_1'?"),
        ("leftovers", "did you mean 'leftover'?"),
        # not on this world
        (
            "greedy",
            "known: best_fixed_arm, efficiency_sums, leftover, line_1, line_2, optimum, "
            "own_rounds, paper_arm, round_gap",
        ),
    ],
)
def test_a_notion_that_is_not_there_is_refused_with_the_nearest_that_is(
    notion: str, hint: str
) -> None:
    found = purse.regrets("uniform", "two_worlds", 20, n_paths=2)
    with pytest.raises(purse.InvalidInput) as caught:
        found[notion]
    assert str(caught.value) == f"unknown notion of regret on this world {notion!r}; {hint}"


@pytest.mark.parametrize("world", [PLAIN, "same_costs"])
def test_it_prints_every_notion_with_what_it_is(world: str) -> None:
    found = purse.regrets("exp3.bwk:gamma=0.5", world, 20, n_paths=4)
    head, *lines = str(found).splitlines()
    assert head == f"exp3.bwk:gamma=0.5 on {world}: 4 paths, budget 20"
    assert [line.split()[0] for line in lines] == list(found.estimates)
    for name, line in zip(found.estimates, lines, strict=True):
        assert line.count("±") == 1
        assert line.endswith(first_line(NOTIONS[name]))
    assert len({line.index("±") for line in lines}) == 1
    for name in MEANS:
        assert (name in str(found)) == (world == PLAIN)


@pytest.mark.parametrize("budget", [2, 20, 2_000])
def test_what_is_printed_is_the_mean_and_half_the_interval_to_the_same_place(budget: float) -> None:
    found = purse.regrets("uniform", "misleading_ratio", budget, n_paths=9)
    for line, each in zip(str(found).splitlines()[1:], found.estimates.values(), strict=True):
        mean, half = line.split()[1].replace(",", ""), line.split()[3].replace(",", "")
        places = len(half.partition(".")[2])
        assert len(mean.partition(".")[2]) == places
        assert float(mean) == pytest.approx(each.mean, abs=0.500001 * 10**-places)
        assert float(half) == pytest.approx(each.high - each.mean, abs=0.500001 * 10**-places)
        assert places == 0 or 9.5 <= float(half) * 10**places <= 100
        assert places > 0 or each.high - each.mean >= 9.5


def test_what_is_said_is_the_first_line_of_a_docstring() -> None:
    def one() -> None:
        """First.

        Second.
        """

    assert first_line(one) == "First."
    assert all(map(first_line, NOTIONS.values()))


def test_a_notebook_shows_every_notion_with_what_it_is() -> None:
    found = purse.regrets("uniform", PLAIN, 20, n_paths=4)
    shown = found._repr_html_()
    assert shown.startswith(f"<p>uniform on {PLAIN}: 4 paths, budget 20</p><table>")
    head, *rows = (
        [unescape(cell) for cell in re.findall(r"<t[hd][^>]*>([^<]*)</t[hd]>", row)]
        for row in re.findall(r"<tr>(.*?)</tr>", shown)
    )
    assert head == ["regret", "mean", "± 95%", "what it is"]
    assert rows == [
        [name, *split_mean(each.mean, each.high), first_line(NOTIONS[name])]
        for name, each in found.estimates.items()
    ]
