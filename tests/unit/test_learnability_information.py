"""Divergence, Fisher information, bounds and robust estimators: mpmath, closed forms, simulation."""

from __future__ import annotations

import json
import math

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import levycollapse as lc
from levycollapse._learnability.bounds import decision_divergence
from levycollapse._learnability.location import Location, location, shifts_of_divergence
from tests import learnability_twin as twin

GOLDEN = json.loads(twin.GOLDEN.read_text())


def noise(alpha, **changes):
    return lc.StableNoise(**{"alpha": alpha, "scale": 1.0, "signal": 1.0, "level": 0.05} | changes)


@pytest.mark.parametrize("alpha", sorted(GOLDEN))
def test_against_mpmath(alpha):
    """Another density, the definition instead of the symmetric form, 24 digits."""
    want = GOLDEN[alpha]
    assert lc.stable_fisher_information(float(alpha)) == pytest.approx(want["information"], rel=1e-10)
    assert len(want["divergence"]) == len(twin.SHIFTS)
    for shift, value in want["divergence"].items():
        assert lc.stable_divergence(float(shift), float(alpha)) == pytest.approx(value, rel=1e-9)


@pytest.mark.full
def test_one_golden_value_again():
    assert twin.divergence(1.0, 1.8) == pytest.approx(GOLDEN["1.8"]["divergence"]["1.0"], rel=1e-15)


@pytest.mark.parametrize("shift", [20.0])
def test_half_is_known_by_fresnel_integrals(shift):
    assert lc.stable_divergence(shift, 0.5) == pytest.approx(twin.half_divergence(shift), rel=1e-8)


def test_exact_cases():
    shift = np.concatenate([-np.geomspace(1e-8, 1e8, 33), [0.0], np.geomspace(1e-8, 1e8, 33)])
    np.testing.assert_allclose(lc.stable_divergence(shift, 1.0, 2.0), np.log1p((shift / 4) ** 2), rtol=1e-15)
    np.testing.assert_allclose(lc.stable_divergence(shift, 2.0, 2.0), shift**2 / 16, rtol=1e-15)
    assert lc.stable_fisher_information(1.0, 2.0) == lc.stable_fisher_information(2.0, 2.0) == 0.125
    # The general method, put where it is not used.
    cauchy = Location(1.0)
    np.testing.assert_allclose(cauchy.divergence(shift[34:]), np.log1p((shift[34:] / 2) ** 2), rtol=1e-12)
    assert cauchy.information == pytest.approx(0.5, rel=1e-12)
    normal = Location(2 - 1e-15)
    small = shift[(shift > 0) & (shift < 6)]
    np.testing.assert_allclose(normal.divergence(small), small**2 / 4, rtol=1e-9)
    # No overflow of the square, no underflow where the result has none.
    assert lc.stable_divergence(1e200, 1.0) == pytest.approx(2 * math.log(5e199), rel=1e-14)
    assert lc.stable_divergence(1e-150, 1.5) == pytest.approx(1e-300 * lc.stable_fisher_information(1.5) / 2, rel=1e-12)
    assert lc.stable_divergence(1e200, 2.0) == np.inf
    assert lc.stable_divergence(0.0, 1.5) == 0.0


@pytest.mark.parametrize("alpha", [0.2, 0.3, 0.7, 1.3, 1.9, 1.999999])
def test_interpolation_against_its_quadrature(alpha):
    """Between nodes, in every octave, and across the seam at a tenth of the peak's width."""
    law = Location(alpha)
    u = np.exp(np.random.default_rng(3).uniform(np.log(0.3 * law._start), np.log(1e8), 60))
    u = np.append(u, law._start * np.array([1 - 1e-9, 1 + 1e-9]))
    np.testing.assert_allclose(law.divergence(u), [law.integral(v) for v in u], rtol=2e-10)


def test_reference_numbers():
    """Learnability 8."""
    alpha = np.linspace(1.0, 2.0, 11)
    want = [0.500, 0.463, 0.442, 0.431, 0.427, 0.428, 0.433, 0.442, 0.455, 0.473, 0.500]
    np.testing.assert_allclose(lc.stable_fisher_information(alpha), want, atol=6e-4)
    found = lc.stable_divergence([[1.0], [5.0]], [1.5, 1.8])
    np.testing.assert_allclose(found, [[0.207, 0.223], [2.78, 3.62]], atol=6e-3)


@settings(max_examples=40, deadline=None)
@given(st.sampled_from([0.4, 1.0, 1.2, 1.7, 2.0]), st.floats(-8, 8), st.floats(-6, 6), st.floats(1.01, 10))
def test_divergence_properties(alpha, log_u, log_scale, factor):
    u, scale = 10**log_u, 10**log_scale
    value = lc.stable_divergence(u, alpha)
    assert lc.stable_divergence(-u * scale, alpha, scale) == pytest.approx(value, rel=1e-12)
    assert value < lc.stable_divergence(u * factor, alpha)
    # The local bound is weaker than the global one at every shift.
    assert value <= 0.5 * lc.stable_fisher_information(alpha) * u**2 * (1 + 1e-12)
    with np.errstate(over="ignore"):
        assert shifts_of_divergence(np.array([value]), alpha)[0] == pytest.approx(u, rel=1e-8)


def test_divergence_grows_like_a_logarithm():
    for alpha in (0.5, 1.3, 1.8):
        far = lc.stable_divergence([1e12, 1e16], alpha)
        assert (far[1] - far[0]) / math.log(1e4) == pytest.approx(1 + alpha, rel=1e-4)


def test_divergence_by_sampling():
    """E log f(X)/f(X - u), X drawn."""
    for alpha, u in ((1.5, 2.0), (0.7, 5.0)):
        law = lc.SymmetricStable(alpha)
        x = law.rvs(200_000, rng=8)
        ratio = law.logpdf(x) - law.logpdf(x - u)
        assert lc.stable_divergence(u, alpha) == pytest.approx(ratio.mean(), abs=4 * ratio.std() / math.sqrt(200_000))


# --- bounds ---


def test_bounds_by_their_formulas():
    model = noise(1.5, scale=2.0, signal=0.4)
    f, kl = 0.7, lc.stable_divergence(0.28, 1.5, 2.0)
    entropy = stats.entropy([0.1, 0.9])
    assert lc.fano_samples(f, model, error=0.1) == pytest.approx(2 * (math.log(2) - entropy) / kl, rel=1e-13)
    information = lc.stable_fisher_information(1.5)
    want = 4 * (math.log(2) - entropy) * 4.0 / (information * (0.4 * f) ** 2)
    assert lc.local_fano_samples(f, model, error=0.1) == pytest.approx(want, rel=1e-13)
    assert lc.mutual_information_bound(f, model, 100) == pytest.approx(50 * kl, rel=1e-13)
    assert lc.mutual_information_bound(f, model, 1e9) == math.log(2)
    assert lc.bretagnolle_huber_error(f, model, 30) == pytest.approx(math.exp(-30 * kl) / 4, rel=1e-13)
    N = lc.bretagnolle_huber_samples(f, model, error=0.01)
    assert lc.bretagnolle_huber_error(f, model, N) == pytest.approx(0.01, rel=1e-12)
    assert lc.detection_samples_bound(f, model, power=0.8) == pytest.approx(
        max(stats.entropy([0.05, 0.95], [0.8, 0.2]), stats.entropy([0.8, 0.2], [0.05, 0.95])) / kl, rel=1e-13
    )


def test_local_bound_is_the_limit_and_below():
    f = np.geomspace(1e-6, 1e6, 25)
    for alpha in (1.2, 1.7, 2.0):
        ratio = lc.local_fano_samples(f, noise(alpha), error=0.2) / lc.fano_samples(f, noise(alpha), error=0.2)
        assert ratio[0] == pytest.approx(1.0, rel=1e-10)
        assert (ratio <= 1 + 1e-12).all()
    # Exponent 2 at every alpha (D1, D2), where the mean's is kappa.
    for alpha in (1.2, 1.7):
        few = lc.fano_samples([1e-4, 1e-5], noise(alpha), error=0.2)
        assert math.log10(few[1] / few[0]) == pytest.approx(2.0, abs=1e-6)
        many = lc.sample_complexity([1e-4, 1e-5], noise(alpha))
        assert math.log10(many[1] / many[0]) == pytest.approx(alpha / (alpha - 1), rel=1e-12)


def test_bounds_hold_for_the_best_test():
    """The likelihood ratio test at alpha = 2, whose error is known: no bound is above it."""
    for N in (1.0, 7.0, 60.0):
        for f in (0.1, 0.5, 2.0):
            model = noise(2.0)
            distance = f * math.sqrt(N / 2)
            error = float(stats.norm.sf(distance / 2))
            assert lc.bretagnolle_huber_error(f, model, N) <= error
            if 0 < error < 0.5:
                assert lc.fano_samples(f, model, error=error) <= N
            power = float(stats.norm.sf(stats.norm.isf(0.05) - distance))
            if 0.06 < power < 1 - 1e-9:
                assert lc.detection_samples_bound(f, model, power=power) <= N
                assert lc.sample_complexity(f, model, power=power) == pytest.approx(N, rel=1e-7)


def test_mutual_information_of_one_sample():
    """The information itself, by quadrature, is below its bound."""
    x = np.linspace(-400, 400, 160_001)
    for alpha, f in ((1.5, 0.5), (1.8, 3.0), (2.0, 1.0)):
        law = lc.SymmetricStable(alpha)
        p, q = law.pdf(x), law.pdf(x - f)
        middle = (p + q) / 2
        with np.errstate(invalid="ignore", divide="ignore"):
            terms = 0.5 * np.where(p > 1e-290, p * np.log(p / middle), 0) + 0.5 * np.where(
                q > 1e-290, q * np.log(q / middle), 0
            )
        exact = float(terms.sum() * (x[1] - x[0]))
        bound = lc.mutual_information_bound(f, noise(alpha), 1)
        assert exact <= bound * (1 + 1e-6)
        assert exact >= 0.2 * bound


# --- robust estimators ---


def test_variances_of_estimators():
    alpha = np.array([1.0, 1.5, 2.0])
    np.testing.assert_allclose(
        lc.estimator_variance(alpha, "mle") * lc.stable_fisher_information(alpha), 1.0, rtol=1e-13
    )
    density = np.array([lc.SymmetricStable(a).pdf(0.0) for a in alpha])
    np.testing.assert_allclose(lc.estimator_variance(alpha, "median"), 0.25 / density**2, rtol=1e-12)
    assert lc.estimator_variance(1.0, "median") == pytest.approx(math.pi**2 / 4, rel=1e-12)
    assert lc.estimator_variance(2.0, "median") == pytest.approx(math.pi, rel=1e-12)
    np.testing.assert_array_equal(lc.estimator_variance(alpha, "mean"), [np.inf, np.inf, 2.0])
    # Trimmed Cauchy: int x^2 f = (2/pi)(c - atan c) on [-c, c]. And from median to mean at alpha = 2.
    c = math.tan(math.pi * 0.3)
    want = (2 / math.pi * (c - math.atan(c)) + 0.4 * c * c) / 0.36
    assert lc.estimator_variance(1.0, "trimmed", trim=0.2) == pytest.approx(want, rel=1e-11)
    assert lc.estimator_variance(2.0, "trimmed", trim=1e-6) == pytest.approx(2.0, rel=1e-3)
    assert lc.estimator_variance(1.5, "trimmed", trim=0.4999) == pytest.approx(
        lc.estimator_variance(1.5, "median"), rel=1e-3
    )
    with mp.workdps(20):
        cut = mp.mpf(float(lc.SymmetricStable(1.8).isf(0.25)))
        inside = 2 * mp.quad(lambda x: x**2 * twin.density(x, mp.mpf(1.8)), [0, cut])
        want = float((inside + 0.5 * cut**2) / 0.25)
    assert lc.estimator_variance(1.8, "trimmed") == pytest.approx(want, rel=1e-10)


def test_no_estimator_beats_the_likelihood():
    for alpha in (0.2, 0.5, 1.1, 1.6, 2.0):
        least = lc.estimator_variance(alpha, "mle")
        for name, trim in (("median", 0.25), ("trimmed", 0.1), ("trimmed", 0.25), ("trimmed", 0.4)):
            assert lc.estimator_variance(alpha, name, trim=trim) > least * (1 - 1e-9)


def test_variances_by_simulation():
    x = lc.SymmetricStable(1.5).rvs((8000, 201), rng=2)
    for name, estimates in (("median", np.median(x, axis=1)), ("trimmed", stats.trim_mean(x, 0.25, axis=1))):
        found = 201 * estimates.var()
        # Standard error of a variance: sqrt(2/8000); finite N: a few per cent.
        assert found == pytest.approx(lc.estimator_variance(1.5, name), rel=0.08)


def test_gain():
    model = noise(1.6, scale=0.5, signal=0.3, level=0.01)
    f = np.array([1e-2, 1e-3])
    gain = lc.robust_gain(f, model, estimator="trimmed", power=0.9)
    robust = lc.robust_sample_complexity(f, model, estimator="trimmed", power=0.9)
    np.testing.assert_allclose(gain * robust, lc.sample_complexity(f, model, power=0.9), rtol=1e-13)
    assert math.log10(gain[1] / gain[0]) == pytest.approx(model.concentration_exponent - 2, rel=1e-12)
    # At alpha = 2 it is the efficiency: 1 for the likelihood, 2/pi for the median, at every f and power.
    for power in (0.5, 0.9):
        assert lc.robust_gain(f, noise(2.0), power=power) == pytest.approx(1.0, rel=1e-12)
        assert lc.robust_gain(f, noise(2.0), estimator="median", power=power) == pytest.approx(2 / math.pi, rel=1e-12)


def test_robust_sample_size_has_its_power():
    """The median of so many samples, drawn."""
    model = noise(1.4, signal=1.0, level=0.05)
    N = 401
    f = math.sqrt(lc.robust_sample_complexity(1.0, model, estimator="median", power=0.8) / N)
    assert lc.robust_sample_complexity(f, model, estimator="median", power=0.8) == pytest.approx(N, rel=1e-12)
    medians = np.median(lc.SymmetricStable(1.4).rvs((5000, N), rng=6), axis=1)
    critical = np.quantile(medians, 0.95)
    assert np.mean(medians + f > critical) == pytest.approx(0.8, abs=0.04)


def test_decision_divergence_is_sharper_than_its_rivals():
    model = noise(1.5)
    for power in (0.3, 0.5, 0.8, 0.99):
        distance = power - 0.05
        needed = decision_divergence(model, power)
        assert needed >= 2 * distance**2
        assert needed >= -math.log(1 - distance**2)


def test_families_are_made_once():
    assert location(1.234) is location(1.234)
