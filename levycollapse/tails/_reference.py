"""What the published code computes from a spectrum and an envelope, to its digits: for comparison, not for use.

The rules and their faults are those of arXiv:2606.29519's code: an index by least squares on the logarithm of the
empirical survival function (correlated, heteroscedastic points), and a phase gate that asks whether the residuals of a
smooth curve pass a runs test, which measures how many lags the window has.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.stats import norm

from .._checks import FloatArray
from .._envelope.inverse import Estimate

#: Quantiles of tau between which the survival function is fitted, and what the fit asks for.
WINDOW, FEWEST_UNITS, FEWEST_POINTS = (0.75, 0.995), 16, 8
#: Bootstrap: resamples, the seed of the legacy generator, and the fewest that must succeed.
RESAMPLES, SEED, FEWEST_RESAMPLES = 2000, 42, 10
#: Lags of the unused envelope slope.
SLOPE_LAGS = np.linspace(64, 512, 32).astype(int)


@dataclass(frozen=True)
class ReferenceSpectrumFit:
    """The published tail index: least squares on the log survival function between two quantiles.

    Attributes
    ----------
    beta : Estimate
        The published number, and percentile bounds of its bootstrap (nan where fewer than ten resamples succeed). 0 if
        the fit failed, as published. The nominal 90 % interval covers 0.80 to 0.95.
    r_squared : float
        Of the regression. It does not discriminate: a log-normal spectrum has 0.99.
    window : tuple of float
        Time scales between which points were used.
    n_fit : int
        Points in the window before equal ones are merged.
    bootstrap_median, bootstrap_sd : float
        Of the resampled index.
    probability_below_one : float
        Share of resamples with an index below 1.
    resamples : int
        Resamples that succeeded.
    """

    beta: Estimate
    r_squared: float
    window: tuple[float, float]
    n_fit: int
    bootstrap_median: float
    bootstrap_sd: float
    probability_below_one: float
    resamples: int


def fit_reference(tau: FloatArray, level: float, resamples: int = RESAMPLES) -> ReferenceSpectrumFit:
    """Published fit and bootstrap of positive time scales, in the order given (resampling depends on it)."""
    beta, r_squared, low, high, points = ols_ccdf(tau)
    draws = []
    if tau.size >= FEWEST_UNITS:
        state = np.random.RandomState(SEED)
        for _ in range(resamples):
            again = ols_ccdf(tau[state.randint(0, tau.size, size=tau.size)])
            if again[4] >= FEWEST_POINTS and math.isfinite(again[1]):
                draws.append(again[0])
    if len(draws) < FEWEST_RESAMPLES:
        nothing = math.nan
        return ReferenceSpectrumFit(
            Estimate(beta, nothing, nothing), r_squared, (low, high), points, nothing, nothing, nothing, len(draws)
        )
    values = np.array(draws)
    ends = np.quantile(values, [0.5 - level / 2, 0.5 + level / 2])
    return ReferenceSpectrumFit(
        Estimate(beta, float(ends[0]), float(ends[1])),
        r_squared,
        (low, high),
        points,
        float(np.median(values)),
        float(np.std(values)),
        float(np.mean(values < 1.0)),
        len(draws),
    )


def ols_ccdf(tau: FloatArray) -> tuple[float, float, float, float, int]:
    """Index, R2, ends of the window and points in it."""
    values = np.sort(tau[np.isfinite(tau) & (tau > 0)])
    failed = (0.0, math.nan, math.nan, math.nan, 0)
    if values.size < FEWEST_UNITS:
        return failed
    low, high = (float(v) for v in np.quantile(values, WINDOW))
    inside = (values >= low) & (values <= high)
    points = int(inside.sum())
    if points < FEWEST_POINTS:
        return 0.0, math.nan, low, high, points
    x = np.unique(values[inside])
    survival = (values.size - np.searchsorted(values, x, side="right")) / values.size
    x, survival = x[survival > 0], survival[survival > 0]
    if x.size < FEWEST_POINTS:
        return 0.0, math.nan, low, high, points
    coefficients, r_squared = _ols(np.log(survival), np.log(x + 1e-12))
    return max(0.0, -float(coefficients[1])), r_squared, low, high, points


def _ols(y: FloatArray, *columns: FloatArray) -> tuple[FloatArray, float]:
    design = np.column_stack([np.ones_like(y), *columns])
    coefficients: FloatArray = np.linalg.lstsq(design, y)[0].astype(np.float64)
    residual = y - design @ coefficients
    return coefficients, 1.0 - float(residual @ residual) / (float(np.sum((y - y.mean()) ** 2)) + 1e-12)


def envelope_slope(tau: FloatArray) -> float:
    """The published log-log slope of the mixture of exponentials over lags 64 to 512 (computed from the same tau)."""
    log_f = np.log(np.exp(-SLOPE_LAGS[:, None] / tau).mean(axis=1))
    return max(0.0, -float(_ols(log_f, np.log(SLOPE_LAGS.astype(float)))[0][1]))


@dataclass(frozen=True)
class ReferenceGate:
    """The published fits of an envelope and its phase gate.

    Attributes
    ----------
    exponential, power, tempered : tuple of float
        Intercept and slopes of log f on lag, on log lag, and on log lag and lag.
    r_squared : tuple of float
        Of the three.
    aic : tuple of float
        Of the three; the residuals of a smooth curve are no noise, so it measures the grid.
    winner : str
        The smallest.
    tau_max, ell_star : float
        Cutoff of the tempered fit, and exponent times cutoff; nan where undefined.
    n_window, runs : int
        Lags in the window of the runs test and the runs found; 0 where there is no window.
    z, p_value : float
        Of the runs test; nan where there is no window.
    power_law : bool
        The published verdict. An exact power law fails it: the residuals of any smooth curve have three runs.
    """

    exponential: tuple[float, float]
    power: tuple[float, float]
    tempered: tuple[float, float, float]
    r_squared: tuple[float, float, float]
    aic: tuple[float, float, float]
    winner: str
    tau_max: float
    ell_star: float
    n_window: int
    runs: int
    z: float
    p_value: float
    power_law: bool


def gate_reference(lags: FloatArray, f: FloatArray) -> ReferenceGate:
    """Published fits and gate of one envelope, at least six positive lags."""
    y, x = np.log(f), np.log(lags + 1e-12)
    fits = [_ols(y, lags), _ols(y, x), _ols(y, x, lags)]
    designs: list[tuple[FloatArray, ...]] = [(lags,), (x,), (x, lags)]
    aic = []
    for (coefficients, _), columns, parameters in zip(fits, designs, (2, 2, 3), strict=True):
        residual = y - np.column_stack([np.ones_like(y), *columns]) @ coefficients
        aic.append(y.size * math.log(float(residual @ residual) / y.size + 1e-30) + 2 * parameters)
    winner = ("exponential", "power", "tempered")[int(np.argmin(aic))]
    (a0, b0), (a1, b1), (a2, b2, c2) = (tuple(float(v) for v in fit[0]) for fit in fits)
    tempered_beta = max(0.0, -b2)
    tau_max = -1.0 / c2 if c2 < 0 else math.inf
    star = tempered_beta * tau_max if tempered_beta > 0 and math.isfinite(tau_max) else math.nan
    window = np.zeros(lags.size, dtype=bool)
    beta = math.nan
    if winner == "power":
        window[:], beta = True, max(0.0, -b1)
    elif winner == "tempered" and star >= lags.min():
        window, beta = lags <= star, tempered_beta
    runs, z, p = 0, math.nan, math.nan
    if window.sum() >= 2:
        slope, intercept = np.polyfit(x[window], y[window], 1)
        runs, z, p = runs_test(y[window] - (intercept + slope * x[window]))
    enough = window.sum() >= max(8, math.ceil(0.05 * lags.size))
    passed = bool(winner in ("power", "tempered") and beta > 0.10 and enough and p > 0.05)
    return ReferenceGate(
        (a0, b0),
        (a1, b1),
        (a2, b2, c2),
        (fits[0][1], fits[1][1], fits[2][1]),
        (aic[0], aic[1], aic[2]),
        winner,
        tau_max,
        star,
        int(window.sum()),
        runs,
        z,
        p,
        passed,
    )


def runs_test(residual: FloatArray) -> tuple[int, float, float]:
    """Wald-Wolfowitz runs, z and two-sided p of the signs."""
    if residual.size < 8:
        return 0, math.nan, math.nan
    if np.max(np.abs(residual)) <= 1e-10:
        return 1, 0.0, 1.0
    positive = residual >= 0
    up, down = int(positive.sum()), int((~positive).sum())
    if not up or not down:
        return 1, math.nan, math.nan
    runs = 1 + int((positive[1:] != positive[:-1]).sum())
    n = up + down
    expected = 1 + 2 * up * down / n
    variance = 2 * up * down * (2 * up * down - n) / (n * n * (n - 1))
    z = (runs - expected) / math.sqrt(variance)
    return runs, z, float(2 * norm.sf(abs(z)))
