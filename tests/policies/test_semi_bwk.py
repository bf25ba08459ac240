import math

import numpy as np
import pytest
from scipy.optimize import linprog

import purse
from purse import worlds
from purse.policies import semi_bwk, ucb_bwk
from purse.types import Floats, Problem
from tests.support.policies import passes, refuses

GROUPS = [0, 0, 1, 1, 1]


def five_arms(options: str = "", **more: object) -> purse.Policy:
    told = {"budget": 250, "cost_min": 0.1, "horizon": 1000, "seed": 4, **more}
    return purse.Policy(f"semi-bwk{options}", n_arms=5, plays=2, **told)


def best_value(pace: float, rewards: Floats, costs: Floats, groups: list[int] | None) -> float:
    """The value of the linear program."""
    sets = [[1] * 5] if groups is None else [[g == group for g in groups] for group in (0, 1)]
    most = [2] if groups is None else [1, 1]
    found = linprog(-rewards, A_ub=[costs, *sets], b_ub=[pace, *most], bounds=(0, 1))
    return -float(found.fun)


def test_rounds_by_hand() -> None:
    live = purse.Policy(
        "semi-bwk:c_rad=0.02", n_arms=3, plays=2, budget=100, cost_min=0.1, horizon=200, seed=0
    )
    assert live.probabilities() == pytest.approx([2 / 3] * 3)
    ticket = live.ask()
    assert len(set(ticket.arms)) == 2
    assert ticket.probabilities == (2 / 3, 2 / 3)
    live.tell(ticket, [1, 0.5], [1, 0.5])
    # widths with N = 1: sqrt(0.02) + 0.02 and sqrt(0.01) + 0.02; the pace is 0.5
    one, other = ticket.arms
    third = 3 - one - other
    lower = 1 - math.sqrt(0.02) - 0.02, 0.5 - 0.1 - 0.02
    # the third arm costs nothing and pays 1; at the best price the first beats the second by 1 -
    # 0.62 for lower[0] - lower[1] more, and the two share the pace
    share = (0.5 - lower[1]) / (lower[0] - lower[1])
    found = live.probabilities()
    assert [found[i] for i in (one, other, third)] == pytest.approx([share, 1 - share, 1])


@pytest.mark.parametrize("groups", [None, GROUPS])
def test_shares_solve_the_linear_program_and_sets_keep_to_it(groups: list[int] | None) -> None:
    live = five_arms("" if groups is None else f":groups={groups}")
    state, pace, rng = live.state, live.problem.b / 1000, np.random.default_rng(0)
    world = worlds.function("two_point")(
        [0.9, 0.6, 0.3, 0.5, 0.8], [0.6, 0.3, 0.9, 0.5, 0.7], cost_min=0.1
    )
    drawn, expected, variance = np.zeros(5), np.zeros(5), np.zeros(5)
    skipped, sizes = 0, set()
    for _ in range(600):
        shares = live.probabilities()
        assert state.lower @ shares <= pace + 1e-12
        best = best_value(pace, state.upper, state.lower, groups) if _ % 20 == 0 else None
        assert best is None or state.upper @ shares == pytest.approx(best, abs=1e-9)
        ticket = live.ask()
        arms = [] if ticket.skipped else list(ticket.arms)
        skipped += ticket.skipped
        sizes.add(len(arms))
        assert len(set(arms)) == len(arms)
        assert groups is None or len({groups[arm] for arm in arms}) == len(arms)
        drawn[arms] += 1
        expected, variance = expected + shares, variance + shares * (1 - shares)
        if arms:
            rewards = [float(rng.random() < world.reward_means[arm]) for arm in arms]  # type: ignore[index]
            costs = [float(world.cost_means[arm, 0]) for arm in arms]  # type: ignore[index]
            live.tell(ticket, rewards, costs)
    assert (np.abs(drawn - expected) < 4 * np.sqrt(variance) + 1e-9).all()
    assert skipped > 0
    assert sizes == {0, 1, 2}


def test_the_mask_leaves_the_program_of_the_others() -> None:
    live = five_arms()
    assert live.probabilities([1, 3, 4]) == pytest.approx([0, 2 / 3, 0, 2 / 3, 2 / 3])
    assert live.probabilities([2]).tolist() == [0, 0, 1, 0, 0]
    assert live.ask([2]).arms == (2,)
    grouped = five_arms(f":groups={GROUPS}")
    assert grouped.probabilities([0, 3, 4]).tolist() == [1, 0, 0, 0.5, 0.5]


@pytest.mark.parametrize("options", ["", ":groups=[0,0,1,1]"])
def test_passes_the_checks_with_two_plays(options: str) -> None:
    passes(f"semi-bwk{options}", plays=2, horizon=150)


def test_eps_and_the_radius_as_theory_has_them() -> None:
    known = Problem.of(n_arms=3, budget=1000, cost_min=0.5, horizon=4000)
    share = 2 * 3 / 1000
    eps = math.sqrt(share) + share + math.sqrt(2 * 3 * 4000) / 1000
    for policy in (semi_bwk, ucb_bwk):
        assert policy.params(known, eps="theory", c_rad=2).pace == pytest.approx((1 - eps) / 4)
        assert policy.params(known, eps=0.2).pace == pytest.approx(0.2)
    assert semi_bwk.params(known, c_rad="theory").c_rad == math.log(3 * 4000)


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("groups=[0,1]", r"^groups=\[0, 1\]: must have a number for each of 5 arms"),
        ("groups=1", "^groups=1: must have a number for each of 5 arms"),
        ("groups=[0,0,1,1,2]", "^groups=2: must be a whole number from 0 to 1"),
        ("eps=1", "^eps=1: must be 'theory' or a number from 0 to below 1"),
        ("eps=x", "^eps='x': must be 'theory' or a number from 0 to below 1"),
        ("eps=theory", r"^eps='theory' is .* would leave the whole budget unspent"),
        ("c_rad=0", "^c_rad=0: must be a number above 0"),
    ],
)
def test_what_it_refuses(option: str, message: str) -> None:
    with pytest.raises(purse.InvalidInput, match=message):
        five_arms(f":{option}", budget=10)


def test_it_needs_a_horizon_and_one_resource() -> None:
    refuses("semi-bwk", fields=("n_resources",))
    with pytest.raises(purse.InvalidInput, match=r"^semi-bwk needs to know how many rounds"):
        five_arms(horizon=None)
