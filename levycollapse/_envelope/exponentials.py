"""The fewest exponentials that explain an envelope."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import least_squares

from .._checks import FloatArray
from .nonnegative import EXCESS, Data, free_fit

#: More terms than this are not compact, and their time scales cannot be refined: 1 % noise resolves 8 over 4 decades.
MOST = 14


@dataclass(frozen=True)
class ExponentialFit:
    """Compact mixture f(l) = sum_k w_k exp(-l/tau_k) with weights >= 0.

    Attributes
    ----------
    timescales : ndarray
        tau_k in network steps, increasing.
    weights : ndarray
        w_k > 0; they sum to the envelope at lag 0 as extrapolated, which is not forced to be 1.
    chi_square : float
        Misfit in units of the relative errors.
    accepted : bool
        Whether the misfit is within the allowance of the free spectrum's; False only if no such mixture was found.
    """

    timescales: FloatArray
    weights: FloatArray
    chi_square: float
    accepted: bool

    def envelope(self, lags: FloatArray) -> FloatArray:
        """The mixture at lags >= 0.

        Parameters
        ----------
        lags : array_like
            Lags >= 0, in network steps.

        Returns
        -------
        ndarray
            The envelope of the fit.
        """
        with np.errstate(under="ignore"):
            return np.exp(-np.asarray(lags, dtype=float)[..., None] / self.timescales) @ self.weights


def compact_fit(data: Data, tau: FloatArray, weights: FloatArray, chi_free: float) -> ExponentialFit:
    """Merge the spikes of a free fit, refit, and merge further until the misfit grows too much.

    `chi_free` is the smallest known chi-square; the fewest terms within `EXCESS` of it win.
    """
    if not (weights > 0).any():
        return ExponentialFit(np.zeros(0), np.zeros(0), chi_free, False)
    log_tau, log_w = _spikes(tau, weights)
    while log_tau.size > MOST:
        log_tau, log_w = _merged(log_tau, log_w, int(np.argmin(np.diff(log_tau))))
    log_tau, log_w, chi = _refine(data, log_tau, log_w)
    best = log_tau, log_w, chi
    while log_tau.size > 1:
        tried = []
        for pair in np.argsort(np.diff(log_tau))[:2]:
            tried.append(_refine(data, *_merged(log_tau, log_w, int(pair))))
        tried.append(_refine(data, *_without_least(data, log_tau, log_w)))
        tried = [fit for fit in tried if fit[0].size]
        if not tried:
            break
        log_tau, log_w, chi = min(tried, key=lambda fit: fit[2])
        if not chi <= min(chi_free, best[2]) + EXCESS:
            break
        best = log_tau, log_w, chi
    log_tau, log_w, chi = best
    return ExponentialFit(np.exp(log_tau), np.exp(log_w), chi, bool(chi <= chi_free + EXCESS))


def _spikes(tau: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Neighbouring active nodes as one spike at their mean."""
    active = np.flatnonzero(weights > 0)
    groups = np.split(active, np.flatnonzero(np.diff(active) > 1) + 1)
    mass = np.array([weights[g].sum() for g in groups])
    place = np.array([(weights[g] * np.log(tau[g])).sum() / weights[g].sum() for g in groups])
    return place, np.log(mass)


def _merged(log_tau: FloatArray, log_w: FloatArray, pair: int) -> tuple[FloatArray, FloatArray]:
    share = np.exp(log_w[pair : pair + 2] - log_w[pair : pair + 2].max())
    place = (share * log_tau[pair : pair + 2]).sum() / share.sum()
    total = np.logaddexp(log_w[pair], log_w[pair + 1])
    return np.r_[log_tau[:pair], place, log_tau[pair + 2 :]], np.r_[log_w[:pair], total, log_w[pair + 2 :]]


def _without_least(data: Data, log_tau: FloatArray, log_w: FloatArray) -> tuple[FloatArray, FloatArray]:
    # By what is left of it at the first lag: a component that is gone by then may have any weight.
    keep = np.arange(log_w.size) != np.argmin(log_w - data.lags[0] * np.exp(-log_tau))
    return log_tau[keep], log_w[keep]


def _refine(data: Data, log_tau: FloatArray, log_w: FloatArray) -> tuple[FloatArray, FloatArray, float]:
    """Move the time scales by least squares on log f, then weigh them by the relative misfit that all fits share."""
    count = log_tau.size
    # Beyond a thousand last lags an exponential is a constant. Below a seventh of the first it is gone, and could have
    # any weight.
    low, high = np.log(data.lags[0]) - 2, np.log(data.lags[-1]) + 7

    def model(theta: FloatArray) -> tuple[FloatArray, FloatArray]:
        terms = theta[count:] - data.lags[:, None] * np.exp(-np.clip(theta[:count], low, high))
        top = terms.max(axis=1)
        share = np.exp(terms - top[:, None])
        total = share.sum(axis=1)
        return top + np.log(total), share / total[:, None]

    def residual(theta: FloatArray) -> FloatArray:
        return (model(theta)[0] - data.log_f) / data.sigma

    def jacobian(theta: FloatArray) -> FloatArray:
        share = model(theta)[1]
        by_tau = share * data.lags[:, None] * np.exp(-np.clip(theta[:count], low, high))
        return np.hstack([by_tau, share]) / data.sigma[:, None]

    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        place = log_tau
        if 2 * count <= data.f.size:
            found = least_squares(residual, np.r_[log_tau, log_w], jacobian, method="lm", max_nfev=60)
            place = np.sort(np.clip(found.x[:count], low, high))
    weights, chi = free_fit(data, np.exp(place))
    keep = weights > 0
    return place[keep], np.log(weights[keep]), chi
