r"""Inversion of a symmetric law by a table that is indexed with the floating-point exponent of the uniform.

Of 64 random bits the lowest is the sign and the highest 52 make v = 2 P(X > |x|), an odd multiple of 2**-53 in
(0, 1), so that v and w = 1 - v are both exact. The smaller of the two picks the cell: its exponent the binade,
its next bits the cell in the binade, the rest the place t in [0, 1) inside the cell. Cells are therefore as fine,
relative to the distance from their end, in the tail (v -> 0) as at the centre (w -> 0), where laws of small
alpha have a peak much narrower than their scale.

Layout: `coefficients` is a C-contiguous float64 array (rows, 4), a cubic q = c0 + t(c1 + t(c2 + t c3)) a row.
First (52 << cells_log2) rows with t growing with v, then as many with t growing with w; there are 2**cells_log2
cells in a binade on both sides (shifts that differ between the sides cost 0.45 ns of 1.7 in `locate` with AVX2).
The array and the integer `cells_log2` are all that the kernels take.
"""

from __future__ import annotations

import numpy as np

from ._jit import inlined, scalar
from .bits import bits_float, float_bits, fma

#: Binades of (0, 1/2): an odd multiple of 2**-53 has an exponent from -53 to -2.
BINADES = np.uint64(52)
LOWEST_EXPONENT = -53
ULP_HALF = 2.0**-53

ONE = np.uint64(0x3FF0000000000000)
MANTISSA = np.uint64(0x000FFFFFFFFFFFFF)
LOWEST_BIASED = np.uint64(1023 + LOWEST_EXPONENT)


@inlined
def uniform(bits):
    """The upper 52 bits as an odd multiple of 2**-53 in (0, 1)."""
    return (bits_float((bits >> np.uint64(12)) | ONE) - 1.0) + ULP_HALF


@inlined
def locate(bits, cells_log2):
    """Row of the table and place in it; branch-free, so that a loop over it vectorises."""
    v = uniform(bits)
    w = 1.0 - v
    tail = v < 0.5
    word = float_bits(v if tail else w)
    log2 = np.uint64(cells_log2)
    first = np.uint64(0) if tail else BINADES << log2
    row = (word >> (np.uint64(52) - log2)) - (LOWEST_BIASED << log2) + first
    place = bits_float(((word << log2) & MANTISSA) | ONE) - 1.0
    return row, place


@inlined
def interpolate(coefficients, row, place):
    """The cubic of a row: |x|."""
    cubic = fma(coefficients[row, 3], place, coefficients[row, 2])
    return fma(fma(cubic, place, coefficients[row, 1]), place, coefficients[row, 0])


@inlined
def with_sign(magnitude, bits):
    """Give the magnitude the sign in the lowest bit."""
    return bits_float(float_bits(magnitude) ^ (bits << np.uint64(63)))


@inlined
def quantile(bits, coefficients, cells_log2):
    """One draw of the law from 64 random bits; bits ^ 1 gives the mirror image."""
    row, place = locate(bits, cells_log2)
    return with_sign(interpolate(coefficients, row, place), bits)


#: Draws in a block: the work arrays stay in the first-level cache.
BLOCK = 256


@scalar
def fill(bits, coefficients, cells_log2, out):
    """A draw for each word of `bits`; index and cubic in passes of their own, so that each vectorises."""
    rows = np.empty(BLOCK, np.uint64)
    places = np.empty(BLOCK)
    for start in range(0, out.size, BLOCK):
        count = min(BLOCK, out.size - start)
        for i in range(count):
            rows[i], places[i] = locate(bits[start + i], cells_log2)
        for i in range(count):
            out[start + i] = with_sign(interpolate(coefficients, rows[i], places[i]), bits[start + i])


@inlined
def rotated(word, by):
    return (word << np.uint64(by)) | (word >> np.uint64(64 - by))


@scalar
def fill_stream(state, coefficients, cells_log2, out):
    """Draws from interleaved xoshiro256++ streams (Blackman & Vigna 2021), one a column of `state` (4, lanes)."""
    lanes = state.shape[1]
    a, b, c, d = state[0].copy(), state[1].copy(), state[2].copy(), state[3].copy()
    bits = np.empty(lanes, np.uint64)
    rows = np.empty(lanes, np.uint64)
    places = np.empty(lanes)
    for start in range(0, out.size, lanes):
        for i in range(lanes):
            a0, b0, c0, d0 = a[i], b[i], c[i], d[i]
            bits[i] = rotated(a0 + d0, 23) + a0
            shifted = b0 << np.uint64(17)
            c0 ^= a0
            d0 ^= b0
            b[i] = b0 ^ c0
            a[i] = a0 ^ d0
            c[i] = c0 ^ shifted
            d[i] = rotated(d0, 45)
        for i in range(lanes):
            rows[i], places[i] = locate(bits[i], cells_log2)
        for i in range(min(lanes, out.size - start)):
            out[start + i] = with_sign(interpolate(coefficients, rows[i], places[i]), bits[i])
