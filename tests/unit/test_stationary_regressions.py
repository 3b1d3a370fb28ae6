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


def tanh_with_a_bump(zeta):
    return -np.tanh(zeta) + 3.0 * np.exp(-100.0 * (zeta + 12.0) ** 2)


def from_callable(function, *arguments):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return lc.CollapseModel(lc.Drift.from_callable(function), *arguments)


FAR = {
    "narrow": (lambda: model_of(kappa=0.18, eta_G=0.025, eta_J=0.0036, alpha=1.999, lam=20.0, width=0.1), 5000.0),
    "bump": (lambda: from_callable(tanh_with_a_bump, 0.1, lc.TemperedStable(1.5, 3.0, 0.6)), 60.0),
    "sinh": (lambda: from_callable(lambda z: -np.sinh(z), 0.1, lc.TemperedStable(1.5, 3.0, 0.6)), 60.0),
    "cubic": (lambda: from_callable(lambda z: -(z**3), 0.1, lc.TemperedStable(1.5, 3.0, 0.6)), 60.0),
}


@pytest.mark.parametrize("name", FAR)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_density_is_a_density_far_out(name):
    """It was nan, or negative, with the status CONVERGED."""
    make, reach = FAR[name]
    law = lc.stationary_density(make())
    zeta = np.linspace(-reach, reach, 20_001)
    density, distribution = law.pdf(zeta), law.cdf(zeta)
    assert np.isfinite(density).all() and density.min() >= 0
    assert np.isfinite(distribution).all() and np.diff(distribution).min() >= -1e-15
    assert np.isfinite(law.envelope([1.0, 1e3])).all()


def test_quantiles_of_a_power_tail_go_on():
    law = lc.stationary_density(model_of(kappa=1.0, eta_G=0.1, eta_J=0.62, alpha=1.5, lam=0.0))
    q = np.array([1e-8, 1e-10, 1e-13, 1e-100])
    zeta = law.ppf(q)
    assert (np.diff(zeta) < 0).all()
    np.testing.assert_allclose(law.cdf(zeta), q, rtol=1e-12)
    assert law.ppf(5e-324) == -np.inf


def test_smallest_quantile_and_largest_argument_without_warnings():
    law = lc.stationary_density(model_of(kappa=1.0, eta_G=0.1, eta_J=0.62, alpha=1.5, lam=3.0))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert law.ppf(5e-324) == pytest.approx(-553.0, abs=1.0)
        assert law.pdf(1e308) == law.pdf(-1e308) == 0.0


@pytest.mark.parametrize("method", ["fourier", "chain"])
def test_too_many_points_are_refused(method):
    model = model_of(kappa=1.0, eta_G=0.1, eta_J=0.62, alpha=1.5, lam=3.0)
    with pytest.raises(lc.ParameterError, match="n=1000000000 is more than"):
        lc.stationary_density(model, method=method, n=10**9)


def test_advice_about_kinks_only_where_they_can_be_the_cause():
    with pytest.raises(lc.ConvergenceError) as caught:
        lc.stationary_density(model_of(kappa=1.0, eta_G=0.1, eta_J=0.62, alpha=1.5, lam=3.0), rtol=1e-30)
    assert "kinks" not in str(caught.value)


@pytest.mark.parametrize("alpha", [0.5, 1.3, 1.5])
def test_error_of_the_relaxation_rate_is_honest(alpha):
    found = lc.relaxation_time(lc.CollapseModel(lc.LinearDrift(0.7), 0.1, lc.TemperedStable(alpha, 1.5, 0.3)))
    assert abs(found.rate / 0.7 - 1.0) <= found.error < 0.01


@pytest.mark.parametrize("drift", [lc.SaturatingDrift(0.5), lc.LinearDrift(0.7)])
def test_late_times_are_the_stationary_law(drift):
    """t = 1000 took longer than anybody waited."""
    model = lc.CollapseModel(drift, 0.1, lc.TemperedStable(1.3, 1.5, 0.1))
    law = lc.stationary_density(model)
    for times in ([1000.0], [1.0, 2.0, 1e300]):
        path = lc.evolve_density(model, 0.0, times)
        assert path.density.shape == (len(times), len(path.zeta))
        np.testing.assert_allclose(path.density[-1], law.pdf(path.zeta), atol=1e-8)
        assert path.expectation(np.ones_like) == pytest.approx(1.0, abs=1e-8)
        assert path.error <= 1e-8


def test_late_law_continues_the_evolved_one():
    """Just before the horizon the steps still run, and must agree with the law that is given after it."""
    model = model_of(kappa=2.0, eta_G=1.0, eta_J=0.3, alpha=1.5, lam=2.0)
    path = lc.evolve_density(model, 0.5, [30.0, 1e4])
    np.testing.assert_allclose(path.density[0], path.density[1], atol=1e-7)
