"""What a simulation's result carries so that it can be continued, anywhere: one strict JSON text in its attributes."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np
import xarray as xr

from .._model.collapse_model import CollapseModel
from ..errors import ParameterError
from .observers import KINDS, Observer
from .schemes import SCHEMES

ATTRIBUTE = "simulation"
#: Version of the streams and schemes: a result can only be continued by the same one.
FORMAT = 1
#: Points at which two drifts are compared.
PROBES = (-8.0, -2.0, -0.5, 0.0, 0.5, 2.0, 8.0)
#: How far the last stored time may be from the step that the record gives, relative.
SAME_TIME = 1e-9


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


def _positive(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value < math.inf


def _key(value: Any) -> bool:
    try:
        return isinstance(value, str) and 0 <= int(value, 16) < 1 << 64
    except ValueError:
        return False


#: What each entry of the record may be.
ENTRIES: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "key": ("a hexadecimal number of 64 bits", _key),
    "step": ("an integer >= 1", _whole),
    "dt": ("a finite number > 0", _positive),
    "scheme": (f"one of {', '.join(map(repr, SCHEMES))}", lambda v: isinstance(v, str) and v in SCHEMES),
    "n_paths": ("an integer >= 1", _whole),
    "model": ("an object", lambda v: isinstance(v, dict)),
    "observed": ("a list of observers", lambda v: isinstance(v, list)),
}


@dataclass(frozen=True)
class Record:
    """Everything that the random streams and the scheme depend on, and the step reached."""

    key: int
    step: int
    dt: float
    scheme: str
    n_paths: int
    model: dict[str, Any]
    observed: list[dict[str, Any]]

    def to_attrs(self) -> dict[str, str]:
        """Attributes of the result."""
        content = {"format": FORMAT, **asdict(self), "key": hex(self.key)}
        return {ATTRIBUTE: json.dumps(content, allow_nan=False)}

    @classmethod
    def of(cls, result: Any, name: str = "continue_from") -> Record:
        """Read the record of a result and check that its variables are in accord with it.

        `name` is what the messages call the result.
        """
        if not isinstance(result, xr.Dataset) or ATTRIBUTE not in result.attrs or "state" not in result:
            raise ParameterError(f"{name} must be a result of simulate, with all its variables and attributes")
        record = cls._read(result.attrs[ATTRIBUTE], name)
        _check_variables(result, record, name)
        return record

    @classmethod
    def _read(cls, text: Any, name: str) -> Record:
        where = f"the attribute {ATTRIBUTE!r} of {name}"
        try:
            content = json.loads(text)
        except (ValueError, TypeError, RecursionError) as error:
            raise ParameterError(f"{where}={_shown(text)} must be the JSON text of simulate: {error}") from None
        if not isinstance(content, dict):
            raise ParameterError(f"{where}={_shown(text)} must be a JSON object as simulate writes it")
        found = content.pop("format", None)
        if isinstance(found, bool) or found != FORMAT:
            raise ParameterError(f"{name} has format {_shown(found)}; this version continues format {FORMAT} only")
        expected = {field.name for field in fields(cls)}
        for entry in sorted(expected ^ content.keys()):
            raise ParameterError(
                f"{where} {'lacks' if entry in expected else 'has the unknown entry'} {_shown(entry)}; it must have "
                f"{', '.join(sorted(expected))}"
            )
        for entry, (allowed, accepts) in ENTRIES.items():
            if not accepts(content[entry]):
                raise ParameterError(f"{where}: {entry}={_shown(content[entry])} must be {allowed}")
        content["key"] = int(content["key"], 16)
        record = cls(**content)
        record.observers(where)
        return record

    def observers(self, where: str = "continue_from") -> list[Observer]:
        """Make the observers again."""
        made = []
        for i, entry in enumerate(self.observed):
            kind = entry.get("kind") if isinstance(entry, dict) else None
            if not isinstance(kind, str) or kind not in KINDS:
                raise ParameterError(
                    f"{where}: observed[{i}]={_shown(entry)} must be an observer of kind {', '.join(KINDS)}"
                )
            try:
                made.append(KINDS[kind].from_dict(entry))
            except ParameterError as error:
                raise ParameterError(f"{where}: observed[{i}] cannot be restored: {error}") from None
        return made

    def check(self, model: dict[str, Any], dt: float, scheme: str, n_paths: int) -> None:
        """Refuse to continue with anything else than what made the result."""
        for name, now in (("model", model), ("dt", dt), ("scheme", scheme), ("n_paths", n_paths)):
            then = getattr(self, name)
            if then != now:
                raise ParameterError(f"continue_from was made with {name}={then!r}, not {now!r}")


def _check_variables(result: xr.Dataset, record: Record, name: str) -> None:
    state = result["state"]
    if state.dims != ("path",) or not state.size:
        raise ParameterError(
            f"{name}: state has dimensions {state.dims} and shape {state.shape}; it must have one number for each path"
        )
    if state.dtype != np.float64:
        raise ParameterError(f"{name}: state has dtype {state.dtype}; it must be float64, as simulate gives it")
    bad = ~np.isfinite(state.values)
    if bad.any():
        at = int(np.argmax(bad))
        raise ParameterError(f"{name}: state[{at}]={state.values[at].item()!r} must be a finite number")
    if "path" not in result.coords:
        raise ParameterError(f"{name} has no coordinate 'path', which says whose states these are")
    path = result["path"].values
    if path.dtype.kind not in "iu":
        raise ParameterError(f"{name}: path has dtype {path.dtype}; it must be integers")
    outside = (path < 0) | (path >= record.n_paths)
    if outside.any():
        at = int(np.argmax(outside))
        raise ParameterError(f"{name}: path[{at}]={path[at].item()!r} must be in 0 .. {record.n_paths - 1}")
    values, counts = np.unique(path, return_counts=True)
    if values.size < path.size:
        raise ParameterError(f"{name}: path {values[counts > 1][0]} is there more than once; each must be there once")
    if "time" in result.coords:
        end, reached = result["time"].values.ravel(), record.step * record.dt
        if end.size and not (end.dtype.kind == "f" and abs(end[-1] - reached) <= SAME_TIME * reached):
            raise ParameterError(f"{name} ends at time {end[-1]!s}, but its states are those at {reached!r}")


def _shown(value: Any) -> str:
    text = " ".join(repr(value).split())
    return text if len(text) <= 60 else text[:57] + "..."


def model_record(model: CollapseModel) -> dict[str, Any]:
    """Parameters of the model; of the drift, its values at a few points, which tell two functions apart."""
    drift = [float(value) for value in np.asarray(model.drift(np.array(PROBES)))]
    return {
        "eta_G": float(model.eta_G),
        "eta_J": float(model.eta_J),
        "alpha": float(model.alpha),
        "lam": float(model.lam),
        "drift": repr(model.drift).split(" at 0x")[0],
        "drift_values": drift,
    }


def observed(result: xr.Dataset) -> list[Observer]:
    """Observers of a simulation, as they were at its end.

    Parameters
    ----------
    result : xarray.Dataset
        A result of `simulate`, possibly read back from a file.

    Returns
    -------
    list of Observer
        In the order in which they were given to `observe`; only those of this package's own kinds.

    Raises
    ------
    ParameterError
        If `result` is not a result of `simulate`.

    Examples
    --------
    >>> import levycollapse as lc
    >>> model = lc.CollapseModel.from_parameters(kappa=1.0, eta_G=0.1, eta_J=0.62, alpha=1.5, lam=3.0)
    >>> result = lc.simulate(model, n_paths=10, t_end=1.0, dt=0.1, rng=1, observe=lc.Moments(orders=(1, 2)))
    >>> lc.observed(result)[0].count
    100
    """
    return Record.of(result, "result").observers()
