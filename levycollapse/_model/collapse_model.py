"""The anti-collapse model: d zeta = F(zeta) dt + sqrt(2 eta_G) dW + dJ."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._checks import broadcast_shape, model_arrays, plain
from .._laws.increment import IncrementLaw
from .._laws.tempered_stable import ASYMMETRIC, TemperedStable
from .._theory.exponent import ExponentResult, ExponentStatus, jump_threshold, solve_exponent, spectral_exponent
from .._theory.phase import Phase, phase
from .._theory.tail import TailForm, TailLaw, linear_drift_tail, no_tail, tail_law
from ..errors import ParameterError
from .drift import Drift, LinearDrift, SaturatingDrift


class CollapseModel:
    """Log-decay rate zeta of a neuron under drift, Gaussian noise and tempered stable jumps.

    Parameters
    ----------
    drift : Drift
        F(zeta), with plateau kappa = F(-inf).
    eta_G : float or array_like
        Gaussian intensity >= 0; the noise is sqrt(2 eta_G) dW.
    jumps : TemperedStable
        The jump law; intensity 0 for none.

    Raises
    ------
    ParameterError
        If a parameter is outside its range, both noises are 0, or `jumps` is not a symmetric law.

    See Also
    --------
    CollapseModel.from_parameters : The reference model from its five numbers.

    References
    ----------
    L. Livi, arXiv:2606.29519; THEORY 2.

    Examples
    --------
    >>> import levycollapse as lc
    >>> model = lc.CollapseModel(
    ...     drift=lc.SaturatingDrift(kappa=1.0),
    ...     eta_G=0.1,
    ...     jumps=lc.TemperedStable(alpha=1.5, lam=3.0, intensity=0.62),
    ... )
    >>> model.phase, round(model.beta, 9)
    (<Phase.CONCENTRATED: 1>, 1.345967331)
    """

    def __init__(self, drift: Drift, eta_G: Any, jumps: TemperedStable) -> None:
        if not isinstance(drift, Drift):
            raise ParameterError(f"drift={drift!r} must be a Drift; wrap a function with Drift.from_callable")
        if not isinstance(jumps, TemperedStable):
            raise ParameterError(f"jumps={jumps!r} must be a TemperedStable law; {ASYMMETRIC}")
        self._drift = drift
        self._jumps = jumps
        self._eta_G, _ = model_arrays(eta_G=eta_G, eta_J=jumps.intensity)
        broadcast_shape(
            kappa=np.asarray(drift.left),
            eta_G=self._eta_G,
            eta_J=np.asarray(jumps.intensity),
            alpha=np.asarray(jumps.alpha),
            lam=np.asarray(jumps.lam),
        )

    @classmethod
    def from_parameters(
        cls,
        *,
        kappa: Any,
        eta_G: Any,
        eta_J: Any,
        alpha: Any,
        lam: Any,
        center: Any = 0.0,
        width: Any = 1.0,
    ) -> CollapseModel:
        """Reference model with drift -kappa tanh((zeta - center)/width).

        Parameters
        ----------
        kappa, eta_G, eta_J, alpha, lam : float or array_like
            As in `characteristic`.
        center, width : float or array_like, optional
            As in `SaturatingDrift`.

        Returns
        -------
        CollapseModel
            The model.

        Raises
        ------
        ParameterError
            If a parameter is outside its range.

        Examples
        --------
        >>> import levycollapse as lc
        >>> model = lc.CollapseModel.from_parameters(kappa=1.0, eta_G=0.1, eta_J=0.1, alpha=1.5, lam=3.0)
        >>> model.phase
        <Phase.COLLAPSED: 0>
        """
        model_arrays(kappa=kappa, eta_G=eta_G, eta_J=eta_J, alpha=alpha, lam=lam)
        return cls(SaturatingDrift(kappa, center, width), eta_G, TemperedStable(alpha, lam, eta_J))

    @property
    def drift(self) -> Drift:
        """The drift F."""
        return self._drift

    @property
    def jumps(self) -> TemperedStable:
        """The jump law."""
        return self._jumps

    @property
    def kappa(self) -> Any:
        """Far-left plateau of the drift; inf where it confines."""
        return self._drift.left

    @property
    def eta_G(self) -> Any:
        """Gaussian intensity."""
        return plain(self._eta_G)

    @property
    def eta_J(self) -> Any:
        """Jump intensity."""
        return self._jumps.intensity

    @property
    def alpha(self) -> Any:
        """Stability index of the jumps."""
        return self._jumps.alpha

    @property
    def lam(self) -> Any:
        """Tempering of the jumps."""
        return self._jumps.lam

    @property
    def beta(self) -> Any:
        """Spectral exponent, nan where there is none; `solve_exponent(model)` gives the status."""
        if self._special() is None:
            return spectral_exponent(self.kappa, self.eta_G, self.eta_J, self.alpha, self.lam)
        return self._exponent_result().beta

    @property
    def eta_J_star(self) -> Any:
        """Threshold intensity; nan under a drift that confines or does not restore."""
        if self._special() is not None:
            return plain(np.full(self._shape(), np.nan))
        return jump_threshold(self.kappa, self.eta_G, self.alpha, self.lam)

    @property
    def phase(self) -> Any:
        """Phase of the time-scale spectrum; see `Phase` for the remarks that belong with it."""
        special = self._special()
        if special is None:
            return phase(self.kappa, self.eta_G, self.eta_J, self.alpha, self.lam)
        code = Phase.CONFINED if special is ExponentStatus.CONFINED else Phase.NONSTATIONARY
        return code if not self._shape() else np.full(self._shape(), int(code))

    @property
    def tail(self) -> TailLaw:
        """Tail of the time-scale spectrum. Assumes that kappa - F is integrable at -inf (THEORY 5)."""
        special = self._special()
        if special is None:
            return tail_law(self.kappa, self.eta_G, self.eta_J, self.alpha, self.lam)
        if special is ExponentStatus.NOT_RESTORING:
            return no_tail(TailForm.NONSTATIONARY, self._shape())
        if isinstance(self._drift, LinearDrift):
            return linear_drift_tail(self.alpha, self.lam, self.eta_J, self._shape())
        return no_tail(TailForm.UNKNOWN, self._shape())

    def increment(self, dt: Any) -> IncrementLaw:
        """Law of the noise over one time step, Gaussian part included; the parameters must be numbers.

        Parameters
        ----------
        dt : float
            Time step > 0.

        Returns
        -------
        IncrementLaw
            Law of sqrt(2 eta_G dt) N + J_dt.

        Raises
        ------
        ParameterError
            If `dt` is not positive, or a parameter of the model is an array.

        Examples
        --------
        >>> import levycollapse as lc
        >>> model = lc.CollapseModel.from_parameters(kappa=1.0, eta_G=0.1, eta_J=0.62, alpha=1.5, lam=3.0)
        >>> round(model.increment(0.01).var, 9)
        0.014689251
        """
        return IncrementLaw(self.alpha, self.lam, self.eta_J, self.eta_G, dt)

    def _shape(self) -> tuple[int, ...]:
        return np.broadcast_shapes(*(np.shape(v) for v in (self.kappa, self._eta_G, self.eta_J, self.alpha, self.lam)))

    def _special(self) -> ExponentStatus | None:
        """Status that the drift alone decides, if it does."""
        if np.any(np.asarray(self._drift.left) <= 0) or np.any(np.asarray(self._drift.right) <= 0):
            return ExponentStatus.NOT_RESTORING
        return ExponentStatus.CONFINED if np.any(np.isinf(self._drift.left)) else None

    def _exponent_result(self) -> ExponentResult:
        special = self._special()
        if special is None:
            return solve_exponent(self.kappa, self.eta_G, self.eta_J, self.alpha, self.lam)
        shape = self._shape()
        if not shape:
            return ExponentResult(np.nan, special, np.nan, 0, np.nan)
        nothing = np.full(shape, np.nan)
        return ExponentResult(nothing, np.full(shape, int(special)), nothing, np.zeros(shape, int), nothing)

    def __repr__(self) -> str:
        return f"CollapseModel(drift={self._drift!r}, eta_G={self.eta_G!r}, jumps={self._jumps!r})"
