"""Threshold, inverse design and sensitivities in SymPy against the compiled kernels and mpmath twins."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest
import sympy as sp

from levycollapse import symbolic
from levycollapse._theory import exponent as compiled
from levycollapse.errors import ParameterError
from tests import twin

ALPHAS = [0.3, 0.6, 1.0, 1.4, 1.8]
FACE = {"kappa": 1.0, "eta_G": 0.1, "eta_J": 0.9, "lam": 3.0}
ORDER = [symbolic.kappa, symbolic.eta_G, symbolic.eta_J, symbolic.lam]


def without(name):
    return {key: value for key, value in FACE.items() if key != name}


@pytest.mark.parametrize("alpha", ALPHAS)
def test_characteristic(alpha):
    beta = np.linspace(0.3, 2.9, 7)
    phi = symbolic.numeric(symbolic.characteristic(alpha=alpha), [symbolic.beta, *ORDER])
    expected = compiled.characteristic(beta=beta, alpha=alpha, **FACE)
    np.testing.assert_allclose(phi(beta, **FACE), expected, rtol=1e-12, atol=1e-14)
    edge = symbolic.numeric(symbolic.characteristic(symbolic.lam, alpha=alpha))(**FACE)
    assert edge == pytest.approx(compiled.characteristic(beta=3.0, alpha=alpha, **FACE), rel=1e-13)


@pytest.mark.parametrize("alpha", ALPHAS)
def test_threshold(alpha):
    eta_G = np.array([0.0, 0.1, 1 / 3, 0.5])
    threshold = symbolic.numeric(symbolic.jump_threshold(alpha=alpha), [symbolic.kappa, symbolic.eta_G, symbolic.lam])
    expected = compiled.jump_threshold(kappa=1.0, eta_G=eta_G, alpha=alpha, lam=3.0)
    np.testing.assert_allclose(threshold(1.0, eta_G, 3.0), expected, rtol=1e-13, atol=1e-15)
    assert threshold(1.0, 0.5, 3.0) == 0.0


@pytest.mark.parametrize("alpha", [symbolic.alpha, 1, sp.Rational(3, 5)])
def test_threshold_and_critical_manifold_are_zeros_of_phi(alpha):
    edge = symbolic.characteristic(symbolic.lam, alpha=alpha)
    at_threshold = edge.subs(symbolic.eta_J, symbolic.intensity_for_exponent(symbolic.lam, alpha=alpha))
    assert sp.simplify(at_threshold) == 0
    at_one = symbolic.characteristic(1, alpha=alpha).subs(symbolic.eta_J, symbolic.critical_intensity(alpha=alpha))
    assert sp.simplify(at_one) == 0
    assert sp.simplify(symbolic.characteristic(1, alpha=alpha).subs(symbolic.eta_J, 0)) != 0


@pytest.mark.parametrize("alpha", ALPHAS)
def test_inverse_design(alpha):
    beta = np.array([0.4, 1.0, 2.2, 2.9])
    intensity = symbolic.numeric(
        symbolic.intensity_for_exponent(alpha=alpha), [symbolic.beta, symbolic.kappa, symbolic.eta_G, symbolic.lam]
    )
    eta_J = intensity(beta, **without("eta_J"))
    expected = compiled.intensity_for_exponent(beta=beta, alpha=alpha, **without("eta_J"))
    np.testing.assert_allclose(eta_J, expected, rtol=1e-12)
    np.testing.assert_allclose(
        compiled.spectral_exponent(kappa=1.0, eta_G=0.1, eta_J=eta_J, alpha=alpha, lam=3.0), beta, rtol=1e-12
    )
    critical = symbolic.numeric(symbolic.critical_intensity(alpha=alpha))(**without("eta_J"))
    assert critical == pytest.approx(compiled.critical_intensity(alpha=alpha, **without("eta_J")), rel=1e-12)


@pytest.mark.parametrize("alpha", ALPHAS)
def test_sensitivities_match_the_compiled_ones(alpha):
    beta = compiled.spectral_exponent(alpha=alpha, **FACE)
    assert 0 < beta < 3
    expected = compiled.exponent_sensitivities(alpha=alpha, **FACE)
    slopes = symbolic.exponent_sensitivities(alpha=alpha)
    assert slopes._fields == expected._fields
    for name in slopes._fields:
        value = symbolic.numeric(getattr(slopes, name), [symbolic.beta, *ORDER])(beta, **FACE)
        assert value == pytest.approx(getattr(expected, name), rel=1e-11), name


@pytest.mark.parametrize("alpha", ["0.6", "1", "1.4"])
def test_sensitivities_are_derivatives_of_the_root(alpha):
    """Central differences of a 100-digit root; no formula is shared."""
    exact = sp.Rational(alpha)
    values = [mp.mpf(v) for v in ("1", "0.1", "0.9", alpha, "3")]
    slopes = symbolic.exponent_sensitivities(alpha=exact)
    with twin.working():
        values = [mp.mpf(v) for v in ("1", "0.1", "0.9", alpha, "3")]
        beta = twin.exponent(*values)
        step = mp.mpf(10) ** -15
        for place, expr in enumerate(slopes):
            up, down = list(values), list(values)
            up[place] += step
            down[place] -= step
            difference = (twin.exponent(*up) - twin.exponent(*down)) / (2 * step)
            function = symbolic.numeric(expr, [symbolic.beta, *ORDER], "mpmath")
            got = function(beta, values[0], values[1], values[2], values[4])
            assert abs(got / difference - 1) < 1e-24, slopes._fields[place]


def test_general_forms_broadcast_over_alpha():
    alpha = np.array([0.5, 1.5])
    threshold = symbolic.numeric(symbolic.jump_threshold())
    np.testing.assert_allclose(
        threshold(1.0, 0.1, alpha, 3.0), compiled.jump_threshold(kappa=1.0, eta_G=0.1, alpha=alpha, lam=3.0), rtol=1e-13
    )


def test_refusals():
    for call in (
        symbolic.characteristic,
        symbolic.jump_threshold,
        symbolic.intensity_for_exponent,
        symbolic.critical_intensity,
        symbolic.exponent_sensitivities,
    ):
        with pytest.raises(ParameterError, match="alpha=3 must be a number strictly between 0 and 2"):
            call(alpha=3)
    with pytest.raises(ParameterError, match="beta='b' must be"):
        symbolic.characteristic("b")
