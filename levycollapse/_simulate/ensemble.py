"""Ensembles of paths: who runs which steps where, what is stored, and how a run goes on (THEORY 7)."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from .._checks import FINITE, POSITIVE, FloatArray, checked, choice
from .._kernels.paths import BLOCK, CHECK_EVERY, advance, advance_custom, increments
from .._kernels.streams import stream_key
from .._model.collapse_model import CollapseModel
from ..errors import NonFiniteStateError, ParameterError, SlowDriftWarning
from .observers import KINDS, Observer
from .record import Record, model_record
from .schemes import SCHEMES, Plan, plan, scalar_parameters, warn_if_steep

IndexArray = NDArray[np.int64]

#: Numbers read out for observers at a time: 16 MB.
READ_OUT = 1 << 21
#: Path-steps between two looks at the progress bar and at Ctrl-C: about a second of one thread.
SEGMENT = 1 << 26
#: Pieces of work for each thread, so that a busy core does not make the other wait.
SHARES = 4
#: Initial states are drawn for so many paths at a time, each from its own generator.
INITIAL_CHUNK = 1024
#: How far t_end/dt may be from an integer, relative.
WHOLE = 1e-9
#: Most steps and most paths: beyond, a double does not tell one from the next.
MOST = 1 << 53
#: Bytes that a path and a stored state take.
PER_PATH, PER_STATE = 32, 8


@dataclass(frozen=True)
class Ensemble:
    """What is advanced: the states that the scheme carries, the paths they belong to, and the law of a step."""

    state: FloatArray
    paths: NDArray[np.uint64]
    key: np.uint64
    table: tuple[FloatArray, int]
    plan: Plan
    threads: int

    def advance(self, first: int, count: int, rows: IndexArray, records: FloatArray) -> tuple[int, int, float] | None:
        """Take all paths through some steps; return position, step and state of a path that became non-finite."""
        if self.plan.python is not None:
            return self._advance_in_python(first, count, rows, records)

        run = advance if self.plan.custom is None else advance_custom

        def share(start: int, stop: int) -> tuple[int, int, float]:
            position, step, state = run(
                self.state[start:stop],
                self.paths[start:stop],
                self.key,
                first,
                count,
                self.table,
                self.plan.kernel_maps,
                self.plan.custom,
                rows,
                records,
                start,
            )
            return (start + position if position >= 0 else -1), step, state

        faults = [fault for fault in self._shared(share) if fault[0] >= 0]
        return min(faults) if faults else None

    def _shared(self, work: Callable[[int, int], Any]) -> list[Any]:
        blocks = -(-self.state.size // BLOCK)
        shares = min(blocks, self.threads * SHARES) if self.threads > 1 else 1
        cuts = [min(BLOCK * (blocks * i // shares), self.state.size) for i in range(shares + 1)]
        if shares == 1:
            return [work(cuts[0], cuts[1])]
        with ThreadPoolExecutor(self.threads) as pool:
            return list(pool.map(work, cuts[:-1], cuts[1:]))

    def _advance_in_python(
        self, first: int, count: int, rows: IndexArray, records: FloatArray
    ) -> tuple[int, int, float] | None:
        assert self.plan.python is not None
        step_map, first_map, read = self.plan.python
        drawn = np.empty(self.state.size)
        record = 0
        for step in range(first, first + count):
            before = self.state.copy()
            increments(self.paths, self.key, step, self.table, drawn)
            self.state[:] = (first_map if step == 0 else step_map)(before) + drawn
            bad = ~np.isfinite(self.state)
            if bad.any():
                position = int(np.argmax(bad))
                return position, step, float(before[position])
            if record < rows.size and rows[record] == step + 1:
                records[record] = read(self.state)
                record += 1
        return None

    def fault(self, position: int, step: int, state: float, dt: float, model: CollapseModel) -> NonFiniteStateError:
        """Go again, alone and step by step, to where the path left the finite numbers."""
        alone = Ensemble(
            np.array([state]), self.paths[position : position + 1].copy(), self.key, self.table, self.plan, 1
        )
        nothing, nowhere = np.empty(0, np.int64), np.empty((0, 1))
        for _ in range(CHECK_EVERY):
            state = float(alone.state[0])
            alone.advance(step, 1, nothing, nowhere)
            step += 1
            if not np.isfinite(alone.state[0]):
                break
        with np.errstate(all="ignore"):
            drift = float(model.drift(state))
        return NonFiniteStateError(int(self.paths[position]), step - 1, (step - 1) * dt, state, drift)


def simulate(
    model: CollapseModel,
    n_paths: int,
    t_end: float,
    dt: float,
    *,
    scheme: str = "euler-maruyama",
    initial: Any = 0.0,
    store_every: int | None = None,
    observe: Observer | Sequence[Observer] | None = None,
    paths: Any = None,
    continue_from: xr.Dataset | None = None,
    rng: Any = None,
    n_threads: int | None = None,
    progress: bool = False,
) -> xr.Dataset:
    """Simulate paths of the model, with increments of the noise that are exact in law.

    Parameters
    ----------
    model : CollapseModel
        The model; its parameters must be numbers.
    n_paths : int
        Number of paths of the ensemble.
    t_end : float
        Time to reach, from 0, also when continuing: a whole number of steps.
    dt : float
        Time step.
    scheme : {"euler-maruyama", "strang"}, optional
        Euler-Maruyama has weak order 1 and is the cheaper one. Strang splitting (half a flow of the drift, increment,
        half a flow) has weak order 2. Both have the model's tail exponent at every dt.
    initial : float, array_like of shape (n_paths,) or object with rvs(size, rng), optional
        States at time 0. A distribution is drawn from the path's own random stream.
    store_every : int, optional
        Store the states after every so many steps. The start and the end are always stored, and only they by default.
    observe : Observer or sequence of Observer, optional
        `Histogram`, `Moments`, `TimescaleMoments`: accumulated along the way, in place, when the run has succeeded.
        When continuing, those of the earlier result go on if none are given. An `Observer` of your own works too, but
        is not kept in the result.
    paths : array_like of int, optional
        Simulate only these paths of the ensemble, each once. They are the same, bit for bit, as among all.
    continue_from : xarray.Dataset, optional
        Result to go on from, made with the same model, `n_paths`, `dt` and `scheme`. The continuation has the bits of
        an uninterrupted run, and stores no start, so that the two concatenate along time.
    rng : None, int, SeedSequence, BitGenerator or Generator, optional
        Seed (SPEC 7). A Generator is consumed by one draw.
    n_threads : int, optional
        Threads; the number of available processors by default. The result does not depend on it.
    progress : bool, optional
        Show a progress bar.

    Returns
    -------
    xarray.Dataset
        `zeta` over (path, time); `state` over path, what the scheme goes on from (under Strang not the state
        itself); and the attribute "simulation", a JSON text with everything needed to continue. `to_netcdf` and
        back keeps all of it. `observed` gives its observers.

    Raises
    ------
    ParameterError
        If an argument is outside its range, or `continue_from` does not fit.
    NonFiniteStateError
        If a path leaves the finite numbers; the error names path, step, state and drift.

    Warns
    -----
    StepSizeWarning
        If dt is too large for the slope of the drift.
    SlowDriftWarning
        If the drift has to be called from Python.

    Notes
    -----
    Do not use it for stationary averages at small s where `stationary_density` is exact and takes milliseconds, nor
    with increments of the state's own size: dt times the slope of the drift should be small.

    The random bits of a step are a function of (seed, path, step) alone (Philox4x32-10), turned into an increment by a
    table of quantiles whose error is at most 1e-9, relative, in the probability. A `SaturatingDrift` and its flow are
    tabulated too: a step agrees with z + dt F(z) to 4 ulp of dt times the plateau, and to 3e-15 of F where F is small,
    beside the rounding of z. Memory is what is stored (at least
    start and end), plus 32 bytes a path, plus some 32 MB if there are observers.

    References
    ----------
    THEORY 7, NUMERICS C.8.

    Examples
    --------
    >>> import levycollapse as lc
    >>> model = lc.CollapseModel.from_parameters(kappa=1.0, eta_G=0.1, eta_J=0.62, alpha=1.5, lam=3.0)
    >>> result = lc.simulate(model, n_paths=1000, t_end=2.0, dt=0.1, scheme="strang", store_every=5, rng=1)
    >>> result.zeta.dims, result.zeta.shape
    (('path', 'time'), (1000, 5))
    >>> longer = lc.simulate(model, n_paths=1000, t_end=4.0, dt=0.1, scheme="strang", continue_from=result)
    >>> longer.time.values
    array([4.])
    """
    if not isinstance(model, CollapseModel):
        raise ParameterError(f"model={model!r} must be a CollapseModel")
    choice("scheme", scheme, SCHEMES)
    scalar_parameters(model)
    step_size = _number("dt", dt, POSITIVE)
    size = _whole("n_paths", n_paths, 1)
    if size > MOST:
        raise ParameterError(f"n_paths={size} must be an integer from 1 to 2**53")
    last = _steps(t_end, step_size)
    stride = None if store_every is None else _whole("store_every", store_every, 1)
    threads = _available() if n_threads is None else _whole("n_threads", n_threads, 1)
    about = model_record(model)
    warn_if_steep(model.drift, scheme, step_size)
    chosen = _chosen(paths, size)

    if continue_from is None:
        key, first = stream_key(rng), 0
        _check_memory(size if chosen is None else chosen.size, last, stride)
        chosen = np.arange(size) if chosen is None else chosen
        state = _initial(initial, size, chosen, key)
        watchers = _observers(observe)
    else:
        if rng is not None or not (np.isscalar(initial) and initial == 0.0):
            raise ParameterError("rng and initial cannot be given with continue_from, which has both")
        record = Record.of(continue_from)
        record.check(about, step_size, scheme, size)
        key, first = record.key, record.step
        if last <= first:
            raise ParameterError(f"t_end={t_end!r} must be later than the end {first * step_size!r} of continue_from")
        chosen, state = _carried(continue_from, chosen)
        _check_memory(chosen.size, last - first, stride)
        watchers = record.observers() if observe is None else _observers(observe)

    scheme_plan = plan(model.drift, scheme, step_size)
    if scheme_plan.python is not None:
        warnings.warn(
            f"{model.drift!r} is called from Python at every step, which is slow; write it so that Numba "
            "can compile it",
            SlowDriftWarning,
            stacklevel=2,
        )
    table = model.increment(step_size).table()
    ensemble = Ensemble(
        state,
        np.ascontiguousarray(chosen, dtype=np.uint64),
        np.uint64(key),
        (table.coefficients, table.cells_log2),
        scheme_plan,
        threads,
    )

    stored = _stored_steps(first, last, stride)
    zeta = np.empty((stored.size, chosen.size))
    offset = 0
    if first == 0:
        zeta[0] = state
        offset = 1
    fresh = [watcher.fresh() for watcher in watchers]
    buffer = np.empty((min(_most_rows(chosen.size), last - first), chosen.size)) if fresh else zeta
    with _bar(progress, chosen.size * (last - first)) as bar:
        for start, stop, rows in _segments(first, last, chosen.size, stored[offset:], fresh, step_size):
            records = buffer[: rows.size] if fresh else zeta[offset : offset + rows.size]
            fault = ensemble.advance(start, stop - start, rows, records)
            if fault is not None:
                raise ensemble.fault(*fault, step_size, model)
            if fresh:
                offset = _distribute(rows, records, stored, zeta, offset, fresh, step_size)
            else:
                offset += rows.size
            bar.update(chosen.size * (stop - start))
    for watcher, new in zip(watchers, fresh, strict=True):
        watcher.add(new)

    record = Record(
        key=key,
        step=last,
        dt=step_size,
        scheme=scheme,
        n_paths=size,
        model=about,
        observed=[watcher.to_dict() for watcher in watchers if watcher.kind in KINDS],
    )
    return xr.Dataset(
        {
            "zeta": (("time", "path"), zeta, {"long_name": "log decay rate zeta = log mu"}),
            "state": (("path",), state, {"long_name": "state that the scheme continues from"}),
        },
        coords={
            "path": ("path", chosen.astype(np.int64)),
            "time": ("time", stored * step_size, {"long_name": "training time"}),
        },
        attrs=record.to_attrs(),
    ).transpose("path", "time")


def _segments(
    first: int, last: int, size: int, stored: IndexArray, watchers: Sequence[Observer], dt: float
) -> Iterator[tuple[int, int, IndexArray]]:
    """Cut the run into pieces (start, stop, steps after which states are read out in (start, stop])."""
    longest = max(1, SEGMENT // size)
    most_rows = _most_rows(size)
    if watchers:
        longest = min(longest, most_rows * min(watcher.every for watcher in watchers))
    start = first
    while start < last:
        stop = min(start + longest, last)
        rows = stored[np.searchsorted(stored, start, "right") : np.searchsorted(stored, stop, "right")]
        for watcher in watchers:
            rows = np.union1d(rows, _looked_at(watcher, start, stop, dt))
        if watchers and rows.size > most_rows:
            rows = rows[:most_rows]
            stop = int(rows[-1])
        yield start, stop, rows
        start = stop


def _most_rows(size: int) -> int:
    """States of all paths that are read out for observers at a time."""
    return max(1, READ_OUT // size)


def _looked_at(watcher: Observer, start: int, stop: int, dt: float) -> IndexArray:
    """Steps in (start, stop] that an observer looks at."""
    every = watcher.every
    steps = np.arange(start // every + 1, stop // every + 1, dtype=np.int64) * every
    return steps[steps * dt > watcher.after]


def _distribute(
    rows: IndexArray,
    records: FloatArray,
    stored: IndexArray,
    zeta: FloatArray,
    offset: int,
    watchers: Sequence[Observer],
    dt: float,
) -> int:
    """Hand the read-out to those who asked for it; return the next row to store."""
    keep = np.isin(rows, stored)
    kept = int(keep.sum())
    zeta[offset : offset + kept] = records[keep]
    for watcher in watchers:
        seen = (rows % watcher.every == 0) & (rows * dt > watcher.after)
        if seen.any():
            watcher.update(records if seen.all() else records[seen])
    return offset + kept


def _stored_steps(first: int, last: int, stride: int | None) -> IndexArray:
    """The start of a fresh run, the multiples of `stride` and the end."""
    between = np.empty(0) if stride is None else np.arange((first // stride + 1) * stride, last, stride)
    ends = ([0], [last]) if first == 0 else ([], [last])
    return np.concatenate([ends[0], between, ends[1]]).astype(np.int64)


def _initial(initial: Any, size: int, chosen: IndexArray, key: int) -> FloatArray:
    if not hasattr(initial, "rvs"):
        values = checked("initial", initial, FINITE)
        if values.shape not in ((), (size,)):
            raise ParameterError(f"initial must be a number or have shape ({size},), not {values.shape}")
        return np.array(np.broadcast_to(values, (size,))[chosen])
    state = np.empty(chosen.size)
    chunk_of = chosen // INITIAL_CHUNK
    for chunk in np.unique(chunk_of):
        generator = np.random.default_rng(np.random.SeedSequence(key, spawn_key=(int(chunk),)))
        wrong = f"initial={initial!r}: rvs({INITIAL_CHUNK}, rng) must give as many finite numbers"
        try:
            drawn = checked("initial", initial.rvs(INITIAL_CHUNK, generator), FINITE)
        except (TypeError, ValueError) as error:
            # Another rvs than the one asked for: of a class, of a family without its parameters, without a generator.
            raise ParameterError(f"{wrong}, not {type(error).__name__}: {error}") from error
        if drawn.shape != (INITIAL_CHUNK,):
            raise ParameterError(f"{wrong}, not an array of shape {drawn.shape}")
        here = chunk_of == chunk
        state[here] = drawn[chosen[here] % INITIAL_CHUNK]
    return state


def _chosen(paths: Any, size: int) -> IndexArray | None:
    if paths is None:
        return None
    array = np.atleast_1d(np.asarray(paths))
    if array.ndim != 1 or array.dtype.kind not in "iu" or not array.size:
        raise ParameterError(f"paths={paths!r} must be a non-empty list of indices")
    if array.min() < 0 or array.max() >= size:
        raise ParameterError(f"paths must be in 0 .. {size - 1}, not {array.min()} .. {array.max()}")
    indices, counts = np.unique(array, return_counts=True)
    if indices.size < array.size:
        raise ParameterError(f"paths must be different indices; {indices[np.argmax(counts)]} is there more than once")
    return array.astype(np.int64)


def _carried(result: xr.Dataset, chosen: IndexArray | None) -> tuple[IndexArray, FloatArray]:
    """Paths and carried states of an earlier result, or of a part of it."""
    there = result["path"].values.astype(np.int64)
    state = np.array(result["state"].values, dtype=float)
    if chosen is None:
        return there, state
    order = np.argsort(there, kind="stable")
    place = np.searchsorted(there, chosen, sorter=order)
    found = order[np.minimum(place, there.size - 1)]
    if not np.array_equal(there[found], chosen):
        missing = chosen[there[found] != chosen][0]
        raise ParameterError(f"paths: continue_from does not have path {missing}")
    return chosen, state[found]


def _observers(observe: Any) -> list[Observer]:
    if not (observe is None or isinstance(observe, (Observer, Iterable))):
        raise ParameterError(
            f"observe={observe!r} must be an Observer, such as Histogram or Moments, or a list of them"
        )
    watchers = [] if observe is None else [observe] if isinstance(observe, Observer) else list(observe)
    for watcher in watchers:
        if not isinstance(watcher, Observer):
            raise ParameterError(f"observe has {watcher!r}, which is not an Observer such as Histogram or Moments")
    return watchers


def _steps(t_end: Any, dt: float) -> int:
    steps = _number("t_end", t_end, POSITIVE) / dt
    if steps > MOST:
        raise ParameterError(f"t_end={t_end!r} is {steps:.3g} steps dt={dt!r}; there may be at most 2**53")
    if steps < 1 - WHOLE or abs(steps - round(steps)) > WHOLE * steps:
        raise ParameterError(f"t_end={t_end!r} must be a whole number of steps dt={dt!r}, not {steps!r}")
    return round(steps)


def _check_memory(size: int, steps: int, stride: int | None) -> None:
    """Refuse what this machine cannot hold."""
    stored = 2 + (0 if stride is None else steps // stride)
    needed = size * (PER_PATH + PER_STATE * stored)
    if needed > (there := _memory()):
        raise ParameterError(
            f"{size} paths at {stored} stored times take {needed / 1e9:.3g} GB and this machine has {there / 1e9:.3g}; "
            "take a smaller n_paths, a larger store_every, or simulate some of the `paths` at a time"
        )


def _memory() -> float:
    """Bytes of the machine's memory."""
    try:
        return float(os.sysconf("SC_PAGE_SIZE")) * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        # Where the system does not tell, what a 64-bit process can address.
        return 2.0**47


def _number(name: str, value: Any, rule: Any) -> float:
    array = checked(name, value, rule)
    if array.ndim:
        raise ParameterError(f"{name} must be a number, not an array")
    return float(array)


def _whole(name: str, value: Any, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise ParameterError(f"{name}={value!r} must be an integer >= {least}")
    return int(value)


def _available() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _bar(progress: bool, total: int) -> Any:
    from tqdm import tqdm

    return tqdm(total=total, disable=not progress, unit="path-step", unit_scale=True, mininterval=0.5)
