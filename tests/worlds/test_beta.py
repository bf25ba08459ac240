from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from purse.engine.draws import draws
from purse.worlds.beta import CELLS, beta, cell_means

EDGES = np.arange(CELLS + 1) / CELLS
MEANS = np.array([0, 0.001, 0.01, 0.1, 0.3, 0.4999, 0.5, 0.5001, 0.7, 0.9, 0.99, 0.999, 1])
CONCENTRATIONS = [1e-300, 1e-12, 1e-3, 0.1, 1, 2, 4, 100, 1e4, 1e6, 1e9]


def grid(values: NDArray[Any]) -> NDArray[Any]:
    """(K, reward cells, cost cells) from the atoms (1, K, A, ...) of a world."""
    return values.reshape(values.shape[1], CELLS, CELLS)


def test_cells_of_the_arcsine_distribution() -> None:
    # the integral of its quantiles sin(pi p / 2)^2
    ends = EDGES / 2 - np.sin(np.pi * EDGES) / (2 * np.pi)
    np.testing.assert_allclose(cell_means(np.array([0.5]), 1)[0], CELLS * np.diff(ends), rtol=1e-9)


@pytest.mark.parametrize(("mean", "concentration"), [(0.3, 4), (0.05, 50), (0.9, 1_000)])
def test_each_cell_is_the_mean_of_its_quantiles(mean: float, concentration: float) -> None:
    points = (np.arange(2_000) + 0.5) / 2_000
    quantiles = stats.beta.ppf(
        (np.arange(CELLS)[:, None] + points) / CELLS,
        concentration * mean,
        concentration * (1 - mean),
    )
    np.testing.assert_allclose(
        cell_means(np.array([mean]), concentration)[0], quantiles.mean(axis=1), rtol=1e-3
    )


@pytest.mark.parametrize("concentration", CONCENTRATIONS)
def test_means_are_exact_and_cells_sorted_however_wide_or_narrow(concentration: float) -> None:
    cells = cell_means(MEANS, concentration)
    np.testing.assert_allclose(cells.mean(axis=1), MEANS, rtol=1e-12, atol=0)
    assert (np.diff(cells, axis=1) >= 0).all()
    assert ((cells >= 0) & (cells <= 1)).all()
    world = beta(rewards=MEANS, costs=0.1 + 0.9 * MEANS, concentration=concentration, cost_min=0.1)
    assert world.reward_means is not None
    assert world.cost_means is not None
    np.testing.assert_allclose(world.reward_means, MEANS, rtol=1e-12, atol=0)
    np.testing.assert_allclose(world.cost_means[:, 0], 0.1 + 0.9 * MEANS, atol=5.1e-10)


@pytest.mark.parametrize("concentration", [1e3, 1e6, 1e9])
def test_the_spread_is_that_of_the_distribution_less_what_cells_hide(concentration: float) -> None:
    means = np.array([0.1, 0.3, 0.5, 0.8])
    ratio = cell_means(means, concentration).std(axis=1) / np.sqrt(
        means * (1 - means) / (concentration + 1)
    )
    assert (np.abs(ratio - 0.995) < 0.003).all()


def test_a_tiny_concentration_leaves_zeros_ones_and_one_cell_for_the_rest() -> None:
    cells = cell_means(np.array([0.3]), 1e-300)[0]
    np.testing.assert_allclose(cells, [0] * 22 + [0.6] + [1] * 9, rtol=1e-12)


def test_means_at_the_ends_are_certain() -> None:
    world = beta(rewards=[0, 1], costs=[0.1, 2], concentration=4, cost_min=0.1, cost_max=2)
    rewards, costs = draws(world, 500, seed=1)
    assert (rewards == [0, 1]).all()
    assert (costs[:, :, 0] == [100_000_000, 2_000_000_000]).all()
    assert world.costs is not None
    assert world.costs.tolist() == [[100_000_000], [2_000_000_000]]


def test_all_pairs_of_cells_are_equally_likely() -> None:
    world = beta(rewards=[0.3, 0.8], costs=[0.5, 0.9], concentration=4, cost_min=0.1)
    assert world.tables.below.tolist() == [[[2**43 * number for number in range(1, CELLS**2)]] * 2]
    pays, takes = grid(world.tables.rewards), grid(world.tables.costs)
    assert world.tables.costs.min() > 100_000_000  # what is declared are not the outermost cells
    assert world.tables.costs.max() < 1_000_000_000
    assert (pays == pays[:, :, :1]).all()
    assert (takes == takes[:, :1, :]).all()
