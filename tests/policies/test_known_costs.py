"""Policies that know what each arm costs: KUBE and epsilon-first, with caps and without."""

from __future__ import annotations

import math
from random import Random
from typing import Any

import numpy as np
import pytest

import purse
from purse import worlds
from purse.compiler.plain import plain as in_python
from purse.kernels.known_costs import known_costs
from purse.lab.theory import knapsack
from purse.policies import bounded_epsilon_first, epsilon_first, kube
from purse.testing import check_policy
from purse.types import Problem
from tests.support.known_costs import (
    COSTS,
    COSTS_10,
    REWARDS,
    WORLD,
    Plain,
    PlainEpsilonFirst,
    PlainFractionalKube,
    PlainKube,
    caps_hold,
    greedy,
    live_for,
    one_arm,
    play_out,
    random_game,
)
from tests.support.policies import follows, tell_all
from tests.support.soak import scale

BOUNDED = "bounded-epsilon-first"
ROUNDS = scale(400, 2500)
BUDGET = 0.8 * ROUNDS + 0.01


def written_out(
    policy: str, costs: list[float], budget: float, caps: list[int] | None = None
) -> Plain:
    """The rule of a policy with its options."""
    name, _, options = policy.partition(":")
    if "epsilon" not in name:
        return {"fractional-kube": PlainFractionalKube}.get(name, PlainKube)(costs, budget, caps)
    epsilon, _, learn = options.removeprefix("epsilon=").partition(",learn=")
    frozen = learn != "always"
    return PlainEpsilonFirst(costs, budget, caps, epsilon=float(epsilon), frozen=frozen)


@pytest.mark.parametrize(
    ("policy", "costs", "caps", "out"),
    [
        ("kube", COSTS, None, 30),
        ("kube", COSTS_10, None, 1),
        ("b-kube", COSTS, [2000, 900, 10, 0, 10**6], 30),
        ("b-kube", COSTS, [1, 10**9, 1, 1, 500], 1),
        ("fractional-kube", COSTS, None, 1),
        ("fractional-kube", COSTS, None, 30),
        ("epsilon-first:epsilon=0,learn=first", COSTS, None, 1),
        ("epsilon-first:epsilon=0.25,learn=first", COSTS, None, 30),
        ("epsilon-first:epsilon=0.25,learn=always", COSTS, None, 1),
        ("epsilon-first:epsilon=1,learn=always", COSTS, None, 30),
        (f"{BOUNDED}:epsilon=0,learn=always", COSTS, [2000, 900, 10, 0, 10**6], 1),
        (f"{BOUNDED}:epsilon=0.25,learn=first", COSTS, [100, 10**9, 1, 30, 500], 30),
    ],
)
def test_follows_the_formula(
    policy: str, costs: list[float], caps: list[int] | None, out: int
) -> None:
    world = worlds.function("bernoulli")(np.linspace(0.9, 0.3, len(costs)).tolist(), costs)
    plain, told = written_out(policy, costs, BUDGET, caps), {"costs": costs, "caps": caps}
    follows(policy, plain, world, ROUNDS, out=out, budget=BUDGET, **told)


@pytest.mark.parametrize("seed", range(scale(3, 8)))
@pytest.mark.parametrize("policy", ["kube", "fractional-kube"])
def test_follows_the_formula_until_nothing_can_be_paid_for(policy: str, seed: int) -> None:
    live = live_for(policy, COSTS_10, 60.01, seed=seed, stop="exit")
    rounds = play_out(live, written_out(policy, COSTS_10, 60.01), COSTS_10, seed)
    assert len(rounds) > 60
    assert policy != "kube" or sum(chances.max() < 1 for chances in rounds) > 20


@pytest.mark.parametrize("budget", [0.2, 0.31, 1, 2.69, 2.7, 2.71, 50.33])
@pytest.mark.parametrize("epsilon", [0, 0.3, 1])
def test_epsilon_first_follows_the_rule_until_nothing_can_be_paid_for(
    budget: float, epsilon: float
) -> None:
    policy = f"epsilon-first:epsilon={epsilon}"
    live = live_for(policy, COSTS, budget, stop="exit")
    play_out(live, written_out(policy, COSTS, budget), COSTS)


@pytest.mark.parametrize("seed", range(scale(4, 12)))
@pytest.mark.parametrize("policy", ["b-kube", BOUNDED])
def test_follows_the_formula_until_nothing_can_be_pulled(policy: str, seed: int) -> None:
    costs, budget, caps = random_game(seed)
    policy += "" if policy == "b-kube" else f":epsilon={(0, 0.3, 1)[seed % 3]}"
    live = live_for(policy, costs, budget, caps, seed=seed, stop="exit")
    play_out(live, written_out(policy, costs, budget, caps), costs, seed)


def test_rounds_by_hand() -> None:
    live = live_for("b-kube", [0.4, 0.3, 0.1], 3, [3, 4, 0], seed=4)
    assert live.probabilities().tolist() == [1, 0, 0]
    assert tell_all(live, (1, 0.4), (0, 0.3)) == [0, 1]
    # t = 3: 2.3 is left; sqrt(2 ln 2) = 1.177, D = (2.177 / 0.4, 1.177 / 0.3) = (5.44, 3.92): arm 0
    # twice, as its cap allows, then three times arm 1
    assert live.probabilities() == pytest.approx([2 / 5, 3 / 5, 0], abs=1e-15)
    assert tell_all(live, (0, 0.3)) == [1]
    # t = 4: 2 is left; D = ((1 + sqrt(2 ln 3)) / 0.4, sqrt(2 ln 3 / 2) / 0.3) = (2.482 / 0.4, 1.048
    # / 0.3): twice each
    assert live.probabilities().tolist() == [0.5, 0.5, 0]
    assert tell_all(live, (1, 0.4)) == [0]
    # t = 5: 1.6 is left; D = ((1 + sqrt(2 ln 4 / 2)) / 0.4, sqrt(2 ln 4 / 2) / 0.3) = (2.177 / 0.4,
    # 1.177 / 0.3): arm 0 once, arm 1 twice
    assert live.probabilities() == pytest.approx([1 / 3, 2 / 3, 0], abs=1e-15)
    assert tell_all(live, (0, 0.3)) == [1]
    # t = 6: one pull of each is left, 1.3 would buy more
    assert live.probabilities().tolist() == [0.5, 0.5, 0]
    assert tell_all(live, (1, 0.3)) == [1]
    assert live.probabilities().tolist() == [1, 0, 0]
    assert tell_all(live, (1, 0.4)) == [0]
    with pytest.raises(purse.AskRefused, match="b-kube has ended the game after 7 rounds"):
        live.ask()
    assert live.left == pytest.approx(0.6)


@pytest.mark.parametrize("capped", [False, True])
def test_the_filling_is_the_greedy_knapsack_wherever_the_sorting_starts(capped: bool) -> None:
    rank, fill = in_python(kube.rank_from), in_python(kube.fill)
    seen = set()
    for seed in range(300):
        random = Random(seed)
        n_arms, left = random.randint(1, 12), random.randint(1, 10**12)
        costs = [random.randint(1, 10**9) for _ in range(n_arms)]
        scores = [random.randint(0, 5) / 4 for _ in range(n_arms)]  # many ties
        caps = [random.choice([0, 3, 100, 10**4, 10**18]) for _ in range(n_arms)]
        pulls = [random.choice([0, 1, 3, 200]) for _ in range(n_arms)]
        told = {"costs": [cost / 1e9 for cost in costs], "caps": caps if capped else None}
        priced = known_costs(Problem.of(n_arms=n_arms, budget=1, cost_min=1e-9, **told), "a test")
        assert priced.units.tolist() == costs
        room = [cap - pulled if capped else 10**18 for cap, pulled in zip(caps, pulls, strict=True)]
        order, counts = np.array(random.sample(range(n_arms), n_arms)), np.ones(n_arms)
        rank(np.array(scores), order, order)
        total = fill(priced, order, np.array(pulls, float), left, counts)
        assert order.tolist() == sorted(range(n_arms), key=lambda i: (-scores[i], i))
        assert counts.tolist() == greedy(scores, costs, room, left)
        assert total == counts.sum()
        seen.add(int((counts > 0).sum()))
    assert {1, 2, 3, 4} <= seen


def test_amounts_are_exact() -> None:
    live = live_for("kube", [0.3, 0.1], 0.7, stop="exit")
    for reward in (0.9, 0.1):
        ticket = live.ask()
        live.tell(ticket, reward, [0.3, 0.1][ticket.arm])
    # 0.3 is left: in floats 0.3 / 0.1 = 2.9999999999999996. D_1 = 1.277 / 0.1 is larger: three
    # times, and nothing stays
    assert live.probabilities().tolist() == [0, 1]
    assert [live.tell(live.ask(), 1, 0.1) for _ in range(3)] == [True] * 3
    assert live.left_units == [0]


def test_kube_plays_arms_as_often_as_their_probabilities_say() -> None:
    world = worlds.function("bernoulli")([1, 0], [0.4, 0.3])
    # the third round by hand above: 5/6 and 1/6
    run = purse.simulate("kube", world, 3, horizon=3, n_paths=5000)
    assert abs((run.pulls[:, 0] == 2).sum() - 5000 * 5 / 6) < 4 * np.sqrt(5000 * 5 / 36)


@pytest.mark.parametrize(
    ("rewards", "costs", "budget"),
    [(REWARDS, COSTS, 10_000), ([0.9, 0.6, 0.5], [0.7, 0.5, 0.9], 3000)],
)
def test_comes_near_what_the_best_knapsack_gains(
    rewards: list[float], costs: list[float], budget: float
) -> None:
    run = purse.simulate("kube", worlds.function("bernoulli")(rewards, costs), budget, n_paths=20)
    # the bound of an index rule with this radius: sum_i 8 ln T / (e* c(i) - r(i)); what one
    # knapsack loses to the next is far less
    best = max(reward / cost for reward, cost in zip(rewards, costs, strict=True))
    bound = sum(
        8 * math.log(budget / min(costs)) / (best * c - r)
        for r, c in zip(rewards, costs, strict=True)
        if best * c - r > 1e-9
    )
    assert knapsack.exact(rewards, costs, budget) - run.gain.mean() < bound


def test_an_arm_without_a_report_comes_first_in_kube() -> None:
    live = live_for("kube", [1, 0.5, 0.5], 10)
    tickets = [live.ask() for _ in range(3)]
    assert live.probabilities() == pytest.approx([1 / 3] * 3)
    live.tell(tickets[1], 1, 0.5)
    assert live.probabilities().tolist() == [0.5, 0, 0.5]
    live.tell(tickets[0], 0, 1)
    assert live.probabilities().tolist() == [0, 0, 1]


def test_an_arm_without_a_report_that_cannot_be_paid_for_is_left_out() -> None:
    live = live_for("kube", [1, 0.5], 2)
    tickets = [live.ask(), live.ask()]  # hold 1.5, and 0.5 is left
    assert live.probabilities().tolist() == [0, 1]
    live.tell(tickets[1], 1, 0.5)
    assert live.probabilities().tolist() == [0, 1]


def test_an_arm_without_a_report_comes_first_in_fractional_kube() -> None:
    live = live_for("fractional-kube", [1, 0.5], 10)
    tickets = [live.ask(), live.ask()]
    assert live.tell(tickets[1], 1, 0.5)
    assert live.probabilities().tolist() == [1, 0]
    assert live.tell(tickets[0], 0, 1)
    assert live.probabilities().tolist() == [0, 1]


def test_an_arm_without_a_report_comes_first_in_epsilon_first_and_is_learnt_from() -> None:
    live = live_for("epsilon-first:epsilon=0", [0.5, 0.5], 10)
    first, second = live.ask(), live.ask()
    live.void(second)  # half of the exploration money is back
    assert live.probabilities().tolist() == [1, 0]  # number 2 mod 2 of the arms
    third = live.ask()
    live.tell(first, 0, 0.5)
    live.tell(third, 0, 0.5)
    assert live.probabilities().tolist() == [0, 1]
    live.tell(live.ask(), 0.5, 0.5)
    assert live.probabilities().tolist() == [0, 1]


@pytest.mark.parametrize("policy", ["fractional-kube", "epsilon-first:epsilon=0"])
def test_ties_are_broken_evenly(policy: str) -> None:
    world = worlds.function("bernoulli")([1, 1, 1], [0.5, 0.5, 0.5])
    # three initial pulls and one among three that have done equally well
    run = purse.simulate(policy, world, 2, n_paths=3000)
    assert (np.abs(run.pulls.sum(axis=0) - 4000) < 4 * np.sqrt(3000 * (1 / 3) * (2 / 3))).all()


def test_fractional_kube_spends_all_that_buys_an_arm() -> None:
    run = purse.simulate("fractional-kube", WORLD, 100, n_paths=50)
    assert (run.spent > 100 - min(COSTS) - 1e-9).all()
    assert (run.spent <= 100).all()


def test_fractional_kube_learns_which_arm_pays_most_per_unit() -> None:
    run = purse.simulate("fractional-kube", WORLD, 10_000, n_paths=10)
    assert (run.pulls.argmax(axis=1) == 0).all()
    # an index rule with this radius pulls arm i at most 8 ln T / (c Delta)^2 times and loses c
    # Delta each time; ln 33,000 = 10.4 and
    # c Delta = e* c - r = (0, 0.2, 0.44, 0.26, 0.66), so 416 + 189 + 320 + 126 = 1,051
    assert 10_000 * 1.4 - run.gain.mean() < 1051


@pytest.mark.parametrize("policy", ["kube", "fractional-kube", "epsilon-first"])
def test_one_arm(policy: str) -> None:
    one_arm(policy)


@pytest.mark.parametrize("policy", ["b-kube", BOUNDED])
def test_caps_hold_and_all_that_they_allow_is_spent(policy: str) -> None:
    caps_hold(policy)


@pytest.mark.parametrize(
    ("policy", "capped"),
    [
        ("kube", "b-kube"),
        ("epsilon-first", BOUNDED),
        ("epsilon-first:epsilon=0.3", f"{BOUNDED}:epsilon=0.3"),
        ("epsilon-first:learn=always", f"{BOUNDED}:learn=always"),
    ],
)
def test_without_caps_the_two_are_the_same(policy: str, capped: str) -> None:
    plain = purse.simulate(policy, WORLD, 100, n_paths=20)
    for caps in (None, 10**6, 10**30):
        run = purse.simulate(capped, WORLD, 100, n_paths=20, caps=caps)
        assert (run.pulls == plain.pulls).all()


def test_initial_pulls_leave_out_what_cannot_be_paid_for() -> None:
    live = live_for("b-kube", [1, 0.5, 0.2], 0.7, 9)
    # arm 0 is too dear: round 1 is for one of the others, round 2 for arm 1 if it is not too dear
    # then
    assert live.probabilities().tolist() == [0, 0.5, 0.5]
    run = purse.simulate(
        "b-kube", worlds.function("bernoulli")([1, 1, 1], [1, 0.5, 0.2]), 0.7, caps=9
    )
    assert (run.pulls[:, 0] == 0).all()
    assert (0.7 - run.spent < 0.2).all()


def test_a_voided_initial_pull_comes_again() -> None:
    live = live_for("b-kube", [1, 0.5], 10, 9)
    live.void(live.ask())
    live.tell(live.ask(), 1, 0.5)
    assert live.probabilities().tolist() == [1, 0]


def test_b_kube_comes_near_what_the_caps_allow() -> None:
    caps, budget = [48_000, 64_000, 10**6, 10**6, 10**6], 40_000
    run = purse.simulate("b-kube", WORLD, budget, n_paths=20, caps=caps)
    best = knapsack.bounded(REWARDS, COSTS, caps, budget)
    assert best == pytest.approx(48_000 * 0.42 + 51_200 * 0.5)  # all of arm 0, the rest for arm 1
    assert (run.pulls[:, 0] == 48_000).all()
    # against arm 1 the others lose 1 c - r = (0.2, 0.1, 0.3) a pull, in at most 8 ln T / loss^2
    # pulls each: 8 * 11.5 * 18.3 = 1,690 in all
    assert best - run.gain.mean() < 1690


def test_bounded_epsilon_first_comes_near_what_the_caps_allow() -> None:
    caps, budget = [48_000, 64_000, 10**6, 10**6, 10**6], 40_000
    run = purse.simulate(BOUNDED, WORLD, budget, n_paths=20, caps=caps)
    best = knapsack.bounded(REWARDS, COSTS, caps, budget)
    assert (run.pulls[:, 0] == 48_000).all()
    b = budget / 0.9
    explored = (3 * math.log(5 * b * 3) / (2 * b)) ** (1 / 3) * budget
    # a sweep of 2.7 spends 1.9 on arms 2, 3 and 4, which pay 1.3, where arm 1 would pay 1.9; what
    # it spends on arms 0 and 1 is not lost
    assert best - run.gain.mean() == pytest.approx(
        0.6 / 2.7 * explored, abs=4 * run.gain.std() / np.sqrt(20)
    )


def test_caps_survive_a_file(tmp_path: Any) -> None:
    live = live_for("b-kube", [0.5, 0.5], 10, [1, 2])
    tell_all(live, (1, 0.5), (1, 0.5))
    live.save(tmp_path / "policy.npz")
    again = purse.Policy.load(tmp_path / "policy.npz")
    assert tell_all(again, (1, 0.5)) == [1]
    with pytest.raises(purse.AskRefused):
        again.ask()


@pytest.mark.parametrize("policy", ["b-kube", BOUNDED])
def test_passes_the_checks_with_caps(policy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def capped(problem: Problem, name: str) -> Any:
        return known_costs(problem, name)._replace(caps=np.resize([40, 30, 20, 0], problem.n_arms))

    for module in ("b_kube", "epsilon_first"):
        monkeypatch.setattr(f"purse.policies.{module}.known_costs", capped)
    check_policy(policy, quick=True)


def test_the_next_best_arm_comes_when_the_best_is_too_dear() -> None:
    live = live_for("epsilon-first:epsilon=0", [0.9, 0.3], 3.7)
    # one sweep of 1.2 leaves 2.5; r / c = (1 / 0.9, 0.2 / 0.3): arm 0 twice, then 0.7 is left,
    # which buys arm 1 twice
    reports = [(1, 0.9), (0.2, 0.3), (1, 0.9), (0, 0.9), (1, 0.3), (0, 0.3)]
    assert tell_all(live, *reports) == [0, 1, 0, 0, 1, 1]
    with pytest.raises(purse.AskRefused):
        live.ask()


def test_sweeps_pull_all_arms_equally_often() -> None:
    run = purse.simulate("epsilon-first:epsilon=1", WORLD, 270, n_paths=3)
    assert run.pulls.tolist() == [[100] * 5] * 3


def test_epsilon_as_numbers() -> None:
    problem = Problem.of(n_arms=2, budget=1000, cost_min=0.5, cost_max=1, costs=[0.5, 1])
    # C = 1.5, ln(2 * 1000 / 0.5) = 8.294, epsilon^3 = 1.5 * 8.294 / 2000 = 0.00622, epsilon =
    # 0.1839
    assert epsilon_first.params(problem).explore == pytest.approx(183.93e9, rel=1e-4)
    assert epsilon_first.params(problem, epsilon=0.25).explore == 250 * 10**9
    assert epsilon_first.params(problem, epsilon=0).explore == 15 * 10**8
    assert epsilon_first.params(problem, epsilon=1).explore == 1000 * 10**9


def test_budget_and_costs_count_in_largest_costs() -> None:
    small, large = (
        Problem.of(n_arms=2, budget=1000 * k, cost_min=0.5 * k, cost_max=k, costs=[0.5 * k, k])
        for k in (1, 20)
    )
    assert epsilon_first.params(large).explore == pytest.approx(
        20 * epsilon_first.params(small).explore, rel=1e-10
    )


@pytest.mark.parametrize("budget", [1e-9, 0.2, 1])
def test_a_budget_below_one_sweep_is_all_for_exploration(budget: float) -> None:
    problem = Problem.of(n_arms=5, budget=budget, cost_min=COSTS, cost_max=COSTS, costs=COSTS)
    assert epsilon_first.params(problem).explore == problem.budget[0]


@pytest.mark.parametrize("budget", [100, 1000, 10_000])
def test_keeps_to_its_guarantee(budget: float) -> None:
    run = purse.simulate("epsilon-first", WORLD, budget, n_paths=50)
    b, low, total = budget / 0.9, 1 / 3, 3.0
    part = (total * math.log(5 * b / low) / (2 * b)) ** (1 / 3)
    regret = 1.4 * budget - run.gain
    assert regret.mean() + 4 * regret.std() / np.sqrt(50) < (3 * part * b + 1) / low + 1
    # that much exploration costs
    assert regret.mean() > part * budget * (1.4 - np.mean(REWARDS) / np.mean(COSTS)) * 0.9


def test_arms_with_pulls_left_share_the_exploration_evenly() -> None:
    world = worlds.function("bernoulli")([0.5] * 4, [0.5] * 4)
    caps = [2, 10**6, 10**6, 10**6]
    run = purse.simulate(f"{BOUNDED}:epsilon=1", world, 31, n_paths=2, caps=caps)
    # two sweeps of four arms, then 54 pulls for three
    assert run.pulls.tolist() == [[2, 20, 20, 20]] * 2


def test_arms_that_may_not_be_pulled_take_nothing_of_the_sweep() -> None:
    problem = Problem.of(n_arms=3, budget=100, cost_min=0.5, costs=[0.5, 1, 0.5], caps=[3, 0, 5])
    assert bounded_epsilon_first.params(problem, epsilon=0).explore == 10**9
