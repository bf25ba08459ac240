import numpy as np
import pytest

import purse
from purse import worlds
from research.leaderboard import optimum
from research.leaderboard.case import Case, worlds_of

ROUTING = "routing:quality=[.5,.9],prices=[.1,.5],prompts=100"


def alone_in(case: Case) -> list[np.ndarray]:
    """The gains of each arm alone in each world of a case."""
    return [
        np.array(
            [
                purse.simulate(f"fixed:arm={arm}", world, case.budget, n_paths=case.n_paths).gain
                for arm in range(world.n_arms)
            ]
        )
        for world in worlds_of(case)
    ]


def optima_of(case: Case) -> list[float]:
    return optimum.find_optima(case, worlds_of(case), alone_in(case), seed=0)


def test_the_moving_oracle_takes_the_arm_of_the_phase() -> None:
    case = Case("c", "s", "switching:segments=[5,3],rewards=[[1,0],[0,1]],costs=[.5,.5]", 10, 2)
    assert optimum.moving_oracle(worlds.make(case.world, 10), case, 0) == 20
    assert optima_of(case) == [20]
    steady = Case("c", "s", "bernoulli:rewards=[1,1],costs=[.5,.25]", 10, 2)
    assert optimum.moving_oracle(worlds.make(steady.world, 10), steady, 0) == 40
    assert optima_of(steady) == [40]


def test_the_moving_oracle_takes_an_arm_that_is_up() -> None:
    inner = "bernoulli:rewards=[1,0],costs=[.5,.5]"
    text = f'outages:world="{inner}",up=[[1,1],[0,1]],segments=[3,2]'
    case = Case("c", "s", text, 10, 2)
    # 20 rounds, of which the arm that pays is up in 3 of 5
    assert optimum.moving_oracle(worlds.make(text, 10), case, 0) == 12


def test_with_a_horizon_the_linear_program_counts() -> None:
    case = Case("c", "s", ROUTING, 20, 2)
    assert optima_of(case) == [purse.lab.theory.fluid.lp_optimum(ROUTING, 20).value]
    money = Case("c", "s", "bernoulli:rewards=[.9,.6],costs=[.8,.3]", 50, 2, horizon=100)
    assert optima_of(money) == pytest.approx([72.0])


def test_the_rounds_that_come_count_and_not_those_that_are_told() -> None:
    text = 'requests:world="bernoulli:rewards=[.9,.6],costs=[.8,.3]",rounds=100,told=False'
    for horizon in (None, 200):
        case = Case("c", "s", text, 50, 2, horizon=horizon)
        assert optima_of(case) == pytest.approx([72.0])


def test_with_contexts_the_program_knows_them() -> None:
    text = "class_contexts:classes=2,arms=2,rows=9,horizon=50"
    optima = optima_of(Case("c", "s", text, 20, 2))
    assert optima == [purse.lab.theory.contexts.lp_with_contexts(text, 20)]
    assert optima[0] > purse.lab.theory.fluid.lp_optimum(text, 20).value


def test_with_outages_the_program_knows_when_arms_are_up() -> None:
    up, segments = [[1, 1], [1, 0], [0, 1]], [40, 30, 30]
    # what is always up has the plain program
    free = worlds.outages(ROUTING, up=[[1, 1]], segments=[7])
    plain = purse.lab.theory.fluid.lp_optimum(ROUTING, 20).value
    assert optimum.outage_optimum(free, 20, 100) == pytest.approx(plain)
    # arm 0 (0.65 for 0.1) in the 70 rounds in which it is up, and for the other 13 arm 1 (0.93 for
    # 0.5) in 26 of the 30 rounds in which it alone is up
    world = worlds.outages(ROUTING, up=up, segments=segments)
    assert optimum.outage_optimum(world, 20, 100) == pytest.approx(70 * 0.65 + 26 * 0.93)
    # half of the rounds: the first segment and 10 of the second; then there is money for all
    assert optimum.outage_optimum(world, 100, 50) == pytest.approx(40 * 0.93 + 10 * 0.65)


@pytest.mark.parametrize("cost", [0.1, 0.25, 0.5])
def test_a_pair_of_worlds_has_the_value_of_the_formula(cost: float) -> None:
    pay = min(1.0, (1 - cost) / (2 * cost))
    pairs = {  # the worlds, the value of the game, and the best gain in each world per unit
        ("two_worlds", "world", (1, 2)): (
            1 / (2 - pay * cost / (1 - cost)),
            [pay, (1 - cost) / cost],
        ),
        ("spend_or_save", "later", (0, 1)): (
            1 / (1 + (1 - 2 * cost) / (2 - cost)),
            [1 / 2, 1 / cost - 1 / 2],
        ),
    }
    for (name, option, choices), (value, best) in pairs.items():
        pair = tuple(f"{name}:cost_min={cost},{option}={choice}" for choice in choices)
        case = Case("c", "s", pair[0], 200, 1, adversary=pair)
        assert optima_of(case) == pytest.approx(200 * value * np.array(best))


def test_with_one_world_the_best_fixed_arm_counts_and_not_who_knows_the_phase() -> None:
    case = Case("c", "s", "same_costs", 1100, 1, adversary=("same_costs",))
    assert optima_of(case) == pytest.approx([1000.0])
    assert optima_of(case._replace(adversary=())) == [1500.0]


def test_the_value_of_a_game() -> None:
    assert optimum.game_value(np.array([[1.0, 0.0], [0.0, 1.0]])) == pytest.approx(0.5)
    assert optimum.game_value(np.array([[1.0, 0.2, 0.9], [0.5, 1.0, 0.9]])) == pytest.approx(0.9)
