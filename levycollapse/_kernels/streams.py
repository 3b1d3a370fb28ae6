r"""Random streams by counter: Philox4x32-10.

The 64 bits of step n of path p are a function of (key, p, n) alone, so that they do not depend on the number of
threads, on which paths are simulated together, or on where a run was interrupted. One block of 128 bits has the
counter (n // 2, p) and serves two consecutive steps.

References
----------
J. K. Salmon, M. A. Moraes, R. O. Dror, D. E. Shaw, Parallel random numbers: as easy as 1, 2, 3, SC'11 (2011).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import ParameterError
from ._jit import inlined, scalar

LOW = np.uint64(0xFFFFFFFF)
HALF = np.uint64(32)
ZERO = np.uint64(0)
UNIT = np.uint64(1)
MULTIPLIER_0 = np.uint64(0xD2511F53)
MULTIPLIER_1 = np.uint64(0xCD9E8D57)
WEYL_0 = np.uint64(0x9E3779B9)
WEYL_1 = np.uint64(0xBB67AE85)


@inlined
def philox_round(c0, c1, c2, c3, k0, k1):
    """One round, on the low halves of its words.

    Masked where they are multiplied and nowhere else, so that LLVM takes the vector multiplication of 32-bit
    halves, which needs no mask at all.
    """
    product_0 = MULTIPLIER_0 * (c0 & LOW)
    product_1 = MULTIPLIER_1 * (c2 & LOW)
    return (product_1 >> HALF) ^ c1 ^ k0, product_1, (product_0 >> HALF) ^ c3 ^ k1, product_0


@inlined
def philox(c0, c1, c2, c3, k0, k1):
    """Philox4x32-10 of four 32-bit counter words and two key words, each in a uint64.

    The rounds are written out: LLVM does not vectorise the path loop around an inner loop.
    """
    c0, c1, c2, c3 = philox_round(c0, c1, c2, c3, k0, k1)
    k0, k1 = (k0 + WEYL_0) & LOW, (k1 + WEYL_1) & LOW
    c0, c1, c2, c3 = philox_round(c0, c1, c2, c3, k0, k1)
    k0, k1 = (k0 + WEYL_0) & LOW, (k1 + WEYL_1) & LOW
    c0, c1, c2, c3 = philox_round(c0, c1, c2, c3, k0, k1)
    k0, k1 = (k0 + WEYL_0) & LOW, (k1 + WEYL_1) & LOW
    c0, c1, c2, c3 = philox_round(c0, c1, c2, c3, k0, k1)
    k0, k1 = (k0 + WEYL_0) & LOW, (k1 + WEYL_1) & LOW
    c0, c1, c2, c3 = philox_round(c0, c1, c2, c3, k0, k1)
    k0, k1 = (k0 + WEYL_0) & LOW, (k1 + WEYL_1) & LOW
    c0, c1, c2, c3 = philox_round(c0, c1, c2, c3, k0, k1)
    k0, k1 = (k0 + WEYL_0) & LOW, (k1 + WEYL_1) & LOW
    c0, c1, c2, c3 = philox_round(c0, c1, c2, c3, k0, k1)
    k0, k1 = (k0 + WEYL_0) & LOW, (k1 + WEYL_1) & LOW
    c0, c1, c2, c3 = philox_round(c0, c1, c2, c3, k0, k1)
    k0, k1 = (k0 + WEYL_0) & LOW, (k1 + WEYL_1) & LOW
    c0, c1, c2, c3 = philox_round(c0, c1, c2, c3, k0, k1)
    k0, k1 = (k0 + WEYL_0) & LOW, (k1 + WEYL_1) & LOW
    c0, c1, c2, c3 = philox_round(c0, c1, c2, c3, k0, k1)
    return c0 & LOW, c1 & LOW, c2 & LOW, c3 & LOW


@scalar
def stream_pass(even, odd, paths, pair, key):
    """Bits of steps 2*pair and 2*pair + 1 of some paths, into `even` and `odd`."""
    k0 = key & LOW
    k1 = key >> HALF
    pair_low = pair & LOW
    pair_high = pair >> HALF
    # Two paths far apart at a time: their chains of ten rounds overlap (3.5 ns a draw without, 3.0 with it). LLVM
    # vectorises this form; with slices of the arrays, or with one iteration more, it does not.
    half = paths.size // 2
    for i in range(half):
        j = half + i
        path, other = paths[i], paths[j]
        a, b, c, d = philox(pair_low, pair_high, path, path >> HALF, k0, k1)
        e, f, g, h = philox(pair_low, pair_high, other, other >> HALF, k0, k1)
        even[i] = a | (b << HALF)
        odd[i] = c | (d << HALF)
        even[j] = e | (f << HALF)
        odd[j] = g | (h << HALF)
    if paths.size > 2 * half:
        path = paths[2 * half]
        a, b, c, d = philox(pair_low, pair_high, path, path >> HALF, k0, k1)
        even[2 * half] = a | (b << HALF)
        odd[2 * half] = c | (d << HALF)


def path_bits(key: int, paths: Any, first: int, last: int) -> np.ndarray[Any, np.dtype[np.uint64]]:
    """Bits of steps first..last-1 of the given paths: uint64 of shape (len(paths), last - first)."""
    paths = np.ascontiguousarray(paths, dtype=np.uint64)
    out = np.empty((last - first, paths.size), np.uint64)
    even, odd = np.empty_like(paths), np.empty_like(paths)
    for step in range(first, last):
        if step % 2 == 0 or step == first:
            stream_pass(even, odd, paths, np.uint64(step // 2), np.uint64(key))
        out[step - first] = odd if step % 2 else even
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
