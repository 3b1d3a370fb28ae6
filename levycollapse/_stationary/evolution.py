"""The law of zeta in time: the Fokker-Planck equation in Fourier space."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._checks import FINITE, NON_NEGATIVE, POSITIVE, FloatArray, as_float_array, checked
from .._model.collapse_model import CollapseModel
from ..errors import ConvergenceError, ParameterError
from .box import ROUNDING_NATS, landscape, odd_fast, points, spectral_limit
from .density import StationaryDensity
from .fourier import wave_numbers
from .problem import ComplexArray, Problem, problem_of
from .propagation import dense_steps, ornstein_uhlenbeck
from .solve import fourier_density
from .spectrum import edge, relaxation_of

#: Error of the closed form.
EXACT = 1e-15
#: Halvings of the step before the accuracy is given up.
HALVINGS = 9
#: Power in the exponent of the filter that a point start goes through.
CUTOFF = 12
#: Widths of the drift by which the box is longer than the density.
PADDING = 8.0
#: Nats, beyond those of the tolerance, that differences from the stationary law must have decayed by.
HORIZON_NATS = 20.0
#: Points on the circle on which the coefficients of Kassam and Trefethen are averaged.
CIRCLE = 32
#: Most points whose propagator is squared as a matrix (0.1 s a product), and the number of Runge-Kutta steps, in units
#: of them, that cost as much as all the squarings (measured: 4000 steps at 945 points take 2 s).
DENSE_POINTS, DENSE_PAYS = 1000, 4.0


class DensityEvolution:
    """Densities of zeta at a sequence of times; made by `evolve_density`.

    Attributes
    ----------
    times : ndarray, shape (n_times,)
        Times, as given.
    zeta : ndarray, shape (n,)
        Equispaced grid.
    density : ndarray, shape (n_times, n)
        Density on the grid, to `error` of its largest value: absolute, not relative accuracy in the tails.
    error : float
        Estimate of the error relative to the largest value: of the time steps, the spectrum's end and the box.

    Examples
    --------
    >>> import levycollapse as lc
    >>> model = lc.CollapseModel(lc.LinearDrift(0.5), 0.1, lc.TemperedStable(1.3, 1.5, 0.1))
    >>> path = lc.evolve_density(model, initial=1.0, times=[2.0])
    >>> [round(float(mean), 6) for mean in path.expectation(lambda zeta: zeta)]  # exp(-1)
    [0.367879]
    """

    def __init__(self, times: FloatArray, zeta: FloatArray, density: FloatArray, error: float) -> None:
        self.times = times
        self.zeta = zeta
        self.density = density
        self.error = error

    def expectation(self, function: Callable[[FloatArray], Any]) -> FloatArray:
        """E f(zeta) at every time, for a function that takes an array.

        Parameters
        ----------
        function : callable
            Smooth f that does not outgrow the tails' absolute accuracy.

        Returns
        -------
        ndarray, shape (n_times,)
            The expectations.
        """
        step = self.zeta[1] - self.zeta[0]
        result: FloatArray = step * self.density @ np.asarray(function(self.zeta), dtype=float)
        return result

    def envelope(self, lags: Any) -> FloatArray:
        """Envelope E exp(-l/tau) at every time.

        Parameters
        ----------
        lags : float or array_like
            Lags >= 0.

        Returns
        -------
        ndarray, shape (n_times,) + shape of `lags`
            Absolute accuracy `error`; where f is smaller than that, use the stationary law.

        Raises
        ------
        ParameterError
            If a lag is negative.
        """
        lag = checked("lags", lags, NON_NEGATIVE)
        step = self.zeta[1] - self.zeta[0]
        decay = np.exp(-np.multiply.outer(np.exp(self.zeta), lag.ravel()))
        value: FloatArray = (step * self.density @ decay).reshape((len(self.times), *lag.shape))
        return value

    def __repr__(self) -> str:
        return f"DensityEvolution(times={self.times.tolist()!r}, n={len(self.zeta)}, error={self.error:.1e})"


def evolve_density(model: CollapseModel, initial: Any, times: Any, *, rtol: float = 1e-8) -> DensityEvolution:
    """Density of zeta at given times, from any start.

    Parameters
    ----------
    model : CollapseModel
        One model with tempered jumps or none, and a smooth drift.
    initial : float, array_like, callable or StationaryDensity
        A point, samples, or a density (a function of an array; it need not be normalised). Points and samples are
        started as they are: the noise must have smoothed them by the first time asked for.
    times : float or array_like
        Times >= 0, ascending. 0 needs a smooth initial density. Where nothing is left of the start (dozens of
        relaxation times) the answer is the stationary law, at no cost.
    rtol : float, optional
        Error relative to the largest density that must be reached at each time.

    Returns
    -------
    DensityEvolution
        Grid, densities and error estimate.

    Raises
    ------
    ParameterError
        If the model has no stationary law, is an array of models or is untempered, or an argument is out of range.
    ConvergenceError
        If `rtol` cannot be reached: a time at which a point start is still too sharp, or an initial density that is
        too rough.

    See Also
    --------
    stationary_density : The limit, with relative accuracy in the tails.
    relaxation_time : When the limit is near.

    References
    ----------
    THEORY 8; A.-K. Kassam and L. N. Trefethen, SIAM J. Sci. Comput. 26 (2005) 1214.

    Examples
    --------
    >>> import levycollapse as lc
    >>> model = lc.CollapseModel.from_parameters(kappa=0.5, eta_G=0.1, eta_J=0.1, alpha=1.3, lam=1.5)
    >>> path = lc.evolve_density(model, initial=1.0, times=[2.0, 40.0])
    >>> stationary = lc.stationary_density(model).envelope(100.0)
    >>> [round(float(f / stationary), 4) for f in path.envelope(100.0)]
    [0.035, 0.9999]
    """
    tolerance = float(checked("rtol", rtol, POSITIVE))
    when = np.atleast_1d(checked("times", times, NON_NEGATIVE))
    if when.ndim != 1 or not len(when) or np.any(np.diff(when) < 0):
        raise ParameterError(f"times={times!r} must be ascending times in one dimension")
    problem = problem_of(model)
    if problem.eta_J > 0 and problem.lam == 0:
        raise ParameterError("lam=0: the density of an untempered model does not fit in a box; evolve needs lam > 0")
    start, reach, sharp = _initial(initial, problem.origin)
    scene = landscape(problem)
    left, right = scene.edges(0.0, ROUNDING_NATS)
    left += min(reach[0], 0.0) - PADDING * problem.width
    length = right + max(reach[1], 0.0) + PADDING * problem.width - left
    n = points(length, spectral_limit(problem))
    late = when > _horizon(problem, reach, tolerance, float(when[-1]))
    limit = None
    if late.any():
        limit = fourier_density(model, problem, tolerance, None, None)
        if late.all():
            grid = left + length / n * np.arange(n, dtype=float) + problem.origin
            return DensityEvolution(when, grid, np.tile(limit.pdf(grid), (len(when), 1)), max(limit.error, 1e-16))
    early = when[~late]
    worst = np.inf
    previous: ComplexArray | None = None
    for _ in range(6):
        step = length / n
        change, tail, spectra = _evolve(problem, start, early, left, step, n, tolerance, sharp)
        resolution = tail
        if sharp:
            # The start is not resolved, but what is left of it must not depend on the grid.
            resolution = max(tail, np.inf if previous is None else _difference(spectra / n, previous))
        worst = max(change, resolution)
        if worst <= tolerance:
            grid = left + step * np.arange(n, dtype=float)
            density = np.fft.irfft(spectra, n=n, axis=-1)
            if limit is not None:
                density = np.concatenate([density, np.tile(limit.pdf(grid + problem.origin), (int(late.sum()), 1))])
                worst = max(worst, limit.error)
            return DensityEvolution(when, grid + problem.origin, density, worst)
        if resolution <= tolerance or change > tolerance:
            break
        previous = spectra / n
        n = odd_fast(int(1.5 * n))
    raise ConvergenceError(
        f"the density was evolved to {worst:.1e} only, not to rtol={tolerance:g}: an initial point or samples need a "
        "later first time, a rough initial density a looser rtol"
    )


def _horizon(problem: Problem, reach: tuple[float, float], rtol: float, last: float) -> float:
    """Time after which nothing of the start is left: what lies outside has come back and has relaxed.

    inf without a look at the levels, which take a second, where `last` is surely before it.
    """
    nats = HORIZON_NATS - float(np.log(min(rtol, 1.0)))
    if last * min(edge(problem), edge(problem.mirrored()), 10.0 * problem.slope) < nats:
        return np.inf
    found = relaxation_of(problem)
    if not found.rate > 0:
        return np.inf
    far = max(abs(reach[0]), abs(reach[1]))
    back = far / min(problem.kappa, problem.other_kappa, problem.slope * problem.width)
    # The estimate's error makes the rate smaller, and the start can be that much larger than the law.
    rate = found.rate * max(1.0 - 2.0 * min(found.error, 0.25), 0.5)
    return float(back + nats / rate)


def _initial(
    initial: Any, origin: float
) -> tuple[Callable[[FloatArray, FloatArray], ComplexArray], tuple[float, float], bool]:
    """The initial spectrum as a function of (grid, k), normalised to unit mass, where it begins, and if it is sharp."""
    if isinstance(initial, StationaryDensity):
        function: Any = initial.pdf
        reach = float(initial.ppf(1e-15)) - origin, float(initial.ppf(1.0 - 1e-15)) - origin
    elif callable(initial):
        function = initial
        probe = np.linspace(-200.0, 200.0, 4001)
        values = as_float_array("initial", function(probe + origin))
        if values.shape != probe.shape or not np.isfinite(values).all() or values.min() < 0 or not values.max() > 0:
            raise ParameterError("initial must be a density: finite and >= 0 on arrays, and not 0 everywhere")
        seen = probe[values > 1e-16 * values.max()]
        reach = float(seen[0]), float(seen[-1])
    else:
        samples = np.atleast_1d(checked("initial", initial, FINITE)).ravel() - origin
        if not samples.size:
            raise ParameterError("initial has no samples")

        def transform(grid: FloatArray, k: FloatArray) -> ComplexArray:
            total = np.zeros(len(k), dtype=complex)
            for part in np.array_split(samples, max(1, len(samples) * len(k) // 1_000_000)):
                total += np.exp(-1j * np.multiply.outer(k, part - grid[0])).sum(axis=1)
            # A smooth cutoff: the noise will take those wave numbers, and a sharp one would ring through the whole box.
            total *= np.exp(-37.0 * (k / k[-1]) ** CUTOFF) / (len(samples) * (grid[1] - grid[0]))
            return total

        return transform, (float(samples.min()), float(samples.max())), True

    def sampled(grid: FloatArray, k: FloatArray) -> ComplexArray:
        values = np.asarray(function(grid + origin), dtype=float)
        return np.asarray(np.fft.rfft(values / (values.sum() * (grid[1] - grid[0]))))

    return sampled, reach, False


def _evolve(
    problem: Problem,
    start: Callable[[FloatArray, FloatArray], ComplexArray],
    times: FloatArray,
    left: float,
    step: float,
    n: int,
    rtol: float,
    sharp: bool,
) -> tuple[float, float, ComplexArray]:
    """Spectra at the times, with the step halved until two of them agree; errors of the steps and of the grid."""
    grid = left + step * np.arange(n, dtype=float)
    k = wave_numbers(n, step)
    # At the ends of the box, which meet, the drift is let through zero: a jump would scatter the ripples that a point
    # start makes everywhere before the noise takes them away.
    distance = (grid - left) / problem.width, (left + n * step - grid) / problem.width
    force = problem.force(grid) * np.tanh(distance[0]) * np.tanh(distance[1])
    generator = (problem.multiplier(0.0, k) * (1j * k)).real
    begin = start(grid, k)
    # Stable for the fastest wave at the strongest force.
    longest = 2.0 / (float(np.abs(force).max()) * k[-1])
    size = np.abs(begin)
    unresolved = float(size[-max(len(k) // 40, 3) :].max() / size.max())
    if not sharp and unresolved > 0.1 * rtol:
        return 0.0, unresolved, begin[None, :]
    first = 0.05 / float(np.abs(generator).max()) if sharp else np.inf
    if problem.rate is not None or (n <= DENSE_POINTS and float(times[-1]) / longest > DENSE_PAYS * n):
        if problem.rate is not None:
            spectra, change = ornstein_uhlenbeck(problem, start, grid, k, times), EXACT
        else:
            spectra, change = dense_steps(force, generator, k, begin, times)
        return change, _unresolved(spectra, n), spectra
    coarse = _steps(force, generator, k, begin, _mesh(times, longest, first, 0.2))
    for halving in range(1, HALVINGS + 1):
        share = 0.5**halving
        fine = _steps(force, generator, k, begin, _mesh(times, longest * share, first, 0.2 * share))
        scale = np.abs(np.fft.irfft(fine, n=n, axis=-1)).max(axis=-1)
        change = float((np.abs(np.fft.irfft(fine - coarse, n=n, axis=-1)).max(axis=-1) / scale).max()) / 15.0
        # Fourth order: the difference tells the leading error, which is then taken off.
        improved = fine + (fine - coarse) / 15.0
        tail = _unresolved(improved, n)
        if change <= rtol or tail > max(rtol, change):
            break
        coarse = fine
    return change, tail, improved


def _unresolved(spectra: ComplexArray, n: int) -> float:
    """The larger of the spectrum at k_max and the density at the edges, relative to their maxima."""
    density = np.abs(np.fft.irfft(spectra, n=n, axis=-1))
    size = np.abs(spectra)
    tail = float((size[:, -max(size.shape[1] // 40, 3) :].max(axis=-1) / size.max(axis=-1)).max())
    edges = float((density[:, [0, -1]].max(axis=-1) / density.max(axis=-1)).max())
    return max(tail, edges)


def _difference(spectra: ComplexArray, others: ComplexArray) -> float:
    """Largest difference of densities given by spectra over n, relative to the maximum at each time."""
    n = 2 * spectra.shape[1] - 1
    padded = np.zeros_like(spectra)
    padded[:, : others.shape[1]] = others
    scale = np.abs(np.fft.irfft(spectra, n=n, axis=-1)).max(axis=-1)
    return float((np.abs(np.fft.irfft(spectra - padded, n=n, axis=-1)).max(axis=-1) / scale).max())


def _mesh(times: FloatArray, longest: float, first: float, growth: float) -> list[tuple[float, int]]:
    """Steps (length, number) between the times, never longer than `longest`.

    From a point they are `first` long and grow with the time, as the noise takes the high wave numbers away.
    """
    mesh: list[tuple[float, int]] = []
    now = 0.0
    for time in times:
        while time - now > 1e-14 * time:
            allowed = min(longest, max(first, growth * now)) if first < longest else longest
            if allowed < longest and now + allowed < time:
                mesh.append((allowed, 1))
                now += allowed
                continue
            count = int(np.ceil((time - now) / allowed * (1.0 - 1e-12)))
            mesh.append(((time - now) / count, count))
            now = float(time)
        mesh.append((0.0, 0))
    return mesh


def _steps(
    force: FloatArray, generator: FloatArray, k: FloatArray, begin: ComplexArray, mesh: list[tuple[float, int]]
) -> ComplexArray:
    """ETDRK4 over a mesh: the noise is exact, the drift a fourth-order perturbation. Spectra where the mesh pauses."""
    n = len(force)
    minus_ik = -1j * k
    spectrum = begin
    result = []

    def drift(v: ComplexArray) -> ComplexArray:
        return np.asarray(minus_ik * np.fft.rfft(force * np.fft.irfft(v, n=n)))

    for h, count in mesh:
        if not count:
            result.append(spectrum)
            continue
        full, half, q, f1, f2, f3 = _coefficients(h * generator, h)
        for _ in range(count):
            at = drift(spectrum)
            a = half * spectrum + q * at
            at_a = drift(a)
            b = half * spectrum + q * at_a
            at_b = drift(b)
            c = half * a + q * (2.0 * at_b - at)
            spectrum = full * spectrum + f1 * at + f2 * (at_a + at_b) + f3 * drift(c)
    return np.array(result)


def _coefficients(exponent: FloatArray, h: float) -> tuple[FloatArray, ...]:
    """Coefficients of ETDRK4 as means over a circle, where their formulas do not cancel."""
    r = np.exp(1j * np.pi * (np.arange(CIRCLE) + 0.5) / CIRCLE)
    z = exponent[:, None] + r
    e = np.exp(z)

    def mean(values: ComplexArray) -> FloatArray:
        return np.asarray(h * values.mean(axis=1).real)

    return (
        np.exp(exponent),
        np.exp(0.5 * exponent),
        mean((np.exp(0.5 * z) - 1.0) / z),
        mean((-4.0 - z + e * (4.0 - 3.0 * z + z * z)) / z**3),
        mean(2.0 * (2.0 + z + e * (z - 2.0)) / z**3),
        mean((-4.0 - 3.0 * z - z * z + e * (4.0 - z)) / z**3),
    )
