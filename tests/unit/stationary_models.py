"""The models that the stationary solver is held to, and quadratures that share nothing with it."""

from __future__ import annotations

import numpy as np

import levycollapse as lc


def reference(*, kappa=0.5, eta_G=0.1, eta_J=0.1, alpha=1.3, lam=1.5, width=1.0, center=0.0):
    return lc.CollapseModel.from_parameters(
        kappa=kappa, eta_G=eta_G, eta_J=eta_J, alpha=alpha, lam=lam, width=width, center=center
    )


def with_drift(drift, eta_G, alpha, lam, eta_J):
    return lc.CollapseModel(drift, eta_G, lc.TemperedStable(alpha, lam, eta_J))


def double_well(z):
    return np.tanh(z) * (1.0 - 2.0 * np.tanh(z) ** 2)


def threshold(alpha, eta_G=0.1):
    return float(lc.jump_threshold(0.5, eta_G, alpha, 1.5))


MODELS = {
    "alpha 0.4, collapsed": reference(alpha=0.4),
    "alpha 0.4, no Gaussian noise": reference(alpha=0.4, eta_G=0.0, eta_J=0.5),
    "alpha 0.7, threshold": reference(alpha=0.7, eta_J=threshold(0.7)),
    "alpha 1, collapsed": reference(alpha=1.0),
    "alpha 1, threshold": reference(alpha=1.0, eta_J=threshold(1.0)),
    "alpha 1.3, collapsed": reference(),
    "alpha 1.3, broad": reference(eta_J=3.0),
    "alpha 1.3, concentrated": reference(kappa=1.0, eta_J=0.9, lam=3.0),
    "alpha 1.7, no Gaussian noise": reference(alpha=1.7, eta_G=0.0, eta_J=0.6),
    "alpha 1.95, broad": reference(alpha=1.95),
    "asymmetric plateaus": with_drift(lc.SaturatingDrift(1.0, center=0.5, kappa_right=0.4), 0.3, 0.8, 1.5, 0.3),
    "double well": with_drift(lc.Drift.from_callable(double_well, left=1.0, right=1.0), 0.3, 1.3, 1.5, 0.1),
}


def gauss(edges):
    """Gauss-Legendre nodes and weights on consecutive panels."""
    x, w = np.polynomial.legendre.leggauss(16)
    half, middle = 0.5 * np.diff(edges), 0.5 * (edges[1:] + edges[:-1])
    return (middle[:, None] + half[:, None] * x).ravel(), (half[:, None] * w).ravel()


def line(law, rate_left, rate_right, resolution=0.5):
    """Nodes and weights over the line: even in the middle, growing outward until exp(-rate distance/10) is gone.

    `rate` is the slowest exponential that the integrand has on that side.
    """
    low, high = law.ppf(1e-3), law.ppf(1.0 - 1e-3)

    def outward(rate):
        end = 45.0 / rate
        steps = [0.0]
        while steps[-1] < end:
            steps.append(steps[-1] + resolution + 0.1 * steps[-1])
        return np.array(steps)

    middle = np.linspace(low, high, int((high - low) / (0.5 * resolution)) + 2)
    edges = np.concatenate([low - outward(rate_left)[:0:-1], middle, high + outward(rate_right)[1:]])
    return gauss(edges)


def identity_residual(model, law, s, rate_left, rate_right):
    """E[(eta_G s^2 + psi(s) - s F) e^{-s zeta}] over E of its size."""
    zeta, weights = line(law, rate_left - max(s, 0.0), rate_right + min(s, 0.0))
    density = law.pdf(zeta)
    seen = density > 0
    zeta, weights, density = zeta[seen], weights[seen], density[seen]
    generator = model.eta_G * s * s + (model.jumps.symbol(s) if model.eta_J > 0 else 0.0)
    summand = (generator - s * model.drift(zeta)) * np.exp(np.log(density) - s * zeta) * weights
    return summand.sum() / np.abs(summand).sum()


def rate(kappa, model):
    """Exponential rate of a tail: the root, lam where there is none."""
    beta = lc.spectral_exponent(kappa, model.eta_G, model.eta_J, model.alpha, model.lam)
    return model.lam if np.isnan(beta) else beta
