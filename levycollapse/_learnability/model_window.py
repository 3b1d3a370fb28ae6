"""From a model, a law, a tail or a measured envelope to its learnability window."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._checks import NON_NEGATIVE, FloatArray, _Range, checked, choice, plain
from .._envelope.finite_width import finite_width_envelope
from .._envelope.tauberian import tauberian_envelope
from .._model.collapse_model import CollapseModel
from .._stationary.density import StationaryDensity
from .._stationary.solve import stationary_density
from .._theory.phase import Phase
from .._theory.tail import TailLaw
from ..errors import ParameterError
from .averaging import SAMPLES, rate_exponent
from .bounds import decision_divergence
from .closed_forms import EnvelopeLaw
from .detection import log_threshold
from .edges import Edges, asymptote_edges, closed_edges, law_edges, table_edges
from .location import LEAST_INDEX, shifts_of_divergence
from .noise import StableNoise, noise_of, power_of
from .status import WindowStatus

RULES = ("sup", "contiguous")
LAG = _Range("a finite number >= 1", lambda v: v >= 1)
#: Lags of the bands over networks: so many a decade, and no more than so many.
PER_DECADE, MOST_LAGS = 32, 1500
#: The bands reach this factor beyond the longest window of the mean, and this lag at least.
BEYOND, SHORTEST_END = 100.0, 1e3


@dataclass(frozen=True)
class WindowBand:
    """Windows of single networks of one width.

    Attributes
    ----------
    width : int
        Number of units.
    levels : ndarray
        Levels of the quantiles over networks, shape (k,).
    window : ndarray
        Quantiles of H_N, shape (k,) + shape of N; nan with a status where they are not known.
    window_low, window_high : ndarray
        95 % intervals of these quantiles, from the `n_networks` simulated networks.
    status : ndarray
        Codes of `WindowStatus`, of the shape of `window`.
    n_networks : int
        Number of simulated networks.
    """

    width: int
    levels: FloatArray
    window: FloatArray
    window_low: FloatArray
    window_high: FloatArray
    status: Any
    n_networks: int


@dataclass(frozen=True)
class LearnabilityWindow:
    """Learnability windows over sample sizes, and what they rest on.

    Attributes
    ----------
    N : float or ndarray
        Numbers of samples.
    window : float or ndarray
        H_N in network steps, a real number of which the integer part is the largest whole lag: the largest lag that the
        mean of N samples detects. 0 where none, inf beyond the largest double, nan where the source does not say.
    status : WindowStatus or ndarray of int
        Why.
    lower, upper : float or ndarray
        Lags between which the edge lies for certain: neighbouring lags of a table, or the window itself where the
        envelope is known everywhere.
    growth_exponent : float or ndarray
        d log H_N/d log N = (1 - 1/alpha)/b(H_N), b the local exponent of the envelope; nan where there is no edge.
    threshold : float or ndarray
        Envelope that the mean of N samples detects (`detection_threshold`).
    information_threshold : float or ndarray
        Envelope below which no test at all has this level and power (`detection_samples_bound`); nan for alpha < 0.2.
    information_window : float or ndarray
        Largest lag above it: no method, however clever, reaches further. It grows like that of an exponent 2.
    information_status : WindowStatus or ndarray of int
        As `status`, of `information_window`.
    envelope_error : float
        Relative error of the envelope as its source states it; 0 for closed forms, spectra and tables, nan for a tail,
        whose asymptote knows nothing of short lags.
    window_error : float or ndarray
        Relative error of the window that follows from it, envelope_error/b(H_N): where the envelope is flat, a small
        error of it is a large one of the window.
    envelope : object
        The envelope used: something with a method `envelope(lags)`, or the table (lags, f); None without a law.
    noise : StableNoise
        The noise.
    power : float
        Probability of detection at the edge.
    rule : str
        "sup" or "contiguous".
    band : WindowBand or None
        Quantiles over networks, where a width was given.
    """

    N: Any
    window: Any
    status: Any
    lower: Any
    upper: Any
    growth_exponent: Any
    threshold: Any
    information_threshold: Any
    information_window: Any
    information_status: Any
    envelope_error: float
    window_error: Any
    envelope: Any
    noise: StableNoise
    power: float
    rule: str
    band: WindowBand | None

    @property
    def meaning(self) -> str:
        """What the window states, and what it does not, in a sentence."""
        kappa = self.noise.concentration_exponent
        if not self.noise.averaging_helps:
            return (
                f"alpha = {self.noise.alpha:g} <= 1: the mean of N samples is no better than one sample, so that the "
                "window does not grow with N; information grows all the same, like N"
            )
        return (
            f"window: plain averaging, which costs N ~ f^-{kappa:g}; information_window: no method sees further, "
            "since information costs N ~ f^-2"
        )


def learnability_window(
    source: Any,
    N: Any,
    noise: StableNoise,
    *,
    width: int | None = None,
    rule: str = "sup",
    power: float = 0.5,
    quantiles: Any = (0.05, 0.25, 0.5, 0.75, 0.95),
    n_networks: int = 1000,
    rng: Any = None,
) -> LearnabilityWindow:
    """Learnability window H_N = sup{l >= 1: f(l) >= threshold(N)} of a model, a law, a tail or a measured envelope.

    Parameters
    ----------
    source : CollapseModel, StationaryDensity, Spectrum, EnvelopeLaw, TailLaw or (lags, f)
        Where the envelope comes from. A model is solved for its stationary law, so that the prefactor is its own. Any
        object with a method `envelope(lags)` that falls monotonically will do. A tail needs its prefactor and gives the
        asymptote only. A table needs increasing lags >= 1.
    N : float or array_like
        Numbers of independent samples, >= 1.
    noise : StableNoise
        Noise, alignment and level of the test.
    width : int, optional
        Number of independent units of a network. The mean envelope does not depend on it; `band` has the quantiles of
        H_N over networks. Not for tables, tails and closed forms, which are no laws of time scales.
    rule : {"sup", "contiguous"}, optional
        Largest lag that is detected, or the largest up to which every lag is: they differ only for a table that is not
        monotone.
    power : float, optional
        Probability of detection at the edge, above the level; 0.5 is the paper's threshold.
    quantiles : array_like, optional
        Levels of the band.
    n_networks : int, optional
        Simulated networks for the band; costs as in `finite_width_envelope`.
    rng : None, int, SeedSequence or Generator, optional
        Of the band (SPEC 7).

    Returns
    -------
    LearnabilityWindow
        The windows with their status, what no method can exceed, and the band.

    Raises
    ------
    ParameterError
        If an argument is outside its range, or the source is none of those above.
    ConvergenceError
        As in `stationary_density`.

    See Also
    --------
    phase_diagram : With quantity="window", H_N over the parameters of the model.
    detection_threshold : The threshold itself.

    Notes
    -----
    Between two lags of a table log f is linear in log l; towards a lag where f is 0, which has no logarithm, the window
    is the last lag that is detected. An edge beyond the last lag is not extrapolated: the window is nan, its status
    BEYOND_TABLE, and `lower` the last lag.

    The quantiles of H_N over networks are the windows of the quantiles of f_H(l), exactly, because every single
    envelope falls; they are interpolated between 32 lags a decade, to about 1 %, well within their own intervals. The
    mean envelope's window is not their mean: far out it is carried by few networks.

    N counts independent samples of the statistic. It is not the number of time steps, and not the size of a training
    set unless each sequence gives one sample.

    References
    ----------
    L. Livi, arXiv:2512.05790; THEORY 4 and 6.

    Examples
    --------
    >>> import levycollapse as lc
    >>> model = lc.CollapseModel.from_parameters(kappa=1.0, eta_G=0.1, eta_J=2.0, alpha=1.5, lam=3.0)
    >>> noise = lc.StableNoise(alpha=1.5, scale=1.0, signal=2.0, level=0.05)
    >>> found = lc.learnability_window(model, N=[100, 10_000, 1_000_000], noise=noise)
    >>> found.window.round(1), found.status
    (array([   2. ,   59.1, 1603.3]), array([0, 0, 0]))
    >>> table = lc.learnability_window(([1, 10, 100], [1.0, 0.5, 0.2]), N=10_000, noise=noise)
    >>> table.status, table.lower
    (<WindowStatus.BEYOND_TABLE: 2>, 100.0)
    """
    count = checked("N", N, SAMPLES)
    target = power_of(noise_of(noise), power)
    choice("rule", rule, RULES)
    envelope, edges_of, error = _source(source, rule)
    log_level = log_threshold(np.log(count), noise, target)
    log_least = _information_threshold(count, noise, target)
    found, least = edges_of(log_level), edges_of(np.where(np.isnan(log_least), np.inf, log_least))
    band = None
    if width is not None:
        if not _is_law(envelope):
            raise ParameterError("width: bands over networks need a law of time scales (a model, density or spectrum)")
        band = _band(envelope, width, log_level, found, quantiles, n_networks, rng)
    unknown = np.isnan(log_least)
    with np.errstate(over="ignore", under="ignore", divide="ignore", invalid="ignore"):
        return LearnabilityWindow(
            N=plain(count),
            window=plain(found.window),
            status=_codes(found.status),
            lower=plain(found.lower),
            upper=plain(found.upper),
            growth_exponent=plain(rate_exponent(noise.alpha) / found.slope),
            threshold=plain(np.exp(log_level)),
            information_threshold=plain(np.exp(log_least)),
            information_window=plain(np.where(unknown, np.nan, least.window)),
            information_status=_codes(np.where(unknown, int(WindowStatus.NOT_COMPUTED), least.status)),
            envelope_error=error,
            window_error=plain(error / found.slope),
            envelope=envelope,
            noise=noise,
            power=target,
            rule=rule,
            band=band,
        )


class _Asymptote:
    """Asymptotic envelope of a tail, by its logarithm."""

    def __init__(self, tail: TailLaw) -> None:
        self.tail = tail
        tauberian_envelope(tail, 1.0)

    def envelope(self, lags: Any) -> Any:
        return tauberian_envelope(self.tail, lags).envelope


def _source(source: Any, rule: str) -> tuple[Any, Any, float]:
    """The envelope, the function from logarithms of thresholds to edges, and the envelope's relative error."""
    if isinstance(source, CollapseModel):
        if np.ndim(source.phase) == 0 and source.phase == Phase.NONSTATIONARY:
            return None, _no_edges, math.nan
        source = stationary_density(source)
    if isinstance(source, EnvelopeLaw):
        return source, lambda level: closed_edges(source, level), 0.0
    if isinstance(source, TailLaw):
        asymptote = _Asymptote(source)
        return asymptote, lambda level: asymptote_edges(asymptote, level), math.nan
    if hasattr(source, "envelope"):
        error = max(source.error, source.tail_error) if isinstance(source, StationaryDensity) else 0.0
        return source, lambda level: law_edges(source, level), float(error)
    if isinstance(source, tuple) and len(source) == 2:
        lags, f = _table(*source)
        return (lags, f), lambda level: table_edges(lags, f, level, rule), 0.0
    raise ParameterError(
        f"source={type(source).__name__} must be a CollapseModel, a law with envelope(lags), a TailLaw or (lags, f)"
    )


def _table(lags: Any, f: Any) -> tuple[FloatArray, FloatArray]:
    at, values = checked("lags", lags, LAG), checked("f", f, NON_NEGATIVE)
    if at.ndim != 1 or not at.size or values.shape != at.shape:
        raise ParameterError(f"a table needs one value of f for each lag: lags {at.shape}, f {values.shape}")
    if (np.diff(at) <= 0).any():
        raise ParameterError("lags must increase strictly")
    return at, values


def _is_law(envelope: Any) -> bool:
    return hasattr(envelope, "ppf") or hasattr(envelope, "rvs")


def _no_edges(log_level: FloatArray) -> Edges:
    nothing = np.full(log_level.shape, np.nan)
    status = np.full(log_level.shape, int(WindowStatus.NO_LAW))
    return Edges(nothing, status, nothing, nothing, nothing)


def _information_threshold(count: FloatArray, noise: StableNoise, power: float) -> FloatArray:
    """Logarithm of the envelope at which N KL(m f) is what level and power need."""
    if noise.alpha < LEAST_INDEX:
        return np.full(count.shape, np.nan)
    shift = shifts_of_divergence(decision_divergence(noise, power) / count, noise.alpha)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(shift) + np.log(noise.scale) - np.log(noise.signal))


def _band(
    law: Any, width: int, log_level: FloatArray, found: Edges, quantiles: Any, n_networks: int, rng: Any
) -> WindowBand:
    ends = found.window[np.isfinite(found.window)]
    overflow = (found.status == WindowStatus.OVERFLOW).any()
    end = 1e300 if overflow else max(SHORTEST_END, min(1e300, BEYOND * float(ends.max(initial=0.0))))
    n_lags = min(MOST_LAGS, math.ceil(PER_DECADE * math.log10(end)) + 1)
    lags = np.geomspace(1.0, end, n_lags)
    bands = finite_width_envelope(law, lags, width, quantiles=quantiles, n_networks=n_networks, rng=rng)
    middle = [table_edges(lags, f, log_level, "sup") for f in bands.quantiles]
    return WindowBand(
        width=bands.width,
        levels=bands.quantile_levels,
        window=np.array([edges.window for edges in middle]),
        window_low=_windows(lags, bands.quantiles_low, log_level),
        window_high=_windows(lags, bands.quantiles_high, log_level),
        status=np.array([edges.status for edges in middle]),
        n_networks=bands.n_networks,
    )


def _windows(lags: FloatArray, curves: FloatArray, log_level: FloatArray) -> FloatArray:
    """Windows of curves; nan for a curve that is not known."""
    return np.array(
        [
            np.full(log_level.shape, np.nan) if np.isnan(f).any() else table_edges(lags, f, log_level, "sup").window
            for f in curves
        ]
    )


def _codes(status: Any) -> Any:
    return WindowStatus(int(status)) if np.ndim(status) == 0 else np.asarray(status)
