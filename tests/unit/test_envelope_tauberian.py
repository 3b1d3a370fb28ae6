"""Tauberian envelopes against the integral of the tail in mpmath, in each phase's form."""

from types import SimpleNamespace

import mpmath as mp
import numpy as np
import pytest

import levycollapse as lc
from levycollapse._envelope.tauberian import TauberianStatus, tauberian_envelope
from levycollapse._laws.spectra import GammaRates, Pareto
from levycollapse.errors import ParameterError


def tail(rate, log_power=0.0, loglog_power=0.0, prefactor=1.0):
    return SimpleNamespace(rate=rate, log_power=log_power, loglog_power=loglog_power, prefactor=prefactor)


def integral(rate, p, q, lag):
    """int u^(rate-1) e^-u g(log(lag/u)) du lag^-rate with u = e^y, up to u = lag/e^2."""
    with mp.workdps(20):
        log_lag = mp.log(lag)
        points = [-150 / rate, -40, -10, -3, 0, 1, 2, 3, min(mp.mpf(5), log_lag - 2)]
        value = mp.quad(lambda y: mp.exp(rate * y - mp.exp(y)) * (log_lag - y) ** p * mp.log(log_lag - y) ** q, points)
        return float(value * mp.mpf(lag) ** (-mp.mpf(rate)))


FORMS = [(3.0, -2.5, 0.0), (1.5, -0.3, 0.0), (0.5, -2.5, 0.0), (1.5, 0.0, -1.0), (2.0, -3.5, 0.0)]


@pytest.mark.parametrize(("rate", "p", "q"), FORMS)
def test_next_order_and_its_error_estimate(rate, p, q):
    for lag in (1e3, 1e6, 1e12):
        found = tauberian_envelope(tail(rate, p, q), lag)
        want = integral(rate, p, q, lag)
        error, leading = abs(found.envelope / want - 1), abs(found.leading / want - 1)
        assert error < 0.1 * leading
        assert 0.05 * found.relative_error < error < found.relative_error
        assert found.status is TauberianStatus.LOGARITHMS


def test_relation_to_the_two_term_formula():
    # NUMERICS C.7: (L - dg)^p [1 + p(p-1)/2 dg'/(L-dg)^2] expands to 1 - p dg/L + p(p-1)/2 (dg^2 + dg')/L^2.
    rate, p, lag = 3.0, -2.5, 1e60
    found = tauberian_envelope(tail(rate, p), lag)
    with mp.workdps(30):
        dg, dg1, big = mp.digamma(rate), mp.polygamma(1, rate), mp.log(lag)
        want = 1 - p * dg / big + p * (p - 1) / 2 * (dg**2 + dg1) / big**2
    assert found.envelope / found.leading == pytest.approx(float(want), rel=2e-5)


def test_logarithmic_phase():
    # f ~ D (log l + gamma)^(1-alpha)/(alpha-1), and the exact E P(tau > l/u).
    alpha, constant, lag = 1.5, 0.3, 1e8
    found = tauberian_envelope(tail(0.0, -alpha, prefactor=constant), lag)
    v = np.log(lag) + np.euler_gamma
    assert found.envelope == pytest.approx(constant * v ** (1 - alpha) / (alpha - 1), rel=0.003)
    with mp.workdps(20):
        want = mp.quad(
            lambda y: mp.exp(y - mp.exp(y)) * constant * (mp.log(lag) - y) ** (1 - alpha) / (alpha - 1),
            [-60, -20, -5, 0, 1, 2, 3, 5],
        )
    assert found.envelope == pytest.approx(float(want), rel=1e-4)


def test_power_law_and_the_lag_from_which_it_holds():
    law = Pareto(0.8)
    found = tauberian_envelope(tail(0.8, prefactor=0.8), 50.0)
    assert found.envelope == found.leading == pytest.approx(law.envelope(50.0), rel=1e-12)
    assert found.status is TauberianStatus.NO_LOGARITHMS
    for accuracy in (0.05, 1e-4):
        lag = found.holds_from(accuracy, law)
        just_below = tauberian_envelope(tail(0.8, prefactor=0.8), 0.999 * lag).envelope / law.envelope(0.999 * lag)
        beyond = lag * np.geomspace(1, 1e4, 50)
        later = tauberian_envelope(tail(0.8, prefactor=0.8), beyond).envelope / law.envelope(beyond)
        assert abs(just_below - 1) > accuracy
        assert (np.abs(later - 1) <= accuracy * (1 + 1e-9)).all()


def test_a_wrong_tail_never_holds():
    found = tauberian_envelope(tail(0.9, prefactor=1.0), 10.0)
    assert found.holds_from(0.01, GammaRates(0.8, 1.0)) == np.inf


def test_logarithms_alone():
    found = tauberian_envelope(tail(3.0, -2.5), 10.0)
    lag = found.holds_from(0.01)
    assert tauberian_envelope(tail(3.0, -2.5), lag).relative_error == pytest.approx(0.01, rel=1e-6)
    assert found.holds_from(0.1) < lag


@pytest.mark.parametrize(
    "parameters",
    [
        {"eta_J": 0.62},  # power
        {"eta_J": 0.1},  # tempered
        {"eta_J": 0.1, "lam": 0.0},  # logarithmic
    ],
)
def test_tails_of_the_theory_are_accepted(parameters):
    given = {"kappa": 1.0, "eta_G": 0.1, "alpha": 1.5, "lam": 3.0} | parameters
    law = lc.tail_law(**given)
    found = tauberian_envelope(law, [1e3, 1e4], prefactor=2.0)
    assert (found.envelope > 0).all() and found.lags.shape == (2,)
    if getattr(law, "prefactor", None) is None:
        with pytest.raises(ParameterError, match="prefactor"):
            tauberian_envelope(law, 10.0)


def test_below_the_first_logarithm_there_is_no_value():
    found = tauberian_envelope(tail(1.5, -2.0), [0.5, 1e9])
    assert np.isnan(found.leading[0]) and np.isfinite(found.leading[1])
    assert found.holds_from(0.5) > 1.0


@pytest.mark.parametrize(
    "bad",
    [
        tail(np.nan),
        tail(1.0, prefactor=-1.0),
        tail(1.0, prefactor=None),
        tail(0.0, -0.5),
        tail(np.array([1.0, 2.0]), np.zeros(2), np.zeros(2)),
        object(),
    ],
)
def test_refusals(bad):
    with pytest.raises(ParameterError):
        tauberian_envelope(bad, 10.0)
