import math
from typing import Any

import numpy as np
import pytest

import purse
from purse import worlds
from purse.engine import cpu
from purse.engine.draws import draws
from purse.engine.job import make_job
from purse.errors import AskRefused
from purse.kernels.mean_bounds import _upper, lower
from purse.policies import best_arm
from purse.testing import check_policy
from purse.types import Problem, World
from tests.support.policies import make_live, tell_all
from tests.support.soak import SOAK, scale

EXACT = {"rel": 1e-12, "abs": 1e-12}
SURE = "best-arm:confidence=0.5"
VARIED = worlds.function("two_point")([0.8, 0.5, 0.4], [0.6, 0.3, 0.5], cost_min=0.2)
OPPOSED = worlds.function("two_point")([0.9, 0.7, 0.2], [0.8, 0.3, 0.3], cost_min=0.1)


class Plain:
    """The rule written out from the sums of each arm."""

    def __init__(self, world: World, by: str, confidence: float, cap: float = math.inf) -> None:
        k = world.n_arms
        self.by, self.cap = by, cap
        self.n, self.rewards, self.costs = np.zeros(k), np.zeros(k), np.zeros(k)
        self.low, self.high = world.cost_min[:, 0] / 1e9, world.cost_max[:, 0] / 1e9
        vary = (self.low < self.high).sum() if by == "ratio" or cap < math.inf else 0
        self.term = math.log(2 * (k + vary) / (1 - confidence))
        self.joint = by == "reward" or vary == 0
        self.level = math.log((k - 1 + vary) / (1 - confidence))

    def learn(self, arm: int, reward: float, cost: float) -> None:
        self.n[arm] += 1
        self.rewards[arm] += reward
        self.costs[arm] += cost

    def box(self, i: int) -> tuple[float, float, float, float, float, float]:
        """v, v-, v+, c, c-, c+"""
        n, r, c = self.n[i], self.rewards[i] / self.n[i], self.costs[i] / self.n[i]
        size = self.high[i] - self.low[i]
        share = (c - self.low[i]) / size if size else 0.0
        least = self.low[i] + size * lower(share, n, self.term)
        most = self.low[i] + size * _upper(share, n, self.term)
        v = (r, lower(r, n, self.term), _upper(r, n, self.term))
        if self.by == "ratio":
            v = (v[0] / c, v[1] / most, v[2] / least)
        return (*v, c, least, most)

    def beats(self, a: int, b: int, boxes: Any) -> bool:
        """Of known costs c the likeliest common ratio x solves a quadratic equation."""
        if not self.joint:
            return bool(boxes[a][1] >= boxes[b][2])
        if boxes[a][0] <= boxes[b][0]:
            return False
        c, c2 = (boxes[a][3], boxes[b][3]) if self.by == "ratio" else (1.0, 1.0)
        n, n2, s, s2 = self.n[a], self.n[b], self.rewards[a], self.rewards[b]
        middle = n * c + s * c2 + n2 * c2 + s2 * c
        rest = max(0.0, middle**2 - 4 * (n + n2) * c * c2 * (s + s2))
        x = 2 * (s + s2) / (middle + math.sqrt(rest))
        found = -2 * math.log(math.pi)
        for ones, zeros, mean in ((s, n - s, c * x), (s2, n2 - s2, c2 * x)):
            found += (
                math.lgamma(ones + 0.5) + math.lgamma(zeros + 0.5) - math.lgamma(ones + zeros + 1)
            )
            found -= sum(k * math.log(m) for k, m in ((ones, mean), (zeros, 1 - mean)) if k > 0)
        return bool(found >= self.level)

    def next_arm(self) -> int | None:
        """None where the answer is sure."""
        boxes = {i: self.box(i) for i in range(len(self.n))}
        boxes = {i: box for i, box in boxes.items() if box[4] <= self.cap}
        fair = [i for i, box in boxes.items() if box[3] <= self.cap]
        if not boxes:
            return None
        if not fair:
            return max(boxes, key=lambda i: (boxes[i][2], -self.n[i]))
        a = max(fair, key=lambda i: (boxes[i][0], -i))
        rivals = [i for i in boxes if i != a and not self.beats(a, i, boxes)]
        if not rivals:
            return None if boxes[a][5] <= self.cap else a
        need = {i: self.n[i] * boxes[i][3] / (boxes[i][2] - boxes[i][1]) for i in (a, *rivals)}
        b = max(rivals, key=lambda i: (boxes[i][2], -self.n[i]))
        return a if need[a] < sum(need[j] for j in rivals) else b


def follow(world: World, plain: Plain, policy: str, n_rounds: int) -> int:
    """Play until the answer is sure, held against the plain rule; return the rounds."""
    live = make_live(world, policy)
    rewards, units = draws(world, n_rounds, seed=3)
    for t in range(n_rounds):
        expected = t if t < world.n_arms else plain.next_arm()
        if expected is None:
            with pytest.raises(AskRefused, match="has ended the game"):
                live.ask()
            return t
        ticket = live.ask()
        assert ticket.arm == expected
        assert ticket.probability == 1
        reward, cost = float(rewards[t, expected]), units[t, expected, 0] / 1e9
        live.tell(ticket, reward, cost)
        plain.learn(expected, reward, cost)
    return n_rounds


@pytest.mark.parametrize(
    ("world", "options", "told"),
    [
        (VARIED, "confidence=0.8", {"by": "reward", "confidence": 0.8}),
        (OPPOSED, "by=ratio,confidence=0.5", {"by": "ratio", "confidence": 0.5}),
        (VARIED, "confidence=0.2,cap=0.4", {"by": "reward", "confidence": 0.2, "cap": 0.4}),
        (VARIED, "confidence=0.7,cap=0.25", {"by": "reward", "confidence": 0.7, "cap": 0.25}),
        (
            worlds.function("bernoulli")([0.9, 0.5, 0.4, 0.3], [1, 0.5, 0.1, 0.02]),
            "by=ratio,cap=0.1",
            {"by": "ratio", "confidence": 0.95, "cap": 0.1},
        ),
        (
            worlds.function("bernoulli")([0.9, 0.7, 0.3], [0.8, 0.31, 0.37]),
            "by=ratio,confidence=0.9",
            {"by": "ratio", "confidence": 0.9},
        ),
    ],
    ids=["reward", "ratio", "cap", "no arm keeps to the cap", "two known costs", "known costs"],
)
def test_follows_the_rule_until_it_is_sure(
    world: World, options: str, told: dict[str, Any]
) -> None:
    rounds = follow(world, Plain(world, **told), f"best-arm:{options}", 3000)
    assert 20 < rounds < 3000


def test_uniform_sampling_takes_the_arms_in_turn() -> None:
    live = make_live(VARIED, "best-arm:sampling=uniform")
    assert tell_all(live, *[(0.5, 0.2)] * 7) == [0, 1, 2, 0, 1, 2, 0]
    # 3, 2 and 2 reports; open tickets count, and of equal arms the first comes
    assert [live.ask([0, 2]).arm for _ in range(3)] == [2, 0, 2]


def test_parameters_as_numbers() -> None:
    told = {"n_arms": 3, "budget": 10, "cost_min": [1, 0.5, 4], "cost_max": [2, 0.5, 4]}
    problem = Problem.of(**told)
    known = best_arm.params(problem)
    assert (known.log_term, known.cap) == (pytest.approx(math.log(6 / 0.05)), math.inf)
    assert known.cost_min.tolist() == [0.25, 0.125, 1]
    # one of the costs may vary, so there are four intervals; 4 is the largest cost
    known = best_arm.params(problem, by="ratio", cap="0.5", within=2, confidence=0.9)
    assert known.log_term == pytest.approx(math.log(8 / 0.1))
    assert (known.cap, known.within) == (0.125, 8)
    known = best_arm.params(Problem.of(**told, costs=[1.5, 0.5, 4]), cap=4)
    assert known.log_term == pytest.approx(math.log(6 / 0.05))
    assert known.cost_min.tolist() == known.cost_max.tolist() == [0.375, 0.125, 1]
    # pairs with the best arm, and one cost if there is a cap
    for given, joint, n_tests in (
        ({}, True, 2),
        ({"cap": 1}, True, 3),
        ({"by": "ratio"}, False, 3),
    ):
        known = best_arm.params(problem, **given)
        assert (known.joint, known.level) == (joint, pytest.approx(math.log(n_tests / 0.05)))
    assert best_arm.params(Problem.of(**told, costs=[1.5, 0.5, 4]), by="ratio").joint


def answers(policy: str, world: World, budget: Any, n_paths: int, **told: Any) -> list[int]:
    """The leader of each path; -1 where no arm keeps to the cap, -2 where it is not sure."""
    job = make_job(policy, world, budget, **told)
    _, states = cpu.play_block(job, n_paths)
    return [
        best_arm.answer(job.params, best_arm.BestArmState(*(part[j] for part in states)))
        for j in range(n_paths)
    ]


def test_the_answer_is_right_and_keeps_to_the_cap() -> None:
    rights = {"": 0, ",by=ratio": 1, ",cap=0.5": 1, ",cap=0.2": best_arm.NONE}
    for options, right in rights.items():
        found = answers(SURE + options, OPPOSED, 1e5, 60)
        assert best_arm.UNSURE not in found
        assert found.count(right) > 55
    assert set(answers("best-arm", OPPOSED, 10, 20)) == {best_arm.UNSURE}


def test_equal_arms_end_the_game_only_within_a_tolerance() -> None:
    world = worlds.function("bernoulli")([0.6, 0.6, 0.2], [0.5, 0.5, 0.5])
    run = purse.simulate(SURE, world, 2000, n_paths=30, seed=1)
    assert (run.spent == 2000).sum() >= 15
    run = purse.simulate(f"{SURE},within=0.1", world, 20_000, n_paths=30, seed=1)
    assert (run.spent < 20_000).all()
    assert set(answers(f"{SURE},within=0.1", world, 20_000, 30)) <= {0, 1}


def test_a_mask_is_honoured_and_late_reports_do_not_pile_up_on_one_arm() -> None:
    live = purse.Policy("best-arm:cap=0.5", n_arms=3, budget=1e4, cost_min=0.1, cost_max=1)
    assert [live.ask().arm for _ in range(3)] == [0, 1, 2]
    # nothing is known: the arm with the fewest open tickets
    assert [live.ask().arm for _ in range(4)] == [0, 1, 2, 0]
    assert live.ask([2]).arm == 2
    live = purse.Policy("best-arm:cap=0.5", n_arms=3, budget=1e4, cost_min=0.1, cost_max=1)
    for _ in range(200):
        ticket = live.ask()
        live.tell(ticket, 0.5, [1, 0.3, 0.35][ticket.arm])
    assert live.state.least[0] > 0.5  # out
    assert live.ask([0, 1]).arm == 1
    assert live.ask([0]).arm == 0  # no other one is there


def test_one_arm_that_keeps_to_the_cap() -> None:
    capped = purse.Policy("best-arm:cap=0.6", n_arms=1, budget=10, cost_min=0.5, cost_max=0.5)
    assert tell_all(capped, (1, 0.5)) == [0]
    with pytest.raises(AskRefused):
        capped.ask()


def test_free_pulls_do_not_hide_the_other_arms() -> None:
    """The first resource is free for one arm: it is not pulled for ever."""
    live = purse.Policy(
        "best-arm:by=ratio", n_arms=2, budget=10, cost_min=0, cost_max=[1, 0.5], horizon=4000
    )
    for _ in range(scale(800, 3000)):
        ticket = live.ask()
        live.tell(ticket, 0.5, 0 if ticket.arm == 0 else 0.001)
    assert live.state.pulls.min() > 1
    assert all(np.isfinite(part).all() for part in live.state)


@pytest.mark.parametrize("options", ["by=ratio,cap=0.55,confidence=0.5", "sampling=uniform"])
def test_passes_the_checks_with_options(options: str) -> None:
    check_policy(f"best-arm:{options}", quick=True)


def test_several_resources_are_paid_and_the_first_one_counts() -> None:
    """By reward per cost of the first resource arm 1 is best; by that of the second, arm 0."""
    world = worlds.function("bernoulli")([0.8, 0.8, 0.3], [[0.9, 0.2], [0.2, 0.9], [0.5, 0.5]])
    known = make_job("best-arm:by=ratio,cap=0.45", world, [10, 10]).params
    assert known.cost_min.tolist() == pytest.approx([1, 0.2 / 0.9, 0.5 / 0.9], **EXACT)
    assert known.cap == pytest.approx(0.5, **EXACT)
    if SOAK:
        check_policy("best-arm:by=ratio", world, quick=True)
        assert answers(f"{SURE},by=ratio", world, [1e4, 1e4], 20).count(1) > 15
