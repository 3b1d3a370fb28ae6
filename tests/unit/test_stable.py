"""The symmetric stable law against closed forms, its series, and its neighbours."""

from __future__ import annotations

import math

import mpmath as mp
import numpy as np
import pytest
from scipy import special, stats

from levycollapse._laws.stable import SymmetricStable
from levycollapse.errors import ConvergenceError, ParameterError

X = np.concatenate([[0.0], np.geomspace(1e-4, 1e4, 161)])


def density_by_series(x, alpha, digits=60):
    """Convergent series in x (alpha > 1) or 1/x (alpha < 1), with digits enough for its cancellation."""
    with mp.workdps(digits):
        x, alpha = mp.mpf(x), mp.mpf(alpha)
        total = mp.mpf(0)
        for n in range(0 if alpha > 1 else 1, 4000):
            if alpha > 1:
                term = (-1) ** n * mp.gamma((2 * n + 1) / alpha) / mp.factorial(2 * n) * x ** (2 * n) / alpha
            else:
                term = (-1) ** (n + 1) * mp.gamma(n * alpha + 1) / mp.factorial(n)
                term *= mp.sin(n * mp.pi * alpha / 2) * x ** (-n * alpha - 1)
            total += term
            if n > 5 and abs(term) < mp.mpf(10) ** -40 * abs(total):
                break
        return float(total / mp.pi)


def test_cauchy():
    law = SymmetricStable(1.0, scale=2.0)
    np.testing.assert_allclose(law.pdf(X), 2 / (math.pi * (4 + X * X)), rtol=3e-13)
    np.testing.assert_allclose(law.sf(X), np.arctan2(2, X) / math.pi, rtol=3e-13)
    q = np.array([1e-200, 1e-12, 0.3, 0.5])
    np.testing.assert_allclose(law.isf(q), 2 / np.tan(math.pi * q), rtol=1e-12, atol=1e-15)


def test_normal():
    law = SymmetricStable(2.0, scale=0.5)
    np.testing.assert_allclose(law.pdf(X), stats.norm.pdf(X, scale=math.sqrt(0.5)), rtol=1e-12)
    assert law.var == 0.5 and SymmetricStable(1.9).var == math.inf


def test_levy_smirnov_difference_at_one_half():
    """f(0) = Gamma(1 + 1/alpha)/pi, also where the peak is 1e-13 of the scale wide."""
    for alpha in (0.1, 0.5, 0.9, 1.1, 1.7):
        assert SymmetricStable(alpha).pdf(0.0) == pytest.approx(math.gamma(1 + 1 / alpha) / math.pi, rel=2e-12)


@pytest.mark.parametrize("alpha", [0.2, 0.6, 0.999, 1.001, 1.3, 1.8, 1.999])
def test_series(alpha):
    law = SymmetricStable(alpha)
    # Near alpha = 1 the series converges like a geometric one, in x above and in 1/x below.
    for x in {True: (0.05, 0.4, 0.7), False: (1.5, 5.0, 50.0)}[alpha > 1]:
        assert law.pdf(x) == pytest.approx(density_by_series(x, alpha, 120), rel=1e-11), x


@pytest.mark.parametrize("alpha", [0.3, 1.0, 1.5, 1.99, 1.9999])
def test_far_tail(alpha):
    """P(X > x) ~ Gamma(alpha) sin(pi alpha/2)/pi x^-alpha (1 - Gamma(2a) sin(pi a)/(2 Gamma(a) sin(pi a/2)) x^-a)."""
    law = SymmetricStable(alpha)
    x = 10 ** (12 / alpha)
    first = special.gamma(alpha) * math.sin(math.pi * alpha / 2) / math.pi * x**-alpha
    assert law.sf(x) == pytest.approx(first, rel=2e-11)


@pytest.mark.parametrize("center", [1.0, 2.0])
def test_no_window_is_snapped(center):
    """Each alpha is itself: log f moves in proportion to alpha down to 1e-8 from the special index."""
    x = np.array([0.1, 1.0, 3.0, 8.0])
    at = SymmetricStable(center).logpdf(x)
    slopes = [(SymmetricStable(center - gap).logpdf(x) - at) / gap for gap in (1e-4, 1e-6)]
    keep = x < 5 if center == 2.0 else x > 0
    np.testing.assert_allclose(slopes[1][keep], slopes[0][keep], rtol=0.02)
    assert np.abs(slopes[0][keep]).min() > 0.005
    # SciPy's is Cauchy there.
    assert stats.levy_stable.pdf(1.0, 1.001, 0.0) == pytest.approx(1 / (2 * math.pi), rel=1e-12)
    assert SymmetricStable(1.001).pdf(1.0) > 1.0005 / (2 * math.pi)


def test_against_scipy_where_it_is_right():
    # Nolan's quadrature, good to about 1e-9 here.
    for alpha in (0.8, 1.5):
        law = SymmetricStable(alpha)
        for x in (0.5, 3.0):
            assert law.pdf(x) == pytest.approx(stats.levy_stable.pdf(x, alpha, 0.0), rel=1e-7)
            assert law.cdf(-x) == pytest.approx(stats.levy_stable.cdf(-x, alpha, 0.0), rel=1e-7)


@pytest.mark.parametrize("alpha", [0.4, 1.0, 1.001, 1.7, 2.0])
def test_draws(alpha):
    law = SymmetricStable(alpha, 3.0)
    x = law.rvs(100_000, rng=[7, int(1000 * alpha)])
    assert stats.kstest(law.cdf(x), "uniform").pvalue > 1e-3
    assert stats.kstest(SymmetricStable(alpha, 3.3).cdf(x), "uniform").pvalue < 1e-4
    assert law.rvs(rng=1) == law.rvs(rng=1) and law.rvs((2, 3), rng=1).shape == (2, 3)


def test_round_trip_and_transform():
    law = SymmetricStable(1.3)
    q = 10 ** -np.linspace(0.31, 25, 100)
    np.testing.assert_allclose(law.sf(law.isf(q)), q, rtol=1e-10)
    assert law.cf(2.0) == math.exp(-(2.0**1.3)) and law.cf(-2.0) == law.cf(2.0)


def test_checks():
    for bad in (0.0, 2.1, math.nan, [1.0, 1.5]):
        with pytest.raises(ParameterError, match="alpha"):
            SymmetricStable(bad)
    with pytest.raises(ParameterError, match="scale"):
        SymmetricStable(1.0, 0.0)
    with pytest.raises((ParameterError, ConvergenceError)):
        SymmetricStable(0.001).pdf(0.0)
    assert eval(repr(SymmetricStable(1.5, 2.0))) == SymmetricStable(1.5, 2.0)
