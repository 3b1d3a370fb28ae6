"""The stationary law as an object (THEORY 4-6)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from enum import IntEnum
from typing import Any

import numpy as np

from .._checks import FINITE, NON_NEGATIVE, POSITIVE, FloatArray, as_float_array, checked, draw_size, generator, plain
from .._theory.tail import TailLaw
from ..errors import ParameterError
from .curve import Curve, panels
from .far_tail import Beyond as Tail

#: Relative step of a quantile's iteration below which steps that no longer shrink are rounding.
QUANTILE_NOISE = 1e-9

#: Where e^u exp(-e^u) is more than rounding, and its left tail more than 1e-18.
U_RANGE = -42.0, 6.7

Inside = Callable[[FloatArray], FloatArray]
Beyond = Callable[[Tail, FloatArray], FloatArray]


class DensityStatus(IntEnum):
    """How a stationary density was obtained, and what its error estimate means."""

    #: Fourier method: the error estimate (edges, spectrum, identity, joints) is below the tolerance asked for.
    CONVERGED = 0
    #: Markov chain: the error is that of its grid, estimated from two coarser ones; it is not controlled. An
    #: `AccuracyWarning` says so where the chain was not asked for.
    DISCRETISED = 1
    #: Fourier method, converged where the law has its mass; the far tails, ten or more digits below it, only have
    #: `tail_error`, between 1e-6 and 1e-3. An `AccuracyWarning` gives it.
    TAIL_LIMITED = 2


class StationaryDensity:
    """Stationary law of zeta = -log tau; made by `stationary_density`.

    Attributes
    ----------
    status : DensityStatus
        How it was obtained.
    error : float
        Estimate of the relative error of the density where the law has its mass.
    tail_error : float
        Estimate of it in both far tails: how well neighbouring solutions and the far tails agree where they meet, and
        for a drift that confines the residual of the identity of THEORY 5. nan for the chain.
    zeta, density : ndarray, shape (n,)
        A grid that resolves the density, and the density on it. Between and beyond its points use `pdf`.
    tail : TailLaw
        Left tail of zeta, right tail of tau, with its prefactor.

    See Also
    --------
    stationary_density : What makes one, with its accuracy.

    References
    ----------
    THEORY 4-6 and 8, NUMERICS C.4, C.5 and D.

    Examples
    --------
    >>> import levycollapse as lc
    >>> model = lc.CollapseModel.from_parameters(kappa=0.5, eta_G=0.1, eta_J=0.1, alpha=1.3, lam=1.5)
    >>> law = lc.stationary_density(model)
    >>> law.status, law.error < 1e-8
    (<DensityStatus.CONVERGED: 0>, True)
    >>> round(law.pdf(0.0), 8), f"{law.pdf(-100.0):.6e}", f"{law.cdf(-100.0):.6e}"
    (0.59040565, '1.814413e-70', '1.190838e-70')
    >>> round(law.ppf(0.1), 6), round(law.mean_timescale, 6), law.timescale_moment(2.0)
    (-0.931836, 1.388995, inf)
    >>> round(law.envelope(100.0), 8)
    8.744e-05
    """

    #: `rvs` is `ppf` of uniforms: who has many streams may draw from all of them in one call.
    _by_inversion = True

    def __init__(
        self,
        curve: Curve,
        far_left: Tail,
        far_right: Tail,
        *,
        origin: float,
        tail: TailLaw,
        moment_range: tuple[float, float],
        closed: tuple[bool, bool],
        status: DensityStatus,
        error: float,
        tail_error: float,
        step: float,
    ) -> None:
        self._curve = curve
        self._far_left = far_left
        #: Far right tail, as the far left one of -zeta.
        self._far_right = far_right
        self._origin = origin
        #: Where E[tau**s] exists, and whether it does at the two ends (where there is no root).
        self._moment_range = moment_range
        self._closed = closed
        self._step = step
        self._rule: tuple[FloatArray, FloatArray] | None = None
        self.tail = tail
        self.status = status
        self.error = error
        self.tail_error = tail_error

    @property
    def zeta(self) -> FloatArray:
        """Grid."""
        return self._nodes()[0] + self._origin

    @property
    def density(self) -> FloatArray:
        """Density on the grid."""
        return self._pdf(self._nodes()[0])

    def pdf(self, zeta: Any) -> Any:
        """Density of zeta.

        Parameters
        ----------
        zeta : float or array_like
            Where, anywhere on the line.

        Returns
        -------
        float or ndarray
            rho(zeta), with relative accuracy in both tails.

        Raises
        ------
        ParameterError
            If `zeta` is not finite.
        """
        return plain(self._pdf(checked("zeta", zeta, FINITE) - self._origin))

    def cdf(self, zeta: Any) -> Any:
        """Distribution function of zeta, with relative accuracy in the left tail.

        Parameters
        ----------
        zeta : float or array_like
            Where, anywhere on the line.

        Returns
        -------
        float or ndarray
            P(Z <= zeta): the share of units whose time scale is above exp(-zeta).

        Raises
        ------
        ParameterError
            If `zeta` is not finite.
        """
        return plain(self._cdf(checked("zeta", zeta, FINITE) - self._origin))

    def ppf(self, q: Any) -> Any:
        """Quantiles of zeta.

        Parameters
        ----------
        q : float or array_like
            Probabilities in [0, 1].

        Returns
        -------
        float or ndarray
            zeta with cdf(zeta) = q; -inf at 0 and inf at 1.

        Raises
        ------
        ParameterError
            If a probability is outside [0, 1].
        """
        level = as_float_array("q", q, "a probability in [0, 1]")
        if not ((level >= 0) & (level <= 1)).all():
            raise ParameterError(f"q={q!r} must be a probability in [0, 1]")
        return plain(self._quantile(level) + self._origin)

    def timescale_pdf(self, tau: Any) -> Any:
        """Density of the time scale tau = exp(-zeta), the spectrum p(tau).

        Parameters
        ----------
        tau : float or array_like
            Time scales > 0.

        Returns
        -------
        float or ndarray
            p(tau) = rho(-log tau)/tau.

        Raises
        ------
        ParameterError
            If a time scale is not positive.
        """
        scale = checked("tau", tau, POSITIVE)
        return plain(self._pdf(-np.log(scale) - self._origin) / scale)

    def timescale_moment(self, s: Any) -> Any:
        """Moment E[tau**s] = M(s) of the time scale.

        Parameters
        ----------
        s : float or array_like
            Any finite power, also negative.

        Returns
        -------
        float or ndarray
            The moment; inf where it diverges (THEORY 5, NUMERICS B.1).

        Raises
        ------
        ParameterError
            If `s` is not finite.
        """
        powers = checked("s", s, FINITE)
        value = np.array([self._moment(float(power)) for power in powers.ravel()]).reshape(powers.shape)
        return plain(value)

    @property
    def mean_timescale(self) -> float:
        """E[tau]: inf in every phase but CONCENTRATED, and COLLAPSED with lam >= 1 (NUMERICS B.3)."""
        return self._moment(1.0)

    def envelope(self, lags: Any) -> Any:
        """Envelope f(l) = E[exp(-l/tau)] of a network with this spectrum.

        Parameters
        ----------
        lags : float or array_like
            Lags >= 0.

        Returns
        -------
        float or ndarray
            f(l), to 1e-9 of its value at every lag: the integral runs over the distribution function, which has
            relative accuracy in the far tail.

        Raises
        ------
        ParameterError
            If a lag is negative.
        """
        lag = checked("lags", lags, NON_NEGATIVE)
        flat = lag.ravel()
        value = np.ones(flat.shape)
        positive = flat > 0
        # f(l) = int cdf(u - log l) e^u exp(-e^u) du: gone beyond u = 6.7.
        shift = -np.log(flat[positive]) - self._origin
        value[positive] = self._envelope_by_panels(shift) if self._curve.joints.size else self._envelope_by_steps(shift)
        return plain(value.reshape(lag.shape))

    def rvs(self, size: Any = None, rng: Any = None) -> Any:
        """Draw from the law.

        Parameters
        ----------
        size : int or tuple of int, optional
            Shape; one number if not given.
        rng : None, int, SeedSequence, BitGenerator or Generator, optional
            Source of randomness (SPEC 7).

        Returns
        -------
        float or ndarray
            Independent values of zeta, by inversion: as exact as `ppf`.
        """
        uniform = generator(rng).random(draw_size(size))
        return self.ppf(uniform)

    def _nodes(self) -> tuple[FloatArray, FloatArray]:
        if self._rule is None:
            self._rule = self._curve.rule()
        return self._rule

    def _pdf(self, zeta: FloatArray) -> FloatArray:
        # Between two wells the density may be less than its rounding, which has either sign.
        return np.maximum(self._split(zeta, self._curve.pdf, lambda t, z: t.pdf(z), lambda t, z: t.pdf(z)), 0.0)

    def _cdf(self, zeta: FloatArray) -> FloatArray:
        return self._split(zeta, self._curve.cdf, lambda t, z: t.cdf(z), lambda t, z: 1.0 - t.cdf(z))

    def _sf(self, zeta: FloatArray) -> FloatArray:
        return self._split(zeta, self._curve.sf, lambda t, z: 1.0 - t.cdf(z), lambda t, z: t.cdf(z))

    def _split(self, zeta: FloatArray, inside: Inside, on_left: Beyond, on_right: Beyond) -> FloatArray:
        """Evaluate the curve between its ends and the far tails beyond, the right one in -zeta."""
        zeta = np.asarray(zeta, dtype=float)
        result = np.empty(zeta.shape)
        left, right = zeta < self._curve.left, zeta > self._curve.right
        middle = ~(left | right)
        # Far out an exponent overflows on its way to a density of 0.
        with np.errstate(over="ignore", under="ignore"):
            if middle.any():
                result[middle] = inside(zeta[middle])
            if left.any():
                result[left] = on_left(self._far_left, zeta[left])
            if right.any():
                result[right] = on_right(self._far_right, -zeta[right])
        return result

    def _moment(self, s: float) -> float:
        low, high = self._moment_range
        if not (low < s < high or (s == low and self._closed[0]) or (s == high and self._closed[1])):
            return np.inf
        zeta, weights = self._nodes()
        total = float(weights @ np.exp(-s * zeta))
        total += self._far_left.moment(s) + self._far_right.moment(-s)
        return total * float(np.exp(-s * self._origin))

    def _envelope_by_steps(self, shift: FloatArray) -> FloatArray:
        """Envelope at exp(-shift) where the density is smooth on the scale of a step: a trapezoid sum is exact."""
        step = min(0.125, self._step)
        u = np.arange(U_RANGE[0], U_RANGE[1] + step, step)
        kernel = step * np.exp(u - np.exp(u))
        sums = np.empty(shift.shape)
        chunk = max(1, 200_000 // len(u))
        for start in range(0, len(shift), chunk):
            part = shift[start : start + chunk]
            sums[start : start + chunk] = self._cdf(np.add.outer(part, u)) @ kernel
        return sums

    def _envelope_by_panels(self, shift: FloatArray) -> FloatArray:
        """The same by Gauss's rule between nodes, which a peak may have brought as close as rounding."""
        even = np.arange(U_RANGE[0], U_RANGE[1] + 0.25, 0.25)
        joints = self._curve.joints
        sums = np.empty(shift.shape)
        for i, begin in enumerate(shift):
            inner = joints - begin
            inside = (inner > even[0]) & (inner < even[-1])
            u, weights = panels(np.unique(np.concatenate([even, inner[inside]])))
            sums[i] = self._cdf(u + begin) @ (weights * np.exp(u - np.exp(u)))
        return sums

    def _quantile(self, level: FloatArray) -> FloatArray:
        """Newton's iteration on log cdf (left half) and log sf (right half), safeguarded by bisection."""
        result = np.full(level.shape, np.nan)
        result[level == 0] = -np.inf
        result[level == 1] = np.inf
        inside = (level > 0) & (level < 1)
        goal = level[inside]
        if not goal.size:
            return result
        grid = self._quantile_grid(float(goal.min()), float(1.0 - goal.max()))
        with np.errstate(divide="ignore"):
            log_cdf = np.log(np.maximum(self._cdf(grid), 0.0))
            log_sf = np.log(np.maximum(self._sf(grid), 0.0))
        left_half = goal <= 0.5
        point = np.empty(goal.shape)
        for half, logs, target, sign in (
            (left_half, log_cdf, np.log(goal), 1.0),
            (~left_half, log_sf, np.log1p(-goal), -1.0),
        ):
            if not half.any():
                continue
            values = target[half]
            order = slice(None) if sign > 0 else slice(None, None, -1)
            curve = np.maximum.accumulate(logs[order])
            found = np.searchsorted(curve, values)
            where = np.clip(found, 1, len(grid) - 1)
            ends = grid[order]
            low = np.minimum(ends[where - 1], ends[where])
            high = np.maximum(ends[where - 1], ends[where])
            with np.errstate(invalid="ignore"):
                x = np.interp(values, curve, ends)
            x = np.where((x >= low) & (x <= high), x, 0.5 * low + 0.5 * high)
            mass = self._cdf if sign > 0 else self._sf
            active = np.arange(len(x))
            last = np.full(len(x), np.inf)
            for _ in range(60):
                here = x[active]
                m = mass(here)
                with np.errstate(divide="ignore"):
                    off = np.log(m) - values[active]
                above = sign * off > 0
                high[active[above]] = here[above]
                low[active[~above]] = here[~above]
                with np.errstate(divide="ignore", invalid="ignore"):
                    new = here - off * m / (sign * self._pdf(here))
                bad = ~((new >= low[active]) & (new <= high[active]))
                new[bad] = 0.5 * low[active[bad]] + 0.5 * high[active[bad]]
                x[active] = new
                # Newton's steps shrink quadratically until they are the rounding of the distribution function.
                step = np.abs(new - here)
                size = np.maximum(np.abs(new), self._step)
                noise = (step < QUANTILE_NOISE * size) & (step > 0.25 * last[active])
                last[active] = step
                active = active[~noise & (step > 4e-16 * size) & (np.abs(off) > 4e-16)]
                if not active.size:
                    break
            # A quantile that is not a floating-point number.
            point[half] = np.where(found == 0, -sign * np.inf, x)
        result[inside] = point
        return result

    def _quantile_grid(self, lowest: float, highest: float) -> FloatArray:
        """Points between which every quantile is that leaves these masses outside, as far as numbers go."""
        left, right = self._curve.left, self._curve.right
        nodes = self._nodes()[0]
        inner = np.unique(np.concatenate([[left], nodes[:: len(nodes) // 20_000 + 1], [right]]))
        reach = (right - left) * np.geomspace(0.02, 1e6, 200)
        farther = np.geomspace(1.2 * reach[-1], 1e307, 1500)
        before = left - reach[::-1]
        after = right + reach
        if self._cdf(before[:1])[0] > lowest:
            before = np.concatenate([left - farther[::-1], before])
        if self._sf(after[-1:])[0] > highest:
            after = np.concatenate([after, right + farther])
        grid: FloatArray = np.concatenate([before, inner, after])
        return grid

    def __repr__(self) -> str:
        return (
            f"StationaryDensity(status={self.status!r}, error={self.error:.1e}, tail_error={self.tail_error:.1e}, "
            f"tail={self.tail!r})"
        )


def with_prefactor(tail: TailLaw, prefactor: float) -> TailLaw:
    """The law with its constant filled in."""
    return replace(tail, prefactor=prefactor)
