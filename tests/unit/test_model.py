from __future__ import annotations

import math

import numpy as np
import pytest

import levycollapse as lc
from levycollapse import CollapseModel, Drift, ExponentStatus, LinearDrift, Phase, SaturatingDrift, TailForm
from tests.conftest import REFERENCE

JUMPS = lc.TemperedStable(1.5, 3.0, 0.62)


def test_reference_model_is_the_functions(reference):
    model = CollapseModel.from_parameters(**reference)
    assert {name: getattr(model, name) for name in reference} == reference
    assert model.beta == lc.spectral_exponent(**reference)
    assert model.phase is lc.phase(**reference)
    assert model.tail == lc.tail_law(**reference)
    assert model.eta_J_star == lc.jump_threshold(1.0, 0.1, 1.5, 3.0)
    assert lc.solve_exponent(model) == lc.solve_exponent(**reference)


def test_only_the_left_plateau_matters():
    drift = SaturatingDrift(1.0, center=-2.0, width=0.3, kappa_right=7.0)
    assert CollapseModel(drift, 0.1, JUMPS).beta == lc.spectral_exponent(**REFERENCE)
    root_drift = Drift.from_callable(lambda z: -z / np.sqrt(1 + z * z))
    assert CollapseModel(root_drift, 0.1, JUMPS).beta == pytest.approx(lc.spectral_exponent(**REFERENCE), rel=1e-12)


@pytest.mark.parametrize("drift", [LinearDrift(0.5), Drift.from_callable(lambda z: -(z**3))], ids=repr)
def test_confining(drift):
    model = CollapseModel(drift, 0.1, JUMPS)
    assert model.phase is Phase.CONFINED
    assert math.isnan(model.beta)
    assert math.isnan(model.eta_J_star)
    assert lc.solve_exponent(model).status is ExponentStatus.CONFINED


def test_linear_drift_tails():
    tail = CollapseModel(LinearDrift(0.5), 0.1, JUMPS).tail
    assert (tail.rate, tail.log_power, tail.loglog_power, tail.form) == (3.0, -3.5, 0.0, TailForm.LINEAR)
    untempered = CollapseModel(LinearDrift(0.5), 0.1, lc.TemperedStable(1.5, 0.0, 0.62)).tail
    assert (untempered.rate, untempered.log_power) == (0.0, -2.5)
    gaussian = CollapseModel(LinearDrift(0.5), 0.1, lc.TemperedStable(1.5, 3.0, 0.0)).tail
    assert math.isnan(gaussian.rate)
    assert gaussian.form is TailForm.UNKNOWN
    assert CollapseModel(Drift.from_callable(lambda z: -(z**3)), 0.1, JUMPS).tail.form is TailForm.UNKNOWN


@pytest.mark.parametrize("function", [lambda z: 0.0 * z, lambda z: 0.5 + 0.0 * z, np.tanh], ids=["none", "one", "away"])
def test_not_restoring(function):
    model = CollapseModel(Drift.from_callable(function), 0.1, JUMPS)
    assert model.phase is Phase.NONSTATIONARY
    assert math.isnan(model.beta)
    assert math.isnan(model.eta_J_star)
    assert lc.solve_exponent(model).status is ExponentStatus.NOT_RESTORING
    assert model.tail.form is TailForm.NONSTATIONARY


def test_arrays(reference):
    model = CollapseModel.from_parameters(**{**reference, "eta_J": [0.1, 0.62, 3.0]})
    np.testing.assert_array_equal(model.phase, [Phase.COLLAPSED, Phase.CONCENTRATED, Phase.BROAD])
    assert model.beta.shape == (3,)
    assert model.tail.rate.shape == (3,)
    confined = CollapseModel(LinearDrift(0.5), 0.1, lc.TemperedStable([0.5, 1.5], 3.0, 0.62))
    np.testing.assert_array_equal(confined.phase, [Phase.CONFINED] * 2)
    np.testing.assert_array_equal(confined.tail.log_power, [-2.5, -3.5])
    assert np.isnan(confined.beta).all()


def test_repr_builds_the_model(reference):
    model = CollapseModel.from_parameters(**reference)
    names = {"CollapseModel": CollapseModel, "SaturatingDrift": SaturatingDrift, "TemperedStable": lc.TemperedStable}
    assert eval(repr(model), names).beta == model.beta
