import numpy as np

from purse import worlds
from purse.types import World
from purse.worlds.linear_contexts import COSTS, REWARDS
from purse.worlds.logistic_contexts import LOGITS, MOST
from purse.worlds.table import table


def means_of(world: World) -> tuple[np.ndarray, np.ndarray]:
    """Mean rewards and costs of each row, (N, K), from the tables themselves."""
    tables = world.tables
    chances = np.diff(tables.below / 2.0**53, axis=2, prepend=0.0, append=1.0)
    costs = tables.costs[..., 0] / 1e9
    return (chances * tables.rewards).sum(axis=2), (chances * costs).sum(axis=2)


def test_the_linear_world_is_linear_in_what_policies_see() -> None:
    world = worlds.function("linear_contexts")(rows=500)
    rewards, costs = means_of(world)
    seen = world.tables.features[:, 0]
    assert (world.n_arms, world.n_features, world.per_arm, world.horizon) == (5, 4, False, 10_000)
    np.testing.assert_allclose(rewards, np.minimum(seen @ REWARDS.T, 1), atol=1e-12)
    np.testing.assert_allclose(costs, seen @ COSTS.T, atol=1e-9)
    spread = world.tables.costs[:, :, ::2, 0] / 1e9 / costs[:, :, None]
    np.testing.assert_allclose(np.unique(spread.round(6)), 0.5625 + np.arange(8) / 8, atol=1e-5)


def test_without_strength_contexts_are_seen_and_tell_nothing() -> None:
    world = worlds.function("linear_contexts")(rows=50, strength=0)
    rewards, costs = means_of(world)
    np.testing.assert_allclose(rewards, np.tile(REWARDS[:, -1], (50, 1)), atol=1e-12)
    np.testing.assert_allclose(costs, np.tile(COSTS[:, -1], (50, 1)), atol=1e-9)
    assert np.ptp(world.tables.features[:, 0, 0]) > 1.9


def test_drawn_linear_means_stay_in_range_and_depend_on_the_seed() -> None:
    make = worlds.function("linear_contexts")
    for seed in range(20):
        world = make(arms=3, features=2, rows=64, horizon=None, seed=seed)
        features = world.tables.features[:, 0]
        rewards, costs = means_of(world)
        assert world.horizon is None
        for values in (rewards, costs):
            weights, *_ = np.linalg.lstsq(features, values, rcond=None)
            np.testing.assert_allclose(features @ weights, values, atol=1e-8)
        assert (costs > 0).all()
    assert make(arms=2).n_features == 4
    assert make(features=7).n_arms == 5
    again = make(arms=3, features=2, rows=64, seed=19)
    assert (again.tables.features == world.tables.features).all()


def test_the_logistic_world_is_not_linear() -> None:
    world = worlds.function("logistic_contexts")(rows=300)
    rewards, costs = means_of(world)
    seen = world.tables.features[:, 0]
    np.testing.assert_allclose(rewards, 1 / (1 + np.exp(-2 * seen @ LOGITS.T)), atol=1e-12)
    np.testing.assert_allclose(costs, 0.75 * np.exp(0.8 * (seen[:, :1] - 1)) * MOST, atol=1e-8)
    assert (world.cost_max[:, 0] <= MOST * 1e9).all()
    drawn = worlds.function("logistic_contexts")(arms=3, features=2, rows=50)
    assert (drawn.n_arms, drawn.n_features) == (3, 2)
    assert (np.diff(drawn.cost_max[:, 0]) > 0).all()


def test_classes_are_one_hot_and_have_means_of_their_own() -> None:
    world = worlds.function("class_contexts")(classes=5, arms=3, rows=100)
    rewards, costs = means_of(world)
    label = world.tables.features[:, 0, :-1].argmax(axis=1)
    assert (world.tables.features[:, 0, :-1] == np.eye(5)[label]).all()
    assert np.bincount(label).tolist() == [44, 22, 15, 11, 9]
    for z in range(5):
        assert len(np.unique(rewards[label == z].round(9), axis=0)) == 1
        assert len(np.unique(costs[label == z].round(9), axis=0)) == 1
    assert (
        np.bincount(
            worlds.function("class_contexts")(200, rows=1).tables.features[:, 0, :-1].argmax(axis=1)
        ).tolist()
        == [1] * 200
    )


def test_a_model_succeeds_half_the_time_where_a_prompt_is_as_hard_as_it_is_strong() -> None:
    world = worlds.function("routing_contexts")([0.25, 0.75], [0.1, 0.5], prompts=90, rows=2)
    rewards, costs = means_of(world)
    np.testing.assert_allclose(rewards.diagonal(), 0.5, atol=1e-12)
    np.testing.assert_allclose(rewards[0, 1], 1 / (1 + np.exp(-5)), atol=1e-12)
    np.testing.assert_allclose(costs, [[0.1, 0.5]] * 2, atol=1e-9)
    assert world.tables.features[:, 0].tolist() == [[0.25, 1], [0.75, 1]]
    assert world.horizon == 90


def test_a_sampled_table_has_means_and_no_end() -> None:
    world = table([[1, 0], [0, 1]], [[0.5, 0.25], [1, 0.75]], sample=True, features=[[1], [-1]])
    assert world.n_rounds is world.horizon is None
    assert world.reward_means is not None
    assert world.cost_means is not None
    assert world.reward_means.tolist() == [0.5, 0.5]
    assert world.cost_means.tolist() == [[0.75], [0.5]]
    assert table([[1, 0]], [1, 1], sample=True, horizon=70).horizon == 70
    own = table([[1, 0]], [1, 1], features=[[[1, 2], [3, 4]]])
    assert (own.per_arm, own.n_features) == (True, 2)
