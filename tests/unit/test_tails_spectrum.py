"""The index of a spectrum, its interval and its cutoff, against other ways to get them."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.stats import gamma

import levycollapse as lc
from levycollapse._kernels.log_concave import log_integral
from levycollapse.tails._cutoff import TemperedTail, sharp_cutoff
from levycollapse.tails._hill import hill, tail_size

Status = lc.tails.SpectrumFitStatus


@pytest.fixture(scope="module")
def tau():
    return lc.Pareto(beta=0.8, tau_min=2.0).rvs(512, rng=3)


def test_rule_for_k():
    assert [tail_size(n) for n in (20, 64, 512, 4096)] == [5, 10, 34, 118]


def test_index_maximises_the_pareto_likelihood(tau):
    fit = lc.tails.fit_spectrum(tau)
    law = np.sort(tau)[::-1]

    def minus(log_beta):
        return -np.sum(lc.Pareto(beta=math.exp(log_beta), tau_min=law[34]).logpdf(law[:34]))

    found = minimize_scalar(minus, bounds=(-3, 3), method="bounded", options={"xatol": 1e-10})
    assert fit.beta.value == pytest.approx(math.exp(found.x), rel=1e-7)
    # The pivot beta * sum of log exceedances is gamma distributed with shape k.
    pivot = 34 / fit.beta.value
    assert fit.beta.lower * pivot == pytest.approx(gamma.ppf(0.025, 34), rel=1e-12)
    assert fit.beta.upper * pivot == pytest.approx(gamma.ppf(0.975, 34), rel=1e-12)
    assert (fit.k, fit.threshold, fit.n_units) == (34, pytest.approx(law[34]), 512)


def test_censored_index_maximises_the_censored_likelihood(tau):
    limit = np.sort(tau)[-12]
    late = tau > limit
    bounds = np.minimum(tau, limit)
    fit = lc.tails.fit_spectrum(bounds, late)
    law = np.sort(bounds)[::-1]

    def minus(log_beta):
        pareto = lc.Pareto(beta=math.exp(log_beta), tau_min=law[34])
        return -np.sum(pareto.logpdf(law[11:34])) - 11 * pareto.logsf(limit)

    found = minimize_scalar(minus, bounds=(-3, 3), method="bounded", options={"xatol": 1e-10})
    assert fit.beta.value == pytest.approx(math.exp(found.x), rel=1e-7)
    assert fit.n_censored == 11
    pivot = 23 / fit.beta.value
    assert fit.beta.lower * pivot == pytest.approx(gamma.ppf(0.025, 23), rel=1e-12)
    assert fit.beta.upper * pivot == pytest.approx(gamma.ppf(0.975, 24), rel=1e-12)


def test_fixed_limit_covers_however_many_are_censored():
    rng = np.random.default_rng(5)
    y = -np.sort(-rng.standard_exponential((4000, 21)), axis=1)
    late = y > 1.2
    _, low, high = hill(np.minimum(y, 1.2), late, 20, 0.9)
    # Without the two degrees of freedom at the upper end this is 0.86.
    assert 0.885 < np.mean((low <= 1.0) & (high >= 1.0)) < 0.94


def test_what_is_known_of_a_unit_in_every_form(tau):
    late = tau > np.sort(tau)[-12]
    forms = [
        late,
        np.where(late, 2, 0),
        np.where(late, "CENSORED_LONG", "RESOLVED"),
        np.where(late, "censored_long", "resolved"),
        np.where(late, 2.0, 0.0),
        [lc.tails.UnitStatus(2 if x else 0) for x in late],
    ]
    fits = [lc.tails.fit_spectrum(tau, form) for form in forms]
    assert len({(fit.beta, fit.n_censored) for fit in fits}) == 1
    assert fits[0].counts == {"RESOLVED": 501, "BELOW_STEP": 0, "CENSORED_LONG": 11, "GROWING": 0}


def test_growing_units_are_left_out_and_fast_ones_count(tau):
    more = np.concatenate([tau, [np.nan, 5.0], [0.0, np.nan, 0.4]])
    status = np.array([0] * 512 + [3, 3] + [1, 1, 1])
    fit = lc.tails.fit_spectrum(more, status)
    assert fit.n_units == 515 and fit.counts["GROWING"] == 2
    assert fit.beta == lc.tails.fit_spectrum(np.concatenate([tau, [0.1, 0.1, 0.1]])).beta
    assert fit.law.body[0] == 1e-3
    assert fit.law.envelope(0.0) == 1.0


def test_fast_units_do_not_become_slow_ones():
    # F1: units below the step stay the fastest, whatever their share; the index does not move.
    rng = np.random.default_rng(1)
    slow = lc.LogNormal(3.0, 0.7).rvs(512, rng=rng)
    for share in (0.0, 0.1, 0.3):
        status = np.where(np.arange(512) < share * 512, 1, 0)
        fit = lc.tails.fit_spectrum(np.where(status == 1, 0.3, slow), status)
        assert fit.beta.lower > 1.2
        assert lc.tails.tail_shape(np.where(status == 1, 0.3, slow), status).shape is not lc.tails.Shape.POWER


def test_statuses_instead_of_numbers():
    rng = np.random.default_rng(0)
    few = rng.pareto(1.0, 19) + 1
    assert lc.tails.fit_spectrum(few).status is Status.TOO_FEW_UNITS
    assert lc.tails.fit_spectrum(few, k=5).status is Status.FITTED
    many = rng.pareto(1.0, 200) + 1
    late = many >= np.sort(many)[-40]
    censored = lc.tails.fit_spectrum(np.minimum(many, np.sort(many)[-40]), late)
    assert censored.status is Status.CENSORED and math.isnan(censored.beta.value) and censored.cutoff is None
    assert lc.tails.fit_spectrum(np.full(100, 7.0)).status is Status.DEGENERATE
    assert lc.tails.fit_spectrum(np.full(100, np.nan), np.full(100, 1)).status is Status.TOO_FEW_UNITS
    with pytest.raises(lc.ParameterError, match="no fitted law"):
        _ = censored.law


def test_scale_does_not_matter(tau):
    fits = [lc.tails.fit_spectrum(tau * scale) for scale in (1e-200, 1.0, 1e200)]
    for fit in fits:
        assert fit.beta.value == pytest.approx(fits[1].beta.value, rel=1e-10)
        assert fit.cutoff.beta.upper == pytest.approx(fits[1].cutoff.beta.upper, rel=1e-5)


@pytest.mark.parametrize(("beta", "rate"), [(0.0, 0.7), (0.3, 1e-6), (1.0, 2.0), (1.7, 1e-3), (2.5, 30.0)])
def test_tempered_likelihood_against_exponential_integrals(beta, rate):
    y = np.array([0.9, 0.5, 0.3, 0.2, 0.0]) + 2.0
    late = np.array([True, False, False, False, False])
    tail = TemperedTail(y, late)
    top, start = math.exp(0.0), math.exp(-0.9)

    def log_mass(x):
        # int_x^inf t^(-1-beta) e^(-rate t) dt
        return float(mpmath.log(mpmath.mpf(x) ** -beta * mpmath.expint(1 + beta, rate * x)))

    seen = y[1:-1] - 2.9
    expected = np.sum(-beta * seen - rate * np.exp(seen)) + log_mass(top) - 4 * log_mass(start)
    assert tail.log_likelihood(beta, rate) == pytest.approx(expected, rel=1e-11)


def test_profile_is_the_maximum_over_cutoffs(tau):
    log_tau = np.log(np.sort(tau)[::-1][:35])
    tail = TemperedTail(log_tau, np.zeros(35, dtype=bool))
    for beta in (0.0, 0.5, 0.9, 1.3):
        value, rate = tail.profile(beta)
        grid = np.geomspace(1e-12, 1e3, 3000)
        brute = max([tail.log_likelihood(beta, r) for r in grid] + ([tail.log_likelihood(beta, 0.0)] if beta else []))
        assert value >= brute - 1e-9
        assert rate >= 0.0
    fit = lc.tails.fit_spectrum(tau).cutoff
    best = tail.log_likelihood(fit.beta.value, math.exp(tail.top) / fit.tau_cut)
    for end in (fit.beta.lower, fit.beta.upper):
        assert 2 * (best - tail.profile(end)[0]) == pytest.approx(3.841458820694124, abs=1e-3)


def test_a_cutoff_far_beyond_the_values_is_found_absent():
    # All but a few exceedances censored: the likelihood is largest without a cutoff, at an index below 1.
    log_tau = np.array([5.0] * 25 + list(np.linspace(4.9, 3.4, 10)))
    tail = TemperedTail(log_tau, np.arange(35) < 25)
    value, rate = tail.profile(0.5)
    assert rate == 0.0
    assert value >= max(tail.log_likelihood(0.5, r) for r in np.geomspace(1e-100, 10.0, 500)) - 1e-9


def test_the_profile_does_not_depend_on_what_was_asked_before():
    y = np.array([0.0] * 9 + [-0.026, -0.051] + list(-np.linspace(0.315, 1.33, 24)))
    for first in (0.0, 0.5, 0.95, 3.0):
        tail = TemperedTail(y, np.arange(35) < 9)
        tail.profile(first)
        assert tail.profile(0.0) == pytest.approx(TemperedTail(y, np.arange(35) < 9).profile(0.0), rel=1e-6)


def test_integral_whose_peak_is_far_from_its_start():
    for b, rate in ((-0.2338104, 4e-28), (-1.5, 1e-60), (-0.01, 1e-20)):
        expected = mpmath.log(mpmath.gammainc(-mpmath.mpf(b), mpmath.mpf(rate)) * mpmath.mpf(rate) ** b)
        assert float(log_integral(0.0, b, rate, 0.0, 0.0, 0.0)[0]) == pytest.approx(float(expected), rel=1e-13)


def test_density_exponent_below_one_with_a_cutoff():
    # Anchor H11: density tau^-0.8 on [1, 1000] has no tail index; a Pareto fit without cutoff says beta = 0.24.
    u = np.random.default_rng(1).random(512)
    tau = ((1000**0.2 - 1) * u + 1) ** 5
    whole = lc.tails.fit_spectrum(tau, k=511)
    assert whole.beta.lower > 0.2
    assert whole.cutoff.likelihood_ratio > 100 and not whole.cutoff.separable and whole.cutoff.beta.upper < 0.05
    assert whole.cutoff.sharp.lower < -0.2 < whole.cutoff.sharp.upper < -0.1
    assert not lc.tails.fit_spectrum(tau).cutoff.separable


@pytest.mark.parametrize(("beta", "end"), [(0.8, 100.0), (0.8, 1e9), (-0.2, 1000.0)])
def test_sharp_cutoff_covers_wherever_it_is(beta, end):
    rng = np.random.default_rng(6)
    covered = []
    for _ in range(400):
        y = -np.log1p(-rng.random(60) * -np.expm1(-beta * np.log(end))) / beta
        y = -np.sort(-y)
        found = sharp_cutoff(y, np.zeros(60, dtype=bool), 0.9)
        covered.append(found.lower <= beta <= found.upper)
    assert 0.85 < np.mean(covered) < 0.95


def test_sharp_cutoff_maximises_the_truncated_likelihood(tau):
    y = np.log(np.sort(tau)[::-1][:35])
    found = sharp_cutoff(y, np.zeros(35, dtype=bool), 0.95)
    grid = np.linspace(0.1, 2.0, 20_001)
    length = y[0] - y[-1]
    log_likelihood = 33 * np.log(grid / -np.expm1(-grid * length)) - grid * np.sum(y[1:-1] - y[-1])
    assert found.value == pytest.approx(grid[np.argmax(log_likelihood)], abs=2e-4)
    inside = grid[2 * (log_likelihood.max() - log_likelihood) <= 3.841458820694124]
    assert (found.lower, found.upper) == pytest.approx((inside[0], inside[-1]), abs=2e-4)


@pytest.mark.parametrize("law", [lc.TruncatedPareto(0.8, 1.0, 100.0), lc.TemperedPareto(0.8, 1.0, 100.0)])
def test_index_below_one_with_a_cutoff(law):
    rng = np.random.default_rng(2)
    covered, sharp, wrong = [], [], []
    for _ in range(30):
        tau = law.rvs(512, rng=rng)
        fit = lc.tails.fit_spectrum(tau)
        covered.append(fit.cutoff.beta.lower <= 0.8 <= fit.cutoff.beta.upper)
        sharp.append(fit.cutoff.sharp.lower <= 0.8 <= fit.cutoff.sharp.upper)
        wrong.append(fit.beta.value)
    assert np.mean(covered) >= 0.8
    assert np.mean(sharp) >= 0.8 or isinstance(law, lc.TemperedPareto)
    assert np.median(wrong) > 1.1
    whole = lc.tails.fit_spectrum(tau, k=511)
    right = whole.cutoff.sharp if isinstance(law, lc.TruncatedPareto) else whole.cutoff.beta
    assert right.lower < 0.8 < right.upper and whole.cutoff.separable
    assert whole.cutoff.likelihood_ratio > 3.84


def test_local_exponents(tau):
    fit = lc.tails.fit_spectrum(tau)
    found = fit.local_exponents([10, 34, 200])
    assert found.exponent[1] == fit.beta.value and found.threshold[1] == pytest.approx(fit.threshold)
    assert (found.lower < found.exponent).all() and (found.exponent < found.upper).all()
    assert fit.local_exponents().k[[0, -1]].tolist() == [5, 511]
    with pytest.raises(lc.ParameterError, match=r"depths=512 must be an integer from 1 to 511"):
        fit.local_exponents([512])


def test_fitted_law(tau):
    fit = lc.tails.fit_spectrum(tau)
    law = fit.law
    q = np.array([1e-12, 1e-3, 0.05, 34 / 512 - 1e-9])
    assert law.sf(law.isf(q)) == pytest.approx(q, rel=1e-6)
    assert law.isf(0.5) == pytest.approx(np.sort(tau)[512 // 2 - 1], rel=0.02)
    drawn = law.rvs(200_000, rng=1)
    lags = np.array([0.0, 1.0, 10.0, 300.0])
    assert law.envelope(lags) == pytest.approx(lc.envelope(drawn, lags), rel=0.02)
    assert law.envelope(lags) == pytest.approx(lc.envelope(tau, lags), abs=0.01)
    assert np.mean(drawn > fit.threshold) == pytest.approx(34 / 512, rel=0.03)


def test_threshold_of_smallest_distance(tau):
    fit = lc.tails.fit_spectrum(tau, compat="ks-threshold")
    y = np.sort(tau)[::-1]
    for k in (10, 100, 229, 400):
        excess = y[:k] / y[k]
        beta = k / np.log(excess).sum()
        order = np.sort(excess)
        model = 1 - order**-beta
        distance = max(np.max(np.arange(1, k + 1) / k - model), np.max(model - np.arange(k) / k))
        assert distance >= fit.distance - 1e-12
        if k == fit.k:
            assert distance == pytest.approx(fit.distance) and beta == pytest.approx(fit.beta.value)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"tau": [1.0, -2.0]}, r"tau\[1\]=-2.0 must be a finite number > 0"),
        ({"tau": [[1.0, 2.0]]}, r"tau has shape \(1, 2\)"),
        ({"tau": [1.0, np.nan], "censored": [0, 2]}, r"tau\[1\]=.*nan.* must be a finite number > 0 .* CENSORED_LONG"),
        ({"tau": [1.0, 2.0], "censored": [True]}, r"censored has shape \(1,\)"),
        (
            {"tau": [1.0, 2.0], "censored": ["RESOLVED", "LOST"]},
            r"censored\[1\]=LOST must be a boolean or one of",
        ),
        ({"tau": [1.0, 2.0], "censored": [0, 7]}, r"censored\[1\]=.*7.* must be"),
        ({"tau": [1.0, 2.0], "censored": [0.5, 0.0]}, r"censored\[0\]=.*0.5.* must be"),
        ({"tau": np.ones(50), "k": 50}, r"k=50 must be an integer from 1 to 49"),
        ({"tau": np.ones(50), "k": True}, r"k=True must be"),
        ({"tau": np.ones(50), "level": 1.0}, r"level=1.0 must be a number strictly between 0 and 1"),
        ({"tau": np.ones(50), "compat": "paper"}, r"compat='paper' must be one of"),
        ({"tau": np.ones(50), "compat": "reference", "k": 5}, r"compat='reference' chooses its own threshold"),
        ({"tau": np.ones(5), "compat": "ks-threshold"}, r"choosing a threshold needs more than 10"),
        ({"tau": np.ones(50), "compat": "ks-threshold"}, r"tau has a single value"),
    ],
)
def test_bad_input(arguments, message):
    with pytest.raises(lc.ParameterError, match=message):
        lc.tails.fit_spectrum(**arguments)


def test_flags_that_would_be_taken_for_other_statuses():
    tau = lc.Pareto(beta=0.8).rvs(64, rng=3)
    late = tau > 10.0
    with pytest.raises(
        lc.ParameterError, match=r"must be < 1 for a unit that is BELOW_STEP \(1\); give lower bounds as"
    ):
        lc.tails.fit_spectrum(tau.clip(max=10.0), late.astype(int))
    with pytest.raises(lc.ParameterError, match="censored has masked entries"):
        lc.tails.fit_spectrum(tau, np.ma.masked_array(late, mask=late))
