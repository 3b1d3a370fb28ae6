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
@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::levycollapse.AccuracyWarning")
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


def jump_ou(rate, alpha, lam, eta_J, eta_G=0.0, center=0.0):
    return lc.CollapseModel(lc.LinearDrift(rate, center), eta_G, lc.TemperedStable(alpha, lam, eta_J))


def linear_moment(model, s):
    """E exp(-s zeta) under a linear drift: exp int_0^1 K(s v)/v dv/theta."""
    v, w = panel_rule(np.geomspace(1e-12, 1.0, 60))
    x = s * v
    k = model.eta_G * x**2 + model.jumps.symbol(x)
    return float(np.exp(np.sum(w * k / v) / model.drift.rate - s * model.drift.center))


CONFINED = {
    "much Gaussian noise": jump_ou(1.8745, 1.5476, 3.0377, 8.3727, 19.132),
    "steep tempering": jump_ou(0.3225, 0.8226, 20.242, 3.1128, 0.00409, center=1.0),
    "little tempering": jump_ou(0.5, 1.2, 0.3, 0.1, 0.1),
}


@pytest.mark.parametrize("name", CONFINED)
def test_moments_of_a_confined_law_up_to_their_end(name):
    """The leading law took over at 1e-33: E exp(0.9 lam zeta) was wrong by up to 20 %, its envelope by 1e-8."""
    model = CONFINED[name]
    law = lc.stationary_density(model)
    for share in (-0.9, -0.5, 0.5, 0.9):
        s = share * model.lam
        assert law.timescale_moment(s) == pytest.approx(linear_moment(model, s), rel=1e-10)


def test_confining_drift_that_is_flat_in_its_middle():
    """99 points were foreseen and the refinement gave up; then F times rounding failed the identity."""
    for alpha, lam, width, kappa, eta_G, eta_J in (
        (1.16, 0.25, 3.06, 0.203, 18.3, 0.181),
        (1.028, 1.03, 0.306, 2.82, 6.54, 1.825),
    ):
        function = lambda z, k=kappa, w=width: -k * ((z / w) ** 3 + z / w)  # noqa: E731
        law = lc.stationary_density(from_callable(function, eta_G, lc.TemperedStable(alpha, lam, eta_J)))
        assert law.status is lc.DensityStatus.CONVERGED and law.error < 1e-12


@pytest.mark.parametrize(("alpha", "lam", "rate", "eta_J"), [(0.3, 1.0, 0.5, 0.02), (0.2, 2.0, 0.5, 0.02)])
def test_peak_too_sharp_for_fourier_has_a_law_by_the_chain(alpha, lam, rate, eta_J):
    """It was a ConvergenceError under method="auto"."""
    model = jump_ou(rate, alpha, lam, eta_J)
    with pytest.raises(lc.ConvergenceError, match="points"):
        lc.stationary_density(model, method="fourier")
    with pytest.warns(lc.AccuracyWarning, match=r"relative error \d\.\de-03, not rtol=1e-08"):
        law = lc.stationary_density(model)
    assert law.status is lc.DensityStatus.DISCRETISED and law.error < 1e-2
    # Who accepts the error, or asks for the chain, is not warned.
    assert lc.stationary_density(model, rtol=1e-2).error == law.error
    assert lc.stationary_density(model, method="chain").error == law.error
    zeta, masses = law._nodes()
    k = np.array([0.3, 1.0, 5.0, 50.0])
    # E cos(k zeta) = exp int_0^k psi(iq)/(theta q) dq
    v, w = panel_rule(np.geomspace(1e-14, 1.0, 200))
    exact = [np.exp(np.sum(w * np.log(np.real(model.jumps.cf(x * v))) / v) / rate) for x in k]
    np.testing.assert_allclose([masses @ np.cos(x * zeta) for x in k], exact, atol=5e-4)
    assert masses @ zeta**2 == pytest.approx(0.5 * model.jumps.cumulant(2) / rate, rel=1e-4)
    s = 0.7 * lam
    assert law.timescale_moment(s) == pytest.approx(linear_moment(model, s), rel=1e-5)
    # The envelope of nodes 1e-7 apart: it asked for terabytes.
    lags = np.array([0.5, 1e2])
    expected = masses @ np.exp(-np.multiply.outer(np.exp(zeta), lags))
    np.testing.assert_allclose(law.envelope(lags), expected, rtol=1e-8)


def test_tail_that_is_less_accurate_than_the_bulk_is_said_to_be():
    """Rare jumps ten digits below everything else: a ConvergenceError, although the bulk had converged."""
    model = from_callable(
        lambda z: 0.21335 * np.tanh(z / 1.81244) * (1.0 - 2.0 * np.tanh(z / 1.81244) ** 2),
        0.0,
        lc.TemperedStable(1.68233, 5.94989, 1.0142e-4),
    )
    with pytest.warns(lc.AccuracyWarning, match=r"far tails .* relative error \d\.\de-06, not 1e-06"):
        law = lc.stationary_density(model)
    assert f"tail_error={law.tail_error:.1e}" in repr(law)
    assert lc.stationary_density(model, rtol=1e-4).status is lc.DensityStatus.CONVERGED
    assert law.status is lc.DensityStatus.TAIL_LIMITED
    assert law.error < 1e-9 and 1e-6 < law.tail_error < 1e-3
    zeta, weights = panel_rule(np.linspace(law.ppf(1e-9), law.ppf(1.0 - 1e-9), 2001))
    assert weights @ law.pdf(zeta) == pytest.approx(1.0 - 2e-9, abs=2e-10)


def test_quantiles_stop_at_rounding():
    """57 passes of Newton's iteration were spent on the rounding of the distribution function."""
    law = lc.stationary_density(model_of(kappa=0.5, eta_G=0.1, eta_J=0.1, alpha=1.3, lam=1.5))
    uniform = np.random.default_rng(1).random(20_000)
    points = 0
    cdf, sf = law._cdf, law._sf

    def counted(function):
        def call(zeta):
            nonlocal points
            points += zeta.size
            return function(zeta)

        return call

    law._cdf, law._sf = counted(cdf), counted(sf)
    zeta = law.ppf(uniform)
    assert points < 12 * len(uniform)
    np.testing.assert_allclose(cdf(zeta), uniform, rtol=1e-12)


@pytest.mark.parametrize("rate", [0.5, 0.7])
def test_linear_drift_to_any_time_at_once(rate):
    """Closed form: t = 40 took 55 s of time steps. A start from a density, whose transform is asked for anywhere."""
    model = jump_ou(rate, 1.3, 1.5, 0.1, 0.1)
    path = lc.evolve_density(model, lambda z: np.exp(-2.0 * (z - 1.0) ** 2), [0.5, 3.0, 40.0])
    for t, density in zip(path.times, path.density, strict=True):
        for k in (0.4, 1.5, 4.0):
            r, w = panel_rule(np.linspace(0.0, t, 40))
            q = k * np.exp(-rate * r)
            shrunk = k * np.exp(-rate * t)
            exponent = np.sum(w * (np.log(model.jumps.cf(q)) - model.eta_G * q**2))
            exact = np.exp(exponent + 1j * shrunk - shrunk**2 / 8.0)
            found = (path.zeta[1] - path.zeta[0]) * np.sum(density * np.exp(1j * k * path.zeta))
            assert abs(found - exact) < 1e-11


def test_squared_propagator_against_the_closed_form():
    from levycollapse._stationary.box import landscape, points, spectral_limit
    from levycollapse._stationary.fourier import wave_numbers
    from levycollapse._stationary.problem import problem_of
    from levycollapse._stationary.propagation import dense_steps, ornstein_uhlenbeck

    problem = problem_of(jump_ou(0.7, 1.5, 2.0, 0.2, 0.2))
    left, right = landscape(problem).edges(0.0, 37.0)
    left, right = left - 8.0 * problem.width, right + 8.0 * problem.width
    n = points(right - left, spectral_limit(problem))
    step = (right - left) / n
    grid, k = left + step * np.arange(n), wave_numbers(n, step)
    force = problem.force(grid) * np.tanh((grid - left) / problem.width) * np.tanh((right - grid) / problem.width)
    generator = (problem.multiplier(0.0, k) * (1j * k)).real
    density = np.exp(-2.0 * (grid - 1.0) ** 2)
    begin = np.fft.rfft(density / (density.sum() * step))
    times = np.array([0.3, 2.0, 25.0])
    squared, error = dense_steps(force, generator, k, begin, times)
    exact = ornstein_uhlenbeck(problem, lambda *_: begin, grid, k, times)
    assert error < 1e-9
    np.testing.assert_allclose(np.fft.irfft(squared, n=n), np.fft.irfft(exact, n=n), atol=2e-9)


def test_levels_in_closed_form():
    found = lc.relaxation_time(jump_ou(0.5, 1.3, 1.5, 0.3, 0.1))
    np.testing.assert_array_equal(found.levels[:3], [0.5, 1.0, 1.5])
    found = lc.relaxation_time(model_of(kappa=0.5, eta_G=0.1, eta_J=0.0, alpha=1.3, lam=1.5))
    np.testing.assert_allclose(found.levels, [0.4, 0.6], rtol=1e-15)
    at_edge = lc.relaxation_time(model_of(kappa=0.5, eta_G=0.25, eta_J=0.0, alpha=1.3, lam=1.5))
    assert not at_edge.levels.size and at_edge.rate == pytest.approx(0.25)


def test_chain_that_is_too_inaccurate_is_refused(monkeypatch):
    """A law with an estimated error of 12 % was returned for rtol=1e-8."""
    monkeypatch.setattr("levycollapse._stationary.chain.DEFAULT_NODES", 65)
    model = jump_ou(0.5, 0.1, 5.0, 0.05)
    with pytest.raises(
        lc.ConvergenceError, match=r"found to \d\.\de[-+]0\d only, by the Markov chain, not to rtol=1e-08"
    ):
        lc.stationary_density(model)
    assert lc.stationary_density(model, method="chain").error > 0.02
    # Without tempering there is no other method.
    untempered = model_of(kappa=1.0, eta_G=0.1, eta_J=0.3, alpha=1.2, lam=0.0)
    with pytest.warns(lc.AccuracyWarning, match=r"by the Markov chain, not to rtol=1e-08"):
        law = lc.stationary_density(untempered)
    assert law.error > 0.02


def test_far_tail_where_one_exponential_takes_over_from_another():
    """A table with steps of 8 % missed the bend: the density was wrong by 3e-6 at 1e-40, the envelope by 1e-8."""

    def rough(z):
        x = z / 0.19535484824991536
        return -5.126711391244889 * (np.tanh(x) - 0.5 * np.sin(3.0 * x) * np.exp(-(x**2)))

    model = from_callable(
        rough, 0.7208118816703195, lc.TemperedStable(1.79639510569976, 5.910134534911562, 0.00495675752)
    )
    law = lc.stationary_density(model)
    for end in (-6.0, -9.9, -13.0, -20.0):
        zeta, weights = panel_rule(np.linspace(end - 60.0 / model.lam, end, 1001))
        density = law.pdf(zeta)
        assert law.cdf(end) == pytest.approx(float(weights @ density), rel=1e-11)
        few = [law.pdf(z) for z in zeta[::400]]
        np.testing.assert_allclose(density[::400], few, rtol=1e-11)
