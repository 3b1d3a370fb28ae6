"""The five derivatives against finite differences of the 50-digit root."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest

import levycollapse as lc

NAMES = ("kappa", "eta_G", "eta_J", "alpha", "lam")


def difference(model: dict[str, float], name: str):
    """Central difference with a step of 1e-20, relative."""
    step = mp.mpf(model[name]) * mp.mpf(10) ** -20
    ends = []
    for sign in (1, -1):
        moved = {**model, name: mp.mpf(model[name]) + sign * step}
        ends.append(exponent_at(moved))
    return (ends[0] - ends[1]) / (2 * step)


def exponent_at(model):
    start = lc.spectral_exponent(**{key: float(value) for key, value in model.items()})

    def f(b):
        kappa, eta_G, eta_J, alpha, lam = (mp.mpf(model[key]) for key in NAMES)
        bracket = (lam - b) ** alpha + (lam + b) ** alpha - 2 * lam**alpha
        return eta_G * b + eta_J * mp.gamma(-alpha) * bracket / b - kappa

    return mp.findroot(f, (mp.mpf(start) * (1 - mp.mpf(10) ** -13), mp.mpf(start)), tol=mp.mpf(10) ** -90)


@pytest.mark.parametrize("alpha", [0.06, 0.3, 0.6, 1 - 1e-6, 1 + 1e-6, 1.4, 1.9, 1.99])
@pytest.mark.parametrize("ratio", [1e-4, 0.1, 0.3, 0.6, 0.99, 1 - 1e-7])
def test_against_finite_differences(alpha, ratio):
    lam, kappa, eta_G = 2.5, 1.3, 0.2
    eta_J = lc.intensity_for_exponent(ratio * lam, kappa, eta_G, alpha, lam)
    model = {"kappa": kappa, "eta_G": eta_G, "eta_J": eta_J, "alpha": alpha, "lam": lam}
    found = lc.exponent_sensitivities(**model)
    # The derivative with respect to alpha is a difference of terms of either sign; near 1 the root itself moves
    # by eps/(1 - ratio) relative to its distance from lam, which the slope at alpha < 1 feels.
    tolerance = 2e-12 + 5e-15 / (1 - ratio)
    with mp.workdps(100):
        for name in NAMES:
            exact = difference(model, name)
            scale = max(abs(exact), abs(kappa * found.kappa / model[name]) if name == "alpha" else 0)
            assert abs(getattr(found, name) - exact) <= tolerance * scale, name


@pytest.mark.parametrize(("alpha", "tolerance"), [(0.7, 1e-3), (1.5, 1e-4)])
def test_at_threshold_is_the_limit_from_above(alpha, tolerance):
    threshold = lc.jump_threshold(1.0, 0.1, alpha, 3.0)
    at = lc.exponent_sensitivities(1.0, 0.1, threshold, alpha, 3.0)
    above = lc.exponent_sensitivities(1.0, 0.1, threshold * (1 + 1e-11), alpha, 3.0)
    np.testing.assert_allclose(at, above, rtol=tolerance, atol=tolerance)


def test_at_threshold_for_alpha_one():
    """The limits 0 and 1 are approached like 1/log(1/excess)."""
    threshold = lc.jump_threshold(1.0, 0.1, 1.0, 3.0)
    assert lc.exponent_sensitivities(1.0, 0.1, threshold, 1.0, 3.0) == (0.0, 0.0, 0.0, 0.0, 1.0)
    excesses = np.array([1e-8, 1e-10, 1e-12])
    above = lc.exponent_sensitivities(1.0, 0.1, threshold * (1 + excesses), 1.0, 3.0)
    limits = np.abs(np.array([*above[:4], 1 - above.lam])) * np.log(1 / excesses)
    np.testing.assert_allclose(limits, np.broadcast_to(limits[:, :1], limits.shape), rtol=0.1)


def test_without_jumps():
    found = lc.exponent_sensitivities(1.0, 0.5, 0.0, 1.5, 3.0)
    assert found[:2] == (2.0, -4.0)
    assert found[3:] == (0.0, 0.0)
    tiny = 1e-9
    change = lc.spectral_exponent(1.0, 0.5, tiny, 1.5, 3.0) - 2.0
    assert found.eta_J == pytest.approx(change / tiny, rel=1e-6)
    assert np.isnan(lc.exponent_sensitivities(1.0, 0.1, 0.0, 1.5, 3.0).eta_J)  # beta = 10 drops to lam = 3


def test_none_below_threshold():
    assert np.isnan(lc.exponent_sensitivities(1.0, 0.1, 0.01, 1.5, 3.0)).all()


def test_broadcasts():
    found = lc.exponent_sensitivities(1.0, 0.1, [[0.5], [0.9]], [1.2, 1.5, 1.7], 3.0)
    assert found.kappa.shape == (2, 3)
    assert found._fields == NAMES
    one = lc.exponent_sensitivities(1.0, 0.1, 0.9, 1.5, 3.0)
    assert [float(d[1, 1]) for d in found] == list(one)
    assert isinstance(one.kappa, float)
