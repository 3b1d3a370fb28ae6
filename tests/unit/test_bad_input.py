"""Every bad input is one ParameterError that names the parameter, its value and what is allowed."""

from __future__ import annotations

import numpy as np
import pytest

import levycollapse as lc
from tests.conftest import REFERENCE

FIVE = [
    lc.spectral_exponent,
    lc.solve_exponent,
    lc.exponent_sensitivities,
    lc.phase,
    lc.tail_law,
    lc.small_exponent,
    lc.near_threshold_exponent,
    lambda **p: lc.characteristic(0.5, **p),
    lambda **p: lc.CollapseModel.from_parameters(**p),
    lambda **p: lc.phase_diagram(**p),
]
BAD = [
    ("alpha", 2.0, r"alpha=2.0 must be a number strictly between 0 and 2"),
    ("alpha", 0.0, r"alpha=0.0 must be"),
    ("alpha", -1, r"alpha=-1.0 must be"),
    ("eta_G", -0.1, r"eta_G=-0.1 must be a finite number >= 0"),
    ("eta_J", -1e-300, r"eta_J=-1e-300 must be a finite number >= 0"),
    ("kappa", 0.0, r"kappa=0.0 must be a finite number > 0"),
    ("kappa", np.inf, r"kappa=inf must be a finite number > 0"),
    ("lam", -3.0, r"lam=-3.0 must be a finite number >= 0"),
    ("lam", np.nan, r"lam=nan must be"),
    ("alpha", "1.5", r"alpha='1.5' must be"),
    ("alpha", None, r"alpha=None must be|alpha is missing"),
    ("alpha", 1.5 + 0j, r"alpha=\(1.5\+0j\) must be"),
    ("alpha", True, r"alpha=True must be"),
    ("eta_J", [0.1, -0.2, -0.3], r"eta_J\[1\]=-0.2 must be a finite number >= 0"),
    ("alpha", np.array([[0.5], [2.5]])[:, 0], r"alpha\[1\]=2.5 must be"),
    ("lam", [[1.0], [1.0, 2.0]], r"lam=.* is not a rectangular array"),
    ("lam", np.ma.array([1.0, 2.0], mask=[False, True]), r"lam has masked entries"),
    ("kappa", 10**400, r"kappa=1000.*must be"),
]


@pytest.mark.parametrize("function", FIVE)
@pytest.mark.parametrize(("name", "value", "message"), BAD)
def test_five_parameter_functions(function, name, value, message):
    with pytest.raises(lc.ParameterError, match=message):
        function(**{**REFERENCE, name: value})


@pytest.mark.parametrize("function", FIVE)
def test_no_noise(function):
    with pytest.raises(lc.ParameterError, match=r"eta_G=0 and eta_J=0.*without noise"):
        function(**{**REFERENCE, "eta_G": 0.0, "eta_J": 0.0})


def test_no_noise_names_the_index():
    with pytest.raises(lc.ParameterError, match=r"at index \[1, 0\]"):
        lc.phase(1.0, [[0.1], [0.0]], [0.0, 1.0], 1.5, 3.0)


def test_shapes_that_do_not_broadcast():
    with pytest.raises(lc.ParameterError, match=r"eta_J \(2,\), alpha \(3,\)"):
        lc.phase(1.0, 0.1, [0.1, 0.2], [1.1, 1.2, 1.3], 3.0)


def test_other_arguments():
    law = lc.TemperedStable(1.5, 3.0, 0.62)
    cases = [
        (lambda: lc.intensity_for_exponent(0.0, 1.0, 0.1, 1.5, 3.0), "beta=0.0 must be"),
        (lambda: lc.characteristic(np.nan, 1.0, 0.1, 0.6, 1.5, 3.0), "beta=nan must be"),
        (lambda: lc.phase(**REFERENCE, rtol=-1), "rtol=-1.0 must be"),
        (lambda: lc.small_exponent(**REFERENCE, order=4), "order=4 must be one of 1, 2, 3"),
        (lambda: lc.near_threshold_exponent(**REFERENCE, order=0), "order=0 must be one of 1, 2"),
        (lambda: law.symbol(4 + 1j), "inside the strip"),
        (lambda: law.symbol(np.inf), "s=inf must be"),
        (lambda: law.cumulant(0), "n=0 must be an integer >= 1"),
        (lambda: law.cumulant(2.0), "n=2.0 must be an integer >= 1"),
        (lambda: law.cumulant(2, t=0.0), "t=0.0 must be"),
        (lambda: law.cf(1.0, t=-1.0), "t=-1.0 must be"),
        (lambda: law.levy_density("x"), "z='x' must be"),
        (lambda: lc.TemperedStable(1.5, 3.0, -1.0), "intensity=-1.0 must be"),
        (lambda: lc.TemperedStable(1.5, 3.0, 1.0, skew=0.3), "asymmetric jump laws are not covered"),
        (lambda: lc.TemperedStable.from_stable_scale(1.5, 3.0, -2.0), "sigma=-2.0 must be"),
        (lambda: lc.CollapseModel(lambda z: -z, 0.1, law), "must be a Drift; wrap a function"),
        (lambda: lc.CollapseModel(lc.LinearDrift(1.0), 0.1, 0.62), "must be a TemperedStable law; asymmetric"),
        (lambda: lc.SaturatingDrift(1.0, width=0.0), "width=0.0 must be"),
        (lambda: lc.SaturatingDrift(1.0, kappa_right=-1.0), "kappa_right=-1.0 must be"),
        (lambda: lc.LinearDrift(0.0), "rate=0.0 must be"),
        (lambda: lc.phase_diagram(**{**REFERENCE, "quantity": "gamma"}), "quantity='gamma' must be one of"),
        (lambda: lc.phase_diagram(**{**REFERENCE, "lam": [[1.0]]}), r"lam has shape \(1, 1\)"),
        (lambda: lc.phase_diagram(**{**REFERENCE, "lam": []}), r"lam has shape \(0,\)"),
        (lambda: lc.solve_exponent(1.0, 0.1), "eta_J is missing"),
        (lambda: lc.solve_exponent(lc.CollapseModel.from_parameters(**REFERENCE), alpha=1.0), "alpha is already in"),
    ]
    for call, message in cases:
        with pytest.raises(lc.ParameterError, match=message):
            call()
