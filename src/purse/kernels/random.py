"""Counter-based randomness: a number is a pure function of (seed, path, role, round, index).

Each number is one splitmix64 finaliser (Steele, Lea and Flood 2014, with Stafford's constants,
variant 13) of a counter:

    stream = mix(mix(mix(seed) + path STEP) + role STEP)      one per path and role
    key    = stream + t STEP                                  one per round
    bits   = mix(key + index SIDE)                            as many per round as one likes

STEP is 2^64 over the golden ratio; with the odd SIDE no two (t, index) below (2^43, 2^20) share a
counter. There is no state to carry, so results do not depend on how paths are cut into blocks,
threads or machines.
"""

import numpy as np

from purse.compiler.kernel import kernel

U = np.uint64
_STEP = U(0x9E3779B97F4A7C15)
SIDE = U(0xDB4F0B9175AE2165)
POLICY, WORLD, REFEREE, DELAY, EXPLORE, FEATURES = 0, 1, 2, 3, 4, 5  # roles: who draws


@kernel
def mix(z: U) -> U:
    """Return a bijection of 64 bits in which every input bit moves every output bit."""
    z = (z ^ (z >> U(30))) * U(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> U(27))) * U(0x94D049BB133111EB)
    return z ^ (z >> U(31))


@kernel
def stream(seed: int, path: int, role: int) -> U:
    """Return the numbers of one role on one path."""
    return mix(mix(mix(U(seed)) + U(path) * _STEP) + U(role) * _STEP)


@kernel
def at(stream: U, t: int) -> U:
    """Return the key of round t of a stream."""
    return stream + U(t) * _STEP


@kernel
def bits(key: U, index: int) -> U:
    """Return the 64 random bits number `index` of a round."""
    return mix(key + U(index) * SIDE)


@kernel
def uniform(key: U, index: int) -> float:
    """Return a float in [0, 1), a multiple of 2^-53."""
    return (bits(key, index) >> U(11)) * (1.0 / 9007199254740992.0)


@kernel
def shuffled(stream: U, position: int, size: int) -> int:
    """Return the place to which the stream's permutation of 0 .. size-1 sends `position`.

    Feistel rounds permute the smallest even number of bits that holds `size`; walking the cycle
    until it is back below `size` restricts that to the range. On a few bits four rounds are
    visibly uneven; twelve are not.
    """
    half = 1
    while (1 << (2 * half)) < size:
        half += 1
    mask = (1 << half) - 1
    while True:
        left, right = position >> half, position & mask
        for turn in range(12):
            left, right = (
                right,
                left ^ (int(mix(stream + U(turn) * _STEP + U(right) * SIDE) >> U(33)) & mask),
            )
        position = (left << half) | right
        if position < size:
            return position
