"""The noise that a lag is seen through."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._checks import NON_NEGATIVE, POSITIVE, _Range, checked
from ..errors import ParameterError
from .averaging import INDEX, concentration_exponent

LEVEL = _Range("a number strictly between 0 and 1/2", lambda v: (v > 0) & (v < 0.5))


@dataclass(frozen=True)
class StableNoise:
    r"""Symmetric stable noise on single samples, the signal in them, and the level of the test.

    A sample of the matched statistic at lag l is signal f(l) + scale Z, Z with characteristic function
    exp(-\|t\|\ :sup:`alpha`).

    Parameters
    ----------
    alpha : float
        Tail index of the noise, in (0, 2]; 2 is Gaussian with standard deviation sqrt(2) scale. Averaging helps for
        alpha > 1 only: see `averaging_helps`.
    scale : float
        sigma > 0.
    signal : float
        Alignment m >= 0: the mean of a sample is m f(l). With 0 nothing can be learnt.
    level : float
        Size of the one-sided test that says "there is something at lag l", in (0, 1/2).

    Raises
    ------
    ParameterError
        If a parameter is outside its range or an array.

    Notes
    -----
    Where scale and alignment depend on the lag, as measured ones do, pass the envelope m(l) f(l)/sigma(l) with scale
    and signal 1.

    The level is a probability. The published eps = 0.1 is not: it multiplies the scale and belongs to a test that
    calls pure noise a signal in 94 of 100 cases (learnability F3).

    References
    ----------
    L. Livi, arXiv:2512.05790.

    Examples
    --------
    >>> import levycollapse as lc
    >>> noise = lc.StableNoise(alpha=1.5, scale=1.0, signal=0.2, level=0.05)
    >>> noise.concentration_exponent, noise.averaging_helps
    (3.0, True)
    """

    alpha: float
    scale: float
    signal: float
    level: float

    def __post_init__(self) -> None:
        for name, rule in (("alpha", INDEX), ("scale", POSITIVE), ("signal", NON_NEGATIVE), ("level", LEVEL)):
            value = checked(name, getattr(self, name), rule)
            if value.ndim:
                raise ParameterError(f"{name} has shape {value.shape}; a noise takes one number")
            object.__setattr__(self, name, float(value))

    @property
    def concentration_exponent(self) -> float:
        """Exponent kappa = alpha/(alpha - 1); inf where averaging does not help."""
        return float(concentration_exponent(self.alpha))

    @property
    def averaging_helps(self) -> bool:
        """Whether the mean of many samples is better than one: alpha > 1."""
        return self.alpha > 1.0


def noise_of(value: Any) -> StableNoise:
    """Check that an argument is a noise."""
    if not isinstance(value, StableNoise):
        raise ParameterError(f"noise={value!r} must be a StableNoise(alpha, scale, signal, level)")
    return value


def power_of(noise: StableNoise, power: Any) -> float:
    """Check a power: one number between the level of the noise and 1."""
    value = checked("power", power, _Range(f"a number above the level {noise.level} and below 1", _inside(noise.level)))
    if value.ndim:
        raise ParameterError(f"power has shape {np.shape(value)}; it must be one number")
    return float(value)


def _inside(level: float) -> Any:
    return lambda v: (v > level) & (v < 1)
