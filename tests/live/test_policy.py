"""What `test_machine.py` does not see of a live policy: forms of reports, messages, masks, the rule
`fit`, pending tickets and threads.
"""

import math
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from purse import BudgetExhausted, InvalidInput, Policy, PurseError
from purse.errors import TicketError
from purse.lab import Ticket
from purse.live import save_file
from tests.support.paths import LEAST_PENDING, MASKS_SEEN
from tests.support.policies import compile_steps

STOP_RULES = ("exit", "hold", "retry")


def make(policy: Any = "exp3.bwk", **changes: Any) -> Policy:
    return Policy(policy, **{"n_arms": 3, "budget": 10, "cost_min": 0.1, **changes})


def refusal(error: type[Exception], call: Callable[..., Any], *arguments: Any, **named: Any) -> str:
    with pytest.raises(error) as caught:
        call(*arguments, **named)
    message = str(caught.value)
    assert isinstance(caught.value, PurseError)
    assert message
    assert "\n" not in message
    return message


def standing(policy: Policy, chances: bool = True) -> Any:
    """All that can be seen of a policy."""
    return (
        policy.probabilities().tolist() if chances else None,
        policy.left_units,
        policy.spent_units,
        policy.held,
        policy.tickets,
        policy.t,
        policy.gain,
        policy.over,
    )


def amounts_in(message: str) -> set[str]:
    return set(re.findall(r"\d+(?:\.\d+)?", message))


# reports


@pytest.mark.parametrize(
    ("reward", "cost"),
    [
        (1, 0.3),
        (1.0, "0.3"),
        (np.int64(1), Decimal("0.3")),
        (np.float64(1), np.float64(0.3)),
        (np.float32(1), np.float32(0.3)),
        (np.array(1.0), np.array(0.3)),
        ([1.0], [0.3]),
        (1, np.array([[0.3]])),
    ],
)
def test_a_report_may_be_written_in_several_ways(reward: Any, cost: Any) -> None:
    policy = make()
    policy.tell(policy.ask(), reward, cost)
    assert (policy.gain, policy.spent_units) == (1.0, [300_000_000])


@pytest.mark.parametrize("form", [list, tuple, np.array], ids=["list", "tuple", "array"])
@pytest.mark.parametrize(
    ("plays", "resources", "costs", "spent"),
    [
        *((2, 1, costs, [3]) for costs in ([0.1, 0.2], [[0.1], [0.2]], ["0.1", "0.2"])),
        *((1, 2, costs, [1, 4]) for costs in ([0.1, 0.4], [[0.1, 0.4]], ["0.1", "0.4"])),
        (2, 2, [[0.1, 0.2], [0.3, 0.4]], [4, 6]),
    ],
)
def test_reports_of_several_plays_or_resources(
    plays: int, resources: int, costs: Any, spent: list[int], form: Callable[[Any], Any]
) -> None:
    policy = make("uniform", plays=plays, n_resources=resources)
    assert policy.tell(policy.ask(), form([0.25, 0.5][:plays]), form(costs))
    assert policy.gain == [0.25, 0.75][plays - 1]
    assert policy.spent_units == [tenths * 10**8 for tenths in spent]


@pytest.mark.parametrize(
    ("field", "values"),
    [
        ("reward", [-1e-9, 1.0000001, 2, 10**400, math.nan, math.inf, np.array([np.nan])]),
        ("reward", [None, "high", "0.5", {}, 0.5j, np.complex128(0.5)]),
        ("reward", [[0.5, 0.5], [[0.5], [0.5, 0.5]], []]),
        ("cost", [0, -0.5, math.nan, math.inf, 10**30, np.float64(1e305), Decimal("0.1234567891")]),
        ("cost", ["0.099999999", "1.000000001", "0.1234567891", f"0.5{'0' * 35}1", "NaN"]),
        ("cost", [True, None, "free", "", {}]),
        ("cost", [[0.5, 0.5], [[0.5], [0.5, 0.5]], []]),
    ],
    ids=repr,
)
def test_a_bad_report_changes_nothing(field: str, values: list[Any]) -> None:
    policy = make()
    policy.tell(policy.ask(), 1, 0.5)
    ticket = policy.ask()
    before = standing(policy)
    for value in values:
        report = {"reward": 0.5, "cost": 0.5, field: value}
        assert field in refusal(InvalidInput, policy.tell, ticket, **report)
        assert standing(policy) == before
    assert policy.tell(ticket, 0.5, "0.5")


def test_a_report_of_the_wrong_shape_changes_nothing() -> None:
    policy = make("uniform", plays=3, n_resources=2)
    ticket, rewards, costs = policy.ask(), [0.5] * 3, [[0.1, 0.2]] * 3
    before = standing(policy)
    for report in (
        *((wrong, costs) for wrong in (0.5, [0.5], [0.5] * 4, [])),
        *((rewards, wrong) for wrong in (0.1, [0.1, 0.2], costs[:2], [[0.1, 0.2], [0.3]], [])),
        (rewards, [[0.1] * 3, [0.9] * 3]),  # plays and resources are exchanged
    ):
        refusal(InvalidInput, policy.tell, ticket, *report)
        assert standing(policy) == before


@pytest.mark.parametrize("resource", [0, 1])
@pytest.mark.parametrize("play", [0, 1])
def test_of_several_rewards_and_costs_the_one_outside_its_range_is_named(
    play: int, resource: int
) -> None:
    low, high = [["0.11", "0.12"], ["0.21", "0.22"]], [["0.61", "0.62"], ["0.71", "0.72"]]
    policy = make("uniform", n_arms=2, plays=2, n_resources=2, cost_min=low, cost_max=high)
    ticket, rewards = policy.ask(), [0.25, 0.75]
    arm = ticket.arms[play]
    for bound, beyond in ((low, -1), (high, 1)):
        costs = [[Decimal(bound[arm][m]) for m in range(2)] for arm in ticket.arms]
        costs[play][resource] += beyond * Decimal("0.000000001")
        allowed = f"must lie between {low[arm][resource]} and {high[arm][resource]} for arm {arm}"
        assert allowed in refusal(InvalidInput, policy.tell, ticket, rewards, costs)
    rewards[play] += 1
    assert f"reward={rewards[play]}: must lie between 0 and 1" in refusal(
        InvalidInput, policy.tell, ticket, rewards, [high[arm] for arm in ticket.arms]
    )


def test_a_notebook_shows_the_money() -> None:
    policy = Policy("uniform", n_arms=2, budget=5, cost_min=0.1)
    policy.tell(policy.ask(), 1, 0.5)
    policy.ask()
    shown = policy._repr_html_()
    assert shown.startswith("<p>uniform: round 2, gain 1, 1 open ticket</p><table>")
    cells = re.findall(r"<td[^>]*>([^<]*)</td>", shown)
    assert cells == ["resource 1", "5", "0.5", "1", "3.5"]


@pytest.mark.parametrize("end", ["tell", "void"])
def test_a_finished_ticket_is_said_to_be_finished(end: str) -> None:
    policy = make()
    ticket = policy.ask()
    _ = policy.tell(ticket, 1, 0.5) if end == "tell" else policy.void(ticket)
    for call, report in ((policy.tell, (1, 0.5)), (policy.void, ())):
        assert refusal(TicketError, call, ticket, *report) == "ticket 1 is finished already"


def test_a_ticket_may_be_a_copy_and_nothing_else() -> None:
    policy = make()
    ticket = policy.ask()
    before = standing(policy)
    for thing in (None, 1, "ticket", tuple(ticket)):
        refusal(PurseError, policy.tell, thing, 1, 0.5)
        refusal(PurseError, policy.void, thing)
    assert standing(policy) == before
    assert policy.tell(Ticket(*ticket)._replace(arms=tuple(map(float, ticket.arms))), 1, 0.5)


@pytest.mark.parametrize(
    ("policy", "changes", "hint"),
    [
        *(("uniform", {"seed": seed}, "seed") for seed in (-1, 2**64, "x")),
        *(("uniform", {"stop": stop}, "'exit', 'hold', 'retry'") for stop in ("x", None)),
        ("uniform", {"n_arms": 2.5}, "n_arms=2.5"),
        ("exp3.bwk", {"caps": 5}, "does not keep to caps"),
        ("exp3.bkw", {}, "'exp3.bkw'; did you mean 'exp3.bwk'?"),
        ("fixed:arm=3", {}, "arm=3"),
        ("oracle", {}, "oracle"),  # which knows the means, does not play live
        (None, {}, ""),
        (7, {}, ""),
    ],
)
def test_what_cannot_be_played_is_refused(policy: Any, changes: dict[str, Any], hint: str) -> None:
    assert hint in refusal(PurseError, make, policy, **changes)


# stop rules


def test_a_cost_that_does_not_fit_is_named_with_what_is_left() -> None:
    for stop, arms in (("exit", 1), ("retry", 4)):  # which are tried in turn
        policy = make("uniform", n_arms=4, budget=1, stop=stop)
        assert policy.tell(policy.ask(), 1, 0.6)
        for _ in range(arms):
            assert policy.over == ""
            assert not policy.tell(policy.ask(), 1, 0.6)
        assert refusal(BudgetExhausted, policy.ask) == policy.over
        assert {"0.4", "0.6", "2"} <= amounts_in(policy.over)


def test_retry_with_two_plays_replaces_the_dearer_arm() -> None:
    policy = make("uniform", n_arms=4, plays=2, budget=1, stop="retry")
    ticket = policy.ask()
    assert not policy.tell(ticket, [1, 1], [0.3, 0.9])
    again = policy.ask()
    kept, dear = ticket.arms
    assert (again.t, again.arms[0], again.probabilities) == (1, kept, (0.5, 0.5))
    assert again.arms[1] not in (kept, dear)
    assert policy.tell(again, [1, 1], [0.3, 0.7])


def test_hold_names_amounts_and_tickets_of_the_resource_that_is_short() -> None:
    policy = make("uniform", n_resources=2, budget=["2.5", 100], cost_max=[[1, 9]] * 3)
    policy.ask()
    policy.ask()
    message = refusal(BudgetExhausted, policy.ask)
    assert {"1", "0.5", "2"} <= amounts_in(message)
    assert "open tickets: 2, holding 2" in message
    assert not {"9", "18", "82"} & amounts_in(message)
    assert "ticket" not in refusal(BudgetExhausted, make(budget="0.5").ask)


# masks


def test_probabilities_are_those_of_the_allowed_arms_and_a_copy() -> None:
    live = make()
    live.probabilities()[:] = 0
    assert live.probabilities([0, 2]).tolist() == [0.5, 0, 0.5]
    assert live.probabilities().tolist() == pytest.approx([1 / 3] * 3)
    ticket = live.ask(arms=[1])
    assert (ticket.arm, ticket.probability) == (1, 1.0)


@pytest.mark.parametrize("arms", [[], [3], [-1], ["a"], [0.5]])
def test_a_bad_list_is_refused_and_nothing_changes(arms: list[object]) -> None:
    live = make()
    with pytest.raises(InvalidInput, match="arms="):
        live.ask(arms)
    assert (live.t, live.left) == (0, 10)


def test_an_arm_that_is_not_allowed_keeps_its_initial_pull() -> None:
    live = make("c-ucb")
    tickets = [live.ask([1, 2]), live.ask([1, 2]), live.ask([1, 2]), live.ask(), live.ask()]
    assert [ticket.arm for ticket in tickets[:2]] == [1, 2]
    assert tickets[2].arm in (1, 2)
    assert tickets[3].arm == 0


def test_a_voided_initial_pull_comes_again_when_its_arm_is_allowed() -> None:
    live = make("c-ucb")
    live.void(live.ask())
    assert live.probabilities([1, 2]).tolist() == [0, 1, 0]
    assert live.ask([1, 2]).arm == 1
    again = live.ask()
    assert (again.arm, again.t) == (0, 1)


def test_fit_leaves_out_what_does_not_fit_and_ends_when_nothing_does() -> None:
    live = make("fixed:arm=0", budget=9, cost_max=[5, 3, 2], stop="fit")
    arms = []
    while live.left > 1:
        ticket = live.ask()
        arms.append(ticket.arm)
        live.tell(ticket, 1, [4, 3, 2][ticket.arm])
    with pytest.raises(BudgetExhausted, match="no allowed arm fits: 1 is left"):
        live.ask()
    assert arms == [0, 0]
    assert live.spent == 8


def test_a_held_fit_is_refused_until_something_comes_back() -> None:
    live = make("uniform", budget=5, cost_max=5, stop="fit")
    ticket = live.ask()
    with pytest.raises(BudgetExhausted, match="no allowed arm fits: 0 is left; open tickets"):
        live.ask()
    live.void(ticket)
    assert live.ask().held == 5


def test_pending_counts_open_tickets_and_survives_a_file(tmp_path: Path) -> None:
    live = make(LEAST_PENDING)
    first, second, third = (live.ask() for _ in range(3))
    assert [ticket.arm for ticket in (first, second, third)] == [0, 1, 2]
    live.void(second)
    assert live.ask().arm == 1
    live.tell(third, 1, 0.5)
    live.save(tmp_path / "saved.npz")
    loaded = Policy.load(tmp_path / "saved.npz", allow_policy_file=True)
    assert loaded.ask().arm == live.ask().arm == 2


def test_masks_are_counted_and_survive_a_file(tmp_path: Path) -> None:
    live = make(MASKS_SEEN, budget=2, stop="retry")
    space = live._game.workspace
    for arms in ([1], [0, 1, 2], [2, 1], None, [1]):
        live.probabilities(arms)
        ticket = live.ask(arms)
    assert (space.seen[:3].tolist(), space.masks[:2].tolist()) == (
        [1 + 5, 3, 0],
        [[False, True, False], [False, True, True]],
    )
    live.void(ticket)
    live.save(tmp_path / "saved.npz")
    loaded = Policy.load(tmp_path / "saved.npz", allow_policy_file=True)
    assert np.array_equal(loaded._game.workspace.masks, space.masks)
    assert np.array_equal(loaded._game.workspace.seen, space.seen)
    assert [loaded.ask().arm for _ in range(2)] == [live.ask().arm for _ in range(2)]


def test_an_ask_that_is_refused_counts_no_mask() -> None:
    live = make(MASKS_SEEN, budget=1)
    live.ask([2])
    refusal(BudgetExhausted, live.ask, [1, 2])
    assert live._game.workspace.seen.sum() == 1


def test_a_masked_game_survives_a_file(tmp_path: Path) -> None:
    live, saved = make("c-ucb", stop="retry", budget=3), tmp_path / "saved.npz"
    live.ask([1])
    live.save(saved)
    again = Policy.load(saved)
    assert [again.ask().arm for _ in range(2)] == [live.ask().arm for _ in range(2)] == [0, 2]
    assert np.array_equal(again.probabilities([1, 2]), live.probabilities([1, 2]))


# threads


def test_threads_may_ask_tell_and_look_at_once() -> None:
    policy = make(budget="50")

    def spend() -> int:
        paid = 0
        while True:
            try:
                ticket = policy.ask()
            except BudgetExhausted:
                if not policy.tickets:
                    return paid
                continue
            paid += policy.tell(ticket, 0.5, 0.5)

    def look() -> int:
        for _ in range(2000):
            assert policy.held >= 0
            assert len(policy.tickets) <= 4
        return 0

    with ThreadPoolExecutor(5) as pool:
        paid = sum(future.result() for future in [pool.submit(f) for f in (look, *[spend] * 4)])
    assert paid * 500_000_000 == policy.spent_units[0] <= 50_000_000_000
    assert paid == policy.t == 99
    assert policy.tickets == []
    assert repr(policy) == (
        "<Policy exp3.bwk: round 99, spent 49.5, held 0.0, left 0.5, stop=hold>"
    )


ROUNDS = 60


def planner(horizon: Any) -> Policy:
    return make("replan", budget=12, horizon=horizon, seed=3)


def play(policy: Policy, rounds: range, **more: Any) -> list[Any]:
    """What a policy does in these rounds of `ROUNDS`; every third ticket is void."""
    seen: list[Any] = []
    for t in rounds:
        told = {name: number(t) for name, number in more.items()}
        try:
            seen.append(policy.probabilities(**told).tolist())
            ticket = policy.ask(**told)
        except BudgetExhausted as error:
            return [*seen, str(error)]
        seen.append(ticket)
        if t % 3 == 0 and not ticket.skipped:
            policy.void(ticket)
        elif not ticket.skipped:
            policy.tell(ticket, reward=(4 + ticket.arm) / 10, cost=(ticket.arm + 1) / 5)
    return seen


def left(t: int) -> int:
    return ROUNDS - t + 1


@pytest.mark.parametrize("compiled", [False, True])
def test_the_rounds_left_of_each_ask_are_those_of_a_horizon(compiled: bool, tmp_path: Path) -> None:
    told, foreseen = planner(ROUNDS), planner("forecast")
    if compiled:
        compile_steps(foreseen)
    first, rest = range(1, 21), range(21, ROUNDS + 1)
    assert play(told, first) == play(foreseen, first, rounds_left=left)
    foreseen.save(tmp_path / "policy")
    loaded = Policy.load(tmp_path / "policy")
    after = play(told, rest)
    assert after == play(foreseen, rest, rounds_left=left) == play(loaded, rest, rounds_left=left)
    beyond = planner("forecast")
    assert [beyond.ask(rounds_left=1).t for _ in range(3)] == [1, 2, 3]


def test_a_forecast_decides_what_is_spent() -> None:
    def spent(rounds_left: int) -> float:
        after = play(planner("forecast"), range(1, 31), rounds_left=lambda _: rounds_left)[20::2]
        return sum(chances[0] + 2 * chances[1] + 3 * chances[2] for chances in after)

    assert spent(5) > 1.5 * spent(5_000) > 0


@pytest.mark.parametrize("left", [0, 2**53 + 1, 1.5, "x", True, None])
def test_forecasts_that_are_none(left: Any) -> None:
    live = planner("forecast")
    message = refusal(InvalidInput, live.ask, rounds_left=left)
    assert f"rounds_left={left!r}: must be a whole number from 1 to" in message
    assert (live.t, live.held) == (0, 0)


def test_who_takes_no_forecast(tmp_path: Path) -> None:
    for horizon in (None, 9):
        assert "needs a policy with horizon='forecast'" in refusal(
            InvalidInput, planner(horizon).ask, rounds_left=9
        )
    assert "exp3.bwk cannot plan with a forecast" in refusal(InvalidInput, make, horizon="forecast")
    planner("forecast").save(tmp_path / "policy")
    facts, arrays = save_file.load(tmp_path / "policy")
    for wrong in ({"horizon": 9}, {"forecast": "yes"}):
        facts_now = {**facts, "problem": {**facts["problem"], **wrong}}
        save_file.save(
            tmp_path / "other", {k: v for k, v in facts_now.items() if k != "format"}, arrays
        )
        assert "forecast" in refusal(InvalidInput, Policy.load, tmp_path / "other")
