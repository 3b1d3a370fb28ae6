"""The mixture envelope: exact for the samples as they are, on every path of the kernel."""

import mpmath as mp
import numpy as np
import pytest

from levycollapse._envelope import forward
from levycollapse._envelope.forward import envelope, mixture
from levycollapse._laws.spectra import Pareto
from levycollapse.errors import ParameterError


def plain_sum(tau, lags, weights=None):
    """The NumPy loop in extended precision."""
    mu = 1 / np.asarray(tau, dtype=np.longdouble)
    w = np.full(mu.size, 1 / np.longdouble(mu.size)) if weights is None else np.asarray(weights, np.longdouble)
    w = w / w.sum()
    return np.array([(w * np.exp(-np.longdouble(lag) * mu)).sum() for lag in lags], dtype=np.longdouble)


SPECTRA = {
    "pareto": lambda rng: (1 - rng.random(20_000)) ** (-1 / 0.4),
    "light": lambda rng: rng.gamma(2.0, 3.0, 20_000),
    "lognormal": lambda rng: np.exp(rng.normal(0.0, 4.0, 20_000)),
    "two atoms": lambda rng: np.repeat([1.0, 10.0], 10_000),
    "nearly one": lambda rng: 5.0 * (1 + 1e-9 * rng.random(20_000)),
    "one far out": lambda rng: np.append(rng.random(19_999) + 0.5, 1e9),
}


@pytest.mark.parametrize("name", SPECTRA)
@pytest.mark.parametrize("weighted", [False, True])
def test_aggregation_is_exact(name, weighted):
    rng = np.random.default_rng(11)
    tau = SPECTRA[name](rng)
    weights = rng.exponential(size=tau.size) if weighted else None
    lags = np.geomspace(1e-3, 1e5, 60)
    want = plain_sum(tau, lags, weights)
    got = envelope(tau, lags, weights)
    seen = want > 1e-280
    assert seen.sum() > 20
    # 1e-12 asked of the method, plus l/tau rounding in double precision.
    assert np.abs(got[seen] / want[seen] - 1).max() < 1e-12
    assert (got[~seen] <= 1.1e-280).all()


def test_hostile_weights_fall_back_to_the_plain_sum():
    # The slowest unit carries 1e-250 of the weight and dominates from l/tau of the others = 575 on: the Taylor bound
    # fails there and the lag must be summed one by one.
    tau = np.append(np.linspace(1.0, 1.01, 1000), 1000.0)
    weights = np.append(np.ones(1000), 1e-247)
    lags = np.linspace(400.0, 640.0, 25)
    want = plain_sum(tau, lags, weights)
    assert np.abs(envelope(tau, lags, weights) / want - 1).max() < 1e-12


def test_few_samples_and_scalars():
    assert envelope(2.0, 2.0) == pytest.approx(np.exp(-1.0), rel=1e-15)
    assert envelope([1.0, 3.0], 0.0) == 1.0
    assert envelope([[1.0], [3.0]], [[1.0, 2.0]]).shape == (1, 2)
    with mp.workdps(30):
        want = float((mp.exp(-mp.mpf(600)) + 3 * mp.exp(-mp.mpf(500))) / 4)
    assert envelope([1.0, 1.2], 600.0, weights=[1.0, 3.0]) == pytest.approx(want, rel=1e-12)


def test_zero_weight_does_not_set_the_slowest_rate():
    assert envelope([1.0, 1e6], 5.0, weights=[2.0, 0.0]) == pytest.approx(np.exp(-5.0), rel=1e-14)
    assert envelope([1.0, 2.0], 1.0, weights=[1e308, 1e308]) == pytest.approx(envelope([1.0, 2.0], 1.0), rel=1e-14)


def test_log_and_local_exponent_beyond_underflow():
    tau = np.append(np.random.default_rng(3).random(5000) + 0.5, 2.0)
    law = mixture(tau)
    lags = np.array([0.0, 1.0, 50.0, 1e4])
    assert envelope(tau, lags)[-1] == 0
    assert law.log_envelope(lags)[-1] == pytest.approx(-5000 - np.log(5001), rel=1e-12)
    assert law.local_exponent(lags)[-1] == pytest.approx(5000, rel=1e-12)
    mu = 1 / tau
    for lag, got in zip(lags[1:3], law.local_exponent(lags)[1:3], strict=True):
        want = lag * (mu * np.exp(-lag * mu)).sum() / np.exp(-lag * mu).sum()
        assert got == pytest.approx(want, rel=1e-12)


def test_extreme_time_scales():
    tau = np.geomspace(1e-300, 1e300, 2000)
    lags = np.array([1e-290, 1.0, 1e290])
    np.testing.assert_allclose(envelope(tau, lags), plain_sum(tau, lags).astype(float), rtol=1e-12)
    assert envelope([5e-324, 1.0], [0.0, 1.0]).tolist() == [1.0, 0.5 * np.exp(-1.0)]


def test_samples_of_a_law_have_its_envelope():
    law, n = Pareto(0.8), 200_000
    lags = np.geomspace(1, 1e3, 9)
    f = law.envelope(lags)
    sd = np.sqrt((law.envelope(2 * lags) - f**2) / n)
    z = (envelope(law.rvs(n, rng=5), lags) - f) / sd
    assert np.abs(z).max() < 4.5


@pytest.mark.parametrize("size", [forward.AGGREGATE_ABOVE, forward.AGGREGATE_ABOVE + 1])
def test_both_sides_of_the_switch(size):
    tau = np.random.default_rng(2).pareto(1.0, size) + 1
    lags = np.geomspace(0.1, 1e3, 20)
    np.testing.assert_allclose(envelope(tau, lags), plain_sum(tau, lags).astype(float), rtol=1e-13)


@pytest.mark.parametrize(
    "arguments",
    [
        ([0.0], [1.0]),
        ([np.inf], [1.0]),
        ([], [1.0]),
        ([1.0], [-1.0]),
        ([1.0], [np.nan]),
        ([1.0, 2.0], [1.0], [1.0]),
        ([1.0, 2.0], [1.0], [0.0, 0.0]),
        ([1.0, 2.0], [1.0], [-1.0, 2.0]),
    ],
)
def test_refusals(arguments):
    with pytest.raises(ParameterError):
        envelope(*arguments)
