"""Thresholds, sample sizes and closed-form windows: exact limits, reference numbers, simulation, brute force."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import levycollapse as lc

NOISE = lc.StableNoise(alpha=1.5, scale=0.7, signal=0.3, level=0.05)
LAWS = [
    lc.ExponentialEnvelope(rate=0.03, amplitude=2.0),
    lc.PowerEnvelope(exponent=0.6, amplitude=1.7),
    lc.LogarithmicEnvelope(power=0.8, amplitude=1.3),
    lc.LogarithmicEnvelope(power=1.0),
    lc.TemperedEnvelope(exponent=0.4, cutoff=150.0, amplitude=1.5),
    lc.TemperedEnvelope(exponent=2.0, cutoff=0.01, shape=0.3, amplitude=5e3),
]


def noise(alpha, **changes):
    return lc.StableNoise(**{"alpha": alpha, "scale": 1.0, "signal": 1.0, "level": 0.05} | changes)


def test_concentration_exponent():
    alpha = np.array([2.0, 1.8, 1.5, 1.2, 1.1])
    np.testing.assert_allclose(lc.concentration_exponent(alpha), [2, 2.25, 3, 6, 11], rtol=1e-14)
    np.testing.assert_allclose(lc.stability_from_concentration(lc.concentration_exponent(alpha)), alpha, rtol=1e-14)
    np.testing.assert_array_equal(lc.concentration_exponent([1.0, 0.7]), np.inf)
    # alpha - 1 is exact next to 1.
    assert lc.concentration_exponent(1 + 2.0**-50) == pytest.approx(2.0**50 + 1, rel=1e-15)


def test_rate_and_scale_of_a_mean():
    for alpha in (0.6, 1.0, 1.3, 2.0):
        draws = lc.SymmetricStable(alpha).rvs((4000, 50), rng=1).mean(axis=1)
        scale = lc.stable_mean_scale(50, alpha)
        quartile = lc.SymmetricStable(alpha, scale).isf(0.25)
        assert np.mean(np.abs(draws) > quartile) == pytest.approx(0.5, abs=4 * 0.5 / np.sqrt(4000))
        assert scale == pytest.approx(50 ** (1 / alpha - 1), rel=1e-14)
    assert lc.concentration_rate(1e300, 1 + 1e-13) == pytest.approx(float(mp.mpf(1e300) ** (1 / mp.mpf(1 + 1e-13) - 1)))
    # The cumulative sums of characteristic functions: cf(k/N)^N.
    law, mean = lc.SymmetricStable(1.4, 2.0), lc.SymmetricStable(1.4, lc.stable_mean_scale(30, 1.4, 2.0))
    np.testing.assert_allclose(law.cf(np.array([0.3, 2.0]) / 30) ** 30, mean.cf([0.3, 2.0]), rtol=1e-13)


def test_mean_absolute_value():
    for alpha in (1.2, 1.5, 2.0):
        law = lc.SymmetricStable(alpha)
        # E|X| = 2 int P(X > x) dx, in x = e^y: trapezoid, exact for what decays both ways.
        y = np.arange(-40.0, 250.0, 0.05)
        want = 2 * 0.05 * np.sum(law.sf(np.exp(y)) * np.exp(y))
        assert lc.stable_mean_abs(alpha, 3.0) == pytest.approx(3 * want, rel=1e-9)


def test_reference_numbers():
    """Learnability 3.4 and 3.8, recomputed there."""
    np.testing.assert_allclose(lc.stable_mean_abs([2, 1.9, 1.8, 1.6, 1.5, 1.4, 1.2]),
                               [1.128, 1.190, 1.269, 1.509, 1.706, 2.005, 3.544], atol=7e-4)  # fmt: skip
    floor = lc.oriented_null_samples(114_432, [2, 1.9, 1.8, 1.6, 1.5, 1.4], 0.1)
    np.testing.assert_allclose(floor, [899, 613, 377, 82, 23, 3], atol=0.6)
    for alpha, quantile in ((2.0, 2.326), (1.8, 2.505), (1.5, 3.052), (1.2, 4.369)):
        assert lc.detection_threshold(1, noise(alpha)) == pytest.approx(quantile, abs=6e-4)
    # Median, one sample: eps = 0.1 rejects 94 of 100 pure noises.
    assert 2 * lc.SymmetricStable(1.5).sf(0.1) == pytest.approx(0.94, abs=0.005)


def test_gaussian_limit_is_exact():
    z, power = stats.norm.isf(0.05), stats.norm.ppf(0.8)
    sd = np.sqrt(2) * 0.7
    for N in (1, 100, 1e12):
        found = lc.detection_threshold(N, noise(2.0, scale=0.7, signal=0.3), power=0.8)
        assert found == pytest.approx((z + power) * sd / 0.3 / np.sqrt(N), rel=1e-13)
    found = lc.sample_complexity(0.01, noise(2.0, scale=0.7, signal=0.3), power=0.8)
    assert found == pytest.approx(((z + power) * sd / 0.003) ** 2, rel=1e-13)
    assert z + power == pytest.approx(2.4865, abs=1e-4)
    # And nothing jumps on the way there.
    near = lc.sample_complexity(0.01, noise(2 - 1e-9, scale=0.7, signal=0.3), power=0.8)
    assert near == pytest.approx(found, rel=1e-6)


@pytest.mark.parametrize("alpha", [1.1, 1.5, 1.9, 2.0])
def test_level_and_power_of_the_threshold(alpha):
    """The mean of N samples, drawn: the test has its size and its power."""
    N, repetitions = 40, 20_000
    model = noise(alpha, scale=0.5, signal=0.8, level=0.1)
    critical = lc.stable_mean_scale(N, alpha, 0.5) * lc.SymmetricStable(alpha).isf(0.1)
    f = lc.detection_threshold(N, model, power=0.8)
    draws = 0.5 * lc.SymmetricStable(alpha).rvs((repetitions, N), rng=5).mean(axis=1)
    for shift, share in ((0.0, 0.1), (0.8 * f, 0.8)):
        assert np.mean(draws + shift > critical) == pytest.approx(share, abs=4 * np.sqrt(share * (1 - share) / 20_000))


@settings(max_examples=40, deadline=None)
@given(st.floats(1.02, 2.0), st.floats(-6, 6), st.floats(0.0, 12.0), st.floats(0.06, 0.99))
def test_threshold_and_samples_are_inverse_and_scale_free(alpha, log_unit, log_n, power):
    N, unit = 10**log_n, 10**log_unit
    f = lc.detection_threshold(N, noise(alpha), power=power)
    assert lc.sample_complexity(f, noise(alpha), power=power) == pytest.approx(N, rel=1e-9)
    # Units of scale and signal cancel; f is inverse to the signal.
    for changed, want in (
        ({"scale": unit, "signal": unit}, f),
        ({"scale": unit}, f * unit),
        ({"signal": unit}, f / unit),
    ):
        assert lc.detection_threshold(N, noise(alpha, **changed), power=power) == pytest.approx(want, rel=1e-12)


def test_no_gain_from_averaging_is_an_answer():
    for alpha in (0.5, 1.0):
        law = noise(alpha)
        critical = lc.detection_threshold(1, law)
        assert not law.averaging_helps
        assert law.concentration_exponent == np.inf
        np.testing.assert_array_equal(lc.sample_complexity([0.9 * critical, 1.1 * critical], law), [np.inf, 0.0])
        loud = noise(alpha, signal=1e4)
        assert lc.PowerEnvelope(0.5).growth_exponent(10, loud) == (1 - 1 / alpha) / 0.5
        first, last = lc.PowerEnvelope(0.5).log_window([10, 20], loud)
        assert (last - first) / np.log(2) == pytest.approx((1 - 1 / alpha) / 0.5, abs=1e-12)
        assert "no better than one sample" in lc.learnability_window(lc.PowerEnvelope(1.0), 10, law).meaning
    assert lc.detection_threshold(1e6, noise(1.0)) == pytest.approx(lc.detection_threshold(1, noise(1.0)), rel=1e-15)
    assert lc.detection_threshold(100, noise(0.5)) == pytest.approx(100 * lc.detection_threshold(1, noise(0.5)))


def test_nothing_arrives():
    silent = noise(1.5, signal=0.0)
    assert lc.detection_threshold(10, silent) == np.inf
    assert lc.sample_complexity(0.5, silent) == np.inf
    assert lc.sample_complexity(0.0, noise(1.5)) == np.inf
    assert lc.PowerEnvelope(1.0).window(10, silent) == 0
    assert lc.robust_sample_complexity(0.0, noise(1.5)) == np.inf
    assert lc.detection_samples_bound(0.5, silent) == np.inf


# --- closed-form windows ---


@pytest.mark.parametrize("law", LAWS, ids=repr)
@pytest.mark.parametrize("alpha", [1.2, 1.6, 2.0])
def test_windows_against_brute_force(law, alpha):
    """Whole lags: the last l from 1 on with f(l) >= threshold, one by one."""
    lags = np.arange(1, 200_001)
    f = law.envelope(lags)
    for N in np.geomspace(10, 1e9, 9):
        model = noise(alpha, signal=8.0)
        seen = np.flatnonzero(f >= lc.detection_threshold(N, model))
        window = law.window(N, model)
        if seen.size == lags.size:
            assert window > lags[-1]
        else:
            assert np.floor(window) == (lags[seen[-1]] if seen.size else 0)
        if window > 0 and np.isfinite(window):
            assert law.envelope(window) == pytest.approx(lc.detection_threshold(N, model), rel=1e-11)
            assert law.samples(window, model) == pytest.approx(N, rel=1e-9)


@pytest.mark.parametrize("law", LAWS, ids=repr)
def test_growth_is_the_derivative(law):
    model = noise(1.6, signal=30.0)
    for N in (1e2, 1e4, 1e6):
        step = 1e-4
        ends = law.log_window(N * np.exp([-step, step]), model)
        growth = law.growth_exponent(N, model)
        assert growth == pytest.approx((ends[1] - ends[0]) / (2 * step), rel=1e-6)
        lag = law.window(N, model)
        if np.isfinite(lag):
            slope = lc.local_exponent(lag, law).exponent
            assert growth == pytest.approx(1 / (model.concentration_exponent * slope), rel=1e-12)
            central = np.log(law.envelope(lag * np.exp([-step, step])))
            assert slope == pytest.approx((central[0] - central[1]) / (2 * step), rel=1e-6)


def test_stated_growth_laws():
    model, N = noise(1.5, signal=50.0), 1e6
    ratio = lc.detection_threshold(N, model)
    exponential, power = lc.ExponentialEnvelope(rate=0.1), lc.PowerEnvelope(exponent=0.7)
    window = exponential.window(N, model)
    assert exponential.growth_exponent(N, model) == pytest.approx(1 / (3 * 0.1 * window), rel=1e-13)
    assert power.growth_exponent(N, model) == pytest.approx(1 / (3 * 0.7), rel=1e-14)
    log_law = lc.LogarithmicEnvelope(amplitude=0.02)
    window = log_law.window(N, model)
    want = 0.02 / ratio * (1 + np.e / window) / 3
    assert log_law.growth_exponent(N, model) == pytest.approx(want, rel=1e-12)


def test_lambert_form_of_the_tempered_window():
    law = lc.TemperedEnvelope(exponent=0.4, cutoff=150.0, shape=1.7, amplitude=1.5)
    model = noise(1.6, signal=30.0)
    for N in (1e2, 1e5):
        level = lc.detection_threshold(N, model)
        with mp.workdps(30):
            k, b = mp.mpf(1.7), mp.mpf(0.4)
            big = mp.log(mp.mpf(1.5) / level / mp.mpf(150) ** b)
            want = 150 * (b / k * mp.lambertw(k / b * mp.exp(k / b * big))) ** (1 / k)
        assert law.window(N, model) == pytest.approx(float(want), rel=1e-12)
    # Far inside it is the power; far beyond, W is taken of numbers without a double.
    wide = lc.TemperedEnvelope(exponent=0.4, cutoff=1e200)
    assert wide.window(1e4, model) == pytest.approx(lc.PowerEnvelope(0.4).window(1e4, model), rel=1e-12)
    sharp = lc.TemperedEnvelope(exponent=1e-3, cutoff=10.0)
    level = lc.detection_threshold(1e300, model)
    lag = sharp.window(1e300, model)
    assert sharp.log_envelope(lag) == pytest.approx(np.log(level), rel=1e-13)


def test_logarithmic_overflow_keeps_its_logarithm():
    law, model = lc.LogarithmicEnvelope(), noise(2.0)
    assert law.window(1e8, model) == np.inf
    assert law.log_window(1e8, model) == pytest.approx(1 / lc.detection_threshold(1e8, model), rel=1e-12)
    assert law.growth_exponent(1e8, model) == pytest.approx(0.5 * law.log_window(1e8, model), rel=1e-12)
    # Just above lag 1 nothing cancels: log(e + l) - 1 is small.
    level = law.envelope(1.0 + 1e-9)
    N = lc.sample_complexity(level, model)
    assert law.window(N, model) == pytest.approx(1.0 + 1e-9, rel=1e-12)


def test_edge_of_no_window():
    law, model = lc.PowerEnvelope(exponent=0.5), noise(1.5)
    N = lc.sample_complexity(1.0, model)
    assert law.window(N * 1.0001, model) == pytest.approx(1.0, abs=1e-3)
    assert law.window(N * 0.9999, model) == 0
    assert law.log_window(N * 0.9999, model) == -np.inf
    assert np.isnan(law.growth_exponent(N * 0.9999, model))


def test_bad_input():
    law = lc.PowerEnvelope(0.5)
    cases = [
        (lambda: lc.StableNoise(2.1, 1.0, 1.0, 0.05), r"alpha=2.1 must be a number in \(0, 2\]"),
        (lambda: lc.StableNoise([1.5, 1.6], 1.0, 1.0, 0.05), r"alpha has shape \(2,\)"),
        (lambda: lc.StableNoise(1.5, 0.0, 1.0, 0.05), "scale=0.0 must be"),
        (lambda: lc.StableNoise(1.5, 1.0, -1.0, 0.05), "signal=-1.0 must be"),
        (lambda: lc.StableNoise(1.5, 1.0, 1.0, 0.5), "level=0.5 must be a number strictly between 0 and 1/2"),
        (lambda: lc.concentration_exponent(0.0), "alpha=0.0 must be"),
        (lambda: lc.stability_from_concentration(1.5), "exponent=1.5 must be a number >= 2"),
        (lambda: lc.concentration_rate(0.5, 1.5), "N=0.5 must be a finite number >= 1"),
        (lambda: lc.concentration_rate([1, 2], [1.1, 1.2, 1.3]), r"N \(2,\), alpha \(3,\)"),
        (lambda: lc.stable_mean_abs(1.0), r"alpha=1.0 must be a number in \(1, 2\]"),
        (lambda: lc.oriented_null_samples(10, 1.5, 0.0), "eps=0.0 must be"),
        (lambda: lc.detection_threshold(10, 1.5), r"noise=1.5 must be a StableNoise\(alpha, scale, signal, level\)"),
        (lambda: lc.detection_threshold(10, NOISE, power=0.05), "power=0.05 must be a number above the level 0.05"),
        (lambda: lc.sample_complexity(-0.1, NOISE), "f=-0.1 must be"),
        (lambda: lc.PowerEnvelope(-1.0), "exponent=-1.0 must be"),
        (lambda: lc.TemperedEnvelope(1.0, [1.0]), r"cutoff has shape \(1,\)"),
        (lambda: law.samples(0.5, NOISE), "lag=0.5 must be a finite number >= 1"),
        (lambda: law.window(10, "noise"), "noise='noise' must be a StableNoise"),
        (lambda: lc.stable_divergence(1.0, 0.1), r"alpha=0.1 must be a number in \[0.2, 2\]"),
        (lambda: lc.stable_divergence(1e260, 1.5), "shift is 1e.260 scales"),
        (lambda: lc.stable_fisher_information(1.5, scale=0.0), "scale=0.0 must be"),
        (lambda: lc.fano_samples(0.1, NOISE, error=0.5), "error=0.5 must be a number strictly between 0 and 1/2"),
        (lambda: lc.bretagnolle_huber_samples(0.1, NOISE, error=0.25), "error=0.25 must be"),
        (lambda: lc.estimator_variance(1.5, "mode"), "estimator='mode' must be one of"),
        (lambda: lc.estimator_variance(1.5, "trimmed", trim=0.5), "trim=0.5 must be"),
    ]
    for call, message in cases:
        with pytest.raises(lc.ParameterError, match=message):
            call()
