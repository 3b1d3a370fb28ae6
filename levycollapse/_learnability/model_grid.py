"""Windows over a grid of models, for phase diagrams."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .._checks import FloatArray
from .._laws.tempered_stable import TemperedStable
from .._model.collapse_model import CollapseModel
from .._model.drift import SaturatingDrift
from .._stationary.solve import stationary_density
from .._theory.phase import Phase, phase
from ..errors import ConvergenceError
from .edges import law_edges
from .status import WindowStatus


def model_windows(
    grids: dict[str, FloatArray], center: float, drift_width: float, log_level: FloatArray
) -> Iterator[tuple[tuple[int, ...], FloatArray, Any]]:
    """Index of each model of broadcasting parameters, with its windows and their status at every threshold."""
    arrays = np.broadcast_arrays(*grids.values())
    for index in np.ndindex(arrays[0].shape):
        numbers = {name: float(array[index]) for name, array in zip(grids, arrays, strict=True)}
        nothing = np.full(log_level.shape, np.nan)
        if phase(**numbers) == Phase.NONSTATIONARY:
            yield index, nothing, np.full(log_level.shape, int(WindowStatus.NO_LAW))
            continue
        drift = SaturatingDrift(numbers["kappa"], center, drift_width)
        jumps = TemperedStable(numbers["alpha"], numbers["lam"], numbers["eta_J"])
        try:
            law = stationary_density(CollapseModel(drift, numbers["eta_G"], jumps))
        except ConvergenceError:
            yield index, nothing, np.full(log_level.shape, int(WindowStatus.NOT_COMPUTED))
            continue
        found = law_edges(law, log_level)
        yield index, found.window, found.status
