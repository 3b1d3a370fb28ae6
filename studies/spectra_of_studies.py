"""The spectra that the studies of tails draw from: quantile functions of the upper tail, from the largest value down.

Only the largest values enter the statistics, so only these are drawn: the upper tail probabilities of the k + 1 largest
of n are those of sorted uniforms. No study by itself.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from scipy.special import ndtr, ndtri, ndtri_exp

import levycollapse as lc

#: Model of the studies: kappa and eta_G; the drift is the tanh of width 1.
KAPPA, ETA_G = 1.0, 0.1
#: Largest relative error asked of a stationary density.
RTOL = 1e-8


def log_tau(spectrum: tuple, log_tail: np.ndarray) -> np.ndarray:
    """Log time scale whose upper tail probability has this logarithm."""
    kind, *numbers = spectrum
    return _KINDS[kind](log_tail, *numbers)


def _above_body(log_tail, body, beta, fraction):
    """Pareto law of the largest `fraction` above a body: half-normal of width 0.8, or log-normal, cut at the kink."""
    tail = (np.log(fraction) - log_tail) / beta
    rest = np.clip((np.exp(log_tail) - fraction) / (1 - fraction), 0.0, 1.0)
    below = -0.8 * ndtri(0.5 * (1 + rest)) if body == "half-normal" else -1.0 + ndtri((1 - rest) * ndtr(1.0))
    return np.where(log_tail < np.log(fraction), tail, below)


@lru_cache(maxsize=64)
def density(alpha, lam, kind, value):
    """Stationary density: `value` is beta, or eta_J relative to the threshold, or eta_J itself (lam = 0)."""
    if kind == "beta":
        intensity = lc.intensity_for_exponent(value, KAPPA, ETA_G, alpha, lam)
    elif kind == "ratio":
        intensity = value * lc.jump_threshold(KAPPA, ETA_G, alpha, lam)
    else:
        intensity = value
    model = lc.CollapseModel.from_parameters(kappa=KAPPA, eta_G=ETA_G, eta_J=intensity, alpha=alpha, lam=lam)
    return lc.stationary_density(model, rtol=RTOL)


def _model(log_tail, alpha, lam, kind, value):
    return -density(alpha, lam, kind, value).ppf(np.exp(log_tail))


def _tempered(log_tail, beta, ratio):
    """Tempered Pareto law by interpolation of its survival function (error below 1e-6)."""
    law = lc.TemperedPareto(beta, 1.0, ratio)
    y = np.linspace(0.0, np.log(60.0 * ratio), 20_001)
    return np.interp(-log_tail, -np.asarray(law.logsf(np.exp(y))), y)


def _truncated(log_tail, beta, ratio):
    return np.log(lc.TruncatedPareto(beta, 1.0, ratio).isf(np.exp(log_tail)))


def _two_modes(log_tail, share, distance):
    """Standard log-normal with a share of a second mode of the same width, by interpolation."""
    y = np.linspace(-12.0, 12.0 + max(distance, 0.0), 40_001)
    tail = np.log((1 - share) * ndtr(-y) + share * ndtr(distance - y))
    return np.interp(-log_tail, -tail, y)


def _narrow_t5(log_tail):
    from scipy.stats import t

    return 0.05 * t.isf(np.exp(log_tail), 5)


_KINDS = {
    "above body": _above_body,
    "model": _model,
    "tempered": _tempered,
    "truncated": _truncated,
    "pareto": lambda log_tail, beta: -log_tail / beta,
    "log-normal": lambda log_tail, sigma: -sigma * ndtri_exp(log_tail),
    "exponential": lambda log_tail: np.log(-log_tail),
    "narrow normal": lambda log_tail: np.log(1.0 - 0.05 * ndtri_exp(log_tail)),
    "narrow uniform": lambda log_tail: np.log(1.15 - 0.3 * np.exp(log_tail)),
    "narrow t5": _narrow_t5,
    "two modes": _two_modes,
}
