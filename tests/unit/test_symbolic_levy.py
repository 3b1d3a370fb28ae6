"""The jump symbol and the generator in SymPy against quadrature, the compiled kernels and mpmath."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest
import sympy as sp

from levycollapse import symbolic
from levycollapse._laws.tempered_stable import TemperedStable
from levycollapse.errors import ParameterError
from tests import twin

ALPHAS = ["0.3", "0.6", "1", "1.4", "1.8"]
ETA_J, LAM = mp.mpf("0.7"), mp.mpf("2.5")


def index_of(text):
    """Exact in SymPy, and the same number in mpmath."""
    return sp.Rational(text), mp.mpf(text)


def levy_integral(s, eta_J, alpha, lam):
    """Integral of (cosh(s z) - 1) nu(z) over both signs; z = y**p makes it smooth at 0, sinh keeps the digits there."""
    p = 1 / (2 - alpha)

    def integrand(y):
        z = y**p
        return 4 * mp.sinh(s * z / 2) ** 2 * eta_J * z ** (-1 - alpha) * mp.exp(-lam * z) * p * y ** (p - 1)

    return mp.quad(integrand, [0] + [mp.mpf(z) ** (1 / p) for z in ("0.01", "0.3", "2", "10", "40", "160")])


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("s", [0.3, 2.0, 1.5j, 1.2 - 0.7j])
def test_symbol_is_the_levy_integral(alpha, s):
    exact, value = index_of(alpha)
    psi = symbolic.numeric(symbolic.jump_symbol(alpha=exact), [symbolic.s, symbolic.eta_J, symbolic.lam], "mpmath")
    with mp.workdps(30):
        expected = levy_integral(mp.mpmathify(s), ETA_J, value, LAM)
        assert abs(psi(mp.mpmathify(s), ETA_J, LAM) / expected - 1) < 1e-14


@pytest.mark.parametrize("alpha", [0.3, 0.6, 1.0, 1.4, 1.8])
def test_numpy_symbol_matches_the_compiled_law(alpha):
    arguments = [symbolic.s, symbolic.eta_J, symbolic.lam]
    s = np.array([0.5, 1.0, -2.0, 2.5])
    law = TemperedStable(alpha=alpha, lam=2.5, intensity=0.7)
    # s = lambda has a form of its own at alpha = 1, because the general one has 0 log 0 there.
    inner = symbolic.numeric(symbolic.jump_symbol(alpha=alpha), arguments)(s[:3], 0.7, 2.5)
    edge = symbolic.numeric(symbolic.jump_symbol(symbolic.lam, alpha=alpha))(eta_J=0.7, lam=2.5)
    np.testing.assert_allclose([*inner, edge], law.symbol(s), rtol=1e-12)
    wave = np.array([0.5, 3.0, 40.0])
    imaginary = symbolic.numeric(symbolic.jump_symbol(alpha=alpha), arguments)(1j * wave, 0.7, 2.5)
    np.testing.assert_allclose(imaginary, law.symbol(1j * wave), rtol=1e-12, atol=1e-14)


def test_derivation_steps_hold_and_join():
    steps = symbolic.symbol_derivation()
    (w,) = steps.transform.free_symbols - {symbolic.s, symbolic.lam, symbolic.eta_J}
    point = {symbolic.s: sp.Rational(4, 5), symbolic.lam: sp.Rational(5, 2), symbolic.eta_J: 1, w: sp.Rational(7, 10)}
    integrand = symbolic.numeric(steps.regularised.subs(point), [symbolic.z], "mpmath")
    with mp.workdps(30):
        integral = mp.quad(integrand, [0, mp.mpf("0.01"), 1, 10, 80])
        assert abs(integral / mp.mpf(steps.transform.subs(point).evalf(30)) - 1) < 1e-12
    continued = steps.transform.subs(w, -symbolic.alpha)
    assert sp.simplify(continued - steps.symbol) == 0
    assert steps.symbol == symbolic.jump_symbol()
    assert steps.at_one == symbolic.jump_symbol(alpha=1)
    assert sp.simplify(steps.regularised.subs(w, -symbolic.alpha) - steps.density * steps.increment) == 0


@pytest.mark.parametrize("s", ["0.4", "2.5"])
def test_alpha_one_is_the_limit_of_the_general_symbol(s):
    point = symbolic.lam if s == "2.5" else sp.Rational(s)
    general = symbolic.numeric(symbolic.jump_symbol(point), backend="mpmath")
    at_one = symbolic.numeric(symbolic.jump_symbol(point, alpha=1), backend="mpmath")(eta_J=ETA_J, lam=LAM)
    with mp.workdps(60):
        for side in (1, -1):
            near = general(eta_J=ETA_J, alpha=1 + side * mp.mpf(10) ** -25, lam=LAM)
            assert 0 < abs(near - at_one) < 1e-14
        assert abs(twin.symbol(mp.mpf(s), ETA_J, 1, LAM) - at_one) < 1e-14


def test_variance_gamma_limit():
    general = symbolic.numeric(symbolic.jump_symbol(), backend="mpmath")
    limit = symbolic.numeric(symbolic.variance_gamma_symbol(), backend="mpmath")
    with mp.workdps(60):
        s = mp.mpf("1.7")
        gap = [
            general(s=s, eta_J=ETA_J, alpha=mp.mpf(10) ** -n, lam=LAM) - limit(s=s, eta_J=ETA_J, lam=LAM)
            for n in (20, 21)
        ]
        assert 0 < abs(gap[0]) < 1e-18
        assert abs(gap[0] / gap[1] - 10) < 1e-6
        assert abs(limit(s=s, eta_J=ETA_J, lam=LAM) + ETA_J * mp.log(1 - s**2 / LAM**2)) < 1e-50


def test_gaussian_limit():
    general = symbolic.numeric(symbolic.jump_symbol(), backend="mpmath")
    limit = symbolic.numeric(symbolic.gaussian_symbol(), backend="mpmath")
    with mp.workdps(60):
        s, d = mp.mpf("1.7"), mp.mpf("0.4")
        gap = []
        for n in (20, 21):
            alpha = 2 - mp.mpf(10) ** -n
            gap.append(general(s=s, eta_J=d / mp.gamma(2 - alpha), alpha=alpha, lam=LAM) - limit(s=s, D=d))
        assert 0 < abs(gap[0]) < 1e-18
        assert abs(gap[0] / gap[1] - 10) < 1e-6


@pytest.mark.parametrize("alpha", ALPHAS)
def test_stable_limit(alpha):
    exact, value = index_of(alpha)
    imaginary = symbolic.jump_symbol(sp.I * symbolic.k, alpha=exact)
    tempered = symbolic.numeric(imaginary, [symbolic.k, symbolic.eta_J, symbolic.lam], "mpmath")
    stable = symbolic.numeric(symbolic.stable_symbol(alpha=exact), backend="mpmath")
    with mp.workdps(150):
        k, eta_J = mp.mpf("1.3"), mp.mpf("0.7")
        expected = stable(k=k, eta_J=eta_J)
        assert expected < 0
        assert abs(tempered(k, eta_J, mp.mpf(10) ** -80) / expected - 1) < 1e-20
    sigma = 1.6
    intensity = TemperedStable.from_stable_scale(alpha=float(value), lam=0.0, sigma=sigma).intensity
    assert float(stable(k=1.3, eta_J=intensity)) == pytest.approx(-((sigma * 1.3) ** float(value)), rel=1e-13)


@pytest.mark.parametrize("alpha", ALPHAS)
def test_cumulants_are_the_derivatives_of_the_symbol(alpha):
    exact, value = index_of(alpha)
    law = TemperedStable(alpha=float(value), lam=2.5, intensity=0.7)
    psi = symbolic.jump_symbol(alpha=exact)
    for n in range(1, 9):
        formula = symbolic.cumulant(n, symbolic.t, alpha=exact)
        derivative = sp.diff(psi, symbolic.s, n).subs(symbolic.s, 0)
        values = {symbolic.lam: sp.Rational(5, 2), symbolic.eta_J: sp.Rational(7, 10), symbolic.t: 3}
        number = formula.subs(values).evalf(40)
        assert abs(number - 3 * derivative.subs(values).evalf(40)) < 1e-35
        assert float(number) == pytest.approx(law.cumulant(n, t=3.0), rel=1e-13, abs=0.0)
        assert (number == 0) == bool(n % 2)


def test_cumulants_of_every_order():
    m = sp.Symbol("m", integer=True, positive=True)
    general = symbolic.cumulant(2 * m)
    assert all(general.subs(m, n) == symbolic.cumulant(2 * n) for n in range(1, 12))
    # Re-summed they give the symbol back.
    term = symbolic.numeric(
        general.subs(symbolic.eta_J, 1) / sp.factorial(2 * m), [m, symbolic.alpha, symbolic.lam], "mpmath"
    )
    with mp.workdps(40):
        s, alpha = mp.mpf("0.6"), mp.mpf("1.4")
        total = sum(term(mp.mpf(n), alpha, LAM) * s ** (2 * n) for n in range(1, 40))
        assert abs(total / twin.symbol(s, 1, alpha, LAM) - 1) < 1e-30


@pytest.mark.parametrize("alpha", ["0.6", "1", "1.4"])
def test_generator_on_exponentials_by_quadrature(alpha):
    exact, value = index_of(alpha)
    width, s, zeta = mp.mpf("1.5"), mp.mpf("0.8"), mp.mpf("-0.6")
    drift = -symbolic.kappa * sp.tanh(symbolic.zeta / sp.Rational(3, 2))
    applied = symbolic.numeric(symbolic.generator_on_exponential(drift, alpha=exact), backend="mpmath")
    with mp.workdps(30):

        def f(x):
            return mp.exp(-s * x)

        def jump(z):
            return 4 * f(zeta) * mp.sinh(s * z / 2) ** 2 * ETA_J * z ** (-1 - value) * mp.exp(-LAM * z)

        local = -mp.tanh(zeta / width) * mp.diff(f, zeta) + mp.mpf("0.1") * mp.diff(f, zeta, 2)
        expected = local + mp.quad(jump, [0, mp.mpf("0.01"), mp.mpf("0.3"), 2, 10, 40])
        got = applied(s=s, zeta=zeta, kappa=1, eta_G=mp.mpf("0.1"), eta_J=ETA_J, lam=LAM)
        assert abs(got / expected - 1) < 1e-14


@pytest.mark.parametrize("alpha", [symbolic.alpha, 1])
def test_moment_identity_is_the_generator(alpha):
    assert sp.simplify(symbolic.generator_on_exponential(alpha=alpha) - symbolic.moment_identity(alpha=alpha)) == 0


def test_moment_identity_holds_for_the_solvable_law():
    """Without jumps and with the tanh drift the density is cosh(zeta/w)**(-kappa w/eta_G)."""
    kappa, eta_G, width = 1, sp.Rational(2, 5), sp.Rational(3, 2)
    drift = -symbolic.kappa * sp.tanh(symbolic.zeta / width)
    values = {symbolic.kappa: kappa, symbolic.eta_G: eta_G, symbolic.eta_J: 0}
    density = sp.cosh(symbolic.zeta / width) ** (-kappa * width / eta_G)
    for force, holds in ((drift, True), (drift / 2, False)):
        summand = symbolic.moment_identity(force, alpha=sp.Rational(3, 2)).subs(values) * density
        integrand = symbolic.numeric(summand.subs(symbolic.s, sp.Rational(4, 5)), [symbolic.zeta], "mpmath")
        mean = mp.quad(integrand, [-60, -20, -5, 0, 5, 20, 60])
        assert (abs(mean) < 1e-12) == holds


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: symbolic.jump_symbol(alpha=2), "alpha=2 must be a number strictly between 0 and 2"),
        (lambda: symbolic.jump_symbol(alpha=0.0), r"alpha=0\.0 must be"),
        (lambda: symbolic.jump_symbol(alpha=float("nan")), "alpha=nan must be"),
        (lambda: symbolic.jump_symbol(alpha=True), "alpha=True must be a number or a SymPy expression"),
        (lambda: symbolic.jump_symbol("s"), "s='s' must be a number or a SymPy expression"),
        (lambda: symbolic.jump_symbol([1.0]), r"s=\[1\.0\] must be"),
        (lambda: symbolic.stable_symbol(alpha=-1), "alpha=-1 must be"),
        (lambda: symbolic.cumulant(0), "n=0 must be an integer >= 1"),
        (lambda: symbolic.cumulant(1.5), r"n=1\.5 must be an integer >= 1"),
        (lambda: symbolic.cumulant(symbolic.kappa), "n=kappa must be"),
        (lambda: symbolic.generator_on_exponential("tanh"), "drift='tanh' must be"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(ParameterError, match=message):
        call()
