"""Spectrum and envelope of a DiagGate beside windows formed lag by lag in torch, on the same network and lags.

Run `python benchmarks/transport.py`. H = 512, T = 1024, B = 32, 128 lags of 4..384. It prints processor times of

* the measurements as a whole, `timescales` and `envelope`, each of which runs the network, and the peak memory of a
  process that does nothing else (torch's own share beside it);
* the windows alone, from local terms that are there already: ours, and torch's from prefix sums of logarithms, one
  (B, T - l + 1, H) array a lag; the ratio; the largest relative difference.

One thread.
"""

import resource
import subprocess
import sys
import time

import numpy as np
import torch

import levycollapse.networks as nw
from levycollapse.networks import _transport

B, T, H, D = 32, 1024, 512, 16
LAGS = np.unique(np.linspace(4, 384, 128).astype(np.int64))


def network():
    torch.manual_seed(0)
    net = nw.DiagGate(D, H, orthogonal=True)
    with torch.no_grad():
        net.Ws.weight.normal_(0, 0.3)
        net.Us.weight.normal_(0, 0.3 / H**0.5)
        net.Ws.bias.normal_(-3, 1.5)
    return net, torch.randn(B, T, D)


def seconds(function, repeats=1):
    best = float("inf")
    for _ in range(repeats):
        start = time.process_time()
        function()
        best = min(best, time.process_time() - start)
    return best


def peak_mib():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def lag_by_lag(factors):
    """Envelope and E log|window| from (B, T, H): a window array for every lag."""
    logs = torch.zeros(factors.shape[0], factors.shape[1] + 1, factors.shape[2], dtype=torch.float64)
    torch.cumsum(factors.abs().log(), 1, out=logs[:, 1:])
    f, typical = [], []
    for lag in LAGS.tolist():
        windows = logs[:, lag:] - logs[:, :-lag]
        typical.append(windows.mean((0, 1)))
        f.append(windows.exp_().mean((0, 1)))
    return torch.stack(f, 1), torch.stack(typical, 1)


def ours(term):
    rows, stops = np.arange(B), np.full(B, T)
    log_f, typical = np.full((H, LAGS.size), -np.inf), np.zeros((H, LAGS.size))
    for begin in range(0, B, 16):
        part = slice(begin, begin + 16)
        piece = _transport.Piece(rows[part], [term[:, part]], 0, stops[part])
        sums = _transport.piece_sums(piece, LAGS)
        log_f = np.logaddexp(log_f, np.logaddexp.reduce(sums.log_sums, 0))
        typical += sums.log_windows.sum(0)
    windows = B * (T + 1 - LAGS)
    return np.exp(log_f) / windows, typical / windows


def measurements():
    net, x = network()
    nw.envelope(net, x[:1, :400], LAGS)
    before = peak_mib()
    spectrum = seconds(lambda: nw.timescales(net, x))
    envelope = seconds(lambda: nw.envelope(net, x, LAGS))
    print(
        f"timescales {spectrum:.2f} s, envelope {envelope:.2f} s; peak {peak_mib():.0f} MiB, {before:.0f} of it before"
    )


def windows():
    net, x = network()
    (run,) = nw.read_network(net).runs(x)
    with torch.no_grad():
        forward = seconds(lambda: run.layer.states(run.inputs))
        term = np.concatenate([p.terms[0].copy() for p in _transport.pieces(run, "diagonal", 384)], 1)
    factors = torch.from_numpy(term).transpose(0, 1).contiguous()
    a, b = seconds(lambda: ours(term), 3), seconds(lambda: lag_by_lag(factors), 2)
    (f, typical), (f_torch, typical_torch) = ours(term), lag_by_lag(factors)
    error = max(np.abs(f / f_torch.numpy() - 1).max(), np.abs(typical / typical_torch.numpy() - 1).max())
    print(f"windows alone: {a:.2f} s, torch {b:.2f} s, ratio {b / a:.1f}; difference {error:.1e}")
    print(f"forward pass alone {forward:.2f} s")


if __name__ == "__main__":
    torch.set_num_threads(1)
    if len(sys.argv) > 1:
        measurements()
    else:
        subprocess.run([sys.executable, __file__, "measurements"], check=True)
        windows()
