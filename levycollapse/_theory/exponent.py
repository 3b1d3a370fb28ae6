"""The characteristic equation: exponent, threshold, inverse design, sensitivities (THEORY 3)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np

from .._checks import FINITE, FloatArray, broadcast_shape, checked, index_text, model_arrays, plain
from .._kernels import exponent as kernels
from ..errors import ConvergenceError, ParameterError


class ExponentStatus(IntEnum):
    """Why an exponent is what it is, or why there is none."""

    #: beta is the root of Phi in (0, lam).
    ROOT = kernels.ROOT
    #: No jumps: beta = kappa/eta_G in closed form, also above lam.
    GAUSSIAN = kernels.GAUSSIAN
    #: eta_J equals eta_J* to a few ulp: beta = lam.
    AT_THRESHOLD = kernels.AT_THRESHOLD
    #: eta_J < eta_J*: Phi has no root in (0, lam]; the tail has index lam (see `tail_law`).
    BELOW_THRESHOLD = kernels.BELOW_THRESHOLD
    #: lam = 0 with jumps: no exponential tail of any kind.
    UNTEMPERED = kernels.UNTEMPERED
    #: A root exists but is outside the range of floating-point numbers.
    UNREPRESENTABLE = kernels.UNREPRESENTABLE
    #: The iteration did not settle; not seen in any test.
    NOT_CONVERGED = kernels.NOT_CONVERGED
    #: The drift confines on the left (infinite plateau): there is no characteristic equation.
    CONFINED = 6
    #: The drift does not restore on one of its sides: there is no stationary law.
    NOT_RESTORING = 7


@dataclass(frozen=True)
class ExponentResult:
    """A spectral exponent with its status.

    Attributes
    ----------
    beta : float or ndarray
        The exponent; nan where there is none.
    status : ExponentStatus or ndarray of int
        Why.
    error : float or ndarray
        Bound of the absolute rounding error of `beta`; nan where there is no exponent.
    iterations : int or ndarray of int
        Evaluations of the symbol and its derivatives that the root took.
    gap : float or ndarray
        lam - beta, computed as such and not as a difference: its relative error near threshold is what the rounding
        of the parameters makes of it, about 1e-16/(eta_J/eta_J* - 1), also when it is far below the rounding of
        `beta`. Negative if a Gaussian exponent exceeds lam.
    """

    beta: Any
    status: Any
    error: Any
    iterations: Any
    gap: Any


class ExponentSensitivities(NamedTuple):
    """Derivatives of the exponent with respect to each parameter, in the order of the functions' arguments."""

    kappa: Any
    eta_G: Any
    eta_J: Any
    alpha: Any
    lam: Any


class IntensityStatus(IntEnum):
    """Whether an exponent can be produced by a jump intensity."""

    #: The intensity produces the exponent.
    REACHED = 0
    #: beta > lam: jumps cannot make a tail lighter than their own tempering.
    ABOVE_TEMPERING = 1
    #: beta > kappa/eta_G: the Gaussian noise alone makes a heavier tail.
    ABOVE_GAUSSIAN = 2
    #: The intensity exists but is outside the range of floating-point numbers.
    UNREPRESENTABLE = 3


@dataclass(frozen=True)
class IntensityResult:
    """A jump intensity with its status.

    Attributes
    ----------
    eta_J : float or ndarray
        The intensity; nan where none produces the exponent.
    status : IntensityStatus or ndarray of int
        Why.
    """

    eta_J: Any
    status: Any


def characteristic(beta: Any, kappa: Any, eta_G: Any, eta_J: Any, alpha: Any, lam: Any) -> Any:
    r"""Characteristic function of the far-left tail, Phi(beta) = eta_G beta^2 + psi(beta) - kappa beta.

    Parameters
    ----------
    beta : float or array_like
        Where to evaluate; any finite number. \|beta\| > lam with eta_J > 0 gives inf.
    kappa : float or array_like
        Far-left plateau of the drift, > 0 (zeta per unit time).
    eta_G : float or array_like
        Gaussian noise intensity >= 0; the noise is sqrt(2 eta_G) dW.
    eta_J : float or array_like
        Jump intensity >= 0; eta_G and eta_J must not both be 0.
    alpha : float or array_like
        Stability index, in (0, 2).
    lam : float or array_like
        Tempering lambda >= 0.

    Returns
    -------
    float or ndarray
        Phi, with an error of a few ulp of its largest term.

    Raises
    ------
    ParameterError
        If a parameter is outside its range.

    References
    ----------
    L. Livi, arXiv:2606.29519; THEORY 3.

    Examples
    --------
    >>> import levycollapse as lc
    >>> beta = lc.spectral_exponent(kappa=1.0, eta_G=0.1, eta_J=0.62, alpha=1.5, lam=3.0)
    >>> abs(lc.characteristic(beta, kappa=1.0, eta_G=0.1, eta_J=0.62, alpha=1.5, lam=3.0)) < 1e-14
    True
    """
    point = checked("beta", beta, FINITE)
    arrays = model_arrays(kappa=kappa, eta_G=eta_G, eta_J=eta_J, alpha=alpha, lam=lam)
    names = ("beta", "kappa", "eta_G", "eta_J", "alpha", "lam")
    broadcast_shape(**dict(zip(names, (point, *arrays), strict=True)))
    return plain(kernels.characteristic(point, *arrays))


def spectral_exponent(kappa: Any, eta_G: Any, eta_J: Any, alpha: Any, lam: Any) -> Any:
    """Spectral exponent beta: the time-scale spectrum falls like tau**(-1-beta).

    Parameters
    ----------
    kappa, eta_G, eta_J, alpha, lam : float or array_like
        As in `characteristic`; they broadcast.

    Returns
    -------
    float or ndarray
        The root of the characteristic equation in (0, lam]: relative error below 2e-14 (1.3e-15 measured against
        mpmath at 50 digits). nan where there is none, which is below threshold or without tempering; `solve_exponent`
        says which. At threshold it is lam, and without jumps kappa/eta_G, also above lam.

    Raises
    ------
    ParameterError
        If a parameter is outside its range, or beta is too small or large for a floating-point number.

    See Also
    --------
    solve_exponent : The same with status and error.
    tail_law : The tail of the spectrum in every phase.

    References
    ----------
    L. Livi, arXiv:2606.29519; THEORY 3, NUMERICS C.2.

    Examples
    --------
    >>> import levycollapse as lc
    >>> round(lc.spectral_exponent(kappa=1.0, eta_G=0.1, eta_J=0.62, alpha=1.5, lam=3.0), 12)
    1.345967331404
    >>> lc.spectral_exponent(kappa=1.0, eta_G=0.1, eta_J=[0.1, 2.0], alpha=1.5, lam=3.0).round(6)
    array([    nan, 0.46517])
    """
    arrays = model_arrays(kappa=kappa, eta_G=eta_G, eta_J=eta_J, alpha=alpha, lam=lam)
    beta = kernels.exponent(*arrays)
    if np.isnan(beta).any():
        require_computed(arrays, kernels.exponent_with_status(*arrays)[3])
    return plain(beta)


def require_computed(arrays: list[FloatArray], status: Any) -> None:
    """Raise where there is an exponent that could not be computed."""
    lost = np.asarray(status) == ExponentStatus.UNREPRESENTABLE
    if lost.any():
        raise ParameterError(
            f"{_model_text(arrays, lost)} are too far apart in scale: beta is outside the range of floating-point "
            "numbers"
        )
    stalled = np.asarray(status) == ExponentStatus.NOT_CONVERGED
    if stalled.any():
        raise ConvergenceError(f"the exponent of {_model_text(arrays, stalled)} did not converge")


def _model_text(arrays: list[FloatArray], chosen: Any) -> str:
    index = tuple(np.argwhere(chosen)[0]) if np.ndim(chosen) else ()
    values = [float(np.broadcast_to(array, np.shape(chosen))[index]) for array in arrays]
    names = ("kappa", "eta_G", "eta_J", "alpha", "lam")
    return ", ".join(f"{name}={value!r}" for name, value in zip(names, values, strict=True)) + index_text(chosen)


def solve_exponent(
    kappa: Any, eta_G: Any = None, eta_J: Any = None, alpha: Any = None, lam: Any = None
) -> ExponentResult:
    """Spectral exponent with status, error and number of evaluations.

    Parameters
    ----------
    kappa : float, array_like or CollapseModel
        The far-left plateau, or a whole model (then nothing else is given).
    eta_G, eta_J, alpha, lam : float or array_like
        As in `characteristic`.

    Returns
    -------
    ExponentResult
        Scalars for scalar parameters, arrays of the broadcast shape otherwise.

    Raises
    ------
    ParameterError
        If a parameter is missing or outside its range.

    References
    ----------
    THEORY 3, NUMERICS C.2.

    Examples
    --------
    >>> import levycollapse as lc
    >>> lc.solve_exponent(kappa=1.0, eta_G=0.1, eta_J=0.1, alpha=1.5, lam=3.0).status
    <ExponentStatus.BELOW_THRESHOLD: 3>
    """
    others = {"eta_G": eta_G, "eta_J": eta_J, "alpha": alpha, "lam": lam}
    if hasattr(kappa, "_exponent_result") and not isinstance(kappa, type):
        given = [name for name, value in others.items() if value is not None]
        if given:
            raise ParameterError(f"{given[0]} is already in the model; give the model alone")
        result: ExponentResult = kappa._exponent_result()
        return result
    missing = [name for name, value in others.items() if value is None]
    if missing:
        raise ParameterError(f"{missing[0]} is missing: give all five parameters, or a CollapseModel")
    arrays = model_arrays(kappa=kappa, **others)
    beta, gap, error, status, iterations = kernels.exponent_with_status(*arrays)
    if np.ndim(beta) == 0:
        return ExponentResult(
            float(beta), ExponentStatus(int(status)), float(error * beta), int(iterations), float(gap)
        )
    return ExponentResult(beta, status, error * beta, iterations, gap)


def jump_threshold(kappa: Any, eta_G: Any, alpha: Any, lam: Any) -> Any:
    """Threshold intensity eta_J*: jumps at least this strong set the exponent, weaker ones leave index lam.

    Parameters
    ----------
    kappa, eta_G, alpha, lam : float or array_like
        As in `characteristic`; they broadcast.

    Returns
    -------
    float or ndarray
        eta_J* = max(0, kappa lam - eta_G lam**2) eta_J/psi(lam), to 2e-14 relative (6e-16 measured); 0 where the
        Gaussian noise alone makes a tail heavier than exp(lam zeta), nan at lam = 0.

    Raises
    ------
    ParameterError
        If a parameter is outside its range.

    References
    ----------
    L. Livi, arXiv:2606.29519; THEORY 3.

    Examples
    --------
    >>> import levycollapse as lc
    >>> round(lc.jump_threshold(kappa=1.0, eta_G=0.1, alpha=1.5, lam=3.0), 12)
    0.206428391898
    """
    arrays = model_arrays(kappa=kappa, eta_G=eta_G, alpha=alpha, lam=lam)
    return _in_range("eta_J*", kernels.jump_threshold(*arrays), arrays[0] - arrays[1] * arrays[3] > 0)


def intensity_for_exponent(beta: Any, kappa: Any, eta_G: Any, alpha: Any, lam: Any) -> Any:
    """Jump intensity that produces a wanted exponent: the inverse of `spectral_exponent`, in closed form.

    Parameters
    ----------
    beta : float or array_like
        The wanted exponent, > 0.
    kappa, eta_G, alpha, lam : float or array_like
        As in `characteristic`; they broadcast.

    Returns
    -------
    float or ndarray
        eta_J; nan where no intensity produces `beta` (beta > lam or beta > kappa/eta_G; `solve_intensity` says
        which). beta = kappa/eta_G needs no jumps: 0. beta = lam gives eta_J*.

    Raises
    ------
    ParameterError
        If a parameter is outside its range.

    References
    ----------
    THEORY 3.

    Examples
    --------
    >>> import levycollapse as lc
    >>> eta_J = lc.intensity_for_exponent(beta=0.5, kappa=1.0, eta_G=0.1, alpha=1.5, lam=3.0)
    >>> round(lc.spectral_exponent(kappa=1.0, eta_G=0.1, eta_J=eta_J, alpha=1.5, lam=3.0), 12)
    0.5
    """
    arrays = model_arrays(beta=beta, kappa=kappa, eta_G=eta_G, alpha=alpha, lam=lam)
    return _in_range("eta_J", kernels.intensity_for_exponent(*arrays), arrays[1] - arrays[2] * arrays[0] > 0)


def _in_range(name: str, value: Any, positive: Any) -> Any:
    """Refuse a positive intensity that has over- or underflowed."""
    lost = np.isinf(value) | ((value == 0) & positive)
    if np.any(lost):
        raise ParameterError(
            f"the parameters{index_text(lost)} are too far apart in scale: {name} is outside the range of "
            "floating-point numbers"
        )
    return plain(value)


def solve_intensity(beta: Any, kappa: Any, eta_G: Any, alpha: Any, lam: Any) -> IntensityResult:
    """Jump intensity for a wanted exponent, with the reason where there is none.

    Parameters
    ----------
    beta, kappa, eta_G, alpha, lam : float or array_like
        As in `intensity_for_exponent`.

    Returns
    -------
    IntensityResult
        Intensity and status.

    Raises
    ------
    ParameterError
        If a parameter is outside its range.

    Examples
    --------
    >>> import levycollapse as lc
    >>> lc.solve_intensity(beta=4.0, kappa=1.0, eta_G=0.1, alpha=1.5, lam=3.0).status
    <IntensityStatus.ABOVE_TEMPERING: 1>
    """
    arrays = model_arrays(beta=beta, kappa=kappa, eta_G=eta_G, alpha=alpha, lam=lam)
    eta_J = kernels.intensity_for_exponent(*arrays)
    beta_array, lam_array = np.broadcast_arrays(arrays[0], arrays[4])
    failed = np.where(beta_array > lam_array, IntensityStatus.ABOVE_TEMPERING, IntensityStatus.ABOVE_GAUSSIAN)
    lost = np.isinf(eta_J) | ((eta_J == 0) & (arrays[1] - arrays[2] * arrays[0] > 0))
    status = np.where(np.isnan(eta_J), failed, np.where(lost, IntensityStatus.UNREPRESENTABLE, IntensityStatus.REACHED))
    eta_J = np.where(lost, np.nan, eta_J)
    if np.ndim(eta_J) == 0:
        return IntensityResult(float(eta_J), IntensityStatus(int(status)))
    return IntensityResult(eta_J, status)


def critical_intensity(kappa: Any, eta_G: Any, alpha: Any, lam: Any) -> Any:
    """Jump intensity of the critical manifold beta = 1, where the mean time scale begins to diverge.

    Parameters
    ----------
    kappa, eta_G, alpha, lam : float or array_like
        As in `characteristic`; they broadcast.

    Returns
    -------
    float or ndarray
        eta_J with beta = 1; nan where the manifold does not exist, which needs lam > 1 and kappa > eta_G.

    Raises
    ------
    ParameterError
        If a parameter is outside its range.

    References
    ----------
    L. Livi, arXiv:2606.29519; THEORY 3, NUMERICS B.4.

    Examples
    --------
    >>> import levycollapse as lc
    >>> eta_J = lc.critical_intensity(kappa=1.0, eta_G=0.1, alpha=1.5, lam=3.0)
    >>> round(lc.spectral_exponent(kappa=1.0, eta_G=0.1, eta_J=eta_J, alpha=1.5, lam=3.0), 12)
    1.0
    """
    arrays = model_arrays(kappa=kappa, eta_G=eta_G, alpha=alpha, lam=lam)
    exists = (arrays[3] > 1) & (arrays[0] > arrays[1])
    eta_J = np.where(exists, kernels.intensity_for_exponent(1.0, *arrays), np.nan)
    return _in_range("the critical eta_J", eta_J, exists)


def exponent_sensitivities(kappa: Any, eta_G: Any, eta_J: Any, alpha: Any, lam: Any) -> ExponentSensitivities:
    """Derivatives of the spectral exponent with respect to its five parameters.

    Parameters
    ----------
    kappa, eta_G, eta_J, alpha, lam : float or array_like
        As in `characteristic`; they broadcast.

    Returns
    -------
    ExponentSensitivities
        Named tuple of d beta/d parameter. nan where there is no exponent. At threshold they are the limits from
        above; without jumps the derivative with respect to eta_J is from the right, and nan if beta > lam, where the
        first jump makes the exponent drop to lam.

    Raises
    ------
    ParameterError
        If a parameter is outside its range.

    References
    ----------
    THEORY 3, NUMERICS C.1.

    Examples
    --------
    >>> import levycollapse as lc
    >>> slopes = lc.exponent_sensitivities(kappa=1.0, eta_G=0.1, eta_J=0.62, alpha=1.5, lam=3.0)
    >>> round(slopes.kappa, 9), round(slopes.eta_J, 9)
    (1.313901954, -1.833959747)
    """
    arrays = model_arrays(kappa=kappa, eta_G=eta_G, eta_J=eta_J, alpha=alpha, lam=lam)
    require_computed(arrays, kernels.exponent_with_status(*arrays)[3])
    return ExponentSensitivities(*(plain(d) for d in kernels.sensitivities(*arrays)))
