"""Samplers of the increment law against its own distribution function, and against each other."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from levycollapse._kernels import sampling
from levycollapse._laws.increment import IncrementLaw
from levycollapse._laws.increment.samplers import Rejection, SmallJumps
from levycollapse._laws.tempered_stable import TemperedStable
from levycollapse.errors import ConvergenceError, ParameterError

N = 1_000_000
#: Every p-value of this file must exceed it: 1% false alarms in all, if the seeds were free.
P_MIN = 1e-4

# alpha, lam, eta_J, eta_G, dt, and the methods that must agree there.
LAWS = [
    (0.3, 3.0, 0.62, 0.0, 1e-4, ("table", "rejection")),
    (0.5, 3.0, 0.62, 0.0, 1.0, ("table", "rejection")),
    (0.7, 3.0, 0.62, 0.1, 0.01, ("table", "rejection", "small-jumps")),
    (1.0, 3.0, 0.62, 0.1, 0.1, ("table", "small-jumps")),
    (1.5, 3.0, 0.62, 0.0, 0.01, ("table", "small-jumps")),
    (1.5, 3.0, 0.62, 0.1, 0.01, ("table", "small-jumps")),
    (1.95, 3.0, 0.62, 0.0, 0.1, ("table", "small-jumps")),
    (0.8, 0.0, 1.0, 0.1, 1.0, ("table", "rejection")),
    (1.6, 0.0, 1.0, 0.0, 1.0, ("table", "rejection")),
]


def law_of(case):
    return IncrementLaw(*case[:5])


def key(*parts):
    """A key of its own for each use; the same in every run."""
    return np.random.SeedSequence(2026, spawn_key=parts)


def anderson_darling(u):
    """A^2 of uniforms and its p-value (G. Marsaglia & J. Marsaglia, J. Stat. Softw. 9 (2004) 2)."""
    u = np.sort(u)
    n = u.size
    i = np.arange(1, n + 1)
    with np.errstate(divide="ignore"):
        z = -n - np.mean((2 * i - 1) * (np.log(u) + np.log1p(-u[::-1])))
    if z < 2:
        c = (0.00168691, 0.011672, 0.0347962, 0.0649821, 0.247105, 2.00012)
        poly = c[5] + (c[4] - (c[3] - (c[2] - (c[1] - c[0] * z) * z) * z) * z) * z
        return z, 1 - math.exp(-1.2337141 / z) / math.sqrt(z) * poly
    poly = 1.0776 - (2.30695 - (0.43424 - (0.082433 - (0.008056 - 0.0003146 * z) * z) * z) * z) * z
    return z, -math.expm1(-math.exp(poly))


CASES = [(i, j) for i, case in enumerate(LAWS) for j in range(len(case[5]))]


@pytest.fixture(scope="module")
def draws():
    made = {}

    def get(i, j):
        if (i, j) not in made:
            made[i, j] = law_of(LAWS[i]).rvs(N, rng=key(i, j), method=LAWS[i][5][j])
        return made[i, j]

    return get


@pytest.mark.parametrize(("i", "j"), CASES)
def test_against_the_law(i, j, draws):
    u = law_of(LAWS[i]).cdf(draws(i, j))
    assert stats.kstest(u, "uniform").pvalue > P_MIN
    assert anderson_darling(u)[1] > P_MIN
    assert stats.binomtest(int((draws(i, j) > 0).sum()), N).pvalue > P_MIN


@pytest.mark.parametrize("i", range(len(LAWS)))
def test_methods_against_each_other(i, draws):
    for j, k in itertools.combinations(range(len(LAWS[i][5])), 2):
        assert stats.ks_2samp(draws(i, j), draws(i, k), method="asymp").pvalue > P_MIN


def test_these_tests_can_fail(draws):
    """They reject a law that is 1% off in alpha, and a table wrong by 1% in the tail alone."""
    x = draws(4, 0)
    near = IncrementLaw(1.515, 3.0, 0.62, 0.0, 0.01)
    assert stats.kstest(near.cdf(x), "uniform").pvalue < P_MIN
    u = law_of(LAWS[4]).cdf(x)
    assert anderson_darling(np.where(u < 0.01, 0.6 * u, u))[1] < P_MIN
    # The published p-values of the statistic: 2.492 at 5%, 3.857 at 1%.
    n = 2000
    grid = (np.arange(n) + 0.5) / n
    assert anderson_darling(grid)[1] > 0.999


def tail_and_variance_p(law, x):
    """Smallest p-value of the counts beyond three quantiles, and the z-score of the second moment."""
    p = 1.0
    for q in (1e-2, 1e-4, 1e-5):
        p = min(p, stats.binomtest(int((np.abs(x) > law.isf(q / 2)).sum()), x.size, q).pvalue)
    z = (np.mean(x**2) - law.var) / math.sqrt((law.cumulant(4) + 2 * law.var**2) / x.size)
    return p, z


@pytest.mark.parametrize("alpha", [0.4, 0.9, 1.2, 1.6, 1.95])
@pytest.mark.parametrize("rate", [0.01, 1.0, 20.0])
def test_second_cumulant_and_tail_counts(alpha, rate):
    """rate is dt eta_J lam^alpha: rarely a jump of the size 1/lam in a step, one, or twenty."""
    law = IncrementLaw(alpha, 2.0, rate / 2.0**alpha, 0.0, 1.0)
    p, z = tail_and_variance_p(law, law.rvs(N, rng=key(100, int(100 * alpha), int(100 * rate))))
    assert p > P_MIN
    # At rate 0.01 the mean square is skewed (excess kurtosis 40 to 1000): 5 sigma there.
    assert abs(z) < (5.0 if rate < 1 else 4.0)


def test_tail_counts_can_fail():
    """A step law whose variance is 2% off, and one that loses the jumps beyond its 1e-4 quantile."""
    law = IncrementLaw(1.5, 2.0, 0.3, 0.0, 1.0)
    x = law.rvs(N, rng=key(200))
    assert abs(tail_and_variance_p(law, 1.01 * x)[1]) > 4
    cut = np.where(np.abs(x) > law.isf(2e-5), 0.0, x)
    assert tail_and_variance_p(law, cut)[0] < P_MIN


@pytest.mark.parametrize("case", [LAWS[2], LAWS[5]], ids=str)
def test_sum_over_steps_does_not_depend_on_their_number(case):
    """The sum of n steps of dt/n has the law of one step: anchors H2."""
    alpha, lam, eta_J, eta_G, _dt, methods = case
    whole = IncrementLaw(alpha, lam, eta_J, eta_G, 1.0)
    size = 100_000
    for method, n in itertools.product(methods, (1, 4, 32)):
        step = IncrementLaw(alpha, lam, eta_J, eta_G, 1.0 / n)
        assert n * step.var == pytest.approx(whole.var, rel=1e-14)
        x = step.rvs((n, size), rng=key(300, n, methods.index(method)), method=method).sum(axis=0)
        assert stats.kstest(whole.cdf(x), "uniform").pvalue > P_MIN
        assert tail_and_variance_p(whole, x)[0] > P_MIN


@pytest.mark.parametrize("rate", [0.01, 1.0, 20.0])
def test_jumps_of_one_step_are_added(rate):
    """Anchors H1: with n jumps the variance is n times that of one, not n squared."""
    out = np.empty(400_000)
    sampling.fill_small_jumps(np.random.default_rng(key(400, int(100 * rate))), 1.5, 2.0, 0.1, rate, 0.0, out)
    # Jumps: Pareto from 0.1 kept with exp(-2 z); cumulants rate E[z^n kept].
    z = 0.1 * np.geomspace(1, 400, 200_001)
    density = 1.5 * 0.1**1.5 * z**-2.5 * np.exp(-2 * z)
    second, fourth = (rate * np.trapezoid(density * z**n, z) for n in (2, 4))
    assert abs(out.var() - second) < 4.5 * math.sqrt((fourth + 2 * second**2) / out.size)


def test_small_jumps_know_their_error():
    law = IncrementLaw(1.5, 3.0, 0.62, 0.0, 0.01)
    # rate*dt = 0.01: the Gaussian takes over nearly all of the fourth cumulant.
    cutoff = (2 * 0.01 * 0.62 / (1.5 * 0.01)) ** (1 / 1.5)
    lost = SmallJumps.at(law, cutoff)
    assert lost.rate == pytest.approx(0.01) and lost.fourth_cumulant_lost > 0.5
    with pytest.raises(ConvergenceError, match="fourth cumulant"):
        law.sampler("small-jumps", cutoff=cutoff)
    # The refused sampler is indeed wrong, and an accepted one says how large its error is.
    u = law.cdf(lost.draw(100_000, np.random.default_rng(1)))
    assert stats.kstest(u, "uniform").pvalue < 1e-12
    sampler = law.sampler("small-jumps")
    assert sampler.error == pytest.approx(0.01, rel=1e-3)
    assert law.sampler("small-jumps", tolerance=1e-3).error == pytest.approx(1e-3, rel=1e-3)
    with pytest.raises(ConvergenceError, match="fourth cumulant"):
        law.sampler("small-jumps", tolerance=1e-9)
    # Both cumulants of the small jumps, by quadrature.
    made = SmallJumps.at(law, 0.05)
    z = np.linspace(0, 0.05, 200_001)[1:]
    nu = 2 * 0.01 * 0.62 * z**-2.5 * np.exp(-3 * z)
    fourth = np.trapezoid(nu * z**4, z)
    assert made.fourth_cumulant_lost == pytest.approx(fourth / law.cumulant(4), rel=1e-4)
    assert made.excess_lost == pytest.approx(fourth / made.sd**4, rel=1e-4)


def test_rejection_splits_the_step():
    law = IncrementLaw(0.5, 3.0, 0.62, 0.0, 1.0)
    way = Rejection.of(law)
    assert way.pieces == 4
    out = np.empty(100_000)
    trials = sampling.fill_rejection(np.random.default_rng(3), 0.5, 3.0, way.log_scale, 4, 0.0, out)
    # Each piece is accepted with probability exp(-c lam^alpha / pieces).
    exponent = 0.62 * math.gamma(0.5) / 0.5 * 3.0**0.5
    assert trials == pytest.approx(2 * 4 * math.exp(exponent / 4), rel=5e-3)
    with pytest.raises(ConvergenceError, match="pieces"):
        IncrementLaw(0.9, 3.0, 1e4, 0.0, 1.0).sampler("rejection")
    with pytest.raises(ParameterError, match="alpha < 1"):
        IncrementLaw(1.2, 3.0, 1.0, 0.0, 1.0).sampler("rejection")


def test_auto_says_what_it_took_and_why():
    sampler = IncrementLaw(1.5, 3.0, 0.62, 0.1, 0.01).sampler()
    assert sampler.method == "table" and "measured" in sampler.reason and 0 < sampler.error <= 1e-9
    sampler = IncrementLaw(0.047, 41.6, 9.6e-4, 0.0, 1.5e-6).sampler()
    assert sampler.method == "rejection" and "table cannot be made" in sampler.reason
    assert IncrementLaw(1.5, 3.0, 0.0, 0.1, 0.01).sampler().method == "gaussian"
    assert IncrementLaw(1.5, 3.0, 0.62, 0.1, 0.01).sampler("table").reason == "asked for by method='table'"
    with pytest.raises(ParameterError, match="method"):
        IncrementLaw(1.5, 3.0, 0.62, 0.1, 0.01).sampler("series")
    with pytest.raises(ParameterError, match="cutoff"):
        IncrementLaw(1.5, 3.0, 0.62, 0.1, 0.01).sampler("table", cutoff=0.1)


@pytest.mark.parametrize("method", ["table", "rejection", "small-jumps"])
def test_randomness_is_the_callers(method):
    """SPEC 7: every form of rng; a Generator is consumed, so that two calls differ."""
    jumps = TemperedStable(0.7, 3.0, 0.62)
    first = jumps.rvs(0.01, 5, 11, method=method)
    for same in (np.random.default_rng(11), np.random.PCG64(11), np.random.SeedSequence(11)):
        np.testing.assert_array_equal(jumps.rvs(0.01, 5, same, method=method), first)
    generator = np.random.default_rng(11)
    jumps.rvs(0.01, 5, generator, method=method)
    assert not np.array_equal(jumps.rvs(0.01, 5, generator, method=method), first)
    assert isinstance(jumps.rvs(0.01, rng=1, method=method), float)
    assert jumps.rvs(0.01, (2, 0, 3), method=method).shape == (2, 0, 3)
    with pytest.raises(ParameterError, match="size"):
        jumps.rvs(0.01, -1, method=method)
