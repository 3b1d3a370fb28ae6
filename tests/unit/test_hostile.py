"""Inputs that once went through, crashed or gave a wrong number."""

from __future__ import annotations

import copy
import math
import pickle
import subprocess
import sys

import mpmath as mp
import numpy as np
import pytest

import levycollapse as lc
from tests import twin
from tests.conftest import REFERENCE


@pytest.mark.parametrize("alpha", [1e-3, 1e-8, 1e-11, 1e-13, 1e-16, 1e-17, 1e-100, 1e-200, 1e-305])
@pytest.mark.parametrize("gap", [0.4, 1e-3, 1e-9])
def test_tiny_alpha(alpha, gap):
    """y**alpha has no digits of y left there."""
    beta = 3.0 * (1 - gap)
    with mp.workdps(700 if alpha < 1e-20 else 90):
        eta_J = float(twin.intensity(mp.mpf(beta), 1.0, 0.1, mp.mpf(alpha), 3.0))
    found = lc.solve_exponent(1.0, 0.1, eta_J, alpha, 3.0)
    assert found.beta == pytest.approx(beta, rel=2e-14)
    assert found.iterations < 12


@pytest.mark.parametrize(("alpha", "lam"), [(1.5, 1e-250), (1.5, 1e250), (1.99, 1e-160), (0.5, 1e-300), (0.05, 1e200)])
def test_threshold_at_far_scales(alpha, lam):
    with mp.workdps(40):
        assert lc.jump_threshold(1.0, 0.0, alpha, lam) == pytest.approx(
            float(twin.threshold(1, 0, alpha, lam)), rel=2e-14
        )


def test_intensity_out_of_range_is_said():
    assert lc.solve_intensity(1e-300, 1.0, 0.0, 0.5, 1e300).status is lc.IntensityStatus.UNREPRESENTABLE
    with pytest.raises(lc.ParameterError, match="outside the range of floating-point"):
        lc.intensity_for_exponent(1e-300, 1.0, 0.0, 0.5, 1e300)
    with pytest.raises(lc.ParameterError, match=r"at index \[1\].*outside the range"):
        lc.critical_intensity(1.0, 0.0, 0.5, [3.0, 1e300])


@pytest.mark.parametrize("alpha", [0.01, 0.3, 0.5, 0.8, 1 - 1e-9, 1.0, 1 + 1e-9, 1.5, 1.95])
@pytest.mark.parametrize("ratio", [2e8, 1e30])
def test_symbol_far_out_on_the_imaginary_axis(alpha, ratio):
    with twin.working():
        exact = twin.symbol(mp.mpc(0, 0.7 * ratio), 0.8, alpha, 0.7).real
        assert lc.TemperedStable(alpha, 0.7, 0.8).symbol(0.7j * ratio).real == pytest.approx(float(exact), rel=1e-14)
    for tiny in (5e-324, 1e-310, 1e-300):
        assert lc.TemperedStable(alpha, tiny, 1.0).cf(1.0) == pytest.approx(
            lc.TemperedStable(alpha, 0.0, 1.0).cf(1.0), rel=1e-3 if alpha < 0.02 else 1e-12
        )


def test_unrepresentable_is_refused_alike():
    model = {"kappa": 1e-200, "eta_G": 1e200, "eta_J": 0.0, "alpha": 0.5, "lam": 1.0}
    for call in (
        lambda: lc.spectral_exponent(**model),
        lambda: lc.tail_law(**model),
        lambda: lc.exponent_sensitivities(**model),
        lambda: lc.CollapseModel.from_parameters(**model).beta,
        lambda: lc.phase_diagram(**{**model, "alpha": [0.5, 1.0]}),
    ):
        with pytest.raises(lc.ParameterError, match=r"kappa=1e-200, eta_G=1e.200.*outside the range"):
            call()


def test_linear_drift_with_mixed_intensities():
    tail = lc.CollapseModel(lc.LinearDrift(1.0), 0.1, lc.TemperedStable(1.5, 3.0, [0.0, 1.0])).tail
    np.testing.assert_array_equal(tail.form, [lc.TailForm.UNKNOWN, lc.TailForm.LINEAR])
    np.testing.assert_array_equal(tail.rate, [np.nan, 3.0])


def test_shapes_that_do_not_fit_are_parameter_errors():
    for call in (
        lambda: lc.characteristic([1, 2, 3], **{**REFERENCE, "kappa": [1, 2]}),
        lambda: lc.phase(**{**REFERENCE, "eta_J": [1, 2]}, rtol=[0, 0, 0]),
        lambda: lc.SaturatingDrift([1, 2])([1, 2, 3]),
        lambda: lc.SaturatingDrift(1).flow([1, 2, 3], [1, 2]),
        lambda: lc.LinearDrift([1, 2])([1, 2, 3]),
        lambda: lc.LinearDrift([1, 2]).flow([1, 2, 3], 1.0),
        lambda: lc.CollapseModel.from_parameters(**{**REFERENCE, "eta_J": [1, 2], "alpha": [1.1, 1.2, 1.3]}),
        lambda: lc.TemperedStable(1.5, 3.0, 1.0).symbol([[1, 2], [3]]),
        lambda: lc.Drift.from_callable(lambda z: -np.tanh(z)).flow(1.0, [1.0, 2.0]),
    ):
        with pytest.raises(lc.ParameterError, match=r"do not broadcast|rectangular|has shape"):
            call()


def test_values_that_numpy_would_let_pass():
    for value in (10**5000, [True, 2.0], [np.True_, 2.0], np.array([True, 2.0], dtype=object)):
        with pytest.raises(lc.ParameterError, match="eta_J="):
            lc.phase(**{**REFERENCE, "eta_J": value})


def raises_far_out(z):
    if abs(z) > 100:
        raise RuntimeError("too far")
    return -z


def test_hostile_drift_functions():
    for function, message in (
        (raises_far_out, "f fails for zeta between.*RuntimeError: too far"),
        (lambda z: -np.tanh(z) * 1j, "it is complex"),
        (lambda z: -np.sin(np.pi * z), "has not settled"),
    ):
        with pytest.raises(lc.ParameterError, match=message):
            lc.Drift.from_callable(function, compile=False)
    for options, message in (
        ({"left": [1.0, 1.0]}, r"left=\[1.0, 1.0\] must be a number"),
        ({"flow": lambda z: z}, "flow fails at zeta="),
    ):
        with pytest.raises(lc.ParameterError, match=message):
            lc.Drift.from_callable(lambda z: -np.tanh(z), **options)


def test_stiff_flow_ends():
    assert lc.Drift.from_callable(lambda z: -np.tanh(z)).flow(1.0, 1e6) == pytest.approx(0.0, abs=1e-9)


def test_plateaus_of_any_size():
    assert lc.SaturatingDrift(1e200)(-5.0) == pytest.approx(1e200 * math.tanh(5))
    assert lc.SaturatingDrift(1e-200)(-5.0) == pytest.approx(1e-200 * math.tanh(5))


def test_scale_out_of_range_names_sigma():
    for sigma in (1e-300, 1e300):
        with pytest.raises(lc.ParameterError, match=r"sigma=1e.*is too large or small"):
            lc.TemperedStable.from_stable_scale(1.9, 1.0, sigma)


def test_expansion_agrees_within_rounding_of_the_threshold():
    threshold = lc.jump_threshold(1.0, 0.1, 1.5, 3.0)
    assert lc.near_threshold_exponent(1.0, 0.1, np.nextafter(threshold, 0), 1.5, 3.0) == 3.0
    assert np.isnan(lc.near_threshold_exponent(1.0, 0.1, threshold * (1 - 1e-12), 1.5, 3.0))
    lc.near_threshold_exponent(1.0, 0.1, 0.62, 1e-300, 3.0)  # without a warning


def test_values_cannot_be_changed_behind_the_checks():
    model = lc.CollapseModel.from_parameters(**{**REFERENCE, "kappa": [1.0, 2.0], "eta_G": [0.1, 0.2]})
    for values in (model.kappa, model.eta_G, model.drift.center):
        if np.ndim(values):
            with pytest.raises(ValueError, match="read-only"):
                values[0] = -5
    assert hash(lc.TemperedStable(1.5, 0.0, 1)) == hash(lc.TemperedStable(1.5, -0.0, 1))


def module_level_drift(z):
    return -math.tanh(z)


def test_pickling():
    law = lc.TemperedStable(1.5, 3.0, 0.62)
    for item in (law, lc.SaturatingDrift(1.0), lc.LinearDrift(2.0), lc.CollapseModel.from_parameters(**REFERENCE)):
        for other in (pickle.loads(pickle.dumps(item)), copy.deepcopy(item)):
            assert repr(other) == repr(item)
    drift = lc.Drift.from_callable(module_level_drift)
    again = pickle.loads(pickle.dumps(drift))
    assert (again.left, again(0.3), again.compiled(0.3)) == (drift.left, drift(0.3), drift.compiled(0.3))


def test_import_without_a_cache_folder(tmp_path):
    """Neither the package's folder nor the user's cache can be written: slower, and said, but it works."""
    code = """
import warnings
from numba.core import caching
def nowhere(*a, **k): return None
for locator in caching.CacheImpl._locator_classes: locator.from_function = nowhere
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    from levycollapse._kernels.gamma import gamma_elementwise
assert abs(gamma_elementwise(0.5) - 3.141592653589793**0.5) < 1e-15
assert any("NUMBA_CACHE_DIR" in str(w.message) for w in seen)
"""
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)


def test_pictures_of_other_things_are_refused():
    for thing in (5, None):
        with pytest.raises(lc.ParameterError, match="must be a Dataset made by phase_diagram"):
            lc.plotting.plot_phase_diagram(thing)
