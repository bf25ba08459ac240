import numba
import numpy as np
import pytest

import purse
from purse import worlds
from purse.engine.draws import contexts, draws
from purse.worlds._contexts import contextual_world
from purse.worlds.atoms import atoms
from purse.worlds.bernoulli import bernoulli
from purse.worlds.table import table
from purse.worlds.two_point import two_point


@pytest.mark.parametrize("n_atoms", [1, 2, 3, 4, 7, 9])
def test_any_number_of_atoms_is_drawn_by_its_probabilities(n_atoms: int) -> None:
    weights, n = np.arange(1, n_atoms + 1), 20_000
    chances = weights / weights.sum()
    rewards, _ = draws(
        atoms(chances[None], rewards=[np.arange(n_atoms) / 10], costs=[[1] * n_atoms]),
        n,
        seed=n_atoms,
    )
    counts = np.bincount(np.rint(rewards[:, 0] * 10).astype(int), minlength=n_atoms)
    assert counts.sum() == n
    assert (np.abs(counts - n * chances) <= 4 * np.sqrt(n * chances * (1 - chances))).all()


@pytest.mark.parametrize("certain", range(5))
def test_a_certain_atom_always_comes(certain: int) -> None:
    chances = np.eye(5)[certain]
    rewards, costs = draws(
        atoms([chances], rewards=[np.arange(5) / 10], costs=[np.arange(1, 6)]), 5_000, seed=1
    )
    assert (rewards == certain / 10).all()
    assert (costs == (certain + 1) * 10**9).all()


@pytest.mark.parametrize("n_phases", [2, 3, 7, 8])
def test_every_phase_has_its_rounds(n_phases: int) -> None:
    lengths = np.arange(1, n_phases + 1)
    world = worlds.switching(lengths, rewards=np.zeros((n_phases, 1)), costs=lengths[:, None])
    _, costs = draws(world, 2 * int(lengths.sum()))
    assert (costs[:, 0, 0] // 10**9).tolist() == np.repeat(lengths, lengths).tolist() * 2


def test_a_draw_depends_on_seed_path_round_and_arm_only() -> None:
    world = two_point(rewards=[0.5, 0.5], costs=[0.5, 0.5], cost_min=0.1)
    wider = two_point(rewards=[0.5, 0.5, 0.5], costs=[0.5, 0.5, 0.5], cost_min=0.1)
    for here, there in zip(
        draws(world, 500, seed=3, path=2), draws(wider, 500, seed=3, path=2), strict=True
    ):
        assert (here == there[:, :2]).all()
    tables = [
        draws(world, 500, seed=seed, path=path)[0].tobytes() for seed in (3, 4) for path in (2, 3)
    ]
    assert len(set(tables)) == 4


def test_all_worlds_share_one_compiled_type() -> None:
    fortran = np.ones((3, 2), order="F")
    made = [
        *(worlds.make(worlds.example(name), [100, 100]) for name in ("ad_slots",)),
        *(worlds.make(worlds.example(name), 100) for name in worlds.names() if name != "ad_slots"),
        atoms(np.full((2, 3), 1 / 4, order="F") * [[1, 1, 2]], fortran.T, fortran.T),
        table(fortran, costs=fortran),
        table(fortran, costs=[1, 1], shuffle=True),
        table(fortran, costs=[1, 1], sample=True, features=np.ones((3, 2, 1), order="F")),
    ]
    kind = numba.typeof(bernoulli(rewards=[0.5], costs=[1]).tables)
    assert [place.name for place in made if numba.typeof(place.tables) != kind] == []
    assert [place.name for place in made if place.draw is not None] == []


def test_a_sampled_row_is_uniform_and_independent_of_what_the_arms_draw() -> None:
    n_rows, n = 8, 40_000
    success = np.full((n_rows, 2), 0.5)
    world = contextual_world(
        "mine", np.arange(n_rows)[:, None], success, success, factors=[1], horizon=None
    )
    rewards, _ = draws(world, n, seed=2)
    row = contexts(world, n, seed=2)[:, 0, 0].astype(int)
    counts = np.zeros((n_rows, 2, 2))
    np.add.at(counts, (row, rewards[:, 0].astype(int), rewards[:, 1].astype(int)), 1)
    expected = n / counts.size
    # chi-square with 31 degrees of freedom: its mean is 31, its deviation 7.9
    assert ((counts - expected) ** 2 / expected).sum() < 31 + 4 * 7.9
    assert abs(np.corrcoef(row[:-1], row[1:])[0, 1]) < 4 / np.sqrt(n)
    other = contexts(world, 50, seed=2, path=1)[:, 0, 0]
    assert (other != row[:50]).any()
    assert (contexts(world, 50, seed=2, first=101)[:, 0, 0] == row[100:150]).all()


@pytest.mark.parametrize("shuffle", [False, True])
def test_contexts_come_with_their_rows(shuffle: bool) -> None:
    values = np.arange(1, 9) / 8
    world = table(values[:, None], costs=[1], features=values[:, None], shuffle=shuffle)
    rewards, _ = draws(world, 8, seed=5)
    seen = contexts(world, 8, seed=5)
    assert seen.shape == (8, 1, 2)
    assert (seen[:, 0, 0] == rewards[:, 0]).all()
    assert (seen[:, 0, 1] == 1).all()
    with pytest.raises(purse.InvalidInput, match="table ends after round 8"):
        contexts(world, 9)
    assert contexts(bernoulli(rewards=[1], costs=[1]), 2).tolist() == [[[1]], [[1]]]
