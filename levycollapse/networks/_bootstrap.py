"""Standard errors by resampling sequences."""

from __future__ import annotations

import numpy as np
from scipy.special import stdtrit

from .._checks import FloatArray


def resampled(rows: int, resamples: int, generator: np.random.Generator) -> FloatArray:
    """How often each row is drawn in each resample: (resamples, rows)."""
    return generator.multinomial(rows, np.full(rows, 1.0 / rows), size=resamples).astype(np.float64)


def standard_error(replicates: FloatArray, rows: int) -> FloatArray:
    """Standard deviation over resamples (first axis), times the sqrt(n/(n - 1)) that resampling n rows loses."""
    if rows < 2:
        return np.full(replicates.shape[1:], np.nan)
    return np.asarray(np.std(replicates, axis=0, ddof=1) * np.sqrt(rows / (rows - 1)))


def half_width(error: FloatArray, rows: int, level: float) -> FloatArray:
    """Half width of the interval: Student's t with one degree of freedom less than rows."""
    return np.asarray(error * stdtrit(max(rows - 1, 1), 0.5 + level / 2))
