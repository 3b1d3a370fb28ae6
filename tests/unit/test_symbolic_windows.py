"""Window laws in SymPy: they solve their equation, and the numerical ones are the same numbers."""

import numpy as np
import pytest
import sympy as sp

import levycollapse as lc
from levycollapse import symbolic
from levycollapse.symbolic import symbols as sym

NUMBERS = {
    sym.amplitude: 1.7,
    sym.rho: 0.02,
    sym.beta: 0.6,
    sym.gamma: 0.8,
    sym.cutoff: 300.0,
    sym.shape: 1.3,
    sym.alpha_noise: 1.6,
}
TWINS = {
    "exponential": lc.ExponentialEnvelope(rate=0.02, amplitude=1.7),
    "power": lc.PowerEnvelope(exponent=0.6, amplitude=1.7),
    "logarithmic": lc.LogarithmicEnvelope(power=0.8, amplitude=1.7),
    "tempered": lc.TemperedEnvelope(exponent=0.6, cutoff=300.0, shape=1.3, amplitude=1.7),
}
NOISE = lc.StableNoise(alpha=1.6, scale=0.4, signal=2.0, level=0.05)


@pytest.mark.parametrize("kind", TWINS)
def test_against_the_numerical_laws(kind):
    law, twin = symbolic.window_law(kind), TWINS[kind]
    values = {**NUMBERS, sym.epsilon: lc.detection_threshold(1, NOISE)}
    for samples in (30.0, 1e4):
        at = {**values, sym.n: samples}
        assert float(law.window.subs(at)) == pytest.approx(twin.window(samples, NOISE), rel=1e-11)
        assert float(law.growth.subs(at)) == pytest.approx(twin.growth_exponent(samples, NOISE), rel=1e-11)
        assert float(symbolic.detection_threshold().subs(at)) == pytest.approx(
            lc.detection_threshold(samples, NOISE), rel=1e-12
        )
    for lag in (1.0, 50.0):
        at = {**values, sym.lag: lag}
        assert float(law.envelope.subs(at)) == pytest.approx(twin.envelope(lag), rel=1e-12)
        assert float(law.samples.subs(at)) == pytest.approx(twin.samples(lag, NOISE), rel=1e-11)


@pytest.mark.parametrize("kind", TWINS)
def test_window_solves_its_equation(kind):
    law = symbolic.window_law(kind)
    at_edge = law.envelope.subs(sym.lag, law.window) / symbolic.detection_threshold()
    # growth = n H'/H, by differentiating the window instead of the envelope.
    direct = sym.n * sp.diff(law.window, sym.n) / law.window
    numbers = {**NUMBERS, sym.epsilon: sp.Float(0.5, 30), sym.n: 1000}
    assert sp.N(at_edge.subs(numbers), 20) == pytest.approx(1.0, abs=1e-12)
    assert sp.N((direct / law.growth).subs(numbers), 20) == pytest.approx(1.0, abs=1e-12)


def test_simple_forms():
    assert symbolic.window_law("power").growth == 1 / (symbolic.concentration_exponent() * sym.beta)
    rate = symbolic.window_law("exponential", alpha=2)
    assert sp.simplify(rate.growth * 2 * sym.rho * rate.window) == 1
    assert symbolic.concentration_exponent(sp.Rational(3, 2)) == 3


def test_numeric_and_latex():
    function = symbolic.numeric(symbolic.window_law("tempered").window)
    noise = lc.detection_threshold(1, NOISE)
    N = np.array([30.0, 1e4])
    found = function(beta=0.6, n=N, a=1.6, epsilon=noise, A=1.7, l_c=300.0, p=1.3)
    np.testing.assert_allclose(found, TWINS["tempered"].window(N, NOISE), rtol=1e-11)
    assert r"\ell_c" in symbolic.latex(symbolic.window_law("tempered").envelope)


def test_bad_input():
    with pytest.raises(lc.ParameterError, match="kind='linear' must be one of 'exponential'"):
        symbolic.window_law("linear")
    with pytest.raises(lc.ParameterError, match=r"alpha='1\.5' must be"):
        symbolic.concentration_exponent("1.5")
