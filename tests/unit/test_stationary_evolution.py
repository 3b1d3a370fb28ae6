"""The law in time and the time it takes."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import expm

import levycollapse as lc
from levycollapse._stationary.chain import build_chain
from levycollapse._stationary.problem import problem_of

from .stationary_models import gauss, reference, with_drift


@pytest.mark.parametrize(("alpha", "eta_G"), [(1.3, 0.2), (0.7, 0.1)])
def test_linear_drift_from_a_point(alpha, eta_G):
    """Exact characteristic function of the Ornstein-Uhlenbeck process from a point, at two times."""
    theta, start = 0.5, 1.3
    model = with_drift(lc.LinearDrift(theta), eta_G, alpha, 1.5, 0.2)
    times = np.array([1.0, 4.0])
    path = lc.evolve_density(model, start, times, rtol=1e-7)
    assert path.error < 1e-7
    for index, t in enumerate(times):
        for k in (0.4, 1.5, 4.0):
            r, w = gauss(np.linspace(0.0, t, 12))
            q = k * np.exp(-theta * r)
            exponent = np.sum(w * (-eta_G * q**2 + np.log(model.jumps.cf(q))))
            exact = np.exp(exponent + 1j * k * start * np.exp(-theta * t))
            step = path.zeta[1] - path.zeta[0]
            found = step * np.sum(path.density[index] * np.exp(1j * k * path.zeta))
            assert abs(found - exact) < 1e-7


def test_stationary_start_stays():
    model = reference()
    law = lc.stationary_density(model)
    path = lc.evolve_density(model, law, [0.0, 5.0])
    assert np.abs(path.density - law.pdf(path.zeta)).max() < 1e-10
    assert path.expectation(np.ones_like) == pytest.approx(1.0, abs=1e-12)
    assert path.envelope([0.0, 10.0])[1] == pytest.approx(law.envelope([0.0, 10.0]), rel=1e-9)


def test_evolution_against_chain():
    """The chain's matrix exponential from a Gaussian, second order in its spacing."""
    model = reference(alpha=1.5, eta_J=0.5)

    def start(z):
        return np.exp(-2.0 * (z - 2.0) ** 2)

    path = lc.evolve_density(model, start, 3.0)
    assert path.density.shape == (1, len(path.zeta)) and path.density.min() > -1e-9
    nodes = np.linspace(-22.0, 22.0, 441)
    chain = build_chain(problem_of(model), nodes)
    generator = chain.rates - np.diag(chain.rates.sum(axis=1))
    begin = start(nodes)
    masses = begin / begin.sum() @ expm(3.0 * generator)
    density = masses / chain.cells
    inside = np.abs(nodes) < 8.0
    found = np.interp(nodes[inside], path.zeta, path.density[0])
    assert np.abs(found - density[inside]).max() < 5e-3 * density.max()


def test_samples_are_a_mixture_of_points():
    model = reference(eta_G=0.2)
    both = lc.evolve_density(model, [-1.0, 0.37], [3.0], rtol=1e-6)
    one, other = (lc.evolve_density(model, start, [3.0], rtol=1e-6) for start in (-1.0, 0.37))
    f = lambda z: np.cos(1.3 * z + 0.4)  # noqa: E731
    mean = 0.5 * (one.expectation(f) + other.expectation(f))
    assert both.expectation(f) == pytest.approx(mean, abs=1e-6)


def test_envelope_approaches_the_stationary_one():
    """Starting from short time scales, the local exponent falls to its limit, never below it."""
    model = reference(eta_J=0.6)
    law = lc.stationary_density(model)
    path = lc.evolve_density(model, 1.0, [3.0, 10.0, 40.0], rtol=1e-5)
    f = path.envelope([100.0, 200.0])
    exponent = -np.log(f[:, 1] / f[:, 0]) / np.log(2.0)
    limit = -np.log(np.divide(*law.envelope([200.0, 100.0]))) / np.log(2.0)
    assert np.all(np.diff(exponent) < 0)
    assert exponent[-1] == pytest.approx(limit, rel=0.05)
    assert f[-1] == pytest.approx(law.envelope([100.0, 200.0]), rel=0.1)


@pytest.mark.parametrize(
    ("initial", "times", "message"),
    [
        (0.0, [3.0, 1.0], "ascending"),
        (0.0, -1.0, "times"),
        ([], 1.0, "no samples"),
        (lambda z: -np.ones_like(z), 1.0, "must be a density"),
        (np.nan, 1.0, "initial=nan"),
    ],
)
def test_bad_arguments(initial, times, message):
    with pytest.raises(lc.ParameterError, match=message):
        lc.evolve_density(reference(), initial, times)


def test_says_what_it_could_not_reach():
    with pytest.raises(lc.ConvergenceError, match="later first time"):
        lc.evolve_density(reference(), 0.0, 0.0)
    with pytest.raises(lc.ParameterError, match="lam=0"):
        lc.evolve_density(reference(lam=0.0), 0.0, 1.0)


@pytest.mark.parametrize(("kappa", "eta_G", "level"), [(0.5, 0.1, 0.4), (1.0, 0.2, 0.8)])
def test_levels_without_jumps(kappa, eta_G, level):
    """Poeschl-Teller: kappa/w - eta_G/w^2, edge kappa^2/(4 eta_G)."""
    found = lc.relaxation_time(reference(kappa=kappa, eta_G=eta_G, eta_J=0.0))
    assert found.edge_left == found.edge_right == pytest.approx(kappa**2 / (4 * eta_G))
    assert found.levels[0] == pytest.approx(level, rel=3e-3)
    assert found.rate == pytest.approx(level, rel=10 * found.error)
    assert float(found) == found.time == 1.0 / found.rate


def test_levels_of_the_linear_drift():
    """Eigenvalues n theta, whatever the jumps."""
    found = lc.relaxation_time(with_drift(lc.LinearDrift(0.5), 0.1, 1.3, 1.5, 0.3))
    assert found.edge_left == np.inf
    assert found.levels[:3] == pytest.approx([0.5, 1.0, 1.5], rel=5e-3)


def test_edges():
    """-min Phi on each side, by a fine grid; collapsed models have it at lam if Phi still falls there."""
    model = with_drift(lc.SaturatingDrift(1.0, kappa_right=0.4), 0.3, 1.3, 1.5, 0.1)
    found = lc.relaxation_time(model)
    s = np.linspace(0.0, 1.5, 200_001)
    for kappa, edge in ((1.0, found.edge_left), (0.4, found.edge_right)):
        assert edge == pytest.approx(-lc.characteristic(s, kappa, 0.3, 0.1, 1.3, 1.5).min(), rel=1e-8)
    assert found.rate == found.edge_right and not found.levels.size
    assert lc.relaxation_time(reference(alpha=1.5, lam=0.0)).time == np.inf


def test_rate_is_seen_in_time():
    """A difference of two starts decays at the level's rate."""
    model = reference(eta_G=0.1, eta_J=0.0)
    a, b = (lc.evolve_density(model, start, [10.0, 14.0]) for start in (-0.5, 0.5))
    difference = a.expectation(np.tanh) - b.expectation(np.tanh)
    measured = -np.log(difference[1] / difference[0]) / 4.0
    assert measured == pytest.approx(lc.relaxation_time(model).rate, rel=5e-3)
