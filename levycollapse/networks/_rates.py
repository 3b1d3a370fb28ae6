"""Decay rates of the units of one layer, with standard errors: from sums over windows to mu (THEORY 1)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._checks import FloatArray
from ._bootstrap import resampled, standard_error
from ._transport import IntArray, LagSums


class Rates(NamedTuple):
    """What is known of the units of one layer, for each group of rows.

    Attributes
    ----------
    mu, error : FloatArray
        (G, H): decay rate a step, inf where the transport is exactly 0; its standard error, nan for a single row.
    rows, steps : IntArray
        (G,): rows, and the steps in them.
    negative : FloatArray
        (G, H): share of steps whose factor is negative; nan where the kernel has no factors.
    typical, mean : FloatArray
        (G, H, L): E log|window|, and log E|window|.
    """

    mu: FloatArray
    error: FloatArray
    rows: IntArray
    steps: IntArray
    negative: FloatArray
    typical: FloatArray
    mean: FloatArray


def design(groups: IntArray, count: int, resamples: int, generator: np.random.Generator) -> list[FloatArray]:
    """Weights of the rows for each group: the group itself, then resamples of its rows; (1 + resamples, rows) each."""
    weights = []
    for group in range(count):
        members = np.flatnonzero(groups == group)
        part = np.zeros((1 + resamples, groups.size))
        part[0, members] = 1.0
        part[1:, members] = resampled(members.size, resamples, generator)
        weights.append(part)
    return weights


def estimate(
    sums: Iterable[LagSums], hidden: int, lags: IntArray, weights: list[FloatArray], slope: bool, with_sums: bool = True
) -> Rates:
    """Collect the sums of a layer and estimate the rate of each unit, from the mean of log|factor| or from the slope.

    The slope is that of E log|window| against the lag, by least squares with equal weights.
    """
    rows, groups = weights[0].shape[1], len(weights)
    every = np.concatenate(weights) if slope else np.stack([part[0] for part in weights])
    totals, steps = np.zeros((rows, hidden)), np.zeros(rows)
    zeros, negative = np.zeros((groups, hidden)), np.zeros((groups, hidden))
    first = np.stack([part[0] for part in weights])
    logs, windows = np.zeros((every.shape[0], hidden, lags.size)), np.zeros((every.shape[0], lags.size))
    gone = np.zeros((groups, hidden, lags.size))
    counted = np.zeros((groups, lags.size))
    log_sums = np.full((groups, hidden, lags.size), -np.inf)
    for part in sums:
        totals[part.rows] += part.totals
        steps[part.rows] += part.steps
        zeros += first[:, part.rows] @ part.zeros
        negative += first[:, part.rows] @ part.negative
        nothing = np.isneginf(part.log_windows)
        finite = np.where(nothing, 0.0, part.log_windows)
        logs += np.tensordot(every[:, part.rows], finite, 1)
        windows += every[:, part.rows] @ part.windows
        counted += first[:, part.rows] @ part.windows
        gone += np.tensordot(first[:, part.rows], nothing, 1)
        if with_sums:
            for group in range(groups):
                mine = part.log_sums[first[group, part.rows] > 0]
                log_sums[group] = np.logaddexp(log_sums[group], np.logaddexp.reduce(mine, axis=0, initial=-np.inf))
    size = every.shape[0] // groups
    vanish = gone > 0
    with np.errstate(divide="ignore", invalid="ignore"):
        all_typical = logs / windows[:, None, :]
        typical = np.where(vanish, -np.inf, all_typical[::size])
        mean = log_sums - np.log(counted)[:, None, :]
    count = np.array([int((part[0] > 0).sum()) for part in weights])
    mu, error = np.empty((groups, hidden)), np.empty((groups, hidden))
    for group, share in enumerate(weights):
        if slope:
            chosen = slice(group * size, (group + 1) * size)
            values = -slopes(all_typical[chosen], lags, windows[chosen] > 0)
        else:
            values = -(share @ totals) / (share @ steps)[:, None]
        mu[group], error[group] = values[0], standard_error(values[1:], int(count[group]))
    infinite = vanish.any(-1) if slope else zeros > 0
    mu[infinite], error[infinite] = np.inf, np.nan
    in_group = first @ steps
    return Rates(mu, error, count, in_group.astype(np.int64), negative / in_group[:, None], typical, mean)


def slopes(values: FloatArray, lags: IntArray, present: NDArray[np.bool_]) -> FloatArray:
    """Least-squares slope over the lags present; `values` (M, H, L), `present` (M, L); nan where fewer than two are."""
    with np.errstate(invalid="ignore", divide="ignore"):
        centred = lags - (present @ lags / present.sum(-1))[:, None]
        centred = np.where(present, centred, 0.0)
        shares = centred / (centred**2).sum(-1, keepdims=True)
    return np.asarray(np.einsum("mhl,ml->mh", np.where(present[:, None, :], values, 0.0), shares))


def straightness(values: FloatArray, lags: IntArray) -> tuple[FloatArray, FloatArray]:
    """How well lines fit `values` (H, L): R2, and how much the slope changes over the lags, relative to the line's.

    nan for units that are not finite at every lag, and where there are fewer than three lags.
    """
    r2, curvature = np.full(values.shape[0], np.nan), np.full(values.shape[0], np.nan)
    good = np.isfinite(values).all(-1)
    if lags.size < 3 or not good.any():
        return r2, curvature
    t = 2.0 * (lags - lags[0]) / (lags[-1] - lags[0]) - 1.0
    powers = np.stack([np.ones_like(t), t, t**2], -1)
    chosen = values[good].T
    spread = ((chosen - chosen.mean(0)) ** 2).sum(0)
    line = np.linalg.lstsq(powers[:, :2], chosen)[0]
    bent = np.linalg.lstsq(powers, chosen)[0]
    rest = ((chosen - powers[:, :2] @ line) ** 2).sum(0)
    with np.errstate(invalid="ignore", divide="ignore"):
        r2[good] = np.where(spread > 0, 1.0 - rest / spread, np.nan)
        curvature[good] = np.where(line[1] != 0.0, 4.0 * bent[2] / line[1], np.nan)
    return r2, curvature
