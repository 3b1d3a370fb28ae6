"""beta, lam - beta, eta_J* and the symbol against mpmath at 50 digits, over 2,400 random models."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest

import levycollapse as lc
from tests import twin

CHUNKS = 12
SETS = 200
SPECIAL_ALPHA = (1.0, 1 + 1e-7, 1 - 1e-7, 1 + 1e-12, 1 - 1e-12)
TOLERANCE = 2e-14


def random_models(seed: int):
    """Models of three kinds: a wanted beta/lam near 0, one near 1, and an intensity relative to threshold."""
    rng = np.random.default_rng([20260629, seed])
    for number in range(SETS):
        alpha = rng.uniform(0.05, 1.99) if rng.random() < 0.75 else float(rng.choice(SPECIAL_ALPHA))
        lam, kappa = 10 ** rng.uniform(-3, 3), 10 ** rng.uniform(-2, 2)
        eta_G = 0.0 if number % 3 == 0 else 10 ** rng.uniform(-4, 1) * kappa / lam
        kind = number % 4
        if kind == 0:
            ratio = 10 ** rng.uniform(-7, 0)
        elif kind == 1:
            ratio = 1 - 10 ** rng.uniform(-14, 0)
        if kind < 2:
            if eta_G * ratio * lam >= kappa:
                eta_G = 0.0
            eta_J = float(twin.intensity(mp.mpf(ratio) * lam, kappa, eta_G, alpha, lam))
        else:
            threshold = float(twin.threshold(kappa, eta_G, alpha, lam))
            eta_J = threshold * 0.5 * 2e6 ** rng.random() if threshold else 10 ** rng.uniform(-4, 4)
        yield kappa, eta_G, eta_J, alpha, lam


@pytest.mark.parametrize("seed", range(CHUNKS))
def test_root_and_threshold(seed):
    roots = 0
    with twin.working():
        for model in random_models(seed):
            kappa, eta_G, _, alpha, lam = model
            exact = twin.exponent(*model)
            found = lc.solve_exponent(*model)
            if mp.isnan(exact):
                # One model in a few thousand is at threshold to rounding, where beta = lam is the answer.
                assert np.isnan(found.beta) or found.status is lc.ExponentStatus.AT_THRESHOLD, model
            else:
                roots += 1
                error = abs(mp.mpf(found.beta) - exact)
                assert error <= TOLERANCE * exact, model
                assert error <= found.error, model
                assert lc.spectral_exponent(*model) == found.beta
            threshold = twin.threshold(kappa, eta_G, alpha, lam)
            assert abs(lc.jump_threshold(kappa, eta_G, alpha, lam) - threshold) <= TOLERANCE * threshold, model
    assert roots > SETS / 2


def test_gap_near_threshold():
    """lam - beta keeps relative accuracy far below the rounding of beta, to its conditioning eps/excess."""
    with twin.working():
        for alpha in (0.3, 0.7, 1.0, 1.4, 1.9):
            threshold = lc.jump_threshold(1.0, 0.1, alpha, 3.0)
            for excess in (1e-2, 1e-4, 1e-6):
                eta_J = threshold * (1 + excess)
                exact = 3 - twin.exponent(1.0, 0.1, eta_J, alpha, 3.0)
                gap = lc.solve_exponent(1.0, 0.1, eta_J, alpha, 3.0).gap
                assert abs(gap - exact) <= 3e-15 / (min(alpha, 1) * excess) * exact + 1e-13 * exact


@pytest.mark.parametrize("alpha", [0.05, 0.3, 0.4999, 0.5, 0.8, *SPECIAL_ALPHA, 1.3, 1.7, 1.99])
def test_symbol(alpha):
    """Real and imaginary axis and the strip, down to s/lam = 1e-8 and up to k/lam = 1e6."""
    rng = np.random.default_rng(7)
    with twin.working():
        for lam in (1e-3, 0.7, 3.0, 1e3):
            law = lc.TemperedStable(alpha, lam, 0.8)
            for x in [*(10 ** rng.uniform(-8, 0, 12)), 0.25, 0.5, 1 - 1e-9, 1.0]:
                s = float(x * lam)
                assert abs(law.symbol(s) / twin.symbol(s, 0.8, alpha, lam) - 1) < 1e-14
                assert law.symbol(-s) == law.symbol(s)
            for x in 10 ** rng.uniform(-8, 6, 14):
                k = float(x * lam)
                exact = twin.symbol(mp.mpc(0, k), 0.8, alpha, lam).real
                assert abs(law.symbol(1j * k).real / exact - 1) < 1e-14
                assert law.symbol(1j * k).imag == 0
                assert law.cf(k) == pytest.approx(float(mp.exp(exact)), rel=1e-13 * max(1.0, abs(float(exact))), abs=0)
            for x, y in zip(rng.uniform(-1, 1, 12), 10 ** rng.uniform(-8, 3, 12), strict=True):
                s = complex(x * lam * min(1.0, y * 10), y * lam)
                exact = twin.symbol(mp.mpc(s), 0.8, alpha, lam)
                assert abs(mp.mpc(law.symbol(s)) - exact) < 1e-14 * abs(exact)


@pytest.mark.parametrize("alpha", [0.3, 1.0, 1.3, 1.8])
def test_symbol_is_the_levy_integral(alpha):
    """The closed form against quadrature of integral (cosh(sz) - 1) nu(z) dz."""
    law = lc.TemperedStable(alpha, 2.0, 0.7)
    with mp.workdps(30):
        for s in (0.5, 1.9, 2.0):

            def weighted(t, s=s):
                z = mp.exp(t)
                # cosh(sz) - 1 = 2 sinh(sz/2)^2, joined with the tempering so that neither overflows.
                return mp.mpf(0.7) * z**-alpha * (mp.exp((s - 2) * z) + mp.exp(-(s + 2) * z) - 2 * mp.exp(-2 * z)) / 2

            def small(t, s=s):
                z = mp.exp(t)
                return mp.mpf(0.7) * z**-alpha * 2 * mp.sinh(s * z / 2) ** 2 * mp.exp(-2 * z)

            integral = 2 * (mp.quad(small, [-500, -100, -20, -5, 0]) + mp.quad(weighted, [0, 2, 4, 8, 16, 40, 100]))
            assert law.symbol(s) == pytest.approx(float(integral), rel=1e-10)


def test_exact_product_in_threshold():
    """kappa - eta_G lam cancels to 1e-10 here; the product's rounding must not enter."""
    lam, eta_G = 3.0000000001, 1.0 / 3.0
    with twin.working():
        exact = twin.threshold(1.0 + 1e-9, eta_G, 1.5, lam)
        assert abs(lc.jump_threshold(1.0 + 1e-9, eta_G, 1.5, lam) / exact - 1) < TOLERANCE
        beta = 2.999999
        exact = twin.intensity(beta, 1.0, eta_G, 1.5, lam)
        assert abs(lc.intensity_for_exponent(beta, 1.0, eta_G, 1.5, lam) / exact - 1) < TOLERANCE
