"""Lyapunov spectra against eigenvalues, against high precision, and the phases of a network."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
import torch

import levycollapse.networks as nw
from levycollapse.errors import ParameterError


def linear(matrix):
    weights = torch.as_tensor(matrix, dtype=torch.float64)
    return nw.from_step(lambda x, h: h @ weights.T + x[:, :1], len(matrix), dtype=torch.float64)


def test_constant_matrix_has_its_eigenvalues():
    rng = np.random.default_rng(0)
    basis = rng.standard_normal((5, 5))
    values = np.array([1.3, 0.9, -0.5, 0.2, 1e-3])
    matrix = basis @ np.diag(values) @ np.linalg.inv(basis)
    found = nw.lyapunov_spectrum(linear(matrix), torch.zeros(2, 100, 1, dtype=torch.float64), warmup=60)
    np.testing.assert_allclose(found["exponent"], np.log(np.abs(values)), atol=1e-8)
    np.testing.assert_allclose(found["error"], 0, atol=1e-12)


def test_complex_pair_has_its_modulus():
    angle, modulus = 0.7, 0.8
    matrix = modulus * np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    found = nw.lyapunov_spectrum(linear(matrix), torch.zeros(1, 50, 1, dtype=torch.float64))
    np.testing.assert_allclose(found["exponent"], np.log(0.8), rtol=1e-12)
    assert np.isnan(found["error"]).all()


@pytest.mark.parametrize("make", [nw.GRU, nw.LSTM, torch.nn.LSTM])
def test_against_many_digits(make):
    """The same products in mpmath: the volume that the first k columns of J_T ... J_1 Q span."""
    torch.manual_seed(5)
    module = (make(2, 3, batch_first=True) if make is torch.nn.LSTM else make(2, 3)).double()
    x = torch.randn(1, 25, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    found = nw.lyapunov_spectrum(module, x, warmup=0, rng=3)
    (run,) = nw.read_network(module).runs(x)
    size = run.layer.state_size
    start = np.linalg.qr(np.random.default_rng(3).standard_normal((size, size)))[0]
    with mpmath.workdps(300), torch.no_grad():
        product, state = mpmath.matrix(start.tolist()), run.initial
        for p in run.layer.project(run.inputs).unbind(1):
            product = mpmath.matrix(run.layer.jacobian(p, state)[0].tolist()) * product
            state = run.layer.step(p, state)
        volumes = [mpmath.mpf(0)]
        for k in range(1, size + 1):
            part = product[:, :k]
            volumes.append(mpmath.log(mpmath.det(part.T * part)) / 2)
        expected = [float((volumes[k + 1] - volumes[k]) / 25) for k in range(size)]
    np.testing.assert_allclose(found["exponent"], sorted(expected, reverse=True), rtol=1e-9)


def test_the_largest_few_are_the_first_of_all():
    torch.manual_seed(0)
    net, x = nw.DiagGate(2, 6, s0=0.3).double(), torch.randn(3, 60, 2, dtype=torch.float64)
    every = nw.lyapunov_spectrum(net, x, lengths=[60, 40, 50], burn_in=3)
    few = nw.lyapunov_spectrum(net, x, lengths=[60, 40, 50], burn_in=3, count=2)
    assert few.sizes["mode"] == 2 and (np.diff(every["exponent"]) <= 0).all()
    np.testing.assert_allclose(few["exponent"], every["exponent"][:2], atol=0.02)
    # The sum of all exponents is the mean of log|det J|, whatever the frame.
    (run,) = nw.read_network(net).runs(x, [60, 40, 50])
    with torch.no_grad():
        total, steps = 0.0, 0
        for b, length in enumerate([60, 40, 50]):
            state = run.initial[b : b + 1]
            for t, p in enumerate(run.layer.project(run.inputs[b : b + 1, :length]).unbind(1)):
                if t >= 3 + 5:
                    total += float(torch.linalg.slogdet(run.layer.jacobian(p, state)[0])[1])
                    steps += 1
                state = run.layer.step(p, state)
    assert every["steps"].sum() == steps
    np.testing.assert_allclose(every["exponent"].sum(), total / steps, rtol=1e-10)


def test_error_over_sequences():
    torch.manual_seed(1)
    net, x = nw.GRU(2, 3), torch.randn(8, 60, 2)
    found = nw.lyapunov_spectrum(net, x)
    spread = found["exponent_sequence"].std("sequence", ddof=1) / np.sqrt(8)
    np.testing.assert_allclose(found["error"], spread, rtol=1e-10)


def test_sign_of_the_first_exponent_tells_vanishing_from_exploding():
    torch.manual_seed(2)
    x = torch.randn(4, 150, 2)
    for gain, sign in ((0.5, -1), (4.0, 1)):
        net = torch.nn.RNN(2, 24, batch_first=True)
        with torch.no_grad():
            net.weight_hh_l0.normal_(0, gain / np.sqrt(24))
            net.weight_ih_l0.mul_(0.1)
        found = nw.lyapunov_spectrum(net, x, count=1)
        assert sign * float(found["exponent"][0]) > 3 * float(found["error"][0])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"count": 4}, "count=4 must be at most the size of the state, 3"),
        ({"count": 0}, "count=0 must be an integer >= 1"),
        ({"warmup": 20}, "warmup=20 must be less than"),
        ({"burn_in": 25}, "burn_in=25 must be less than"),
        ({"layer": 1}, "no layer=1"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(ParameterError, match=message):
        nw.lyapunov_spectrum(nw.DiagGate(2, 3), torch.zeros(2, 20, 2), **options)
