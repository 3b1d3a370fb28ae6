"""Histories of zeta and of updates: restoring drift, persistence of scales, and the spectrum over a training."""

from ._drift import DriftCurve as DriftCurve
from ._drift import DriftStatus as DriftStatus
from ._drift import RestoringDrift as RestoringDrift
from ._drift import restoring_drift as restoring_drift
from ._persistence import Persistence as Persistence
from ._persistence import ScalePersistence as ScalePersistence
from ._persistence import scale_persistence_test as scale_persistence_test
from ._reference import ReferenceDrift as ReferenceDrift
from ._trajectory import Trajectory as Trajectory
from ._trajectory import trajectory as trajectory

__all__ = [
    "DriftCurve",
    "DriftStatus",
    "Persistence",
    "ReferenceDrift",
    "RestoringDrift",
    "ScalePersistence",
    "Trajectory",
    "restoring_drift",
    "scale_persistence_test",
    "trajectory",
]
