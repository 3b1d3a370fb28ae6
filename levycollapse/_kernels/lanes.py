r"""The two inner loops whose instructions have to be in a certain order, written in LLVM's own language.

A processor looks ahead a hundred or two instructions. One path's ten rounds of Philox, or its polynomials, are a chain
that waits for itself, and the loop vectoriser puts one whole chain after another, so that the next is out of sight.
Here LANES paths go side by side, each operation on all of them before the next. Measured on first-generation EPYC, ns
a path and step: Philox 3.0 to 2.4; a cubic of a table 1.9 to 1.1, its rows read as pairs of coefficients where the
vectoriser gathers single ones.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from ._jit import Compiled

#: Paths side by side; the length of every array here is a multiple of it.
LANES = 8

WORD, HALF_WORD = ir.IntType(64), ir.IntType(32)
WORDS = ir.VectorType(WORD, LANES)
PAIR, WORD_PAIR = ir.VectorType(ir.DoubleType(), 2), ir.VectorType(WORD, 2)
SIGN = 1 << 63
MULTIPLIER_0, MULTIPLIER_1 = 0xD2511F53, 0xCD9E8D57
#: Rounds in one turn of the loop. Written out altogether, LLVM would put the lanes one after the other again.
UNROLLED = 7


class _Arrays:
    """Array arguments of an intrinsic, by name, read and written without a bounds check."""

    def __init__(self, context: Any, builder: Any, signature: Any, arguments: Any, names: tuple[str, ...]) -> None:
        self.builder = builder
        self.arrays = {
            name: context.make_array(signature.args[k])(context, builder, arguments[k]) for k, name in enumerate(names)
        }

    def at(self, name: str, index: Any, shift: int = 0) -> Any:
        place = self.builder.gep(self.arrays[name].data, [index], inbounds=True)
        return self.builder.gep(place, [ir.Constant(WORD, shift)], inbounds=True) if shift else place

    def load(self, place: Any, kind: Any) -> Any:
        value = self.builder.load(self.builder.bitcast(place, kind.as_pointer()), typ=kind)
        value.align = 8
        return value

    def store(self, value: Any, place: Any) -> None:
        stored = self.builder.store(value, self.builder.bitcast(place, value.type.as_pointer()))
        stored.align = 8


def _constant(vector: Any, value: Any) -> Any:
    return ir.Constant(vector, [value] * vector.count)


def _shuffled(builder: Any, first: Any, second: Any, *which: int) -> Any:
    return builder.shuffle_vector(first, second, ir.Constant(ir.VectorType(HALF_WORD, len(which)), list(which)))


def _philox_lanes(typing_context, even, odd, products, words, keys, i, c0, c2, c3):
    """void: the last eight of ten rounds of Philox4x32 for LANES paths from position i, to `even` and `odd`.

    `products` and `words` are what the first two rounds leave of the path, c0, c2 and c3 what they leave of the step
    (`streams`); `keys` the sixteen key words of the rounds. Of every word only the low half counts.
    """
    names = ("even", "odd", "products", "words", "keys")

    def codegen(context, builder, signature, arguments):
        arrays = _Arrays(context, builder, signature, arguments, names)
        i, c0, c2, c3 = arguments[len(names) :]
        low, half = _constant(WORDS, 0xFFFFFFFF), _constant(WORDS, 32)

        def repeated(word):
            one = builder.insert_element(ir.Constant(WORDS, ir.Undefined), word, ir.Constant(HALF_WORD, 0))
            return _shuffled(builder, one, one, *[0] * LANES)

        def key(index, shift):
            return repeated(builder.load(arrays.at("keys", index, shift), typ=WORD))

        def product(word, multiplier):
            return builder.mul(builder.and_(word, low), _constant(WORDS, multiplier))

        def one_round(state, index, shift):
            first, second = product(state[0], MULTIPLIER_0), product(state[2], MULTIPLIER_1)
            return (
                builder.xor(builder.lshr(second, half), builder.xor(state[1], key(index, shift))),
                second,
                builder.xor(builder.lshr(first, half), builder.xor(state[3], key(index, shift + 1))),
                first,
            )

        from_path = arrays.load(arrays.at("products", i), WORDS)
        state = (
            builder.xor(builder.lshr(from_path, half), repeated(c0)),
            from_path,
            builder.xor(arrays.load(arrays.at("words", i), WORDS), repeated(c2)),
            repeated(c3),
        )
        # All but the last round in a loop whose length LLVM does not know.
        last = builder.sub(builder.extract_value(arrays.arrays["keys"].shape, 0), ir.Constant(WORD, 2))
        before = builder.block
        loop, after = builder.append_basic_block("rounds"), builder.append_basic_block("last_round")
        builder.branch(loop)
        builder.position_at_end(loop)
        index = builder.phi(WORD)
        index.add_incoming(ir.Constant(WORD, 0), before)
        carried = []
        for value in state:
            phi = builder.phi(WORDS)
            phi.add_incoming(value, before)
            carried.append(phi)
        state = tuple(carried)
        for turn in range(UNROLLED):
            state = one_round(state, index, 2 * turn)
        following = builder.add(index, ir.Constant(WORD, 2 * UNROLLED))
        index.add_incoming(following, loop)
        for phi, value in zip(carried, state, strict=True):
            phi.add_incoming(value, loop)
        builder.cbranch(builder.icmp_signed("<", following, last), loop, after)

        builder.position_at_end(after)
        first, second = product(state[0], MULTIPLIER_0), product(state[2], MULTIPLIER_1)
        upper = builder.shl(builder.xor(state[1], key(last, 0)), half)
        arrays.store(builder.xor(second, upper), arrays.at("even", i))
        upper = builder.shl(builder.xor(state[3], key(last, 1)), half)
        arrays.store(builder.xor(first, upper), arrays.at("odd", i))
        return context.get_dummy_value()

    word = types.uint64
    return types.void(even, odd, products, words, keys, word, word, word, word), codegen


def _polynomials(arrays: _Arrays, i: Any, pairs: int, begins: Callable[[Any], Any]) -> list[Any]:
    """Polynomials of degree 2*pairs - 1 for LANES paths from position i, two paths a vector.

    `coefficients` is flat, lowest power first, a path's begin at begins(its word of `rows`), and `places` says where
    to evaluate.
    """
    builder = arrays.builder
    fma = cgutils.get_or_insert_function(builder.module, ir.FunctionType(PAIR, [PAIR] * 3), "llvm.fma.v2f64")
    places = [arrays.load(arrays.at("places", i, k), PAIR) for k in range(0, LANES, 2)]
    squares = [builder.fmul(place, place) for place in places]
    square = [_shuffled(builder, two, two, side, side) for two in squares for side in (0, 1)]
    row = [begins(builder.load(arrays.at("rows", i, k), typ=WORD)) for k in range(LANES)]

    def coefficients(k, pair):
        return arrays.load(arrays.at("coefficients", row[k], 2 * pair), PAIR)

    # Even and odd powers side by side: Horner in the square.
    halves = [coefficients(k, pairs - 1) for k in range(LANES)]
    for pair in range(pairs - 2, -1, -1):
        halves = [builder.call(fma, [halves[k], square[k], coefficients(k, pair)]) for k in range(LANES)]
    values = []
    for k, place in zip(range(0, LANES, 2), places, strict=True):
        even = _shuffled(builder, halves[k], halves[k + 1], 0, 2)
        odd = _shuffled(builder, halves[k], halves[k + 1], 1, 3)
        values.append(builder.call(fma, [odd, place, even]))
    return values


def _cubics(arrays: _Arrays, i: Any) -> list[Any]:
    """Polynomials of degree three; a word of `rows` is where the row begins."""
    return _polynomials(arrays, i, 2, lambda word: word)


def _with_signs(arrays: _Arrays, i: Any, values: list[Any]) -> list[Any]:
    """Give the values the signs in the highest bits of `bits`."""
    builder = arrays.builder
    signed = []
    for k, value in zip(range(0, LANES, 2), values, strict=True):
        sign = builder.and_(arrays.load(arrays.at("bits", i, k), WORD_PAIR), _constant(WORD_PAIR, SIGN))
        signed.append(builder.bitcast(builder.xor(builder.bitcast(value, WORD_PAIR), sign), PAIR))
    return signed


def _add(arrays: _Arrays, i: Any, values: list[Any]) -> None:
    """Add the values to `z`."""
    for k, value in zip(range(0, LANES, 2), values, strict=True):
        place = arrays.at("z", i, k)
        arrays.store(arrays.builder.fadd(arrays.load(place, PAIR), value), place)


def _add_septics(typing_context, z, coefficients, rows, places, i):
    """void: z += a polynomial of degree seven, for LANES paths from position i.

    The low half of a word of `rows` is the number of the cell: the scalar units, idle here, make it a place.
    """
    names = ("z", "coefficients", "rows", "places")

    def codegen(context, builder, signature, arguments):
        arrays = _Arrays(context, builder, signature, arguments, names)

        def begins(word):
            return builder.shl(builder.and_(word, ir.Constant(WORD, 0xFFFFFFFF)), ir.Constant(WORD, 3))

        _add(arrays, arguments[-1], _polynomials(arrays, arguments[-1], 4, begins))
        return context.get_dummy_value()

    return types.void(z, coefficients, rows, places, types.uint64), codegen


def _add_signed_cubics(typing_context, z, bits, coefficients, rows, places, i):
    """void: z += a cubic with the sign in the highest bit of `bits`, for LANES paths from position i."""
    names = ("z", "bits", "coefficients", "rows", "places")

    def codegen(context, builder, signature, arguments):
        arrays = _Arrays(context, builder, signature, arguments, names)
        _add(arrays, arguments[-1], _with_signs(arrays, arguments[-1], _cubics(arrays, arguments[-1])))
        return context.get_dummy_value()

    return types.void(z, bits, coefficients, rows, places, types.uint64), codegen


def _set_signed_cubics(typing_context, z, bits, coefficients, rows, places, i):
    """void: `add_signed_cubics` to zeros."""
    names = ("z", "bits", "coefficients", "rows", "places")

    def codegen(context, builder, signature, arguments):
        arrays = _Arrays(context, builder, signature, arguments, names)
        values = _with_signs(arrays, arguments[-1], _cubics(arrays, arguments[-1]))
        for k, value in zip(range(0, LANES, 2), values, strict=True):
            arrays.store(value, arrays.at("z", arguments[-1], k))
        return context.get_dummy_value()

    return types.void(z, bits, coefficients, rows, places, types.uint64), codegen


philox_lanes: Compiled = intrinsic(_philox_lanes)
add_septics: Compiled = intrinsic(_add_septics)
add_signed_cubics: Compiled = intrinsic(_add_signed_cubics)
set_signed_cubics: Compiled = intrinsic(_set_signed_cubics)
