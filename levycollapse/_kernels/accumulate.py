r"""Exact accumulation: sums of doubles that do not depend on their order, and counts in cells.

A sum is kept as an integer multiple of 2**-1074 in limbs of 32 bits, each in an int64 that has room for 2**30
additions before its carry must be passed on (Kulisch's long accumulator). Two sums merge by adding their limbs.
"""

from __future__ import annotations

import numpy as np

from ._jit import scalar
from .bits import float_bits

#: 2046 positions of an exponent and 53 bits of mantissa, in limbs of 32 bits, with one to spare for carries.
LIMBS = 67
#: Additions between two carries; each adds less than 2**33 to a limb.
CARRY_EVERY = 1 << 28

LOW = np.int64(0xFFFFFFFF)
HALF = np.int64(32)
MANTISSA = np.int64(0x000FFFFFFFFFFFFF)
IMPLICIT = np.int64(1 << 52)
EXPONENT = np.int64(0x7FF)


@scalar
def carry(limbs):
    """Bring all limbs but the last into 0 .. 2**32 - 1."""
    for i in range(LIMBS - 1):
        limbs[i + 1] += limbs[i] >> HALF
        limbs[i] &= LOW


@scalar
def add_exactly(values, limbs):
    """Add finite values to an exact sum."""
    pending = 0
    for value in values:
        word = np.int64(float_bits(value))
        exponent = (word >> np.int64(52)) & EXPONENT
        mantissa = word & MANTISSA
        if exponent > 0:
            mantissa |= IMPLICIT
            exponent -= 1
        limb = exponent >> np.int64(5)
        shift = exponent & np.int64(31)
        low = (mantissa & LOW) << shift
        high = (mantissa >> HALF) << shift
        if word < 0:
            limbs[limb] -= low & LOW
            limbs[limb + 1] -= (low >> HALF) + (high & LOW)
            limbs[limb + 2] -= high >> HALF
        else:
            limbs[limb] += low & LOW
            limbs[limb + 1] += (low >> HALF) + (high & LOW)
            limbs[limb + 2] += high >> HALF
        pending += 1
        if pending == CARRY_EVERY:
            carry(limbs)
            pending = 0
    carry(limbs)


@scalar
def count_cells(values, edges, counts):
    """Count values in (-inf, edges[0]), [edges[0], edges[1]), ..., [edges[-1], inf)."""
    for value in values:
        low = 0
        high = edges.size
        while low < high:
            middle = (low + high) >> 1
            if value < edges[middle]:
                high = middle
            else:
                low = middle + 1
        counts[low] += 1
