import numpy as np
import pytest

import purse
from purse import worlds
from purse.kernels.distributions import gamma, gamma_setup
from purse.kernels.random import POLICY, SIDE, U, at, stream, uniform
from purse.types import Floats
from tests.support.knapsack_learners import Reports
from tests.support.policies import make_live
from tests.support.soak import scale


def key_of(seed: int, t: int, used: int = 0) -> U:
    """The key of a round of path 0, moved on past the numbers that were used."""
    return U((int(at(U(stream(seed, 0, POLICY)), t)) + used * int(SIDE)) % 2**64)


class Plain:
    """The rule written out, with one more than the counts of successes and failures, on the
    gammas of `purse.kernels.distributions`.
    """

    def __init__(self, n_arms: int, seed: int = 0) -> None:
        self.seed = seed
        # successes and failures of rewards, then of costs
        self.shapes = np.ones((n_arms, 4))

    def thetas(self, t: int) -> Floats:
        key, drawn = key_of(self.seed, t, used=2), list[float]()
        for shape in self.shapes.ravel():
            x, key = gamma(U(key), np.array(gamma_setup(shape)))
            drawn.append(x)
        pairs = np.array(drawn).reshape(-1, 2, 2)
        return pairs[:, :, 0] / pairs.sum(axis=2)

    def arm(self, t: int) -> int:
        thetas = self.thetas(t)
        return int(np.argmax(thetas[:, 0] / thetas[:, 1]))

    def learn(self, t: int, arm: int, probability: float, reward: float, cost: float) -> None:
        for k, value in enumerate((reward, cost)):
            success = value == 1 if value in (0, 1) else uniform(key_of(self.seed, t), k) < value
            self.shapes[arm, 2 * k + (not success)] += 1


@pytest.mark.parametrize(("seed", "out"), [(0, 30), (5, 1)])
def test_follows_the_rule(seed: int, out: int) -> None:
    world = worlds.function("beta")(
        [0.6, 0.4, 0.3], [0.6, 0.35, 0.9], concentration=4, cost_min=0.2
    )
    live, plain = make_live(world, "budgeted-thompson", seed=seed), Plain(3, seed)
    reports = Reports(live, plain.learn, world, scale(600, 3000), out)
    for t in range(1, scale(600, 3000) + 1):
        ticket = live.ask()
        assert ticket.arm == plain.arm(t)
        reports.add(ticket)
    assert live.state.shapes.tolist() == plain.shapes.tolist()
    moulds = live.state.moulds
    assert moulds[:, :, 0] == pytest.approx(plain.shapes - 1 / 3, rel=1e-15)
    assert moulds[:, :, 1] == pytest.approx(1 / np.sqrt(9 * plain.shapes - 3), rel=1e-15)
    assert plain.shapes.min() > 1


def test_0_and_1_count_as_they_are_and_costs_count_in_largest_costs() -> None:
    live = purse.Policy("budgeted-thompson", n_arms=1, budget=10_000, cost_min=1, cost_max=4)
    for k in range(200):
        live.tell(live.ask(), k % 2, 4)
    assert live.state.shapes[0].tolist() == [101, 101, 201, 1]


def test_cannot_tell_its_probabilities() -> None:
    live = purse.Policy("budgeted-thompson", n_arms=2, budget=10, cost_min=0.5)
    with pytest.raises(
        purse.PurseError, match=r"^budgeted-thompson draws its arm without computing probabilities$"
    ):
        live.probabilities()
    assert live.ask().probability == 1
