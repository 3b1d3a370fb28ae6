"""`stationary_density`: the choice of the method and the promise about the error."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.integrate import quad

from .._checks import FINITE, POSITIVE, FloatArray, checked, choice
from .._model.collapse_model import CollapseModel
from .._theory.tail import TailForm, TailLaw
from ..errors import AccuracyWarning, ConvergenceError, ParameterError
from .box import MOST_POINTS, Landscape, landscape
from .curve import SpectralCurve
from .density import DensityStatus, StationaryDensity, with_prefactor
from .far_tail import (
    Beyond,
    Constants,
    Nothing,
    leading_rate,
    log_power,
    mass_beyond,
    mixture,
    power_mixture,
    rest_of_numerator,
    summable,
)
from .ladder import BUDGETS, Assembled, Side, assemble, left_side
from .problem import Function, Problem, problem_of

#: Relative error that the far tails must reach if rtol asks for less: where single jumps are rare they lie ten digits
#: below everything else, and the solver's part of them has six to eight.
TAIL_RTOL = 1e-6
#: Checks that are about the far tails only.
ABOUT_TAILS = ("joints", "far identity")
#: What asks for less than this asks for more than double precision has: no other method will do.
ATTAINABLE = 1e-12
#: Worse than this a far tail is refused altogether.
WORST_TAIL = 1e-3
#: Worse than this the chain is refused, unless it was asked for.
WORST_CHAIN = 2e-2
#: Share of the spectrum at its end that a smooth drift does not leave.
UNRESOLVED = 1e-11
#: Share of its maximum above which a tilted unknown is trusted.
CLEAN_SHARE = 1e-8
#: Fraction of the exponents at which the identity of THEORY 5 is checked.
CHECKED_AT = 0.2


def stationary_density(
    model: CollapseModel,
    *,
    method: str = "auto",
    rtol: float = 1e-8,
    box: tuple[float, float] | None = None,
    n: int | None = None,
    walls: tuple[float, float] | None = None,
) -> StationaryDensity:
    """Stationary law of zeta by linear algebra, without simulation.

    Parameters
    ----------
    model : CollapseModel
        One model (no arrays) whose drift restores on both sides.
    method : {"auto", "fourier", "chain"}, optional
        "fourier" is the spectral solver for smooth drifts, with about twelve digits in milliseconds. "chain" is a
        Markov chain on a graded grid: three or four digits, but also for rough drifts, reflecting walls and models
        without tempering. "auto" is Fourier, but the chain where it must be (walls, lam = 0) and, with an
        `AccuracyWarning`, where the Fourier method fails: weak pure jumps of small alpha leave a peak too sharp for
        any even grid. `status` tells.
    rtol : float, optional
        Error estimate that the Fourier method must reach, relative to the density. The chain reports its error and
        does not control it; above 0.02 (and `rtol`) "auto" refuses it where the Fourier method failed, and warns where
        the chain is the only method.
    box : (float, float), optional
        Box of the untilted solve, in units of zeta. Found beforehand from the exponents if not given.
    n : int, optional
        Its number of points (made odd), or the number of nodes of the chain. Found beforehand if not given.
    walls : (float, float), optional
        Reflecting walls; the chain only.

    Returns
    -------
    StationaryDensity
        The law, with status and error estimate.

    Raises
    ------
    ParameterError
        If the model has no stationary law (lam = 0 with alpha <= 1, or no restoring drift on one side), is an array
        of models, or an argument is out of range.
    ConvergenceError
        If `rtol` cannot be reached and `method` is "fourier", or `box`, `n` or a smaller `rtol` than 1e-12 was asked
        for, or the chain's error is above 0.02 (and `rtol`) where "auto" took it because the Fourier method had failed;
        the message has the error that was.

    Warns
    -----
    AccuracyWarning
        If "auto" took the chain after the Fourier method had failed (DISCRETISED) and its error is above `rtol`, if the
        chain is the only method (walls, lam = 0) and its error is above 0.02 (and `rtol`), or if
        the far tails have less than max(`rtol`, 1e-6) (TAIL_LIMITED: rare jumps ten digits below everything else).

    See Also
    --------
    tail_law : The tail's exponents alone, in nanoseconds.

    Notes
    -----
    The density is known with relative accuracy in both tails: solves with an exponential tilt, then the pole and the
    cut of its transform, which give the far tail in every phase. Where kappa - F does not fall exponentially, or the
    drift confines, that last step is not available: below 1e-130 of its maximum (1e-33 where that takes too many
    points) the density is then continued by its leading law, which is right to a few percent only. Between two wells
    that are far apart the density is known to 1e-16 of its maximum, and 0 where rounding made it negative. For drifts
    with kinks or jumps the spectrum decays slowly: method="fourier" is a ConvergenceError, "auto" the chain.

    References
    ----------
    THEORY 4, 5 and 8; NUMERICS C.4, C.5 and D.

    Examples
    --------
    >>> import levycollapse as lc
    >>> model = lc.CollapseModel.from_parameters(kappa=1.0, eta_G=0.1, eta_J=0.62, alpha=1.5, lam=3.0)
    >>> law = lc.stationary_density(model)
    >>> law.status, round(law.mean_timescale, 6), round(law.tail.prefactor, 6)
    (<DensityStatus.CONVERGED: 0>, 2.717122, 0.968695)
    """
    choice("method", method, ("auto", "fourier", "chain"))
    tolerance = float(checked("rtol", rtol, POSITIVE))
    interval = None if box is None else _interval("box", box)
    barrier = None if walls is None else _interval("walls", walls)
    if n is not None and (isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 16):
        raise ParameterError(f"n={n!r} must be an integer >= 16")
    problem = problem_of(model, walls=barrier)
    untempered = problem.eta_J > 0 and problem.lam == 0
    if method == "fourier" and (barrier is not None or untempered):
        what = "walls" if barrier is not None else "lam=0"
        raise ParameterError(f"method='fourier' does not take {what}; use method='chain'")
    if method == "chain" or barrier is not None or untempered:
        from .chain import MOST_NODES, chain_density

        if n is not None and n > MOST_NODES:
            raise ParameterError(f"n={n!r} is more than the {MOST_NODES} nodes that the chain can take")
        law = chain_density(model, problem, n=n, box=interval, walls=barrier)
        if method == "auto" and not law.error <= max(WORST_CHAIN, tolerance):
            # There is no other method to turn to.
            warnings.warn(_too_inaccurate(law, tolerance), AccuracyWarning, stacklevel=2)
        return law
    if n is not None and n > MOST_POINTS:
        raise ParameterError(f"n={n!r} is more than the {MOST_POINTS} points that the Fourier method can take")
    try:
        law = fourier_density(model, problem, tolerance, interval, None if n is None else int(n))
    except ConvergenceError as failure:
        if method == "fourier" or interval is not None or n is not None or tolerance < ATTAINABLE:
            raise
        return _chain_instead(model, problem, tolerance, failure)
    if law.status is DensityStatus.TAIL_LIMITED:
        warnings.warn(
            f"the far tails of the stationary density have the relative error {law.tail_error:.1e}, not "
            f"{max(tolerance, TAIL_RTOL):g} (its body has {law.error:.1e})",
            AccuracyWarning,
            stacklevel=2,
        )
    return law


def _chain_instead(model: CollapseModel, problem: Problem, rtol: float, failure: ConvergenceError) -> StationaryDensity:
    """The chain's law where the Fourier method failed, with a warning, or an error where it is too inaccurate."""
    from .chain import DEFAULT_NODES, chain_density

    limit = max(WORST_CHAIN, rtol)
    law = chain_density(model, problem, n=None, box=None, walls=None)
    if not law.error <= limit:
        law = chain_density(model, problem, n=2 * DEFAULT_NODES, box=None, walls=None)
    if not law.error <= limit:
        raise ConvergenceError(_too_inaccurate(law, rtol)) from failure
    if law.error > rtol:
        warnings.warn(
            f"the Fourier method failed; the Markov chain's stationary density has the relative error {law.error:.1e}, "
            f"not rtol={rtol:g} (a larger rtol or method='chain' accepts that)",
            AccuracyWarning,
            stacklevel=3,
        )
    return law


def _too_inaccurate(law: StationaryDensity, rtol: float) -> str:
    return (
        f"the stationary density was found to {law.error:.1e} only, by the Markov chain, not to rtol={rtol:g}; "
        "method='chain' accepts that, and n gives it more nodes"
    )


def fourier_density(
    model: CollapseModel,
    problem: Problem,
    rtol: float,
    box: tuple[float, float] | None,
    n: int | None,
) -> StationaryDensity:
    """The spectral solver, with smaller budgets for rounding until its checks pass."""
    scene = landscape(problem)
    shifted = None if box is None else (box[0] - problem.origin, box[1] - problem.origin)
    tail_tolerance = max(rtol, TAIL_RTOL)
    for budget in BUDGETS:
        law, errors = _attempt(model, problem, scene, budget, shifted, n)
        # Nothing but the joints depends on the budget, and they may agree by luck: leave a margin.
        if errors["joints"] <= 0.1 * tail_tolerance:
            break
    limits = {name: WORST_TAIL if name in ABOUT_TAILS else rtol for name in errors}
    failed = [name for name, found in errors.items() if not found <= limits[name]]
    if failed:
        worst = max(failed, key=lambda name: np.inf if np.isnan(errors[name]) else errors[name] / limits[name])
        # A given box that cuts the density off, or few points, make a spectrum like that of a kink.
        rough = errors["spectrum"] > UNRESOLVED and box is None and n is None
        advice = "; for a drift with kinks use method='chain'" if rough else ""
        raise ConvergenceError(
            f"the stationary density was found to {errors[worst]:.1e} only ({', '.join(failed)}), not to "
            f"{limits[worst]:g}{advice}"
        )
    if law.tail_error > tail_tolerance:
        law.status = DensityStatus.TAIL_LIMITED
    return law


def _attempt(
    model: CollapseModel,
    problem: Problem,
    scene: Landscape,
    budget: float,
    box: tuple[float, float] | None,
    n: int | None,
) -> tuple[StationaryDensity, dict[str, float]]:
    """One ladder with its far tails, and what each check says of its error."""
    mirror = problem.mirrored()
    mirrored_scene = Landscape(-scene.zeta[::-1], scene.potential[::-1])
    sides = left_side(problem, scene, budget), left_side(mirror, mirrored_scene, budget)
    found = assemble(problem, scene, sides, box, n)
    sides = _clean_ends(found.curve, sides)
    margin = 4.0 * found.base.step
    nodes, weights = found.curve.rule(found.curve.left, found.base.right - margin)
    left, constants, left_error = _far(problem, sides[0], found.curve.pdf, nodes, weights)
    if problem.symmetric:
        right, right_error = left, left_error
    else:
        nodes, weights = found.curve.rule(found.base.left + margin, found.curve.right)
        right, _, right_error = _far(mirror, sides[1], lambda z: found.curve.pdf(-z), -nodes[::-1], weights[::-1])
    masses = mass_beyond(left, found.curve.left), mass_beyond(right, -found.curve.right)
    joints = [found.mismatch, left_error, right_error, found.curve.joint_error()]
    for side, mass, error in zip(sides, masses, found.curve.end_errors(masses), strict=True):
        # The leading law is right to a few percent: it meets the density, and the mass follows from it.
        if side.decay is not None and mass is not None:
            joints.append(error)
    found.curve.settle(*masses)
    # numpy's max, which keeps a nan wherever it stands.
    identity = identity_error(problem, found)
    if np.isinf(problem.kappa) or np.isinf(problem.other_kappa):
        # The force makes the far tails the largest terms of the identity: it is about them.
        far, identity = identity, 0.0
    else:
        far = 0.0
    errors = {
        "edges": float(np.max([s.edge for s in found.solutions])),
        "spectrum": float(np.max([s.noise for s in found.solutions])),
        "identity": identity,
        "mass": found.curve.mass_error(),
        "joints": float(np.max(joints)),
        "far identity": far,
    }
    law = StationaryDensity(
        found.curve,
        left,
        right,
        origin=problem.origin,
        tail=_tail(model, problem, constants),
        moment_range=(-mirror.tail_rate, problem.tail_rate),
        closed=(summable(mirror), summable(problem)),
        status=DensityStatus.CONVERGED,
        error=float(np.max([error for name, error in errors.items() if name not in ABOUT_TAILS])),
        tail_error=float(np.max([errors[name] for name in ABOUT_TAILS])),
        step=found.base.step,
    )
    return law, errors


def _clean_ends(curve: SpectralCurve, sides: tuple[Side, Side]) -> tuple[Side, Side]:
    """Where the leading law follows, let it take over before the curve is rounding."""
    left, right = sides
    if left.decay is None:
        start = curve.pieces[0].clean(CLEAN_SHARE)[0]
        curve.left = float(np.clip(start, curve.left, curve.middle))
        left = replace(left, end=curve.left)
    if right.decay is None:
        stop = curve.pieces[-1].clean(CLEAN_SHARE)[1]
        curve.right = float(np.clip(stop, curve.middle, curve.right))
        right = replace(right, end=-curve.right)
    return left, right


def identity_error(problem: Problem, found: Assembled) -> float:
    """Residual of the generator identity at +-0.2 of its range, relative to the size of its terms."""
    base = found.base
    zeta = base.left + base.step * np.arange(len(base.values), dtype=float)
    values = base.values
    if np.isinf(problem.kappa) or np.isinf(problem.other_kappa):
        # There F times the rounding of the untilted solution may exceed everything else.
        zeta = zeta[(zeta >= found.curve.left) & (zeta <= found.curve.right)]
        values = found.curve.pdf(zeta)
    force = problem.force(zeta)
    worst = 0.0
    for rate, sign in ((problem.tail_rate, 1.0), (problem.mirrored().tail_rate, -1.0)):
        s = sign * CHECKED_AT * min(rate, 5.0 / problem.width)
        summand = (problem.generator_at(s) - s * force) * np.exp(-s * zeta) * values
        worst = float(np.maximum(worst, abs(float(summand.sum())) / float(np.abs(summand).sum())))
    return worst


def _far(
    problem: Problem, side: Side, pdf: Function, nodes: FloatArray, weights: FloatArray
) -> tuple[Beyond, Constants | None, float]:
    """Far tail on the left, its constants, and how well it joins the curve."""
    if side.decay is None:
        here = float(pdf(np.array([side.end]))[0])
        if not here > 0 or np.isinf(problem.tail_rate):
            return Nothing(), None, 0.0
        constants = None
        if np.isfinite(problem.kappa) and not side.floor:
            constants = Constants(problem, nodes, weights, rest_of_numerator(problem, side.end, here))
        rate = leading_rate(problem, side.end)
        return power_mixture(side.end, rate, log_power(problem, side.end), here), constants, 0.0
    constants = Constants(problem, nodes, weights)
    tail = mixture(problem, constants, side.end, side.decay)
    # What the cut leaves out grows inward by exp(1/4) over this stretch.
    at = side.end + 0.25 / max(side.decay, problem.tail_rate) * np.linspace(0.0, 1.0, 17)
    return tail, constants, float(np.abs(tail.pdf(at) / pdf(at) - 1.0).max())


def _tail(model: CollapseModel, problem: Problem, constants: Constants | None) -> TailLaw:
    """The tail's law with its constant, in the units of the model's zeta."""
    law = model.tail
    if constants is not None:
        return with_prefactor(law, constants.prefactor() * float(np.exp(-problem.tail_rate * problem.origin)))
    if law.form is TailForm.LINEAR and problem.rate is not None:
        return with_prefactor(law, linear_prefactor(problem) * float(np.exp(-problem.lam * problem.origin)))
    return with_prefactor(law, np.nan)


def linear_prefactor(problem: Problem) -> float:
    """eta_J M(lam)/(theta lam), with M(lam) = exp int_0^lam K(u)/(theta u) du (NUMERICS C.4)."""
    rate, lam = float(problem.rate or np.nan), problem.lam
    exponent = quad(lambda u: problem.generator_at(u) / (rate * u), 0.0, lam, epsabs=0.0, epsrel=1e-12, limit=200)[0]
    return float(problem.eta_J * np.exp(exponent) / (rate * lam))


def _interval(name: str, value: Any) -> tuple[float, float]:
    ends = checked(name, value, FINITE)
    if ends.shape != (2,) or not ends[0] < ends[1]:
        raise ParameterError(f"{name}={value!r} must be two increasing numbers")
    return float(ends[0]), float(ends[1])
