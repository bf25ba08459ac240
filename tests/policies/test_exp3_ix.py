from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

import purse
from purse import worlds
from purse.engine.job import make_policy
from purse.policies import exp3_ix
from purse.testing import check_policy
from purse.types import Floats, Problem, World
from tests.support.policies import EXACT, frequency_surprise, largest_deviation, make_live, tell_all


class PlainExp3Ix:
    """The rule with cumulative losses and the softmax afresh in every round; `scale` other than
    None is c_min of the version that looks at costs.
    """

    def __init__(
        self, n_arms: int, rate: Callable[[int], float], scale: float | None = None
    ) -> None:
        self.n_arms, self.rate, self.scale, self.losses = n_arms, rate, scale, np.zeros(n_arms)

    def probabilities(self, t: int) -> Floats:
        weights = np.exp(-self.rate(t) * (self.losses - self.losses.min()))
        return weights / weights.sum()

    def learn(self, t: int, arm: int, probability: float, reward: float, cost: float) -> None:
        gain = reward if self.scale is None else self.scale * reward / cost
        self.losses[arm] += (1 - gain) / (probability + self.rate(t) / 2)


def rates(n_arms: int, rounds: int) -> dict[str, Callable[[int], float]]:
    return {
        "rounds": lambda t: math.sqrt(2 * math.log(n_arms) / (n_arms * rounds)),
        "anytime": lambda t: math.sqrt(math.log(n_arms) / (n_arms * t)),
        "0.4": lambda t: 0.4,
    }


def problem(**changes: object) -> Problem:
    return Problem.of(**{"n_arms": 2, "budget": 100, "cost_min": 0.5, **changes})


def world_of(n_arms: int) -> World:
    return worlds.function("two_point")(
        np.linspace(0.95, 0.3, n_arms), np.linspace(0.35, 0.9, n_arms), cost_min=0.2
    )


def test_rounds_by_hand() -> None:
    live = purse.Policy("exp3-ix", n_arms=2, budget=100, cost_min=0.5, seed=0)
    eta = math.sqrt(2 * math.log(2) / 400)  # T = 200: 0.0588705
    assert live.probabilities().tolist() == [0.5, 0.5]

    assert tell_all(live, (1, 0.5)) == [1]  # no loss, no change
    assert live.probabilities().tolist() == [0.5, 0.5]

    assert tell_all(live, (0.5, 0.8)) == [0]
    loss0 = 0.5 / (0.5 + eta / 2)  # 0.9444025
    p0 = 1 / (1 + math.exp(eta * loss0))  # 0.4861042
    assert p0 == pytest.approx(0.4861042, abs=1e-7)
    assert live.probabilities() == pytest.approx([p0, 1 - p0], abs=1e-15)

    assert tell_all(live, (0, 1)) == [0]
    loss0 += 1 / (p0 + eta / 2)  # 0.9444025 + 1.9397157
    p0 = 1 / (1 + math.exp(eta * loss0))  # 0.4576543
    assert p0 == pytest.approx(0.4576543, abs=1e-7)
    assert live.probabilities() == pytest.approx([p0, 1 - p0], abs=1e-15)

    assert tell_all(live, (0.2, 1)) == [1]
    loss1 = 0.8 / (1 - p0 + eta / 2)  # 1.3991372
    p0 = 1 / (1 + math.exp(eta * (loss0 - loss1)))  # 0.4781585
    assert p0 == pytest.approx(0.4781585, abs=1e-7)
    assert live.probabilities() == pytest.approx([p0, 1 - p0], abs=1e-15)


def test_rounds_by_hand_anytime() -> None:
    live = purse.Policy("exp3-ix:eta=anytime", n_arms=2, budget=100, cost_min=0.5, seed=3)
    assert tell_all(live, (0, 0.5)) == [0]
    loss0 = 1 / (0.5 + math.sqrt(math.log(2) / 2) / 2)  # eta_1 = 0.5887050: 1.2588869
    p0 = 1 / (1 + math.exp(math.sqrt(math.log(2) / 4) * loss0))  # eta_2 = 0.4162773: 0.3719066
    assert p0 == pytest.approx(0.3719066, abs=1e-7)
    assert live.probabilities() == pytest.approx([p0, 1 - p0], abs=1e-15)

    assert tell_all(live, (0.5, 1)) == [1]
    loss1 = 0.5 / (1 - p0 + math.sqrt(math.log(2) / 4) / 2)  # 0.5979202
    # eta_3 = 0.3398890: 0.4440712
    p0 = 1 / (1 + math.exp(math.sqrt(math.log(2) / 6) * (loss0 - loss1)))
    assert p0 == pytest.approx(0.4440712, abs=1e-7)
    assert live.probabilities() == pytest.approx([p0, 1 - p0], abs=1e-15)

    assert tell_all(live, (1, 1)) == [1]  # no loss, but eta_4 is smaller
    p0 = 1 / (1 + math.exp(math.sqrt(math.log(2) / 8) * (loss0 - loss1)))  # 0.4515135
    assert p0 == pytest.approx(0.4515135, abs=1e-7)
    assert live.probabilities() == pytest.approx([p0, 1 - p0], abs=1e-15)


@pytest.mark.parametrize("n_arms", [2, 7, 10])
@pytest.mark.parametrize("eta", ["rounds", "anytime", "0.4"])
@pytest.mark.parametrize("out", [1, 40])
def test_follows_the_formula(n_arms: int, eta: str, out: int) -> None:
    world = world_of(n_arms)
    live = make_live(world, f"exp3-ix:eta={eta}", budget=2000)
    assert (
        largest_deviation(
            live, PlainExp3Ix(n_arms, rates(n_arms, 10_000)[eta]), world, 2000, out=out
        )
        < EXACT
    )


def test_follows_the_formula_while_the_lowest_loss_moves() -> None:
    world = worlds.function("two_point")([0.3, 0.25, 0.2], [0.5, 0.6, 0.7], cost_min=0.2)
    live, plain = make_live(world, "exp3-ix:eta=0.4"), PlainExp3Ix(3, lambda t: 0.4)
    assert largest_deviation(live, plain, world, 6000) < EXACT
    # it moved at least three times
    assert 0.4 * live.state.low[0] > 3 * -math.log(exp3_ix.LEAST)


def test_parameters_as_numbers() -> None:
    params = exp3_ix.params(problem())
    assert params.eta == pytest.approx(0.0588705, abs=1e-7)
    assert exp3_ix.params(problem(budget=400, cost_min=2, cost_max=4)) == params
    assert exp3_ix.params(problem(horizon=200, budget=7)) == params
    assert exp3_ix.params(problem(), eta="anytime").eta == pytest.approx(0.5887050, abs=1e-7)
    assert [
        type(exp3_ix.params(problem(), eta=eta).eta) for eta in ("rounds", "anytime", 1, 0.5)
    ] == [float] * 4


def test_is_blind_to_costs() -> None:
    cheap, dear = (
        purse.Policy("exp3-ix", n_arms=3, budget=1000, cost_min=0.5, seed=5) for _ in range(2)
    )
    rewards = np.random.default_rng(0).random(300)
    assert tell_all(cheap, *[(r, 0.5) for r in rewards]) == tell_all(
        dear, *[(r, 1.0) for r in rewards]
    )
    assert (cheap.probabilities() == dear.probabilities()).all()


@pytest.mark.parametrize(
    ("eta", "lead", "rest"), [("rounds", math.sqrt(8), math.sqrt(2)), ("anytime", 4, 2)]
)
def test_regret_is_within_the_bound_on_every_path(eta: str, lead: float, rest: float) -> None:
    rewards = 1.0 * (np.random.default_rng(0).random((20_000, 3)) < [0.3, 0.8, 0.3])
    run = purse.simulate(
        f"exp3-ix:eta={eta}", worlds.function("table")(rewards, [1, 1, 1]), 20_000, n_paths=20
    )
    # with delta = 0.01 the bounds are 2483 and 3509, which may fail on one path of a hundred;
    # chance alone loses some 6700
    bound = lead * math.sqrt(60_000 * math.log(3)) + (
        rest * math.sqrt(60_000 / math.log(3)) + 1
    ) * math.log(200)
    assert (run.rounds == 20_000).all()
    assert (rewards[:, 1].sum() - run.gain < bound).all()


@pytest.mark.parametrize("eta", ["anytime", "0.01"])
def test_arms_come_as_often_as_their_probabilities_say(eta: str) -> None:
    world = world_of(5)
    assert frequency_surprise(make_live(world, f"exp3-ix:eta={eta}"), world, 3000) < 4


@pytest.mark.parametrize("eta", ["anytime", "5", "0"])
def test_passes_with_options(eta: str) -> None:
    check_policy(f"exp3-ix:eta={eta}")


def test_plays_several_resources() -> None:
    check_policy("exp3-ix", worlds.function("bernoulli")([0.9, 0.4], [[0.5, 1], [1, 0.5]]))


@pytest.mark.parametrize("eta", ["rounds", "anytime", "0", "1"])
def test_one_arm(eta: str) -> None:
    live = purse.Policy(f"exp3-ix:eta={eta}", n_arms=1, budget=10, cost_min=0.5)
    assert tell_all(live, (1, 0.5), (0, 1), (1, 0.5)) == [0, 0, 0]
    assert live.probabilities().tolist() == [1.0]


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("eta=x", r"^eta='x': must be 'rounds', 'anytime' or a number from 0 up"),
        ("eta=-1", r"^eta=-1: must be a number at least 0"),
        ("eta=True", r"^eta=True: must be a number at least 0"),
        ("eat=1", r"unknown option of exp3-ix 'eat'; did you mean 'eta'\?"),
    ],
)
def test_options_are_checked(option: str, message: str) -> None:
    with pytest.raises(purse.InvalidInput, match=message):
        purse.Policy(f"exp3-ix:{option}", n_arms=2, budget=100, cost_min=0.5)


def test_refuses_several_plays_and_an_unknown_number_of_rounds() -> None:
    with pytest.raises(
        purse.InvalidInput, match=r"^exp3-ix plays problems with plays=1, and this one has plays=2$"
    ):
        make_policy("exp3-ix", problem(plays=2))
    told = problem(budget=[10, 10], cost_min=[[0.5, 0], [0, 0.5]], n_resources=2)
    with pytest.raises(
        purse.InvalidInput, match=r"^exp3-ix needs to know how many rounds there are"
    ):
        exp3_ix.params(told)
    assert exp3_ix.params(told, eta="anytime").anytime
