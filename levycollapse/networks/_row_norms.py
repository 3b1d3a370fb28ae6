"""Full Jacobian products, read unit by unit: the norm of a unit's row of d h_e / d state_{e - l}.

A row times a Jacobian is a row: windows are followed from their end back in time, each unit's row with its own scale,
so that nothing under- or overflows. Windows of a sequence do not overlap: they end every `longest` steps.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor

from .._checks import FloatArray
from ..errors import ParameterError
from ._layer import LayerRun, RecurrentLayer
from ._transport import BUDGET, IntArray, LagSums, blocks_of


def row_norm_sums(run: LayerRun, lags: IntArray, burn_in: int = 0, block: int | None = None) -> Iterator[LagSums]:
    """Statistics of the row norms of the windows of a layer; `totals` and `negative` are nan, for there are no factors.

    Every row of the statistics has whole windows of the longest lag, counted from its end; a last, shorter one has the
    lags that fit.
    """
    layer, longest = run.layer, int(lags[-1])
    offsets = np.concatenate([[0], np.cumsum(blocks_of(run.lengths.numpy(), burn_in, block))])
    for number, length in enumerate(run.lengths.tolist()):
        trajectory = _trajectory(run, number, length)
        stride = length - burn_in if block is None else block
        for row, start in enumerate(range(burn_in, length, stride)):
            stop = min(start + stride, length)
            ends = list(range(stop, start, -longest))
            log_windows, windows = np.zeros((layer.hidden_size, lags.size)), np.zeros(lags.size, dtype=np.int64)
            log_sums = np.full((layer.hidden_size, lags.size), -np.inf)
            for end in ends:
                for i, norms in _walk(layer, trajectory, start, end, lags):
                    log_windows[:, i] += norms
                    log_sums[:, i] = np.logaddexp(log_sums[:, i], norms)
                    windows[i] += 1
            absent = np.full((1, layer.hidden_size), np.nan)
            yield LagSums(
                np.array([offsets[number] + row]),
                np.array([stop - start]),
                windows[None],
                absent,
                np.zeros((1, layer.hidden_size)),
                absent,
                log_windows[None],
                log_sums[None],
            )


def _trajectory(run: LayerRun, number: int, length: int) -> tuple[Tensor, Tensor]:
    """Projections (T, K), and the states (T, S) before each step."""
    p = run.layer.project(run.inputs[number : number + 1, :length])[0]
    state = run.initial[number : number + 1]
    states = []
    for t in range(length):
        states.append(state)
        state = run.layer.step(p[t : t + 1], state)
    return p, torch.cat(states)


def _walk(
    layer: RecurrentLayer, trajectory: tuple[Tensor, Tensor], start: int, end: int, lags: IntArray
) -> Iterator[tuple[int, FloatArray]]:
    """Walk from `end` back to at most `start`; (index of lag, log of the row norms) on the way."""
    p, states = trajectory
    rows = torch.eye(layer.hidden_size, layer.state_size, dtype=torch.float64, device=layer.device)
    scale = torch.zeros(layer.hidden_size, dtype=torch.float64, device=layer.device)
    steps = min(int(lags[-1]), end - start)
    together = max(1, BUDGET // layer.state_size**2)
    wanted = {int(lag): i for i, lag in enumerate(lags)}
    for high in range(end, end - steps, -together):
        low = max(high - together, end - steps)
        jacobians = layer.jacobian(p[low:high], states[low:high])
        for t in range(high - 1, low - 1, -1):
            rows = rows @ jacobians[t - low]
            norm = torch.linalg.vector_norm(rows, dim=1)
            scale = scale + torch.log(norm)
            # A row of zeros stays one; its logarithm is -inf from here on.
            rows = rows / torch.where(norm > 0, norm, 1.0)[:, None]
            lag = end - t
            if lag in wanted:
                if torch.isnan(scale).any():
                    raise ParameterError(
                        f"the Jacobian of layer {layer.layer}, direction {layer.direction} is not finite: the weights "
                        "or the inputs hold numbers too large for their precision"
                    )
                yield wanted[lag], scale.cpu().numpy()
