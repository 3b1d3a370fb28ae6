r"""Elementary functions that vectorise: arithmetic and integer shifts only, no calls into a math library.

So a path has the same bits on every machine with IEEE arithmetic, whatever its `libm` and vector width: every
multiply-add that is fused is written as such, and LLVM may fuse no other (`fastmath` is off).
"""

from __future__ import annotations

import numpy as np

from ._jit import inlined
from .bits import bits_float, float_bits, fma

SIGN = np.uint64(0x8000000000000000)
MAGNITUDE = np.uint64(0x7FFFFFFFFFFFFFFF)
ONE = np.uint64(0x3FF0000000000000)
MANTISSA_BITS = np.uint64(52)

# Adding 1.5 * 2**52 rounds to an integer and leaves it in the low bits of the sum.
ROUND = 6755399441055744.0
LOG2_E = 1.4426950408889634
LOG_2_HIGH = float.fromhex("0x1.62e42fefa39efp-1")
LOG_2_LOW = float.fromhex("0x1.abc9e3b39803fp-56")

# (exp(r) - 1 - r)/r**2 on |r| <= log(2)/2, a Chebyshev fit in 40 digits whose largest error is 1.4e-18.
E0 = 0.5
E1 = float.fromhex("0x1.5555555555557p-3")
E2 = float.fromhex("0x1.5555555555556p-5")
E3 = float.fromhex("0x1.11111111100dcp-7")
E4 = float.fromhex("0x1.6c16c16c162d4p-10")
E5 = float.fromhex("0x1.a01a01abe7fe1p-13")
E6 = float.fromhex("0x1.a01a01a6d889cp-16")
E7 = float.fromhex("0x1.71de0231960ebp-19")
E8 = float.fromhex("0x1.27e4db646b17ep-22")
E9 = float.fromhex("0x1.af4de97ca4194p-26")
E10 = float.fromhex("0x1.1f730349868cep-29")

# (artanh(z)/z - 1)/z**2 as a polynomial in z**2 for |z| <= tanh(0.2); relative error of artanh 4.5e-17.
A0 = float.fromhex("0x1.5555555555569p-2")
A1 = float.fromhex("0x1.9999999980f8dp-3")
A2 = float.fromhex("0x1.2492494bf8af8p-3")
A3 = float.fromhex("0x1.c71c4296dc1cbp-4")
A4 = float.fromhex("0x1.746a82971e83bp-4")
A5 = float.fromhex("0x1.3920cbf28aa70p-4")
A6 = float.fromhex("0x1.348ac369ec606p-4")

#: The longest time kappa t/width that `saturating_flow` takes in one piece: the reach of the fit of artanh.
FLOW_REACH = 0.4

#: tanh(20) rounds to 1.
SATURATED = 20.0


@inlined
def expm1_twice(y):
    """exp(2y) - 1 for 0 <= y <= 20; nan stays nan. Under 2 ulp."""
    x = y + y
    t = fma(x, LOG2_E, ROUND)
    k = t - ROUND
    r = fma(k, -LOG_2_LOW, fma(k, -LOG_2_HIGH, x))
    scale = bits_float((float_bits(t) << MANTISSA_BITS) + ONE)
    r2 = r * r
    low = fma(fma(E3, r, E2), r2, fma(E1, r, E0))
    r4 = r2 * r2
    high = fma(fma(E10, r2, fma(E9, r, E8)), r4, fma(fma(E7, r, E6), r2, fma(E5, r, E4)))
    return fma(scale, fma(r2, fma(high, r4, low), r), scale - 1.0)


@inlined
def tanh(x):
    """Hyperbolic tangent; nan stays nan."""
    bits = float_bits(x)
    y = bits_float(bits & MAGNITUDE)
    y = y if not (y > SATURATED) else SATURATED
    e = expm1_twice(y)
    return bits_float(float_bits(e / (e + 2.0)) | (bits & SIGN))


@inlined
def saturating_flow(y, decay, loss, loss_of_square):
    """arsinh(decay sinh(y)), the flow of y' = -tanh(y), for loss = 1 - decay, loss_of_square = 1 - decay**2.

    As y - 2 artanh(z), z = tanh((y - y_new)/2) = loss e/(g + sqrt(g**2 - loss_of_square e**2)) with e = exp(2y) - 1
    and g = exp(2y) + 1: no overflow and no cancellation. Needs -log(decay) <= FLOW_REACH.
    """
    bits = float_bits(y)
    a = bits_float(bits & MAGNITUDE)
    a = a if not (a > SATURATED) else SATURATED
    e = expm1_twice(a)
    g = e + 2.0
    z = loss * e / (g + np.sqrt(fma(g, g, -loss_of_square * e * e)))
    w = z * z
    p = fma(fma(fma(fma(fma(fma(A6, w, A5), w, A4), w, A3), w, A2), w, A1), w, A0)
    step = fma(z * w, p, z)
    return y - bits_float(float_bits(step + step) | (bits & SIGN))
