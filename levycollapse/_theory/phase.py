"""Which phase a model is in (THEORY 4)."""

from __future__ import annotations

from enum import IntEnum
from typing import Any

import numpy as np

from .._checks import NON_NEGATIVE, broadcast_shape, checked, model_arrays
from .._kernels import phases as kernels


class Phase(IntEnum):
    r"""Phases of the time-scale spectrum.

    ============== ===================================================== ==========================================
    Phase          Condition                                             Spectrum p(tau) for large tau
    ============== ===================================================== ==========================================
    COLLAPSED      0 < eta_J <= eta_J*                                   A tau^(-1-lam) (log tau)^(-1-alpha)
    CONCENTRATED   eta_J > eta_J*, beta > 1                              C tau^(-1-beta), finite mean
    CRITICAL       beta = 1                                              C tau^(-2), mean diverges logarithmically
    BROAD          eta_J > eta_J*, beta < 1                              C tau^(-1-beta), infinite mean
    LOGARITHMIC    lam = 0, 1 < alpha < 2, eta_J > 0                     1/(tau (log tau)^alpha)
    NONSTATIONARY  lam = 0, alpha <= 1, eta_J > 0, or no restoring drift no stationary law
    CONFINED       the drift grows without bound on the left             set by the drift
    ============== ===================================================== ==========================================

    Notes
    -----
    Two remarks that belong beside every phase reported here.

    The paper calls eta_J <= eta_J* collapsed, with a light tail. In the model itself the tail below threshold is
    still a power of tau, with the index lam set by the tempering and a logarithmic correction: forcing below
    threshold cannot make anything heavier than its own jumps, but nor is the tail light. A truly exponential envelope
    needs lam -> inf and eta_G = 0, or a drift that confines, or a finite width.

    With eta_J = 0 and eta_G > 0 the tail is a power driven by the Gaussian noise, with beta = kappa/eta_G, whatever
    lam is.

    References
    ----------
    L. Livi, arXiv:2606.29519; THEORY 4.
    """

    COLLAPSED = kernels.COLLAPSED
    CONCENTRATED = kernels.CONCENTRATED
    CRITICAL = kernels.CRITICAL
    BROAD = kernels.BROAD
    LOGARITHMIC = kernels.LOGARITHMIC
    NONSTATIONARY = kernels.NONSTATIONARY
    CONFINED = 6


def phase(kappa: Any, eta_G: Any, eta_J: Any, alpha: Any, lam: Any, *, rtol: float = 0.0) -> Any:
    """Phase of a model with saturating drift.

    Parameters
    ----------
    kappa, eta_G, eta_J, alpha, lam : float or array_like
        As in `characteristic`; they broadcast.
    rtol : float, optional
        Equality with the threshold or with beta = 1 is decided within this much of the largest term of Phi. It is
        never taken below 8 ulp, which is what lets a grid contain the two boundaries.

    Returns
    -------
    Phase or ndarray of int
        The phase; compare arrays with the members of `Phase`. Equality with the threshold is COLLAPSED (the paper's
        eta_J <= eta_J*), also where lam = 1.

    Raises
    ------
    ParameterError
        If a parameter is outside its range.

    Notes
    -----
    Below threshold ("collapsed") the tail is still a power of tau, of index lam with a logarithmic correction; and
    without jumps it is the Gaussian power kappa/eta_G. See `Phase` for both remarks, and `tail_law` for the tail.

    References
    ----------
    L. Livi, arXiv:2606.29519; THEORY 4.

    Examples
    --------
    >>> import levycollapse as lc
    >>> lc.phase(kappa=1.0, eta_G=0.1, eta_J=0.62, alpha=1.5, lam=3.0)
    <Phase.CONCENTRATED: 1>
    >>> lc.phase(kappa=1.0, eta_G=0.1, eta_J=[0.1, 0.62, 2.0], alpha=1.5, lam=3.0)
    array([0, 1, 3])
    """
    tolerance = checked("rtol", rtol, NON_NEGATIVE)
    arrays = model_arrays(kappa=kappa, eta_G=eta_G, eta_J=eta_J, alpha=alpha, lam=lam)
    names = ("kappa", "eta_G", "eta_J", "alpha", "lam")
    broadcast_shape(rtol=tolerance, **dict(zip(names, arrays, strict=True)))
    code = kernels.phase(*arrays, tolerance)
    return Phase(int(code)) if np.ndim(code) == 0 else code
