"""Local exponents: exact ones are exact, intervals of tables cover."""

import numpy as np
import pytest

from levycollapse._envelope.slope import SlopeStatus, local_exponent
from levycollapse._laws.spectra import GammaRates, LogNormal, Pareto, TruncatedPareto
from levycollapse.errors import ParameterError

LAGS = np.geomspace(1, 1e4, 128)


class EnvelopeOnly:
    """A law that offers its envelope and nothing else."""

    def __init__(self, law):
        self.envelope = law.envelope


@pytest.mark.parametrize("law", [Pareto(0.8), GammaRates(1.5, 3.0), LogNormal(2.0, 1.0)])
def test_law_without_its_own_exponent_is_differentiated(law):
    found = local_exponent(LAGS, EnvelopeOnly(law))
    np.testing.assert_allclose(found.exponent, law.local_exponent(LAGS), rtol=1e-8)
    assert found.status is SlopeStatus.EXACT
    np.testing.assert_array_equal(found.lower, found.upper)


def test_law_is_asked_first_and_samples_are_exact():
    law = Pareto(0.8)
    np.testing.assert_array_equal(local_exponent(LAGS, law).exponent, law.local_exponent(LAGS))
    tau, weights = np.array([1.0, 5.0]), np.array([3.0, 1.0])
    mu, w = 1 / tau, weights / 4
    f = (w * np.exp(-LAGS[:20, None] * mu)).sum(axis=1)
    slope = (w * mu * np.exp(-LAGS[:20, None] * mu)).sum(axis=1)
    found = local_exponent(LAGS[:20], tau=tau, weights=weights)
    np.testing.assert_allclose(found.exponent, LAGS[:20] * slope / f, rtol=1e-13)


@pytest.mark.parametrize("sigma", [0.01, None])
@pytest.mark.parametrize("law", [GammaRates(0.8, 5.0), TruncatedPareto(0.8, 1.0, 3000.0)], ids=repr)
def test_intervals_of_a_table_cover_and_are_not_wide(law, sigma):
    rng = np.random.default_rng(5)
    f, b = law.envelope(LAGS), law.local_exponent(LAGS)
    inside = width = 0.0
    for _ in range(8):
        found = local_exponent(LAGS, f * (1 + 0.01 * rng.standard_normal(LAGS.size)), sigma=sigma)
        inside += np.mean((found.lower <= b) & (b <= found.upper)) / 8
        width += np.median(found.upper - found.lower) / 8
    # 1024 dependent indicators: about 1024/28 independent ones, standard error 0.04 at 0.95.
    assert inside > 0.86
    assert width < 0.06


def test_the_level_widens_the_interval():
    f = Pareto(0.8).envelope(LAGS) * (1 + 0.01 * np.random.default_rng(1).standard_normal(128))
    narrow, wide = (local_exponent(LAGS, f, sigma=0.01, level=level) for level in (0.5, 0.99))
    assert (wide.upper - wide.lower > narrow.upper - narrow.lower).all()


def test_coarse_and_vanishing_tables():
    lags = np.geomspace(1, 1e4, 9)
    found = local_exponent(lags, np.where(lags > 5e3, 0.0, Pareto(0.8).envelope(lags)))
    assert np.isnan(found.exponent[-1]) and np.isfinite(found.exponent[:-1]).all()


@pytest.mark.parametrize(
    "call",
    [
        lambda: local_exponent([1.0, 2.0]),
        lambda: local_exponent([1.0, 2.0], [1.0, 0.5], tau=[1.0]),
        lambda: local_exponent(LAGS, LAGS[:5]),
        lambda: local_exponent(LAGS[::-1], LAGS),
        lambda: local_exponent(LAGS[:6], LAGS[:6]),
        lambda: local_exponent(LAGS, -LAGS),
        lambda: local_exponent(LAGS, LAGS, sigma=0.0),
        lambda: local_exponent(LAGS, LAGS, level=1.0),
    ],
)
def test_refusals(call):
    with pytest.raises(ParameterError):
        call()
