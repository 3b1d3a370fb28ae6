"""Where an envelope falls below a threshold: in a table, along a monotone law, along an asymptote."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import elementwise

from .._checks import FloatArray
from .._envelope.slope import exponent_of_law
from .closed_forms import EnvelopeLaw
from .status import WindowStatus

#: Longest lag that is looked at, in logarithms: 1e300.
LONGEST = 690.0
#: Points of the search for the last crossing of an asymptote.
SCAN = 4096
#: Stands for log f where f has underflowed.
VANISHED = -1e5


class Edges(NamedTuple):
    """Edges of windows, one for each threshold: values, status, bracket, and slope -d log f/d log l there."""

    window: FloatArray
    status: Any
    lower: FloatArray
    upper: FloatArray
    slope: FloatArray


def table_edges(lags: FloatArray, f: FloatArray, log_level: FloatArray, rule: str) -> Edges:
    """Windows of a tabulated envelope; log f is linear in log l between two lags where it is positive."""
    with np.errstate(divide="ignore"):
        log_f, log_lag = np.log(f), np.log(lags)
    # Both rules ask for the last lag of a staircase that falls: the largest value from here on, or the smallest so far.
    stairs = np.maximum.accumulate(log_f[::-1])[::-1] if rule == "sup" else np.minimum.accumulate(log_f)
    last = np.searchsorted(-stairs, -log_level.ravel(), side="right") - 1
    level = log_level.ravel()
    n = lags.size

    window, slope = np.full((2, last.size), np.nan)
    status = np.full(last.size, int(WindowStatus.REACHED))
    lower, upper = np.zeros(last.size), np.full(last.size, np.inf)
    beyond, before = last == n - 1, last < 0
    status[beyond], lower[beyond] = WindowStatus.BEYOND_TABLE, lags[-1]
    upper[before] = lags[0]
    status[before] = WindowStatus.NONE if lags[0] <= 1 else WindowStatus.BELOW_TABLE

    inside = ~beyond & ~before
    i = last[inside]
    lower[inside], upper[inside] = lags[i], lags[i + 1]
    with np.errstate(invalid="ignore"):
        fall = (log_f[i] - log_f[i + 1]) / (log_lag[i + 1] - log_lag[i])
        step = (log_f[i] - level[inside]) / fall
    # Towards a 0, which has no logarithm, the last lag that is detected is all there is to say.
    edge = np.where(np.isfinite(fall), np.minimum(lags[i] * np.exp(step), lags[i + 1]), lags[i])
    window[inside], slope[inside] = edge, np.where(np.isfinite(fall), fall, np.nan)
    return _shaped(window, status, lower, upper, slope, log_level.shape)


def law_edges(law: Any, log_level: FloatArray) -> Edges:
    """Windows of a law whose envelope falls monotonically, with `log_envelope` or `envelope` and any local exponent."""
    level = log_level.ravel()
    window, slope = np.zeros(level.size), np.full(level.size, np.nan)
    status = np.full(level.size, int(WindowStatus.NONE))
    seen = log_envelope(law, np.ones(1)) >= level
    if seen.any():
        levels, index = np.unique(level[seen], return_inverse=True)
        log_lag = _falling_root(law, levels)[index]
        over = log_lag >= LONGEST
        window[seen] = np.where(over, np.inf, np.exp(np.minimum(log_lag, LONGEST)))
        status[seen] = np.where(over, int(WindowStatus.OVERFLOW), int(WindowStatus.REACHED))
    found = np.isfinite(window) & (window > 0)
    slope[found] = slopes(law, window[found])
    return _shaped(window, status, window, window, slope, log_level.shape)


def asymptote_edges(asymptote: Any, log_level: FloatArray) -> Edges:
    """Windows of an asymptote, which is nan at short lags and falls at long ones: its last crossing."""
    level = log_level.ravel()
    grid = np.linspace(0.0, LONGEST, SCAN)
    values = log_envelope(asymptote, np.exp(grid))
    # Short of the lag from which it falls it means nothing.
    with np.errstate(invalid="ignore"):
        unfit = np.flatnonzero(np.isnan(values[:-1]) | (np.diff(values) > 0))
    start = int(unfit[-1]) + 1 if unfit.size else 0
    window, slope = np.full((2, level.size), np.nan)
    status = np.full(level.size, int(WindowStatus.REACHED))
    lower, upper = np.zeros(level.size), np.full(level.size, np.exp(grid[start]))
    below = values[start] < level
    status[below] = WindowStatus.NONE if start == 0 else WindowStatus.BELOW_TABLE
    over = values[-1] >= level
    status[over], window[over], lower[over], upper[over] = WindowStatus.OVERFLOW, np.inf, np.exp(LONGEST), np.inf
    inside = ~below & ~over
    if inside.any():
        levels, index = np.unique(level[inside], return_inverse=True)
        window[inside] = np.exp(_root(asymptote, levels, np.full(levels.shape, grid[start]), _right(levels)))[index]
        lower[inside] = upper[inside] = window[inside]
        slope[inside] = slopes(asymptote, window[inside])
    return _shaped(window, status, lower, upper, slope, log_level.shape)


def closed_edges(law: EnvelopeLaw, log_level: FloatArray) -> Edges:
    """Windows of an envelope whose inverse is a closed form."""
    log_window = law.log_window_at(log_level)
    status = np.full(log_level.shape, int(WindowStatus.REACHED))
    status[log_window == -np.inf] = WindowStatus.NONE
    with np.errstate(over="ignore"):
        window = np.exp(log_window)
    status[window == np.inf] = WindowStatus.OVERFLOW
    slope = np.full(log_level.shape, np.nan)
    there = np.isfinite(log_window)
    slope[there] = law._exponent_at(log_window[there])
    return _shaped(window, status, window, window, slope, log_level.shape)


def log_envelope(law: Any, lags: FloatArray) -> FloatArray:
    """Logarithm of the envelope, directly where the law has it."""
    if hasattr(law, "log_envelope"):
        return np.asarray(law.log_envelope(lags), dtype=float)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(np.asarray(law.envelope(lags), dtype=float)))


def slopes(law: Any, lags: FloatArray) -> FloatArray:
    """Local exponent of a law at lags."""
    return exponent_of_law(law, lags) if lags.size else np.empty(0)


def _right(levels: FloatArray) -> FloatArray:
    return np.full(levels.shape, LONGEST)


def _falling_root(law: Any, levels: FloatArray) -> FloatArray:
    """Logarithm of the lag at which a falling log f takes each level; LONGEST where it does not before."""
    low, high = np.zeros(levels.shape), np.ones(levels.shape)
    active = np.ones(levels.shape, dtype=bool)
    while active.any():
        above = active.copy()
        above[active] = log_envelope(law, np.exp(high[active])) >= levels[active]
        active = above & (high < LONGEST)
        low[above] = high[above]
        high[active] = np.minimum(2 * high[active], LONGEST)
    out = np.full(levels.shape, LONGEST)
    open_ = low < LONGEST
    out[open_] = _root(law, levels[open_], low[open_], high[open_])
    return out


def _root(law: Any, levels: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
    def excess(log_lag: FloatArray, level: FloatArray) -> FloatArray:
        return np.asarray(np.maximum(log_envelope(law, np.exp(log_lag)), VANISHED) - level)

    found = elementwise.find_root(excess, (low, high), args=(levels,))
    return np.asarray(found.x)


def _shaped(
    window: FloatArray, status: Any, lower: FloatArray, upper: FloatArray, slope: FloatArray, shape: tuple[int, ...]
) -> Edges:
    # A window is of lags from 1 on.
    short = window < 1
    window = np.where(short, 0.0, window)
    status = np.where(short, int(WindowStatus.NONE), status)
    none = status == WindowStatus.NONE
    window, lower, upper = (np.where(none, 0.0, value) for value in (window, lower, upper))
    return Edges(*(np.reshape(value, shape) for value in (window, status, lower, upper, slope)))
