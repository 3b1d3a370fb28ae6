"""Tail constants and Tauberian laws in SymPy against the compiled solver, with N from a quadrature of the density."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest
import sympy as sp

import levycollapse as lc
from levycollapse import symbolic
from levycollapse.symbolic import C, N, lag

from .stationary_models import line, rate, reference, threshold


def numbers(model):
    return {name: getattr(model, name) for name in ("kappa", "eta_G", "eta_J", "alpha", "lam")}


def numerator_of(model, law, s):
    """N(s) from the density; the summand of the symbolic expression, with kappa - F written without cancellation."""
    zeta, weights = line(law, 2.0, 2.0 * rate(model.kappa, model) + s)
    summand = symbolic.numerator_summand(0, s).subs(symbolic.kappa, 1)  # the factor kappa - F comes from the drift
    values = symbolic.numeric(summand, [symbolic.zeta])(zeta) * model.drift.deficit(zeta)
    return float(np.sum(weights * law.pdf(zeta) * values))


def evaluated(expr, model, **others):
    known = {**numbers(model), **others}
    arguments = [x for x in symbolic.symbols.ARGUMENT_ORDER if x in expr.free_symbols]
    return float(symbolic.numeric(expr, arguments)(*(known["lam" if x == symbolic.lam else str(x)] for x in arguments)))


@pytest.mark.parametrize(("alpha", "eta_J"), [(0.7, 2.0), (1.0, 0.9), (1.3, 3.0), (1.8, 0.3), (1.5, 0.0)])
def test_above_threshold(alpha, eta_J):
    model = reference(alpha=alpha, eta_J=eta_J, eta_G=0.1 if eta_J else 0.4)
    law = lc.stationary_density(model)
    n = numerator_of(model, law, model.beta)
    value = evaluated(symbolic.prefactor_above_threshold(alpha=alpha), model, N=n, beta=model.beta)
    assert value == pytest.approx(law.tail.prefactor, rel=1e-8)


@pytest.mark.parametrize("alpha", [0.4, 1.0, 1.3, 1.7])
def test_below_threshold(alpha):
    model = reference(alpha=alpha, eta_J=0.5 * threshold(alpha))
    law = lc.stationary_density(model)
    n, m = numerator_of(model, law, model.lam), law.timescale_moment(model.lam)
    for by in ("N", "M"):
        value = evaluated(symbolic.prefactor_below_threshold(by=by, alpha=alpha), model, N=n, M=m)
        assert value == pytest.approx(law.tail.prefactor, rel=1e-7), by


@pytest.mark.parametrize("alpha", [0.4, 0.7, 1.0, 1.4])
def test_at_threshold(alpha):
    model = reference(alpha=alpha, eta_J=threshold(alpha))
    law = lc.stationary_density(model)
    n = numerator_of(model, law, model.lam)
    value = evaluated(symbolic.prefactor_at_threshold(alpha=alpha), model, N=n)
    assert value == pytest.approx(law.tail.prefactor, rel=1e-8)


@pytest.mark.parametrize(("alpha", "regime"), [(0.3, "alpha < 1"), (0.75, "alpha < 1"), (1.4, "alpha > 1")])
def test_threshold_series_reaches_the_density(alpha, regime):
    """Each term improves it, in the order it says; with P**n in place of (-P)**n the second would not."""
    model = reference(alpha=alpha, eta_J=threshold(alpha))
    law = lc.stationary_density(model)
    n = numerator_of(model, law, model.lam)
    errors = []
    for order in (1, 2, 3):
        found = symbolic.threshold_tail_series(order, alpha=alpha)
        values = [evaluated(found.explicit(), model, N=n, zeta=z) for z in (-100.0, -400.0)]
        errors.append(np.abs(np.array(values) / law.pdf([-100.0, -400.0]) - 1.0))
    orders = np.log2([error[0] / error[1] for error in errors[:2]]) / 2.0
    assert orders[0] == pytest.approx(abs(1 - alpha), rel=0.25)
    assert orders[1] == pytest.approx(min(2 * abs(1 - alpha), 1.0), rel=0.25)
    assert errors[1][1] < 0.5 * errors[0][1]
    general = symbolic.threshold_tail_series(2, regime=regime).explicit()
    assert evaluated(general, model, N=n, zeta=-50.0) == pytest.approx(
        evaluated(symbolic.threshold_tail_series(2, alpha=alpha).explicit(), model, N=n, zeta=-50.0), rel=1e-12
    )


def test_leading_term_of_the_series_is_the_prefactor():
    series = symbolic.threshold_tail_series(1, regime="alpha < 1").series
    law = sp.exp(symbolic.lam * symbolic.zeta) * (-symbolic.zeta) ** (symbolic.alpha - 1)
    ratio = series / law / symbolic.prefactor_at_threshold(regime="alpha < 1")
    assert sp.gammasimp(ratio).simplify() == 1


@pytest.mark.parametrize("alpha", [1.2, 1.5, 1.8])
def test_logarithmic_constants(alpha):
    """The same numbers from both forms, 0 at alpha = 1.5, and the chain's density after the second term."""
    general, special = symbolic.logarithmic_constants(), symbolic.logarithmic_constants(alpha=alpha)
    model = reference(kappa=1.0, alpha=alpha, eta_J=0.3, lam=0.0)
    leading, after = (evaluated(expr, model) for expr in general)
    assert leading == pytest.approx(evaluated(special.D, model), rel=1e-14)
    assert after == pytest.approx(evaluated(special.D2, model), rel=1e-12, abs=1e-15)
    assert (special.D2 == 0) == (alpha == 1.5)
    law = lc.stationary_density(model, method="chain")
    assert law.tail.prefactor == pytest.approx(leading, rel=1e-14)
    x = 1e9
    assert law.pdf(-x) == pytest.approx(leading * x**-alpha + after * x ** (1 - 2 * alpha), rel=0.01)


@pytest.mark.parametrize(
    ("rate_", "p", "q"), [(0.7, 0.0, 0.0), (1.5, -2.3, 0.0), (3.0, -0.4, 0.0), (2.0, 0.0, -1.0), (0.0, -1.6, 0.0)]
)
def test_tauberian_laws_are_the_compiled_ones(rate_, p, q):
    lags = np.array([1e4, 1e8])
    tail = lc.TailLaw(rate_, p, q, form=lc.TailForm.POWER)
    expected = lc.tauberian_envelope(tail, lags, prefactor=0.8)
    leading = symbolic.numeric(symbolic.tauberian_envelope(rate_, p, q), [lag, C])(lags, 0.8)
    np.testing.assert_allclose(leading, expected.leading, rtol=1e-12)
    shifted = symbolic.tauberian_envelope(rate_, p, q, order=3, shifted=True)
    np.testing.assert_allclose(symbolic.numeric(shifted, [lag, C])(lags, 0.8), expected.envelope, rtol=1e-12)


def test_the_phases_laws():
    """What the papers' phases give, and the next-order factor of NUMERICS C.7."""
    assert symbolic.tauberian_envelope() == C * sp.gamma(symbolic.beta) * lag**-symbolic.beta
    assert symbolic.tauberian_factor(order=4) == 1
    power, lam, log = sp.Symbol("p"), symbolic.lam, sp.log(lag)
    shift, spread = sp.digamma(lam), sp.polygamma(1, lam)
    factor = 1 - power * shift / log + power * (power - 1) / 2 * (shift**2 + spread) / log**2
    assert sp.expand(symbolic.tauberian_factor(lam, power, order=3) - factor).equals(0)
    logarithmic = symbolic.tauberian_envelope(0, -symbolic.alpha)
    assert sp.simplify(logarithmic * (symbolic.alpha - 1) / C - log ** (1 - symbolic.alpha)) == 0


def test_orders_of_the_expansion():
    """The error of n terms falls like log(l)**-n: against the transform by mpmath."""
    r, p = 1.5, -2.3
    factor = [symbolic.numeric(symbolic.tauberian_factor(r, p, order=n), [lag]) for n in (1, 2, 3, 4)]
    errors = []
    for exponent in (40, 80):
        length = exponent * mp.log(10)
        exact = mp.quad(
            lambda u, L=length: u ** (r - 1) * mp.exp(-u) * (1 - mp.log(u) / L) ** p, [1e-30, 0.1, 1, 10, 60]
        )
        exact /= mp.gamma(r)
        errors.append([abs(float(f(10.0**exponent) / exact) - 1.0) for f in factor])
    measured = np.log2(np.divide(*errors))
    np.testing.assert_allclose(measured, [1, 2, 3, 4], atol=0.25)


def test_refusals():
    with pytest.raises(lc.ParameterError, match="by='L' must be"):
        symbolic.prefactor_below_threshold(by="L")
    with pytest.raises(lc.ParameterError, match="regime"):
        symbolic.prefactor_at_threshold()
    with pytest.raises(lc.ParameterError, match="alpha=1: the threshold's tail"):
        symbolic.threshold_tail_series(2, alpha=1)
    with pytest.raises(lc.ParameterError, match="strictly between 1 and 2"):
        symbolic.logarithmic_constants(alpha=0.7)
    with pytest.raises(lc.ParameterError, match="rate=-1"):
        symbolic.tauberian_envelope(-1)
    with pytest.raises(lc.ParameterError, match="rate=0 needs log_power < -1"):
        symbolic.tauberian_envelope(0, -0.5)
    assert N in symbolic.prefactor_above_threshold().free_symbols
