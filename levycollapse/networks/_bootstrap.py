"""Standard errors by resampling sequences."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import stdtrit

from .._checks import FloatArray


def resampled(rows: int, resamples: int, generator: np.random.Generator) -> FloatArray:
    """How often each row is drawn in each resample: (resamples, rows)."""
    return generator.multinomial(rows, np.full(rows, 1.0 / rows), size=resamples).astype(np.float64)


def standard_error(replicates: FloatArray, rows: Any) -> FloatArray:
    """Standard deviation over the resamples (first axis) that are finite, nan for fewer than two rows.

    Multiplied by the sqrt(n/(n - 1)) that resampling n rows loses. `rows` broadcasts against the other axes.
    """
    finite = np.isfinite(replicates)
    count = finite.sum(0)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.where(finite, replicates, 0.0).sum(0) / count
        variance = (np.where(finite, replicates - mean, 0.0) ** 2).sum(0) / (count - 1)
        corrected = np.sqrt(variance * (np.asarray(rows) / (np.asarray(rows) - 1.0)))
    return np.where((np.asarray(rows) >= 2) & (count >= 2), corrected, np.nan)


def half_width(error: FloatArray, rows: Any, level: float) -> FloatArray:
    """Half width of the interval: Student's t with one degree of freedom less than rows."""
    return np.asarray(error * stdtrit(np.maximum(np.asarray(rows) - 1, 1), 0.5 + level / 2))
