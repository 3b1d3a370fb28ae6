"""Golden numbers of arXiv:2606.29519's code (reference/anticollapse.md 12), and its faults that our defaults avoid."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import cauchy, norm

import levycollapse as lc
from levycollapse.panels._reference import far_left_drift
from levycollapse.tails import Regime, Shape, _reference
from levycollapse.tails import _reference_indices as indices
from levycollapse.tails._hill import hill, tail_size

GRID = np.unique(np.linspace(4, 384, 128).astype(int)).astype(float)
TAU = 5 * ((np.arange(512) + 0.5) / 512) ** (-1 / 0.42)


def digits(value, expected, places):
    assert value == pytest.approx(expected, abs=0.6 * 10.0**-places)


def test_g1_index_by_least_squares():
    fit = _reference.fit_reference(TAU, 0.9, 200)
    digits(fit.beta.value, 0.4297181376, 10)
    digits(fit.r_squared, 0.9998241173, 10)
    digits(fit.window[0], 135.0356956, 7)
    digits(fit.window[1], 1105495.393, 3)
    assert fit.n_fit == 125 and fit.probability_below_one == 1.0 and fit.resamples == 200
    digits(fit.bootstrap_median, 0.4398163733, 10)
    digits(fit.beta.lower, 0.3703359931, 10)
    digits(fit.beta.upper, 0.5036137676, 9)
    digits(fit.bootstrap_sd, 0.0453141789, 10)


def test_g1_through_the_public_function():
    assert lc.tails.fit_spectrum(TAU, compat="reference").beta.value == pytest.approx(0.4297181376, abs=1e-10)
    assert lc.tails.fit_spectrum(TAU[:15], compat="reference").beta.value == 0.0


def test_g2_envelope_fits_and_gate():
    gate = lc.tails.regime(GRID, lc.envelope(TAU, GRID), compat="reference")
    assert gate.exponential == pytest.approx((-0.9387718931, -0.0031008052), abs=1e-10)
    assert gate.power == pytest.approx((0.4972668791, -0.4089290033), abs=1e-10)
    assert gate.tempered == pytest.approx((0.4310453845, -0.3880747531, -1.94371442e-4), abs=1e-10)
    assert gate.r_squared == pytest.approx((0.8222493724, 0.9982362415, 0.9988709803), abs=1e-10)
    assert gate.aic == pytest.approx((-465.4750, -1055.9306, -1111.0311), abs=1e-4)
    assert gate.winner == "tempered"
    digits(gate.tau_max, 5144.7887, 4)
    digits(gate.ell_star, 1996.5626, 4)
    assert (gate.n_window, gate.runs, gate.power_law) == (128, 3, False)
    digits(gate.z, -11.00251, 5)
    assert gate.p_value == pytest.approx(3.716e-28, rel=1e-3)
    digits(_reference.envelope_slope(TAU), 0.4199999591, 10)


def test_g3_stable_indices():
    x, c = (law.ppf((np.arange(2000) + 0.5) / 2000) for law in (norm, cauchy))
    assert indices.characteristic_function(x) == pytest.approx((2.0, 0.7071528450), abs=1e-10)
    assert indices.mcculloch(x) == pytest.approx((2.0, 0.7066946197), abs=1e-10)
    assert indices.characteristic_function(c) == pytest.approx((1.0011941762, 1.0011802465), abs=1e-10)
    assert indices.mcculloch(c) == pytest.approx((1.0018560146, 0.9994667783), abs=1e-10)
    assert indices.mcculloch(x[:31]) == indices.characteristic_function(x[:49]) == (2.0, 0.0)


def test_g4_order_statistics():
    sizes = np.sort(np.abs(cauchy.ppf((np.arange(2000) + 0.5) / 2000)))
    k = indices.fixed_k(2000)
    assert k == 160
    digits(indices.hill_index(sizes, k), 1.0054962380, 10)
    digits(indices.moment_index(sizes, k), 0.9756496595, 10)
    digits(indices.pickands_index(sizes, k), 1.0407098637, 10)
    assert indices.plateau_k(sizes, 50, 0.2) == 263


def test_g5_calibrated_estimator():
    found = indices.calibrated_index(cauchy.ppf((np.arange(2000) + 0.5) / 2000), 20, 20, 0)
    digits(found.alpha, 1.0709834536, 10)
    digits(found.lower, 1.0236808837, 10)
    digits(found.upper, 1.3084743797, 10)
    digits(found.gamma, 0.9756496595, 10)
    digits(found.alpha_hill, 1.0932765705, 10)
    digits(found.p_value, 1 / 21, 12)
    assert found.gaussian_band == pytest.approx((1.9851422994, 2.0), abs=1e-10)
    medians = [1.0742, 0.9354, 0.8245, 0.7397, 0.7889, 0.6468, 0.6379, 0.5616, 0.5130, 0.4174, 0.2482, -0.1134]
    assert found.medians == pytest.approx(medians, abs=5e-5)


@pytest.mark.parametrize(("beta", "tau_min"), [(0.42, 5.0), (0.8, 1.0), (1.5, 5.0)])
def test_f2_an_exact_power_law_is_called_one(beta, tau_min):
    law = lc.Pareto(beta, tau_min)
    quantiles = tau_min * ((np.arange(512) + 0.5) / 512) ** (-1 / beta)
    for f in (law.envelope(GRID), lc.envelope(quantiles, GRID)):
        assert lc.tails.regime(GRID, f).regime is Regime.POWER
        # The published gate refuses it.
        assert not lc.tails.regime(GRID, f, compat="reference").power_law
    rng = np.random.default_rng(1)
    nets = np.array([lc.envelope(law.rvs(512, rng=rng), GRID) for _ in range(100)])
    many = lc.tails.regime(GRID, nets)
    assert many.regime is Regime.POWER
    assert many.exponent.lower < beta < many.exponent.upper


def test_f2_the_number_of_lags_does_not_matter():
    law = lc.LogNormal(math.log(50.0), 1.0)
    for lags in (GRID, np.arange(4.0, 385.0), np.geomspace(4, 384, 40), np.geomspace(4, 384, 1000)):
        found = lc.tails.regime(lags, law.envelope(lags))
        assert found.regime is Regime.TEMPERED and found.bend.value == pytest.approx(0.706, abs=0.005)


@pytest.mark.parametrize("tau", [2.0, 20.0, 199.5, 257.0, 2000.0, 1e5])
def test_f4_a_single_exponential_is_never_a_power_law(tau):
    f = np.exp(-GRID / tau)
    # The published slope is 107.3/tau with R2 = 0.804, whatever tau.
    gate = lc.tails.regime(GRID, f, compat="reference")
    assert -gate.power[1] == pytest.approx(107.3 / tau, rel=1e-3) and gate.r_squared[1] == pytest.approx(
        0.804, abs=1e-3
    )
    found = lc.tails.regime(GRID, f)
    assert found.regime is (Regime.EXPONENTIAL if tau < 300 else Regime.UNDETERMINED)
    noisy = f * np.exp(0.05 * np.random.default_rng(0).standard_normal((20, 1)))
    assert lc.tails.regime(GRID, noisy).regime is found.regime


@pytest.mark.parametrize(("beta", "tau_min"), [(0.42, 50.0), (1.0, 50.0), (1.5, 50.0)])
def test_f4_an_exponent_that_has_not_settled_is_no_index(beta, tau_min):
    found = lc.tails.regime(GRID, lc.Pareto(beta, tau_min).envelope(GRID))
    assert found.regime is Regime.UNDETERMINED and "not settled" in found.reason
    longer = np.geomspace(1.0, 1e5, 100)
    assert lc.tails.regime(longer, lc.Pareto(beta, tau_min).envelope(longer)).exponent.value == pytest.approx(
        beta, abs=0.01
    )


@pytest.mark.parametrize(("beta", "published"), [(0.42, 0.459), (1.0, 1.24)])
def test_f11_the_likelihood_instead_of_a_line_through_the_ccdf(beta, published):
    # Exact Pareto, 64 units: the published mean over draws (its standard error is 0.02), and ours with its interval.
    rng = np.random.default_rng(5)
    samples = [lc.Pareto(beta).rvs(64, rng=rng) for _ in range(400)]
    theirs = np.mean([_reference.ols_ccdf(tau)[0] for tau in samples])
    assert theirs == pytest.approx(published, rel=0.08) and theirs > 1.05 * beta
    k, known = tail_size(64), np.zeros(64, dtype=bool)
    ours = np.array([hill(np.sort(np.log(tau))[::-1][: k + 1], known[: k + 1], k, 0.95) for tau in samples])
    assert lc.tails.fit_spectrum(samples[0]).beta == pytest.approx(tuple(ours[0]))
    assert np.median(ours[:, 0]) == pytest.approx(beta, rel=0.07)
    # 0.95 +- 3 standard errors; the published interval has 0.80 to 0.95 at a nominal 0.90.
    assert 0.917 < np.mean((ours[:, 1] < beta) & (beta < ours[:, 2])) < 0.983


@pytest.mark.parametrize(
    "draw",
    [
        lambda rng: np.exp(rng.standard_normal(512)),
        lambda rng: rng.standard_exponential(512),
        lambda rng: np.exp(0.3 * rng.standard_normal(512)),
        lambda rng: 1.0 + 0.02 * rng.standard_normal(512),
    ],
    ids=["log-normal", "exponential", "narrow log-normal", "2 % spread"],
)
def test_f12_a_straight_looking_ccdf_is_no_power_law(draw):
    rng = np.random.default_rng(6)
    samples = [50.0 * draw(rng) for _ in range(60)]
    # R2 >= 0.90 lets them all through.
    assert np.median([_reference.ols_ccdf(tau)[1] for tau in samples]) > 0.94
    shapes = [lc.tails.tail_shape(tau).shape for tau in samples]
    # Size 0.05: 8 of 60 have probability 0.01.
    assert shapes.count(Shape.POWER) < 8 and shapes.count(Shape.LIGHT) > 30
    assert [lc.tails.tail_shape(lc.Pareto(0.8).rvs(512, rng=rng)).shape for _ in range(20)].count(Shape.POWER) > 14


@pytest.mark.parametrize(("beta", "tau_min"), [(0.42, 5.0), (0.8, 1.0), (1.5, 5.0)])
def test_f13_slower_than_a_power_is_not_collapse(beta, tau_min):
    rng = np.random.default_rng(3)
    law = lc.Pareto(beta, tau_min)
    labels = [lc.tails.regime(GRID, lc.envelope(law.rvs(512, rng=rng), GRID)).regime for _ in range(40)]
    assert Regime.EXPONENTIAL not in labels
    # The shares that the docstring of `regime` gives, of 100 networks.
    assert abs(labels.count(Regime.POWER) / 40 - {0.42: 0.85, 0.8: 0.31, 1.5: 0.30}[beta]) < 0.25
    gates = [lc.tails.regime(GRID, lc.envelope(law.rvs(512, rng=rng), GRID), compat="reference") for _ in range(40)]
    assert not any(gate.power_law for gate in gates) and any(math.isnan(gate.ell_star) for gate in gates)


def test_f10_reciprocals_of_slopes_are_bounds_not_a_tail():
    # Slopes with mass at 0: their reciprocals have an index near 1 whatever the dynamics. With their error known, those
    # that could be 0 are lower bounds and those below 0 grow; a mean slope of 3 errors leaves no index of 1 behind.
    rng = np.random.default_rng(0)
    slopes = rng.normal(0.003, 0.001, 512)
    error = 0.001
    status = np.where(slopes - 2 * error > 0, 0, np.where(slopes + 2 * error > 0, 2, 3))
    bounds = 1.0 / np.where(status == 2, slopes + 2 * error, np.where(status == 3, 1.0, slopes))
    naive = lc.tails.fit_spectrum(1.0 / np.abs(slopes))
    assert naive.beta.lower < 2.0
    honest = lc.tails.fit_spectrum(bounds, status)
    assert math.isnan(honest.beta.value) or honest.beta.upper > 3.0


def test_g7_far_left_drift_finds_one_in_independent_noise():
    z = -5 + 0.3 * np.random.default_rng(0).standard_normal((13, 512))
    found = far_left_drift(z[:-1], (z[1:] - z[:-1]) / 40, resamples=200)
    digits(found.cut, -5.3756366872, 10)
    assert found.n == 615 and found.positive
    assert found.kappa == pytest.approx((0.0128543629, 0.0121818223, 0.0133821163), abs=1e-10)
    assert found.slope == pytest.approx((-0.0239587627, -0.0276781604, -0.0201952956), abs=1e-10)
    digits(found.bic_difference, -87.8720680, 7)
