"""Phase boundaries as curves: the value of one parameter on the threshold or the critical manifold."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from scipy.optimize import elementwise

from .._checks import FloatArray
from .._kernels import exponent as kernels
from .._kernels.symbol import symbol
from .exponent import critical_intensity

#: Parameters for which a boundary is solved in closed form, in order of preference; lam and alpha need a search.
CLOSED_FORM = ("eta_J", "kappa", "eta_G")
SOLVED_FOR = (*CLOSED_FORM, "lam", "alpha")
PARAMETERS = ("kappa", "eta_G", "eta_J", "alpha", "lam")


def threshold_curve(name: str, others: Mapping[str, FloatArray], search: FloatArray | None = None) -> FloatArray:
    """Value of parameter `name` at which Phi(lam) = 0, i.e. eta_J = eta_J*.

    `others` holds the four other parameters, broadcasting. For "lam" and "alpha" the sorted values `search` are
    scanned for sign changes, which are then polished. Phi(lam)/lam and Phi(1) are convex in either, so that there are
    at most two: the last axis of the result holds the one where Phi falls and the one where it rises, nan for none.
    """
    if name == "eta_J":
        return np.asarray(kernels.jump_threshold(*(others[key] for key in ("kappa", "eta_G", "alpha", "lam"))))
    if name in ("kappa", "eta_G"):
        lam = others["lam"]
        jumps = symbol(lam, others["eta_J"], others["alpha"], lam)
        with np.errstate(divide="ignore", invalid="ignore"):
            if name == "kappa":
                return np.asarray(others["eta_G"] * lam + jumps / lam)
            return _non_negative((others["kappa"] * lam - jumps) / lam**2)

    def excess(value: FloatArray, *rest: FloatArray) -> FloatArray:
        p = _merged(name, value, rest)
        phi = kernels.characteristic(p["lam"], *(p[key] for key in PARAMETERS))
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(np.where(p["lam"] > 0, phi / (p["kappa"] * p["lam"]), np.nan))

    return _sign_changes(excess, name, others, search)


def critical_curve(name: str, others: Mapping[str, FloatArray], search: FloatArray | None = None) -> FloatArray:
    """Value of parameter `name` at which beta = 1; see `threshold_curve`."""
    if name == "eta_J":
        return np.asarray(critical_intensity(*(others[key] for key in ("kappa", "eta_G", "alpha", "lam"))))
    if name in ("kappa", "eta_G"):
        jumps = symbol(1.0, others["eta_J"], others["alpha"], others["lam"])
        jumps = np.where((others["lam"] > 1) | (others["eta_J"] == 0), jumps, np.nan)
        if name == "kappa":
            return np.asarray(others["eta_G"] + jumps)
        return _non_negative(others["kappa"] - jumps)

    def at_one(value: FloatArray, *rest: FloatArray) -> FloatArray:
        p = _merged(name, value, rest)
        phi = kernels.characteristic(1.0, *(p[key] for key in PARAMETERS))
        return np.asarray(np.where((p["lam"] > 1) | (p["eta_J"] == 0), phi / p["kappa"], np.nan))

    return _sign_changes(at_one, name, others, search)


def _merged(name: str, value: FloatArray, rest: tuple[FloatArray, ...]) -> dict[str, FloatArray]:
    named = dict(zip((key for key in PARAMETERS if key != name), rest, strict=True))
    return {**named, name: value}


def _non_negative(values: Any) -> FloatArray:
    return np.asarray(np.where(values >= 0, values, np.nan))


def _sign_changes(
    f: Callable[..., FloatArray], name: str, others: Mapping[str, FloatArray], search: FloatArray | None
) -> FloatArray:
    grid = np.sort(np.asarray(search))
    rest = np.broadcast_arrays(*(np.asarray(others[key])[..., None] for key in PARAMETERS if key != name))
    values = f(grid, *rest)
    below, above = values[..., :-1], values[..., 1:]
    changes = np.isfinite(below) & np.isfinite(above) & ((below > 0) != (above > 0))
    curve = np.full((*values.shape[:-1], 2), np.nan)
    if not changes.any():
        return curve
    where = np.nonzero(changes)
    arguments = tuple(np.broadcast_to(r, changes.shape)[where] for r in rest)
    found = elementwise.find_root(f, (grid[where[-1]], grid[where[-1] + 1]), args=arguments)
    falling_then_rising = np.where(below[where] > 0, 0, 1)
    curve[(*where[:-1], falling_then_rising)] = found.x
    return curve
