"""What the published code (arXiv:2606.29519) computes, faults included, to be compared with what this package does.

Windows of the carries and of their first-order expansion in single precision, a floor of 1e-30 under logarithms, least
squares over long lags. LayerNorm is left out of the corrections, a GRU adds three products, an LSTM ends each product
in its readout.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from .._checks import FloatArray
from ..errors import ParameterError
from ._dense import LSTMLayer
from ._gated import LeakyLayer, ResetBeforeGRULayer
from ._layer import LayerRun, LocalTerms
from ._transport import IntArray

#: Carries are clamped to [LEAST, 1], and logarithms of transport to those of at least FLOOR.
LEAST, FLOOR = 1e-12, 1e-30

Single = NDArray[np.float32]


class Terms(NamedTuple):
    """Published local terms of one sequence, (time, H) each; `readout` of an LSTM, `reset` of a GRU."""

    leak: FloatArray
    correction: FloatArray
    readout: FloatArray | None = None
    reset: FloatArray | None = None


def first_order(leak: FloatArray, correction: FloatArray, lag: int, matched: bool = False) -> tuple[Single, Single]:
    """Zero- and first-order part of every window of a lag, over the first axis; `matched` leaves the first one out."""
    carry = np.clip(leak, LEAST, 1.0)
    if lag == 1 and not matched:
        return leak.astype(np.float32), correction.astype(np.float32)
    zero = np.zeros((1, *leak.shape[1:]))
    logs = np.concatenate([zero, np.cumsum(np.log(carry), 0)])
    ratios = np.concatenate([zero, np.cumsum(correction / carry, 0)])
    start = 1 if matched else 0
    order0 = np.exp(logs[lag + start :] - logs[start : logs.shape[0] - lag])
    order1 = order0 * (ratios[lag + start :] - ratios[start : ratios.shape[0] - lag])
    return order0.astype(np.float32), order1.astype(np.float32)


def transport(terms: Terms, lag: int) -> tuple[Single, Single]:
    """Published transport of every window of a lag: its zero- and first-order part."""
    order0, order1 = first_order(terms.leak, terms.correction, lag)
    if terms.reset is not None:
        reset, none = np.clip(terms.reset, LEAST, 1.0), np.zeros_like(terms.leak)
        both = np.clip(terms.leak * terms.reset, LEAST, 1.0)
        order0 = order0 + first_order(reset, none, lag)[0] + first_order(both, none, lag)[0]
    if terms.readout is not None:
        ends = terms.readout[lag - 1 :].astype(np.float32)
        order0, order1 = order0 * ends, order1 * ends
    return order0, order1


class PublishedRates(NamedTuple):
    """Published time scales of one layer (nan where rejected), R2 of their fits, and E log|window| over the lags."""

    layer: int
    direction: int
    tau: FloatArray
    r2: FloatArray
    typical: FloatArray
    lags: IntArray


def published_rates(run: LayerRun, lags: IntArray, burn_in: int) -> PublishedRates:
    """Published time scales of a layer."""
    typical = np.zeros((run.layer.hidden_size, lags.size))
    counted = np.zeros(lags.size)
    for terms in published_terms(run, burn_in):
        for i, lag in enumerate(lags[lags <= terms.leak.shape[0]]):
            order0, order1 = transport(terms, int(lag))
            logs = np.log(np.maximum(np.abs(order0 + order1), np.float32(FLOOR)))
            typical[:, i] += logs.astype(np.float64).mean(0)
            counted[i] += 1
    typical /= counted
    tau, r2 = fitted(typical, lags)
    return PublishedRates(run.layer.layer, run.layer.direction, tau, r2, typical, lags)


def fitted(typical: FloatArray, lags: IntArray) -> tuple[FloatArray, FloatArray]:
    """Published fit: tau = -1/slope, nan where the slope is not negative, and R2."""
    powers = np.stack([np.ones(lags.size), lags.astype(np.float64)], -1)
    coefficients = np.linalg.lstsq(powers, typical.T)[0]
    rest = ((typical.T - powers @ coefficients) ** 2).sum(0)
    spread = ((typical - typical.mean(-1, keepdims=True)) ** 2).sum(-1)
    slope = coefficients[1]
    with np.errstate(divide="ignore"):
        return np.where(slope < 0, -1.0 / slope, np.nan), 1.0 - rest / (spread + 1e-12)


class PublishedEnvelope(NamedTuple):
    """Sums over the sequences of one layer, (L,) each, of the mean over windows and units of what is named.

    `logs` is the logarithm of `order0`.
    """

    order0: FloatArray
    both: FloatArray
    order1: FloatArray
    logs: FloatArray
    sequences: FloatArray
    units: int


def published_envelope(run: LayerRun, lags: IntArray, burn_in: int) -> PublishedEnvelope:
    """Published envelope of a layer: windows of the carries, and of their first-order expansion."""
    sums = np.zeros((5, lags.size))
    for terms in published_terms(run, burn_in):
        for i, lag in enumerate(lags[lags <= terms.leak.shape[0]]):
            order0, order1 = transport(terms, int(lag))
            mass = np.abs(order0).astype(np.float64).mean()
            both = np.abs(order0 + order1).astype(np.float64).mean()
            sums[:, i] += mass, both, np.abs(order1).astype(np.float64).mean(), np.log(max(mass, FLOOR)), 1.0
    return PublishedEnvelope(sums[0], sums[1], sums[2], sums[3], sums[4], run.layer.hidden_size)


def published_terms(run: LayerRun, burn_in: int) -> Iterator[Terms]:
    """Published local terms of one sequence after another."""
    layer = run.layer
    for number, length in enumerate(run.lengths.tolist()):
        part = slice(number, number + 1)
        state, previous = run.initial[part], None
        steps: list[list[Tensor | None]] = []
        for p in layer.project(run.inputs[part, :length]).unbind(1):
            steps.append(_step_terms(layer, p, state, previous))
            state, previous = layer.advance(p, state, previous)
        leak, correction, readout, reset = (_stacked(column) for column in zip(*steps[burn_in:], strict=True))
        assert leak is not None and correction is not None
        yield Terms(leak, correction, readout, reset)


def _stacked(column: tuple[Tensor | None, ...]) -> FloatArray | None:
    parts = [part for part in column if part is not None]
    return torch.cat(parts).numpy(force=True) if parts else None


def _step_terms(layer: object, p: Tensor, state: Tensor, previous: LocalTerms | None) -> list[Tensor | None]:
    if isinstance(layer, LeakyLayer):
        carry, by_candidate, by_gate, _ = layer._slopes(layer._preactivations(p, state), state)
        correction = by_candidate * layer.diagonals[0]
        return [carry, correction if by_gate is None else correction + by_gate * layer.diagonals[1], None, None]
    if isinstance(layer, ResetBeforeGRULayer):
        carry, by_z, by_g, r, v, _ = layer._slopes(*layer._parts(p, state), state)
        u_z, u_r, u_g = layer.diagonals
        return [carry, by_z * u_z + by_g * u_g * (r + v * u_r), None, r]
    if isinstance(layer, LSTMLayer):
        terms = layer.local(p, state, previous)
        if layer.norm is None:
            return [terms.carry, terms.correction, terms.readout, None]
    raise ParameterError(
        f'compat="reference" covers the cells of the published code (const, shared, diag, GRU, LSTM), not '
        f"{type(layer).__name__} or an LSTM with LayerNorm"
    )


def rayleigh_quotient(matrix: FloatArray, states: FloatArray, fallback: FloatArray) -> FloatArray:
    """Published projected rate of each unit: sum_j v_j^2 matrix_qj / sum_j v_j^2, (..., H) from states (..., H).

    `fallback` (H,) stands where the state is 0, as before the first step.
    """
    squares = np.square(states)
    total = squares.sum(-1, keepdims=True)
    return np.where(total < FLOOR, fallback, squares @ matrix.T / (total + FLOOR))
