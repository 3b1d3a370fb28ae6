"""The symmetric alpha-stable law."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._checks import FINITE, POSITIVE, checked, draw_size, generator, plain
from .._kernels import sampling
from .._kernels.symbol import stable_constant
from ..errors import ParameterError
from .increment.gaussian import Gaussian
from .increment.inversion import Inversion
from .increment.symmetric import SymmetricLaw


class SymmetricStable(SymmetricLaw):
    r"""Symmetric stable law with characteristic function exp(-\|scale k\|\ :sup:`alpha`).

    Parameters
    ----------
    alpha : float
        Stability index, in (0, 2].
    scale : float, optional
        sigma > 0. At alpha = 2 the law is normal with standard deviation sqrt(2) sigma; at alpha = 1 it is Cauchy.

    Raises
    ------
    ParameterError
        If a parameter is outside its range or an array.

    Notes
    -----
    Accuracy, its estimate and its refusals are those of `IncrementLaw`, of which this is the case without tempering
    and Gaussian part. Nothing is rounded to the Cauchy or the normal law nearby.

    Do not use it for asymmetric stable laws.

    References
    ----------
    J. P. Nolan, Univariate Stable Distributions (2020); SAMPLERS 1.

    Examples
    --------
    >>> from levycollapse._laws.stable import SymmetricStable
    >>> cauchy, near = SymmetricStable(alpha=1.0), SymmetricStable(alpha=1.001)
    >>> round(cauchy.sf(1.0), 12), round(near.sf(1.0), 12)
    (0.25, 0.249978005898)
    """

    __slots__ = ("_alpha", "_scale")

    def __init__(self, alpha: float, scale: float = 1.0) -> None:
        index = checked("alpha", alpha, POSITIVE)
        width = checked("scale", scale, POSITIVE)
        if index.ndim or width.ndim:
            raise ParameterError("alpha and scale must be single numbers")
        self._alpha, self._scale = float(index), float(width)
        if self._alpha > 2.0:
            raise ParameterError(f"alpha={alpha!r} must be a number in (0, 2]")
        if self._alpha == 2.0:
            self._core = Gaussian(2.0 * self._scale**2)
        else:
            jump = self._scale**self._alpha / float(stable_constant(self._alpha))
            self._core = Inversion(self._alpha, 0.0, jump, 0.0)

    @property
    def alpha(self) -> float:
        """Stability index."""
        return self._alpha

    @property
    def scale(self) -> float:
        """Scale sigma."""
        return self._scale

    @property
    def mean(self) -> float:
        """Mean: 0, or nan for alpha <= 1, where it does not exist."""
        return 0.0 if self._alpha > 1.0 else math.nan

    @property
    def var(self) -> float:
        """Variance: inf, or 2 scale**2 at alpha = 2."""
        return 2.0 * self._scale**2 if self._alpha == 2.0 else math.inf

    def cf(self, k: Any) -> Any:
        r"""Characteristic function.

        Parameters
        ----------
        k : float or array_like
            Wave numbers, in inverse units of `scale`.

        Returns
        -------
        float or ndarray
            exp(-\|scale k\|**alpha).
        """
        with np.errstate(over="ignore", under="ignore"):
            return plain(np.exp(-(np.abs(self._scale * checked("k", k, FINITE)) ** self._alpha)))

    def rvs(self, size: Any = None, rng: Any = None) -> Any:
        """Draw independent values, exactly (Chambers, Mallows and Stuck 1976).

        Parameters
        ----------
        size : int or tuple of int, optional
            Shape; a single float without it.
        rng : None, int, SeedSequence, BitGenerator or Generator, optional
            As numpy.random.default_rng takes it.

        Returns
        -------
        float or ndarray
            The draws. For alpha below about 0.05 some exceed the range of doubles and are inf.
        """
        shape = draw_size(size)
        out = np.empty(math.prod(shape))
        sampling.fill_stable(generator(rng), self._alpha, self._scale, 0.0, out)
        return out.item() if size is None else out.reshape(shape)

    def __reduce__(self) -> tuple[type[SymmetricStable], tuple[float, float]]:
        return SymmetricStable, (self._alpha, self._scale)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SymmetricStable):
            return NotImplemented
        return (self._alpha, self._scale) == (other._alpha, other._scale)

    def __hash__(self) -> int:
        return hash((self._alpha, self._scale))

    def __repr__(self) -> str:
        return f"SymmetricStable(alpha={self._alpha!r}, scale={self._scale!r})"
