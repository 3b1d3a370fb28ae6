"""The Markov chain: against the Fourier method, closed forms, and where only the chain can go."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import rgamma
from scipy.stats import levy_stable

import levycollapse as lc
from levycollapse._kernels.gth import stationary_vector
from levycollapse._stationary.chain import build_chain, graded
from levycollapse._stationary.problem import problem_of

from .stationary_models import MODELS, reference, with_drift


def test_gth_against_exact_rationals():
    """A birth and death chain has a product form; the elimination keeps it to rounding over 250 decades."""
    n = 40
    up, down = 1.0, 10.0**6.3
    rates = np.zeros((n, n))
    index = np.arange(n - 1)
    rates[index, index + 1] = up
    rates[index + 1, index] = down
    masses = stationary_vector(rates)
    exact = (up / down) ** np.arange(n)
    assert masses[-1] < 1e-240
    assert masses == pytest.approx(exact / exact.sum(), rel=1e-13)


def test_chain_is_a_generator_of_second_order():
    """Rates >= 0, and on smooth functions they act like the operator, four times better on half the spacing."""
    model = MODELS["alpha 1.3, broad"]
    problem = problem_of(model)
    errors = []
    for n in (201, 401, 801):
        chain = build_chain(problem, np.linspace(-20.0, 20.0, n))
        assert chain.rates.min() >= 0.0 and np.all(np.diag(chain.rates) == 0.0)
        here = n // 2 + n // 40
        x = chain.nodes[here]
        k = 0.7
        applied = chain.rates[here] @ (np.cos(k * chain.nodes) - np.cos(k * x))
        psi = model.jumps.symbol(complex(0.0, k)).real - model.eta_G * k * k
        errors.append(abs(applied - (psi * np.cos(k * x) - model.drift(x) * k * np.sin(k * x))))
    assert errors[2] < 2e-3
    assert errors[0] / errors[2] > 9.0


@pytest.mark.parametrize("name", ["alpha 1.3, collapsed", "alpha 1.3, concentrated", "asymmetric plateaus"])
def test_chain_against_fourier(name):
    model = MODELS[name]
    chain, fourier = lc.stationary_density(model, method="chain", n=601), lc.stationary_density(model)
    assert chain.status is lc.DensityStatus.DISCRETISED
    z = fourier.ppf(np.array([1e-12, 1e-6, 0.01, 0.3, 0.5, 0.9, 0.999]))
    difference = np.abs(np.log(chain.pdf(z) / fourier.pdf(z)))
    assert difference.max() < 0.02
    assert difference[2:].max() < chain.error < 0.02
    assert chain.cdf(z) == pytest.approx(fourier.cdf(z), rel=0.02)
    assert chain.tail.prefactor == pytest.approx(fourier.tail.prefactor, rel=3e-3)
    assert chain.ppf([0.1, 0.5]) == pytest.approx(fourier.ppf([0.1, 0.5]), abs=5e-3)
    assert chain.envelope([1.0, 100.0]) == pytest.approx(fourier.envelope([1.0, 100.0]), rel=5e-3)
    assert chain.timescale_moment(0.4) == pytest.approx(fourier.timescale_moment(0.4), rel=5e-3)


@pytest.mark.parametrize(("alpha", "z"), [(1.2, 1e8), (1.5, 1e4), (1.8, 1e3)])
def test_logarithmic_tail_constant(alpha, z):
    """rho |zeta|^alpha / D after the next term of NUMERICS C.4 is 1 within 1%."""
    model = reference(alpha=alpha, lam=0.0)
    assert model.phase is lc.Phase.LOGARITHMIC
    law = lc.stationary_density(model)
    constant = 0.1 / (alpha * 0.5)
    assert law.tail.prefactor == pytest.approx(constant)
    second = constant * np.exp(2.0 * np.log(np.abs(1.0 / rgamma(1.0 - alpha)))) * rgamma(2.0 - 2.0 * alpha)
    predicted = 1.0 + second * z ** (1.0 - alpha)
    assert -z > law._curve.left  # the chain's own part, not its continuation
    assert law.pdf(-z) * z**alpha / constant / predicted == pytest.approx(1.0, abs=0.01)
    assert law.timescale_moment(0.0) == pytest.approx(1.0, abs=2e-3)
    assert law.mean_timescale == np.inf
    assert law.cdf(-z) == pytest.approx(constant * z ** (1 - alpha) / (alpha - 1), rel=0.15)


def test_logarithmic_law_does_not_depend_on_the_fit():
    """The fluxes are fitted to a power; a quarter of the nodes must tend to the same constant."""
    model = reference(alpha=1.5, lam=0.0)
    ratios = [lc.stationary_density(model, method="chain", n=n)._far_left.amplitude for n in (201, 801)]
    assert abs(ratios[1] - 1.0) < 1e-3
    assert abs(ratios[0] - 1.0) < 0.05


def test_untempered_linear_drift_is_stable():
    """lam = 0 under a linear drift: a stable law with psi/(alpha theta), also for alpha < 1."""
    theta, alpha = 0.5, 0.8
    model = with_drift(lc.LinearDrift(theta), 0.0, alpha, 0.0, 0.3)
    law = lc.stationary_density(model, n=1001)
    scale = model.jumps.stable_scale * (alpha * theta) ** (-1.0 / alpha)
    exact = levy_stable(alpha, 0.0, scale=scale)
    z = np.array([-30.0, -3.0, -0.5, 2.0])
    assert law.pdf(z) == pytest.approx(exact.pdf(z), rel=0.03)
    assert law.tail.prefactor == pytest.approx(0.3 / (alpha * theta))
    assert law._far_left.amplitude == pytest.approx(1.0, abs=0.05)


def test_walls():
    """eta_J = 0 between walls: the cosh law cut off and normalised."""
    model = reference(eta_J=0.0, eta_G=0.4)
    law = lc.stationary_density(model, walls=(-2.0, 1.0))
    z = np.linspace(-1.95, 0.95, 30)
    shape = np.cosh(z) ** -1.25
    assert np.ptp(law.pdf(z) / shape) / np.mean(law.pdf(z) / shape) < 1e-3
    assert law.pdf([-2.5, 1.5]).tolist() == [0.0, 0.0]
    assert law.cdf([-2.5, 1.5]).tolist() == [0.0, 1.0]
    assert law.timescale_moment(5.0) < np.exp(10.0)
    # walls give every model a law
    assert lc.stationary_density(reference(alpha=0.7, lam=0.0), walls=(-5.0, 5.0)).pdf(0.0) > 0


def test_rough_drift():
    """F = -kappa sign(zeta), eta_J = 0: the Laplace law."""
    drift = lc.Drift.from_callable(lambda z: -np.sign(z), left=1.0, right=1.0)
    law = lc.stationary_density(with_drift(drift, 0.5, 1.5, 1.0, 0.0), method="chain")
    z = np.array([-6.0, -1.0, -0.3, 0.5, 3.0])
    assert law.pdf(z) == pytest.approx(np.exp(-2.0 * np.abs(z)), rel=0.01)


def test_chain_options():
    model = reference()
    law = lc.stationary_density(model, method="chain", n=301, box=(-30.0, 25.0))
    assert law.zeta.min() > -30.0 and law.zeta.max() < 25.0
    with pytest.raises(lc.ParameterError, match="must contain the drift's zero"):
        lc.stationary_density(model, method="chain", box=(1.0, 5.0))
    problem = problem_of(model)
    nodes = graded(problem, 301, (-30.0, 25.0))
    assert nodes[0] == pytest.approx(-30.0) and np.diff(nodes).min() < 1.0 / 5.0
