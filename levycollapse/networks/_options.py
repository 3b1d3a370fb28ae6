"""Validation of what the measurements of a network share: which runs, which lags, which blocks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .._checks import POSITIVE, checked, choice
from ..errors import ParameterError
from ._layer import LayerRun
from ._transport import IntArray

KERNELS = ("gates", "first-order", "diagonal", "jacobian")
#: Longest lag of the default grid: the mean of log|factor| does not need more, and history is kept for it.
LONGEST = 2048
#: Lags of the default grid.
COUNT = 32


def whole(name: str, value: Any, least: int) -> int:
    """Return `value` as an int >= `least`."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)) or value < least:
        raise ParameterError(f"{name}={value!r} must be an integer >= {least}")
    return int(value)


def optional_whole(name: str, value: Any, least: int) -> int | None:
    """Return `value` as an int >= `least`, or None."""
    return None if value is None else whole(name, value, least)


def chosen_runs(runs: Iterator[LayerRun], layer: int | None, direction: int | None, burn_in: int) -> Iterator[LayerRun]:
    """Runs of one layer or direction, or all, each with steps left after the burn-in."""
    found = False
    for run in runs:
        if layer in (None, run.layer.layer) and direction in (None, run.layer.direction):
            found = True
            shortest = int(run.lengths.min())
            if shortest <= burn_in:
                raise ParameterError(
                    f"burn_in={burn_in} must be less than the length of every sequence; the shortest has {shortest}"
                )
            yield run
    if not found:
        raise ParameterError(f"the network has no layer={layer!r} with direction={direction!r}; both count from 0")


def checked_lags(lags: Any, longest: int, least: int = 1) -> IntArray:
    """Lags as increasing integers from 1 to `longest`, or the default grid: geometric from 1 to half of it."""
    if lags is None:
        stop = max(min(longest // 2, LONGEST), least)
        if stop > longest:
            raise ParameterError(f"a slope needs two lags, and so sequences (or blocks) of two steps, not {longest}")
        return np.unique(np.rint(np.geomspace(1, stop, COUNT)).astype(np.int64))
    array = checked("lags", lags, POSITIVE)
    if array.ndim != 1 or array.size < least:
        raise ParameterError(f"lags has shape {array.shape}; it must be a list of at least {least} lag(s)")
    whole_lags = array.astype(np.int64)
    if (whole_lags != array).any() or (np.diff(whole_lags) <= 0).any():
        raise ParameterError("lags must be increasing integers >= 1")
    if whole_lags[-1] > longest:
        raise ParameterError(
            f"lags go up to {whole_lags[-1]}, but the longest sequence (or block) has {longest} steps after the burn-in"
        )
    return whole_lags


def checked_level(level: Any) -> float:
    """Return a confidence level strictly between 0 and 1."""
    value = float(checked("level", level, POSITIVE))
    if value >= 1.0:
        raise ParameterError(f"level={level!r} must be strictly between 0 and 1")
    return value


def checked_kernel(kernel: Any, compat: Any, published: str) -> str:
    """Return the kernel; under compat="reference" the published one, in whose place no other can be named."""
    choice("kernel", kernel, KERNELS)
    if compat is None:
        return str(kernel)
    choice("compat", compat, ("reference",))
    if kernel not in ("diagonal", published):
        raise ParameterError(f'kernel={kernel!r} cannot be combined with compat="reference", which uses {published!r}')
    return published
