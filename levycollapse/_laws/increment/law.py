"""The law of one time step of the noise."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from ..._checks import (
    FINITE,
    NON_NEGATIVE,
    POSITIVE,
    STABILITY,
    checked,
    plain,
)
from ..._kernels.symbol import symbol_imaginary
from ...errors import ParameterError
from ..cumulant import check_order, jump_cumulant
from .gaussian import Gaussian
from .inversion import Inversion
from .samplers import Sampler, choose
from .symmetric import SymmetricLaw
from .table import QuantileTable, build_table


class IncrementLaw(SymmetricLaw):
    r"""Law of X = sqrt(2 eta_G dt) N + J_dt: one time step of Gaussian noise and tempered stable jumps.

    Its cumulant function is dt (eta_G u\ :sup:`2` + psi(u)), with psi of `TemperedStable.symbol`. The law is
    symmetric; its tail is exponential with rate lam, or a power for lam = 0.

    Parameters
    ----------
    alpha : float
        Stability index, in (0, 2).
    lam : float
        Tempering >= 0, in units of 1/zeta.
    eta_J : float
        Jump intensity >= 0.
    eta_G : float
        Gaussian intensity >= 0; not both intensities can be 0.
    dt : float
        Time step > 0.

    Raises
    ------
    ParameterError
        If a parameter is outside its range or an array, or there is no noise.

    See Also
    --------
    TemperedStable.increment : This law without its Gaussian part.

    Notes
    -----
    Density and tail are found by contour integration with small *relative* error: at most 1e-10 where P(X > \|x\|)
    >= 1e-15, and 1e-9 beyond, as estimated by `error` (below 1e-300: 1e-12 of the logarithm). The estimate is measured
    at run time against a second contour. Where it exceeds these bounds, a call raises `ConvergenceError` (pure jumps
    with alpha below about 0.1 at small dt, close to the peak).

    Intervals of x are prepared where a call first needs them (some 0.3 ms for a factor of 2 in x), and kept: the first
    call is slower than the next. Do not make a law for each of many parameter values at one x each.

    References
    ----------
    THEORY 7; SAMPLERS 1. J. A. C. Weideman and L. N. Trefethen, Parabolic and hyperbolic contours for computing the
    Bromwich integral, Math. Comp. 76 (2007) 1341.

    Examples
    --------
    >>> from levycollapse._laws.increment import IncrementLaw
    >>> law = IncrementLaw(alpha=1.5, lam=3.0, eta_J=0.62, eta_G=0.1, dt=0.01)
    >>> round(law.pdf(0.0), 9), float(f"{law.sf(12.0):.2e}")
    (3.858264212, 9.79e-22)
    """

    __slots__ = ("_alpha", "_dt", "_eta_G", "_eta_J", "_lam")

    def __init__(self, alpha: float, lam: float, eta_J: float, eta_G: float, dt: float) -> None:
        self._alpha = number("alpha", alpha, STABILITY)
        self._lam = number("lam", lam, NON_NEGATIVE)
        self._eta_J = number("eta_J", eta_J, NON_NEGATIVE)
        self._eta_G = number("eta_G", eta_G, NON_NEGATIVE)
        self._dt = number("dt", dt, POSITIVE)
        if self._eta_J == 0.0 and self._eta_G == 0.0:
            raise ParameterError("eta_G=0 and eta_J=0: the increment would be 0; one of them must be > 0")
        if self._eta_J == 0.0:
            self._core = Gaussian(2.0 * self._eta_G * self._dt)
        else:
            self._core = Inversion(self._alpha, self._lam, self._dt * self._eta_J, self._dt * self._eta_G)

    # -- parameters -----------------------------------------------------------------------------------------------

    @property
    def alpha(self) -> float:
        """Stability index."""
        return self._alpha

    @property
    def lam(self) -> float:
        """Tempering lambda."""
        return self._lam

    @property
    def eta_J(self) -> float:
        """Jump intensity."""
        return self._eta_J

    @property
    def eta_G(self) -> float:
        """Gaussian intensity."""
        return self._eta_G

    @property
    def dt(self) -> float:
        """Time step."""
        return self._dt

    # -- draws ----------------------------------------------------------------------------------------------------

    def table(self, tolerance: float = 1e-9) -> QuantileTable:
        """Table for drawing by inversion, made once for equal laws.

        Parameters
        ----------
        tolerance : float, optional
            Largest relative error of the survival probability.

        Returns
        -------
        QuantileTable
            With its measured error and the time that it took.

        Raises
        ------
        ConvergenceError
            If the law or its table cannot be that accurate.
        """
        return _table(self, number("tolerance", tolerance, POSITIVE))

    def sampler(self, method: str = "auto", *, tolerance: float | None = None, cutoff: float | None = None) -> Sampler:
        """Prepare a way to draw.

        Parameters
        ----------
        method : {"auto", "table", "rejection", "small-jumps"}, optional
            "table" inverts `table`. "rejection" is exact, for alpha < 1 or lam = 0. "small-jumps" adds the jumps above
            a cutoff to a Gaussian (Asmussen & Rosinski), which is approximate. "auto" takes the table, and where
            that cannot be made, rejection.
        tolerance : float, optional
            For a table, the largest relative error of the survival probability (1e-9). For "small-jumps", the largest
            error of the fourth cumulant, as a share of it and in units of the Gaussian's variance squared (0.01).
        cutoff : float, optional
            For "small-jumps"; by default the largest that the tolerance allows.

        Returns
        -------
        Sampler
            With `method`, `reason` and `error`, and its own `rvs`.

        Raises
        ------
        ParameterError
            If the method does not exist for this law.
        ConvergenceError
            If the method cannot be as accurate as asked, or would be too slow.

        Examples
        --------
        >>> from levycollapse._laws.increment import IncrementLaw
        >>> law = IncrementLaw(alpha=0.7, lam=3.0, eta_J=0.62, eta_G=0.0, dt=0.01)
        >>> sampler = law.sampler()
        >>> sampler.method, sampler.error < 1e-9
        ('table', True)
        """
        limit = None if tolerance is None else number("tolerance", tolerance, POSITIVE)
        return choose(self, method, limit, cutoff)

    def rvs(self, size: Any = None, rng: Any = None, *, method: str = "auto") -> Any:
        """Draw independent increments.

        Parameters
        ----------
        size : int or tuple of int, optional
            Shape; a single float without it.
        rng : None, int, SeedSequence, BitGenerator or Generator, optional
            As numpy.random.default_rng takes it.
        method : str, optional
            As in `sampler`.

        Returns
        -------
        float or ndarray
            The draws, in units of zeta.

        Raises
        ------
        ParameterError, ConvergenceError
            As in `sampler`.
        """
        return self.sampler(method).rvs(size, rng)

    # -- transforms and moments -----------------------------------------------------------------------------------

    def cf(self, k: Any) -> Any:
        """Characteristic function E exp(ikX), which is real and positive.

        Parameters
        ----------
        k : float or array_like
            Wave numbers, in units of 1/zeta.

        Returns
        -------
        float or ndarray
            exp(dt (psi(ik) - eta_G k**2)).
        """
        wave = checked("k", k, FINITE)
        with np.errstate(under="ignore", over="ignore"):
            exponent = symbol_imaginary(wave, self._eta_J, self._alpha, self._lam) - self._eta_G * wave * wave
            return plain(np.exp(self._dt * exponent))

    def cumulant(self, n: int) -> float:
        """Cumulant of order `n`.

        Parameters
        ----------
        n : int
            Order, >= 1.

        Returns
        -------
        float
            2 dt eta_J Gamma(n-alpha) lam**(alpha-n) for even n, plus 2 dt eta_G for n = 2; 0 for odd n. Without
            tempering the even ones are inf.
        """
        check_order(n)
        gaussian = 2.0 * (self._dt * self._eta_G) if n == 2 else 0.0
        return gaussian + float(jump_cumulant(n, self._alpha, self._lam, self._eta_J, self._dt))

    @property
    def mean(self) -> float:
        """Mean: 0 by symmetry (nan for lam = 0 and alpha <= 1, where it does not exist)."""
        missing = self._eta_J > 0.0 and self._lam == 0.0 and self._alpha <= 1.0
        return math.nan if missing else 0.0

    @property
    def var(self) -> float:
        """Variance, `cumulant(2)`."""
        return self.cumulant(2)

    # -- identity -------------------------------------------------------------------------------------------------

    def _key(self) -> tuple[float, ...]:
        return self._alpha, self._lam, self._eta_J, self._eta_G, self._dt

    def __reduce__(self) -> tuple[type[IncrementLaw], tuple[float, ...]]:
        # What has been prepared is quicker made again than sent.
        return IncrementLaw, self._key()

    def __eq__(self, other: object) -> bool:
        return self._key() == other._key() if isinstance(other, IncrementLaw) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        return (
            f"IncrementLaw(alpha={self._alpha!r}, lam={self._lam!r}, eta_J={self._eta_J!r}, "
            f"eta_G={self._eta_G!r}, dt={self._dt!r})"
        )


@lru_cache(maxsize=64)
def _table(law: IncrementLaw, tolerance: float) -> QuantileTable:
    return build_table(law._core, tolerance)


def number(name: str, value: Any, rule: Any) -> float:
    """Check a parameter that must be a single number."""
    array = checked(name, value, rule)
    if array.ndim:
        raise ParameterError(f"{name} has shape {array.shape}: the law of an increment takes single numbers")
    return float(array)
