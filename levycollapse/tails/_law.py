"""A measured spectrum as a law: its own units below the threshold, the fitted power law above."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._checks import NON_NEGATIVE, POSITIVE, PROBABILITY, FloatArray, checked, draw_size, generator, plain
from .._envelope.forward import mixture
from .._laws.spectra import Pareto

#: Time scale given to units that are only known to be below one step: e^(-1/0.001) = 0 at every lag from one step on.
VANISHED = 1e-3


@dataclass(frozen=True)
class FittedLaw:
    """Law of the time scale behind a fitted spectrum: units below the threshold as they are, a Pareto tail above.

    Attributes
    ----------
    body : ndarray
        Time scales of the units up to the threshold, increasing. Units below one step whose value is not known stand
        at 0.001 steps, where they contribute nothing to an envelope from lag 1 on (at most exp(-lag) in truth).
    tail : Pareto
        The law above.
    share : float
        Probability of the tail, k/H.
    """

    body: FloatArray
    tail: Pareto
    share: float

    def envelope(self, lags: Any) -> Any:
        """Envelope f(l) of infinitely many units of this law.

        Parameters
        ----------
        lags : float or array_like
            Lags >= 0, in network steps.

        Returns
        -------
        float or ndarray
            The envelope, in [0, 1].
        """
        at = checked("lags", lags, NON_NEGATIVE)
        near = mixture(self.body).envelope(at)
        return plain((1.0 - self.share) * near + self.share * np.asarray(self.tail.envelope(at)))

    def sf(self, tau: Any) -> Any:
        """P(tau' > tau).

        Parameters
        ----------
        tau : float or array_like
            Time scales > 0, in network steps.

        Returns
        -------
        float or ndarray
            The probability.
        """
        at = checked("tau", tau, POSITIVE)
        above = 1.0 - np.searchsorted(self.body, at, side="right") / self.body.size
        tail = np.asarray(self.tail.sf(np.maximum(at, self.tail.tau_min)))
        return plain((1.0 - self.share) * above + self.share * tail)

    def isf(self, q: Any) -> Any:
        """Upper quantile: the time scale that a fraction q exceeds.

        Parameters
        ----------
        q : float or array_like
            Probabilities in [0, 1].

        Returns
        -------
        float or ndarray
            Time scales, in network steps.
        """
        at = checked("q", q, PROBABILITY)
        below = np.clip((1.0 - at) / (1.0 - self.share), 0.0, 1.0)
        index = np.clip(np.ceil(below * self.body.size).astype(np.int64) - 1, 0, self.body.size - 1)
        return plain(np.where(at < self.share, self.tail.isf(np.minimum(at / self.share, 1.0)), self.body[index]))

    def rvs(self, size: Any = None, rng: Any = None) -> Any:
        """Draw time scales.

        Parameters
        ----------
        size : int or tuple of int, optional
            Shape; one number by default.
        rng : None, int, SeedSequence or Generator, optional
            SPEC 7.

        Returns
        -------
        float or ndarray
            Independent time scales.
        """
        return plain(np.asarray(self.isf(1.0 - generator(rng).random(draw_size(size)))))


def fitted_law(log_tau: FloatArray, k: int, beta: float) -> FittedLaw:
    """Law of units `log_tau` (decreasing) whose k largest follow a Pareto law above the next."""
    body = np.where(log_tau[k:] == -np.inf, VANISHED, np.exp(log_tau[k:]))[::-1]
    return FittedLaw(body, Pareto(beta, float(np.exp(log_tau[k]))), k / log_tau.size)
