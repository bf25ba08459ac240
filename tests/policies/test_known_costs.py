"""Policies that know what each arm costs: KUBE and epsilon-first, with caps and without."""

from random import Random
from typing import Any

import numpy as np
import pytest

import purse
from purse import worlds
from purse.compiler.kernel import plain as in_python
from purse.kernels.known_costs import known_costs
from purse.policies import epsilon_first, kube
from purse.testing import check_policy
from purse.types import Problem
from tests.support.known_costs import (
    COSTS,
    COSTS_10,
    WORLD,
    Plain,
    PlainEpsilonFirst,
    PlainFractionalKube,
    PlainKube,
    caps_hold,
    greedy,
    live_for,
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


@pytest.mark.parametrize(
    ("policy", "costs", "budget", "caps", "seed"),
    [
        *((policy, COSTS_10, 60.01, None, 0) for policy in ("kube", "fractional-kube")),
        *(
            (f"epsilon-first:epsilon={epsilon}", COSTS, budget, None, 0)
            for budget in (0.2, 0.31, 1, 2.69, 2.7, 2.71, 50.33)
            for epsilon in (0, 0.3, 1)
        ),
        *(("b-kube", *random_game(seed), seed) for seed in range(scale(4, 12))),
        *(
            (f"{BOUNDED}:epsilon={(0, 0.3, 1)[seed % 3]}", *random_game(seed), seed)
            for seed in range(scale(4, 12))
        ),
    ],
)
def test_follows_the_formula_until_nothing_can_be_pulled(
    policy: str, costs: list[float], budget: float, caps: list[int] | None, seed: int
) -> None:
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
    # arm 0 is too dear: round 1 is for one of the others
    assert live.probabilities().tolist() == [0, 0.5, 0.5]


def test_a_voided_initial_pull_comes_again() -> None:
    live = live_for("b-kube", [1, 0.5], 10, 9)
    live.void(live.ask())
    live.tell(live.ask(), 1, 0.5)
    assert live.probabilities().tolist() == [1, 0]


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


def test_epsilon_as_numbers() -> None:
    problem = Problem.of(n_arms=2, budget=1000, cost_min=0.5, cost_max=1, costs=[0.5, 1])
    # C = 1.5, ln(2 * 1000 / 0.5) = 8.294, epsilon^3 = 1.5 * 8.294 / 2000 = 0.00622, epsilon =
    # 0.1839
    assert epsilon_first.params(problem).explore == pytest.approx(183.93e9, rel=1e-4)
    assert epsilon_first.params(problem, epsilon=0.25).explore == 250 * 10**9
    assert epsilon_first.params(problem, epsilon=0).explore == 15 * 10**8
    assert epsilon_first.params(problem, epsilon=1).explore == 1000 * 10**9
    larger = Problem.of(n_arms=2, budget=20_000, cost_min=10, cost_max=20, costs=[10, 20])
    explored = epsilon_first.params(larger).explore / epsilon_first.params(problem).explore
    assert explored == pytest.approx(20, rel=1e-10)
