"""Parametric spectra against mpmath, their own quadrature, and the transform pairs of THEORY 6."""

import math

import mpmath as mp
import numpy as np
import pytest
from scipy import integrate, stats

from levycollapse._laws.spectra import (
    GammaRates,
    GammaTimescales,
    InverseGamma,
    LogNormal,
    Pareto,
    TemperedPareto,
    TruncatedPareto,
)
from levycollapse.errors import ParameterError

LAWS = [
    GammaRates(0.8, 2.0),
    InverseGamma(2.5, 3.0),
    GammaTimescales(0.5, 4.0),
    GammaTimescales(2.5, 1.0),
    Pareto(0.4, 1.0),
    Pareto(3.0, 0.5),
    TruncatedPareto(0.5, 1.0, 100.0),
    TruncatedPareto(2.0, 1.0, 1.5),
    TemperedPareto(0.5, 1.0, 100.0),
    TemperedPareto(2.0, 5.0, 2.0),
    LogNormal(1.0, 2.0),
    LogNormal(-1.0, 0.3),
]
IDS = [repr(law) for law in LAWS]


def exact_envelope(law, lag):
    """The transform pairs of THEORY 6 in 40 digits; quadrature in y where there is no pair."""
    l = mp.mpf(lag)
    match law:
        case GammaRates(shape=b, rate=r):
            return (1 + l / r) ** (-mp.mpf(b))
        case GammaTimescales(shape=a, scale=s):
            return 2 * (l / s) ** (mp.mpf(a) / 2) * mp.besselk(a, 2 * mp.sqrt(l / s)) / mp.gamma(a)
        case Pareto(beta=b, tau_min=t):
            return b * (l / t) ** (-mp.mpf(b)) * mp.gammainc(b, 0, l / t)
        case TruncatedPareto(beta=b, tau_min=t, tau_max=u):
            mass = 1 - (mp.mpf(t) / u) ** b
            return b * (l / t) ** (-mp.mpf(b)) * mp.gammainc(b, l / u, l / t) / mass
        case TemperedPareto(beta=b, tau_min=t, tau_cut=c):
            points = mp.linspace(mp.log(t), mp.log(t) + mp.log(60 * c + 1), 30)
            mass = mp.mpf(c) ** (-mp.mpf(b)) * mp.gammainc(-mp.mpf(b), mp.mpf(t) / c)
            return mp.quad(lambda y: mp.exp(-b * y - mp.exp(y) / c - l * mp.exp(-y)), points) / mass
        case LogNormal(log_median=m, sd=s):
            points = mp.linspace(m - 14 * mp.mpf(s), m + 14 * mp.mpf(s), 30)
            scale = s * mp.sqrt(2 * mp.pi)
            return mp.quad(lambda y: mp.exp(-(((y - m) / s) ** 2) / 2 - l * mp.exp(-y)), points) / scale


@pytest.mark.parametrize("law", LAWS, ids=IDS)
def test_envelope_matches_its_transform_pair(law):
    for lag in (1e-6, 0.1, 1.0, 7.0, 150.0):
        with mp.workdps(40):
            want = exact_envelope(law, lag)
            error = float(mp.mpf(law.envelope(lag)) / want - 1)
        assert abs(error) < 2e-13, (lag, error)


@pytest.mark.parametrize("law", LAWS, ids=IDS)
def test_local_exponent_is_the_logarithmic_derivative(law):
    for lag in (1e-3, 0.5, 3.0, 40.0):
        h = 1e-4
        x = lag * np.exp(h * np.arange(-2, 3))
        a, b, _, d, e = law.log_envelope(x)
        slope = -(a - 8 * b + 8 * d - e) / (12 * h)
        assert law.local_exponent(lag) == pytest.approx(slope, rel=1e-9, abs=2e-11)


@pytest.mark.parametrize("law", LAWS, ids=IDS)
def test_extreme_lags_stay_finite_and_ordered(law):
    lags = np.concatenate([[0.0], np.geomspace(1e-300, 1e300, 121)])
    log_f, exponent = law.log_envelope(lags), law.local_exponent(lags)
    assert np.isfinite(log_f).all() and np.isfinite(exponent).all()
    assert log_f[0] == 0 and exponent[0] == 0
    assert (log_f <= 0).all() and (np.diff(log_f) <= 1e-12 * (1 + abs(log_f[1:]))).all()
    assert (exponent >= 0).all()


@pytest.mark.parametrize("law", LAWS, ids=IDS)
def test_density_integrates_to_cdf_and_quantiles_invert_it(law):
    q = np.array([1e-3, 0.2, 0.5, 0.9, 0.999])
    tau = law.ppf(q)
    np.testing.assert_allclose(law.cdf(tau), q, rtol=1e-11)
    np.testing.assert_allclose(law.sf(tau), 1 - q, rtol=1e-11)
    np.testing.assert_allclose(law.isf(1 - q), tau, rtol=1e-10)
    mass, _ = integrate.quad(lambda y: math.exp(y) * law.pdf(math.exp(y)), *np.log(tau[[1, 3]]), epsabs=0, epsrel=1e-12)
    assert mass == pytest.approx(0.7, rel=1e-10)


@pytest.mark.parametrize("law", [law for law in LAWS if not isinstance(law, TruncatedPareto)], ids=repr)
def test_upper_quantiles_far_out(law):
    q = np.array([1e-12, 1e-100])
    np.testing.assert_allclose(law.logsf(law.isf(q)), np.log(q), rtol=1e-10)


@pytest.mark.parametrize("law", LAWS, ids=IDS)
def test_draws_follow_the_law_and_the_seed(law):
    tau = law.rvs(4000, rng=7)
    assert stats.kstest(tau, law.cdf).pvalue > 1e-3
    np.testing.assert_array_equal(tau, law.rvs(4000, rng=np.random.default_rng(7)))
    assert isinstance(law.rvs(rng=1), float) and law.rvs((2, 3), rng=1).shape == (2, 3)


@pytest.mark.parametrize("law", LAWS, ids=IDS)
def test_moments(law):
    low, high = law.support
    low, high = math.log(max(low, 1e-18)), math.log(min(high, 1e110))
    for s in (-1.0, 0.25):
        value, _ = integrate.quad(
            lambda y, s=s: math.exp((1 + s) * y) * law.pdf(math.exp(y)),
            low,
            high,
            epsabs=0,
            limit=800,
            points=np.log(law.ppf([0.01, 0.1, 0.5, 0.9, 0.999])),
        )
        if math.isfinite(law.moment(s)):
            assert law.moment(s) == pytest.approx(value, rel=1e-6)
        else:
            assert value > 1e3
    # f'(0) = -E mu
    h = 1e-7
    if law.moment(-2.0) < 1e3:
        assert -law.log_envelope(h) / h == pytest.approx(law.moment(-1.0), rel=1e-4)


def test_moments_diverge_at_the_tail_index():
    assert Pareto(1.0).mean_timescale == math.inf
    assert GammaRates(0.8, 1.0).moment([0.5, 0.8]).tolist()[1] == math.inf
    assert TruncatedPareto(0.5, 1.0, 1e3).moment(0.5) == pytest.approx(0.5 * math.log(1e3) / (1 - 1e3**-0.5))


def test_karamata_constant():
    # p ~ C tau^(-1-b) with C = b tau_min^b, so f l^b -> C Gamma(b).
    law = Pareto(0.7, 3.0)
    assert law.envelope(1e6) * 1e6**0.7 == pytest.approx(0.7 * 3.0**0.7 * math.gamma(0.7), rel=1e-12)


def test_mellin_pair():
    # int l^(s-1) f dl = Gamma(s) M(s)
    law, s = GammaRates(1.5, 2.0), 0.6
    value, _ = integrate.quad(lambda y: math.exp(s * y) * law.envelope(math.exp(y)), -60, 60, limit=400)
    assert value == pytest.approx(math.gamma(s) * law.moment(s), rel=1e-9)


def test_laws_contain_each_other():
    lags = np.geomspace(0.01, 1e3, 20)
    np.testing.assert_allclose(TruncatedPareto(0.7, 1.0, 1e40).envelope(lags), Pareto(0.7).envelope(lags), rtol=1e-12)
    np.testing.assert_allclose(TemperedPareto(0.7, 1.0, 1e40).envelope(lags), Pareto(0.7).envelope(lags), rtol=1e-12)
    np.testing.assert_allclose(InverseGamma(0.7, 2.0).envelope(lags), GammaRates(0.7, 2.0).envelope(lags), rtol=0)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Pareto(0.0),
        lambda: Pareto(1.0, math.inf),
        lambda: Pareto([1.0, 2.0]),
        lambda: TruncatedPareto(1.0, 2.0, 2.0),
        lambda: LogNormal(math.nan, 1.0),
        lambda: GammaRates(1.0, "2"),
        lambda: InverseGamma(1.0, -1.0),
        lambda: Pareto(1.0).envelope(-1.0),
        lambda: Pareto(1.0).ppf(1.1),
    ],
)
def test_refusals(make):
    with pytest.raises(ParameterError):
        make()


def test_outside_the_support():
    law = TruncatedPareto(1.0, 2.0, 4.0)
    assert law.cdf([1.0, 5.0]).tolist() == [0.0, 1.0]
    assert law.sf([1.0, 5.0]).tolist() == [1.0, 0.0]
    assert law.pdf([1.0, 5.0]).tolist() == [0.0, 0.0]
    assert law.ppf([0.0, 1.0]).tolist() == [2.0, 4.0]
    assert law.isf([0.0, 1.0]).tolist() == [4.0, 2.0]
