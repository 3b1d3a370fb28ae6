"""The index of a power-law tail attached to a free spectrum, profiled over where the tail starts."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq, minimize_scalar

from .._checks import FloatArray
from .._kernels.incomplete_gamma import log_lower
from .nonnegative import EXCESS, Data, solve

#: Indices that are looked at.
SMALLEST, LARGEST = 0.02, 20.0
#: Ratio of successive starts of the tail, in log tau; about the resolution at 1 % noise.
STEP = 0.8
#: The tail must be seen over this factor of lags beyond max(1, beta) * start, where its envelope becomes a power. A
#: spectrum that bends is a power over a shorter stretch: over one decade, at 1 % noise, log-normals of sd 4 and the
#: collapsed phase's tail passed in 33 and 20 of 40 seeds, from starts of 600 and 270. Power laws start below 25.
REACH = 50.0
#: Later starts whose intervals are joined to that of the first acceptable one: a start that the data just tolerate is
#: biased by what they tolerate.
LATER = 2


@dataclass(frozen=True)
class TailFit:
    """Best index for one start of the tail."""

    start: float
    beta: float
    weight: float
    chi_square: float
    lower: float
    upper: float
    needed: bool


def starts(data: Data) -> Iterator[float]:
    """Where a tail might begin: from the first lag to where too little of it would be seen."""
    last = data.lags[-1] / REACH
    tau = float(data.lags[0])
    while tau <= last:
        yield tau
        tau *= math.exp(STEP)


def chi_square(data: Data, body: FloatArray, start: float, beta: float) -> tuple[float, float]:
    """Misfit with a free body and a Pareto tail of index beta from `start`, and the weight of the tail."""
    tail = data.column(log_lower(beta, data.lags / start))
    weights, chi = solve(np.column_stack([body, tail]), 1 / data.sigma)
    return chi, float(weights[-1])


def fit_tail(data: Data, tau: FloatArray, start: float, rise: float) -> TailFit:
    """Index, and the interval in which the profile chi-square rises by less than `rise`."""
    body = data.atoms(tau[tau < start])

    def profile(log_beta: float) -> float:
        return chi_square(data, body, start, math.exp(log_beta))[0]

    ends = math.log(SMALLEST), math.log(LARGEST)
    found = minimize_scalar(profile, bounds=ends, method="bounded", options={"xatol": 1e-4})
    best, least = float(found.x), float(found.fun)

    def end(direction: int) -> float:
        """Where the profile has risen enough, or the end of the range."""
        width = 0.005
        inner = best
        while True:
            outer = best + direction * width
            if not ends[0] < outer < ends[1]:
                return 0.0 if direction < 0 else math.inf
            if profile(outer) > least + rise:
                return math.exp(brentq(lambda x: profile(x) - least - rise, inner, outer, xtol=1e-5))
            inner, width = outer, 2 * width

    weight = chi_square(data, body, start, math.exp(best))[1]
    alone = solve(body, 1 / data.sigma)[1] if body.shape[1] else float((1 / data.sigma**2).sum())
    seen = start * max(1.0, math.exp(best)) * REACH <= data.lags[-1]
    return TailFit(start, math.exp(best), weight, least, end(-1), end(1), seen and alone > least + EXCESS)


def profile_tail(data: Data, tau: FloatArray, chi_free: float, rise: float) -> list[TailFit]:
    """Fits from the first acceptable start on, `LATER` further ones included; empty if no start is acceptable."""
    found: list[TailFit] = []
    for start in starts(data):
        if found and len(found) > LATER:
            break
        fit = fit_tail(data, tau, start, rise)
        if found or fit.chi_square <= chi_free + EXCESS:
            found.append(fit)
    return found
