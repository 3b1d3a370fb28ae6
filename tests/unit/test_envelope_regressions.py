"""What a hostile tester found in the envelopes, their inversion and the spectra."""

import mpmath as mp
import numpy as np
import pytest

from levycollapse._laws.spectra import TruncatedPareto


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
