"""The verdict: what it says of known cases, what it refuses to say, its text, its JSON, its picture."""

from __future__ import annotations

import json
import math

import matplotlib.axes
import numpy as np
import pytest
import xarray as xr

import levycollapse as lc
from levycollapse.tails import Regime, Shape

LAGS = np.unique(np.geomspace(1, 400, 50).round())
MODEL = {"kappa": 1.0, "eta_G": 0.1, "alpha": 1.5, "lam": 3.0}


def model(beta):
    eta_J = lc.intensity_for_exponent(beta, **MODEL)
    return lc.CollapseModel.from_parameters(**MODEL, eta_J=eta_J)


@pytest.fixture(scope="module")
def tau():
    return np.exp(-lc.stationary_density(model(0.6)).rvs(512, rng=2))


@pytest.fixture(scope="module")
def curves(tau):
    return lc.envelope(tau, LAGS) * np.exp(0.02 * np.random.default_rng(0).standard_normal((16, LAGS.size)))


@pytest.fixture(scope="module")
def found(tau, curves):
    return lc.verdict(tau, (LAGS, curves), independent=True)


def test_a_broad_spectrum(found):
    assert found.shape.shape is Shape.POWER and found.decay.regime is Regime.POWER
    assert found.beta_spectrum.lower < 0.6 < found.beta_spectrum.upper
    assert found.beta_envelope.value == pytest.approx(0.6, abs=0.1)
    assert found.beta_spectrum == lc.tails.fit_spectrum(np.exp(found.fit._units.log_tau)).beta
    # No phase without a model: below threshold the model's own spectrum is a power law.
    assert found.phase is None and lc.Phase.COLLAPSED in found.candidates and lc.Phase.BROAD in found.candidates
    assert any("cannot name the phase" in line for line in found.unresolved)


def test_the_prediction_is_that_of_the_fitted_spectrum(found):
    again = lc.finite_width_envelope(found.fit.law, LAGS, 512, quantiles=(0.05, 0.95), n_networks=200, rng=0)
    assert (found.prediction.quantiles == again.quantiles).all()
    assert found.prediction.mean == pytest.approx(lc.envelope(found.fit.law.rvs(400_000, rng=1), LAGS), rel=0.02)
    inside = (found.f >= again.quantiles[0]) & (found.f <= again.quantiles[1])
    assert found.inside == pytest.approx(inside.mean()) and found.inside > 0.9


def test_text_says_it_all(found):
    text = str(found)
    assert text == found.to_text()
    for part in ("phase: not named", "512 resolved", "different sequences", "lag", "broad", "collapsed"):
        assert part in text, part


def test_json_is_strict_and_complete(found, tau):
    def refuse(value):
        raise AssertionError(value)

    content = json.loads(found.to_json(), parse_constant=refuse)
    assert content["beta_spectrum"] == list(found.beta_spectrum)
    assert content["envelope"]["lags"] == LAGS.tolist() and content["phase"] is None
    alone = json.loads(lc.verdict(tau[:10]).to_json(), parse_constant=refuse)
    assert alone["envelope"] is None and alone["beta_spectrum"] == [None] * 3 and alone["finite_width"] is None


def dataset(tau, digest="a"):
    late = tau > np.sort(tau)[-9]
    status = np.where(late, 2, np.where(tau < 1, 1, 0)).astype(np.int8)
    low = np.where(late, np.sort(tau)[-9], 0.9 * tau)
    return xr.Dataset(
        {"tau": ("unit", np.where(late, np.nan, tau)), "tau_low": ("unit", low), "status": ("unit", status)},
        attrs={"inputs": digest},
    )


def test_datasets_of_networks(tau, curves):
    spectrum = dataset(tau)
    envelope = xr.Dataset(
        {"f_mean": ("lag", curves.mean(axis=0)), "log_f_sequence": (("sequence", "lag"), np.log(curves))},
        {"lag": LAGS},
        {"inputs": "a"},
    )
    found = lc.verdict(spectrum, envelope)
    assert found.counts["CENSORED_LONG"] == 8 and found.counts["BELOW_STEP"] == (tau < 1).sum()
    assert found.fit.n_censored == 8 and found.decay.n_replicates == 16
    assert found.independent is False and "share sequences" in str(found)
    assert "8 units are slower than could be measured" in found.unresolved
    other = lc.verdict(spectrum, envelope.assign_attrs(inputs="b").drop_vars("log_f_sequence"))
    assert other.independent is True and other.decay.n_replicates == 1
    assert math.isnan(other.beta_envelope.lower)
    # A sequence in common is enough.
    assert lc.verdict(dataset(tau, "a b"), envelope.assign_attrs(inputs="b c")).independent is False
    # Sequences too short for a lag: the lags that all of them know.
    short = envelope.copy(deep=True)
    short["log_f_sequence"][3, -2:] = np.nan
    assert lc.verdict(spectrum, short).lags.tolist() == LAGS[:-2].tolist()


def test_names_as_statuses_and_growing_units(tau):
    names = np.where(tau > np.sort(tau)[-9], "CENSORED_LONG", "RESOLVED")
    names[:3] = "GROWING"
    spectrum = dataset(tau).assign(status=("unit", names))
    found = lc.verdict(spectrum)
    assert found.counts["GROWING"] == 3 and found.independent is None
    assert any("grow" in line for line in found.unresolved)


def test_with_a_model(tau):
    right = lc.verdict(tau, model=model(0.6))
    assert right.phase is lc.Phase.BROAD and right.model.rate == pytest.approx(0.6)
    assert right.model.rate_inside and right.model.p_value > 0.01
    wrong = lc.verdict(tau, model=model(2.0))
    assert wrong.phase is None and wrong.model.p_value < 1e-4


def test_light_and_undecided():
    rng = np.random.default_rng(1)
    light = lc.verdict(50 * rng.standard_exponential(512))
    assert light.candidates == (lc.Phase.COLLAPSED, lc.Phase.CONFINED) and "lighter" in light.headline
    few = lc.verdict(rng.standard_exponential(5))
    assert few.candidates == () and few.phase is None and "too few units" in few.headline
    both = lc.verdict(lc.Pareto(1.0).rvs(512, rng=3), (LAGS, np.exp(-LAGS / 50.0)))
    assert both.decay.regime is Regime.EXPONENTIAL and math.isnan(both.beta_envelope.value)
    assert any("exponential" in line for line in both.evidence)


def test_a_cutoff_is_said():
    tau = lc.TruncatedPareto(0.4, 1.0, 30.0).rvs(2000, rng=2)
    assert any("cutoff near tau" in line for line in lc.verdict(tau).evidence)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"spectrum": xr.Dataset({"tau": ("unit", [1.0])})}, "spectrum has no variable 'status'"),
        ({"spectrum": np.ones(30), "envelope": 3.0}, "envelope must be a pair"),
        ({"spectrum": np.ones(30), "envelope": xr.Dataset()}, "envelope has no f_mean over lag"),
        ({"spectrum": np.ones(30), "envelope": ([1.0, 2.0], [1.0])}, "f must have shape"),
        ({"spectrum": np.ones(30), "model": "broad"}, "model='broad' must be a CollapseModel"),
    ],
)
def test_bad_input(arguments, message):
    with pytest.raises(lc.ParameterError, match=message):
        lc.verdict(**arguments)


def test_picture(found, tau, tmp_path):
    axes = lc.plotting.plot_verdict(found)
    assert len(axes) == 3 and len({ax.figure for ax in axes}) == 1
    assert axes[0].get_ylabel() and "steps" in axes[0].get_xlabel() and "steps" in axes[1].get_xlabel()
    line = next(x for x in axes[0].lines if str(x.get_label()).startswith(r"$\beta$"))
    x, y = line.get_data()
    assert -np.polyfit(np.log(x), np.log(y), 1)[0] == pytest.approx(found.beta_spectrum.value)
    measured = next(x for x in axes[1].lines if x.get_label() == "measured")
    assert measured.get_ydata() == pytest.approx(found.f)
    lc.plotting.save_figure(axes[0], tmp_path / "verdict")
    censored = lc.plotting.plot_verdict(lc.verdict(dataset(tau)))
    assert any(x.get_label() == "lower bounds" for x in censored[0].lines)
    bare = lc.plotting.plot_verdict(lc.verdict(tau[:5]), axes=axes)
    assert isinstance(bare[0], matplotlib.axes.Axes)
    with pytest.raises(lc.ParameterError, match="axes has 1 items"):
        lc.plotting.plot_verdict(found, axes=axes[:1])
    with pytest.raises(lc.ParameterError, match="must be a result of"):
        lc.plotting.plot_verdict(3)


def test_an_envelope_of_zeros_can_be_drawn(tau):
    axes = lc.plotting.plot_verdict(lc.verdict(tau, (np.geomspace(1.0, 400.0, 40), np.zeros(40))))
    assert len(axes) == 3


def test_independent_is_a_truth_value(tau):
    with pytest.raises(lc.ParameterError, match="independent='yes' must be True, False or None"):
        lc.verdict(tau, independent="yes")
