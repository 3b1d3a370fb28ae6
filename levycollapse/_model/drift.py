"""Restoring drifts F(zeta) with their plateaus and flows (THEORY 2 and 7)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

from .._checks import FINITE, POSITIVE, FloatArray, broadcast_shape, checked, choice, plain
from ..errors import ConvergenceError, ParameterError

#: Calls of a drift that a numerical flow may take before it is given up.
MOST_CALLS = 20_000


class _TooManyCallsError(Exception):
    """The integration of a flow takes too long."""


def scalar_time(t: Any) -> float:
    """Check a time that must be one number."""
    time = checked("t", t, FINITE)
    if time.ndim:
        raise ParameterError(f"t has shape {time.shape}; a numerical flow takes one time")
    return float(time)


class Drift(ABC):
    """A drift F(zeta) with its two plateaus and its flow.

    Use `SaturatingDrift`, `LinearDrift` or `Drift.from_callable`; a subclass defines the four members below.

    See Also
    --------
    SaturatingDrift : The reference drift of the papers.
    """

    @property
    @abstractmethod
    def left(self) -> Any:
        """Plateau kappa = F(-inf), per unit time: inf where the drift confines."""

    @property
    @abstractmethod
    def right(self) -> Any:
        """Plateau -F(+inf), per unit time: inf where the drift confines."""

    @abstractmethod
    def __call__(self, zeta: Any) -> Any:
        """F(zeta), elementwise, in zeta per unit time."""

    def deficit(self, zeta: Any, *, side: str = "left") -> Any:
        """How far the drift is from its plateau: kappa - F on the left, F + kappa_right on the right.

        Parameters
        ----------
        zeta : float or array_like
            Where.
        side : {"left", "right"}, optional
            Which plateau.

        Returns
        -------
        float or ndarray
            The difference; inf where the drift confines on that side. `SaturatingDrift` gives it with full relative
            accuracy however small it is; other drifts give the difference of two numbers, whose rounding is
            about 1e-16 kappa (NUMERICS B.13).

        Raises
        ------
        ParameterError
            If `zeta` is not finite or `side` is not one of the two.

        Examples
        --------
        >>> import levycollapse as lc
        >>> f"{lc.SaturatingDrift(kappa=0.5).deficit(-30.0):.6e}"
        '8.756511e-27'
        """
        choice("side", side, ("left", "right"))
        force = np.asarray(self(zeta), dtype=float)
        return plain(np.asarray(self.left - force if side == "left" else force + self.right))

    def flow(self, zeta: Any, t: Any) -> Any:
        """Where the noiseless motion d zeta/dt = F(zeta) takes `zeta` in time `t`.

        Parameters
        ----------
        zeta : float or array_like
            Starting points.
        t : float
            Time; negative runs backwards.

        Returns
        -------
        float or ndarray
            End points. In closed form where the drift has one, by an eighth-order integration to 1e-12 otherwise.

        Raises
        ------
        ParameterError
            If an argument is not finite.
        ConvergenceError
            If the integration fails, as a backward flow that escapes to infinity does.
        """
        start, time = checked("zeta", zeta, FINITE), scalar_time(t)
        if time == 0.0 or start.size == 0:
            return plain(start.copy())
        left = MOST_CALLS

        def rate(_: float, z: FloatArray) -> FloatArray:
            nonlocal left
            left -= 1
            if left < 0:
                raise _TooManyCallsError
            return np.asarray(self(z))

        options = {"rtol": 1e-12, "atol": 1e-12, "t_eval": [time]}
        try:
            result = solve_ivp(rate, (0.0, time), start.ravel(), method="DOP853", **options)
        except _TooManyCallsError:
            # A long time near the equilibrium is stiff; every point is its own equation, so the Jacobian is diagonal.
            left = MOST_CALLS
            try:
                result = solve_ivp(rate, (0.0, time), start.ravel(), method="LSODA", lband=0, uband=0, **options)
            except _TooManyCallsError:
                raise ConvergenceError(
                    f"the flow over t={time!r} needs more than {MOST_CALLS} calls of the drift"
                ) from None
        if not result.success:
            raise ConvergenceError(f"the flow over t={time!r} could not be integrated: {result.message}")
        return plain(result.y[:, -1].reshape(start.shape))

    @staticmethod
    def from_callable(
        f: Callable[[Any], Any],
        *,
        left: float | None = None,
        right: float | None = None,
        flow: Callable[[Any, float], Any] | None = None,
        compile: bool | str = "auto",
    ) -> Drift:
        """Drift from a function of zeta, with its plateaus found or checked.

        Parameters
        ----------
        f : callable
            F(zeta). It may take an array, or a number only (then it is compiled or looped over).
        left, right : float, optional
            F(-inf) and -F(+inf), inf where the drift confines. Estimated from F on geometric points up to
            abs(zeta) = 1e12 if not given, checked against them if given.
        flow : callable, optional
            Exact flow (zeta, t) -> zeta, checked at a few points against `f`.
        compile : {"auto", True, False}, optional
            Whether to compile `f` with Numba, which simulation wants. "auto" tries and falls back to Python, True
            insists. Compiled code takes the values that global variables have now.

        Returns
        -------
        Drift
            The drift.

        Raises
        ------
        ParameterError
            If `f` is not finite or not a function of one number, a plateau cannot be found or contradicts `f`, the
            flow contradicts `f`, or compilation was insisted on and failed.

        Examples
        --------
        >>> import numpy as np
        >>> import levycollapse as lc
        >>> drift = lc.Drift.from_callable(lambda z: -2.0 * z / np.sqrt(1.0 + z * z))
        >>> round(drift.left, 9), round(drift.right, 9)
        (2.0, 2.0)
        """
        from .callable_drift import CallableDrift

        return CallableDrift(f, left=left, right=right, flow=flow, compile=compile)


class SaturatingDrift(Drift):
    r"""Reference drift: -kappa tanh((zeta - center)/width), with another plateau on the right if wanted.

    Parameters
    ----------
    kappa : float or array_like
        Left plateau F(-inf) > 0, in zeta per unit time.
    center : float or array_like, optional
        Where the drift vanishes.
    width : float or array_like, optional
        Scale > 0 over which it saturates, in units of zeta.
    kappa_right : float or array_like, optional
        Right plateau -F(+inf) > 0; `kappa` if not given.

    Raises
    ------
    ParameterError
        If a parameter is outside its range.

    Notes
    -----
    With two plateaus kL, kR the drift is (kL-kR)/2 - (kL+kR)/2 tanh((zeta-c')/width), where
    c' = center - (width/2) log(kL/kR) keeps its zero at `center`. It stays analytic, which the spectral solver needs.

    References
    ----------
    L. Livi, arXiv:2606.29519; THEORY 2 and 7, NUMERICS C.9 (overflow-free flow).

    Examples
    --------
    >>> import levycollapse as lc
    >>> drift = lc.SaturatingDrift(kappa=1.0, kappa_right=3.0)
    >>> drift.left, drift.right, drift(0.0)
    (1.0, 3.0, 0.0)
    """

    def __init__(self, kappa: Any, center: Any = 0.0, width: Any = 1.0, kappa_right: Any = None) -> None:
        self._kappa = checked("kappa", kappa)
        self._center = checked("center", center, FINITE)
        self._width = checked("width", width, POSITIVE)
        self._kappa_right = self._kappa if kappa_right is None else checked("kappa_right", kappa_right, POSITIVE)
        broadcast_shape(kappa=self._kappa, center=self._center, width=self._width, kappa_right=self._kappa_right)

    @property
    def kappa(self) -> Any:
        """Left plateau."""
        return plain(self._kappa)

    @property
    def center(self) -> Any:
        """Zero of the drift."""
        return plain(self._center)

    @property
    def width(self) -> Any:
        """Scale over which the drift saturates."""
        return plain(self._width)

    @property
    def left(self) -> Any:
        """Plateau F(-inf) = kappa."""
        return plain(self._kappa)

    @property
    def right(self) -> Any:
        """Plateau -F(+inf)."""
        return plain(self._kappa_right)

    def __call__(self, zeta: Any) -> Any:
        """F(zeta), elementwise."""
        point = checked("zeta", zeta, FINITE)
        broadcast_shape(zeta=point, kappa=self._kappa, center=self._center, width=self._width)
        u = (point - self._center) / self._width
        # F = kL kR (1 - e^v)/(kR + kL e^v), v = 2u: the form whose zero is exact; written for e^-|v| only.
        small = np.exp(-2.0 * np.abs(u))
        rise = -np.expm1(-2.0 * np.abs(u))
        ratio = self._kappa / self._kappa_right
        force = np.where(
            u < 0, self._kappa * rise / (1.0 + ratio * small), -self._kappa_right * rise / (1.0 + small / ratio)
        )
        return plain(force + 0.0)  # no negative zero at the center

    def deficit(self, zeta: Any, *, side: str = "left") -> Any:
        """Distance from a plateau, without cancellation; see `Drift.deficit`.

        Parameters
        ----------
        zeta : float or array_like
            Where.
        side : {"left", "right"}, optional
            Which plateau.

        Returns
        -------
        float or ndarray
            The difference, with full relative accuracy however small it is.
        """
        choice("side", side, ("left", "right"))
        u = 2.0 * (checked("zeta", zeta, FINITE) - self._center) / self._width
        here, there = (self._kappa, self._kappa_right) if side == "left" else (self._kappa_right, self._kappa)
        v = u if side == "left" else -u
        # (kL + kR)/(1 + e^-v kR/kL), written for e^-|v| only.
        small, ratio = np.exp(-np.abs(v)), there / here
        return plain((here + there) * np.where(v < 0, small / (small + ratio), 1.0 / (1.0 + ratio * small)))

    def flow(self, zeta: Any, t: Any) -> Any:
        """Exact flow of the drift over a time `t`.

        Parameters
        ----------
        zeta : float or array_like
            Starting points.
        t : float or array_like
            Time; negative runs backwards.

        Returns
        -------
        float or ndarray
            End points, to rounding, also for abs(zeta - center)/width beyond the range of sinh.

        Raises
        ------
        ParameterError
            If an argument is not finite.
        """
        start, time = checked("zeta", zeta, FINITE), checked("t", t, FINITE)
        broadcast_shape(zeta=start, t=time, kappa=self._kappa, center=self._center, width=self._width)
        displacement = (start - self._center) / self._width
        distance = np.abs(displacement)
        if self._kappa_right is self._kappa:
            moved = _symmetric_flow(distance, self._kappa * time / self._width)
        else:
            here = np.where(displacement < 0, self._kappa, self._kappa_right)
            there = np.where(displacement < 0, self._kappa_right, self._kappa)
            moved = _asymmetric_flow(distance, here, there, time / self._width)
        return plain(self._center + self._width * np.copysign(moved, displacement))

    def __repr__(self) -> str:
        right = "" if self._kappa_right is self._kappa else f", kappa_right={self.right!r}"
        return f"SaturatingDrift(kappa={self.kappa!r}, center={self.center!r}, width={self.width!r}{right})"


class LinearDrift(Drift):
    """Linear drift -rate (zeta - center), which confines: no plateau, no characteristic equation.

    Parameters
    ----------
    rate : float or array_like
        theta > 0, per unit time.
    center : float or array_like, optional
        Where the drift vanishes.

    Raises
    ------
    ParameterError
        If a parameter is outside its range.

    References
    ----------
    THEORY 5 (its stationary law is known in closed form).

    Examples
    --------
    >>> import levycollapse as lc
    >>> lc.LinearDrift(rate=0.5).left
    inf
    """

    def __init__(self, rate: Any, center: Any = 0.0) -> None:
        self._rate = checked("rate", rate, POSITIVE)
        self._center = checked("center", center, FINITE)
        broadcast_shape(rate=self._rate, center=self._center)

    @property
    def rate(self) -> Any:
        """Restoring rate theta."""
        return plain(self._rate)

    @property
    def center(self) -> Any:
        """Zero of the drift."""
        return plain(self._center)

    @property
    def left(self) -> float:
        """Always inf: the drift confines."""
        return np.inf

    @property
    def right(self) -> float:
        """Always inf: the drift confines."""
        return np.inf

    def __call__(self, zeta: Any) -> Any:
        """F(zeta), elementwise."""
        point = checked("zeta", zeta, FINITE)
        broadcast_shape(zeta=point, rate=self._rate, center=self._center)
        return plain(-self._rate * (point - self._center))

    def flow(self, zeta: Any, t: Any) -> Any:
        """Exact flow: exponential relaxation to the center.

        Parameters
        ----------
        zeta : float or array_like
            Starting points.
        t : float or array_like
            Time; negative runs backwards.

        Returns
        -------
        float or ndarray
            End points.

        Raises
        ------
        ParameterError
            If an argument is not finite.
        """
        start, time = checked("zeta", zeta, FINITE), checked("t", t, FINITE)
        broadcast_shape(zeta=start, t=time, rate=self._rate, center=self._center)
        return plain(self._center + (start - self._center) * np.exp(-self._rate * time))

    def __repr__(self) -> str:
        return f"LinearDrift(rate={self.rate!r}, center={self.center!r})"


def _symmetric_flow(distance: FloatArray, advance: FloatArray) -> FloatArray:
    """asinh(exp(-a) sinh y) without overflow; y = distance/width >= 0, a = kappa t/width."""
    distance, advance = np.broadcast_arrays(distance, advance)
    moved = np.empty(distance.shape)
    near = (distance < 20) & (np.abs(advance) < 600)
    moved[near] = np.arcsinh(np.exp(-advance[near]) * np.sinh(distance[near]))
    far = ~near
    with np.errstate(divide="ignore"):
        log_sinh = distance[far] + np.log(-np.expm1(-2.0 * distance[far])) - np.log(2.0) - advance[far]
    moved[far] = np.where(log_sinh > 20, log_sinh + np.log(2.0), np.arcsinh(np.exp(np.minimum(log_sinh, 20))))
    return moved


def asymmetric_shift(distance: FloatArray, here: Any, there: Any, time: Any) -> tuple[FloatArray, FloatArray]:
    """How far the flow moves a point at `distance` > 0 from the center, in widths, and m = log(exp(2 y) - 1) after it.

    `here` is the plateau on the side of the point and `there` the other. The solution is implicit in the change d of
    m, convex and nearly linear at both ends, so that Newton's iteration converges from anywhere:

    log(1 - s + s exp(-d))/there - d/here = 2 t, s = 1/(1 + exp(m)).

    Differences only of what is far apart: a short time and very different plateaus lose no digits.
    """
    distance, here, there, time = np.broadcast_arrays(distance, here, there, time)
    with np.errstate(over="ignore", under="ignore"):
        m = 2.0 * distance + np.log(-np.expm1(-2.0 * distance))
        d = np.where(m > 0, -2.0 * time * here, -2.0 * time / (1.0 / here + 1.0 / there))
        for _ in range(60):
            miss = _log_mean_exp(m, d) / there - d / here - 2.0 * time
            step = miss / (1.0 / here + np.exp(-np.logaddexp(0.0, m + d)) / there)
            d = d + step
            if np.all(np.abs(step) <= 4e-16 * np.abs(d)):
                break
        return 0.5 * _log_mean_exp(-m, -d), m + d


def _log_mean_exp(m: FloatArray, d: FloatArray) -> FloatArray:
    """log(1 - s + s exp(-d)) for s = 1/(1 + exp(m)), with small relative error."""
    log_s = -np.logaddexp(0.0, m)
    change = np.exp(log_s) * np.expm1(-d)
    plain = (change > -0.5) & (change < 1e300)
    near = np.log1p(np.where(plain, change, 0.0))
    return np.where(plain, near, np.logaddexp(-np.logaddexp(0.0, -m), log_s - d))


def _asymmetric_flow(distance: FloatArray, here: Any, there: Any, time: FloatArray) -> FloatArray:
    """Flow with plateau `here` on the side of the point and `there` on the other."""
    moving = distance > 0
    start = np.where(moving, distance, 1.0)
    shift, m = asymmetric_shift(start, here, there, time)
    # Beside the center the distance itself, not a difference, has small relative error.
    with np.errstate(under="ignore"):
        end = np.where(m < 0, 0.5 * np.log1p(np.exp(np.minimum(m, 0.0))), start + shift)
    return np.where(moving, end, 0.0)
