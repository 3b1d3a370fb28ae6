"""The location family of a symmetric stable law: divergence of a shift, Fisher information, their numerics."""

from __future__ import annotations

import math
import threading
from functools import lru_cache

import numpy as np
from numpy.polynomial import chebyshev
from numpy.typing import NDArray
from scipy.optimize import elementwise
from scipy.special import gammaln

from .._checks import FloatArray
from .._laws.stable import SymmetricStable

#: Gauss-Legendre points of a panel; panels double in length away from a peak. 40 change nothing above 1e-13 (measured).
POINTS = 20
#: Degree in u**2 below FIRST widths of the peak, and in log u in each octave above.
SMALL_DEGREE, DEGREE = 9, 20
#: Where the octaves begin, in widths of the peak.
FIRST = 0.1
#: Share of the divergence that the far tail may hold beyond the last panel.
NEGLIGIBLE = 1e-14
#: Smallest alpha: below, the density is so sharply peaked that KL/u**2 is not analytic enough (1e-9 at 0.15).
LEAST_INDEX = 0.2
#: Largest shift over scale: beyond, the panels would leave the range of doubles.
LARGEST = 1e250

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(POINTS)


class Location:
    """Kullback-Leibler divergence between a symmetric stable law of scale 1 and itself shifted by u, at one alpha.

    With g = log f and h = u/2 the divergence is the symmetric one over two, an integral of something positive,

        KL(u) = int_0^inf (f(x-h) - f(x+h)) (g(x-h) - g(x+h)) dx = int f(s) D (1 - e^-D) ds,  D = g(s) - g(2h +- s),

    so that nothing cancels at large shifts, and at small ones only g(x-h) - g(x+h), which is of order u. KL/u**2 is
    analytic in u**2: below a tenth of the width of the peak it is interpolated there, which makes it relatively
    accurate down to u = 0, and its value at 0 half the Fisher information. Above, log KL is interpolated in log u,
    octave by octave, each made when it is first asked for.
    """

    def __init__(self, alpha: float) -> None:
        self.alpha = alpha
        self._law = SymmetricStable(alpha)
        self.width = peak_width(alpha)
        self._start = FIRST * self.width
        self._lock = threading.Lock()
        self._octaves: dict[int, FloatArray] = {}
        # KL/u^2 at Chebyshev nodes of u^2/start^2 on [0, 1].
        cosines = chebyshev.chebpts1(SMALL_DEGREE + 1)
        u = self._start * np.sqrt(0.5 * (1 + cosines))
        values = np.array([self.integral(v) for v in u]) / u**2
        self._small = chebyshev.chebfit(cosines, values, SMALL_DEGREE)

    @property
    def information(self) -> float:
        """Fisher information of the location."""
        return 2 * float(chebyshev.chebval(-1.0, self._small))

    def divergence(self, u: FloatArray) -> FloatArray:
        """KL at u >= 0, up to LARGEST."""
        out = np.empty(u.shape)
        scaled = u / self._start
        small = scaled <= 1
        near = u[small]
        with np.errstate(under="ignore"):
            out[small] = chebyshev.chebval(2 * scaled[small] ** 2 - 1, self._small) * near * near
        if not small.all():
            out[~small] = np.exp(self._log_divergence(scaled[~small]))
        return out

    def _log_divergence(self, scaled: FloatArray) -> FloatArray:
        mantissa, exponent = np.frexp(scaled)
        wanted, index = np.unique(exponent, return_inverse=True)
        table = np.stack([self._octave(int(k)) for k in wanted])[index.ravel()]
        position = 2 * np.log2(2 * mantissa) - 1
        # Clenshaw's recurrence, every element with its own series.
        b1, b2 = np.zeros(scaled.shape), np.zeros(scaled.shape)
        for k in range(DEGREE, 0, -1):
            b1, b2 = table[:, k] + 2 * position * b1 - b2, b1
        return np.asarray(table[:, 0] + position * b1 - b2)

    def _octave(self, exponent: int) -> FloatArray:
        """Chebyshev series of log KL over log u where u/start is in [2^(exponent-1), 2^exponent]."""
        with self._lock:
            found = self._octaves.get(exponent)
        if found is None:
            nodes = chebyshev.chebpts1(DEGREE + 1)
            u = self._start * np.exp2(exponent - 1 + 0.5 * (1 + nodes))
            log_kl = np.log([self.integral(v) for v in u])
            made: FloatArray = np.asarray(chebyshev.chebfit(nodes, log_kl, DEGREE), dtype=np.float64)
            with self._lock:
                self._octaves[exponent] = made
            return made
        return found

    def integral(self, u: float) -> float:
        """KL(u) by quadrature, for one u > 0."""
        h = 0.5 * u
        left = panels(0.5 * self.width, h)
        reach = max(h, 1.0) * NEGLIGIBLE ** (-1 / (2 + self.alpha))
        right = panels(0.5 * self.width, reach)
        s = np.concatenate([left[0], right[0]])
        other = np.concatenate([u - left[0], u + right[0]])
        log_f = self._law.logpdf(np.concatenate([s, other]))
        near, difference = log_f[: s.size], log_f[: s.size] - log_f[s.size :]
        with np.errstate(under="ignore"):
            return float((np.concatenate([left[1], right[1]]) * np.exp(near) * difference) @ -np.expm1(-difference))


def peak_width(alpha: float) -> float:
    """Width sqrt(f(0)/|f''(0)|) of the density's peak at scale 1."""
    return math.exp(0.5 * (float(gammaln(1 / alpha)) - float(gammaln(3 / alpha))))


def panels(first: float, end: float) -> tuple[FloatArray, FloatArray]:
    """Nodes and weights on [0, end]: panels that double in length after the first."""
    count = max(0, math.ceil(math.log2(end / first)))
    edges = np.concatenate([[0.0], first * np.exp2(np.arange(count)), [end]]) if count else np.array([0.0, end])
    half = 0.5 * np.diff(edges)
    nodes: NDArray[np.float64] = (edges[:-1] + half)[:, None] + half[:, None] * _NODES
    return nodes.ravel(), (half[:, None] * _WEIGHTS).ravel()


class Cauchy:
    """Location family at alpha = 1."""

    information = 0.5

    def divergence(self, u: FloatArray) -> FloatArray:
        """Closed form, without overflow of the square."""
        half = 0.5 * u
        with np.errstate(over="ignore", under="ignore"):
            return np.where(half > 1e8, 2 * np.log(np.maximum(half, 1.0)), np.log1p(half * half))


class Normal:
    """Location family at alpha = 2."""

    information = 0.5

    def divergence(self, u: FloatArray) -> FloatArray:
        """Closed form; inf where it overflows."""
        half = 0.5 * u
        with np.errstate(over="ignore", under="ignore"):
            return np.asarray(half * half)


@lru_cache(maxsize=64)
def location(alpha: float) -> Location | Cauchy | Normal:
    """The family at one alpha, made once."""
    if alpha == 1.0:
        return Cauchy()
    return Normal() if alpha == 2.0 else Location(alpha)


def shifts_of_divergence(target: FloatArray, alpha: float) -> FloatArray:
    """Find u with KL(u) = target > 0; nan where it is beyond LARGEST."""
    if alpha == 2.0:
        return np.asarray(2 * np.sqrt(target))
    family = location(alpha)

    def excess(log_u: FloatArray, log_target: FloatArray) -> FloatArray:
        return np.asarray(np.log(family.divergence(np.exp(log_u))) - log_target)

    levels, index = np.unique(np.log(target), return_inverse=True)
    # KL <= I u^2/2, so this is below but for rounding.
    low = 0.5 * (levels + math.log(2 / family.information)) - 1e-6
    high = low + 0.5
    short = np.ones(levels.shape, dtype=bool)
    while short.any():
        short[short] = excess(high[short], levels[short]) < 0
        low[short] = high[short]
        high[short] += 2.0
        short &= high < math.log(LARGEST)
    out = np.full(levels.shape, np.nan)
    inside = high < math.log(LARGEST)
    out[inside] = np.exp(elementwise.find_root(excess, (low[inside], high[inside]), args=(levels[inside],)).x)
    return out[index.reshape(target.shape)]
