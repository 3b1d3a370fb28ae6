"""Transport of networks against products of Jacobians that torch differentiates, and streaming against one piece."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
import torch
from torch.func import jacrev, vmap

import levycollapse.networks as nw
from levycollapse.networks import _transport
from levycollapse.networks._row_norms import row_norm_sums

H, D, T, B = 5, 3, 14, 3
LAGS = np.array([1, 2, 5, 13, 14])
MODULES = {
    "const": lambda: nw.ConstGate(D, H, s0=0.3),
    "const, LayerNorm": lambda: nw.ConstGate(D, H, s0=0.3, layernorm=True),
    "shared": lambda: nw.SharedGate(D, H, s0=0.3),
    "shared, LayerNorm": lambda: nw.SharedGate(D, H, s0=0.3, layernorm=True),
    "diag": lambda: nw.DiagGate(D, H, s0=0.3),
    "diag, LayerNorm": lambda: nw.DiagGate(D, H, s0=0.3, layernorm=True),
    "GRU": lambda: nw.GRU(D, H),
    "GRU, LayerNorm": lambda: nw.GRU(D, H, layernorm=True),
    "LSTM": lambda: nw.LSTM(D, H),
    "LSTM, LayerNorm": lambda: nw.LSTM(D, H, layernorm=True),
    "nn.RNN": lambda: torch.nn.RNN(D, H, batch_first=True),
    "nn.RNN relu": lambda: torch.nn.RNN(D, H, nonlinearity="relu", batch_first=True),
    "nn.GRU": lambda: torch.nn.GRU(D, H, batch_first=True),
    "nn.LSTM": lambda: torch.nn.LSTM(D, H, batch_first=True),
}


def network(name, seed=0):
    torch.manual_seed(seed)
    module = MODULES[name]().double()
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.add_(0.4 * torch.randn_like(parameter))
    return module


def inputs(seed=1, batch=B, steps=T):
    return torch.randn(batch, steps, D, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def autograd(module, x):
    """Full Jacobians (T, B, S, S) of every step by reverse-mode differentiation, and the states before."""
    (run,) = nw.read_network(module).runs(x)
    layer = run.layer
    single = vmap(jacrev(lambda state, p: layer.step(p[None], state[None])[0]))
    state, jacobians, states = run.initial, [], []
    for p in layer.project(run.inputs).unbind(1):
        jacobians.append(single(state, p).detach())
        states.append(state)
        state = layer.step(p, state).detach()
    return torch.stack(jacobians).numpy(), torch.stack([*states[1:], state]).numpy()


def exact_diagonal(module, x):
    """Diagonal (T, B, H); of an LSTM that of the cell path, which goes through h' = o' tanh(c') too."""
    jacobians, after = autograd(module, x)
    if jacobians.shape[2] == H:
        return np.einsum("tbii->tbi", jacobians)
    hidden, cell = after[..., :H], after[..., H:]
    readout = np.zeros_like(cell)
    # o = h / tanh(c), of the state before each step.
    readout[1:] = (hidden / np.tanh(cell) * (1 - np.tanh(cell) ** 2))[:-1]
    return np.einsum("tbii->tbi", jacobians[:, :, H:, H:]) + np.einsum("tbii->tbi", jacobians[:, :, H:, :H]) * readout


def dense(factors, lag):
    """Every window (T - lag + 1, B, H), factor by factor."""
    return np.array([np.prod(factors[s : s + lag], axis=0) for s in range(factors.shape[0] - lag + 1)])


@pytest.mark.parametrize("name", MODULES)
def test_diagonal_windows_are_products_of_autograd_jacobians(name):
    module, x = network(name), inputs()
    factors = exact_diagonal(module, x)
    found = nw.envelope(module, x, LAGS)
    rates = nw.timescales(module, x, lags=LAGS)
    for i, lag in enumerate(LAGS):
        windows = np.abs(dense(factors, lag))
        with np.errstate(divide="ignore"):
            typical = np.log(windows).mean((0, 1))
        np.testing.assert_allclose(np.exp(found["log_f_unit"][:, i]), windows.mean((0, 1)), rtol=1e-10, atol=1e-300)
        np.testing.assert_allclose(found["f_mean"][i], windows.mean(), rtol=1e-10)
        np.testing.assert_allclose(found["f_sum"][i], windows.sum(-1).mean(), rtol=1e-10)
        np.testing.assert_allclose(rates["log_typical"][:, i], typical, rtol=1e-10, atol=1e-11)
    with np.errstate(divide="ignore"):
        np.testing.assert_allclose(rates["mu"], -np.log(np.abs(factors)).mean((0, 1)), rtol=1e-10)
    np.testing.assert_array_equal(rates["negative"], (factors < 0).mean((0, 1)))


@pytest.mark.parametrize("name", MODULES)
def test_row_norms_are_those_of_autograd_products(name):
    module, x = network(name), inputs()
    jacobians, _ = autograd(module, x)
    found = nw.envelope(module, x, LAGS, kernel="jacobian")
    for i, lag in enumerate(LAGS):
        norms = []
        for b in range(B):
            product = np.eye(jacobians.shape[2])
            for t in range(T - 1, T - 1 - lag, -1):
                product = product @ jacobians[t, b]
            norms.append(np.linalg.norm(product[:H], axis=1))
        np.testing.assert_allclose(np.exp(found["log_f_unit"][:, i]), np.mean(norms, 0), rtol=1e-10)


@pytest.mark.parametrize("name", ["diag", "GRU, LayerNorm", "LSTM", "nn.GRU", "nn.RNN"])
def test_first_order_is_the_derivative_in_the_corrections(name):
    # prod(c + e k) = prod c + e * (first order) + ...: differentiated by torch, window by window.
    module, x = network(name), inputs()
    (run,) = nw.read_network(module).runs(x)
    (piece,) = list(_transport.pieces(run, "first-order", T))
    carry, correction = (torch.from_numpy(term.copy()) for term in piece.terms)
    found = nw.envelope(module, x, LAGS, kernel="first-order")
    for i, lag in enumerate(LAGS):
        total = []
        for s in range(T - lag + 1):
            part, more = carry[s : s + lag], correction[s : s + lag]
            share = torch.zeros(B, H, dtype=torch.float64, requires_grad=True)
            value = (part + share * more).prod(0)
            (slope,) = torch.autograd.grad(value.sum(), share)
            total.append((value + slope).abs().detach())
        np.testing.assert_allclose(np.exp(found["log_f_unit"][:, i]), torch.stack(total).mean((0, 1)), rtol=1e-10)


def test_the_gates_alone():
    module, x = network("diag"), inputs()
    (run,) = nw.read_network(module).runs(x)
    (piece,) = list(_transport.pieces(run, "gates", T))
    found = nw.envelope(module, x, LAGS, kernel="gates")
    expected = [dense(piece.terms[0], lag).mean((0, 1)) for lag in LAGS]
    np.testing.assert_allclose(np.exp(found["log_f_unit"]).T, expected, rtol=1e-12)


@pytest.mark.parametrize("kernel", ["gates", "diagonal", "first-order"])
@pytest.mark.parametrize("budget", [1, 60, 400])
def test_pieces_say_what_the_whole_does(monkeypatch, kernel, budget):
    module, x = network("diag"), inputs(batch=4, steps=50)
    lengths, lags = [50, 17, 33, 9], [1, 3, 8]
    whole = nw.timescales(module, x, kernel=kernel, lags=lags, lengths=lengths, burn_in=4)
    whole_f = nw.envelope(module, x, lags, kernel=kernel, lengths=lengths, burn_in=4)
    monkeypatch.setattr(_transport, "BUDGET", budget)
    parts = list(_transport.pieces(next(nw.read_network(module).runs(x, lengths)), kernel, 8, 4))
    assert len(parts) > 1
    found = nw.timescales(module, x, kernel=kernel, lags=lags, lengths=lengths, burn_in=4)
    found_f = nw.envelope(module, x, lags, kernel=kernel, lengths=lengths, burn_in=4)
    for name in ("mu", "mu_error", "log_typical", "log_mean", "negative"):
        np.testing.assert_allclose(found[name], whole[name], rtol=1e-11, atol=1e-15, err_msg=name)
    for name in ("log_f_mean", "log_f_error", "log_f_sequence", "log_typical", "log_f_unit"):
        np.testing.assert_allclose(found_f[name], whole_f[name], rtol=1e-11, atol=1e-15, err_msg=name)


@pytest.mark.parametrize("kernel", ["gates", "diagonal", "first-order", "jacobian"])
def test_padding_and_burn_in_do_not_count(kernel):
    module, x = network("GRU"), inputs(batch=3, steps=20)
    lengths = [20, 11, 6]
    padded = x.clone()
    for b, length in enumerate(lengths):
        padded[b, length:] = 1e3
    # Windows of row norms end every longest lag, so that all sequences need room for it.
    lags = [1, 2, 3] if kernel == "jacobian" else [1, 2, 6]
    together = nw.envelope(module, padded, lags, kernel=kernel, lengths=lengths, burn_in=3)
    rates = nw.timescales(module, padded, kernel=kernel, lags=lags, lengths=lengths, burn_in=3)
    assert rates.attrs["steps"] == sum(lengths) - 9
    typical, counts = 0.0, 0
    for b, length in enumerate(lengths):
        fitting = [lag for lag in lags if lag <= length - 3]
        alone = nw.envelope(module, x[b : b + 1, :length], fitting, kernel=kernel, burn_in=3)
        np.testing.assert_allclose(together["log_f_sequence"][b, : len(fitting)], alone["log_f_mean"], rtol=1e-10)
        assert np.isnan(together["log_f_sequence"][b, len(fitting) :]).all()
        windows = -(-(length - 3) // 3) if kernel == "jacobian" else length - 3
        typical += windows * float(alone["log_typical"][0])
        counts += windows
    np.testing.assert_allclose(together["log_typical"][0], typical / counts, rtol=1e-10)
    np.testing.assert_allclose(rates["log_typical"][:, 0].mean(), typical / counts, rtol=1e-10)


def test_the_backward_direction_is_read_backwards():
    torch.manual_seed(3)
    both = torch.nn.GRU(D, H, bidirectional=True, batch_first=True, dtype=torch.float64)
    alone = torch.nn.GRU(D, H, batch_first=True, dtype=torch.float64)
    for name in ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0"):
        getattr(alone, name).data = getattr(both, name + "_reverse").data
    x, lengths = inputs(steps=12), [12, 7, 9]
    backwards = torch.zeros_like(x)
    for b, length in enumerate(lengths):
        backwards[b, :length] = x[b, :length].flip(0)
    found = nw.timescales(both, x, lengths=lengths, direction=1, burn_in=2)
    np.testing.assert_allclose(
        found["mu"], nw.timescales(alone, backwards, lengths=lengths, burn_in=2)["mu"], rtol=1e-12
    )
    every = nw.timescales(both, x, lengths=lengths, burn_in=2)
    assert every["direction"].values.tolist() == [0] * H + [1] * H
    np.testing.assert_array_equal(every["mu"][H:], found["mu"])


def test_blocks_are_sequences_that_go_on():
    module, x = network("nn.LSTM"), inputs(batch=2, steps=23)
    found = nw.envelope(module, x, [1, 4], block=10, lengths=[23, 20])
    factors = exact_diagonal(module, x)
    assert found.sizes["sequence"] == 5
    rows = [factors[:10, 0], factors[10:20, 0], factors[20:23, 0], factors[:10, 1], factors[10:20, 1]]
    for row, part in enumerate(rows):
        np.testing.assert_allclose(found["log_f_sequence"][row, 0], np.log(np.abs(part).mean()), rtol=1e-10)
    assert np.isnan(found["log_f_sequence"][2, 1])
    rates = nw.timescales(module, x, block=10, lengths=[23, 20])
    mean = np.concatenate([factors[:, 0], factors[:20, 1]])
    np.testing.assert_allclose(rates["mu"], -np.log(np.abs(mean)).mean(0), rtol=1e-10)


def series(carry, correction, kernel, lags):
    """Statistics of the kernels for terms that are given, (time, sequence, unit)."""
    terms = [carry + correction] if kernel == "diagonal" else [carry] if kernel == "gates" else [carry, correction]
    rows = np.arange(carry.shape[1])
    stops = np.full(carry.shape[1], carry.shape[0])
    return _transport.piece_sums(_transport.Piece(rows, [np.ascontiguousarray(t) for t in terms], 0, stops), lags)


def windows_of(carry, correction, lag, kernel):
    """Every window of one lag, one by one: log|window| and its sign, (time - lag + 1, ...), of terms (time, ...)."""
    factors = carry + correction if kernel == "diagonal" else carry
    parts = np.lib.stride_tricks.sliding_window_view(factors, lag, axis=0)
    with np.errstate(divide="ignore"):
        if kernel != "first-order":
            return np.log(np.abs(parts)).sum(-1), np.prod(np.sign(parts), -1)
        # A' = A c and C' = C c + A correction, from A = 1 and C = 0, brought back to size 1 after every step.
        more = np.lib.stride_tricks.sliding_window_view(correction, lag, axis=0)
        product, rest, scale = np.ones(parts.shape[:-1]), np.zeros(parts.shape[:-1]), np.zeros(parts.shape[:-1])
        for j in range(lag):
            rest = rest * parts[..., j] + product * more[..., j]
            product = product * parts[..., j]
            size = np.maximum(np.abs(product), np.abs(rest))
            size[size == 0.0] = 1.0
            product, rest, scale = product / size, rest / size, scale + np.log(size)
        return scale + np.log(np.abs(product + rest)), np.sign(product + rest)


@pytest.mark.parametrize("kernel", ["gates", "diagonal", "first-order"])
def test_series_beyond_the_range_of_doubles(kernel):
    rng = np.random.default_rng(5)
    n, lags = 300, np.array([1, 7, 100, 299])
    carry = np.exp(-rng.exponential(8.0, (n, 2, 9)))
    carry[:150, :, 0] = 1e-12
    carry[:, :, 1] = np.exp(rng.standard_normal((n, 2)))
    carry[:100, :, 2], carry[100:, :, 2] = 1e9, 1e-9
    correction = carry * rng.standard_normal((n, 2, 9))
    found = series(carry, correction, kernel, lags)
    for i, lag in enumerate(lags):
        logs, _ = windows_of(carry, correction, int(lag), kernel)
        np.testing.assert_allclose(found.log_windows[..., i], logs.sum(0), rtol=1e-9)
        np.testing.assert_allclose(found.log_sums[..., i], np.logaddexp.reduce(logs, 0), rtol=1e-11, atol=1e-9)
    assert found.log_sums.min() < -800


def test_exact_zeros_and_signs():
    rng = np.random.default_rng(6)
    carry = rng.uniform(-1, 1, (40, 1, 4))
    correction = rng.uniform(-0.5, 0.5, (40, 1, 4))
    carry[[3, 4, 20], 0, 0] = 0.0
    correction[4, 0, 0] = 0.0
    carry[:, 0, 1] = 0.0
    correction[7, 0, 2] = -carry[7, 0, 2]
    lags = np.array([1, 2, 5, 40])
    for kernel in ("gates", "diagonal", "first-order"):
        found = series(carry, correction, kernel, lags)
        for i, lag in enumerate(lags):
            logs, signs = windows_of(carry, correction, int(lag), kernel)
            with np.errstate(divide="ignore"):
                total = np.log(np.exp(logs).sum(0))
            np.testing.assert_allclose(found.log_sums[..., i], total, rtol=1e-11, atol=1e-11, err_msg=f"{kernel} {lag}")
            if kernel == "first-order":
                np.testing.assert_allclose(found.log_windows[..., i], logs.sum(0), rtol=1e-10)
            if kernel == "diagonal":
                factors = carry + correction
                expected = [np.prod(factors[s : s + lag], 0) for s in range(41 - lag)]
                np.testing.assert_allclose(signs * np.exp(logs), expected, rtol=1e-11)
        if kernel != "first-order":
            factors = carry if kernel == "gates" else carry + correction
            np.testing.assert_array_equal(found.zeros, (factors == 0).sum(0))
            for i, lag in enumerate(lags):
                logs, _ = windows_of(carry, correction, int(lag), kernel)
                np.testing.assert_allclose(found.log_windows[..., i], logs.sum(0), rtol=1e-10)
            np.testing.assert_array_equal(found.negative, (factors < 0).sum(0))


@pytest.mark.parametrize("budget", [1, 1 << 23])
def test_a_zero_is_in_the_windows_that_reach_it_only(monkeypatch, budget):
    # The short sequence has a zero, so that the long lag knows nothing of it; without gates, one step is all there is.
    monkeypatch.setattr(_transport, "BUDGET", budget)
    net = torch.nn.RNN(1, 1, nonlinearity="relu", batch_first=True, bias=False)
    with torch.no_grad():
        net.weight_ih_l0.fill_(1.0)
        net.weight_hh_l0.fill_(0.5)
    x = torch.ones(2, 12, 1)
    x[1, 2] = -9.0
    found = nw.timescales(net, x, lengths=[12, 5], lags=[1, 3, 8])
    np.testing.assert_allclose(found["log_typical"][0], [-np.inf, -np.inf, 8 * np.log(0.5)], rtol=1e-6)
    np.testing.assert_allclose(np.exp(found["log_mean"][0]), [0.5 * 16 / 17, 0.125 * 10 / 13, 2.0**-8], rtol=1e-6)
    assert np.isposinf(found["mu"][0])
    first = nw.timescales(net, torch.ones(2, 12, 1), kernel="first-order", lags=[1, 2])
    np.testing.assert_allclose(first["log_typical"][0], [np.log(0.5), -np.inf], rtol=1e-6)
    assert np.isposinf(first["mu"][0])


def test_tiny_carries_under_the_expansion():
    # Ratios of 1e200: a window after such a carry must not know of it.
    rng = np.random.default_rng(7)
    carry, correction = rng.uniform(0.5, 0.9, (30, 1, 1)), rng.uniform(-0.1, 0.1, (30, 1, 1))
    carry[5], correction[5] = 1e-200, 0.3
    found = series(carry, correction, "first-order", np.array([4]))
    logs, _ = windows_of(carry, correction, 4, "first-order")
    np.testing.assert_allclose(found.log_windows[0, 0, 0], logs.sum(), rtol=1e-12)


@pytest.mark.full
def test_memory_of_a_large_network():
    script = """
import resource, torch
import levycollapse.networks as nw
torch.manual_seed(0)
net, x = nw.DiagGate(16, 512), torch.randn(32, 1024, 16)
nw.timescales(net, x)
nw.envelope(net, x, list(range(3, 387, 3)))
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""
    done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    # Kilobytes; asked is 1.5 GB, of which torch itself takes 0.4.
    assert int(done.stdout) < 1.0e6


def test_jacobian_rows_of_a_network_that_forgets_everything():
    layer = nw.from_step(lambda x, h: 0.0 * h + x, 2)
    (run,) = nw.read_network(layer).runs(torch.zeros(1, 6, 2))
    (sums,) = row_norm_sums(run, np.array([1, 3]))
    assert np.isneginf(sums.log_windows).all()
    found = nw.timescales(layer, torch.zeros(2, 6, 2), kernel="jacobian")
    assert np.isposinf(found["mu"]).all() and (found["tau"] == 0).all()
    assert (found["status"] == nw.UnitStatus.BELOW_STEP).all()
