"""Regimes by effect size: exact curves, grids, replicates, refusals."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import t as student

import levycollapse as lc
from levycollapse.tails import Regime, regime

LAGS = np.geomspace(1.0, 1e4, 81)


@pytest.mark.parametrize(
    ("f", "label"),
    [
        (lambda l: l**-0.37, Regime.POWER),
        (lambda l: 3.0 * np.exp(-l / 800.0), Regime.EXPONENTIAL),
        (lambda l: l**-0.5 * np.exp(-l / 2000.0), Regime.TEMPERED),
        (lambda l: np.log(l + 1.0) ** -1.5, Regime.LOGARITHMIC),
        (lambda l: (1 + l / 5.0) ** -0.7, Regime.POWER),
        (lambda l: np.exp(-((l / 1000.0) ** 2)), Regime.UNDETERMINED),
        (lambda l: 0.01 + 0.99 * np.exp(-l / 150.0), Regime.UNDETERMINED),
        (lambda l: np.ones_like(l), Regime.UNDETERMINED),
    ],
)
def test_exact_curves(f, label):
    assert regime(LAGS, f(LAGS)).regime is label


def test_effects_of_a_power_and_an_exponential():
    power = regime(LAGS, LAGS**-0.37)
    assert power.exponent.value == pytest.approx(0.37) and power.bend.value == pytest.approx(0.0, abs=1e-12)
    assert power.window == pytest.approx((100.0, 1e4)) and power.drop == pytest.approx(0.37 * np.log(100))
    fine = np.geomspace(1.0, 1e4, 4001)
    curve = regime(fine, np.exp(-fine / 50.0))
    assert curve.bend.value == pytest.approx(curve.full_bend, rel=1e-4)
    assert curve.full_bend == pytest.approx(2 / 3 * np.log(100))
    assert curve.curvature.value == pytest.approx(0.0, abs=1e-3)


@pytest.mark.parametrize("law", [lc.Pareto(0.8), lc.LogNormal(4.0, 1.0), lc.TemperedPareto(0.8, 1.0, 300.0)])
def test_the_grid_does_not_matter(law):
    window = (40.0, 400.0)
    rng = np.random.default_rng(0)
    wobble = 0.03 * rng.standard_normal((12, 3))
    found = []
    for lags in (np.arange(1, 500), np.arange(1, 500)[::5], np.geomspace(1, 500, 90), np.geomspace(1, 500, 2000)):
        x = np.log(lags)
        f = law.envelope(lags) * np.exp(wobble @ np.array([np.ones_like(x), x / 6, (x / 6) ** 2]))
        found.append(regime(lags, f, window=window))
    assert len({result.regime for result in found}) == 1
    for name in ("exponent", "bend", "curvature"):
        ends = np.array([[*getattr(result, name)] for result in found])
        assert np.ptp(ends, axis=0).max() < 0.02


def test_interval_of_the_exponent_is_students():
    # With curves that are powers of random index the jackknife of the mean is almost that of the mean index.
    rng = np.random.default_rng(3)
    covered = []
    for _ in range(300):
        betas = 0.6 + 0.02 * rng.standard_normal(8)
        f = LAGS ** -betas[:, None]
        found = regime(LAGS, f, level=0.9)
        covered.append(found.exponent.lower < 0.6 < found.exponent.upper)
        error = betas.std(ddof=1) / np.sqrt(8) * student.ppf(0.95, 7)
    assert (found.exponent.upper - found.exponent.lower) / 2 == pytest.approx(error, rel=0.15)
    assert 0.83 < np.mean(covered) < 0.96


def test_few_noisy_replicates_give_no_label():
    rng = np.random.default_rng(4)
    f = LAGS ** -(0.5 + 0.3 * rng.standard_normal((3, 1))) * np.exp(0.3 * rng.standard_normal((3, LAGS.size)))
    found = regime(LAGS, f)
    assert found.regime is Regime.UNDETERMINED and found.n_replicates == 3


def test_lags_where_the_envelope_is_lost_are_not_used():
    f = np.maximum(LAGS**-0.5 - 0.03, 0.0)
    found = regime(LAGS, f)
    assert found.window[1] <= 1.01 / 0.03**2
    assert regime(LAGS[:3], f[:3]).reason.startswith("less than a decade")
    sparse = np.geomspace(1.0, 1e4, 9)
    assert "fewer than 3 lags" in regime(sparse, sparse**-0.5).reason


def test_one_replicate_that_is_everything():
    f = np.vstack([LAGS**-0.5, 0.0 * LAGS])
    assert regime(LAGS, f).regime is Regime.UNDETERMINED


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"lags": [1.0, 1.0], "f": [1.0, 0.5]}, "lags must increase strictly"),
        ({"lags": [0.0, 1.0], "f": [1.0, 0.5]}, r"lags\[0\]=0.0 must be a finite number > 0"),
        ({"lags": [1.0, 2.0], "f": [1.0, -0.5]}, r"f\[1\]=-0.5 must be a finite number >= 0"),
        ({"lags": [1.0, 2.0], "f": [1.0]}, r"f must have shape \(lags,\) or \(replicates, lags\)"),
        ({"lags": LAGS, "f": LAGS**-0.5, "window": (5.0, 2.0)}, "must be two increasing lags"),
        ({"lags": LAGS, "f": LAGS**-0.5, "window": (5.0, 2e4)}, "must be two increasing lags"),
        ({"lags": LAGS, "f": LAGS**-0.5, "tolerance": 0.5}, "tolerance=0.5 must be"),
        ({"lags": LAGS, "f": LAGS**-0.5, "compat": "paper"}, "compat='paper' must be one of"),
        ({"lags": [1.0, 2.0], "f": [1.0, 0.5], "compat": "reference"}, "at least six lags"),
    ],
)
def test_bad_input(arguments, message):
    with pytest.raises(lc.ParameterError, match=message):
        regime(**arguments)


@pytest.mark.parametrize("window", [3.0, (1.0, 2.0, 3.0)])
def test_a_window_has_two_ends(window):
    lags = np.geomspace(1.0, 400.0, 40)
    with pytest.raises(lc.ParameterError, match="must be two lags, the first and the last"):
        regime(lags, lags**-0.5, window=window)
