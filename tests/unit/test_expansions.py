"""The two expansions: their stated orders, measured."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import lambertw

import levycollapse as lc


@pytest.mark.parametrize("alpha", [0.3, 1.0, 1.6])
@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("eta_G", [0.0, 0.2])
def test_small_exponent_order(alpha, order, eta_G):
    lam = 2.0
    betas = lam * np.array([0.08, 0.04])
    eta_J = lc.intensity_for_exponent(betas, 1.0, eta_G, alpha, lam)
    errors = np.abs(lc.small_exponent(1.0, eta_G, eta_J, alpha, lam, order=order) / betas - 1)
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2 * order, abs=0.4)


def test_small_exponent_special_cases():
    assert lc.small_exponent(1.0, 0.5, 0.0, 1.5, 0.0) == 2.0
    assert np.isnan(lc.small_exponent(1.0, 0.5, 0.1, 1.5, 0.0))


@pytest.mark.parametrize("alpha", [0.5, 0.8, 0.999, 1.0, 1.001, 1.3, 1.8])
def test_near_threshold_second_order(alpha):
    """The error of d is O(d**2) for every alpha, also beside 1."""
    lam, threshold = 3.0, lc.jump_threshold(1.0, 0.1, alpha, 3.0)
    excess = np.array([1e-2, 1e-3])
    eta_J = threshold * (1 + excess)
    gap = lc.solve_exponent(1.0, 0.1, eta_J, alpha, lam).gap
    error = np.abs(lam - lc.near_threshold_exponent(1.0, 0.1, eta_J, alpha, lam) - gap)
    assert np.all(error <= 0.2 * gap**2)
    # Below alpha = 1 the neglected term is smaller still, d**2 against a slope that diverges.
    order = np.log(error[0] / error[1]) / np.log(gap[0] / gap[1])
    assert order > 1.9


@pytest.mark.parametrize(("alpha", "order"), [(0.6, 1 / 0.6), (1.6, 1.0)])
def test_near_threshold_leading_order(alpha, order):
    threshold = lc.jump_threshold(1.0, 0.1, alpha, 3.0)
    eta_J = threshold * (1 + np.array([1e-5, 1e-6]))
    gap = 3.0 - lc.near_threshold_exponent(1.0, 0.1, eta_J, alpha, 3.0, order=1)
    assert np.log10(gap[0] / gap[1]) == pytest.approx(order, abs=1e-3)
    exact = lc.solve_exponent(1.0, 0.1, eta_J, alpha, 3.0).gap
    np.testing.assert_allclose(gap, exact, rtol=0.02)


def test_alpha_one_is_lambert():
    kappa, eta_G, lam = 1.0, 0.1, 3.0
    threshold = lc.jump_threshold(kappa, eta_G, 1.0, lam)
    eta_J = threshold * 1.001
    delta = (eta_J - threshold) * lc.TemperedStable(1.0, lam, 1.0).symbol(lam)
    b = 2 * lam * np.exp(1 + (2 * eta_G * lam - kappa) / eta_J)
    lambert = -(delta / eta_J) / lambertw(-delta / (eta_J * b), k=-1).real
    assert 3.0 - lc.near_threshold_exponent(kappa, eta_G, eta_J, 1.0, lam) == pytest.approx(lambert, rel=1e-10)
    # The bare leading form is 41 % off at 1e-4 (NUMERICS C.3), the solved one 1e-6.
    eta_J = threshold * 1.0001
    exact = lc.solve_exponent(kappa, eta_G, eta_J, 1.0, lam).gap
    bare = 3.0 - lc.near_threshold_exponent(kappa, eta_G, eta_J, 1.0, lam, order=1)
    solved = 3.0 - lc.near_threshold_exponent(kappa, eta_G, eta_J, 1.0, lam)
    assert abs(bare / exact - 1) > 0.3
    assert abs(solved / exact - 1) < 2e-6


def test_near_threshold_special_cases():
    threshold = lc.jump_threshold(1.0, 0.1, 1.5, 3.0)
    assert lc.near_threshold_exponent(1.0, 0.1, threshold, 1.5, 3.0) == 3.0
    assert np.isnan(lc.near_threshold_exponent(1.0, 0.1, threshold * 0.9, 1.5, 3.0))
    assert np.isnan(lc.near_threshold_exponent(1.0, 0.1, 0.0, 1.5, 3.0))
    assert np.isnan(lc.near_threshold_exponent(1.0, 0.1, 0.3, 1.5, 0.0))
    assert np.isnan(lc.near_threshold_exponent(1.0, 0.1, threshold * 1e4, 1.5, 3.0))
