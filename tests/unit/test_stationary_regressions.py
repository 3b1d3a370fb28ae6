"""What a hostile tester found in the stationary law: each test failed before its fix."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import levycollapse as lc


def panel_rule(edges):
    """Gauss-Legendre nodes and weights on panels."""
    x, w = np.polynomial.legendre.leggauss(20)
    half, middle = 0.5 * np.diff(edges), 0.5 * (edges[1:] + edges[:-1])
    return (middle[:, None] + half[:, None] * x).ravel(), (half[:, None] * w).ravel()


def model_of(**numbers):
    return lc.CollapseModel.from_parameters(**numbers)


def two_sided(left, right, eta_G, eta_J, alpha, lam):
    return lc.CollapseModel(lc.SaturatingDrift(left, kappa_right=right), eta_G, lc.TemperedStable(alpha, lam, eta_J))


SMALL_TILTS = {
    "reported": model_of(kappa=2.0, eta_G=3.0, eta_J=0.3, alpha=1.5, lam=2.0),
    "beta 0.16": model_of(kappa=0.5, eta_G=3.0, eta_J=0.3, alpha=1.5, lam=2.0),
    "beta 0.5": model_of(kappa=2.0, eta_G=4.0, eta_J=0.1, alpha=0.7, lam=1.0),
    "beta 0.7": model_of(kappa=3.0, eta_G=4.0, eta_J=0.2, alpha=1.2, lam=3.0),
    "narrow": model_of(kappa=1.0, eta_G=2.0, eta_J=0.3, alpha=1.8, lam=1.0, width=0.5),
}


@pytest.mark.parametrize("name", SMALL_TILTS)
def test_symmetric_law_is_halved_by_its_middle(name):
    """The integral of a tilted unknown had the mass of all its periodic images in it."""
    law = lc.stationary_density(SMALL_TILTS[name])
    assert law.cdf(0.0) == pytest.approx(0.5, abs=1e-10)
    assert law.ppf(0.5) == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("name", SMALL_TILTS)
def test_envelope_is_the_quadrature_of_the_density(name):
    law = lc.stationary_density(SMALL_TILTS[name])
    lags = np.array([1.0, 1e3, 1e6])
    left = -law.ppf(1.0 - 1e-15) - 400.0
    zeta, weights = panel_rule(np.linspace(left, 30.0, 2001))
    expected = np.exp(-np.multiply.outer(lags, np.exp(zeta))) @ (weights * law.pdf(zeta))
    np.testing.assert_allclose(law.envelope(lags), expected, rtol=1e-9)


ASYMMETRIC = {
    "right twice": two_sided(1.0, 2.0, 3.0, 0.3, 1.5, 2.0),
    "left twice": two_sided(2.0, 0.7, 2.0, 0.3, 0.8, 1.0),
    "steep": two_sided(2.0, 1.0, 0.3, 0.3, 1.3, 3.0),
}


@pytest.mark.parametrize("name", ASYMMETRIC)
def test_distribution_function_is_the_integral_of_the_density(name):
    law = lc.stationary_density(ASYMMETRIC[name])
    ends = law.ppf(np.array([1e-30, 1e-20, 1e-10, 1e-3, 0.1, 0.5, 0.9, 1.0 - 1e-3]))
    far = ends[0] - 40.0 * (ends[1] - ends[0])
    for end in ends:
        zeta, weights = panel_rule(np.linspace(far, end, 3001))
        assert law.cdf(end) == pytest.approx(float(weights @ law.pdf(zeta)), rel=1e-9)


@pytest.mark.parametrize("name", [*SMALL_TILTS, *ASYMMETRIC])
def test_distribution_function_rises(name):
    law = lc.stationary_density({**SMALL_TILTS, **ASYMMETRIC}[name])
    zeta = np.linspace(2.0 * law.ppf(1e-30), law.ppf(1.0 - 1e-12), 300_001)
    assert np.diff(law.cdf(zeta)).min() > -1e-15
    low = zeta < law.ppf(1e-3)
    assert (np.diff(law.cdf(zeta[low])) > 0).all()


