from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest
from scipy.integrate import quad

import levycollapse as lc

ALPHAS = [0.3, 0.99999, 1.0, 1.2, 1.9]


@pytest.mark.parametrize("alpha", ALPHAS)
def test_cumulants_of_all_orders(alpha):
    """Against the moments of the Levy density, and the second against the symbol's curvature."""
    law = lc.TemperedStable(alpha, 2.5, 0.4)
    for n in (1, 2, 3, 4, 7, 10, 40):
        if n % 2:
            assert law.cumulant(n) == 0.0
            continue
        with mp.workdps(30):
            moment = 2 * 3 * mp.mpf(0.4) * mp.gamma(n - mp.mpf(alpha)) * mp.mpf(2.5) ** (mp.mpf(alpha) - n)
        assert law.cumulant(n, t=3.0) == pytest.approx(float(moment), rel=1e-13)
    h = 1e-4
    assert law.cumulant(2) == pytest.approx(2 * law.symbol(h) / h**2, rel=1e-7)
    integral = 2 * quad(lambda z: z**4 * law.levy_density(z), 0, np.inf, limit=200)[0]
    assert law.cumulant(4) == pytest.approx(integral, rel=1e-8)


def test_high_orders_and_no_tempering():
    assert np.isinf(lc.TemperedStable(1.5, 1.0, 1.0).cumulant(400))  # beyond 1e308, and it is
    big = lc.TemperedStable(0.5, 1e3, 1.0).cumulant(180)
    assert big == pytest.approx(float(2 * mp.gamma(179.5) * mp.mpf(1000) ** -179.5), rel=1e-12)
    assert np.isinf(lc.TemperedStable(1.5, 0.0, 1.0).cumulant(2))
    assert lc.TemperedStable(1.5, 0.0, 1.0).cumulant(3) == 0.0
    assert lc.TemperedStable(1.5, 0.0, 0.0).cumulant(2) == 0.0


@pytest.mark.parametrize(
    ("n", "alpha", "lam", "intensity", "time"),
    [
        (2, 0.5, 1e-250, 1e-100, 1.0),
        (2, 0.5, 1e-250, 1e-200, 1e100),
        (2, 1.5, 2.0, 1e-200, 1e-200),
        (4, 1.9, 1e-90, 1e-250, 1e60),
        (4, 0.1, 1e100, 1e300, 1e50),
        (4, 0.1, 1e200, 1e300, 1e300),
        (2, 1.3, 3.0, 5e-324, 1e300),
        (300, 1.2, 40.0, 1e-80, 1e-60),
        (300, 1.2, 1e-3, 1.0, 1.0),
    ],
)
def test_cumulants_of_extreme_parameters(n, alpha, lam, intensity, time):
    """Each has a factor outside the range of doubles; the law of a step says the same as the process."""
    with mp.workdps(30):
        a = mp.mpf(alpha)
        exact = float(2 * mp.mpf(time) * mp.mpf(intensity) * mp.gamma(n - a) * mp.mpf(lam) ** (a - n))
    found = lc.TemperedStable(alpha, lam, intensity).cumulant(n, t=time)
    assert found == pytest.approx(exact, rel=5e-13, abs=0.0)
    many = lc.TemperedStable([alpha, alpha], lam, [intensity, 0.0]).cumulant(n, t=time)
    assert many.tolist() == [found, 0.0]


def test_cumulants_of_a_step_are_those_of_the_process():
    for alpha, lam, intensity, t in ((1.5, 3.0, 0.62, 0.01), (0.5, 1e-150, 1e-100, 1e-50), (1.2, 0.0, 1.0, 1.0)):
        process = lc.TemperedStable(alpha, lam, intensity)
        for n in (1, 2, 4, 301, 302):
            assert process.increment(t).cumulant(n) == process.cumulant(n, t=t)
    assert lc.TemperedStable(1.5, 0.0, 1.0).increment(1.0).var == np.inf


@pytest.mark.parametrize("alpha", [1e-3, *ALPHAS, 1.999999])
def test_stable_scale_convention(alpha):
    """Both conventions, both ways: exp(-|sigma k|^alpha) without tempering; sigma/pi at alpha = 1."""
    law = lc.TemperedStable.from_stable_scale(alpha, 0.0, 1.7)
    assert law.stable_scale == pytest.approx(1.7, rel=1e-13)
    for k in (1e-3, 0.2, 5.0):
        assert law.cf(k, t=0.3) == pytest.approx(np.exp(-0.3 * (1.7 * k) ** alpha), rel=1e-13)
    with mp.workdps(40):
        a = mp.mpf(alpha)
        exact = mp.mpf(1.7) / mp.pi if alpha == 1 else -(mp.mpf(1.7) ** a) / (2 * mp.gamma(-a) * mp.cos(mp.pi * a / 2))
    assert law.intensity == pytest.approx(float(exact), rel=1e-13)


def test_limits():
    """Gaussian at alpha = 2, variance gamma at alpha = 0."""
    near_two = lc.TemperedStable.from_stable_scale(2 - 1e-9, 0.5, 1.0)
    assert near_two.symbol(0.3) == pytest.approx(0.09, rel=1e-8)
    near_zero = lc.TemperedStable(1e-9, 2.0, 0.7)
    assert near_zero.symbol(1.5) == pytest.approx(-0.7 * np.log1p(-(1.5**2) / 4), rel=1e-8)


def test_levy_density():
    law = lc.TemperedStable(1.5, 3.0, 0.62)
    z = np.array([-2.0, 0.0, 1e-200, 0.5, 1e4])
    np.testing.assert_allclose(
        law.levy_density(z), [0.62 * 2**-2.5 * np.exp(-6), np.inf, np.inf, 0.62 * 0.5**-2.5 * np.exp(-1.5), 0.0]
    )
    assert lc.TemperedStable(1.5, 3.0, 0.0).levy_density(0.0) == 0.0


def test_arrays_and_identity():
    law = lc.TemperedStable([0.5, 1.5], 3.0, [[0.1], [0.2], [0.3]])
    assert law.symbol(1.0).shape == (3, 2)
    assert law.symbol(np.ones((4, 1, 1))).shape == (4, 3, 2)
    one = lc.TemperedStable(1.5, 3.0, 0.2)
    assert law.symbol(1.0)[1, 1] == one.symbol(1.0)
    assert one == lc.TemperedStable(1.5, 3, 0.2)
    assert hash(one) == hash(lc.TemperedStable(1.5, 3, 0.2))
    assert one != law
    assert eval(repr(one), {"TemperedStable": lc.TemperedStable}) == one
    with pytest.raises(ValueError, match="read-only"):
        law.alpha[0] = 1.0
    with pytest.raises(AttributeError):
        one.alpha = 1.0


def test_input_is_not_frozen_or_shared():
    alphas = np.array([0.5, 1.5])
    law = lc.TemperedStable(alphas, 3.0, 0.1)
    alphas[0] = 0.7
    assert law.alpha[0] == 0.5
