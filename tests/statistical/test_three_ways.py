"""Linear algebra against simulated paths: the law in time and the stationary one. Seeds are fixed, one a test."""

from __future__ import annotations

import numpy as np
import pytest

import levycollapse as lc

MODELS = {
    "broad": lc.CollapseModel.from_parameters(kappa=0.5, eta_G=0.1, eta_J=0.6, alpha=1.5, lam=1.5),
    "collapsed, alpha 0.7": lc.CollapseModel.from_parameters(kappa=1.0, eta_G=0.2, eta_J=0.2, alpha=0.7, lam=2.0),
    "other plateau": lc.CollapseModel(
        lc.SaturatingDrift(1.0, center=0.5, kappa_right=0.6), 0.3, lc.TemperedStable(1.3, 1.5, 0.45)
    ),
}
FUNCTIONS = {
    "zeta": lambda z: z,
    "cos": np.cos,
    "tanh": np.tanh,
    "tau**0.2": lambda z: np.exp(-0.2 * z),
    "f(10)": lambda z: np.exp(-10.0 * np.exp(z)),
}


def scores(values, expected):
    """Distance of the means over axis 0 from what is expected, in their standard errors."""
    return (values.mean(axis=0) - expected) / (values.std(axis=0, ddof=1) / np.sqrt(values.shape[0]))


def kolmogorov(samples, cdf):
    """Kolmogorov's statistic times sqrt(n); 2.23 has probability 1e-4."""
    u, n = np.sort(cdf(np.sort(samples))), samples.size
    steps = np.arange(n + 1) / n
    return np.sqrt(n) * max((steps[1:] - u).max(), (u - steps[:-1]).max())


@pytest.mark.parametrize("name", MODELS)
def test_the_law_in_time(name):
    """From a point: five means and the whole distribution at three times."""
    model, times, start = MODELS[name], [2.0, 5.0, 12.0], 1.0
    path = lc.evolve_density(model, start, times, rtol=1e-6)
    run = lc.simulate(model, 40_000, 12.0, 0.05, scheme="strang", initial=start, store_every=20, rng=501)
    for index, time in enumerate(times):
        zeta = run["zeta"].sel(time=time, method="nearest").values
        for label, function in FUNCTIONS.items():
            score = scores(function(zeta), path.expectation(function)[index])
            assert abs(score) < 4, (time, label)
        # The trapezoid sum to each grid point, half a cell off at its ends.
        step = path.zeta[1] - path.zeta[0]
        cdf = step * (np.cumsum(path.density[index]) - 0.5 * path.density[index])
        assert kolmogorov(zeta, lambda z, cdf=cdf: np.interp(z, path.zeta, cdf)) < 2.23, time


def test_the_law_in_time_can_be_told_from_its_neighbours():
    """The same comparison fails for 10 % more jumps: it has the power to see an error of that size."""
    model = MODELS["broad"]
    other = lc.CollapseModel.from_parameters(kappa=0.5, eta_G=0.1, eta_J=0.66, alpha=1.5, lam=1.5)
    path = lc.evolve_density(other, 1.0, [5.0], rtol=1e-6)
    run = lc.simulate(model, 40_000, 5.0, 0.05, scheme="strang", initial=1.0, rng=502)
    zeta = run["zeta"].isel(time=-1).values
    worst = [abs(scores(function(zeta), path.expectation(function)[0])) for function in FUNCTIONS.values()]
    assert max(worst) > 4


@pytest.mark.parametrize("name", MODELS)
def test_the_stationary_law(name):
    """A long run: means over single paths, and the distribution of the last states, which are independent."""
    model = MODELS[name]
    law = lc.stationary_density(model)
    run = lc.simulate(model, 8_000, 240.0, 0.1, scheme="strang", initial=law, store_every=100, rng=503)
    zeta = run["zeta"].sel(time=slice(100.0, None)).values
    grid, width = np.linspace(-120.0, 120.0, 24_001), 0.01
    density = law.pdf(grid)
    for label, function in FUNCTIONS.items():
        if label == "tau**0.2":
            expected = law.timescale_moment(0.2)
        elif label == "f(10)":
            expected = law.envelope(10.0)
        else:
            expected = width * float(density @ function(grid))
        assert abs(scores(function(zeta).mean(axis=1), expected)) < 4, label
    assert kolmogorov(zeta[:, -1], law.cdf) < 2.23
    tail = law.ppf(1e-3)
    seen = (zeta < tail).mean(axis=1)
    assert abs(scores(seen, 1e-3)) < 4


def test_the_stationary_law_is_reached_from_elsewhere():
    """Not only kept: from a point, after eight relaxation times."""
    model = MODELS["collapsed, alpha 0.7"]
    law = lc.stationary_density(model)
    run = lc.simulate(model, 20_000, 40.0, 0.1, scheme="strang", initial=2.0, rng=504)
    assert kolmogorov(run["zeta"].isel(time=-1).values, law.cdf) < 2.23
