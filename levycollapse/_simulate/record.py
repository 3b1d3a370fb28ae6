"""What a simulation's result carries so that it can be continued, anywhere: one strict JSON text in its attributes."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import xarray as xr

from .._model.collapse_model import CollapseModel
from ..errors import ParameterError
from .observers import KINDS, Observer

ATTRIBUTE = "simulation"
#: Version of the streams and schemes: a result can only be continued by the same one.
FORMAT = 1
#: Points at which two drifts are compared.
PROBES = (-8.0, -2.0, -0.5, 0.0, 0.5, 2.0, 8.0)


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
    def of(cls, result: Any) -> Record:
        """Read the record of a result."""
        if not isinstance(result, xr.Dataset) or ATTRIBUTE not in result.attrs or "state" not in result:
            raise ParameterError("continue_from must be a result of simulate, with all its variables and attributes")
        content = json.loads(result.attrs[ATTRIBUTE])
        found = content.pop("format", None)
        if found != FORMAT:
            raise ParameterError(f"continue_from has format {found!r}; this version continues format {FORMAT} only")
        content["key"] = int(content["key"], 16)
        return cls(**content)

    def check(self, model: dict[str, Any], dt: float, scheme: str, n_paths: int) -> None:
        """Refuse to continue with anything else than what made the result."""
        for name, now in (("model", model), ("dt", dt), ("scheme", scheme), ("n_paths", n_paths)):
            then = getattr(self, name)
            if then != now:
                raise ParameterError(f"continue_from was made with {name}={then!r}, not {now!r}")


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
    return [KINDS[record["kind"]].from_dict(record) for record in Record.of(result).observed]
