import re
from typing import Any

import numpy as np
import pytest

import purse
from purse.base.amounts import UNIT
from purse.base.catalog import _Catalog
from purse.engine.run import Run
from purse.errors import InvalidInput
from purse.types import SKIP, Problem, Ticket, World

GOOD: dict[str, Any] = {"n_arms": 3, "budget": 10, "cost_min": 0.1}
WHOLE = "must be a whole number from 1 up"
COST_SHAPES = "must be one number, one for each of the 3 arms, or an array of shape (3, 1)"


def unquoted(error: Exception) -> str:
    return str(error).replace("'", "")


def world(cost_min: Any, cost_max: Any, **more: Any) -> World:
    return World("test", None, np.array(cost_min) * UNIT, np.array(cost_max) * UNIT, **more)


def run_of(**changes: Any) -> Run:
    facts = {
        "policy": "uniform",
        "world": "bernoulli",
        "budget": np.array([10.0]),
        "stop": "exit",
        "seed": 3,
        "gain": np.array([4.0, 6.0]),
        "rounds": np.array([10, 12]),
        "spent_units": np.array([[9 * UNIT], [10 * UNIT]]),
        "pulls": np.array([[5, 5], [11, 1]]),
        "ended": np.array([False, False]),
    }
    return Run(**(facts | changes))


SEVERAL = run_of(  # budgets, arms, and paths of which one ended
    budget=np.array([10.0, 2.5]),
    spent_units=np.full((2, 2), UNIT),
    pulls=np.ones((2, 20), np.int64),
    ended=np.array([True, False]),
)
ENDED = "1 of 2 paths reached the end of the world before the end of the budget"
ALONE = run_of(
    gain=np.array([4.0]),
    rounds=np.array([0]),
    spent_units=np.array([[0]]),
    pulls=np.array([[0, 0]]),
    ended=np.array([False]),
)


def test_numbers_stand_for_all_arms_and_resources() -> None:
    problem = Problem.of(n_arms=3, budget=10, cost_min="0.1", cost_max=2, n_resources=2, caps=5)
    assert problem.caps is not None
    assert problem.caps.tolist() == [5, 5, 5]
    assert problem.budget.tolist() == [10 * UNIT] * 2
    assert problem.cost_min.tolist() == [[UNIT // 10] * 2] * 3
    assert problem.cost_max.tolist() == [[2 * UNIT] * 2] * 3
    assert (problem.n_arms, problem.n_resources, problem.plays) == (3, 2, 1)
    for field in ("horizon", "costs", "reward_means", "cost_means"):
        assert getattr(problem, field) is None


def test_arrays_stand_for_themselves() -> None:
    amounts = {"budget": [1, 2], "cost_min": [[0.1, 0], [0.2, 0.3]], "cost_max": [1, 3]}
    more = {"costs": [[0.5], [0.6]], "caps": [4, 0], "plays": 2, "horizon": 7}
    problem = Problem.of(n_arms=2, n_resources=2, **amounts, **more)
    assert problem.budget.tolist() == [UNIT, 2 * UNIT]
    assert problem.cost_min.tolist() == [[UNIT // 10, 0], [UNIT // 5, 3 * UNIT // 10]]
    assert problem.cost_max.tolist() == [[UNIT, UNIT], [3 * UNIT, 3 * UNIT]]
    assert problem.costs is not None
    assert problem.costs.tolist() == [[UNIT // 2] * 2, [6 * UNIT // 10] * 2]
    assert problem.caps is not None
    assert problem.caps.tolist() == [4, 0]
    assert (problem.plays, problem.horizon) == (2, 7)


@pytest.mark.parametrize(
    ("field", "values", "message"),
    [
        ("n_arms", [0, 2.5], WHOLE),
        ("n_resources", [0], WHOLE),
        ("budget", [0, -1], "must be positive"),
        ("budget", [float("nan"), "1e-10", None], "must be a number with at most nine decimals"),
        (
            "budget",
            [[1, 2], [], [[1]]],
            "must be one positive number, or one per resource, of which there are 1",
        ),
        ("cost_min", [0, -0.5], "must be positive"),
        ("cost_min", [[0.1, 0, 0.1]], "cost_min=0: must be positive"),
        ("cost_min", [1.5], "must be at most cost_max=1"),
        ("cost_min", [[0.1, 0.2], [0.1]], COST_SHAPES),
        ("cost_max", [[[1, 1, 1]], []], COST_SHAPES),
        ("cost_max", [float("inf")], "must be a number"),
        ("costs", [[1, 2]], COST_SHAPES),
        ("costs", [-1, 0, 0.05, 1.5], "cost"),
        ("plays", [0, 4], "must be a whole number from 1 to 3"),
        ("horizon", [0, "5"], "must be a whole number from 1 to 9007199254740992"),
        ("caps", [-1], "must be a whole number from 0 up"),
        ("caps", [[1, 2, 2.5]], "caps=2.5: must be a whole number from 0 up"),
        ("caps", [[1, 2], [[1], [2, 3]], [[1, 2, 3], [1, 2, 3]]], "caps="),
    ],
)
def test_a_bad_field_is_refused_with_its_name_value_and_what_is_allowed(
    field: str, values: list[Any], message: str
) -> None:
    for value in values:
        said = f"{field}={value!r}: {message}" if message.startswith("must") else message
        with pytest.raises(InvalidInput) as caught:
            Problem.of(**GOOD | {field: value})
        assert unquoted(caught.value).startswith(said.replace("'", ""))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"budget": [1, -2], "n_resources": 2}, "budget=[1, -2]: must be positive"),
        (
            {"cost_min": [0.1, 0.6, 0.1], "cost_max": [0.2, 0.5, 0.2]},
            "cost_min=0.6: must be at most cost_max=0.5",
        ),
        (
            {"cost_min": [[0.1, 0.1], [0, 0], [0, 0.1]], "n_resources": 2},
            "cost_min=0: must not be negative, and each arm needs a resource that it always uses",
        ),
        (
            {"cost_min": [[0.1, -1], [1, 1], [1, 0.1]], "n_resources": 2},
            "cost_min=-1: must not be negative",
        ),
        (
            {"cost_min": [[1, 0]] * 3, "cost_max": [[1, 0]] * 3, "n_resources": 2},
            "cost_max=0: must be positive for at least one arm of each resource",
        ),
        (
            {"plays": 3, "cost_max": 2_000_000_000},
            "cost_max=2000000000: must be at most 1,537,228,672 for 3 plays",
        ),
    ],
)
def test_fields_that_do_not_fit_together_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        Problem.of(**GOOD | changes)
    assert unquoted(caught.value).startswith(message)


def test_policies_see_costs_as_parts_of_the_largest() -> None:
    problem = Problem.of(n_arms=2, budget=100, cost_min=[1, 2], cost_max=[4, 8])
    assert (problem.unit_scale * UNIT).tolist() == pytest.approx([1 / 8])
    assert problem.c_min == pytest.approx(1 / 8)
    assert problem.b == pytest.approx(100 / 8)


def test_the_scarcest_resource_decides_what_policies_see_of_several_budgets() -> None:
    costs = {"cost_min": [[1, 1], [2, 0]], "cost_max": [[4, 2], [5, 2]]}
    problem = Problem.of(n_arms=2, n_resources=2, budget=[100, 30], **costs)
    assert (problem.unit_scale * UNIT).tolist() == pytest.approx([1 / 5, 1 / 2])
    with pytest.raises(
        InvalidInput, match=r"^cost_min=0: this policy needs every pull to cost something"
    ):
        _ = problem.c_min
    assert problem.b == pytest.approx(15)


def test_require_names_the_policy_and_what_it_plays() -> None:
    problem = Problem.of(**GOOD, plays=2)
    problem.require("exp3.bwk", plays=2, n_resources=1)
    with pytest.raises(
        InvalidInput, match=r"^exp3\.bwk plays problems with plays=1, and this one has plays=2$"
    ):
        problem.require("exp3.bwk", plays=1, n_resources=1)


@pytest.mark.parametrize(
    ("cost_min", "cost_max", "message"),
    [
        ([[0], [1]], [[1], [1]], "cost_min=0: must be positive, at least 1e-9"),
        ([[2]], [[1]], "cost_min=2: must be at most cost_max=1"),
    ],
)
def test_a_world_with_bad_costs_is_refused(cost_min: Any, cost_max: Any, message: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        world(cost_min, cost_max)
    assert unquoted(caught.value) == message


@pytest.mark.parametrize(
    ("reward_means", "cost_means", "efficiencies"),
    [
        ([0.5, 0.9], [[2.0], [3.0]], pytest.approx([0.25, 0.3])),
        ([0.5, 0.9], [[2.0, 1.0], [1.0, 8.0]], None),
        ([0.5], None, None),
        (None, [[1.0]], None),
    ],
)
def test_efficiency_is_mean_reward_per_mean_cost_of_one_resource(
    reward_means: Any, cost_means: Any, efficiencies: Any
) -> None:
    means = {"reward_means": reward_means, "cost_means": cost_means}
    ones = np.ones_like(cost_means or [[1]], np.int64)
    known = {name: np.array(value) for name, value in means.items() if value is not None}
    assert world(ones, 10 * ones, **known).efficiencies == efficiencies


def test_a_ticket_shows_its_first_play() -> None:
    ticket = Ticket(7, 1, (2, 0), (0.5, 0.25), (UNIT // 4, 3 * UNIT))
    assert (ticket.arm, ticket.probability, ticket.held) == (2, 0.5, 0.25)
    assert repr(ticket).startswith("<Ticket 7: arm 2 (probability 0.5) and arm 0 (probability 0.2")
    assert repr(Ticket(3, 7, (SKIP,), (1.0,), (0,))) == "<Ticket 3: round 7 passes without a pull>"


def test_a_run_is_shown_in_a_few_lines() -> None:
    assert str(run_of()).splitlines() == [
        "uniform on bernoulli: 2 paths, budget 10, stop=exit, seed=3",
        "  gain    5 (standard error 1)",
        "  rounds  11",
        "  spent   9.5",
        "  pulls   72.7% 27.3%",
    ]


def test_a_run_shows_all_budgets_the_first_twelve_arms_and_worlds_that_ended() -> None:
    lines = str(SEVERAL).splitlines()
    assert "budget 10, 2.5," in lines[0]
    assert lines[3] == "  spent   1, 1"
    assert lines[4] == "  pulls   " + "5.0% " * 12 + "..."
    assert lines[5].strip() == ENDED
    shown = SEVERAL._repr_html_()
    assert [row[0] for row in rows_of(shown)] == [
        *("", "gain", "rounds", "spent of resource 0", "spent of resource 1"),
        *(f"pulls of arm {arm}" for arm in range(12)),
        "...",
    ]
    assert shown.endswith(f"<p>{ENDED}</p>")


def test_a_run_says_what_was_saved_for_rounds_that_did_not_come() -> None:
    run = run_of(ended=np.array([True, False]), untold=12)
    loss = ", with 5% of it left on average: horizon=12 tells uniform how many rounds there are"
    assert str(run).endswith(f"{ENDED}{loss}")


def test_a_run_of_one_path_without_pulls_is_shown_too() -> None:
    assert "gain    4 (standard error nan)" in str(ALONE)
    assert "pulls   0.0% 0.0%" in str(ALONE)
    assert rows_of(ALONE._repr_html_())[1] == ["gain", "4", "", "4", "4"]


def test_a_run_is_a_frame_with_a_row_for_each_path() -> None:
    frame = run_of(ended=np.array([True, False])).frame()
    assert frame.rows() == [(0, 4.0, 10, 9.0, True, [5, 5]), (1, 6.0, 12, 10.0, False, [11, 1])]
    assert frame.columns == ["path", "gain", "rounds", "spent", "ended", "pulls"]
    assert frame.to_pandas()["gain"].tolist() == [4, 6]
    several = run_of(
        budget=np.array([10.0, 2.5]), spent_units=np.array([[9, 1], [10, 2]]) * UNIT
    ).frame()
    assert several["spent"].to_list() == [[9, 1], [10, 2]]


def test_a_notebook_shows_a_run_as_a_table() -> None:
    shown = run_of()._repr_html_()
    assert shown.startswith(
        "<p>uniform on bernoulli: 2 paths, budget 10, stop=exit, seed=3</p><table>"
    )
    assert rows_of(shown) == [
        ["", "mean", "standard error", "least", "most"],
        ["gain", "5", "1", "4", "6"],
        ["rounds", "11", "1", "10", "12"],
        ["spent", "9.5", "0.5", "9", "10"],
        ["pulls of arm 0", "8", "3", "5", "11"],
        ["pulls of arm 1", "3", "2", "1", "5"],
    ]


def rows_of(page: str) -> list[list[str]]:
    """The cells of a table, without entities."""
    return [
        re.findall(r"<t[hd][^>]*>([^<]*)</t[hd]>", row)
        for row in re.findall(r"<tr>(.*?)</tr>", page)
    ]


def test_results_are_one_line_in_a_list_and_a_table_in_a_notebook() -> None:
    run = purse.simulate(
        *("uniform", "bernoulli:rewards=[.9],costs=[.5]", 10),
        n_paths=2,
        checkpoints=40,
        device="python",
    )
    assert repr(run) == (
        "<Run of uniform on bernoulli:rewards=[.9],costs=[.5], budget 10: 2 paths, mean gain "
        f"{run.gain.mean():.6g}>"
    )
    trajectory = run.by_budget
    assert trajectory is not None
    assert re.fullmatch(
        r"<Trajectory of 2 paths at 40 checkpoints; mean gain \S+ at the last>", repr(trajectory)
    )
    shown = trajectory._repr_html_()
    assert shown.count("<tr>") == 1 + 20
    assert '<tr><td style="text-align:left">1</td>' in shown
    world = purse.worlds.bernoulli(rewards=[0.9, 0.5], costs=[0.5, 0.25])
    assert repr(world) == "<World bernoulli: 2 arms, costs 0.25 to 0.5>"
    cells = re.findall(r"<td [^>]*>(.*?)</td>", world._repr_html_())
    assert cells == ["0", "0.9", "0.5", "1.8", "1", "0.5", "0.25", "2"]
    changing = purse.worlds.make("two_worlds:world=1", 10)
    assert "changes" in changing._repr_html_()


def test_catalogs_list_what_is_in_them() -> None:
    assert repr(purse.worlds).startswith("<purse.worlds: 27 names: ad_slots, atoms, ")
    assert repr(purse.policies).endswith("uniform>")
    assert "Uniform: every arm equally likely" in vars(_Catalog)["_repr_html_"](purse.policies)
