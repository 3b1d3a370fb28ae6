"""The far tail of the time-scale spectrum in every phase (THEORY 4)."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

import numpy as np

from .._checks import FloatArray, model_arrays
from .exponent import ExponentStatus, require_computed, solve_exponent
from .phase import Phase, phase


class TailForm(IntEnum):
    """Which of the tail laws of THEORY 4 holds."""

    #: tau^(-1-beta): a root of the characteristic equation, or the Gaussian power.
    POWER = 0
    #: eta_J = eta_J*: index lam, with a logarithmic factor for alpha <= 1.
    THRESHOLD = 1
    #: Below threshold: index lam times (log tau)^(-1-alpha).
    TEMPERED = 2
    #: lam = 0 < eta_J, alpha > 1: 1/(tau (log tau)^alpha).
    LOGARITHMIC = 3
    #: A linear drift: index lam times (log tau)^(-2-alpha).
    LINEAR = 4
    #: A confining drift whose tail is not known in closed form.
    UNKNOWN = 5
    #: There is no stationary law.
    NONSTATIONARY = 6


@dataclass(frozen=True)
class TailLaw:
    """Tail p(tau) ~ prefactor tau**(-1-rate) (log tau)**log_power (log log tau)**loglog_power.

    Attributes
    ----------
    rate : float or ndarray
        Index of the power; nan where there is no such law.
    log_power, loglog_power : float or ndarray
        Powers of the slowly varying factors.
    prefactor : float, ndarray or None
        The constant, which depends on the whole drift: None where only the tail's numbers were asked for,
        filled in by `stationary_density`.
    form : TailForm or ndarray of int
        Which law it is, and the reason where it is nan.
    """

    rate: Any
    log_power: Any
    loglog_power: Any
    prefactor: Any = None
    form: Any = field(kw_only=True)

    def __repr__(self) -> str:
        shown = [f"{name}={getattr(self, name)!r}" for name in ("rate", "log_power", "loglog_power")]
        if self.prefactor is not None:
            shown.append(f"prefactor={self.prefactor!r}")
        return f"TailLaw({', '.join(shown)}, form={self.form!r})"


def tail_law(kappa: Any, eta_G: Any, eta_J: Any, alpha: Any, lam: Any) -> TailLaw:
    """Tail of the time-scale spectrum under a saturating drift, in every phase.

    Parameters
    ----------
    kappa, eta_G, eta_J, alpha, lam : float or array_like
        As in `characteristic`; they broadcast.

    Returns
    -------
    TailLaw
        Rate and logarithmic powers. The drift must saturate fast enough that kappa - F is integrable at -inf; a
        drift like kappa - a/abs(zeta) multiplies the tail by a further power of log tau (THEORY 5).

    Raises
    ------
    ParameterError
        If a parameter is outside its range.

    See Also
    --------
    phase : The phases that these tails belong to.

    References
    ----------
    THEORY 4.

    Examples
    --------
    >>> import levycollapse as lc
    >>> lc.tail_law(kappa=1.0, eta_G=0.1, eta_J=0.1, alpha=1.5, lam=3.0)
    TailLaw(rate=3.0, log_power=-2.5, loglog_power=0.0, form=<TailForm.TEMPERED: 2>)
    """
    parameters = {"kappa": kappa, "eta_G": eta_G, "eta_J": eta_J, "alpha": alpha, "lam": lam}
    arrays = model_arrays(**parameters)
    found = solve_exponent(*arrays)
    require_computed(arrays, found.status)
    alpha_array, lam_array, status, beta, phases = np.broadcast_arrays(
        arrays[3], arrays[4], found.status, found.beta, phase(*arrays)
    )
    shape = beta.shape
    rate = np.array(beta, dtype=float)
    log_power = np.where(np.isnan(rate), np.nan, 0.0)
    loglog_power = log_power.copy()
    form = np.full(shape, int(TailForm.POWER))

    threshold = status == ExponentStatus.AT_THRESHOLD
    log_power[threshold] = np.minimum(alpha_array[threshold] - 1.0, 0.0)
    loglog_power[threshold] = np.where(alpha_array[threshold] == 1.0, -1.0, 0.0)
    form[threshold] = TailForm.THRESHOLD

    _assign(
        status == ExponentStatus.BELOW_THRESHOLD,
        TailForm.TEMPERED,
        lam_array,
        -1.0 - alpha_array,
        rate,
        log_power,
        loglog_power,
        form,
    )
    _assign(
        phases == Phase.LOGARITHMIC,
        TailForm.LOGARITHMIC,
        np.zeros(shape),
        -alpha_array,
        rate,
        log_power,
        loglog_power,
        form,
    )
    form[phases == Phase.NONSTATIONARY] = TailForm.NONSTATIONARY
    if not shape:
        return TailLaw(rate.item(), log_power.item(), loglog_power.item(), form=TailForm(form.item()))
    return TailLaw(rate, log_power, loglog_power, form=form)


def linear_drift_tail(alpha: Any, lam: Any, eta_J: Any, shape: tuple[int, ...] = ()) -> TailLaw:
    """Tail under a linear drift: (log tau)**(-2-alpha) (THEORY 5); untempered -1-alpha (NUMERICS B.15)."""
    alpha, rate, jumps = (np.broadcast_to(v, shape) for v in (alpha, lam, np.asarray(eta_J) > 0))
    log_power = np.where(jumps, np.where(rate > 0, -2.0, -1.0) - alpha, np.nan)
    form = np.where(jumps, int(TailForm.LINEAR), int(TailForm.UNKNOWN))
    return _filled(np.where(jumps, rate, np.nan), log_power, np.where(jumps, 0.0, np.nan), form)


def no_tail(form: TailForm, shape: tuple[int, ...] = ()) -> TailLaw:
    """A tail that does not exist or is not known: nan, with the reason in `form`."""
    nothing = np.full(shape, np.nan)
    return _filled(nothing, nothing, nothing, np.full(shape, int(form)))


def _filled(rate: FloatArray, log_power: FloatArray, loglog_power: FloatArray, form: Any) -> TailLaw:
    if not rate.shape:
        return TailLaw(rate.item(), log_power.item(), loglog_power.item(), form=TailForm(int(form)))
    return TailLaw(rate, log_power, loglog_power, form=form)


def _assign(
    where: Any,
    name: TailForm,
    new_rate: Any,
    new_power: Any,
    rate: FloatArray,
    log_power: FloatArray,
    loglog_power: FloatArray,
    form: Any,
) -> None:
    rate[where] = new_rate[where]
    log_power[where] = new_power[where]
    loglog_power[where] = 0.0
    form[where] = name
