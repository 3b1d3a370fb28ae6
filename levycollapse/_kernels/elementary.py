r"""The exponential in a form that vectorises: arithmetic and shifts, no call into a math library.

So a law has the same bits on every machine with IEEE arithmetic, whatever its `libm` and vector width: every
multiply-add that is fused is written as such, and LLVM may fuse no other (`fastmath` is off).
"""

from __future__ import annotations

import numpy as np

from ._jit import inlined
from .bits import bits_float, float_bits, fma

ONE = np.uint64(0x3FF0000000000000)
MANTISSA_BITS = np.uint64(52)

#: Adding 1.5 * 2**52 rounds to an integer and leaves it in the low bits of the sum.
ROUND = 6755399441055744.0
OVER_LOG_2 = 1.4426950408889634
#: log(2) in two parts, the first with trailing zeros so that its multiples by the exponent are exact.
LOG_2_HIGH = float.fromhex("0x1.62e42fee00000p-1")
LOG_2_LOW = float.fromhex("0x1.a39ef35793c76p-33")


@inlined
def exp_and_expm1(t):
    """exp(t) and expm1(t) together, to 2 ulp for -700 < t < 700, without a branch: half the time of libm's expm1.

    With t = k log(2) + r it is 2**k (1 + m) and 2**k m + (2**k - 1), m = expm1(r) by its Taylor series: the first
    term left out is 4e-18 of m for abs(r) <= log(2)/2.
    """
    shifted = fma(t, OVER_LOG_2, ROUND)
    k = shifted - ROUND
    r = fma(k, -LOG_2_LOW, fma(k, -LOG_2_HIGH, t))
    power = bits_float((float_bits(shifted) << MANTISSA_BITS) + ONE)
    w = r * r
    # (expm1(r) - r - r^2/2)/r^3, by pairs.
    p01 = fma(r, 1 / 24, 1 / 6)
    p23 = fma(r, 1 / 720, 1 / 120)
    p45 = fma(r, 1 / 40320, 1 / 5040)
    p67 = fma(r, 1 / 3628800, 1 / 362880)
    p89 = fma(r, 1 / 479001600, 1 / 39916800)
    v = w * w
    p = fma(v, fma(w, p67, p45), fma(w, p23, p01))
    p = fma(v * v, fma(w, 1 / 6227020800, p89), p)
    m = r + w * fma(r, p, 0.5)
    return fma(power, m, power), fma(power, m, power - 1.0)
