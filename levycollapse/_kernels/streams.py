r"""Random streams by counter: Philox4x32-10.

The 64 bits of step n of path p are a function of (key, p, n) alone, so that they do not depend on the number of
threads, on which paths are simulated together, or on where a run was interrupted. A block of 128 bits serves two
consecutive steps. Its counter is (low half of p, high half of n // 2, low half of n // 2, high half of p): in this
order path and step do not meet in the first two of the ten rounds, which are therefore done once for each path and
once for each step. Of the four words of the block, the first and third are the high halves of what the two steps get.

References
----------
J. K. Salmon, M. A. Moraes, R. O. Dror, D. E. Shaw, Parallel random numbers: as easy as 1, 2, 3, SC'11 (2011).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import ParameterError
from . import lanes
from ._jit import inlined, scalar
from .lanes import LANES, philox_lanes

LOW = np.uint64(0xFFFFFFFF)
HALF = np.uint64(32)
MULTIPLIER_0 = np.uint64(lanes.MULTIPLIER_0)
MULTIPLIER_1 = np.uint64(lanes.MULTIPLIER_1)
WEYL_0 = np.uint64(0x9E3779B9)
WEYL_1 = np.uint64(0xBB67AE85)


@inlined
def padded(size):
    """The next multiple of LANES."""
    return (size + LANES - 1) // LANES * LANES


@scalar
def round_keys(key):
    """Key words of rounds three to ten, two a round."""
    keys = np.empty(16, np.uint64)
    k0 = (key + WEYL_0 + WEYL_0) & LOW
    k1 = ((key >> HALF) + WEYL_1 + WEYL_1) & LOW
    for i in range(8):
        keys[2 * i], keys[2 * i + 1] = k0, k1
        k0, k1 = (k0 + WEYL_0) & LOW, (k1 + WEYL_1) & LOW
    return keys


@scalar
def prepare_paths(paths, key, products, words):
    """What the first two rounds leave of the paths, the same at every step; the last path fills what is left over.

    In the first round the path meets one multiplication and the step the other, and so they do in the second.
    """
    k1 = key >> HALF
    for i in range(products.size):
        path = paths[min(i, paths.size - 1)]
        product = MULTIPLIER_0 * (path & LOW)
        products[i] = MULTIPLIER_1 * ((product >> HALF) ^ (path >> HALF) ^ k1)
        words[i] = product & LOW


@inlined
def stream_pass(even, odd, products, words, pair, key, keys):
    """Bits of steps 2*pair and 2*pair + 1 of prepared paths, into `even` and `odd`."""
    product = MULTIPLIER_1 * (pair & LOW)
    second = MULTIPLIER_0 * (((product >> HALF) ^ (pair >> HALF) ^ key) & LOW)
    c0 = product ^ (key + WEYL_0)
    c2 = (second >> HALF) ^ ((key >> HALF) + WEYL_1)
    for i in range(0, even.size, LANES):
        philox_lanes(even, odd, products, words, keys, np.uint64(i), c0, c2, second)


def path_bits(key: int, paths: Any, first: int, last: int) -> np.ndarray[Any, np.dtype[np.uint64]]:
    """Bits of steps first..last-1 of the given paths: uint64 of shape (len(paths), last - first)."""
    paths = np.ascontiguousarray(paths, dtype=np.uint64)
    word = np.uint64(key)
    keys = round_keys(word)
    even, odd, products, words = (np.empty(padded(paths.size), np.uint64) for _ in range(4))
    prepare_paths(paths, word, products, words)
    out = np.empty((last - first, paths.size), np.uint64)
    for step in range(first, last):
        if step % 2 == 0 or step == first:
            stream_pass(even, odd, products, words, np.uint64(step // 2), word, keys)
        out[step - first] = (odd if step % 2 else even)[: paths.size]
    return out.T


def stream_key(rng: Any = None) -> int:
    """Key of the streams from any conventional form of `rng` (SPEC 7).

    Parameters
    ----------
    rng : None, int, sequence of int, SeedSequence, BitGenerator or Generator, optional
        None takes a fresh key from the operating system. The same int or `SeedSequence` gives the same key every
        time. A `Generator` or `BitGenerator` is consumed: 64 bits are drawn from it, so that two calls with the
        same generator have different keys, and a program that seeds it is reproducible.

    Returns
    -------
    int
        A number of 64 bits.

    Raises
    ------
    ParameterError
        If `rng` is none of these.
    """
    if isinstance(rng, np.random.BitGenerator):
        rng = np.random.Generator(rng)
    if isinstance(rng, np.random.Generator):
        return int(rng.integers(0, 2**64, dtype=np.uint64))
    if isinstance(rng, np.random.SeedSequence):
        seeds = rng
    elif isinstance(rng, (bool, float, str, bytes)):
        raise ParameterError(_refusal(rng))
    else:
        try:
            seeds = np.random.SeedSequence(rng)
        except (TypeError, ValueError):
            raise ParameterError(_refusal(rng)) from None
    return int(seeds.generate_state(1, np.uint64)[0])


def _refusal(rng: Any) -> str:
    return f"rng={rng!r} must be None, an int >= 0, a SeedSequence, a BitGenerator or a Generator"
