"""The units of a network as a sample of time scales: which are known, which are bounds, which have none."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._checks import POSITIVE, FloatArray, as_float_array, checked
from ..errors import ParameterError

#: Logarithms of time scales within this of each other are those of one time scale.
ONE_VALUE = 1e-6


class UnitStatus(IntEnum):
    """What the measured decay rate mu of a unit, with its interval, says about its time scale (DESIGN 3).

    RESOLVED: the interval lies above 0, so that tau has an upper end.
    BELOW_STEP: the same, and tau < 1: the unit forgets within a step (tau = 0 where a factor is exactly 0).
    CENSORED_LONG: the interval holds 0. All that is known is a lower bound of tau, its lower end.
    GROWING: the interval lies at or below 0: there is no zeta.

    With a single sequence (or block) there is no interval; then a unit is CENSORED_LONG if tau is longer than the
    steps that were seen, which then are the bound, and GROWING if mu <= 0.

    Examples
    --------
    >>> from levycollapse.tails import UnitStatus
    >>> UnitStatus(2)
    <UnitStatus.CENSORED_LONG: 2>
    """

    RESOLVED = 0
    BELOW_STEP = 1
    CENSORED_LONG = 2
    GROWING = 3


@dataclass(frozen=True)
class Units:
    """Units that have a time scale, slowest first.

    Attributes
    ----------
    log_tau : ndarray
        Logarithm of tau or of its lower bound, decreasing; -inf for a unit that is only known to be below one step.
    censored : ndarray
        Which of them are lower bounds. Of equal values the censored stand first: they are the slower.
    counts : dict
        Number of units of each status, excluded ones included.
    """

    log_tau: FloatArray
    censored: NDArray[np.bool_]
    counts: dict[str, int]

    @property
    def size(self) -> int:
        """Number of units that have a time scale."""
        return self.log_tau.size


def read_units(tau: Any, censored: Any = None) -> Units:
    """Check time scales and what is known of them.

    Raises
    ------
    ParameterError
        If a time scale is not finite and > 0 where its status says that it is known, or a status is not one.
    """
    if censored is None:
        values = checked("tau", tau, POSITIVE)
        status = np.zeros(values.shape, dtype=np.int64)
    else:
        status = _statuses(censored)
        values = as_float_array("tau", tau)
    if values.ndim != 1:
        raise ParameterError(f"tau has shape {values.shape}; one time scale per unit is needed, shape (units,)")
    if status.shape != values.shape:
        raise ParameterError(f"censored has shape {status.shape} but tau has {values.shape}; they must match")
    known = (status == UnitStatus.RESOLVED) | (status == UnitStatus.CENSORED_LONG)
    bad = known & ~(np.isfinite(values) & (values > 0))
    if bad.any():
        where = int(np.flatnonzero(bad)[0])
        name = UnitStatus(int(status[where])).name
        value = float(values[where])
        raise ParameterError(f"tau[{where}]={value!r} must be a finite number > 0 for a unit that is {name}")
    # Flags of 0 and 1 are the numbers of other statuses.
    long = (status == UnitStatus.BELOW_STEP) & (values >= 1)
    if long.any():
        where = int(np.flatnonzero(long)[0])
        raise ParameterError(
            f"tau[{where}]={float(values[where])!r} must be < 1 for a unit that is BELOW_STEP (1); give lower bounds "
            "as True or CENSORED_LONG (2)"
        )
    counts = {item.name: int((status == item).sum()) for item in UnitStatus}
    kept = status != UnitStatus.GROWING
    below = (status == UnitStatus.BELOW_STEP) & ~(np.isfinite(values) & (values > 0))
    log_tau = np.log(np.where(below | ~kept, 1.0, values))
    log_tau[below] = -np.inf
    late = status == UnitStatus.CENSORED_LONG
    order = np.lexsort((~late[kept], -log_tau[kept]))
    return Units(log_tau[kept][order], late[kept][order], counts)


def _statuses(censored: Any) -> NDArray[np.int64]:
    given = np.ma.asanyarray(censored)
    if np.ma.is_masked(given):
        raise ParameterError("censored has masked entries; fill or drop them first")
    given = np.asarray(given)
    if given.dtype == bool:
        return np.where(given, int(UnitStatus.CENSORED_LONG), int(UnitStatus.RESOLVED))
    out = np.empty(given.shape, dtype=np.int64)
    for index, item in np.ndenumerate(given):
        try:
            out[index] = UnitStatus[item.upper()] if isinstance(item, str) else UnitStatus(int(item))
        except (KeyError, ValueError, TypeError):
            names = ", ".join(f"{status.name} ({status.value})" for status in UnitStatus)
            raise ParameterError(
                f"censored[{', '.join(map(str, index))}]={item!s} must be a boolean or one of {names}"
            ) from None
        if not isinstance(item, str) and out[index] != item:
            raise ParameterError(
                f"censored[{', '.join(map(str, index))}]={item!r} must be a boolean or a unit's status"
            )
    return out
