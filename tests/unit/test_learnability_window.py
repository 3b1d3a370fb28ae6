"""`learnability_window` and the phase diagram of H_N: brute force, tables, limits, networks drawn one by one."""

from __future__ import annotations

import doctest
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import levycollapse as lc
from levycollapse import WindowStatus
from tests.conftest import REFERENCE

NOISE = lc.StableNoise(alpha=1.5, scale=1.0, signal=2.0, level=0.05)
BROAD = {"kappa": 1.0, "eta_G": 0.1, "eta_J": 2.0, "alpha": 1.5, "lam": 3.0}


@pytest.fixture(scope="module")
def density():
    return lc.stationary_density(lc.CollapseModel.from_parameters(**BROAD))


# --- tables ---


def brute_force(lags, f, level, rule):
    """Last lag of the table that is detected, or nan beyond its end."""
    seen = f >= level
    if rule == "contiguous":
        first = np.flatnonzero(~seen)
        last = (first[0] if first.size else lags.size) - 1
    else:
        last = np.flatnonzero(seen)[-1] if seen.any() else -1
    return last


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.floats(0.0, 2.0), min_size=1, max_size=12),
    st.integers(1, 3),
    st.sampled_from(["sup", "contiguous"]),
    st.floats(0.0, 6.0),
)
def test_table_against_brute_force(values, first, rule, log_n):
    f = np.array(values)
    lags = first + np.cumsum(np.arange(f.size))
    N = 10.0**log_n
    found = lc.learnability_window((lags, f), N, NOISE, rule=rule)
    level = found.threshold
    last = brute_force(lags, f, level, rule)
    if last == f.size - 1:
        assert found.status is WindowStatus.BEYOND_TABLE
        assert math.isnan(found.window)
        assert (found.lower, found.upper) == (lags[-1], math.inf)
    elif last < 0:
        assert found.status is (WindowStatus.NONE if first == 1 else WindowStatus.BELOW_TABLE)
        assert (found.window == 0) if first == 1 else (math.isnan(found.window) and found.upper == first)
    else:
        assert found.status is WindowStatus.REACHED
        assert (found.lower, found.upper) == (lags[last], lags[last + 1])
        assert found.lower <= found.window <= found.upper
        if f[last + 1] > 0:
            share = math.log(found.window / found.lower) / math.log(found.upper / found.lower)
            between = (1 - share) * math.log(f[last]) + share * math.log(f[last + 1])
            assert between == pytest.approx(math.log(level), abs=1e-9)
        else:
            assert found.window == found.lower


def test_holes_separate_the_two_rules():
    lags, f = np.arange(1, 9), np.array([1.0, 0.9, 0.01, 0.8, 0.7, 0.6, 0.01, 0.005])
    level = lc.detection_threshold(1000, NOISE)
    assert 0.01 < level < 0.6
    sup = lc.learnability_window((lags, f), 1000, NOISE)
    contiguous = lc.learnability_window((lags, f), 1000, NOISE, rule="contiguous")
    assert (sup.lower, contiguous.lower) == (6, 2)


def test_a_power_law_is_interpolated_exactly():
    law = lc.PowerEnvelope(exponent=0.6, amplitude=1.7)
    lags = np.array([1.0, 7.0, 300.0, 1e5, 1e9])
    N = np.geomspace(1, 1e9, 20)
    table = lc.learnability_window((lags, law.envelope(lags)), N, NOISE)
    exact = law.window(N, NOISE)
    np.testing.assert_allclose(table.window, exact, rtol=1e-12)
    reached = exact > 0
    np.testing.assert_allclose(table.growth_exponent[reached], law.growth_exponent(N, NOISE)[reached], rtol=1e-12)


# --- laws ---


@pytest.mark.parametrize(
    "law",
    [
        lc.ExponentialEnvelope(rate=0.03),
        lc.LogarithmicEnvelope(power=0.6),
        lc.TemperedEnvelope(exponent=0.4, cutoff=150.0),
    ],
    ids=repr,
)
def test_closed_forms_against_the_search(law):
    """The same envelope as a law whose inverse is not known."""

    class Hidden:
        envelope = staticmethod(law.envelope)
        log_envelope = staticmethod(law.log_envelope)

    N = np.geomspace(1, 1e7, 15)
    closed, searched = lc.learnability_window(law, N, NOISE), lc.learnability_window(Hidden(), N, NOISE)
    np.testing.assert_array_equal(closed.status, searched.status)
    np.testing.assert_allclose(closed.window, searched.window, rtol=1e-11)
    finite = np.isfinite(closed.window)
    np.testing.assert_allclose(closed.growth_exponent[finite], searched.growth_exponent[finite], rtol=1e-6)
    np.testing.assert_array_equal(closed.window, law.window(N, NOISE))
    assert {WindowStatus.NONE, WindowStatus.REACHED} <= set(closed.status)


def test_spectra_and_densities_hit_the_threshold(density):
    N = np.geomspace(1e2, 1e8, 7)
    for law in (lc.Pareto(beta=0.8), lc.GammaRates(shape=0.5, rate=3.0), lc.LogNormal(2.0, 1.5), density):
        found = lc.learnability_window(law, N, NOISE)
        np.testing.assert_allclose(law.envelope(found.window), found.threshold, rtol=1e-9)
        np.testing.assert_allclose(found.threshold, lc.detection_threshold(N, NOISE), rtol=1e-14)
        assert found.envelope is law
    # Exact inverse: f = (1 + l/r)^-b.
    closed = 3.0 * (lc.detection_threshold(N, NOISE) ** (-1 / 0.5) - 1)
    gamma = lc.learnability_window(lc.GammaRates(shape=0.5, rate=3.0), N, NOISE).window
    np.testing.assert_allclose(gamma, np.where(closed < 1, 0, closed), rtol=1e-11)


def test_model_is_its_density_and_grows_with_its_exponent(density):
    model = lc.CollapseModel.from_parameters(**BROAD)
    N = np.array([1e3, 1e6, 1e12])
    found, by_density = lc.learnability_window(model, N, NOISE), lc.learnability_window(density, N, NOISE)
    np.testing.assert_array_equal(found.window, by_density.window)
    assert 0 < found.envelope_error < 1e-8
    np.testing.assert_allclose(found.window_error, 3 * found.growth_exponent * found.envelope_error, rtol=1e-12)
    # Far out: N^(1/(kappa beta)) with the prefactor C Gamma(beta).
    assert found.growth_exponent[-1] == pytest.approx(1 / (3 * model.beta), rel=1e-6)
    tail = lc.learnability_window(density.tail, N, NOISE)
    assert tail.window[-1] == pytest.approx(found.window[-1], rel=1e-6)
    assert math.isnan(tail.envelope_error)
    power = lc.PowerEnvelope(exponent=model.beta, amplitude=density.tail.prefactor * math.gamma(model.beta))
    np.testing.assert_allclose(tail.window, power.window(N, NOISE), rtol=1e-10)


def test_all_phases_have_their_window():
    """Concentrated, broad, at and below threshold, without jumps."""
    threshold = float(lc.jump_threshold(kappa=1.0, eta_G=0.1, alpha=0.8, lam=3.0))
    for changes in ({}, {"eta_J": 2.0}, {"alpha": 0.8, "eta_J": threshold}, {"eta_J": 0.1}, {"eta_J": 0.0}):
        model = lc.CollapseModel.from_parameters(**{**REFERENCE, **changes})
        found = lc.learnability_window(model, [1e4, 1e9], NOISE)
        assert (found.status == WindowStatus.REACHED).all()
        np.testing.assert_allclose(found.envelope.envelope(found.window), found.threshold, rtol=1e-8)


def test_logarithmic_regime_is_the_limit_of_little_tempering():
    """THEORY 4: lam -> 0 at alpha > 1. Windows grow without bound in their exponent."""
    N = np.array([60.0, 100.0])
    log_windows = []
    for lam in (0.3, 0.1, 0.03):
        model = lc.CollapseModel.from_parameters(**{**BROAD, "lam": lam})
        found = lc.learnability_window(model, N, NOISE)
        log_windows.append(np.log(found.window))
    assert (np.diff(np.array(log_windows), axis=0) > 0).all()
    untempered = lc.learnability_window(lc.CollapseModel.from_parameters(**{**BROAD, "lam": 0.0}), N, NOISE)
    # f falls short by about sqrt(lam log H), slowly: the limit needs the chain's tiny lam, whose f is 0.4 % off.
    almost = lc.CollapseModel.from_parameters(**{**BROAD, "lam": 1e-7})
    near = lc.learnability_window(lc.stationary_density(almost, method="chain"), N, NOISE)
    np.testing.assert_allclose(np.log(near.window), np.log(untempered.window), rtol=0.03)
    assert (log_windows[-1] < np.log(untempered.window)).all()
    assert untempered.window_error[0] > 10 * untempered.envelope_error
    # Its law: f = D (log l + gamma)^(1 - alpha)/(alpha - 1), H = exp((D/((alpha-1) level))^(1/(alpha-1)) - gamma).
    tail = untempered.envelope.tail
    far = lc.learnability_window(tail, 300.0, NOISE)
    level = lc.detection_threshold(300.0, NOISE)
    want = (2 * tail.prefactor / level) ** 2 - np.euler_gamma
    assert np.log(far.window) == pytest.approx(want, rel=2e-3)
    assert lc.learnability_window(tail, 1e5, NOISE).status is WindowStatus.OVERFLOW


def test_asymptote_of_logarithms_says_nothing_of_short_lags():
    tail = lc.stationary_density(lc.CollapseModel.from_parameters(**{**REFERENCE, "eta_J": 0.1})).tail
    assert tail.log_power < 0
    loud = lc.StableNoise(alpha=1.5, scale=1.0, signal=1e-6, level=0.05)
    found = lc.learnability_window(tail, [1.0, 1e30], loud)
    assert found.status[0] == WindowStatus.BELOW_TABLE
    assert math.isnan(found.window[0])
    assert found.upper[0] > 1
    assert found.status[1] == WindowStatus.REACHED
    asymptote = lc.tauberian_envelope(tail, found.window[1]).envelope
    assert asymptote == pytest.approx(found.threshold[1], rel=1e-9)


def test_no_stationary_law_is_an_answer():
    found = lc.learnability_window(lc.CollapseModel.from_parameters(**{**BROAD, "lam": 0.0, "alpha": 0.5}), 100, NOISE)
    assert found.status is WindowStatus.NO_LAW
    assert math.isnan(found.window)
    assert found.envelope is None


# --- information ---


def test_information_window_is_beyond_every_method():
    law = lc.Pareto(beta=0.8)
    N = np.geomspace(10, 1e8, 8)
    for alpha in (1.2, 1.7, 2.0):
        noise = lc.StableNoise(alpha=alpha, scale=1.0, signal=2.0, level=0.05)
        found = lc.learnability_window(law, N, noise, power=0.8)
        assert (found.information_threshold < found.threshold).all()
        needed = lc.detection_samples_bound(found.information_threshold, noise, power=0.8)
        np.testing.assert_allclose(needed, N, rtol=1e-8)
        there = found.information_window > 0
        np.testing.assert_allclose(law.envelope(found.information_window[there]), found.information_threshold[there])
        # Exponent 2, whatever alpha is.
        growth = np.log(found.information_threshold[-1] / found.information_threshold[-2]) / np.log(N[-1] / N[-2])
        assert growth == pytest.approx(-0.5, abs=1e-6)
        assert "N ~ f^-2" in found.meaning
    too_heavy = lc.learnability_window(law, 10.0, lc.StableNoise(0.1, 1.0, 2.0, 0.05))
    assert math.isnan(too_heavy.information_threshold)
    assert math.isnan(too_heavy.information_window)
    assert too_heavy.information_status is WindowStatus.NOT_COMPUTED


def test_stable_yet_unlearnable():
    """Products of the Jacobian bounded by 1 at every lag, a slow envelope, and still nothing to be known."""
    law = lc.Pareto(beta=0.5)
    noise = lc.StableNoise(alpha=1.5, scale=1.0, signal=0.01, level=0.05)
    lags, N = np.array([1.0, 10.0, 100.0, 1000.0]), 1000
    products = np.exp(-lags[:, None] / law.rvs(500, rng=0))
    assert (products <= 1).all()
    f = law.envelope(lags)
    information = N * lc.stable_divergence(noise.signal * f, noise.alpha, noise.scale)
    assert (information < math.log(2)).all()
    np.testing.assert_allclose(lc.mutual_information_bound(f, noise, N), information / 2)
    found = lc.learnability_window(law, N, noise)
    assert found.window == 0
    assert found.information_window == 0


# --- finite width ---


def test_band_against_networks_one_by_one():
    law, N, width = lc.Pareto(beta=0.8), np.array([1e3, 1e5]), 32
    found = lc.learnability_window(law, N, NOISE, width=width, quantiles=[0.25, 0.5, 0.75], n_networks=201, rng=1)
    band = found.band
    assert band.window.shape == (3, 2)
    level = lc.detection_threshold(N, NOISE)
    tau = np.array([law.rvs(width, rng=generator) for generator in np.random.default_rng(1).spawn(201)])
    low, high = np.zeros((201, 2)), np.full((201, 2), 30.0)
    for _ in range(50):
        middle = 0.5 * (low + high)
        seen = np.exp(-np.exp(middle)[..., None] / tau[:, None, :]).mean(axis=-1) >= level
        low, high = np.where(seen, middle, low), np.where(seen, high, middle)
    # The same networks: only the interpolation between lags differs, where another network takes over.
    np.testing.assert_allclose(band.window, np.quantile(np.exp(low), [0.25, 0.5, 0.75], axis=0), rtol=0.02)
    assert (band.window_low <= band.window).all()
    assert (band.window <= band.window_high).all()
    assert (band.status == WindowStatus.REACHED).all()
    np.testing.assert_allclose(law.envelope(found.window), level, rtol=1e-10)


def test_bands_of_the_model_are_reproducible(density):
    one, two = (lc.learnability_window(density, [1e3], NOISE, width=16, n_networks=50, rng=3).band for _ in range(2))
    np.testing.assert_array_equal(one.window, two.window)
    assert np.isnan(one.window_low[0]).all()  # 50 networks have no interval of the 5 % quantile


# --- equivariance and shapes ---


@settings(max_examples=15, deadline=None)
@given(st.floats(-5, 5), st.sampled_from(["sup", "contiguous"]))
def test_units_of_the_noise_cancel(log_unit, rule):
    unit = 10.0**log_unit
    scaled = lc.StableNoise(alpha=1.5, scale=unit, signal=2.0 * unit, level=0.05)
    one = lc.learnability_window(lc.Pareto(0.8), [1e2, 1e5], NOISE, rule=rule)
    two = lc.learnability_window(lc.Pareto(0.8), [1e2, 1e5], scaled, rule=rule)
    np.testing.assert_allclose(two.window, one.window, rtol=1e-9)
    np.testing.assert_allclose(two.information_window, one.information_window, rtol=1e-9)


def test_lag_dependent_noise_goes_into_the_envelope():
    lags = np.array([1.0, 2.0, 4.0, 8.0])
    f, signal, scale = np.array([1.0, 0.8, 0.6, 0.1]), np.array([1.0, 0.5, 0.9, 1.0]), np.array([1.0, 2.0, 1.0, 3.0])
    unit = lc.StableNoise(alpha=1.5, scale=1.0, signal=1.0, level=0.05)
    found = lc.learnability_window((lags, f * signal / scale), 200.0, unit)
    each = [
        lc.detection_threshold(200.0, lc.StableNoise(1.5, s, m, 0.05)) <= v
        for v, m, s in zip(f, signal, scale, strict=True)
    ]
    assert found.lower == lags[np.flatnonzero(each)[-1]]


def test_scalars_and_arrays():
    one = lc.learnability_window(lc.Pareto(0.8), 1e4, NOISE)
    assert isinstance(one.window, float)
    assert isinstance(one.status, WindowStatus)
    many = lc.learnability_window(lc.Pareto(0.8), np.full((2, 3), 1e4), NOISE)
    assert many.window.shape == many.status.shape == many.information_window.shape == (2, 3)
    np.testing.assert_allclose(many.window, one.window, rtol=1e-12)


def test_bad_input(density):
    window = lc.learnability_window
    law = lc.Pareto(0.8)
    tail = lc.tail_law(**REFERENCE)
    cases = [
        (lambda: window(law, 0.5, NOISE), "N=0.5 must be a finite number >= 1"),
        (lambda: window(law, 10, "x"), "noise='x' must be a StableNoise"),
        (lambda: window(law, 10, NOISE, rule="last"), "rule='last' must be one of 'sup', 'contiguous'"),
        (lambda: window(law, 10, NOISE, power=1.0), "power=1.0 must be a number above the level 0.05 and below 1"),
        (lambda: window("model", 10, NOISE), "source=str must be a CollapseModel"),
        (lambda: window(([1, 1], [1.0, 0.5]), 10, NOISE), "lags must increase"),
        (lambda: window(([0.5, 1], [1.0, 0.5]), 10, NOISE), r"lags\[0\]=0.5 must be a finite number >= 1"),
        (lambda: window(([1, 2], [1.0, -0.5]), 10, NOISE), r"f\[1\]=-0.5 must be"),
        (lambda: window(([1, 2], [1.0]), 10, NOISE), r"lags \(2,\), f \(1,\)"),
        (lambda: window(([], []), 10, NOISE), r"lags \(0,\)"),
        (lambda: window(tail, 10, NOISE), "tail has no prefactor"),
        (lambda: window(([1, 2], [1.0, 0.5]), 10, NOISE, width=10), "width: bands over networks need a law"),
        (lambda: window(lc.PowerEnvelope(1.0), 10, NOISE, width=10), "width: bands over networks need a law"),
        (lambda: window(law, 10, NOISE, width=0), "width=0 must be an integer >= 1"),
    ]
    for call, message in cases:
        with pytest.raises(lc.ParameterError, match=message):
            call()


# --- phase diagram ---


def test_phase_diagram_of_the_window():
    N = np.array([1e3, 1e5])
    axes = {"eta_J": [0.1, 2.0], "alpha": [0.7, 1.5]}
    diagram = lc.phase_diagram(
        kappa=1.0, eta_G=0.1, lam=3.0, **axes, quantity="window", N=N, noise=NOISE, center=0.5, drift_width=2.0
    )
    assert diagram["window"].dims == ("eta_J", "alpha", "N")
    for i, j in np.ndindex(2, 2):
        drift = lc.SaturatingDrift(1.0, 0.5, 2.0)
        model = lc.CollapseModel(drift, 0.1, lc.TemperedStable(axes["alpha"][j], 3.0, axes["eta_J"][i]))
        found = lc.learnability_window(model, N, NOISE)
        np.testing.assert_allclose(diagram["window"].values[i, j], found.window, rtol=1e-12)
        np.testing.assert_array_equal(diagram["window_status"].values[i, j], found.status)
    plain = lc.phase_diagram(kappa=1.0, eta_G=0.1, lam=3.0, **axes)
    for name in ("phase", "threshold", "critical"):
        np.testing.assert_array_equal(diagram[name], plain[name])
    assert diagram.attrs["noise_alpha"] == 1.5
    one = lc.phase_diagram(
        kappa=1.0, eta_G=0.1, lam=3.0, **axes, quantity="window", N=1e3, noise=NOISE, center=0.5, drift_width=2.0
    )
    np.testing.assert_array_equal(one["window"], diagram["window"].isel(N=0))
    assert one.attrs["N"] == 1e3


def test_phase_diagram_where_there_is_no_law():
    diagram = lc.phase_diagram(
        kappa=1.0, eta_G=0.1, eta_J=2.0, lam=0.0, alpha=[0.5, 0.9], quantity="window", N=100, noise=NOISE
    )
    np.testing.assert_array_equal(diagram["window_status"], WindowStatus.NO_LAW)
    assert np.isnan(diagram["window"]).all()


def test_phase_diagram_where_the_law_cannot_be_computed(monkeypatch):
    def refuse(model):
        raise lc.ConvergenceError("too hard")

    monkeypatch.setattr("levycollapse._learnability.model_grid.stationary_density", refuse)
    diagram = lc.phase_diagram(**{**REFERENCE, "eta_J": [0.5, 1.0]}, quantity="window", N=100, noise=NOISE)
    np.testing.assert_array_equal(diagram["window_status"], WindowStatus.NOT_COMPUTED)


def test_phase_diagram_bad_input():
    cases = [
        ({"N": 10}, "N and noise go with quantity='window', not with 'beta'"),
        ({"quantity": "window", "noise": NOISE}, "N is missing"),
        ({"quantity": "window", "N": 10}, "noise=None must be a StableNoise"),
        ({"quantity": "window", "N": [[10]], "noise": NOISE}, r"N has shape \(1, 1\)"),
        ({"quantity": "window", "N": 10, "noise": NOISE, "drift_width": 0.0}, "drift_width=0.0 must be"),
        ({"quantity": "window", "N": 10, "noise": NOISE, "center": [0.0]}, "center and drift_width must be single"),
    ]
    for options, message in cases:
        with pytest.raises(lc.ParameterError, match=message):
            lc.phase_diagram(**REFERENCE, **options)


def test_documentation_page():
    """What docs/learnability.md shows is what happens."""
    page = Path(__file__).parents[2] / "docs" / "learnability.md"
    results = doctest.testfile(str(page), module_relative=False)
    assert results.attempted >= 12
    assert results.failed == 0
    # Its table.
    for alpha, mean, likelihood, least in ((2.0, 1.24e5, 1.24e5, 7.6e4), (1.5, 7.9e7, 1.44e5, 8.9e4)):
        noise = lc.StableNoise(alpha, 1.0, 1.0, 0.05)
        assert lc.sample_complexity(0.01, noise, power=0.8) == pytest.approx(mean, rel=0.01)
        assert lc.robust_sample_complexity(0.01, noise, power=0.8) == pytest.approx(likelihood, rel=0.01)
        assert lc.detection_samples_bound(0.01, noise, power=0.8) == pytest.approx(least, rel=0.01)
