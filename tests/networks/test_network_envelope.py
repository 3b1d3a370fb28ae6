"""Envelopes of networks whose envelope is known, however small, and their bands."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

import levycollapse as lc
import levycollapse.networks as nw
from levycollapse.errors import ParameterError
from tests.networks.test_timescales import constant_gates, noisy_gates


@pytest.mark.parametrize("kernel", ["gates", "diagonal", "first-order", "jacobian"])
def test_constant_gates_give_the_envelope_of_their_time_scales(kernel):
    tau = np.geomspace(2, 300, 30)
    lags = np.array([1, 4, 30, 200])
    found = nw.envelope(constant_gates(tau), torch.randn(3, 220, 1), lags, kernel=kernel)
    expected = lc.envelope(tau, lags)
    np.testing.assert_allclose(found["f_mean"], expected, rtol=1e-9)
    np.testing.assert_allclose(found["f_sum"], 30 * expected, rtol=1e-9)
    np.testing.assert_allclose(found["log_f_sum"] - found["log_f_mean"], math.log(30))
    # The mean of the logarithm is another thing: the fast units rule it.
    np.testing.assert_allclose(found["log_typical"], -lags * (1 / tau).mean(), rtol=1e-9)
    np.testing.assert_allclose(found["log_f_error"], 0, atol=1e-12)


def test_the_logarithm_where_the_envelope_underflows():
    found = nw.envelope(constant_gates([0.1, 0.2]), torch.zeros(2, 300, 1), [10, 250], kernel="diagonal")
    np.testing.assert_allclose(found["log_f_mean"], [-50 - math.log(2), -1250 - math.log(2)], rtol=1e-9)
    assert found["f_mean"][1] == 0 and found["f_mean"][0] > 0
    assert np.isfinite(found["log_f_sequence"]).all()


def test_units_of_all_layers_together_or_of_one():
    torch.manual_seed(0)
    net = torch.nn.GRU(2, 4, num_layers=2, bidirectional=True, batch_first=True)
    x = torch.randn(3, 12, 2)
    every = nw.envelope(net, x, [1, 5])
    assert every.attrs["units"] == 16
    parts = [nw.envelope(net, x, [1, 5], layer=k, direction=d) for k in (0, 1) for d in (0, 1)]
    np.testing.assert_allclose(every["f_sum"], sum(part["f_sum"] for part in parts), rtol=1e-12)
    np.testing.assert_allclose(every["log_typical"], np.mean([part["log_typical"] for part in parts], 0), rtol=1e-12)
    assert every["layer"].values.tolist() == [0] * 8 + [1] * 8


def test_bands_hold_the_truth_as_often_as_they_say():
    # Factors e^(-mu - sd x): E|window| = exp(l (-mu + sd^2/2)). One layer of one unit is one experiment.
    truth = 10 * (-0.1 + 0.125 / 2)
    layer, x = noisy_gates(np.full(150, 0.1), math.sqrt(0.125), batch=12, steps=60, seed=1)
    assert nw.envelope(layer, x, [10])["log_f_error"] < 0.05
    inside = 0
    for q in range(150):
        single, _ = noisy_gates([0.1], math.sqrt(0.125), batch=1, steps=1, seed=0)
        own = nw.envelope(single, x[:, :, q : q + 1], [10], resamples=100, rng=q)
        inside += bool(own["f_mean_low"][0] < math.exp(truth) < own["f_mean_high"][0])
    # Nominal 0.95; the mean of 12 skewed numbers is covered a little less often.
    assert 0.87 < inside / 150 < 0.99


def test_few_sequences_reach_the_longest_lag():
    layer, x = noisy_gates([0.1, 0.2], 0.2, batch=4, steps=30, seed=2)
    found = nw.envelope(layer, x, [1, 10, 25], lengths=[30, 12, 5, 5])
    assert np.isfinite(found["log_f_error"][:2]).all() and np.isnan(found["log_f_error"][2])
    np.testing.assert_allclose(found["log_f_mean"][2], found["log_f_sequence"][0, 2], rtol=1e-12)


def test_bad_lags():
    net, x = nw.DiagGate(1, 3), torch.zeros(2, 20, 1)
    for lags in ([0], [-1, 2], [[1, 2]], [21], [], "lags", [3, 2], [math.nan]):
        with pytest.raises(ParameterError, match="lags"):
            nw.envelope(net, x, lags)
