"""The check of a world: its draws are what it declares."""

import numpy as np

from purse.base import amounts
from purse.engine import cpu
from purse.engine.draws import contexts, draws
from purse.engine.job import make_job
from purse.testing import recorder
from purse.types import World


def check_world(world: World, *, n_rounds: int = 20_000, seed: int = 0) -> None:
    """Check that the draws of a world are what it declares, over `n_rounds` rounds.

    Rewards lie in [0, 1], costs within the declared bounds, and means match the declared ones. A
    draw depends on seed, path, round and arm alone. Contexts are finite, end with the constant 1,
    depend on seed, path and round alone, and are those that policies see.

    Raise `AssertionError` when one of these does not hold.
    """
    rounds = min(n_rounds, world.n_rounds or n_rounds)
    rewards, costs = draws(world, rounds, seed=seed)
    half = rounds // 2
    for all_rounds, later in zip(
        (rewards, costs), draws(world, rounds - half, seed=seed, first=half + 1), strict=True
    ):
        assert (later == all_rounds[half:]).all(), (
            f"{world.name}: a round's draw depends on where one starts"
        )
    assert ((rewards >= 0) & (rewards <= 1)).all(), (
        f"{world.name}: rewards between {rewards.min()} and {rewards.max()}"
    )
    assert ((costs >= world.cost_min) & (costs <= world.cost_max)).all(), (
        f"{world.name}: costs outside the declared bounds"
    )
    if world.costs is not None:
        assert (costs == world.costs).all(), f"{world.name}: costs are declared fixed and vary"
    if world.n_features > 0:
        _check_contexts(world, rounds, seed)
    low, high = world.cost_min / amounts.UNIT, world.cost_max / amounts.UNIT
    for name, drawn, declared, lower, upper in (
        ("reward", rewards, world.reward_means, 0, 1),
        ("cost", costs / amounts.UNIT, world.cost_means, low, high),
    ):
        if declared is not None:
            # the largest variance of a distribution on [lower, upper] with this mean, and room for
            # a rare outcome
            error = (
                np.sqrt(np.maximum((declared - lower) * (upper - declared), 0) / rounds)
                + np.subtract(upper, lower) / rounds
                + 1e-9
            )
            means = drawn.mean(axis=0)
            assert (np.abs(means - declared) < 5 * error).all(), (
                f"{world.name}: mean {name} {means.tolist()}, declared {declared.tolist()}"
            )


def _check_contexts(world: World, rounds: int, seed: int) -> None:
    shown, half = contexts(world, rounds, seed=seed), rounds // 2
    later = contexts(world, rounds - half, seed=seed, first=half + 1)
    assert later.tobytes() == shown[half:].tobytes(), (
        f"{world.name}: a round's context depends on where one starts"
    )
    assert np.isfinite(shown).all(), f"{world.name}: a context is not finite, or not written"
    assert (shown[:, :, -1] == 1).all(), f"{world.name}: a context does not end with the constant 1"
    assert (shown == shown.astype(np.float32)).all(), (
        f"{world.name}: features must be numbers of 32 bits, as live policies are told"
    )
    budget = (world.cost_max.max(axis=0) * recorder.KEPT / amounts.UNIT).tolist()
    job = make_job(recorder, world, budget, seed=seed)
    rows = cpu.play_block(job, 1)[1].contexts[0]
    recorded = rows[:, :, -1].any(axis=1)  # the others were skipped
    first = min(rounds, recorder.KEPT)
    assert recorded.any(), f"{world.name}: no context came to the policy"
    assert (rows[:first][recorded[:first]] == shown[:first][recorded[:first]]).all(), (
        f"{world.name}: a policy in the engine sees other contexts"
    )
