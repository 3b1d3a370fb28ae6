"""One model as the solvers see it: plain numbers, array functions and its two sides."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from .._checks import FloatArray
from .._kernels import exponent as exponent_kernels
from .._kernels.symbol import symbol as symbol_at
from .._kernels.symbol import symbol_imaginary
from .._kernels.symbol_complex import symbol_complex
from .._model.collapse_model import CollapseModel
from .._model.drift import LinearDrift, SaturatingDrift
from .._theory.exponent import ExponentStatus, solve_exponent
from ..errors import ParameterError
from .shape import shape

#: Smallest and largest number other than 0 that the solvers take: what they multiply and divide must not overflow.
EXTREME = 1e-30, 1e30

Function = Callable[[FloatArray], FloatArray]
ComplexArray = np.ndarray[Any, np.dtype[np.complex128]]


@dataclass(frozen=True)
class Problem:
    """A scalar model; `mirrored` exchanges its sides, so that only left tails need formulas.

    Attributes
    ----------
    force, deficit, other_deficit : callable
        F, kappa_left - F and F + kappa_right on arrays.
    kappa, other_kappa : float
        Plateaus on the left and on the right; inf where the drift confines.
    eta_G, eta_J, alpha, lam : float
        The noise.
    symmetric : bool
        Whether the drift is odd, so that the law is even.
    origin : float
        The drift's zero (the middle, if it has several), which the functions' argument is measured from.
    width, slope : float
        The scale on which the drift changes and its largest slope -F'.
    rate : float or None
        The slope of a linear drift.
    """

    force: Function
    deficit: Function
    other_deficit: Function
    kappa: float
    other_kappa: float
    eta_G: float
    eta_J: float
    alpha: float
    lam: float
    symmetric: bool
    origin: float
    width: float
    slope: float
    rate: float | None = None

    def mirrored(self) -> Problem:
        """The same model seen in -zeta."""
        return replace(
            self,
            force=lambda x: -self.force(-x),
            deficit=lambda x: self.other_deficit(-x),
            other_deficit=lambda x: self.deficit(-x),
            kappa=self.other_kappa,
            other_kappa=self.kappa,
            origin=-self.origin,
        )

    @cached_property
    def exponent_status(self) -> ExponentStatus:
        """Status of the characteristic root on the left."""
        if np.isinf(self.kappa):
            return ExponentStatus.CONFINED
        return ExponentStatus(solve_exponent(self.kappa, self.eta_G, self.eta_J, self.alpha, self.lam).status)

    @cached_property
    def root(self) -> float:
        """Characteristic root on the left, nan where there is none."""
        if np.isinf(self.kappa):
            return np.nan
        return float(exponent_kernels.exponent(self.kappa, self.eta_G, self.eta_J, self.alpha, self.lam))

    @cached_property
    def gap(self) -> float:
        """Lam - root, exact also where it is below the rounding of the root."""
        return float(solve_exponent(self.kappa, self.eta_G, self.eta_J, self.alpha, self.lam).gap)

    @cached_property
    def tail_rate(self) -> float:
        """Exponential rate of the left tail: the root, lam where there is none, inf for a Gaussian that is confined."""
        if np.isfinite(self.root):
            return self.root
        return self.lam if self.eta_J > 0 else np.inf

    def characteristic_at(self, s: float) -> float:
        """Phi(s) on the left; exactly 0 at the root."""
        return float(exponent_kernels.characteristic(s, self.kappa, self.eta_G, self.eta_J, self.alpha, self.lam))

    def generator_at(self, s: float) -> float:
        """eta_G s**2 + psi(s)."""
        return self.eta_G * s * s + float(symbol_at(s, self.eta_J, self.alpha, self.lam))

    def local_rate(self, force: FloatArray) -> FloatArray:
        """Root s of eta_G s**2 + psi(s) = abs(F) s, lam where there is none: the rate at which rho decays there."""
        strength = np.abs(force)
        rate = np.zeros(strength.shape)
        moving = strength > 0
        found = exponent_kernels.exponent(strength[moving], self.eta_G, self.eta_J, self.alpha, self.lam)
        rate[moving] = np.where(np.isnan(found), self.lam, found)
        return rate

    def multiplier(self, tilt: float, k: FloatArray) -> ComplexArray:
        """H = G(u)/u at u = tilt + ik: what the noise does to exp(u zeta), as a flux; 0 at u = 0."""
        u = tilt + 1j * k
        if tilt == 0.0:
            generator = -self.eta_G * k * k + symbol_imaginary(k, self.eta_J, self.alpha, self.lam) + 0j
        else:
            real, imaginary = symbol_complex(np.full(k.shape, tilt), k, self.eta_J, self.alpha, self.lam)
            generator = self.eta_G * u * u + real + 1j * imaginary
        result = np.zeros(k.shape, dtype=complex)
        nonzero = u != 0
        result[nonzero] = generator[nonzero] / u[nonzero]
        return result


def problem_of(model: Any, *, walls: tuple[float, float] | None = None) -> Problem:
    """Check that `model` is one model with a stationary law (walls always give it one), or say why it is not."""
    if not isinstance(model, CollapseModel):
        raise ParameterError(f"model={model!r} must be a CollapseModel")
    drift = model.drift
    numbers = {
        "kappa": drift.left,
        "kappa_right": drift.right,
        "eta_G": model.eta_G,
        "eta_J": model.eta_J,
        "alpha": model.alpha,
        "lam": model.lam,
        "center": getattr(drift, "center", 0.0),
        "width": getattr(drift, "width", 1.0),
    }
    for name, value in numbers.items():
        if np.ndim(value):
            raise ParameterError(f"{name} has shape {np.shape(value)}: a stationary law is computed for one model")
        if np.isfinite(value) and value != 0 and name != "center" and not EXTREME[0] <= abs(value) <= EXTREME[1]:
            raise ParameterError(
                f"{name}={value!r} must be between {EXTREME[0]:g} and {EXTREME[1]:g} for a stationary law; choose "
                "other units of time or zeta"
            )
    for side, plateau in (("left", drift.left), ("right", drift.right)):
        if walls is None and not plateau > 0:
            raise ParameterError(
                f"the drift does not restore on the {side} (its inward plateau is {plateau!r}): no stationary law"
            )
    saturates = np.isfinite(drift.left) or np.isfinite(drift.right)
    if walls is None and model.eta_J > 0 and model.lam == 0 and model.alpha <= 1 and saturates:
        raise ParameterError(
            f"lam=0 with alpha={model.alpha!r} <= 1: jumps outrun a drift that saturates, there is no stationary law"
        )
    origin, width, slope = shape(model)

    def confining(x: FloatArray) -> FloatArray:
        return np.full_like(x, np.inf)

    def left(x: FloatArray) -> FloatArray:
        return np.asarray(drift.deficit(x + origin), dtype=float)

    def right(x: FloatArray) -> FloatArray:
        return np.asarray(drift.deficit(x + origin, side="right"), dtype=float)

    linear = isinstance(drift, LinearDrift)
    return Problem(
        force=lambda x: np.asarray(drift(x + origin), dtype=float),
        deficit=left if np.isfinite(drift.left) else confining,
        other_deficit=right if np.isfinite(drift.right) else confining,
        kappa=float(drift.left),
        other_kappa=float(drift.right),
        eta_G=float(model.eta_G),
        eta_J=float(model.eta_J),
        alpha=float(model.alpha),
        lam=float(model.lam),
        symmetric=linear or (isinstance(drift, SaturatingDrift) and drift.left == drift.right),
        origin=origin,
        width=width,
        slope=slope,
        rate=float(drift.rate) if isinstance(drift, LinearDrift) else None,
    )
