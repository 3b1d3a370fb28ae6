"""Quantile tables: the kernel that reads them, and what building them promises."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import special, stats

from levycollapse._kernels import tables as kernels
from levycollapse._laws.increment import IncrementLaw
from levycollapse._laws.increment import table as building
from levycollapse.errors import ConvergenceError

WORD_MAX = 2**64 - 1


class NormalQuantiles:
    """The normal law in closed form, as the builder wants a law."""

    per_unit = 1.0

    def invert(self, survival, centre):
        return np.where(centre < 0.1, math.sqrt(2) * special.erfinv(centre), -special.ndtri(survival))

    def log_survival(self, x):
        return special.log_ndtr(-x)

    def error(self, x):
        return np.zeros(x.shape)


@pytest.fixture(scope="module")
def normal():
    return building.build_table(NormalQuantiles(), 1e-9)


def words(n, seed):
    return np.random.default_rng(seed).integers(0, WORD_MAX, n, dtype=np.uint64, endpoint=True)


def uniforms(word):
    """u and the side of each word: the lowest 52 bits are k in u = (2k + 1) 2**-53; bit 58 is set at the centre."""
    u = np.ldexp(2.0 * (word & np.uint64(2**52 - 1)).astype(float) + 1.0, -53)
    return u, (word >> np.uint64(58)) & np.uint64(1) == 1


def twice_survival(word):
    """2 P(X > |x|), exact."""
    u, centre = uniforms(word)
    return np.where(centre, 1.0 - u / 2, u / 2)


def read(bits, table):
    """Python twin of the kernel, in exact arithmetic up to the cubic."""
    u = Fraction(2 * (int(bits) % 2**52) + 1, 2**53)
    exponent = -1
    while u < Fraction(2) ** exponent:
        exponent -= 1
    cell = int((u / Fraction(2) ** exponent - 1) * 2**table.cells_log2)
    side = int(bits) >> 58 & 1
    row = (side * 64 + exponent + 63) * 2**table.cells_log2 + cell
    y = float(u * 2**64)
    c = table.coefficients.reshape(-1, 4)[row]
    x = c[0] + y * (c[1] + y * (c[2] + y * c[3]))
    return row, y, -x if int(bits) >> 63 else x


def locate(word, cells_log2):
    row, y = kernels.locate(word, np.uint64(50 - cells_log2), kernels.row_mask(cells_log2))
    assert row % 4 == 0
    return int(row) // 4, y


#: Both ends of the uniform, on both sides and with both signs, and a few inside.
LOWER = [0, 1, 2**52 - 1, 2**52 - 2, 2**51, 2**51 - 1, 2**50, 2**50 - 1, 12345, 2**52 - 7]
WORDS = [low | high << 52 for low in LOWER for high in (0, 1 << 6, 1 << 11, 0xFFF, 0xFBF)]


@pytest.mark.parametrize("bits", WORDS + [int(w) for w in words(40, 5)], ids=hex)
def test_kernel_against_twin(bits, normal):
    word = np.uint64(bits)
    row, y = locate(word, normal.cells_log2)
    expected_row, expected_y, expected = read(word, normal)
    assert (row, y) == (expected_row, expected_y)
    assert 0 <= 4 * row < len(normal.coefficients)
    assert kernels.quantile(word, normal.coefficients, normal.cells_log2) == pytest.approx(expected, rel=1e-14)


def test_every_row_can_be_reached(normal):
    """Each cell of each binade, through a word made for it; the deepest binades hold one value, one, two, four ..."""
    m = normal.cells_log2
    seen = set()
    for exponent in range(-53, 0):
        for cell in range(1 << m):
            k = int(math.ldexp(1 + (cell + 0.5) / (1 << m), exponent + 52))
            for word in (k, k | 1 << 58):
                seen.add(locate(np.uint64(word), m)[0])
    table = normal.coefficients.reshape(-1, 4)
    filled = set(np.flatnonzero(table.any(axis=1)))
    assert seen <= filled
    # Below 2**(m-52) there are fewer uniforms than cells.
    assert all((row >> m) % 64 < 10 + m + 1 for row in filled - seen)


def test_highest_bit_is_the_sign(normal):
    word = words(1000, 6)
    x = np.empty(1000)
    mirrored = np.empty(1000)
    kernels.fill(word, normal.coefficients, normal.cells_log2, x)
    kernels.fill(word ^ np.uint64(1 << 63), normal.coefficients, normal.cells_log2, mirrored)
    np.testing.assert_array_equal(mirrored, -x)
    np.testing.assert_array_equal(np.signbit(x), word >> np.uint64(63) == 1)
    one = [kernels.quantile(w, normal.coefficients, normal.cells_log2) for w in word]
    np.testing.assert_array_equal(x, one)


def test_error_is_what_was_measured(normal):
    """Against the closed form, at random words: never above the stored error, and not far below it."""
    word = words(400_000, 7)
    x = np.empty(word.size)
    kernels.fill(word, normal.coefficients, normal.cells_log2, x)
    v = twice_survival(word)
    error = np.abs(2 * special.ndtr(-np.abs(x)) / v - 1).max()
    assert 0.2 * normal.error < error <= normal.error <= 1e-9
    ks = stats.kstest(x, "norm")
    assert ks.pvalue > 1e-3


@pytest.mark.parametrize(
    ("parameters", "cells_log2"),
    [
        ((1.5, 3.0, 0.62, 0.1, 0.01), 6),
        ((1.5, 3.0, 0.62, 0.0, 0.01), 6),
        ((0.3, 3.0, 0.62, 0.0, 1e-4), 7),
        ((1.9, 20.0, 0.03, 0.0, 10.0), 6),
        ((0.8, 0.0, 1.0, 0.3, 1.0), 6),
    ],
    ids=str,
)
def test_table_against_the_law(parameters, cells_log2):
    law = IncrementLaw(*parameters)
    table = law.table()
    assert table.error <= 1e-9 and table.cells_log2 == cells_log2
    word = words(100_000, 8)
    # Far out on both sides: the uniform's upper bits empty.
    few = np.uint64(2**52 - 1) >> np.repeat(np.arange(0, 50, dtype=np.uint64), 800)
    word[:40_000] &= few | ~np.uint64(2**52 - 1)
    x = np.empty(word.size)
    kernels.fill(word, table.coefficients, table.cells_log2, x)
    v = twice_survival(word)
    assert np.abs(2 * law.sf(np.abs(x)) / v - 1).max() <= table.error
    order = np.argsort(v, kind="stable")
    # Monotone up to the cubics' error at the seams.
    assert np.diff(np.abs(x)[order]).max() <= 1e-8 * np.abs(x).max()


def test_table_is_cached_and_immutable():
    law = IncrementLaw(1.5, 3.0, 0.62, 0.1, 0.01)
    assert law.table() is IncrementLaw(1.5, 3.0, 0.62, 0.1, 0.01).table()
    assert law.table() is not IncrementLaw(1.5, 3.0, 0.62, 0.1, 0.02).table()
    with pytest.raises(ValueError, match="read-only"):
        law.table().coefficients[0, 0] = 1.0
    with pytest.raises(AttributeError):
        law.table().error = 0.0


def test_a_table_that_is_not_good_enough_is_refused():
    with pytest.raises(ConvergenceError, match="is asked"):
        IncrementLaw(1.5, 3.0, 0.62, 0.1, 0.01).table(1e-13)
    coarse = IncrementLaw(1.5, 3.0, 0.62, 0.1, 0.01).table(1e-6)
    assert coarse.error <= 1e-6


def test_cutting_cells_changes_nothing():
    cubic = np.random.default_rng(9).normal(size=(5, 4))
    cut = building.refined(cubic, 2)
    t = np.array([0.0, 0.3, 0.9])
    for row in range(5):
        for part in range(4):
            whole = np.polynomial.polynomial.polyval((part + t) / 4, cubic[row])
            np.testing.assert_allclose(np.polynomial.polynomial.polyval(t, cut[4 * row + part]), whole, rtol=1e-13)
    assert building.refined(cubic, 0) is cubic


def test_streams():
    """Same seed, same bits; few draws and many; no value twice."""
    table = IncrementLaw(1.5, 3.0, 0.62, 0.1, 0.01).table()
    for size in (10, building.FEW, 1_000_003):
        x = table.rvs(size, np.random.default_rng(3))
        np.testing.assert_array_equal(x, table.rvs(size, np.random.default_rng(3)))
        assert x.size == size and not np.array_equal(x, table.rvs(size, np.random.default_rng(4)))
    # 52 bits and a sign: among 1e6 draws 1e12/2/2^53 = 5e-5 coincidences are expected.
    assert np.unique(x).size == x.size


def test_stream_is_xoshiro256plusplus():
    """First words of the reference implementation (Blackman & Vigna), seeded with 1, 2, 3, 4."""
    expected = [41943041, 58720359, 3588806011781223, 3591011842654386, 9228616714210784205]
    # A table that hands back 2**64 u: one cell a binade, x = y.
    table = np.zeros((128, 4))
    table[:, 1] = 1.0
    table = table.ravel()
    state = np.ones((4, kernels.LANES), dtype=np.uint64) * np.array([[1], [2], [3], [4]], dtype=np.uint64)
    state[:, 1:] += np.arange(7, dtype=np.uint64)
    x = np.empty(4 * kernels.LANES + 1)
    kernels.fill_stream(state, table, 0, x)
    x = x[:: kernels.LANES]
    y = np.empty(5)
    kernels.fill(np.array(expected, dtype=np.uint64), table, 0, y)
    np.testing.assert_array_equal(x, y)
    assert len(set(np.abs(y))) > 1
