from typing import Any

import numpy as np
import pytest

from purse.compiler.jit import bind
from purse.kernels.random import (
    _STEP,
    POLICY,
    REFEREE,
    SIDE,
    WORLD,
    U,
    at,
    bits,
    mix,
    shuffled,
    stream,
    uniform,
)

BAND = 4.5  # standard errors


def excess(counts: np.ndarray) -> float:
    """How many standard errors chi-square lies from what equally likely cells give."""
    expected = counts.sum() / counts.size
    freedom = counts.size - 1
    return float((((counts - expected) ** 2).sum() / expected - freedom) / np.sqrt(2 * freedom))


WORD = 2**64
FACTORS = (0xBF58476D1CE4E5B9, 0x94D049BB133111EB)
FIELDS = ("seed", "path", "role", "t", "index")


def plain_mix(z: int) -> int:
    z = (z ^ (z >> 30)) * FACTORS[0] % WORD
    z = (z ^ (z >> 27)) * FACTORS[1] % WORD
    return z ^ (z >> 31)


def plain_unmix(z: int) -> int:
    for shift, factor in ((31, FACTORS[1]), (27, FACTORS[0]), (30, 1)):
        y = z
        for _ in range(3):
            y = z ^ (y >> shift)
        z = y * pow(factor, -1, WORD) % WORD
    return z


@bind
def fill_uniforms(seed: Any, path: Any, role: Any, t: Any, index: Any, out: Any) -> None:
    for i in range(out.shape[0]):
        out[i] = uniform(at(stream(seed[i], path[i], role[i]), t[i]), index[i])


@bind
def fill_shuffled(streams: Any, size: Any, out: Any) -> None:
    for s in range(streams.shape[0]):
        for i in range(out.shape[1]):
            out[s, i] = shuffled(streams[s], i, size)


def uniforms(**fields: Any) -> np.ndarray:
    arrays: Any = np.broadcast_arrays(
        *(np.asarray(fields.get(name, 0), np.int64) for name in FIELDS)
    )
    out = np.zeros(arrays[0].size)
    arguments = [*map(np.ascontiguousarray, arrays), out]
    fill_uniforms(*arguments)
    return out


def permutations(streams: np.ndarray, size: int) -> np.ndarray:
    out = np.zeros((len(streams), size), np.int64)
    fill_shuffled(streams, size, out)
    return out


def test_bits_are_splitmix64() -> None:
    published = [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
        4593380528125082431,
        16408922859458223821,
    ]
    assert [bits(U(at(U(1234567), t)), 0) for t in range(1, 6)] == published


@pytest.mark.parametrize(
    ("seed", "path", "role"),
    [
        (0, 0, POLICY),
        (0, 0, WORLD),
        (1, 0, REFEREE),
        (0, 1, POLICY),
        (2024, 99_999, WORLD),
        (2**63 - 1, 2**40, REFEREE),
    ],
)
def test_stream_key_and_bits_follow_the_formula(seed: int, path: int, role: int) -> None:
    expected = plain_mix(
        (plain_mix((plain_mix(seed) + path * int(_STEP)) % WORD) + role * int(_STEP)) % WORD
    )
    assert stream(seed, path, role) == expected
    for t, index in ((1, 0), (7, 3), (10**9, 10**5)):
        key = (expected + t * int(_STEP)) % WORD
        assert at(U(expected), t) == key
        assert bits(U(key), index) == plain_mix((key + index * int(SIDE)) % WORD)


@pytest.mark.parametrize("word", [0, 1, 2**63, WORD - 1, 0x0123456789ABCDEF])
def test_mix_can_be_undone(word: int) -> None:
    assert mix(U(plain_unmix(word))) == word
    assert plain_unmix(int(mix(U(word)))) == word


def test_no_two_rounds_and_indices_share_a_counter() -> None:
    same = np.arange(1, 2**20, dtype=np.uint64) * SIDE * U(pow(int(_STEP), -1, WORD))
    distance = np.minimum(same, -same)
    assert distance.min() >= 2**43


def test_smallest_uniform_is_zero_and_largest_is_below_one() -> None:
    assert uniform(U(plain_unmix(0)), 0) == 0.0
    assert uniform(U(plain_unmix(WORD - 1)), 0) == 1 - 2.0**-53


def test_uniforms_lie_in_the_unit_interval_on_a_grid_of_53_bits() -> None:
    values = uniforms(seed=3, t=np.arange(1, 100_001))
    assert values.min() >= 0
    assert values.max() < 1
    assert (values * 2.0**53 == np.rint(values * 2.0**53)).all()
    assert ((values * 2.0**53).astype(np.int64) & 1).any()


@pytest.mark.parametrize("field", FIELDS)
def test_uniforms_fill_all_bins_alike(field: str) -> None:
    values = uniforms(**{"seed": 5, field: np.arange(1_000_000)})
    assert abs(excess(np.bincount((values * 1000).astype(np.int64), minlength=1000))) < BAND
    assert abs(values.mean() - 0.5) < BAND / np.sqrt(12 * len(values))


@pytest.mark.parametrize("bit", range(11, 64, 4))
def test_every_bit_is_set_half_of_the_time(bit: int) -> None:
    words = (uniforms(seed=8, t=np.arange(200_000)) * 2.0**53).astype(np.int64)
    share = ((words >> (bit - 11)) & 1).mean()
    assert abs(share - 0.5) < BAND * 0.5 / np.sqrt(len(words))


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("step", [1, 2, 64])
def test_neighbouring_keys_are_independent(field: str, step: int) -> None:
    along = "path" if field != "path" else "t"
    n = 200_000
    here, there = (
        uniforms(**{"seed": 11, along: np.arange(n), field: value}) for value in (1, 1 + step)
    )
    run = uniforms(**{"seed": 11, field: np.arange(n + step)})
    for x, y in ((here, there), (run[:-step], run[step:])):
        correlation = 12 * ((x - 0.5) * (y - 0.5)).mean()
        assert abs(correlation) < BAND / np.sqrt(n)
        cells = (x * 32).astype(np.int64) * 32 + (y * 32).astype(np.int64)
        assert abs(excess(np.bincount(cells, minlength=1024))) < BAND


@pytest.mark.parametrize(
    "sizes", [range(1, 201), (1000, 4096, 4097, 65_537, 300_000)], ids=["small", "large"]
)
def test_shuffled_is_a_permutation(sizes: range) -> None:
    for size in sizes:
        for seed in range(2):
            order = permutations(np.array([stream(seed, 0, WORLD)], np.uint64), size)[0]
            assert (np.sort(order) == np.arange(size)).all()


@pytest.mark.parametrize("size", [2, 3, 4, 5, 8, 13, 16, 30])
def test_shuffled_sends_each_position_everywhere_alike(size: int) -> None:
    n = 20_000
    orders = permutations(np.array([stream(17, path, WORLD) for path in range(n)], np.uint64), size)
    counts = np.array([np.bincount(orders[:, i], minlength=size) for i in range(size)])
    error = np.sqrt(n / size * (1 - 1 / size))
    assert np.abs(counts - n / size).max() < BAND * error
