"""The special cases that have one meaning everywhere, and the edges of floating point."""

from __future__ import annotations

import math

import mpmath as mp
import numpy as np
import pytest

import levycollapse as lc
from levycollapse import ExponentStatus, IntensityStatus, Phase, TailForm
from tests import twin


def test_no_jumps():
    for lam in (0.0, 0.5, 3.0):
        result = lc.solve_exponent(1.0, 0.4, 0.0, 1.5, lam)
        assert (result.beta, result.status) == (2.5, ExponentStatus.GAUSSIAN)
        assert lc.phase(1.0, 0.4, 0.0, 1.5, lam) is Phase.CONCENTRATED
        assert lc.phase(1.0, 1.0, 0.0, 1.5, lam) is Phase.CRITICAL
        assert lc.phase(1.0, 2.0, 0.0, 1.5, lam) is Phase.BROAD
        tail = lc.tail_law(1.0, 0.4, 0.0, 1.5, lam)
        assert (tail.rate, tail.log_power, tail.loglog_power, tail.form) == (2.5, 0.0, 0.0, TailForm.POWER)


def test_no_tempering():
    for alpha, phase, form, rate in (
        (1.5, Phase.LOGARITHMIC, TailForm.LOGARITHMIC, 0.0),
        (1.0, Phase.NONSTATIONARY, TailForm.NONSTATIONARY, math.nan),
        (0.5, Phase.NONSTATIONARY, TailForm.NONSTATIONARY, math.nan),
    ):
        result = lc.solve_exponent(1.0, 0.1, 0.3, alpha, 0.0)
        assert math.isnan(result.beta)
        assert result.status is ExponentStatus.UNTEMPERED
        assert lc.phase(1.0, 0.1, 0.3, alpha, 0.0) is phase
        tail = lc.tail_law(1.0, 0.1, 0.3, alpha, 0.0)
        assert tail.form is form
        np.testing.assert_equal(tail.rate, rate)
        np.testing.assert_equal(tail.log_power, -alpha if form is TailForm.LOGARITHMIC else math.nan)
    assert math.isnan(lc.jump_threshold(1.0, 0.1, 1.5, 0.0))
    assert math.isnan(lc.intensity_for_exponent(0.5, 1.0, 0.1, 1.5, 0.0))


def test_threshold():
    for alpha, powers in ((0.7, (-0.3, 0.0)), (1.0, (0.0, -1.0)), (1.5, (0.0, 0.0))):
        for lam in (0.5, 1.0, 3.0):
            threshold = lc.jump_threshold(1.0, 0.1, alpha, lam)
            result = lc.solve_exponent(1.0, 0.1, threshold, alpha, lam)
            assert (result.beta, result.gap, result.status) == (lam, 0.0, ExponentStatus.AT_THRESHOLD)
            assert lc.phase(1.0, 0.1, threshold, alpha, lam) is Phase.COLLAPSED
            tail = lc.tail_law(1.0, 0.1, threshold, alpha, lam)
            assert (tail.rate, tail.form) == (lam, TailForm.THRESHOLD)
            assert (tail.log_power, tail.loglog_power) == pytest.approx(powers)


def test_below_threshold_the_tail_is_a_power():
    tail = lc.tail_law(1.0, 0.1, 0.05, 1.5, 3.0)
    assert (tail.rate, tail.log_power, tail.loglog_power, tail.form) == (3.0, -2.5, 0.0, TailForm.TEMPERED)
    assert lc.phase(1.0, 0.1, 0.05, 1.5, 3.0) is Phase.COLLAPSED


def test_strong_gaussian_noise_needs_no_jumps():
    assert lc.jump_threshold(1.0, 0.5, 1.5, 3.0) == 0.0
    assert 0 < lc.spectral_exponent(1.0, 0.5, 1e-9, 1.5, 3.0) < 2.0


@pytest.mark.parametrize("alpha", [0.2, 0.5, 1.0, 1 + 1e-9, 1.5, 1.95])
@pytest.mark.parametrize("lam", [1.0001, 1.5, 3.0, 40.0])
def test_critical_manifold_is_recognised(alpha, lam):
    """A grid that contains the manifold finds it, whether its value comes from here or from mpmath."""
    kappa, eta_G = 1.0, 0.02
    eta_J = lc.critical_intensity(kappa, eta_G, alpha, lam)
    assert lc.phase(kappa, eta_G, eta_J, alpha, lam) is Phase.CRITICAL
    with twin.working():
        rounded = float(twin.intensity(1.0, kappa, eta_G, alpha, lam))
    assert lc.phase(kappa, eta_G, rounded, alpha, lam) is Phase.CRITICAL
    assert lc.phase(kappa, eta_G, eta_J * (1 + 1e-12), alpha, lam) is Phase.BROAD
    assert lc.phase(kappa, eta_G, eta_J * (1 - 1e-12), alpha, lam) is Phase.CONCENTRATED
    assert lc.phase(kappa, eta_G, eta_J * (1 - 1e-12), alpha, lam, rtol=1e-11) is Phase.CRITICAL


def test_critical_manifold_exists_only_above_lam_one():
    assert math.isnan(lc.critical_intensity(1.0, 0.1, 1.5, 1.0))
    assert math.isnan(lc.critical_intensity(1.0, 1.0, 1.5, 3.0))
    threshold = lc.jump_threshold(1.0, 0.1, 1.5, 1.0)
    assert lc.spectral_exponent(1.0, 0.1, threshold, 1.5, 1.0) == 1.0
    assert lc.phase(1.0, 0.1, threshold, 1.5, 1.0) is Phase.COLLAPSED


def test_inverse_design_statuses():
    assert lc.solve_intensity(4.0, 1.0, 0.1, 1.5, 3.0).status is IntensityStatus.ABOVE_TEMPERING
    assert lc.solve_intensity(2.5, 1.0, 0.5, 1.5, 3.0).status is IntensityStatus.ABOVE_GAUSSIAN
    assert lc.solve_intensity(2.5, 1.0, 0.4, 1.5, 3.0) == lc.IntensityResult(0.0, IntensityStatus.REACHED)
    assert lc.intensity_for_exponent(3.0, 1.0, 0.1, 1.5, 3.0) == lc.jump_threshold(1.0, 0.1, 1.5, 3.0)
    mixed = lc.solve_intensity([1.0, 4.0], 1.0, 0.1, 1.5, 3.0)
    np.testing.assert_array_equal(mixed.status, [IntensityStatus.REACHED, IntensityStatus.ABOVE_TEMPERING])


def test_scalars_in_python_numbers_out(reference):
    assert type(lc.spectral_exponent(**reference)) is float
    assert type(lc.spectral_exponent(**{**reference, "alpha": np.float64(1.5)})) is float
    assert type(lc.phase(**reference)) is Phase
    result = lc.solve_exponent(**reference)
    assert [type(v) for v in (result.beta, result.error, result.iterations, result.gap)] == [float, float, int, float]
    assert lc.spectral_exponent(**{**reference, "alpha": [1.5]}).shape == (1,)
    assert lc.phase(**{**reference, "alpha": [[1.5]]}).dtype.kind == "i"
    assert lc.spectral_exponent(**{**reference, "eta_J": np.ones((2, 1)), "alpha": [1.1, 1.2, 1.3]}).shape == (2, 3)
    assert lc.spectral_exponent(**{**reference, "eta_J": np.empty(0)}).shape == (0,)


@pytest.mark.parametrize(
    "model",
    [
        (1.0, 0.0, 1e200, 0.5, 1.0),
        (1e-100, 1e-200, 1e-40, 1.5, 1e-100),
        (1e-150, 0.0, 1e-10, 1.2, 1e-20),
        (1.0, 1e100, 1.0, 1.5, 3.0),
        (1e150, 1e-50, 1e152, 0.9, 1e10),
        (1.0, 0.0, 5.0, 1e-3, 2.0),
        (1.0, 0.0, 5.0, 1e-12, 2.0),
        (1.0, 0.0, 0.5, 2 - 1e-9, 2.0),
        (1e300, 0.0, 1e300, 1.5, 3.0),
        (1.0, 0.0, 1.0, 0.0625, 1.0),
    ],
)
def test_far_scales(model):
    """Factors over- and underflow on the way, the answer does not."""
    with mp.workdps(700):
        exact = twin.exponent(*model)
    assert lc.spectral_exponent(*model) == pytest.approx(float(exact), rel=2e-14)


def test_unrepresentable_is_said():
    assert lc.solve_exponent(1e-300, 0.0, 1e300, 1.5, 1.0).status is ExponentStatus.UNREPRESENTABLE
    with pytest.raises(lc.ParameterError, match=r"at index \[1\].*outside the range of floating-point"):
        lc.spectral_exponent([1.0, 1e-300], 0.0, 1e300, 1.5, 1.0)


def test_characteristic_outside_the_strip_is_infinite():
    assert lc.characteristic(3.5, 1.0, 0.1, 0.62, 1.5, 3.0) == math.inf
    assert lc.characteristic(3.5, 1.0, 0.1, 0.0, 1.5, 3.0) == 0.1 * 3.5**2 - 3.5
    assert lc.characteristic(-1.0, 1.0, 0.1, 0.0, 1.5, 3.0) == 1.1
