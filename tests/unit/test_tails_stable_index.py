"""Stable indices: tables and likelihoods against the law itself and SciPy, intervals, and what is refused."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.interpolate import CubicSpline
from scipy.stats import levy_stable

import levycollapse as lc
from levycollapse.tails import StableIndexStatus as Status
from levycollapse.tails import stable_index
from levycollapse.tails._quantile_table import NODES, TAILS, log_ratio_deviation, quantile_table
from levycollapse.tails._stable_estimators import tail_index
from levycollapse.tails._stable_likelihood import Likelihood

#: (q95 - q05)/(q75 - q25) and q75 - q25 of the unit symmetric laws, from SciPy (S1); a published fallback table has
#: 1.903 and 1.349 at 2, 7.43 and 6.31 at 1.
ORACLE = {
    2.0: (2.4387, 1.9077),
    1.9: (2.5128, 1.9136),
    1.5: (3.1498, 1.9379),
    1.2: (4.4509, 1.9631),
    1.0: (6.3138, 2.0),
}


def draws(alpha, n, rng, scale=1.0):
    return lc.SymmetricStable(alpha=alpha, scale=scale).rvs(n, rng=rng)


def test_quantile_table_is_that_of_the_law():
    table = quantile_table()
    for alpha, (ratio, width) in ORACLE.items():
        i = int(np.argmin(np.abs(NODES - alpha)))
        assert NODES[i] == pytest.approx(alpha, abs=1e-15)
        assert table.quantile[i, 1] / table.quantile[i, 0] == pytest.approx(ratio, abs=6e-5)
        assert 2 * table.quantile[i, 0] == pytest.approx(width, abs=6e-5)
    # Quantiles and densities against another program, at the closed forms to all digits.
    i = int(np.argmin(np.abs(NODES - 1.5)))
    assert table.quantile[i] == pytest.approx(levy_stable.isf(TAILS, 1.5, 0.0), rel=1e-6)
    assert table.density[i] == pytest.approx(levy_stable.pdf(table.quantile[i], 1.5, 0.0), rel=1e-6)
    cauchy = int(np.argmin(np.abs(NODES - 1.0)))
    assert table.quantile[cauchy] == pytest.approx(1 / np.tan(np.pi * np.array(TAILS)), rel=1e-12)


def test_ratios_between_the_nodes():
    logs = np.log(quantile_table().quantile)
    spline = CubicSpline(NODES, logs[:, 1] - logs[:, 0])
    for alpha in (0.3125, 0.575, 0.975, 1.483, 1.925, 1.985):
        law = lc.SymmetricStable(alpha)
        exact = math.log(law.isf(0.05) / law.isf(0.25))
        assert float(spline(alpha)) == pytest.approx(exact, abs=2e-5 if alpha > 0.6 else 2e-4)


def test_deviation_of_the_ratio_is_that_of_samples():
    rng = np.random.default_rng(3)
    for alpha in (1.0, 1.5, 2.0):
        q = np.quantile(draws(alpha, (2000, 1000), rng), [0.05, 0.25, 0.75, 0.95], axis=1)
        seen = np.log((q[3] - q[0]) / (q[2] - q[1])).std() * math.sqrt(1000)
        assert log_ratio_deviation()[int(np.argmin(np.abs(NODES - alpha)))] == pytest.approx(seen, rel=0.06)


def test_likelihood_is_the_sum_of_log_densities():
    x = draws(1.3, 400, 1)
    for alpha in (0.7, 1.3, 1.9, 1.999, 2.0):
        value, scale = Likelihood(np.abs(x), 1.0)(alpha)
        law = lc.SymmetricStable(alpha, scale)
        assert value == pytest.approx(float(np.sum(law.logpdf(x))), abs=1e-3)
        for factor in (0.99, 1.01):
            assert float(np.sum(lc.SymmetricStable(alpha, scale * factor).logpdf(x))) < value


@pytest.mark.parametrize("method", ["ml", "ecf", "quantiles"])
def test_stable_methods_do_not_know_location_and_scale(method):
    x = draws(1.6, 1500, 5)
    one, other = stable_index(x, method), stable_index(1000.0 + 3.0 * x, method)
    assert one.low < 1.6 < one.high
    assert other.alpha == pytest.approx(one.alpha, abs=2e-4)
    assert other.scale == pytest.approx(3 * one.scale, rel=1e-3)
    assert one.scale == pytest.approx(1.0, abs=0.1)
    assert one.status is Status.FITTED and one.k is None and one.n == 1500


def test_methods_agree_and_likelihood_is_sharpest():
    x = draws(1.5, 20000, 8)
    ml, ecf, quantiles = (stable_index(x, m) for m in ("ml", "ecf", "quantiles"))
    assert ml.high - ml.low < ecf.high - ecf.low < quantiles.high - quantiles.low
    assert max(m.low for m in (ml, ecf, quantiles)) < 1.5 < min(m.high for m in (ml, ecf, quantiles))


def test_interval_of_the_likelihood_ends_where_it_has_fallen():
    x = draws(1.5, 300, 9)
    found = stable_index(x, "ml", level=0.9)
    likelihood = Likelihood(np.abs(x - np.median(x)), found.scale)
    top = likelihood(found.alpha)[0]
    for end in (found.low, found.high):
        assert top - likelihood(end)[0] == pytest.approx(0.5 * 2.705543, abs=0.01)
    wider = stable_index(x, "ml", level=0.99)
    assert wider.low < found.low < found.high < wider.high


@pytest.mark.parametrize("method", ["ml", "ecf", "quantiles"])
def test_normal_samples_are_at_the_border(method):
    rng = np.random.default_rng(2)
    found = [stable_index(rng.normal(size=500), method) for _ in range(3)]
    assert any(f.status is Status.AT_GAUSSIAN and f.alpha == 2.0 for f in found)
    assert all(f.high == 2.0 and f.low > 1.4 for f in found)
    # Lighter than normal: there is no such stable law.
    light = stable_index(rng.uniform(size=500), method)
    assert light.status is Status.AT_GAUSSIAN and light.high == 2.0


def test_heavier_than_the_search():
    found = stable_index(draws(0.2, 1000, 3), "ml")
    assert found.status is Status.AT_BORDER and found.alpha == found.low == 0.3


def test_tail_methods_against_their_definitions():
    x = np.sort(np.random.default_rng(4).random(2000) ** (-1 / 1.5))[::-1]
    hill = tail_index(x, "hill", 80, 0.95).alpha
    assert hill == pytest.approx(1 / np.mean(np.log(x[:80] / x[80])))
    m1, m2 = (np.mean(np.log(x[:80] / x[80]) ** p) for p in (1, 2))
    assert tail_index(x, "moment", 80, 0.95).alpha == pytest.approx(1 / (m1 + 1 - 0.5 / (1 - m1**2 / m2)))
    gamma = np.log2((x[79] - x[159]) / (x[159] - x[319]))
    assert tail_index(x, "pickands", 80, 0.95).alpha == pytest.approx(1 / gamma)


def test_tail_methods_on_a_pareto_sample_and_without_a_tail():
    rng = np.random.default_rng(6)
    x = rng.choice([-1.0, 1.0], 20000) * rng.random(20000) ** (-1 / 1.5)
    for method in ("hill", "moment", "pickands"):
        found = stable_index(x, method)
        assert found.low < 1.5 < found.high and math.isnan(found.scale) and found.k is not None
    nothing = stable_index(rng.uniform(-1, 1, 5000), "moment")
    assert nothing.status is Status.NO_POWER_TAIL and nothing.alpha == math.inf


def test_hill_must_not_be_used_on_stable_data():
    assert stable_index(draws(1.8, 20000, 7), "hill", k=2000).low > 2.4


def test_published_estimators_are_called_so():
    x = draws(1.5, 400, 2)
    for method in ("quantiles", "ecf", "calibrated"):
        found = stable_index(x, method, compat="reference")
        assert found.status is Status.REFERENCE and 1.2 < found.alpha < 1.9
    assert math.isnan(stable_index(x, "ecf", compat="reference").low)


def test_too_little_to_say():
    few = stable_index(np.arange(99.0))
    assert few.status is Status.TOO_FEW and math.isnan(few.alpha) and few.n == 99
    flat = np.r_[np.zeros(80), np.random.default_rng(1).normal(size=40)]
    for method in ("ml", "ecf", "quantiles", "hill"):
        assert stable_index(flat, method).status is Status.NO_SPREAD
    same = np.r_[np.random.default_rng(1).normal(size=200), np.full(100, 9.0), np.full(100, -9.0)]
    assert stable_index(same, "hill", k=50).status is Status.NO_SPREAD


@pytest.mark.parametrize(
    ("args", "text"),
    [
        ({"x": np.ones((3, 200))}, "shape"),
        ({"x": [1.0, math.inf]}, "finite"),
        ({"method": "likelihood"}, "method="),
        ({"method": "calibrated"}, "method="),
        ({"method": "hill", "k": 1}, "k=1"),
        ({"method": "pickands", "k": 300}, "k=300"),
        ({"k": 20}, "no meaning"),
        ({"level": 1.0}, "level=1"),
        ({"compat": "old"}, "compat="),
        ({"method": "hill", "compat": "reference"}, "method="),
    ],
)
def test_bad_input(args, text):
    good = {"x": np.random.default_rng(0).normal(size=1000)}
    with pytest.raises(lc.ParameterError, match=text):
        stable_index(**{**good, **args})
