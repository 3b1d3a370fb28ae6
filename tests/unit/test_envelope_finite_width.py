"""Envelopes of finite networks against sampling and against THEORY 6."""

import math

import numpy as np
import pytest
from scipy import stats

import levycollapse as lc
from levycollapse._envelope.finite_width import finite_width_envelope
from levycollapse._envelope.forward import envelope
from levycollapse._laws.spectra import LogNormal, Pareto, TruncatedPareto
from levycollapse.errors import ParameterError

LAGS = np.array([0.5, 5.0, 50.0])


class OfZeta:
    """The same Pareto law as a density of zeta = -log tau, with the interface of a stationary density."""

    def __init__(self, law):
        self.envelope = law.envelope
        self.timescale_pdf = law.pdf
        self._law = law

    def cdf(self, zeta):
        return self._law.sf(np.exp(-np.asarray(zeta)))

    def ppf(self, q):
        return -np.log(self._law.isf(q))

    def rvs(self, size, rng=None):
        return -np.log(self._law.rvs(size, rng=rng))


def test_mean_and_variance_agree_with_sampling():
    law, width, networks = LogNormal(1.0, 1.5), 20, 4000
    rng = np.random.default_rng(3)
    f = np.array([envelope(law.rvs(width, rng=rng), LAGS) for _ in range(networks)])
    found = finite_width_envelope(law, LAGS, width, n_networks=0)
    assert (np.abs(f.mean(axis=0) - found.mean) < 4.5 * np.sqrt(found.variance / networks)).all()
    spread = np.sqrt(2 / networks) * (1 + stats.kurtosis(f) / 2)
    assert (np.abs(f.var(axis=0) / found.variance - 1) < 5 * np.maximum(spread, 0.02)).all()
    assert np.isnan(found.quantiles).all()


def test_bands_are_quantiles_over_networks():
    law, width = Pareto(0.7), 30
    found = finite_width_envelope(law, LAGS, width, quantiles=[0.1, 0.5, 0.9], n_networks=800, rng=1)
    rng = np.random.default_rng(99)
    f = np.array([envelope(law.rvs(width, rng=rng), LAGS) for _ in range(3000)])
    for k, level in enumerate((0.1, 0.5, 0.9)):
        below = (f <= found.quantiles[k]).mean(axis=0)
        assert (np.abs(below - level) < 4.5 * np.sqrt(level * (1 - level) * (1 / 800 + 1 / 3000))).all()
        assert (found.quantiles_low[k] <= found.quantiles[k]).all()
        assert (found.quantiles[k] <= found.quantiles_high[k]).all()


def test_a_network_depends_on_the_seed_and_its_number_alone():
    few = finite_width_envelope(Pareto(1.0), 3.0, 5, quantiles=[0.5], n_networks=1, rng=4)
    again = finite_width_envelope(Pareto(1.0), 3.0, 5, quantiles=[0.5], n_networks=1, rng=np.random.default_rng(4))
    many = finite_width_envelope(Pareto(1.0), 3.0, 5, quantiles=[0.5], n_networks=3, rng=4)
    assert few.quantiles == again.quantiles
    assert many.quantiles != few.quantiles
    assert np.isnan(few.quantiles_low).all()


@pytest.mark.parametrize("beta", [0.4, 1.0, 2.5])
def test_crossover_of_a_power_law(beta):
    # sd f_H = f at 2 Gamma(1+beta)^(1/beta) (C H/beta)^(1/beta), C = beta (THEORY 6).
    found = finite_width_envelope(Pareto(beta), 1.0, 10**6, n_networks=0)
    assert found.crossover_lag == pytest.approx(2 * math.gamma(1 + beta) ** (1 / beta) * 1e6 ** (1 / beta), rel=2e-3)
    f = Pareto(beta).envelope([found.crossover_lag, 2 * found.crossover_lag])
    assert f[1] - f[0] ** 2 == pytest.approx(1e6 * f[0] ** 2, rel=1e-6)


def test_crossover_where_the_envelope_underflows_is_not_made_up():
    class Fast:
        def envelope(self, lags):
            return np.exp(-np.asarray(lags))

    assert math.isnan(finite_width_envelope(Fast(), 1.0, 10, n_networks=0).crossover_lag)
    assert finite_width_envelope(TruncatedPareto(0.5, 1.0, 50.0), 1.0, 10, n_networks=0).crossover_lag < 1e4


def test_largest_time_scale():
    width = 200
    largest = finite_width_envelope(Pareto(0.5), 1.0, width, n_networks=0).largest
    # Frechet: median (C H/beta)^(1/beta) (log 2)^(-1/beta).
    assert largest.median == pytest.approx(width**2 * math.log(2) ** -2, rel=0.01)
    assert largest.cdf(largest.ppf(0.3)) == pytest.approx(0.3, rel=1e-12)
    top = Pareto(0.5).rvs((2000, width), rng=8).max(axis=1)
    assert stats.kstest(top, largest.cdf).pvalue > 1e-3
    huge = finite_width_envelope(Pareto(0.5), 1.0, 10**18, n_networks=0).largest
    assert huge.median == pytest.approx(1e36 * math.log(2) ** -2, rel=1e-9)


def test_a_density_of_zeta_gives_the_same():
    law = Pareto(0.8)
    one = finite_width_envelope(law, LAGS, 16, n_networks=50, rng=2)
    other = finite_width_envelope(OfZeta(law), LAGS, 16, n_networks=50, rng=2)
    np.testing.assert_allclose(other.quantiles, one.quantiles, rtol=1e-12)
    np.testing.assert_allclose(other.variance, one.variance, rtol=1e-9)
    assert other.largest.median == pytest.approx(one.largest.median, rel=1e-12)
    assert other.largest.cdf(1e3) == pytest.approx(one.largest.cdf(1e3), rel=1e-12)
    assert other.crossover_lag == pytest.approx(one.crossover_lag, rel=1e-9)


def test_streams_drawn_together_are_those_drawn_one_by_one(reference):
    density = lc.stationary_density(lc.CollapseModel.from_parameters(**reference))
    found = finite_width_envelope(density, LAGS, 6, n_networks=20, rng=3)
    streams = np.random.default_rng(3).spawn(20)
    f = np.array([envelope(np.exp(-density.rvs(6, rng=stream)), LAGS) for stream in streams])
    np.testing.assert_allclose(found.quantiles, np.quantile(f, found.quantile_levels, axis=0), rtol=1e-12)


@pytest.mark.parametrize("width", [0, -3, 2.5, True, "8"])
def test_width_is_a_count(width):
    with pytest.raises(ParameterError, match="width"):
        finite_width_envelope(Pareto(1.0), 1.0, width)


def test_other_refusals():
    with pytest.raises(ParameterError, match="envelope"):
        finite_width_envelope([1.0, 2.0], 1.0, 4)
    with pytest.raises(ParameterError, match="quantiles"):
        finite_width_envelope(Pareto(1.0), 1.0, 4, quantiles=[0.0])
    with pytest.raises(ParameterError, match="lags"):
        finite_width_envelope(Pareto(1.0), -1.0, 4)
