"""Which `UnitStatus` a measured rate has."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._checks import FloatArray
from ..tails import UnitStatus


def classify(mu: FloatArray, low: FloatArray, high: FloatArray, steps: float | FloatArray) -> NDArray[np.int8]:
    """Status of each unit from its rate and the interval of it; `low` and `high` are nan where there is none."""
    alone = np.isnan(low)
    status = np.where(mu > 1.0, UnitStatus.BELOW_STEP, UnitStatus.RESOLVED)
    status = np.where(np.where(alone, (mu > 0.0) & (mu * steps < 1.0), (low <= 0.0) & (high > 0.0)), 2, status)
    return np.where(np.where(alone, mu <= 0.0, high <= 0.0), UnitStatus.GROWING, status).astype(np.int8)


def status_attributes() -> dict[str, Any]:
    """Codes and names by the CF convention for flags."""
    members = list(UnitStatus)
    return {
        "long_name": "what is known of the time scale",
        "flag_values": np.array([int(m) for m in members], dtype=np.int8),
        "flag_meanings": " ".join(m.name.lower() for m in members),
    }
