"""Time scales where they are known, what can and cannot be told, and the published estimator with its faults."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

import levycollapse.networks as nw
from levycollapse.errors import ParameterError
from levycollapse.networks import UnitStatus
from levycollapse.networks import _reference as published

from .nets import constant_gates, noisy_gates


def const_gate_with_self_weights(exact, s=0.005):
    """ConstGate at rest whose units have the exact diagonals `exact` = 1 - s + s W_qq."""
    net = nw.ConstGate(1, len(exact), s0=s).double()
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.zero_()
        net.s.fill_(s)
        net.Wh.weight.copy_(torch.diag((torch.as_tensor(exact, dtype=torch.float64) - 1 + s) / s))
    return net


TAU = np.geomspace(0.05, 1e4, 40)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("kernel", ["gates", "diagonal", "first-order", "jacobian"])
def test_constant_gates_from_a_twentieth_of_a_step_to_1e4(dtype, kernel):
    found = nw.timescales(constant_gates(TAU, dtype), torch.randn(2, 500, 1), kernel=kernel)
    tolerance = 1e-9 if dtype is torch.float64 else 2e-3
    np.testing.assert_allclose(found["tau"], TAU, rtol=tolerance)
    np.testing.assert_allclose(found["zeta"], -np.log(TAU), atol=tolerance)
    expected = np.where(TAU < 1, UnitStatus.BELOW_STEP, UnitStatus.RESOLVED)
    np.testing.assert_array_equal(found["status"], expected)
    np.testing.assert_allclose(found["r2"], 1.0, atol=1e-6)
    np.testing.assert_allclose(found["mu_mean"], 1.0 / TAU, rtol=tolerance)


def test_torch_gru_with_constant_gates():
    net = torch.nn.GRU(1, TAU.size, batch_first=True)
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.zero_()
        # z is the carry: sigmoid(b) = exp(-1/tau).
        net.bias_ih_l0[TAU.size : 2 * TAU.size] = torch.from_numpy(-np.log(np.expm1(1.0 / TAU)))
    found = nw.timescales(net, torch.randn(2, 64, 1))
    np.testing.assert_allclose(found["tau"], TAU, rtol=0.002)


def test_f1_the_floor_does_not_make_the_fastest_units_the_slowest():
    tau = np.array([0.9, 1.0, 1.8, 3.0, 5.0, 5.5, 7.0, 200.0])
    net, x = constant_gates(tau), torch.zeros(2, 512, 1)
    ours = nw.timescales(net, x)
    np.testing.assert_allclose(ours["tau"], tau, rtol=1e-9)
    assert np.argmax(ours["tau"].values) == 7
    theirs = nw.timescales(net, x, compat="reference")
    # What the published code gives for them (reference, anchors H15): the unit that forgets in a step is the slowest.
    assert np.isnan(theirs["tau"][0]) and theirs["status"][0] == UnitStatus.GROWING
    np.testing.assert_allclose(theirs["tau"][1:5], [359, 17.5, 7.0, 5.25], rtol=0.01)
    np.testing.assert_allclose(theirs["tau"][6:], tau[6:], rtol=1e-3)
    assert np.argmax(theirs["tau"].values[1:]) == 0


def test_f7_the_exact_diagonal_where_the_expansion_fails():
    s, weights = 0.005, np.array([-1.5, -1.24, -1.0, 0.8544, 1.1, 1.3])
    exact = 1 - s + s * weights
    net, x = const_gate_with_self_weights(exact, s), torch.zeros(2, 512, 1, dtype=torch.float64)
    ours = nw.timescales(net, x)
    np.testing.assert_allclose(ours["mu"], -np.log(exact), rtol=1e-6)
    np.testing.assert_allclose(ours["tau"][:4], [79.5, 88.8, 99.5, 1373], rtol=1e-3)
    assert ours["status"].values.tolist() == [0, 0, 0, 0, 3, 3]
    assert np.isnan(ours["tau"][4:]).all() and np.isnan(ours["zeta"][4:]).all()
    theirs = nw.timescales(net, x, compat="reference")
    # Recorded: rejected, rejected, 458 (near a singularity, hence the tolerance), 362, and finite time scales of 409 to
    # 453 for modes that grow.
    assert np.isnan(theirs["tau"][:2]).all()
    np.testing.assert_allclose(theirs["tau"][2], 458, rtol=0.05)
    np.testing.assert_allclose(theirs["tau"][3], 362, rtol=0.005)
    assert (theirs["tau"][4:] > 400).all() and (theirs["tau"][4:] < 460).all()


def test_f10_flat_units_are_censored_not_given_a_power_law():
    # Rates of 0 measured with noise: their reciprocals alone would be a spectrum with exponent 1.
    layer, x = noisy_gates(np.zeros(300), 0.05, batch=8, steps=40, seed=3)
    found = nw.timescales(layer, x)
    shares = [np.mean(found["status"] == status) for status in UnitStatus]
    assert shares[UnitStatus.CENSORED_LONG] > 0.9
    assert shares[UnitStatus.RESOLVED] < 0.06 and shares[UnitStatus.GROWING] < 0.06
    censored = found["status"] == UnitStatus.CENSORED_LONG
    assert np.isinf(found["tau_high"].values[censored]).all()
    assert (found["tau_low"].values[censored] > 0).all()
    # A censored unit whose point estimate is on the wrong side has no zeta, but its lower end all the same.
    wrong = censored & (found["mu"] <= 0)
    assert wrong.any() and np.isnan(found["zeta"].values[wrong]).all()


def test_errors_are_those_of_independent_sequences():
    layer, x = noisy_gates(np.full(200, 0.05), 0.3, batch=16, steps=60, seed=4)
    found = nw.timescales(layer, x, resamples=1000)
    means = (0.05 + 0.3 * x.numpy()).mean(1)
    np.testing.assert_allclose(found["mu"], means.mean(0), rtol=1e-12)
    np.testing.assert_allclose(found["mu_error"], means.std(0, ddof=1) / 4, rtol=0.1)
    assert abs(float(found["mu_error"].mean()) / (means.std(0, ddof=1).mean() / 4) - 1) < 0.01
    np.testing.assert_allclose(found["zeta_error"], found["mu_error"] / found["mu"])
    half = (1 / found["tau_low"] - found["mu"]) / found["mu_error"]
    np.testing.assert_allclose(half, 2.131449546, rtol=1e-8)
    inside = (found["tau_low"] < 20) & (found["tau_high"] > 20)
    assert 0.9 < float(inside.mean()) < 0.99
    again = nw.timescales(layer, x, resamples=1000)
    assert found.identical(again)
    assert not found["mu_error"].equals(nw.timescales(layer, x, resamples=1000, rng=1)["mu_error"])


def test_sequences_of_unequal_length_weigh_by_their_steps():
    layer, x = noisy_gates(np.full(100, 0.05), 0.3, batch=12, steps=60, seed=5)
    lengths = np.arange(5, 65, 5)
    found = nw.timescales(layer, x, lengths=lengths, resamples=2000)
    totals = np.stack([(0.05 + 0.3 * x[b, :n].numpy()).sum(0) for b, n in enumerate(lengths)])
    mean = totals.sum(0) / lengths.sum()
    np.testing.assert_allclose(found["mu"], mean, rtol=1e-12)
    # The error of a ratio, linearised.
    linear = np.sqrt(((totals - lengths[:, None] * mean) ** 2).sum(0) * 12 / 11) / lengths.sum()
    assert abs(float((found["mu_error"] / linear).mean()) - 1) < 0.05


def test_the_mean_is_more_precise_than_the_slope():
    layer, x = noisy_gates(np.full(400, 0.05), 0.3, batch=6, steps=128, seed=6)
    mean = nw.timescales(layer, x)
    slope = nw.timescales(layer, x, estimator="slope")
    ratio = float(slope["mu"].var() / mean["mu"].var())
    assert 1.1 < ratio < 2.0
    np.testing.assert_allclose(mean["mu"].mean(), 0.05, atol=4 * 0.3 / math.sqrt(400 * 6 * 128))
    np.testing.assert_allclose(slope["mu"].mean(), 0.05, atol=4 * 0.3 * math.sqrt(ratio / (400 * 6 * 128)))
    assert slope["lag_max"][0] == 64 and mean["lag_max"][0] == 1
    ratio = float(slope["mu_error"].mean() / slope["mu"].std())
    assert 0.8 < ratio < 1.1


def test_the_slope_is_that_of_numpy():
    layer, x = noisy_gates([0.02, 0.5], 0.3, batch=3, steps=50, seed=7)
    lags = [2, 3, 10, 25]
    found = nw.timescales(layer, x, lags=lags, estimator="slope")
    line, rest, *_ = np.polyfit(lags, found["log_typical"].T, 1, full=True)
    np.testing.assert_allclose(found["mu"], -line[0], rtol=1e-10)
    spread = (found["log_typical"] - found["log_typical"].mean("lag")) ** 2
    np.testing.assert_allclose(found["r2"], 1 - rest / spread.sum("lag"), rtol=1e-10)
    bent = np.polyfit(lags, found["log_typical"].T, 2)
    change = 2 * bent[0] * (lags[-1] - lags[0]) / line[0]
    np.testing.assert_allclose(found["curvature"], change, rtol=1e-8)


def test_intermittent_gates_decay_slower_in_the_mean():
    # log-normal factors: E log = -mu, log E = -mu + sd^2/2.
    layer, x = noisy_gates(np.full(50, 0.2), 0.3, batch=40, steps=400, seed=8)
    found = nw.timescales(layer, x, lags=[1, 2, 3, 4, 5])
    np.testing.assert_allclose(found["mu"].mean(), 0.2, atol=0.002)
    np.testing.assert_allclose(found["mu_mean"].mean(), 0.2 - 0.045, atol=0.003)


def test_one_sequence_has_no_error_unless_cut():
    layer, x = noisy_gates([0.001, 0.5, -0.5, 1.5], 0.001, batch=1, steps=100, seed=9)
    found = nw.timescales(layer, x)
    assert np.isnan(found["mu_error"]).all()
    # The censored one is known to be slower than the steps that were seen.
    np.testing.assert_array_equal(found["tau_low"], [100, np.nan, np.nan, np.nan])
    assert found["status"].values.tolist() == [2, 0, 3, 1]
    cut = nw.timescales(layer, x, block=10)
    assert cut.attrs["rows"] == 10 and (cut["mu_error"] > 0).all()
    np.testing.assert_allclose(cut["mu"], found["mu"], rtol=1e-12)
    assert cut["status"].values.tolist() == [0, 0, 3, 1]


def test_dead_units_of_a_relu_network():
    net = torch.nn.RNN(1, 2, nonlinearity="relu", batch_first=True, bias=False)
    with torch.no_grad():
        net.weight_ih_l0.copy_(torch.tensor([[1.0], [0.5]]))
        net.weight_hh_l0.copy_(torch.tensor([[0.5, 0.0], [0.0, 0.8]]))
    x = torch.ones(2, 30, 1)
    found = nw.timescales(net, x)
    np.testing.assert_allclose(found["mu"], -np.log([0.5, 0.8]), rtol=1e-6)
    x[1, 10] = -50.0
    found = nw.timescales(net, x)
    assert np.isposinf(found["mu"]).all() and (found["tau"] == 0).all() and np.isposinf(found["zeta"]).all()
    assert (found["status"] == UnitStatus.BELOW_STEP).all()
    f = nw.envelope(net, x, [1, 5])
    assert np.isneginf(f["log_typical"]).all() and (f["f_mean"] > 0.1).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kernel": "carry"}, "kernel='carry' must be one of"),
        ({"estimator": "mean", "kernel": "jacobian"}, 'estimator="mean" needs a kernel'),
        ({"lags": [1, 1]}, "lags must be increasing integers"),
        ({"lags": [1.5, 2]}, "lags must be increasing integers"),
        ({"lags": [1, 99]}, "lags go up to 99, but the longest sequence"),
        ({"lags": [4], "estimator": "slope"}, "at least 2 lag"),
        ({"burn_in": 20}, "burn_in=20 must be less than"),
        ({"burn_in": -1}, "burn_in=-1 must be an integer >= 0"),
        ({"block": 1}, "block=1 must be an integer >= 2"),
        ({"layer": 3}, "no layer=3"),
        ({"level": 1.0}, "level=1.0 must be strictly between 0 and 1"),
        ({"resamples": True}, "resamples=True must be an integer"),
        ({"compat": "paper"}, "compat='paper' must be one of"),
        ({"compat": "reference", "kernel": "jacobian"}, "cannot be combined"),
        ({"compat": "reference"}, "more than 94 steps"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(ParameterError, match=message):
        nw.timescales(nw.DiagGate(1, 3), torch.zeros(2, 20, 1), **options)


def test_weights_that_overflow_are_refused():
    layer = nw.from_step(lambda x, h: h * 1e200 * h + x, 2, dtype=torch.float64)
    for kernel in ("diagonal", "jacobian"):
        with pytest.raises(ParameterError, match="is not finite"):
            nw.timescales(layer, torch.ones(2, 20, 2), kernel=kernel)


# Golden numbers of the published code (reference 12).


def test_g6_transport_windows():
    leak = np.array([0.9, 0.8, 0.5, 0.99, 0.7, 0.6])
    correction = np.array([0.05, -0.1, 0.2, 0.0, -0.05, 0.1])
    order0, order1 = published.first_order(leak, correction, 2)
    np.testing.assert_allclose(order0, [0.72, 0.4, 0.495, 0.693, 0.42], rtol=1e-6)
    np.testing.assert_allclose(order1, [-0.05, 0.11, 0.198, -0.0495, 0.04], rtol=1e-6)
    order0, order1 = published.first_order(leak, correction, 6)
    np.testing.assert_allclose([order0[0], order1[0]], [0.149688, 0.0637362], rtol=1e-6)
    order0, order1 = published.first_order(leak, correction, 3, matched=True)
    np.testing.assert_allclose(order0, [0.396, 0.3465, 0.4158], rtol=1e-6)
    np.testing.assert_allclose(order1, [0.1089, 0.11385, 0.0396], rtol=1e-6)
    order0, order1 = published.first_order(leak, correction, 5, matched=True)
    np.testing.assert_allclose([order0[0], order1[0]], [0.16632, 0.061578], rtol=1e-6)
    assert order0.dtype == np.float32


def test_g8_rayleigh_quotient():
    found = published.rayleigh_quotient(
        np.array([[1.0, 2.0], [3.0, 4.0]]),
        np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]]),
        np.array([9.0, 9.0]),
    )
    np.testing.assert_allclose(found, [[9, 9], [1, 3], [1.5, 3.5]], rtol=1e-12)


def slow_published_fit(net, x):
    """The published time scales, from the states and by its own formulas, in plain loops."""
    (run,) = nw.read_network(net).runs(x)
    states = run.layer.states(run.inputs).numpy().astype(np.float64)
    before = np.concatenate([np.zeros_like(states[:, :1]), states[:, :-1]], 1)
    inner = run.inputs.numpy() @ net.Wx.weight.detach().numpy().T + net.Wx.bias.detach().numpy()
    candidate = np.tanh(inner + before @ net.Wh.weight.detach().numpy().T)
    s = float(net.s)
    ratio = s * (1 - candidate**2) * np.diag(net.Wh.weight.detach().numpy()) / (1 - s)
    lags = np.unique(np.linspace(64, 384, 32).astype(int))
    y = []
    for lag in lags:
        sums = np.stack([ratio[:, t : t + lag].sum(1) for t in range(ratio.shape[1] - lag + 1)], 1)
        both = (1 - s) ** lag + (1 - s) ** lag * sums
        y.append(np.log(np.maximum(np.abs(both), 1e-30)).mean((0, 1)))
    slope = np.polyfit(lags, np.array(y), 1)[0]
    return -1 / slope


def test_the_published_fit_from_its_formulas():
    torch.manual_seed(1)
    net = nw.ConstGate(2, 6, s0=0.02).double()
    x = torch.randn(2, 400, 2, dtype=torch.float64)
    found = nw.timescales(net, x, compat="reference")
    np.testing.assert_allclose(found["tau"], slow_published_fit(net, x), rtol=1e-4)
    assert found.attrs["compat"] == "reference"


def test_the_published_envelopes():
    torch.manual_seed(2)
    x = torch.randn(2, 40, 2, dtype=torch.float64)
    net = nw.DiagGate(2, 4, s0=0.1).double()
    with torch.no_grad():
        net.Us.weight.normal_()
    found = nw.envelope(net, x, [1, 3, 20], compat="reference")
    ours = nw.envelope(net, x, [1, 3, 20], kernel="gates")
    first = nw.envelope(net, x, [1, 3, 20], kernel="first-order")
    np.testing.assert_allclose(found["f_mean"], ours["f_mean"], rtol=1e-6)
    np.testing.assert_allclose(found["f_first_order"], first["f_mean"], rtol=1e-5)
    np.testing.assert_allclose(found["log_f_geometric"], ours["log_f_sequence"].mean("sequence"), rtol=1e-5)
    # A GRU has three products in its published envelope, so that it begins near 3 s.
    gru = nw.GRU(2, 4).double()
    (run,) = nw.read_network(gru).runs(x)
    (terms, _) = list(published.published_terms(run, 0))
    assert terms.reset is not None
    total = (terms.leak + terms.reset + terms.leak * terms.reset).mean()
    one = published.published_envelope(run._replace(inputs=x[:1], lengths=run.lengths[:1]), np.array([1]), 0)
    np.testing.assert_allclose(one.order0[0], total, rtol=1e-6)
    # An LSTM ends its windows in the readout of their last step.
    lstm = nw.LSTM(2, 4).double()
    (run,) = nw.read_network(lstm).runs(x)
    (terms, _) = list(published.published_terms(run, 0))
    assert terms.readout is not None
    windows = [np.prod(terms.leak[t : t + 3], 0) * terms.readout[t + 2] for t in range(38)]
    np.testing.assert_allclose(published.transport(terms, 3)[0], windows, rtol=1e-6)
    with pytest.raises(ParameterError, match="covers the cells of the published code"):
        nw.envelope(torch.nn.GRU(2, 4, batch_first=True), x.float(), [1], compat="reference")
