"""The expansions: the order of the error is measured against high-precision roots of the exact equation."""

from __future__ import annotations

from itertools import pairwise

import mpmath as mp
import pytest
import sympy as sp

from levycollapse import symbolic
from levycollapse._theory import exponent as compiled
from levycollapse.errors import ParameterError
from tests import twin

KAPPA, ETA_G, LAM = "0.8", "0.15", "2"
BELOW, ABOVE = ["0.3", "0.6", "0.8"], ["1.2", "1.4", "1.7"]


def true_gap(delta, eta_J, start, alpha):
    """d = lambda - beta of the model whose Phi(lambda) is delta, by the secant method on Phi(lambda - d)/delta."""
    kappa, eta_G, lam = mp.mpf(KAPPA), mp.mpf(ETA_G), mp.mpf(LAM)

    def residual(factor):
        return twin.phi(lam - start * factor, kappa, eta_G, eta_J, alpha, lam) / delta

    near = (mp.mpf(1), 1 + mp.mpf(10) ** -20)
    return start * mp.findroot(residual, near, tol=mp.mpf(10) ** (10 - mp.mp.dps), verify=False)


def gap_errors(order, alpha, *deltas):
    """Relative errors of the series, and the exact gaps, at each distance from threshold."""
    expansion = symbolic.near_threshold_series(order, alpha=sp.Rational(alpha))
    arguments = [symbolic.Delta, symbolic.kappa, symbolic.eta_G, symbolic.eta_J, symbolic.lam]
    series = symbolic.numeric(expansion.explicit(keep=(symbolic.Delta,)), arguments, "mpmath")
    index, errors, gaps = mp.mpf(alpha), [], []
    for delta in deltas:
        eta_J = twin.threshold(KAPPA, ETA_G, index, LAM) + delta / twin.symbol(LAM, 1, index, LAM)
        approximate = series(delta, mp.mpf(KAPPA), mp.mpf(ETA_G), eta_J, mp.mpf(LAM))
        gaps.append(true_gap(delta, eta_J, approximate, index))
        errors.append(abs(approximate / gaps[-1] - 1))
        assert 0 < errors[-1] < 1e-3
    return errors, gaps


@pytest.mark.parametrize("order", [1, 2, 3, 5])
@pytest.mark.parametrize("alpha", BELOW + ABOVE)
def test_near_threshold_order(alpha, order):
    with mp.workdps(200):
        index = mp.mpf(alpha)
        power = index - 1 if index > 1 else (1 - index) / index
        # Small enough that one neglected term dominates: u, d_0/u (Delta**(2-alpha) or Delta) and Delta are below 1e-7.
        delta = mp.mpf(10) ** -max(7 / power, 7 / min(2 - index, 1))
        (first, second), _ = gap_errors(order, alpha, delta, delta / 2)
        assert abs(mp.log(first / second, 2) / power - order) < 1e-3


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_near_threshold_order_at_alpha_one(order):
    """The error is d**order times powers of L = log(B/d), hence the few 1/L by which the measured order is off."""
    with mp.workdps(200):
        delta = mp.mpf(10) ** -30
        errors, gaps = gap_errors(order, "1", delta, delta / 2)
        assert abs(mp.log(errors[0] / errors[1]) / mp.log(gaps[0] / gaps[1]) - order) < 0.05


def test_the_logarithm_is_summed_exactly_at_alpha_one():
    """L is only 9 here: were a power of 1/L missing, the next order would gain one digit and not four."""
    with mp.workdps(100):
        errors = [gap_errors(order, "1", mp.mpf("1e-3"))[0][0] for order in (1, 2, 3, 4)]
        assert all(b < a / 5000 for a, b in pairwise(errors))


@pytest.mark.parametrize(("alpha", "regime"), [("0.6", "alpha < 1"), ("1.4", "alpha > 1")])
def test_symbolic_alpha_agrees_with_its_value(alpha, regime):
    index = sp.Rational(alpha)
    general = symbolic.numeric(symbolic.near_threshold_series(4, regime=regime).explicit(), backend="mpmath")
    special = symbolic.numeric(symbolic.near_threshold_series(4, alpha=index).explicit(), backend="mpmath")
    with mp.workdps(30):
        values = {"kappa": mp.mpf(1), "eta_G": mp.mpf("0.1"), "eta_J": mp.mpf(2), "lam": mp.mpf(3)}
        expected = special(**values)
        assert expected > 0
        assert abs(general(alpha=mp.mpf(alpha), **values) / expected - 1) < 1e-25


def test_second_order_is_the_known_form():
    q2, Delta = symbolic.symbols.q(2), symbolic.Delta
    d_0, u = symbolic.symbols.d_0, symbolic.symbols.u
    above = symbolic.near_threshold_series(2, regime="alpha > 1")
    assert sp.expand(above.series - d_0 * (1 + u + q2 * d_0**2 / Delta)) == 0
    below = symbolic.near_threshold_series(2, regime="alpha < 1")
    assert sp.expand(below.series - d_0 * (1 - u / symbolic.alpha)) == 0
    alpha, D = symbolic.alpha, symbolic.D
    jumps = symbolic.eta_J * sp.gamma(2 - alpha) * symbolic.lam ** (alpha - 2)
    b_0 = symbolic.kappa / D
    known = b_0 * (1 - jumps / D * (2 - alpha) * (3 - alpha) / 12 * (b_0 / symbolic.lam) ** 2)
    assert sp.gammasimp(sp.expand(symbolic.small_exponent_series(2).explicit(keep=(D,)) - known)) == 0


@pytest.mark.parametrize("above", [0.01, 0.001])
@pytest.mark.parametrize("alpha", [0.6, 1.0, 1.4])
def test_near_threshold_series_against_the_compiled_gap(alpha, above):
    """At a practical distance, in double precision, from the parameters alone."""
    eta_J = (1 + above) * compiled.jump_threshold(kappa=0.8, eta_G=0.15, alpha=alpha, lam=2.0)
    gap = compiled.solve_exponent(kappa=0.8, eta_G=0.15, eta_J=eta_J, alpha=alpha, lam=2.0).gap
    explicit = symbolic.near_threshold_series(6, alpha=alpha).explicit()
    value = symbolic.numeric(explicit)(kappa=0.8, eta_G=0.15, eta_J=eta_J, lam=2.0)
    assert value == pytest.approx(gap, rel=2e-3 if above == 0.01 else 1e-5)


@pytest.mark.parametrize("order", [1, 2, 3, 5])
@pytest.mark.parametrize("alpha", ["0.6", "1", "1.4"])
def test_small_exponent_order(alpha, order):
    expr = symbolic.small_exponent_series(order, alpha=sp.Rational(alpha)).explicit()
    series = symbolic.numeric(expr, [symbolic.kappa, symbolic.eta_G, symbolic.eta_J, symbolic.lam], "mpmath")
    with twin.working():
        others = [mp.mpf("0.15"), mp.mpf("0.9"), mp.mpf("2")]
        error = []
        for kappa in (mp.mpf("1e-3"), mp.mpf("5e-4")):
            exact = twin.exponent(kappa, others[0], others[1], mp.mpf(alpha), others[2])
            error.append(abs(series(kappa, *others) - exact))
        assert abs(mp.log(error[0] / error[1], 2) - (2 * order + 1)) < 1e-3


def test_small_exponent_series_at_high_order():
    """The terms fall geometrically and the sum reaches the compiled root."""
    value = symbolic.numeric(symbolic.small_exponent_series(9).explicit())(0.5, 0.1, 0.9, 1.4, 2.0)
    beta = compiled.spectral_exponent(kappa=0.5, eta_G=0.1, eta_J=0.9, alpha=1.4, lam=2.0)
    assert value == pytest.approx(beta, rel=1e-12)


@pytest.mark.parametrize("order", [0, -1, 1.0, True, "2", None, symbolic.kappa])
@pytest.mark.parametrize("series", [symbolic.near_threshold_series, symbolic.small_exponent_series])
def test_order_is_refused(series, order):
    with pytest.raises(ParameterError, match=r"order=.* must be an integer >= 1"):
        series(order, alpha=1)


def test_regime_is_needed_or_refused():
    with pytest.raises(ParameterError, match="regime=None must be one of 'alpha < 1', 'alpha = 1', 'alpha > 1'"):
        symbolic.near_threshold_series(2)
    with pytest.raises(ParameterError, match="regime='alpha > 1' must not be given with alpha=1"):
        symbolic.near_threshold_series(2, alpha=1, regime="alpha > 1")
    with pytest.raises(ParameterError, match="regime='above' must be one of"):
        symbolic.near_threshold_series(2, regime="above")
    assert (
        symbolic.near_threshold_series(2, regime="alpha = 1").series
        == symbolic.near_threshold_series(2, alpha=1).series
    )
