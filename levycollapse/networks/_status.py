"""What can be said of a unit's time scale."""

from __future__ import annotations

from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._checks import FloatArray


class UnitStatus(IntEnum):
    """What the measured decay rate mu of a unit, with its interval, says about its time scale.

    RESOLVED: the interval lies above 0, so that tau has an upper end.
    BELOW_STEP: the same, and tau < 1: the unit forgets within a step (tau = 0 where a factor is exactly 0).
    CENSORED_LONG: the interval holds 0. All that is known is tau > `tau_low`, its lower end.
    GROWING: the interval lies at or below 0: there is no zeta.

    With a single sequence (or block) there is no interval; then a unit is CENSORED_LONG if tau is longer than the
    steps that were seen, and GROWING if mu <= 0.

    Examples
    --------
    >>> from levycollapse.networks import UnitStatus
    >>> UnitStatus(2)
    <UnitStatus.CENSORED_LONG: 2>
    """

    RESOLVED = 0
    BELOW_STEP = 1
    CENSORED_LONG = 2
    GROWING = 3


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
