"""Verdicts from end to end, networks -> spectrum and envelope -> verdict, where the answer is known."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch

import levycollapse as lc
import levycollapse.networks as nw
from levycollapse.tails import Regime, Shape, SpectrumFitStatus, UnitStatus

from .nets import constant_gates, noisy_gates


def verdict_of(net, x, **options):
    """Spectrum from one half of the sequences, envelope from the other."""
    lags = np.unique(np.geomspace(1, x.shape[1] // 2, 40).round().astype(int))
    half = len(x) // 2
    return lc.verdict(nw.timescales(net, x[:half], **options), nw.envelope(net, x[half:], lags, **options))


def frozen_gates(tau, wobble=0.5):
    """DiagGate whose gates are driven by the input alone: small ones have the mean rate 1/tau."""
    net = constant_gates(tau, torch.float32)
    with torch.no_grad():
        net.Ws.weight.fill_(wobble)
        # E exp(wobble x) = exp(wobble^2 / 2)
        net.Ws.bias -= wobble**2 / 2
    return net


def test_pareto_gates_are_a_power_law():
    tau = lc.Pareto(0.8, 2.0).rvs(512, rng=3)
    found = verdict_of(frozen_gates(tau), torch.randn(8, 512, 1))
    assert found.shape.shape is Shape.POWER
    assert found.beta_spectrum.lower < 0.8 < found.beta_spectrum.upper
    assert found.beta_spectrum.value == pytest.approx(lc.tails.fit_spectrum(tau).beta.value, rel=0.02)
    assert found.counts == {"RESOLVED": 512, "BELOW_STEP": 0, "CENSORED_LONG": 0, "GROWING": 0}
    assert found.decay.regime is Regime.POWER and found.decay.n_replicates == 4
    # These units' own envelope, whose exponent is not yet the law's.
    own = lc.tails.regime(found.lags, lc.envelope(tau, found.lags))
    assert found.beta_envelope.value == pytest.approx(own.exponent.value, abs=0.03)
    assert found.independent is True and found.inside > 0.9
    assert lc.Phase.BROAD in found.candidates and found.phase is None
    assert json.loads(found.to_json())["independent"] is True


def test_lognormal_gates_are_lighter():
    tau = lc.LogNormal(log_median=3.0, sd=1.0).ppf((np.arange(512) + 0.5) / 512)
    found = verdict_of(frozen_gates(tau), torch.randn(8, 256, 1))
    assert found.shape.shape is Shape.LIGHT and "lighter" in found.headline
    assert found.decay.regime is not Regime.POWER and np.isnan(found.beta_envelope.value)
    assert found.candidates == (lc.Phase.COLLAPSED, lc.Phase.CONFINED)


@pytest.mark.parametrize("kind", [nw.ConstGate, nw.SharedGate])
def test_one_gate_for_all_units_is_one_exponential(kind):
    net, x = kind(4, 256, s0=0.05, orthogonal=True), torch.randn(8, 256, 4)
    gates = verdict_of(net, x, kernel="gates")
    assert gates.shape.shape is Shape.LIGHT and "one time scale" in gates.shape.reason
    assert gates.fit.status is SpectrumFitStatus.DEGENERATE and gates.decay.regime is Regime.EXPONENTIAL
    assert gates.candidates == (lc.Phase.COLLAPSED, lc.Phase.CONFINED)
    # Each unit's weight to itself spreads them a little: an index of 20 or more over a tenth of a decade.
    exact = verdict_of(net, x)
    assert exact.shape.shape is not Shape.POWER and exact.shape.decades < 0.2
    assert exact.beta_spectrum.lower > 10 and lc.Phase.BROAD not in exact.candidates
    assert exact.decay.regime is Regime.EXPONENTIAL


def test_sequences_in_common_are_seen():
    net, x = constant_gates(np.geomspace(2, 50, 64)), torch.randn(6, 64, 1)
    lags = [1, 2, 4, 8, 16]
    spectrum = nw.timescales(net, x[:4])
    for others, independent in ((x[:4], False), (x[3:], False), (x[4:], True)):
        assert lc.verdict(spectrum, nw.envelope(net, others, lags)).independent is independent
    # Wherever they stand, and padded or not.
    assert lc.verdict(spectrum, nw.envelope(net, x[[5, 3]], lags)).independent is False
    padded = torch.nn.functional.pad(x[3:4], (0, 0, 0, 9), value=7.0)
    assert lc.verdict(spectrum, nw.envelope(net, padded, lags, lengths=[64])).independent is False
    # The same for a deeper layer, whose own inputs are not the sequences.
    deep = torch.nn.GRU(1, 20, num_layers=2, batch_first=True)
    upper = nw.timescales(deep, x[:4], layer=1)
    assert upper.attrs["inputs"] == nw.timescales(deep, x[:4]).attrs["inputs"]
    assert lc.verdict(upper, nw.envelope(deep, x[3:], lags, layer=0)).independent is False
    assert lc.verdict(spectrum, (lags, np.ones(5) / 2)).independent is None
    published = nw.timescales(net, torch.randn(2, 200, 1), compat="reference")
    assert len(published.attrs["inputs"].split()) == 2


def test_units_of_every_status():
    mu = np.concatenate([np.full(6, -0.05), np.zeros(30), np.full(20, 3.0), 1 / lc.Pareto(0.8, 2.0).rvs(300, rng=1)])
    layer, x = noisy_gates(mu, 0.02, batch=16, steps=128, seed=4)
    spectrum = nw.timescales(layer, x[:8])
    found = verdict_of(layer, x)
    assert found.counts == {s.name: int((spectrum["status"] == s).sum()) for s in UnitStatus}
    assert found.counts["GROWING"] >= 6 and found.counts["BELOW_STEP"] == 20 and found.counts["CENSORED_LONG"] > 20
    assert found.fit.n_units == mu.size - found.counts["GROWING"] and found.fit.n_censored > 0
    unresolved = " ".join(found.unresolved)
    for part in ("grow: they have no time scale", "decay within one step", "slower than could be measured"):
        assert part in unresolved, part
    # Units that grow carry the envelope: no power law.
    assert found.decay.regime is not Regime.POWER
    assert "nan" not in found.to_text()


def test_a_bidirectional_network_of_two_layers():
    net = torch.nn.GRU(3, 64, num_layers=2, bidirectional=True, batch_first=True)
    found = verdict_of(net, torch.randn(8, 128, 3))
    assert sum(found.counts.values()) == 256 and found.independent is True
    # As torch makes it: gates near one half, time scales of one to two steps.
    assert found.shape.shape is not Shape.POWER and found.beta_spectrum.lower > 2
    assert found.decay.regime is Regime.EXPONENTIAL


def test_one_sequence():
    net, x = frozen_gates(lc.Pareto(0.8, 4.0).rvs(128, rng=3)), torch.randn(2, 128, 1)
    found = verdict_of(net, x)
    assert found.decay.n_replicates == 1 and found.independent is True
    assert any("single curve" in line for line in found.unresolved)
    spectrum = nw.timescales(net, x[:1])
    # No interval: units that are slower than the sequence is long are censored there.
    late = (spectrum["status"] == UnitStatus.CENSORED_LONG).values
    assert (spectrum["tau_low"].values[late] == 128).all() and np.isinf(spectrum["tau_high"].values[late]).all()
    assert late.any() and (spectrum["tau"].values[late] > 128).all() and np.isnan(spectrum["mu_error"]).all()
    assert found.counts["CENSORED_LONG"] == late.sum()
    assert "nan" not in str(found)
    json.loads(found.to_json(), parse_constant=pytest.fail)
