r"""Inversion of a symmetric law by a table that is indexed with the floating-point exponent of the uniform.

Of 64 random bits the highest is the sign, bit 58 the side, and the lowest 52 make u, an odd multiple of 2**-53 in
(0, 1). On the tail's side (bit clear) 2 P(X > |x|) = u/2, on the centre's side it is 1 - u/2: each side has half of
the probability, and both are exact. The exponent of u picks the binade, its next bits the cell in the binade. Cells
are therefore as fine, relative to the distance from their end, in the tail as at the centre, where laws of small alpha
have a peak much narrower than their scale.

Layout: `coefficients` is a flat C-contiguous float64 array, four a row: q = c0 + y(c1 + y(c2 + y c3)) with
y = 2**64 u. (In y itself and not in the place inside the cell, which costs three operations more; the terms of a cubic
on a cell are then of the size of x, and nothing cancels. 2**64 keeps c3 from overflowing, and it leaves in the
exponent's low six bits the numbers FIRST_BINADE to 62.) Six bits of exponent, then `cells_log2` of mantissa are the
row on the tail's side; the centre's rows come 64 << cells_log2 later. The array and the integer `cells_log2` are all
that the kernels take.
"""

from __future__ import annotations

import numpy as np

from ._jit import inlined, scalar
from .bits import bits_float, float_bits, fma
from .lanes import LANES, set_signed_cubics

#: Six bits of exponent: binades of a side, of which those before FIRST_BINADE have no uniform.
BINADES = 64
FIRST_BINADE = 10
#: Exponents of u are those of y less this: y = 2**SHIFT u.
SHIFT = 64
SIGN = np.uint64(1 << 63)
SIDE = np.uint64(1 << 58)
MANTISSA = np.uint64(0x000FFFFFFFFFFFFF)
UNIT = np.uint64((1023 + SHIFT) << 52)
#: 2**64 (1 - 2**-53), which takes 2**64 (1 + k 2**-52) to 2**64 (2k + 1) 2**-53, exactly.
OFFSET = 2.0**64 - 2.0**11


@inlined
def uniform(bits):
    """2**64 times the uniform in the lowest 52 bits, which is an odd multiple of 2**-53 in (0, 1)."""
    return bits_float((bits & MANTISSA) | UNIT) - OFFSET


@inlined
def row_mask(cells_log2):
    """Bits of a row's place: one of side, six of exponent, the cell, and none of the four coefficients."""
    return np.uint64(((2 * BINADES << cells_log2) - 1) << 2)


@inlined
def locate(bits, shift, mask):
    """Where the row begins, and y; shift = 50 - cells_log2, mask = row_mask(cells_log2)."""
    y = uniform(bits)
    return ((float_bits(y) ^ (bits & SIDE)) >> shift) & mask, y


@inlined
def index_pass(bits, cells_log2, rows, places):
    shift, mask = np.uint64(50 - cells_log2), row_mask(cells_log2)
    for i in range(bits.size):
        rows[i], places[i] = locate(bits[i], shift, mask)


@inlined
def quantile(bits, coefficients, cells_log2):
    """One draw of the law from 64 random bits; the other sign bit gives the mirror image."""
    row, y = locate(bits, np.uint64(50 - cells_log2), row_mask(cells_log2))
    square = y * y
    even = fma(coefficients[row + np.uint64(2)], square, coefficients[row])
    odd = fma(coefficients[row + np.uint64(3)], square, coefficients[row + np.uint64(1)])
    return bits_float(float_bits(fma(odd, y, even)) ^ (bits & SIGN))


#: Draws in a block: the work arrays stay in the first-level cache.
BLOCK = 256


@scalar
def draw_block(bits, coefficients, cells_log2, rows, places, out):
    """A draw for each word of a block; index and cubic in passes of their own."""
    index_pass(bits, cells_log2, rows, places)
    for i in range(0, out.size, LANES):
        set_signed_cubics(out, bits, coefficients, rows, places, np.uint64(i))


@scalar
def fill(bits, coefficients, cells_log2, out):
    """A draw for each word of `bits`."""
    rows, places = np.empty(BLOCK, np.uint64), np.empty(BLOCK)
    whole = out.size // BLOCK * BLOCK
    for start in range(0, whole, BLOCK):
        stop = start + BLOCK
        draw_block(bits[start:stop], coefficients, cells_log2, rows, places, out[start:stop])
    for i in range(whole, out.size):
        out[i] = quantile(bits[i], coefficients, cells_log2)


@inlined
def rotated(word, by):
    return (word << np.uint64(by)) | (word >> np.uint64(64 - by))


@scalar
def fill_stream(state, coefficients, cells_log2, out):
    """Draws from interleaved xoshiro256++ streams (Blackman & Vigna 2021), one a column of `state` (4, lanes).

    `lanes` is a multiple of LANES.
    """
    lanes = state.shape[1]
    a, b, c, d = state[0].copy(), state[1].copy(), state[2].copy(), state[3].copy()
    bits, rows, places = np.empty(lanes, np.uint64), np.empty(lanes, np.uint64), np.empty(lanes)
    left = np.empty(lanes)
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
        stop = start + lanes
        draw_block(bits, coefficients, cells_log2, rows, places, out[start:stop] if stop <= out.size else left)
        if stop > out.size:
            out[start:] = left[: out.size - start]
