"""How fast the law is approached: essential edge and discrete levels of the generator (NUMERICS B.10)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
from scipy.optimize import minimize_scalar

from .._checks import FloatArray
from ..errors import ParameterError
from .box import landscape
from .chain import build_chain, graded
from .problem import Problem, problem_of

#: How many of the levels n theta of a linear drift are listed, and the relative error of a closed form.
LINEAR_LEVELS, CLOSED_ERROR = 20, 1e-15
#: Nodes of the finer of the two grids; the levels' error falls a little slower than 1/nodes.
NODES = 401
#: Nats to which the chain reaches: the levels' functions decay like the square root of the density.
NATS = 44.0
#: How far above the edge a level must stand to be told from the crowd that a finite box makes of the edge.
STANDS_OUT = 0.97


@dataclass(frozen=True)
class Relaxation:
    """How the law is approached from near the middle; `float()` gives the time.

    Attributes
    ----------
    time : float
        1/rate: differences decay like exp(-t/time). Starting at zeta_0 far outside adds abs(zeta_0)/kappa. inf where
        they decay like a power of t (lam = 0).
    rate : float
        The smallest of both edges and the levels.
    edge_left, edge_right : float
        -min Phi over (0, lam] on each side, in closed form up to a minimisation: decay rate of what lies in the far
        tail. inf where the drift confines.
    levels : ndarray
        Rates of the discrete levels below both edges, ascending; empty if there are none.
    error : float
        Estimated relative error of `rate`: that of the grid for a level, rounding for an edge.
    """

    time: float
    rate: float
    edge_left: float
    edge_right: float
    levels: FloatArray
    error: float

    def __float__(self) -> float:
        return self.time


def relaxation_time(model: Any) -> Relaxation:
    """Time scale on which the law of zeta becomes stationary.

    Parameters
    ----------
    model : CollapseModel
        One model with a stationary law.

    Returns
    -------
    Relaxation
        Time, and the edges and levels that it is made of.

    Raises
    ------
    ParameterError
        If the model has no stationary law or is an array of models.

    Notes
    -----
    The essential spectrum of the generator, on functions that decay fast enough to feel it, begins at
    -min Phi. Levels come from the Markov chain of `stationary_density`, whose entries have relative accuracy, so that
    the similarity transform that makes the problem well conditioned is harmless; on the untransformed operator
    rounding alone moves the edge. Do not read more than three digits into a level.

    References
    ----------
    NUMERICS B.10.

    Examples
    --------
    >>> import levycollapse as lc
    >>> model = lc.CollapseModel.from_parameters(kappa=0.5, eta_G=0.1, eta_J=0.0, alpha=1.5, lam=1.0)
    >>> round(lc.relaxation_time(model).time, 2)
    2.5
    """
    return relaxation_of(problem_of(model))


def relaxation_of(problem: Problem) -> Relaxation:
    """The same, of a model that has been checked."""
    left, right = edge(problem), edge(problem.mirrored())
    if left == 0.0 or right == 0.0:
        return Relaxation(np.inf, 0.0, left, right, np.empty(0), 0.0)
    bound = min(left, right)
    known = _closed_levels(problem)
    if known is not None:
        rate = float(known[0]) if known.size else bound
        return Relaxation(1.0 / rate, rate, left, right, known, CLOSED_ERROR)
    fine, coarse = levels(problem, NODES), levels(problem, NODES // 2 + 1)
    found = fine[fine < STANDS_OUT * bound]
    if not found.size:
        if np.isinf(bound):
            raise ParameterError("the drift confines on both sides, but no level of the generator was found")
        return Relaxation(1.0 / bound, bound, left, right, found, 1e-12)
    # Between first and second order: the finer grid has up to the whole difference as its error; twice it is safe.
    error = 2.0 * abs(fine[0] - coarse[0]) / fine[0] if coarse.size else np.nan
    rate = float(found[0])
    return Relaxation(1.0 / rate, rate, left, right, found, float(error))


def _closed_levels(problem: Problem) -> FloatArray | None:
    """Levels where they have a closed form: a linear drift, or tanh without jumps; None elsewhere."""
    if problem.rate is not None:
        # exp(-n theta t) is how the n-th cumulant, and what it brings into the moments, decays under any jumps.
        return np.arange(1.0, LINEAR_LEVELS + 1.0) * problem.rate
    if problem.eta_J == 0 and problem.symmetric:
        # Poeschl-Teller: kappa/w and eta_G/w**2 are the largest slope and the diffusion over a width.
        n = np.arange(1.0, np.ceil(0.5 * problem.kappa * problem.width / problem.eta_G))
        result: FloatArray = n * problem.slope - n**2 * problem.eta_G / problem.width**2
        return result
    return None


def edge(problem: Problem) -> float:
    """-min Phi(s) over 0 < s <= lam on the left."""
    if np.isinf(problem.kappa):
        return np.inf
    if problem.eta_J == 0:
        return problem.kappa**2 / (4.0 * problem.eta_G)
    if problem.lam == 0:
        return 0.0
    best = minimize_scalar(
        problem.characteristic_at, bounds=(0.0, problem.lam), method="bounded", options={"xatol": 1e-9 * problem.lam}
    )
    return -min(float(best.fun), problem.characteristic_at(problem.lam))


def levels(problem: Problem, n: int) -> FloatArray:
    """Real parts of -eigenvalues of the chain but the first, ascending."""
    scene = landscape(problem)
    nodes = graded(problem, n, scene.edges(0.0, NATS))
    chain = build_chain(problem, nodes)
    rates = chain.rates - np.diag(chain.rates.sum(axis=1))
    weight = np.exp(-0.5 * np.interp(nodes, scene.zeta, scene.potential)) * np.sqrt(chain.cells)
    symmetrised = weight[:, None] * rates / weight
    values = np.sort(-scipy.linalg.eigvals(symmetrised, overwrite_a=True, check_finite=False).real)
    result: FloatArray = values[1:]
    return result
