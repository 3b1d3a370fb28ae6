"""Machine words: doubles as integers and back, and the fused multiply-add.

`fma` rounds once on every target (LLVM calls the C library's where the processor has none), so a kernel
written with it gives the same bits everywhere. LLVM is never left to contract a*b + c on its own.
"""

from __future__ import annotations

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic

from ._jit import Compiled


def _float_bits(typing_context, value):
    """uint64(float64): the 64 bits of a double."""

    def codegen(context, builder, signature, arguments):
        return builder.bitcast(arguments[0], ir.IntType(64))

    return types.uint64(types.float64), codegen


def _bits_float(typing_context, bits):
    """float64(uint64): the double with these 64 bits."""

    def codegen(context, builder, signature, arguments):
        return builder.bitcast(arguments[0], ir.DoubleType())

    return types.float64(types.uint64), codegen


def _fma(typing_context, a, b, c):
    """float64(float64, float64, float64): a*b + c, rounded once."""

    def codegen(context, builder, signature, arguments):
        return builder.fma(*arguments)

    return types.float64(types.float64, types.float64, types.float64), codegen


float_bits: Compiled = intrinsic(_float_bits)
bits_float: Compiled = intrinsic(_bits_float)
fma: Compiled = intrinsic(_fma)
