"""Ways to draw from the law of an increment, and the choice between them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from scipy.special import gamma, gammainc

from ..._checks import POSITIVE, FloatArray, checked, choice, draw_size, generator
from ..._kernels import sampling as kernels
from ..._kernels.symbol import stable_constant
from ...errors import ConvergenceError, ParameterError
from .table import QuantileTable

if TYPE_CHECKING:
    from .law import IncrementLaw

METHODS = ("auto", "table", "rejection", "small-jumps")
#: Pieces into which exact rejection may split a step; each costs some 2 e draws of 150 ns.
MOST_PIECES = 1000
#: Jumps above the cutoff in a step that the small-jump method may have to add.
MOST_JUMPS = 1e4
#: Size of the fourth-cumulant errors that the small-jump method may have. At 0.01 in units of the Gaussian's
#: variance squared the distribution function is off by 2e-4 (0.023 times that, the Edgeworth term).
SMALL_JUMP_TOLERANCE = 0.01


class _Way(Protocol):
    def draw(self, size: int, rng: np.random.Generator) -> FloatArray: ...


@dataclass(frozen=True)
class Sampler:
    """A way to draw from a law, chosen and prepared.

    Attributes
    ----------
    method : str
        "gaussian", "table", "rejection", "stable" or "small-jumps".
    reason : str
        Why this one.
    error : float
        For a table the relative error of the survival probability; for "small-jumps" the larger of the two errors
        of the fourth cumulant (see `SmallJumps`); 0 for an exact method.
    """

    method: str
    reason: str
    error: float
    _way: _Way

    def rvs(self, size: int | tuple[int, ...] | None = None, rng: Any = None) -> Any:
        """Draw.

        Parameters
        ----------
        size : int or tuple of int, optional
            Shape; a single float without it.
        rng : None, int, SeedSequence, BitGenerator or Generator, optional
            As numpy.random.default_rng takes it.

        Returns
        -------
        float or ndarray
            Independent draws.
        """
        shape = draw_size(size)
        draws = self._way.draw(math.prod(shape), generator(rng))
        return draws.item() if size is None else draws.reshape(shape)


@dataclass(frozen=True)
class GaussianDraws:
    """Normal variables."""

    sd: float

    def draw(self, size: int, rng: np.random.Generator) -> FloatArray:
        """Draw `size` values."""
        return self.sd * rng.standard_normal(size)


@dataclass(frozen=True)
class TableDraws:
    """Inversion of a table."""

    table: QuantileTable

    def draw(self, size: int, rng: np.random.Generator) -> FloatArray:
        """Draw `size` values."""
        return self.table.rvs(size, rng)


@dataclass(frozen=True)
class StableDraws:
    """Chambers-Mallows-Stuck, exact without tempering."""

    alpha: float
    scale: float
    sd: float

    def draw(self, size: int, rng: np.random.Generator) -> FloatArray:
        """Draw `size` values."""
        out = np.empty(size)
        kernels.fill_stable(rng, self.alpha, self.scale, self.sd, out)
        return out


@dataclass(frozen=True)
class Rejection:
    """Exact rejection for alpha < 1: each side is a positive stable variable, tilted exponentially.

    A side of exponent c ((lam+s)^alpha - lam^alpha), c = dt eta_J Gamma(1-alpha)/alpha, is accepted with probability
    exp(-c lam^alpha): the step is split into `pieces` sums, so that it is at least 1/e for each.
    """

    alpha: float
    lam: float
    log_scale: float
    pieces: int
    sd: float

    @classmethod
    def of(cls, law: IncrementLaw) -> Rejection:
        """Prepare, or raise `ParameterError` for alpha >= 1 and `ConvergenceError` for too many pieces."""
        if law.alpha >= 1.0:
            raise ParameterError(f"alpha={law.alpha!r}: exact rejection exists for alpha < 1 only")
        exponent = law.dt * law.eta_J * gamma(1.0 - law.alpha) / law.alpha
        pieces = max(1, math.ceil(exponent * law.lam**law.alpha))
        if pieces > MOST_PIECES:
            raise ConvergenceError(
                f"exact rejection would need {pieces} pieces a step (at most {MOST_PIECES}): its acceptance is "
                f"exp(-{exponent * law.lam**law.alpha:.3g})"
            )
        log_scale = math.log(exponent / pieces) / law.alpha
        return cls(law.alpha, law.lam, log_scale, pieces, math.sqrt(2.0 * law.eta_G * law.dt))

    def draw(self, size: int, rng: np.random.Generator) -> FloatArray:
        """Draw `size` values."""
        out = np.empty(size)
        kernels.fill_rejection(rng, self.alpha, self.lam, self.log_scale, self.pieces, self.sd, out)
        return out


@dataclass(frozen=True)
class SmallJumps:
    r"""Gaussian in place of the jumps below a cutoff, the others one by one (Asmussen & Rosinski 2001).

    The first cumulant it gets wrong is the fourth, by that of the jumps below the cutoff.

    Attributes
    ----------
    cutoff : float
        Jumps at least this large are drawn.
    rate : float
        Mean number of jumps above the cutoff in a step, before tempering.
    fourth_cumulant_lost : float
        Share of the fourth cumulant that is lost.
    excess_lost : float
        The lost fourth cumulant over the square of the Gaussian's variance: what the centre of the law lacks. The
        distribution function is off by about 0.023 times this.
    """

    alpha: float
    lam: float
    cutoff: float
    rate: float
    sd: float
    fourth_cumulant_lost: float
    excess_lost: float

    @property
    def error(self) -> float:
        """The larger of the two errors."""
        return max(self.fourth_cumulant_lost, self.excess_lost)

    @classmethod
    def at(cls, law: IncrementLaw, cutoff: float) -> SmallJumps:
        """With a given cutoff, whatever its error."""
        alpha, lam, jumps = law.alpha, law.lam, law.dt * law.eta_J
        variance, fourth = (_below(n, alpha, lam, cutoff, jumps) for n in (2, 4))
        gaussian = variance + 2.0 * law.eta_G * law.dt
        whole = law.cumulant(4)
        return cls(
            alpha,
            lam,
            cutoff,
            2.0 * jumps * cutoff**-alpha / alpha,
            math.sqrt(gaussian),
            fourth / whole if math.isfinite(whole) else 0.0,
            fourth / gaussian**2,
        )

    @classmethod
    def of(cls, law: IncrementLaw, cutoff: float | None, tolerance: float) -> SmallJumps:
        """With the largest cutoff whose error is within `tolerance`, or the given one if it is.

        Raises
        ------
        ConvergenceError
            If the given cutoff, or every affordable one, loses more.
        """
        if cutoff is None:
            # Both errors grow with the cutoff. The smallest affordable one has MOST_JUMPS a step.
            low = math.log((2.0 * law.dt * law.eta_J / (law.alpha * MOST_JUMPS)) ** (1.0 / law.alpha))
            high = low + 60.0
            if cls.at(law, math.exp(low)).error <= tolerance:
                for _ in range(50):
                    middle = 0.5 * (low + high)
                    if cls.at(law, math.exp(middle)).error <= tolerance:
                        low = middle
                    else:
                        high = middle
            cutoff = math.exp(low)
        made = cls.at(law, cutoff)
        if not made.error <= tolerance:
            raise ConvergenceError(
                f"with {made.rate:.3g} jumps above the cutoff {made.cutoff:.3g} in a step, the Gaussian small jumps "
                f"lose {made.fourth_cumulant_lost:.2g} of the fourth cumulant and an excess of {made.excess_lost:.2g}; "
                f"{tolerance:.2g} is allowed"
            )
        return made

    def draw(self, size: int, rng: np.random.Generator) -> FloatArray:
        """Draw `size` values."""
        out = np.empty(size)
        kernels.fill_small_jumps(rng, self.alpha, self.lam, self.cutoff, self.rate, self.sd, out)
        return out


def choose(law: IncrementLaw, method: str, tolerance: float | None, cutoff: float | None) -> Sampler:
    """Sampler of `law`; see `IncrementLaw.sampler`."""
    choice("method", method, METHODS)
    if cutoff is not None:
        if method != "small-jumps":
            raise ParameterError(f"cutoff={cutoff!r} belongs to method='small-jumps'")
        cutoff = float(checked("cutoff", cutoff, POSITIVE))
    if law.eta_J == 0.0:
        sd = math.sqrt(law.var)
        return Sampler("gaussian", "there are no jumps (eta_J = 0)", 0.0, GaussianDraws(sd))
    asked = f"asked for by method={method!r}"
    if method == "small-jumps":
        way = SmallJumps.of(law, cutoff, SMALL_JUMP_TOLERANCE if tolerance is None else tolerance)
        return Sampler(method, asked, way.error, way)
    if method == "rejection":
        return _exact(law, asked)
    try:
        table = law.table(1e-9 if tolerance is None else tolerance)
    except ConvergenceError as error:
        if method == "table" or (law.lam > 0.0 and law.alpha >= 1.0):
            raise
        return _exact(law, f"a table cannot be made ({error})")
    reason = asked if method == "table" else "the fastest; its error is measured"
    return Sampler("table", reason, table.error, TableDraws(table))


def _exact(law: IncrementLaw, reason: str) -> Sampler:
    if law.lam == 0.0:
        scale = float((law.dt * law.eta_J * stable_constant(law.alpha)) ** (1.0 / law.alpha))
        way = StableDraws(law.alpha, scale, math.sqrt(2.0 * law.eta_G * law.dt))
        return Sampler("stable", reason + "; without tempering nothing is rejected", 0.0, way)
    return Sampler("rejection", reason, 0.0, Rejection.of(law))


def _below(n: int, alpha: float, lam: float, cutoff: float, jumps: float) -> float:
    """2 jumps integral_0^cutoff z^(n-1-alpha) e^(-lam z) dz: the n-th cumulant of the small jumps."""
    order, x = n - alpha, lam * cutoff
    if x < 1e-3:
        # Two terms of the series: lam = 0 is among these.
        small: float = cutoff**order * (1.0 / order - x / (order + 1.0) + 0.5 * x * x / (order + 2.0))
        return 2.0 * jumps * small
    whole: float = float(gamma(order)) * lam**-order
    return 2.0 * jumps * whole * float(gammainc(order, x))
