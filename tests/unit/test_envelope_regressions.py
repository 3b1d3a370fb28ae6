"""What a hostile tester found in the envelopes, their inversion and the spectra."""

import math
import warnings
from types import SimpleNamespace

import mpmath as mp
import numpy as np
import pytest

from levycollapse._envelope.inverse import SpectrumStatus, invert_envelope
from levycollapse._envelope.tauberian import tauberian_envelope
from levycollapse._laws.spectra import LogNormal, Pareto, TruncatedPareto
from levycollapse.errors import ParameterError

LAGS = np.geomspace(1, 1e4, 50)
NOISE = 1 + 0.01 * np.random.default_rng(2).standard_normal(50)


def truncated(beta, low, high, lag):
    """Envelope on the doubles as they are: quadrature in log tau if narrow, incomplete gammas if wide."""
    with mp.workdps(80):
        b, lo, hi, lag = (mp.mpf(v) for v in (beta, low, high, lag))
        length, x = mp.log(hi / lo), lag / lo
        if length < 1:
            total = mp.quad(lambda y: b * mp.exp(-b * y - x * mp.exp(-y)), [0, length])
        else:
            whole = mp.gamma(b) if x > 1e4 else mp.gammainc(b, 0, x)
            total = b * x**-b * (whole - mp.gammainc(b, 0, lag / hi))
        return float(total / -mp.expm1(-b * length))


def quantile(beta, low, high, q):
    with mp.workdps(60):
        b, lo, hi = (mp.mpf(v) for v in (beta, low, high))
        mass = -mp.expm1(-b * mp.log(hi / lo))
        return float(lo * mp.exp(-mp.log(1 - mp.mpf(q) * mass) / b))


@pytest.mark.parametrize("gap", [2.3e-16, 1e-15, 1e-12, 1e-9, 1e-6, 1e-3, 0.3, 0.9])
def test_narrow_truncated_pareto(gap):
    law = TruncatedPareto(0.5, 1.0, 1 + gap)
    for lag in (1e-18, 1e-6, 1e-3, 1.0, 30.0, 300.0):
        assert law.envelope(lag) == pytest.approx(truncated(0.5, 1.0, 1 + gap, lag), rel=1e-12)
        assert law.local_exponent(lag) == pytest.approx(lag, rel=max(gap, 1e-12))
    assert law.ppf(0.3) == pytest.approx(quantile(0.5, 1.0, 1 + gap, 0.3), rel=1e-15)


@pytest.mark.parametrize("beta", [1e-10, 0.01, 0.5, 2.0])
def test_truncated_pareto_over_four_hundred_decades(beta):
    ends = 1e-200, 1e200
    law = TruncatedPareto(beta, *ends)
    # An index of 1e-10 leaves 1e-7 of the mass to work with.
    accuracy = 1e-12 if beta >= 0.01 else 1e-8
    for q in (0.1, 0.3, 0.9):
        assert law.ppf(q) == pytest.approx(quantile(beta, *ends, q), rel=1e-12)
        assert law.isf(q) == pytest.approx(quantile(beta, *ends, mp.mpf(1) - mp.mpf(q)), rel=1e-12)
        assert law.cdf(law.ppf(q)) == pytest.approx(q, rel=1e-12)
        assert law.sf(law.isf(q)) == pytest.approx(q, rel=1e-12)
    for lag in (1e-250, 1e-200, 1e-199, 1e-100, 1.0, 1e60):
        want = truncated(beta, *ends, lag)
        assert law.envelope(lag) == pytest.approx(want, rel=accuracy, abs=1e-300)
    for lag in (1e-250, 1e-100, 1.0, 1e150, 1e199, 1e202):
        assert np.isfinite(law.log_envelope(lag)) and np.isfinite(law.local_exponent(lag))
    assert np.isfinite(law.logpdf(law.ppf(0.5))) and np.isfinite(law.moment(0.1))


IMPOSSIBLE = {
    "increasing": LAGS**0.3,
    "random": 0.1 + np.random.default_rng(0).random(50),
    "oscillating": (1 + LAGS) ** -0.5 * (1 + 0.2 * np.sin(3 * np.log(LAGS))),
    "250 decades up": np.geomspace(1e-250, 1, 50),
}


@pytest.mark.parametrize("name", IMPOSSIBLE)
@pytest.mark.parametrize("sigma", [0.01, None])
def test_what_cannot_be_an_envelope_is_not_accepted(name, sigma):
    found = invert_envelope(LAGS, IMPOSSIBLE[name], sigma)
    assert found.status is SpectrumStatus.NOT_AN_ENVELOPE
    assert not found.exponentials.accepted
    assert all(map(math.isnan, (*found.beta, *found.mass_above(10.0), found.tail_start, found.tail_prefactor)))


def test_twelve_increasing_values():
    lags = np.geomspace(1, 1e4, 12)
    assert invert_envelope(lags, lags**0.3).status is SpectrumStatus.NOT_AN_ENVELOPE


@pytest.mark.parametrize("sigma", [0.01, 1e-4, None])
def test_envelopes_without_noise_stay_possible(sigma):
    for f in (np.ones(50), np.exp(-LAGS / 100), Pareto(0.8).envelope(LAGS), LogNormal(3.0, 1.0).envelope(LAGS)):
        assert invert_envelope(LAGS, f, sigma).status is not SpectrumStatus.NOT_AN_ENVELOPE


def test_lags_over_too_many_decades_are_refused():
    for lags in (np.geomspace(1e-300, 1e300, 60), np.geomspace(1e-10, 1e10, 60)):
        with pytest.raises(ParameterError, match=r"lags.*(span 20 decades; at most 16|between 1e-100 and 1e100)"):
            invert_envelope(lags, np.ones(60))


@pytest.mark.parametrize("sigma", [1e300, 1e-300])
def test_absurd_errors_are_refused(sigma):
    with pytest.raises(ParameterError, match=r"sigma=1e[+-]300 must be a relative error between 1e-12 and 1e6"):
        invert_envelope(LAGS, Pareto(0.8).envelope(LAGS), sigma)


def test_errors_of_the_wrong_length():
    with pytest.raises(
        ParameterError, match=r"sigma has shape \(7,\); it must be one number or one for each of 50 lags"
    ):
        invert_envelope(LAGS, Pareto(0.8).envelope(LAGS), np.full(7, 0.01))


@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_the_scale_of_f_is_free(scale):
    f = Pareto(0.8).envelope(LAGS) * NOISE
    one, other = invert_envelope(LAGS, f, 0.01), invert_envelope(LAGS, f * scale, 0.01)
    assert other.status is one.status is SpectrumStatus.POWER_TAIL
    assert other.beta == pytest.approx(one.beta, rel=1e-6)
    assert other.tail_prefactor == pytest.approx(scale * one.tail_prefactor, rel=1e-6)
    assert other.exponentials.weights.sum() == pytest.approx(scale * one.exponentials.weights.sum(), rel=1e-6)
    np.testing.assert_allclose(other.envelope(LAGS), scale * one.envelope(LAGS), rtol=1e-6)
    assert other.mass_above(10.0).upper == pytest.approx(scale * one.mass_above(10.0).upper, rel=1e-3)


@pytest.mark.parametrize("log_power", [0.0, -2.5])
def test_tauberian_overflow_and_underflow_have_no_accuracy(log_power):
    tail = SimpleNamespace(rate=3.0, log_power=log_power, loglog_power=0.0, prefactor=1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = tauberian_envelope(tail, [1e-300, 1e6, 1e300])
    assert np.isinf(found.relative_error[[0, 2]]).all() and found.relative_error[1] < 1
