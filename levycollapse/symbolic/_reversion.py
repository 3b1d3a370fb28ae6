"""Series reversion in several small quantities, in closed form by Lagrange's theorem.

Each of the package's expansions solves G(y) = 1 + sum_j t_j y**p_j for y near 1, where the t_j are small. The
coefficient of prod_j t_j**k_j, n = sum_j k_j >= 1 and q = sum_j k_j p_j, is

    (n-1)!/prod_j k_j!  [w**(n-1)]  H'(w) H(w)**q,      H the inverse of w = G - 1,

so that a term of any order is written down without the ones before it. An order keeps the terms whose weight, the sum
of k_j times the weight of t_j, is below it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import comb, factorial, prod
from typing import NamedTuple

import sympy as sp


class SmallTerm(NamedTuple):
    """One term t y**power of the equation, with the weight of t, an integer >= 1."""

    t: sp.Expr
    power: sp.Expr
    weight: int


def power_reversion(exponent: sp.Expr, terms: Sequence[SmallTerm], order: int) -> sp.Expr:
    """Solve y**exponent = 1 + sum t y**power for y, with all terms of weight below `order`.

    With H = (1+w)**(1/exponent) the coefficient is a falling factorial.
    """
    total = [sp.S.One]
    for counts, n in _multi_indices([term.weight for term in terms], order):
        head = (1 + sum((k * term.power for k, term in zip(counts, terms, strict=True)), sp.S.Zero)) / exponent - 1
        falling = sp.Mul(*(head - i for i in range(n - 1)))
        total.append(falling / exponent / _factorials(counts) * _monomial(counts, terms))
    return sp.Add(*total)


def logarithmic_reversion(rho: sp.Expr, terms: Sequence[SmallTerm], order: int) -> sp.Expr:
    """Solve y (1 - log(y)/L) = 1 + sum t' y**power for y, where t' = t (1 - 1/L) and rho = 1/(L-1).

    G(1+v) - 1 = (1 - 1/L) v (1 - rho A(v)), A = v/2 - v**2/6 + v**3/12 - ..., and by Lagrange's theorem for H itself
    the coefficient is (n-1)! [v**(n-1)] (1+v)**q (1 - rho A)**(-n), a polynomial in rho. Powers must be integers.
    """
    total = [sp.S.One]
    powers_of_a = _powers_of_a(order)
    for counts, n in _multi_indices([term.weight for term in terms], order):
        q = int(sum(k * term.power for k, term in zip(counts, terms, strict=True)))
        polynomial = sp.S.Zero
        for j in range(n):
            inner = sum(
                (comb(q, n - 1 - m) * powers_of_a[j][m] for m in range(j, n) if m < len(powers_of_a[j])), Fraction(0)
            )
            polynomial += sp.Rational(comb(n + j - 1, j) * inner) * rho**j
        total.append(factorial(n - 1) * polynomial / _factorials(counts) * _monomial(counts, terms))
    return sp.Add(*total)


def _powers_of_a(size: int) -> list[list[Fraction]]:
    """Coefficients of A(v)**j up to v**(size-1), for j < size."""
    a = [Fraction(0)] + [Fraction((-1) ** (m + 1), m * (m + 1)) for m in range(1, size)]
    powers = [[Fraction(1)] + [Fraction(0)] * (size - 1)]
    while len(powers) < size:
        last = powers[-1]
        powers.append([sum((last[i] * a[m - i] for i in range(m + 1)), Fraction(0)) for m in range(size)])
    return powers


def _multi_indices(weights: Sequence[int], order: int) -> Iterator[tuple[tuple[int, ...], int]]:
    """Every tuple of counts with 0 < sum counts weights < order, and the sum of its counts."""

    def below(budget: int, remaining: Sequence[int]) -> Iterator[tuple[int, ...]]:
        if not remaining:
            yield ()
            return
        for count in range(budget // remaining[0] + 1):
            for rest in below(budget - count * remaining[0], remaining[1:]):
                yield (count, *rest)

    for counts in below(order - 1, weights):
        if any(counts):
            yield counts, sum(counts)


def _factorials(counts: Sequence[int]) -> int:
    return prod(map(factorial, counts))


def _monomial(counts: Sequence[int], terms: Sequence[SmallTerm]) -> sp.Expr:
    return sp.Mul(*(term.t**k for k, term in zip(counts, terms, strict=True)))
