"""Properties of the exponent that hold for every model (hypothesis)."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import levycollapse as lc

alphas = st.one_of(st.floats(0.05, 1.99), st.sampled_from([1.0, 1 + 1e-9, 1 - 1e-9]))
scales = st.floats(-2, 2).map(lambda e: 10.0**e)


@st.composite
def rooted(draw):
    """Models with a root: a beta is drawn and its intensity computed."""
    alpha, lam, kappa = draw(alphas), draw(scales), draw(scales)
    beta = lam * draw(st.floats(1e-4, 0.999))
    eta_G = draw(st.floats(0, 0.99)) * kappa / beta
    eta_J = lc.intensity_for_exponent(beta, kappa, eta_G, alpha, lam)
    assume(eta_J > 0)
    return {"kappa": kappa, "eta_G": eta_G, "eta_J": eta_J, "alpha": alpha, "lam": lam}, beta


@given(rooted())
def test_inverse_design_inverts(drawn):
    model, beta = drawn
    assert lc.spectral_exponent(**model) == pytest.approx(beta, rel=1e-13)


@given(rooted())
def test_phi_vanishes_at_the_root(drawn):
    model, _ = drawn
    beta = lc.spectral_exponent(**model)
    assert abs(lc.characteristic(beta, **model)) <= 3e-14 * model["kappa"] * beta


@given(rooted(), st.floats(1.001, 3.0))
def test_monotone(drawn, factor):
    model, _ = drawn
    beta = lc.spectral_exponent(**model)
    assert lc.spectral_exponent(**{**model, "eta_J": model["eta_J"] * factor}) < beta
    steeper = lc.spectral_exponent(**{**model, "kappa": model["kappa"] * factor})
    assert np.isnan(steeper) or steeper > beta


@given(rooted(), st.floats(0.1, 10.0))
def test_equivariant_under_scaling_of_zeta(drawn, a):
    """zeta -> a zeta: lam/a, kappa a, eta_G a^2, eta_J a^alpha, beta/a."""
    model, _ = drawn
    scaled = {
        "kappa": model["kappa"] * a,
        "eta_G": model["eta_G"] * a * a,
        "eta_J": model["eta_J"] * a ** model["alpha"],
        "alpha": model["alpha"],
        "lam": model["lam"] / a,
    }
    assert lc.spectral_exponent(**scaled) * a == pytest.approx(lc.spectral_exponent(**model), rel=1e-13)


@given(rooted(), st.floats(0.01, 100.0))
def test_invariant_under_change_of_the_time_unit(drawn, a):
    model, _ = drawn
    faster = {**model, **{name: model[name] * a for name in ("kappa", "eta_G", "eta_J")}}
    assert lc.spectral_exponent(**faster) == pytest.approx(lc.spectral_exponent(**model), rel=1e-13)


@given(rooted())
def test_continuous_at_alpha_one(drawn):
    model, _ = drawn
    at_one, beside = ({**model, "alpha": alpha} for alpha in (1.0, 1 + 1e-13))
    betas = lc.spectral_exponent(**at_one), lc.spectral_exponent(**beside)
    assume(not np.isnan(betas[0]) and not np.isnan(betas[1]))
    slope = lc.exponent_sensitivities(**at_one).alpha
    assert abs(betas[1] - betas[0]) <= 2e-13 * abs(slope) + 1e-13 * betas[0]


@given(alphas, scales, scales, st.floats(0, 0.95))
def test_continuous_at_threshold(alpha, lam, kappa, share):
    eta_G = share * kappa / lam
    threshold = lc.jump_threshold(kappa, eta_G, alpha, lam)
    at = lc.solve_exponent(kappa, eta_G, threshold, alpha, lam)
    assert at.beta == lam
    assert at.status is lc.ExponentStatus.AT_THRESHOLD
    assert lc.phase(kappa, eta_G, threshold, alpha, lam) is lc.Phase.COLLAPSED
    above = lc.spectral_exponent(kappa, eta_G, threshold * (1 + 1e-12), alpha, lam)
    assert above == pytest.approx(lam, rel=1e-9)
    assert np.isnan(lc.spectral_exponent(kappa, eta_G, threshold * (1 - 1e-12), alpha, lam))


@given(rooted())
def test_phase_agrees_with_the_exponent(drawn):
    model, _ = drawn
    beta, phase = lc.spectral_exponent(**model), lc.phase(**model)
    assume(abs(beta - 1) > 1e-12)
    assert phase is (lc.Phase.CONCENTRATED if beta > 1 else lc.Phase.BROAD)


@given(rooted())
def test_euler_relations(drawn):
    """Scaling of zeta and of time, differentiated (NUMERICS C.1)."""
    model, _ = drawn
    beta, d = lc.spectral_exponent(**model), lc.exponent_sensitivities(**model)
    terms = [model["kappa"] * d.kappa, model["eta_G"] * d.eta_G, model["eta_J"] * d.eta_J]
    assert abs(sum(terms)) <= 1e-12 * max(map(abs, terms))
    terms = [terms[0], 2 * terms[1], model["alpha"] * terms[2], -model["lam"] * d.lam]
    assert sum(terms) == pytest.approx(-beta, abs=1e-12 * max(map(abs, terms)))
