"""Time scales of the units of a network (THEORY 1)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import torch
import xarray as xr

from .._checks import FloatArray, choice, generator
from ..errors import ParameterError
from ..tails import UnitStatus
from ._bootstrap import half_width
from ._fingerprint import Seen
from ._layer import LayerRun
from ._options import checked_kernel, checked_lags, checked_level, chosen_runs, optional_whole, whole
from ._rates import Rates, design, estimate, slopes, straightness
from ._read import read_network
from ._reference import published_rates
from ._row_norms import row_norm_sums
from ._status import classify, status_attributes
from ._transport import IntArray, blocks_of, lag_sums

#: Kernels whose windows are products of numbers, so that E log|window| = lag * E log|factor|.
PRODUCTS = ("gates", "diagonal")
#: Fit lags of the published code.
PUBLISHED_LAGS = np.unique(np.linspace(64, 384, 32).astype(np.int64))


class Measured(NamedTuple):
    """Rates of one layer and direction (`place`: both, and the number of units), and the lags of their windows."""

    place: tuple[int, int, int]
    rates: Rates
    lags: IntArray


def measure(
    runs: Iterator[LayerRun],
    kernel: str,
    lags: Any,
    burn_in: int,
    block: int | None,
    estimator: str,
    replicates: int,
    resamples: int,
    rng: Any,
    with_sums: bool = True,
) -> Iterator[Measured]:
    """Rates of every layer, its sequences dealt to `replicates` groups in turn."""
    weights: list[FloatArray] = []
    slope = estimator == "slope" or kernel not in PRODUCTS
    for run in runs:
        lengths = run.lengths.numpy()
        if replicates > lengths.size:
            raise ParameterError(
                f"replicates={replicates}, but there are {lengths.size} sequences; each replicate needs one of its own"
            )
        longest = int(lengths.max()) - burn_in
        grid = checked_lags(lags, longest if block is None else min(longest, block), 2 if slope else 1)
        if not weights:
            groups = np.repeat(np.arange(lengths.size) % replicates, blocks_of(lengths, burn_in, block))
            weights = design(groups, replicates, resamples, generator(rng))
        hidden = run.layer.hidden_size
        if kernel == "jacobian":
            sums = row_norm_sums(run, grid, burn_in, block)
        else:
            sums = lag_sums(run, kernel, grid, burn_in, block, with_sums)
        rates = estimate(sums, hidden, grid, weights, slope, with_sums)
        yield Measured((run.layer.layer, run.layer.direction, hidden), rates, grid)


def checked_estimator(estimator: Any, kernel: str) -> str:
    """Return "mean" or "slope", by default the better one that the kernel allows."""
    choice("estimator", estimator, ("auto", "mean", "slope"))
    if estimator == "mean" and kernel not in PRODUCTS:
        raise ParameterError(
            f'estimator="mean" needs a kernel that is a product of numbers ({", ".join(PRODUCTS)}), not {kernel!r}'
        )
    if estimator == "auto":
        return "mean" if kernel in PRODUCTS else "slope"
    return str(estimator)


def timescales(
    module_or_file: Any,
    inputs: Any,
    *,
    kernel: str = "diagonal",
    submodule: str | None = None,
    lengths: Any = None,
    burn_in: int = 0,
    lags: Any = None,
    estimator: str = "auto",
    block: int | None = None,
    layer: int | None = None,
    direction: int | None = None,
    level: float = 0.95,
    resamples: int = 200,
    rng: Any = 0,
    compat: str | None = None,
) -> xr.Dataset:
    """Time scale tau, log rate zeta and decay rate mu of every unit of a network on given inputs.

    Parameters
    ----------
    module_or_file : torch.nn.Module, RecurrentLayer, Network, path or mapping
        The network, a file that holds its weights, or its state dict.
    inputs : Tensor or array
        What the network is fed, (B, T, D).
    kernel : {"diagonal", "gates", "first-order", "jacobian"}
        What is multiplied along a window: the exact diagonal of the step's Jacobian; the carry alone; carries times
        1 + sum of corrections/carry, the papers' expansion, good only while that sum is small; or the full Jacobian,
        of whose product each unit's row norm is taken (B T H^3 operations).
    submodule : str, optional
        Where in a larger model the recurrent network is, such as ``"encoder.lstm"``; the whole model is run.
    lengths : array_like, optional
        Valid steps of each sequence; all by default.
    burn_in : int
        Steps at the beginning of each sequence (in the order in which the layer reads it) that are not counted.
    lags : array_like, optional
        Increasing lags of `log_typical` and `log_mean`, and of the slope where that is the estimator. By default 32
        geometric ones from 1 to half the longest sequence, at most 2048.
    estimator : {"auto", "mean", "slope"}
        How mu is found: as minus the mean of log|factor| over all steps, which the kernels "gates" and "diagonal"
        allow; or as minus the least-squares slope of E log|window| over `lags`, the only one for the other two.
    block : int, optional
        Cut sequences into blocks of so many steps and resample those. For a single long sequence, which has no
        standard error otherwise; a block should be longer than the gates remember.
    layer, direction : int, optional
        Only units of this layer or direction, both counted from 0.
    level : float
        Level of the interval of tau.
    resamples : int
        Bootstrap resamples of the sequences.
    rng : None, int, SeedSequence or Generator
        Source of the resamples; the same ones in every call by default.
    compat : {"reference"}, optional
        What the published code computes: the first-order kernel in single precision, floored at 1e-30, least squares
        over lags 64..384 that fit (or `lags`); it turns units with tau < 5.6 into slow ones.

    Returns
    -------
    xarray.Dataset
        Over `unit`, with coordinates `layer`, `direction`, `index`: `tau` (steps), `zeta` = -log tau, `mu` (1/step),
        `mu_error`, `zeta_error` = mu_error/mu (standard errors), `tau_low`, `tau_high` (interval; inf where it has no
        end; of a unit censored without one, the steps that were seen and inf), `status` (`UnitStatus`), `negative`
        (share of steps with a negative factor, whose windows alternate),
        `lag_min`, `lag_max` (window of the slope). Over `unit` and `lag`: `log_typical` = E log|window| and
        `log_mean` = log E|window|; of each the R2 of a straight line over `lag` and the change of its slope from the
        first to the last lag relative to its mean, `r2`, `curvature`, `r2_mean`, `curvature_mean`, and minus the slope
        of the latter, `mu_mean`, which is the rate that an envelope shows. Attribute `inputs`: a digest of each
        sequence, by which `levycollapse.verdict` knows whether an envelope comes from others.

    Raises
    ------
    ParameterError
        If an argument is outside its range or does not fit the network.
    CheckpointError
        If a file cannot be read.

    See Also
    --------
    envelope : Mean transport at each lag.
    zeta_panel : The same for many checkpoints.

    Notes
    -----
    For a stationary product E log|window| is linear in the lag with slope E log|factor|, so that the mean over all
    steps needs no lags, loses no step and, unlike any fit over long lags, no unit: tau = 0.05 and tau = 1e4 come from
    the same run. The slope weights steps by how many windows hold them, which costs
    precision: 1.2 to 1.4 times the variance (studies/timescale_status.py).
    An exact zero is an answer: log 0 = -inf, tau = 0.

    Standard errors are those of resampled sequences; the interval of mu is mu +- t se with Student's t for one degree
    of freedom less than sequences. A unit is censored, not dropped, when that interval holds 0: tau is then known to
    be at least `tau_low`, and its point estimate says nothing more.

    In that study (4 to 64 sequences, normal and exponential noise with memories of 1 to 100 steps, 8,000 units in each
    of 9 cells) the interval at level 0.95 covers in 0.945 to 0.952; units that do not decay at all are RESOLVED in
    0.023 to 0.024 and GROWING in 0.025 to 0.027, both 0.025 by construction; units with tau = 100 that are resolved in
    a fifth of the cases are called GROWING in 0.0008. Units with tau far beyond what the sequences can tell are
    CENSORED_LONG (tau = 2000, 16 sequences of 256 steps with noise 0.02: 0.93).

    Under compat="reference" there are no standard errors: a unit is GROWING where the published code rejects it.

    References
    ----------
    THEORY 1; arXiv:2606.29519.

    Examples
    --------
    >>> import torch
    >>> from levycollapse.networks import ConstGate, timescales
    >>> net = ConstGate(3, 8, s0=0.1)
    >>> found = timescales(net, torch.randn(4, 50, 3), kernel="gates")
    >>> float(found["tau"][0].round(3))
    9.491
    """
    kernel = checked_kernel(kernel, compat, "first-order")
    estimator = checked_estimator(estimator, kernel)
    burn_in, resamples = whole("burn_in", burn_in, 0), whole("resamples", resamples, 2)
    block, level = optional_whole("block", block, 2), checked_level(level)
    network = read_network(module_or_file, submodule=submodule)
    with torch.no_grad():
        seen = Seen()
        runs = chosen_runs(seen(network.runs(inputs, lengths)), layer, direction, burn_in)
        if compat is not None:
            return published_dataset(runs, lags, burn_in).assign_attrs(seen.attributes)
        parts = list(measure(runs, kernel, lags, burn_in, block, estimator, 1, resamples, rng))
    return as_dataset(parts, kernel, estimator, level).assign_attrs(seen.attributes)


def as_dataset(parts: list[Measured], kernel: str, estimator: str, level: float) -> xr.Dataset:
    """Dataset of the measured layers, one replicate."""
    columns: dict[str, list[FloatArray]] = {}
    for part in parts:
        for name, values in _columns(part, level, estimator).items():
            columns.setdefault(name, []).append(values)
    first = parts[0].rates
    attributes = {
        "kernel": kernel,
        "estimator": estimator,
        "level": level,
        "rows": int(first.rows[0]),
        "steps": int(first.steps[0]),
    }
    joined = {name: np.concatenate(values) for name, values in columns.items()}
    return unit_dataset(joined, [part.place for part in parts], parts[0].lags, attributes)


def unit_dataset(
    columns: dict[str, FloatArray], places: list[tuple[int, int, int]], lags: IntArray, attributes: dict[str, Any]
) -> xr.Dataset:
    """Dataset of columns over (unit) or (unit, lag); `places` are layer, direction and number of units."""
    variables = {
        name: ((("unit",) if values.ndim == 1 else ("unit", "lag")), values, _attributes(name))
        for name, values in columns.items()
    }
    return xr.Dataset(variables, unit_coordinates(places) | {"lag": lags}, attributes)


def unit_coordinates(places: list[tuple[int, int, int]]) -> dict[str, Any]:
    """Layer, direction and index of every unit."""
    layers, directions, sizes = zip(*places, strict=True)
    return {
        "layer": ("unit", np.repeat(layers, sizes)),
        "direction": ("unit", np.repeat(directions, sizes)),
        "index": ("unit", np.concatenate([np.arange(size) for size in sizes])),
    }


def _columns(part: Measured, level: float, estimator: str) -> dict[str, FloatArray]:
    rates, lags = part.rates, part.lags
    mu, error = rates.mu[0], rates.error[0]
    rows, steps = int(rates.rows[0]), int(rates.steps[0])
    half = half_width(error, rows, level)
    r2, curvature = straightness(rates.typical[0], lags)
    r2_mean, curvature_mean = straightness(rates.mean[0], lags)
    present = np.ones((1, lags.size), dtype=bool)
    with np.errstate(invalid="ignore", divide="ignore"):
        tau = np.where(mu > 0, 1.0 / mu, np.nan)
        low, high = interval(mu, half)
        status = classify(mu, low, high, steps / rows)
        # Without an interval, what made it a bound.
        bound = np.isnan(half) & (status == UnitStatus.CENSORED_LONG)
        return {
            "tau": tau,
            "zeta": np.where(mu > 0, np.log(mu), np.nan),
            "mu": mu,
            "mu_error": error,
            "zeta_error": np.where(mu > 0, error / mu, np.nan),
            "tau_low": np.where(bound, steps / rows, np.where(high > 0, 1.0 / high, np.nan)),
            "tau_high": np.where(bound, np.inf, np.where(high > 0, np.where(low > 0, 1.0 / low, np.inf), np.nan)),
            "status": status,
            "negative": rates.negative[0],
            "lag_min": np.full(mu.size, lags[0] if estimator == "slope" else 1),
            "lag_max": np.full(mu.size, lags[-1] if estimator == "slope" else 1),
            "log_typical": rates.typical[0],
            "log_mean": rates.mean[0],
            "r2": r2,
            "curvature": curvature,
            "r2_mean": r2_mean,
            "curvature_mean": curvature_mean,
            "mu_mean": -slopes(rates.mean[:1], lags, present)[0],
        }


def interval(mu: FloatArray, half: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Ends of the interval of mu, which is a point where mu is infinite."""
    infinite = np.isinf(mu)
    return np.where(infinite, mu, mu - half), np.where(infinite, mu, mu + half)


LONG_NAMES = {
    "tau": ("time scale", "step"),
    "zeta": ("log decay rate", "1"),
    "mu": ("decay rate", "1/step"),
    "mu_error": ("standard error of the decay rate", "1/step"),
    "zeta_error": ("standard error of the log decay rate", "1"),
    "tau_low": ("lower end of the time scale", "step"),
    "tau_high": ("upper end of the time scale", "step"),
    "negative": ("share of steps with a negative factor", "1"),
    "log_typical": ("E log|window|", "1"),
    "log_mean": ("log E|window|", "1"),
    "r2": ("R2 of a line through log_typical", "1"),
    "curvature": ("relative change of the slope of log_typical", "1"),
    "r2_mean": ("R2 of a line through log_mean", "1"),
    "curvature_mean": ("relative change of the slope of log_mean", "1"),
    "mu_mean": ("decay rate of the mean window", "1/step"),
    "lag_min": ("shortest lag used", "step"),
    "lag_max": ("longest lag used", "step"),
}


def _attributes(name: str) -> dict[str, Any]:
    if name == "status":
        return status_attributes()
    text, units = LONG_NAMES[name]
    return {"long_name": text, "units": units}


def published_dataset(runs: Iterator[LayerRun], lags: Any, burn_in: int) -> xr.Dataset:
    """What the published code says of every unit."""
    parts = []
    for run in runs:
        longest = int(run.lengths.max()) - burn_in
        grid = PUBLISHED_LAGS[longest > PUBLISHED_LAGS] if lags is None else checked_lags(lags, longest, 4)
        if grid.size < 4:
            raise ParameterError(
                f"the published fit needs four of its lags 64 74 84 94 ..., and so more than 94 steps, not {longest}"
            )
        parts.append(published_rates(run, grid, burn_in))
    tau = np.concatenate([part.tau for part in parts])
    status = np.where(np.isnan(tau), UnitStatus.GROWING, np.where(tau < 1, UnitStatus.BELOW_STEP, UnitStatus.RESOLVED))
    columns = {
        "tau": tau,
        "zeta": -np.log(tau),
        "mu": 1.0 / tau,
        "status": status.astype(np.int8),
        "r2": np.concatenate([part.r2 for part in parts]),
        "lag_min": np.full(tau.size, parts[0].lags[0]),
        "lag_max": np.full(tau.size, parts[0].lags[-1]),
        "log_typical": np.concatenate([part.typical for part in parts]),
    }
    places = [(part.layer, part.direction, part.tau.size) for part in parts]
    attributes = {"kernel": "first-order", "estimator": "slope", "compat": "reference"}
    return unit_dataset(columns, places, parts[0].lags, attributes)
